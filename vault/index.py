"""The public interface of the vault package.

A `VaultIndex` can be used from several threads, even during an update.
"""

import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from vault.embedder import Embedder
from vault.embedding_versions import Embedders
from vault.errors import EmbedderFailed, IndexUnusable, VaultError
from vault.exclude.obsidian import read_settings
from vault.indexing.contents import IndexContents
from vault.indexing.progress import CancelCheck, IndexReport, ProgressCallback, call_when_read
from vault.indexing.status import HealthCheck, IndexStatus, read_status
from vault.indexing.throttle import IdleJob, Throttle, UpdateQueue
from vault.listing.notes import list_notes
from vault.open_index import IndexHandle, retry_when_damaged
from vault.options import IndexOptions
from vault.records import NoteState, Records
from vault.search.adhoc import AdhocText, search_texts
from vault.search.excerpts import search_excerpts
from vault.search.hits import Hit, SearchResult
from vault.search.passages import Passages
from vault.search.rerank import Reranker
from vault.search.scope import Covers
from vault.search.staleness import StalenessFilter

if TYPE_CHECKING:
    from vault.indexing.watcher import Watcher
    from vault.questions.reader import Reading
    from vault.search.selftest import SelfTest

__all__ = ["NoteState", "VaultIndex"]

_CATCH_UP_S = 3.0
_MANY_HITS = 200
_BEHIND = "The latest changes of the notes are still being taken up and may be missing here."
_NOT_INDEXED = "These notes are not indexed yet; `strata index` does it."


