"""Search and list in an open index: up to date, reranked, with warnings of what may be missing.

What a vault and its limited copies share beside the index is built on first use. A search needs
little of it, so that a program that only searches starts sooner.
"""

import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vault.catalog import Catalog
from vault.embedding_versions import Embedders, read_used_model
from vault.indexing.throttle import IdleJob, SearchActivity, Throttle, UpdateQueue
from vault.listing.notes import list_notes
from vault.open_index import IndexHandle
from vault.options import USUAL_SEARCH, IndexOptions, SearchOptions
from vault.ranking.fitting import read_fit
from vault.ranking.fusion import DEFAULT_WEIGHTS
from vault.scope import WHOLE, Scope
from vault.search.hits import SearchResult, warn_if_unfinished
from vault.search.rerank import RERANKED, Reranker
from vault.search.search import Searcher
from vault.search.staleness import StalenessFilter

if TYPE_CHECKING:
    from vault.indexing.watcher import Watcher
    from vault.questions.vocabulary import VocabularyReader

__all__ = ["IndexSearch", "SharedParts"]

_CATCH_UP_S: Final = 3.0
_BEHIND: Final = "The latest changes of the notes are still being taken up and may be missing here."
_NOT_INDEXED: Final = "These notes are not indexed yet; `strata index` does it."


class SharedParts:
    """What a vault and its limited copies share beside the index. Built on first use.

    Attributes:
        activity: knows whether the user is searching.
        watcher: watches the folder, or None if it is not watched.
        has_seen_all: whether the whole folder was checked since watching began.
        rebuild: the thread that rebuilds a replaced index, or None.
    """

    def __init__(self, fit_ranking: Callable[[Callable[[], bool]], None], activity: SearchActivity):
        """Create the object. Nothing is built yet.

        Args:
            fit_ranking: the job for the time in which nobody searches. It gets a function that
                returns whether it must stop.
            activity: knows whether the user is searching.
        """
        self._fit_ranking = fit_ranking
        self.activity = activity
        self.watcher: Watcher | None = None
        self.has_seen_all = False
        self.rebuild: threading.Thread | None = None

    @cached_property
    def throttle(self) -> Throttle:
        """Pauses and resumes index updates."""
        return Throttle()

    @cached_property
    def updates(self) -> UpdateQueue:
        """The queue of index updates."""
        return UpdateQueue(self.throttle)

    @cached_property
    def idle(self) -> IdleJob:
        """The job that runs while nobody searches."""
        return IdleJob(self._fit_ranking, self.updates, self.activity)

    @cached_property
    def names(self) -> "VocabularyReader":
        """Reads the names of the vault, for questions."""
        from vault.questions.vocabulary import VocabularyReader

        return VocabularyReader()

    @cached_property
    def reranker(self) -> Reranker:
        """Reranks the best passages of a search, if a model for it is chosen."""
        return Reranker()

    def prefer(self, paths: Collection[str]) -> None:
        """Make the updates of this process, if there are any, index some notes first."""
        if "updates" in vars(self):
            self.updates.priority.prefer(paths)

    def close(self) -> None:
        """Stop what was begun, and wait for its end."""
        if "throttle" in vars(self):
            self.throttle.resume()  # a paused update has to notice the end
        if "idle" in vars(self):
            self.idle.close()
        if self.watcher is not None:
            self.watcher.close()
        if self.rebuild is not None and self.rebuild is not threading.current_thread():
            self.rebuild.join()
        if "reranker" in vars(self):
            self.reranker.close()


