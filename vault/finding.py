"""What can be asked of an index: the best passages, whole lists, notes beside a note, and why."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

from vault.embedders import Embedders
from vault.errors import IndexUnusable
from vault.excerpts import FEWEST_PASSAGES, LONG_NOTE_PASSAGES, excerpts
from vault.freshness import Disk
from vault.generations import used_model
from vault.hits import Hit, SearchResult
from vault.listing import list_notes
from vault.opened import Opened
from vault.options import IndexOptions
from vault.passages import Passages
from vault.query import parse_query
from vault.records import Records
from vault.related import RelatedNote, related_notes
from vault.rerank import RERANKED, Reranker
from vault.search import Encode, Searcher
from vault.self_test import SelfTest, run_self_test
from vault.why_not import why_not
from vault.within import Text, search_within

__all__ = ["Finding"]

_MANY_HITS = 200


class Finding(ABC):
    """The side of a `VaultIndex` that is asked; also while an update runs."""

    root: Path
    exclude: tuple[str, ...]
    _embedders: Embedders
    _options: Callable[[], IndexOptions]
    _reranker: Reranker

    @abstractmethod
    def _open(self) -> Opened | None:
        """Give what is open, else open it for reading; None where there is no index yet."""

    def search(
        self, query: str, k: int = 8, *, in_play: Collection[str] = (), reranks: bool = True
    ) -> SearchResult:
        """Find the `k` best passages by words and by meaning, also while an update runs.

        Args:
            query: words and filters.
            k: how many at most.
            in_play: paths of the notes that a conversation is about.
            reranks: let the cross-encoder put them in order, where one is chosen.

        Raises:
            IndexUnusable: the index cannot be read.
        """
        opened = self._open()
        if opened is None:
            return SearchResult(query, (), 0.0)
        opened.refill_if_needed()
        searcher = Searcher(
            opened.catalog, self._encoding(opened), opened.nearest, self._disk().current
        )
        folder = self._options().reranker if reranks else None
        wanted = k if folder is None else max(k, RERANKED)
        found = opened.in_one_generation(lambda: searcher.search(query, wanted, in_play))
        if folder is not None:
            found = self._reranker.apply(found, parse_query(query).words, folder)
        return opened.with_warning(replace(found, hits=found.hits[:k]))

    def excerpts(self, query: str, k: int = 8) -> SearchResult:
        """Find the `k` best places: passages, and of long notes the sentences that fit.

        Raises:
            IndexUnusable: the index cannot be read.
        """
        began = time.perf_counter()
        opened = self._open()
        if opened is None or k < 1:
            return SearchResult(query, (), 0.0)
        found = self.search(query, max(k, FEWEST_PASSAGES))
        counts = Passages(opened.catalog).counts({hit.path for hit in found.hits})
        long_notes = {path for path, count in counts.items() if count >= LONG_NOTE_PASSAGES}
        hits = excerpts(found.hits, parse_query(query), long_notes, k)
        return replace(found, hits=tuple(hits), seconds=time.perf_counter() - began)

    def list_notes(self, query: str, limit: int, offset: int = 0) -> SearchResult:
        """List every note that fits the filters of a query and holds its words, one hit a note.

        Raises:
            IndexUnusable: the index cannot be read.
        """
        opened = self._open()
        if opened is None:
            return SearchResult(query, (), 0.0, total=0)
        return list_notes(opened.catalog, self._disk().current, query, limit, offset)

    def search_within(self, texts: Sequence[Text], query: str, k: int) -> tuple[Hit, ...]:
        """Find the `k` best passages of some texts, whether they are indexed or not.

        What the index holds of them is searched by meaning too.

        Raises:
            IndexUnusable: the index cannot be read.
        """
        opened = self._open()
        if opened is None:
            return search_within(texts, query, k)
        vectors = opened.catalog.vectors
        return search_within(texts, query, k, self._encoding(opened), vectors)

    def related(self, path: str, k: int = 8) -> list[RelatedNote]:
        """Give the `k` notes nearest to one, in meaning or by a link; no model is needed."""
        opened = self._open()
        return [] if opened is None else related_notes(opened.catalog, opened.nearest, path, k)

    def why_not(self, query: str, path: str, k: int = 8) -> str:
        """Say in a sentence why a note is not among the `k` best places of a query."""
        many = self.search(query, _MANY_HITS).hits
        return why_not(path, self._state_of(path), many, self.excerpts(query, k).hits)

    def why_not_sent(self, query: str, path: str, k: int, in_play: Collection[str] = ()) -> str:
        """Say in a sentence why a note is, or is not, among the passages that a model is given.

        Args:
            query: what was searched for.
            path: the note.
            k: how many passages the model is given.
            in_play: paths of the notes that the conversation was about.
        """
        many = self.search(query, _MANY_HITS, in_play=in_play).hits
        sent = self.search(query, k, in_play=in_play).hits
        return why_not(path, self._state_of(path), many, sent)

    def self_test(self, is_cancelled: Callable[[], bool] = lambda: False) -> SelfTest:
        """Ask for the vault's own notes, and tell how often and how fast they are found.

        Raises:
            IndexUnusable: there is no index yet, or it cannot be read.
        """
        opened = self._open()
        if opened is None:
            raise IndexUnusable("There is no index of these notes yet; run: strata index.")
        return run_self_test(opened.catalog, self.search, is_cancelled)

    def _state_of(self, path: str) -> tuple[str, str] | None:
        opened = self._open()
        states = [] if opened is None else Records(opened.catalog).states()
        return next(((state, reason) for at, _, state, reason in states if at == path), None)

    def _encoding(self, opened: Opened) -> Encode:
        """Give what encodes a query as the vectors were made that it is compared with."""
        return lambda words: self._embedders.named(*used_model(opened.catalog)).begin_query(words)

    def _disk(self) -> Disk:
        """Give what holds passages against the disk.

        The index may be older than the notes and the patterns: what they keep private or exclude
        by now is to reach no model.
        """
        return Disk(self.root, self.exclude)
