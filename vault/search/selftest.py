"""Measure how well searches find a vault's own notes, and fit the ranking weights to the vault."""

import json
import random
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

from vault.catalog import Catalog
from vault.notes.text.sentences import list_whole_sentences
from vault.ranking.fitting import Fit, fit_weights, is_of_size, read_fit, store_fit
from vault.ranking.fusion import RankingWeights, Scores
from vault.ranking.questions import build_vault_questions
from vault.records import Records
from vault.search.hits import SearchResult
from vault.search.search import Encode, Nearest, Searcher

__all__ = ["SelfTest", "fit_ranking", "run_self_test"]

_MOST_QUESTIONS = 200
_DEPTH = 10
_MOST_FITTED = 160
_SEED = 11
_WORDS = re.compile(r"\w[\w'-]*")
_SHORTEST_SENTENCE, _LONGEST_SENTENCE = 40, 240


@dataclass(frozen=True, slots=True)
class SelfTest:
    """The result of a self-test.

    Attributes:
        questions: the number of questions.
        recall_at_1: the fraction of questions whose note was the first hit.
        recall_at_10: the fraction of questions whose note was among the first ten hits.
        mrr: the mean reciprocal rank of the expected notes.
        p50_ms: the median search time in milliseconds.
        p95_ms: the 95th percentile of the search time in milliseconds.
        ranking: the ranking weights fitted to this vault, or None.
    """

    questions: int
    recall_at_1: float
    recall_at_10: float
    mrr: float
    p50_ms: float
    p95_ms: float
    ranking: Fit | None = None

    json_shape = (
        "questions",
        "recall_at_1",
        "recall_at_10",
        "mrr",
        "p50_ms",
        "p95_ms",
        "ranking",
        "tuning",
    )

    @property
    def tuning(self) -> str:
        """Whether the ranking was fitted: `not_tried`, `no_gain` or `fitted`."""
        if self.ranking is None:
            return "not_tried"
        return "fitted" if self.ranking.has_changed else "no_gain"


def run_self_test(
    catalog: Catalog,
    search: Callable[[str, int], SearchResult],
    is_cancelled: Callable[[], bool] = lambda: False,
) -> SelfTest:
    """Search for notes by their titles, headings and sentences, and measure the results.

    The questions are the same on every run with the same index.

    Args:
        catalog: the catalog that the questions are built from.
        search: the search function to measure.
        is_cancelled: checked between questions. If it returns True, the result covers only the
            questions so far.
    """
    ranks: list[int | None] = []
    times_ms: list[float] = []
    for question, path in _build_questions(catalog):
        if is_cancelled():
            break
        began = time.perf_counter()
        result = search(question, _DEPTH)
        times_ms.append((time.perf_counter() - began) * 1000)
        paths = list(dict.fromkeys(hit.path for hit in result.hits))
        ranks.append(paths.index(path) + 1 if path in paths else None)
    if not ranks:
        return SelfTest(0, 0.0, 0.0, 0.0, 0.0, 0.0, read_fit(catalog))
    found = [rank for rank in ranks if rank is not None]
    return SelfTest(
        questions=len(ranks),
        recall_at_1=round(sum(rank == 1 for rank in found) / len(ranks), 4),
        recall_at_10=round(len(found) / len(ranks), 4),
        mrr=round(sum(1 / rank for rank in found) / len(ranks), 4),
        p50_ms=round(_compute_percentile(times_ms, 50), 1),
        p95_ms=round(_compute_percentile(times_ms, 95), 1),
        ranking=read_fit(catalog),
    )


def fit_ranking(
    catalog: Catalog,
    encode: Encode,
    nearest: Nearest,
    attachments: str,
    has_to_stop: Callable[[], bool],
) -> None:
    """Fit the ranking weights to the vault, and store them.

    Nothing is done if weights were already fitted for a similar number of notes.

    Args:
        catalog: the catalog, opened for writing.
        encode: starts embedding a question, and returns a function that waits for the vector.
        nearest: returns the hashes and cosine similarities of the texts nearest to a vector.
        attachments: the attachment folder that is set in Obsidian.
        has_to_stop: checked before each small step. It may sleep to limit the load.
    """
    notes = Records(catalog).counts()[0]
    if (fit := read_fit(catalog)) is not None and is_of_size(fit, notes):
        return

    @lru_cache(maxsize=1)
    def embed(words: str) -> Any:
        return encode(words)()

    def collect(words: str, weights: RankingWeights) -> Scores:
        searcher = Searcher(catalog, lambda text: partial(embed, text), nearest, weights=weights)
        return searcher.collect_scores(words)

    questions = build_vault_questions(catalog, attachments, _MOST_FITTED)
    chosen = fit_weights(questions, collect, has_to_stop)
    if chosen is not None:
        with catalog.transaction():
            store_fit(catalog, replace(chosen, notes=notes))


def _build_questions(catalog: Catalog) -> Iterator[tuple[str, str]]:
    rows = catalog.rows(
        "SELECT path, title, heading, text FROM chunks JOIN notes USING (file_id)"
        " JOIN files ON files.id = file_id ORDER BY chunks.id"
    )
    chance = random.Random(_SEED)  # noqa: S311 - no secret
    chosen = chance.sample(rows, min(_MOST_QUESTIONS, len(rows)))
    for number, (path, title, heading, text) in enumerate(chosen):
        own = json.loads(heading)[-1:]
        kinds = (title, f"{title} {own[0]}" if own else title, _choose_words(text, chance) or title)
        yield kinds[number % len(kinds)], path


def _choose_words(text: str, chance: random.Random) -> str:
    """Return most words of a random sentence, in their original order.

    Some short words are left out, because users rarely remember every word.
    """
    sentences = list_whole_sentences(text, _SHORTEST_SENTENCE, _LONGEST_SENTENCE)
    if not sentences:
        return ""
    words = _WORDS.findall(chance.choice(sentences))
    return " ".join(word for word in words if len(word) > 3 or chance.random() < 0.5)


def _compute_percentile(values: list[float], percent: int) -> float:
    from statistics import quantiles  # takes long to import, and few commands need it

    if len(values) == 1:
        return values[0]
    return quantiles(values, n=100, method="inclusive")[percent - 1]