class VaultIndex(IndexContents):
    """A folder of notes with a search index.

    From its first `update` until `close`, one process owns the index through a file lock. Other
    processes can only read it. For them, `update`, `retry` and `rebuild` raise `IndexBusy`. Every
    method raises `IndexUnusable` if the index cannot be read or written.

    Attributes:
        throttle: pauses and resumes index updates.
        updates: the queue of index updates.
    """

    def __init__(
        self,
        root: Path,
        index_dir: Path,
        exclude: Sequence[str] = (),
        embedder: Embedder | None = None,
        options: Callable[[], IndexOptions] = IndexOptions,
        cache_dir: Path | None = None,
    ):
        """Create the object. Nothing is opened yet.

        Args:
            root: the folder of notes.
            index_dir: the folder for `catalog.db`, `chroma/` and the lock file, created on demand.
            exclude: patterns as in a `.gitignore`.
            embedder: an embedder shared with other indexes, which `close` does not close.
            options: returns the current options. Changes take effect on the next update.
            cache_dir: the folder for caching each embedding model's fastest precision and ONNX
                form.
        """
        server, rebuild = (lambda: options().server), self._rebuild_replaced
        super().__init__(root, exclude, IndexHandle(index_dir, server, rebuild))
        self.index_dir = index_dir
        self.throttle = Throttle()
        self._embedders = Embedders(embedder, cache_dir)
        self._options = options
        self._reranker = Reranker()
        self._lock = threading.RLock()
        self.updates = UpdateQueue(self.throttle)
        self._watcher: Watcher | None = None
        self._is_seen_whole = False  # since watching began
        self._rebuild_thread: threading.Thread | None = None
        self._idle = IdleJob(self._fit_ranking, self.updates)

    def update(
        self,
        progress: ProgressCallback = lambda _progress: None,
        is_cancelled: CancelCheck = lambda: False,
        only: Collection[str] | None = None,
        *,
        is_background: bool = False,
        fills_store: bool = True,
    ) -> IndexReport:
        """Bring the index up to date. Concurrent calls wait for each other.

        Args:
            progress: called several times a second.
            is_cancelled: checked between notes and batches.
            only: the changed paths, or None to check the whole folder.
            is_background: whether the update may be slowed down, because no user is waiting.
            fills_store: whether to wait for the vector store. If not, the next search starts to
                fill it, and until then an exact scan is used.

        Raises:
            IndexBusy: another process owns the index.
            VaultMissing: the folder does not exist, or its drive is not mounted.
            VaultUnreadable: the folder cannot be read because of its permissions.
            EmbedderFailed: texts cannot be embedded. Keyword search can still find them.
        """
        with self.updates.wait_for_turn(is_cancelled, is_background=is_background) as is_over:
            if is_over is None:
                return IndexReport(str(self.root), self.note_count, is_complete=False)
            report = self._update(progress, is_over, only, fills_store)
        if self.is_watched:
            self._idle.start()
        return report

    @retry_when_damaged
    def _update(
        self,
        progress: ProgressCallback,
        is_over: CancelCheck,
        only: Collection[str] | None,
        fills_store: bool,
    ) -> IndexReport:
        from vault.indexing.indexer import Indexer  # a search does without it

        catalog, store = self._handle.own()
        store.use(self._options().server)
        embedder, failure = self._embedders.find_chosen_or_used(self._options().model, catalog)
        limits = (self.exclude, self.throttle, self.updates.priority)
        indexer = Indexer(self.root, catalog, embedder, store, *limits)
        is_seen = self._watcher is not None and self._watcher.is_ready
        progress = call_when_read(self.updates.mark_words, progress)
        report = indexer.run(progress, is_over, only, fills_store=fills_store)
        self._is_seen_whole |= is_seen and only is None and report.is_complete
        if failure is not None:
            raise failure
        return report

    @retry_when_damaged
    def retry(self, paths: Collection[str] | None = None) -> None:
        """Make the next update retry files that could not be indexed.

        Args:
            paths: the files, or None for all files that could not be indexed.
        """
        catalog, _ = self._handle.own()
        with catalog.transaction():
            Records(catalog).forget_failures(paths)

    def rebuild(self) -> None:
        """Cancel the running update and clear the index. The next update indexes everything."""
        with self.updates.end_updates():
            catalog, store = self._handle.own()
            with catalog.transaction():
                catalog.clear()
            store.discard()

    def watch(
        self,
        on_report: Callable[[IndexReport], None] = lambda _report: None,
        progress: ProgressCallback = lambda _progress: None,
        on_failure: Callable[[VaultError], None] = lambda _error: None,
    ) -> None:
        """Watch the folder, and index the notes that change.

        From now on, background updates run at half speed while the machine is busy or on battery.
        The callbacks run in the watcher's thread.

        Args:
            on_report: called after each update.
            progress: called several times a second, as by `update`.
            on_failure: called when a change could not be indexed. It is retried with the next
                change.
        """
        from vault.indexing.machine_load import MachineLoad
        from vault.indexing.watcher import Watcher

        update = partial(self.update, is_background=True, fills_store=False)

        def index_changes(paths: Collection[str] | None) -> None:
            on_progress = call_when_read(watcher.release, progress)
            on_report(update(on_progress, lambda: self._handle.is_closed, paths))

        with self._lock:
            if self._handle.is_closed or self.is_watched:
                return
            self.throttle.watch_load(MachineLoad(self._list_children).read_reason)
            marks_dir = self.index_dir / "watch"
            self._watcher = watcher = Watcher(self.root, index_changes, on_failure, marks_dir)
            watcher.start()
        self._idle.start()  # the notes may not change for long

    def take_warning(self) -> str:
        """Return a warning if damage of the index was found since the last call, otherwise ""."""
        return self._handle.take_warning()

    def close(self) -> None:
        """Stop the child processes of the index and release its file lock."""
        with self._lock:
            self._handle.stop_opening()
        self.throttle.resume()  # a paused update has to notice the end
        self._idle.close()
        if self._watcher is not None:
            self._watcher.close()
        rebuild = self._rebuild_thread
        if rebuild is not None and rebuild is not threading.current_thread():
            rebuild.join()
        self._embedders.close()
        self._reranker.close()
        self._handle.close()

    @retry_when_damaged
    def search(
        self,
        query: str,
        k: int = 8,
        *,
        in_play: Collection[str] = (),
        reranks: bool = True,
        covers: Covers = None,
        is_quoted: bool = False,
    ) -> SearchResult:
        """Find the `k` best passages by keyword search and semantic search.

        Args:
            query: the words to search for, and filters such as tags.
            k: the maximum number of hits.
            in_play: the paths of notes that the session already uses. Notes linked to them are
                ranked higher.
            reranks: whether to rerank with the cross-encoder, if one is configured.
            covers: returns whether to search the note at a path, or None to search all notes.
            is_quoted: whether the passages are shown to the user directly, without a model's
                answer. If so, the spelling of the query is corrected, and the passages around the
                best ones are added at the end.
        """
        opened = self._handle.open()
        if opened is None:
            return SearchResult(query, (), 0.0, warnings=(_NOT_INDEXED,))
        with self._idle.pause():
            opened.refill_if_needed()
            behind: list[str] = []
            current = StalenessFilter(self.root, self.exclude)
            searcher = opened.build_searcher(
                self._embedders, current, lambda: behind.append(self._catch_up())
            )
            find = partial(
                searcher.search, query, in_play=in_play, covers=covers, is_quoted=is_quoted
            )
            ask = partial(opened.search_in_one_version, find)
            reranker = self._options().reranker if reranks else ""
            found = self._reranker.rank_best(ask, query, k, reranker)
            self.updates.priority.prefer({hit.path for hit in found.hits})
            found = opened.warn_if_unfinished(found, "".join(behind))
            return opened.warn_if_store_failed(searcher.widen(found) if is_quoted else found)

    @retry_when_damaged
    def excerpts(self, query: str, k: int = 8, covers: Covers = None) -> SearchResult:
        """Find the `k` best passages, each shortened to the sentences that match the query."""
        opened = self._handle.open()
        passages = None if opened is None else Passages(opened.catalog)
        return search_excerpts(partial(self.search, covers=covers), passages, query, k)

    @retry_when_damaged
    def list_notes(
        self, query: str, limit: int, offset: int = 0, covers: Covers = None
    ) -> SearchResult:
        """List all notes that match a query, with one hit per note.

        Args:
            query: the words to search for, and filters such as tags.
            limit: the maximum number of hits.
            offset: the number of notes to skip at the start of the list.
            covers: returns whether to search the note at a path, or None to search all notes.
        """
        opened = self._handle.open()
        if opened is None:
            return SearchResult(query, (), 0.0, total=0, warnings=(_NOT_INDEXED,))
        with self._idle.pause():
            behind = self._catch_up()
            keep_current = StalenessFilter(self.root, self.exclude).keep_current
            found = list_notes(opened.catalog, keep_current, query, limit, offset, covers)
            return opened.warn_if_unfinished(found, behind, by_meaning=False)

    @retry_when_damaged
    def read_question(self, text: str, covers: Covers = None) -> "Reading | None":
        """Read a question against the notes, or return None if it names no filter.

        Args:
            text: the question.
            covers: returns whether to search the note at a path, or None to search all notes.
        """
        from vault.questions.reader import read_question  # only for questions of a person

        if (opened := self._handle.open()) is None:
            return None
        return read_question(text, opened.catalog, date.today(), covers)

    @retry_when_damaged
    def search_texts(self, texts: Sequence[AdhocText], query: str, k: int) -> tuple[Hit, ...]:
        """Find the `k` best passages in texts that are not part of the index.

        The texts are not embedded, but existing vectors of equal passages are used.
        """
        opened = self._handle.open()
        if opened is None:
            return search_texts(texts, query, k)
        encode = partial(self._embedders.begin_query, opened.catalog)
        return search_texts(texts, query, k, encode, opened.catalog.vectors)

    @retry_when_damaged
    def measure_cosines(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return the cosine similarity of a query and each of a few short texts.

        The result is empty if the index has no vectors, or if the model cannot be used.
        """
        if (opened := self._handle.open()) is None:
            return ()
        with self._idle.pause(), suppress(EmbedderFailed):
            return self._embedders.measure_cosines(opened.catalog, query, texts)
        return ()

    @retry_when_damaged
    def why_not(
        self, query: str, path: str, shown: Sequence[Hit], in_play: Collection[str] = ()
    ) -> str:
        """Explain why a note is or is not among the hits of a query.

        Args:
            path: the note.
            shown: the hits that were shown to the user or sent to a model.
            in_play: the paths of the notes that the session used when the query was run.
        """
        from vault.search.explain import why_not

        many = self.search(query, _MANY_HITS, in_play=in_play).hits
        return why_not(self._open_records(), path, many, shown)

    @retry_when_damaged
    def self_test(self, is_cancelled: Callable[[], bool] = lambda: False) -> "SelfTest":
        """Measure how reliably and how fast searches find the vault's own notes.

        Raises:
            IndexUnusable: there is no index yet.
        """
        opened = self._handle.open()
        if opened is None:
            raise IndexUnusable("There is no index of these notes yet; run: strata index.")
        from vault.search.selftest import run_self_test

        return run_self_test(opened.catalog, self.search, is_cancelled)

    @property
    def is_searched(self) -> bool:
        """Whether a search is running or has ended within the last few seconds."""
        return self._idle.is_paused

    @property
    def is_watched(self) -> bool:
        """Whether the folder is being watched. This is False once the folder has been removed."""
        return self._watcher is not None and self._watcher.is_alive

    @retry_when_damaged
    def status(self) -> IndexStatus:
        """Return the index status: counts, excluded and failed files, size on disk."""
        opened = self._handle.open()
        if opened is None:
            return IndexStatus(embedder=self._options().model)
        return read_status(opened.catalog, self.index_dir, is_owner=opened.store is not None)

    @retry_when_damaged
    def health(self) -> list[tuple[str, bool, str]]:
        """Check each component of the index. Return its name, whether it works, and details."""
        return HealthCheck(self.root, self._handle, self._embedders, self._options().model).run()

    def _fit_ranking(self, has_to_stop: Callable[[], bool]) -> None:
        if (opened := self._handle.opened) is not None:
            folder = read_settings(self.root).attachment_folder
            opened.fit_ranking(self._embedders, folder, has_to_stop)

    def _list_children(self) -> tuple[int | None, ...]:
        return *self._embedders.pids, self._reranker.pid, self._handle.store_pid

    def _catch_up(self) -> str:
        """Wait at most three seconds until recent changes to notes are indexed.

        Return a warning if this takes longer, otherwise an empty string.
        """
        watcher = self._watcher
        if watcher is None or not watcher.is_alive or self.throttle.is_paused:
            return ""
        looks_at_all = not self._is_seen_whole and self.indexed_at is not None
        self._is_seen_whole |= looks_at_all
        with self.throttle.run_at_full_speed():
            is_done = watcher.catch_up(_CATCH_UP_S, looks_at_all=looks_at_all)
        return "" if is_done else _BEHIND

    def _rebuild_replaced(self) -> None:
        """Start rebuilding the index after its damaged catalog was replaced with an empty one.

        The rebuild starts only if the folder is being watched and no update is running.
        """
        if self._watcher is not None and not self.updates.is_busy:
            rebuild = partial(self._watcher.call_changed, None)
            self._rebuild_thread = threading.Thread(target=rebuild, name="rebuild", daemon=True)
            self._rebuild_thread.start()
