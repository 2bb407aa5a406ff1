"""Combine keyword search and semantic search, with weights that depend on the query."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from itertools import islice
from typing import TYPE_CHECKING

from vault.catalog import Catalog
from vault.errors import EmbedderFailed
from vault.quotes.sections import (
    PassagePlace,
    Support,
    choose_passages_around,
    measure_support,
)
from vault.quotes.spelling import correct_spelling, join_separated, write_as_in_notes
from vault.ranking.fusion import (
    DEFAULT_WEIGHTS,
    RankingWeights,
    Scores,
    complete_first_notes,
    fuse,
    sort_by_score,
    spread_notes,
    weigh_words,
)
from vault.ranking.keyword_scores import KeywordScores
from vault.ranking.terms import choose_terms
from vault.ranking.titles import find_titled
from vault.scope import WHOLE, Scope
from vault.search.boosts import Booster, Boosts, apply_boosts
from vault.search.copies import CopiedPassages, find_copied_passages
from vault.search.filters import ChosenPassages, choose_passages, has_notes_to_search
from vault.search.hits import MEANING, SIGNALS, WORDS, Hit, SearchResult, build_hit
from vault.search.passages import Passage, Passages, measure_cosines
from vault.search.query import parse_query

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

__all__ = ["SIGNALS", "Hit", "SearchResult", "Searcher"]

_CANDIDATES = 100
_BOOSTED = 60
_TITLED = 20
_MAX_DENSE_CHARS = 4_000
_DRAWS = 6
# Of the many passages that are quoted from, some follow each other in their note. With runs of
# three, the estimate was 0.95, 0.98 and 0.93 of what was sent for three vaults, without 1.29.
_RUN = 3

Numbered = Iterable[tuple[int, Passage]]
Encode = Callable[[str], "Callable[[], Vector | None]"]
Nearest = Callable[["Vector", int, Collection[bytes] | None], list[tuple[bytes, float]]]


class Searcher:
    """Searches a catalog by keyword search and semantic search."""

    def __init__(
        self,
        catalog: Catalog,
        encode: Encode,
        nearest: Nearest,
        current: Callable[[Numbered], Iterator[tuple[int, Passage]]] = iter,
        today: Callable[[], date] | None = None,
        catch_up: Callable[[], None] = lambda: None,
        attachments: str = "/",
        weights: RankingWeights = DEFAULT_WEIGHTS,
    ):
        """Create the searcher.

        Args:
            catalog: the catalog with keywords, passages and vectors.
            encode: starts embedding a query, and returns a function that waits for the vector. The
                vector is None if there are no vectors to compare.
            nearest: returns the hashes and cosine similarities of the texts nearest to a vector.
                The last argument limits the texts.
            current: yields the given passages that still exist, with current line numbers.
            today: returns the date that words such as "yesterday" refer to.
            catch_up: waits until the latest changes are indexed. Called while the query is being
                embedded.
            attachments: the attachment folder that is set in Obsidian.
            weights: the ranking weights.
        """
        self._catalog = catalog
        self._weights = weights
        self._by_words = KeywordScores(catalog, "words", weights.columns)
        self._by_notes = KeywordScores(catalog, "note_words", (1.0, 1.0))
        self._passages = Passages(catalog)
        self._context = Booster(catalog, attachments)
        self._encode = encode
        self._nearest = nearest
        self._current = current
        self._today = today or _read_today
        self._catch_up = catch_up

    def search(
        self,
        text: str,
        k: int,
        session_notes: Collection[str] = (),
        scope: Scope = WHOLE,
        *,
        is_quoted: bool = False,
    ) -> SearchResult:
        """Find the `k` best passages by keyword search and semantic search.

        If embedding the query fails, only the keyword search is used, and a warning is added.

        Args:
            text: the words to search for, and filters.
            k: the maximum number of hits.
            session_notes: the paths of the notes that the session already uses.
            scope: the part of the vault to search.
            is_quoted: whether the passages are shown to the user directly, without a model's
                answer. If so, the spelling of the query is corrected, and the result contains how
                well the hits support an answer.

        Raises:
            IndexUnusable: the catalog cannot be read.
        """
        began = time.perf_counter()
        text = write_as_in_notes(self._catalog, text)
        if is_quoted:
            text = join_separated(correct_spelling(self._catalog, text))
        query = parse_query(text)
        hits: Sequence[Hit] = ()
        warnings: list[str] = []
        by: tuple[str, ...] = ()
        missing: tuple[str, ...] = ()
        if text.strip() and k > 0 and self._passages.most:
            vector = _QueryVector(self._begin_encoding(query.words, warnings))
            self._catch_up()
            chosen = choose_passages(query, self._catalog, self._passages, scope)
            warnings += chosen.warnings
            missing = chosen.missing_phrases
            hits = self._find(query.words, vector, chosen, k, session_notes)
            has_terms = bool(choose_terms(query.words, self._today()))
            by = (*((WORDS,) if has_terms else ()), *((MEANING,) if vector.is_compared else ()))
        support = self._measure_support(query.words, hits) if is_quoted and hits else None
        seconds = time.perf_counter() - began
        found = SearchResult(text, tuple(hits), seconds, query.filters(), tuple(warnings))
        has_notes = bool(hits) or has_notes_to_search(self._catalog, scope)
        return replace(found, support=support, has_notes=has_notes, by=by, missing_phrases=missing)

    def collect_scores(self, words: str) -> Scores:
        """Return the scores of the passages that a question finds, for fitting the ranking weights.

        Unlike in a search, the similarity to titles is included.

        Raises:
            EmbedderFailed: the question cannot be embedded.
        """
        vector = self._encode(words[:_MAX_DENSE_CHARS])
        titled = self._find_titled(words, ChosenPassages())
        scores = self._score(words, vector, ChosenPassages(), _CANDIDATES, titled)
        return replace(scores, titles=self._context.measure_titles(words, scores.files))

    def widen(self, result: SearchResult) -> SearchResult:
        """Append the passages around the best hits to a search result."""
        places = [PassagePlace(hit.path, hit.lines[0], hit.heading) for hit in result.hits]
        around = choose_passages_around(self._catalog, places)
        read = self._passages.details(around)
        existing_passages = ((number, read[number]) for number in around if number in read)
        added = (
            build_hit(passage, result.hits[around[number]].score, {})
            for number, passage in self._current(existing_passages)
        )
        return replace(result, hits=(*result.hits, *added))

    def draw(self, k: int, *, is_quoted: bool) -> Iterator[Sequence[Hit]]:
        """Yield a few samples of `k` usual passages each, which no query chose.

        They show how large the result of a search is before there is a query.

        Args:
            k: the maximum number of passages in each sample.
            is_quoted: whether the passages around them are added, as in `widen`.
        """
        spread = self._passages.list_spread(k * _DRAWS)
        draws = max(1, min(_DRAWS, len(spread) // k))
        for at in range(draws):
            run = _RUN if is_quoted else 1
            chosen = (id + more for id in spread[at::draws][::run] for more in range(run))
            read = self._passages.details(chosen)
            hits = tuple(build_hit(passage, 0.0, {}) for passage in read.values())
            yield self.widen(SearchResult("", hits, 0.0)).hits if is_quoted else hits

    def _measure_support(self, words: str, hits: Sequence[Hit]) -> Support | None:
        """Measure how well hits support an answer, or return None if there are no vectors."""
        cosines = [cosine for hit in hits if (cosine := hit.signals["dense"]) is not None]
        if not cosines:
            return None
        ids = self._passages.find_ids([(hit.path, hit.text) for hit in hits])
        return measure_support(self._catalog, words, ids, max(cosines), self._passages.count())

    def _begin_encoding(self, words: str, warnings: list[str]) -> "Callable[[], Vector | None]":
        """Start embedding the query, and return a function that waits for its vector.

        If embedding fails, a warning is added to `warnings`, and the function returns None.
        """
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
        chosen: ChosenPassages,
        k: int,
        session_notes: Collection[str],
    ) -> list[Hit]:
        titled = self._find_titled(words, chosen)
        scores = self._score(words, vector, chosen, max(_CANDIDATES, 2 * k), titled)
        found = _Signals(scores)
        if words.strip():
            weight = weigh_words(words, self._weights.words)
            fused = fuse(scores, weight, self._weights.note_share)
            near = {*titled, *(number for number, _ in fused[:_BOOSTED])}
            found.boosts = self._context.compute_boosts(words, near, session_notes, self._today())
            boosted = ((n, apply_boosts(s, found.boosts.get(n))) for n, s in fused)
            spread = spread_notes(sort_by_score(boosted), scores.files)
            ranked = complete_first_notes(spread, scores)
        else:
            ranked = [(number, 1.0) for number in chosen.passages or ()]
        found.copies = find_copied_passages(self._catalog, (number for number, _ in ranked))
        ranked = found.copies.move_back(ranked)
        return list(islice(self._build_hits(ranked, found, k), k))

    def _find_titled(self, words: str, chosen: ChosenPassages) -> Collection[int]:
        """Return the ids of passages in the scope whose titles contain all words of the query."""
        found = find_titled(self._catalog, words, _TITLED)
        return found if chosen.passages is None else chosen.passages.keys() & found

    def _score(
        self,
        words: str,
        vector: "Callable[[], Vector | None]",
        chosen: ChosenPassages,
        wanted: int,
        titled: Collection[int],
    ) -> Scores:
        """Compute the keyword and semantic scores of the best passages.

        The keyword scores of the best notes are included. A passage in `titled` gets at least the
        lowest keyword score of the best passages.

        Args:
            words: the query without filters.
            vector: waits for the query's vector, and returns it, or None.
            chosen: the passages to search.
            wanted: the number of passages that each of the two searches returns.
            titled: the ids of passages whose titles contain all words of the query.
        """
        terms = choose_terms(words, self._today())
        by_words = self._by_words.find_best(terms, wanted, chosen.passages)
        by_words = dict.fromkeys(titled, min(by_words.values(), default=0.0)) | by_words
        first = islice(by_words, len(titled) + _BOOSTED)
        self._context.load(list(first))
        by_notes = self._by_notes.find_best(terms, _CANDIDATES, self._list_files(chosen.passages))
        files = self._passages.find_files(by_words)
        stored = self._passages.read_vectors(by_words)
        # Until here, the query was still being embedded.
        by_meaning = self._measure_meaning(stored, vector(), wanted, chosen)
        files |= self._passages.find_files(by_meaning.keys() - files.keys())
        return Scores(by_words, by_meaning, by_notes, files)

    def _list_files(self, among: Collection[int] | None) -> Collection[int] | None:
        return None if among is None else set(self._passages.find_files(among).values())

    def _measure_meaning(
        self,
        by_words: Mapping[int, bytes],
        vector: "Vector | None",
        wanted: int,
        chosen: ChosenPassages,
    ) -> Mapping[int, float]:
        """Return the cosine similarities of the nearest passages and of the given ones.

        Args:
            by_words: the vectors of the passages that the keyword search found, keyed by id.
            vector: the query's vector, or None to compare nothing.
            wanted: the number of nearest passages.
            chosen: the passages to search.
        """
        if vector is None:
            return {}
        among = None if chosen.passages is None else set(chosen.passages.values())
        near = dict(self._nearest(vector, wanted, among))
        found = self._passages.find_by_hash(near)
        if chosen.passages is not None:
            found = {number: found[number] for number in found.keys() & chosen.passages.keys()}
        cosines = {number: near[text_hash] for number, text_hash in found.items()}
        return measure_cosines(vector, by_words) | cosines

    def _build_hits(
        self,
        ranked: Sequence[tuple[int, float]],
        found: "_Signals",
        k: int,
    ) -> Iterator[Hit]:
        """Yield the hits, best first. Their texts are read in small batches on demand.

        Args:
            ranked: pairs of passage id and score, best first.
            found: the scores from which the score of each passage was computed.
            k: the number of hits that the caller needs.
        """
        scores = dict(ranked)
        for start in range(0, len(ranked), 2 * k):
            ids = [number for number, _ in ranked[start : start + 2 * k]]
            read = self._passages.details(ids)
            existing_passages = ((number, read[number]) for number in ids if number in read)
            for number, passage in self._current(existing_passages):
                shown = found.copies.mark(passage)
                yield build_hit(shown, scores[number], found.signals(number))


@dataclass(slots=True)
class _Signals:
    """The single scores of the passages, which are shown with each hit, and which are copies."""

    scores: Scores
    boosts: Mapping[int, Boosts] = field(default_factory=dict)
    copies: CopiedPassages = field(default_factory=CopiedPassages)

    def signals(self, number: int) -> dict[str, float | None]:
        boosts = self.boosts.get(number)
        structure = {} if boosts is None else boosts._asdict()
        dense, words = self.scores.dense.get(number), self.scores.words.get(number)
        return {"dense": dense, "words": words, **structure}


@dataclass(slots=True)
class _QueryVector:
    """Waits for the vector of a query, and remembers whether there was one to compare."""

    wait: Callable[[], "Vector | None"]
    is_compared: bool = False

    def __call__(self) -> "Vector | None":
        vector = self.wait()
        self.is_compared = vector is not None
        return vector


def _read_today() -> date:
    return datetime.now().astimezone().date()


def _warn_words_only(error: EmbedderFailed) -> str:
    return f"Searched by words only. {error}"
