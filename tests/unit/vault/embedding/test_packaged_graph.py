"""The packaged model as an ONNX graph: its vectors are those of sentence-transformers."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

import resources
from tests.support.models.embedding_models import copied_model
from vault.embedder import Embedder
from vault.embedding.onnx_model import CHECKED_TEXTS, OnnxFiles
from vault.embedding.packaged_graph import build_packaged_graph

COUNT = 500
AT_ONCE = 25  # a batch is padded to its longest text
MIN_COSINE = 0.9999
SCRIPTS = (
    *("剪定ばさみは納屋の赤い箱に", "привет мир", "κήπος", "حديقة الزهور"),
    *("צבע", "🌱🐝", "\x00\u200b"),
)


def list_texts() -> list[str]:
    """Return 500 different texts: paragraphs of the guide, words cut anywhere, other scripts."""
    notes = sorted(resources.sample_vault().rglob("*.md"))
    paragraphs = [part for note in notes for part in note.read_text("utf-8").split("\n\n")]
    chosen = random.Random(1)
    cut = [part[chosen.randrange(len(part) + 1) :][:80] for part in paragraphs]
    mixed = [f"{chosen.choice(SCRIPTS)} {chosen.choice(cut)}"[:120] for _ in range(100)]
    long = [" ".join(chosen.choices(paragraphs, k=9)) for _ in range(3)]
    starts = [part[:90] for part in paragraphs]
    texts = dict.fromkeys(["", " ", *CHECKED_TEXTS, *SCRIPTS, *mixed, *long, *cut, *starts])
    return sorted(list(texts)[:COUNT], key=len)


def test_its_vectors_are_those_of_sentence_transformers(embedder: Embedder) -> None:
    texts = list_texts()
    assert len(texts) == COUNT
    assert len(texts[-1]) > 1_500  # cut off by the model
    batches = [texts[at : at + AT_ONCE] for at in range(0, COUNT, AT_ONCE)]
    reference = Embedder(copied_model())
    try:
        cosines = [
            (ours * theirs).sum(axis=1)
            for ours, theirs in zip(embedder.embed(batches), reference.embed(batches), strict=True)
        ]
    finally:
        reference.close()
    assert float(np.concatenate(cosines).min()) > MIN_COSINE


def test_it_needs_no_torch_and_stores_nothing(tmp_path: Path, workers_are_started: None) -> None:
    embedder = Embedder(cache_dir=tmp_path / "cache")
    try:
        list(embedder.embed([["The peas are by the gate.", "Water them before eight. " * 40]]))
        embedder.store_onnx_form()
        assert embedder.pid is not None
        assert "libtorch" not in Path(f"/proc/{embedder.pid}/maps").read_text()
    finally:
        embedder.close()
    assert not (tmp_path / "cache").exists()


def test_the_copy_that_earlier_versions_stored_is_removed(tmp_path: Path) -> None:
    embedder = Embedder(cache_dir=tmp_path)
    files = OnnxFiles.locate(tmp_path, embedder.model.stamp)
    for file in (files.graph, files.details):
        file.write_text("{}")
    try:
        embedder.embed_query("where are the peas?")
    finally:
        embedder.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", ["config", "header", "cut"])
def test_damaged_files_are_errors(tmp_path: Path, damage: str) -> None:
    folder = copied_model().folder
    assert folder is not None
    config = (folder / "config.json").read_text()
    (tmp_path / "config.json").write_text("{}" if damage == "config" else config)
    with (folder / "model.safetensors").open("rb") as weights:
        start = weights.read(100)
    damaged = {"config": start, "header": (2).to_bytes(8, "little") + json.dumps({}).encode()}
    (tmp_path / "model.safetensors").write_bytes(damaged.get(damage, start))
    with pytest.raises((KeyError, ValueError)):
        build_packaged_graph(tmp_path)
