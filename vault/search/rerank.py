"""Rerank the best passages with a cross-encoder, a model that compares a query with a text.

Because reranking is slow, only the best passages are reranked, and only if a model is configured.
If the model fails, the order is unchanged and a warning is added. The child process is started on
demand, exits when idle, and is restarted if it dies.
"""

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from vault.errors import ChildDied, ChildRefused, RerankerFailed
from vault.search.hits import Hit, SearchResult
from vault.search.query import parse_query
from vault.workers.process import Child

__all__ = ["RERANKED", "Reranker"]

RERANKED: Final = 20
_LOADING_S = 60.0
_ANSWER_S = 5.0
_IDLE_S = 300.0
_MOST_CHARS = 2_000


class Reranker:
    """Runs a cross-encoder in a child process to rerank passages. Thread-safe."""

    def __init__(self) -> None:
        """Create a reranker without starting a process."""
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._folder = ""
        self._has_answered = False
        self._is_closed = False

    @property
    def pid(self) -> int | None:
        """The process id of the cross-encoder, or None if it is not running."""
        child = self._child
        return child.pid if child is not None and child.is_alive else None

    def rank_best(self, result: SearchResult, query: str, k: int, folder: str) -> SearchResult:
        """Rerank the hits of a search, and return the `k` best ones.

        Args:
            result: the result of a search, with at least `RERANKED` hits if there are so many.
            query: the query with its filters.
            k: the maximum number of hits.
            folder: the cross-encoder's folder.
        """
        found = self.apply(result, parse_query(query).words, folder)
        return replace(found, hits=found.hits[:k])

    def apply(self, result: SearchResult, words: str, folder: str) -> SearchResult:
        """Reorder the best hits of a search by the cross-encoder's scores.

        If the model fails, the order is unchanged and a warning is added.

        Args:
            result: the result of a search. Hits with equal scores keep their order.
            words: the query without filters.
            folder: the cross-encoder's folder.
        """
        first, rest = result.hits[:RERANKED], result.hits[RERANKED:]
        if not first or not words.strip():
            return result
        try:
            scores = self.scores(words, [_build_text(hit) for hit in first], folder)
        except RerankerFailed as error:
            return replace(result, warnings=(*result.warnings, str(error)))
        ranked = sorted(zip(scores, first, strict=True), key=lambda pair: -pair[0])
        hits = (*(_add_score(hit, score) for score, hit in ranked), *map(_halve_score, rest))
        return replace(result, hits=hits)

    def scores(self, words: str, texts: Sequence[str], folder: str) -> list[float]:
        """Compute the cross-encoder's score of each text, from 0 to 1.

        Args:
            words: the query without filters.
            texts: the texts to compare with the query.
            folder: the cross-encoder's folder.

        Raises:
            RerankerFailed: the model cannot be used, or timed out.
        """
        with self._lock:
            try:
                return self._request_scores(words, texts, folder)
            except ChildDied:
                self._close_child()
            try:
                return self._request_scores(words, texts, folder)
            except ChildDied as error:
                self._close_child()
                raise RerankerFailed(_explain_failure(str(error))) from error

    def close(self) -> None:
        """Stop the cross-encoder's process."""
        self._is_closed = True
        child = self._child
        if child is not None:
            child.close()

    def _request_scores(self, words: str, texts: Sequence[str], folder: str) -> list[float]:
        child = self._ensure_child(folder)
        timeout_s = _ANSWER_S if self._has_answered else _LOADING_S
        try:
            frame = child.request({"query": words, "texts": list(texts)}, timeout_s=timeout_s)
        except ChildRefused as error:
            self._close_child()
            raise RerankerFailed(_explain_failure(str(error))) from error
        self._has_answered = True
        return [float(score) for score in frame.header["scores"]]

    def _ensure_child(self, folder: str) -> Child:
        if self._is_closed or not folder:
            raise RerankerFailed(
                _explain_failure("the index was closed" if folder else "no folder is set")
            )
        if self._child is not None and (self._child.has_left or self._folder != folder):
            self._close_child()
        if self._child is None:
            self._folder, self._has_answered = folder, False
            self._child = Child("vault.embed_worker", str(_IDLE_S), folder, "rerank")
        return self._child

    def _close_child(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.close()


def _build_text(hit: Hit) -> str:
    above = " > ".join(dict.fromkeys((hit.title, *hit.heading)))
    return f"{above}\n{hit.text}"[:_MOST_CHARS]


def _add_score(hit: Hit, score: float) -> Hit:
    """Return a hit with its score from the cross-encoder, mapped to the range from 0.5 to 1.

    Hits that are not reranked get lower scores.
    """
    signals = {**hit.signals, "rerank": round(score, 4)}
    return replace(hit, score=round((1 + score) / 2, 4), signals=signals)


def _halve_score(hit: Hit) -> Hit:
    return replace(hit, score=round(hit.score / 2, 4))


def _explain_failure(reason: str) -> str:
    return (
        f"The passages were not put in order by the model for that: {reason}. "
        "See retrieval.rerankModel."
    )
