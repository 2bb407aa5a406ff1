"""Search by keywords and by meaning, fused with weights that depend on the query."""

import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from heapq import nlargest
from itertools import islice
from typing import TYPE_CHECKING

from vault.catalog import Catalog
from vault.errors import EmbedderFailed
from vault.notes.keywords import build_query_terms, measure_latin_share
from vault.search.boosts import Boosts, QueryContext, apply_boosts
from vault.search.hits import SIGNALS, Hit, SearchResult, build_hit
from vault.search.passages import Passage, Passages
from vault.search.query import parse_query
from vault.search.scope import Covers, Scope, build_scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

__all__ = ["SIGNALS", "Hit", "SearchResult", "Searcher"]

_CANDIDATES = 100
_BOOSTED = 60  # a named note is found by its words, so it already ranks high
_MAX_DENSE_CHARS = 4_000

Numbered = Iterable[tuple[int, Passage]]
Encode = Callable[[str], "Callable[[], Vector]"]
Nearest = Callable[["Vector", int, Collection[bytes] | None], list[tuple[bytes, float]]]


class Searcher:
    """Searches one catalog."""

    def __init__(
        self,
        catalog: Catalog,
        encode: Encode,
        nearest: Nearest,
        current: Callable[[Numbered], Iterator[tuple[int, Passage]]] = iter,
        today: Callable[[], date] | None = None,
        catch_up: Callable[[], None] = lambda: None,
        attachments: str = "/",
    ):
        """Store the catalog and the functions that embed, compare and check.

        Args:
            catalog: the catalog with keywords, passages and vectors.
            encode: starts to embed a query, and returns a function that waits for the vector.
            nearest: returns the hashes of the nearest texts, of all or of given ones, with cosines.
            current: yields the passages that still exist, with their current lines.
            today: returns the date that words such as "yesterday" refer to.
            catch_up: waits for the latest changes; called while the query is being embedded.
            attachments: the attachment folder from Obsidian's settings.
        """
        self._catalog = catalog
        self._passages = Passages(catalog)
        self._context = QueryContext(catalog, attachments)
        self._encode = encode
        self._nearest = nearest
        self._current = current
        self._today = today or _read_today
        self._catch_up = catch_up

    def search(
        self, text: str, k: int, in_play: Collection[str] = (), covers: Covers = None
    ) -> SearchResult:
        """Find the `k` best passages; only by keywords if the embedder fails.

        Args:
            text: the query: words and filters.
            k: the largest number of hits.
            in_play: the paths of the notes that the session is about.
            covers: limits the search to a part of the vault; None for all of it.

        Raises:
            IndexUnusable: the catalog cannot be read.
        """
        began = time.perf_counter()
        query = parse_query(text)
        hits: Sequence[Hit] = ()
        warnings: list[str] = []
        if text.strip() and k > 0 and self._passages.most:
            vector = self._begin_encoding(query.words, warnings)
            self._catch_up()
            scope = build_scope(query, self._catalog, self._passages, covers)
            warnings += scope.warnings
            hits = self._find(query.words, vector, scope, k, in_play)
        seconds = time.perf_counter() - began
        return SearchResult(text, tuple(hits), seconds, query.filters(), tuple(warnings))

    def _begin_encoding(self, words: str, warnings: list[str]) -> "Callable[[], Vector | None]":
        """Start to embed the query in the child process, while keywords are searched here."""
        if not words.strip():
            return lambda: None
        try:
            encoded = self._encode(words[:_MAX_DENSE_CHARS])
        except EmbedderFailed as error:
            warnings.append(_warn_words_only(error))
            return lambda: None

        def wait() -> "Vector | None":
            try:
                return encoded()
            except EmbedderFailed as error:
                warnings.append(_warn_words_only(error))
                return None

        return wait

    def _find(
        self,
        words: str,
        vector: "Callable[[], Vector | None]",
        scope: Scope,
        k: int,
        in_play: Collection[str],
    ) -> list[Hit]:
        wanted = max(_CANDIDATES, 2 * k)
        among = scope.passages
        by_words = self._passages.find_by_words(build_query_terms(words), wanted, among)
        self._context.load(list(islice(by_words, _BOOSTED)))  # the query is still being embedded
        by_meaning = self._measure_meaning(by_words, vector(), wanted, scope)
        found = _Signals(words=by_words, dense=by_meaning)
        if words.strip():
            fused = fuse(by_words, by_meaning, weigh_words(words))
            near = [number for number, _ in fused[:_BOOSTED]]
            found.boosts = self._context.compute_boosts(words, near, in_play, self._today())
            ranked = _rank(
                (number, apply_boosts(s, found.boosts.get(number))) for number, s in fused
            )
        else:
            ranked = [(number, 1.0) for number in among or ()]
        return list(islice(self._build_hits(ranked, found, k), k))

    def _measure_meaning(
        self, by_words: Collection[int], vector: "Vector | None", wanted: int, scope: Scope
    ) -> Mapping[int, float]:
        """Return the cosines of the nearest passages and of those found by keywords."""
        if vector is None:
            return {}
        among = None if scope.passages is None else set(scope.passages.values())
        near = dict(self._nearest(vector, wanted, among))
        found = self._passages.find_by_hash(near)
        if scope.passages is not None:
            found = {number: found[number] for number in found.keys() & scope.passages.keys()}
        found |= self._passages.hashes([number for number in by_words if number not in found])
        near |= self._passages.measure_cosines(vector, set(found.values()) - near.keys())
        return {number: near[text_hash] for number, text_hash in found.items() if text_hash in near}

    def _build_hits(
        self,
        ranked: Sequence[tuple[int, float]],
        found: "_Signals",
        k: int,
    ) -> Iterator[Hit]:
        """Yield hits, best first, reading passages only as they are needed."""
        scores = dict(ranked)
        for start in range(0, len(ranked), 2 * k):
            ids = [number for number, _ in ranked[start : start + 2 * k]]
            read = self._passages.details(ids)
            there = ((number, read[number]) for number in ids if number in read)
            for number, passage in self._current(there):
                yield build_hit(passage, scores[number], found.signals(number))