@dataclass(frozen=True)
class IndexSearch:
    """Searches the index of a vault, or a part of it. Paths are relative to the vault's folder.

    Attributes:
        root: the folder of notes.
        exclude: returns the current patterns of excluded notes.
        handle: opens the index.
        embedders: embed the query.
        parts: the watcher, the reranker, and whether the user is searching.
        options: returns the current options.
        scope: the part of the vault that is searched and listed.
    """

    root: Path
    exclude: Callable[[], Sequence[str]]
    handle: IndexHandle
    embedders: Embedders
    parts: SharedParts
    options: Callable[[], IndexOptions]
    scope: Scope = WHOLE

    def search(self, query: str, k: int, options: SearchOptions = USUAL_SEARCH) -> SearchResult:
        """Find the `k` best passages. All paths are relative to `root`."""
        if (catalog := self.handle.open()) is None:
            return SearchResult(query, (), 0.0, warnings=(_NOT_INDEXED,))
        with self.parts.activity.record():
            self.handle.refill_if_needed()
            behind: list[str] = []
            wait = self.catch_up if options.catches_up else lambda: ""
            catch_up = lambda: behind.append(wait())  # noqa: E731
            searcher = self.build_searcher(
                catalog, catch_up, options.today, by_meaning=options.by_meaning
            )
            reranker = self.options().reranker if options.reranks else ""
            found: SearchResult | None = None
            wanted = max(k, RERANKED) if reranker else k
            while found is None:  # until the embedding model is not switched during the search
                model = read_used_model(catalog)
                try:
                    found = searcher.search(
                        query,
                        wanted,
                        options.session_notes,
                        self.scope,
                        is_quoted=options.is_quoted,
                    )
                except ValueError:  # vectors of different lengths were compared
                    if read_used_model(catalog) == model:
                        raise
                found = None if read_used_model(catalog) != model else found
            if reranker:
                found = self.parts.reranker.rank_best(found, query, k, reranker)
            self.parts.prefer({hit.path for hit in found.hits})
            found = warn_if_unfinished(found, catalog, "".join(behind))
            found = searcher.widen(found) if options.is_quoted else found
            return self._warn_if_server_failed(found)

    def list_notes(self, query: str, limit: int, offset: int) -> SearchResult:
        """List one page of notes. Their paths are relative to `root`."""
        if (catalog := self.handle.open()) is None:
            return SearchResult(query, (), 0.0, total=0, warnings=(_NOT_INDEXED,))
        with self.parts.activity.record():
            behind = self.catch_up()
            keep_current = StalenessFilter(self.root, self.exclude()).keep_current
            found = list_notes(catalog, keep_current, query, limit, offset, self.scope)
            return warn_if_unfinished(found, catalog, behind, by_meaning=False)

    def build_searcher(
        self,
        catalog: Catalog,
        catch_up: Callable[[], None] = lambda: None,
        today: date | None = None,
        *,
        by_meaning: bool = True,
    ) -> Searcher:
        """Build a searcher with the ranking weights of the vault."""
        fit = read_fit(catalog)
        current = StalenessFilter(self.root, self.exclude())
        encode = partial(self.embedders.begin_query, catalog)
        return Searcher(
            catalog,
            encode if by_meaning else lambda _words: lambda: None,
            self.handle.find_nearest,
            current.keep_current,
            attachments=current.attachment_folder,
            today=None if today is None else lambda: today,
            catch_up=catch_up,
            weights=DEFAULT_WEIGHTS if fit is None else fit.weights,
        )

    def catch_up(self) -> str:
        """Wait at most three seconds until recent changes to notes are indexed.

        Return a warning if this takes longer, otherwise an empty string.
        """
        watcher = self.parts.watcher
        if watcher is None or not watcher.is_alive or self.parts.throttle.is_paused:
            return ""
        catalog = self.handle.open()
        was_indexed = catalog is not None and catalog.meta("indexed_at") is not None
        looks_at_all = not self.parts.has_seen_all and was_indexed
        self.parts.has_seen_all |= looks_at_all
        with self.parts.throttle.run_at_full_speed():
            is_done = watcher.catch_up(_CATCH_UP_S, looks_at_all=looks_at_all)
        return "" if is_done else _BEHIND

    def _warn_if_server_failed(self, found: SearchResult) -> SearchResult:
        store = self.handle.store
        if store is None or store.server is None or not store.failure:
            return found
        return replace(found, warnings=(*found.warnings, store.failure))
