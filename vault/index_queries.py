"""What can be asked of an index: the best passages, whole lists, notes beside a note, and why.

Any call may find the index damaged. SQLite reports it, or a value that was read has a type, an
encoding or a length that it cannot have; that is an ordinary Python exception, so whatever goes
wrong in a call has the catalog looked through. Where it is damaged, its file is set aside, an empty
one takes its place, and the call runs once more.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Concatenate, Final, ParamSpec, TypeVar, cast

from vault.access import filter_allowed
from vault.catalog import UNFINISHED
from vault.embedding_versions import Embedders, read_used_model
from vault.errors import IndexDamaged, IndexUnusable, VaultError
from vault.indexing.status import IndexStatus, read_status
from vault.notes.note import Note, read_note
from vault.open_index import OpenIndex
from vault.options import IndexOptions
from vault.records import Records
from vault.search.adhoc import AdhocText, search_texts
from vault.search.excerpts import FEWEST_PASSAGES, LONG_NOTE_PASSAGES, cut_excerpts
from vault.search.explain import why_not
from vault.search.hits import Hit, SearchResult
from vault.search.listing import list_notes
from vault.search.passages import Passages
from vault.search.query import parse_query
from vault.search.related import RelatedNote, find_related_notes
from vault.search.rerank import RERANKED, Reranker
from vault.search.search import Encode, Searcher
from vault.search.selftest import SelfTest, run_self_test
from vault.search.staleness import StalenessFilter

__all__ = ["INDEX_DAMAGED", "Finding", "mends"]

INDEX_DAMAGED: Final = "The index was damaged and is being rebuilt. Your notes are untouched."
_MANY_HITS = 200
_NOT_INDEXED = "These notes are not indexed yet; `strata index` does it."
_NOT_FINISHED = "These notes are not fully indexed yet; results cover what is done so far."

_Self = TypeVar("_Self", bound="Finding")
_Result = TypeVar("_Result")
_Params = ParamSpec("_Params")


def mends(
    act: Callable[Concatenate[_Self, _Params], _Result],
) -> Callable[Concatenate[_Self, _Params], _Result]:
    """Run a method of an index again on a new catalog, where it fails because of damage."""

    @wraps(act)
    def run(self: _Self, /, *args: _Params.args, **kwargs: _Params.kwargs) -> _Result:
        before = self._generation
        try:
            return act(self, *args, **kwargs)
        except Exception as error:
            if not self._is_worth_another(before, error):
                raise
            self._begin_anew(before)
        found = act(self, *args, **kwargs)
        if isinstance(found, SearchResult) and (said := self.take_warning()):
            return cast(_Result, replace(found, warnings=(said, *found.warnings)))
        return found

    return run


class Finding(ABC):
    """The side of a `VaultIndex` that is asked; also while an update runs."""

    root: Path
    index_dir: Path
    exclude: tuple[str, ...]
    _embedders: Embedders
    _options: Callable[[], IndexOptions]
    _reranker: Reranker
    _generation: int  # counts how often the catalog was set aside

    @abstractmethod
    def take_warning(self) -> str:
        """Return, once, that the index was damaged; empty where it was not."""

    @abstractmethod
    def _is_damaged(self) -> bool:
        """Look through the whole catalog for damage."""

    @abstractmethod
    def _begin_anew(self, generation: int) -> None:
        """Set the damaged catalog aside and open an empty one, unless that has been done.

        Args:
            generation: that of the catalog in which the damage was found.

        Raises:
            IndexDamaged: another process keeps the index.
        """

    def _is_worth_another(self, before: int, error: Exception) -> bool:
        """Tell whether damage made a call fail, or another call that replaced the catalog."""
        if isinstance(error, IndexDamaged):
            return True
        if isinstance(error, VaultError):
            return isinstance(error, IndexUnusable) and self._generation != before
        return self._is_damaged()

    @abstractmethod
    def _open(self) -> OpenIndex | None:
        """Give what is open, else open it for reading; None where there is no index yet."""

    @abstractmethod
    def _catch_up(self) -> str:
        """Wait, for a moment at most, for what has just changed in a folder that is watched.

        Returns:
            A sentence that says so where that was not long enough.
        """

    @mends
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
            return SearchResult(query, (), 0.0, warnings=(_NOT_INDEXED,))
        opened.refill_if_needed()
        behind = ""

        def catch_up() -> None:
            nonlocal behind
            behind = self._catch_up()

        searcher = Searcher(
            opened.catalog,
            self._encoding(opened),
            opened.find_nearest,
            self._staleness_filter().keep_current,
            catch_up=catch_up,
        )
        folder = self._options().reranker if reranks else None
        wanted = k if folder is None else max(k, RERANKED)
        found = opened.search_in_one_version(lambda: searcher.search(query, wanted, in_play))
        if folder is not None:
            found = self._reranker.apply(found, parse_query(query).words, folder)
        warnings = (*found.warnings, *_unfinished(opened, behind))
        return opened.add_warning(replace(found, hits=found.hits[:k], warnings=warnings))

    @mends
    def excerpts(self, query: str, k: int = 8) -> SearchResult:
        """Find the `k` best places: passages, and of long notes the sentences that fit.

        Raises:
            IndexUnusable: the index cannot be read.
        """
        began = time.perf_counter()
        if k < 1:
            return SearchResult(query, (), 0.0)
        found = self.search(query, max(k, FEWEST_PASSAGES))
        opened = self._open()
        if opened is None:
            return found
        counts = Passages(opened.catalog).counts({hit.path for hit in found.hits})
        long_notes = {path for path, count in counts.items() if count >= LONG_NOTE_PASSAGES}
        hits = cut_excerpts(found.hits, parse_query(query), long_notes, k)
        return replace(found, hits=tuple(hits), seconds=time.perf_counter() - began)

    @mends
    def list_notes(self, query: str, limit: int, offset: int = 0) -> SearchResult:
        """List every note that fits the filters of a query and holds its words, one hit a note.

        Raises:
            IndexUnusable: the index cannot be read.
        """
        opened = self._open()
        if opened is None:
            return SearchResult(query, (), 0.0, total=0, warnings=(_NOT_INDEXED,))
        behind = self._catch_up()
        found = list_notes(
            opened.catalog, self._staleness_filter().keep_current, query, limit, offset
        )
        return replace(found, warnings=(*found.warnings, *_unfinished(opened, behind)))

    @mends
    def search_texts(self, texts: Sequence[AdhocText], query: str, k: int) -> tuple[Hit, ...]:
        """Find the `k` best passages of some texts, whether they are indexed or not.

        What the index holds of them is searched by meaning too.

        Raises:
            IndexUnusable: the index cannot be read.
        """
        opened = self._open()
        if opened is None:
            return search_texts(texts, query, k)
        vectors = opened.catalog.vectors
        return search_texts(texts, query, k, self._encoding(opened), vectors)

    @mends
    def related(self, path: str, k: int = 8) -> list[RelatedNote]:
        """Give the `k` notes nearest to one, in meaning or by a link; no model is needed."""
        opened = self._open()
        return (
            []
            if opened is None
            else find_related_notes(opened.catalog, opened.find_nearest, path, k)
        )

    @mends
    def why_not(self, query: str, path: str, k: int = 8) -> str:
        """Say in a sentence why a note is not among the `k` best places of a query."""
        many = self.search(query, _MANY_HITS).hits
        return why_not(path, self._state_of(path), many, self.excerpts(query, k).hits)

    @mends
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

    @mends
    def self_test(self, is_cancelled: Callable[[], bool] = lambda: False) -> SelfTest:
        """Ask for the vault's own notes, and tell how often and how fast they are found.

        Raises:
            IndexUnusable: there is no index yet, or it cannot be read.
        """
        opened = self._open()
        if opened is None:
            raise IndexUnusable("There is no index of these notes yet; run: strata index.")
        return run_self_test(opened.catalog, self.search, is_cancelled)

    @mends
    def filter_allowed(self, paths: Sequence[str]) -> frozenset[str]:
        """Give those notes that nothing keeps out now; only what was changed is read."""
        opened = self._open()
        if opened is None:
            return frozenset()
        return filter_allowed(self.root, Records(opened.catalog).find_files(paths), self.exclude)

    @mends
    def tags(self) -> tuple[tuple[str, str], ...]:
        """List each tag with the path of each note that carries it, by tag, then by path."""
        opened = self._open()
        return () if opened is None else tuple(Records(opened.catalog).tags())

    @property
    @mends
    def note_count(self) -> int:
        """Tell how many notes are indexed."""
        opened = self._open()
        return 0 if opened is None else Records(opened.catalog).counts()[0]

    @property
    @mends
    def indexed_at(self) -> str | None:
        """Tell when the last complete update ended, in ISO 8601 UTC."""
        opened = self._open()
        return None if opened is None else opened.catalog.meta("indexed_at")

    @mends
    def status(self) -> IndexStatus:
        """Tell how the index stands.

        Raises:
            IndexUnusable: it cannot be read.
        """
        opened = self._open()
        if opened is None:
            return IndexStatus(embedder=self._options().model)
        return read_status(opened.catalog, self.index_dir, is_owner=opened.store is not None)

    def read_note(self, path: str) -> Note:
        """Read one note as it is on disk now.

        Raises:
            UnsafePath: the path would leave the vault.
            NoteUnreadable: it is gone, or is not text.
        """
        return read_note(self.root, path)

    def _state_of(self, path: str) -> tuple[str, str] | None:
        opened = self._open()
        states = [] if opened is None else Records(opened.catalog).list_states()
        return next(((state, reason) for at, _, state, reason in states if at == path), None)

    def _encoding(self, opened: OpenIndex) -> Encode:
        """Give what encodes a query as the vectors were made that it is compared with."""
        return lambda words: self._embedders.find_named(
            *read_used_model(opened.catalog)
        ).begin_query(words)

    def _staleness_filter(self) -> StalenessFilter:
        """Give what holds passages against the disk.

        The index may be older than the notes and the patterns: what they keep private or exclude
        by now is to reach no model.
        """
        return StalenessFilter(self.root, self.exclude)


def _unfinished(opened: OpenIndex, behind: str) -> tuple[str, ...]:
    """Return what is said of a search while the index lacks something."""
    said = _NOT_FINISHED if opened.catalog.meta(UNFINISHED) else behind
    return (said,) if said else ()