@dataclass(slots=True)
class _Signals:
    """The signals of the found passages, by passage id."""

    words: Mapping[int, float]
    dense: Mapping[int, float]
    boosts: Mapping[int, Boosts] = field(default_factory=dict)

    def signals(self, number: int) -> dict[str, float | None]:
        boosts = self.boosts.get(number)
        structure = {} if boosts is None else boosts._asdict()
        return {"dense": self.dense.get(number), "words": self.words.get(number), **structure}


def _read_today() -> date:
    return datetime.now().astimezone().date()


def _rank(scored: Iterable[tuple[int, float]]) -> list[tuple[int, float]]:
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))


def _warn_words_only(error: EmbedderFailed) -> str:
    return f"Searched by words only. {error}"


_CODE_LIKE = re.compile(r"\d|\w[_./:-]\w|[a-z][A-Z]")

# Chosen on half of the training queries of SciFact, where 0.2 to 0.5 differ by less than 1 %.
_BASE, _SHORT, _CODE, _FOREIGN = 0.35, 0.2, 0.2, 0.9
_WORDS_SLOPE, _WORDS_USUAL = 0.5, 0.3
_DENSE_SLOPE, _DENSE_USUAL = 1.0, 0.15
_LEAST, _MOST = 0.1, 0.9
_AHEAD = 10
_FEW_TOKENS = 2
_MAX_TOKENS = 64


def weigh_words(query: str) -> float:
    """Return the weight of keywords relative to meaning, from 0 to 1.

    The embedding model was trained on English and knows other languages in Latin script a little.
    So keywords weigh more the less of a query is in Latin script, and also for short queries,
    names, numbers and code.
    """
    tokens = query.split()[:_MAX_TOKENS]
    code_like = sum(bool(_CODE_LIKE.search(token)) for token in tokens) / max(len(tokens), 1)
    base = _BASE + (_SHORT if len(tokens) <= _FEW_TOKENS else 0.0) + _CODE * code_like
    return base + (_FOREIGN - base) * (1.0 - measure_latin_share(query))


def fuse(
    words: Mapping[int, float], dense: Mapping[int, float], weight: float
) -> list[tuple[int, float]]:
    """Rank the passages found by keywords or meaning, best first, with scores from 0 to 1.

    A passage found by meaning alone never scores higher than the weight of meaning, which is
    small for a query in a script that the embedding model does not know.
    """
    weight = _adjust_weight(weight, words, dense) if dense else 1.0
    best_words = max(words.values(), default=1.0) or 1.0
    low, high = min(dense.values(), default=0.0), max(dense.values(), default=1.0)
    span = (high - low) or 1.0
    scores = {
        item: weight * words.get(item, 0.0) / best_words
        + (1.0 - weight) * max(0.0, dense.get(item, low) - low) / span
        for item in words.keys() | dense.keys()
    }
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


def _adjust_weight(weight: float, words: Mapping[int, float], dense: Mapping[int, float]) -> float:
    """Return the weight, moved towards the ranking whose best passages stand out."""
    by_words = _WORDS_SLOPE * (_measure_sharpness(words) - _WORDS_USUAL)
    by_meaning = _DENSE_SLOPE * (_measure_sharpness(dense) - _DENSE_USUAL)
    return min(max(weight + by_words - by_meaning, _LEAST), max(_MOST, weight))


def _measure_sharpness(scores: Mapping[int, float]) -> float:
    """Return by which share the eleventh score is lower than the first, from 0 to 1."""
    best = nlargest(_AHEAD + 1, scores.values())
    last = best[_AHEAD] if len(best) > _AHEAD else 0.0
    return min(1.0, (best[0] - last) / best[0]) if best and best[0] > 0 else 0.0
