"""One vault with its index, for the packages above: update, search, read, health."""

import logging
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Literal

from vault.catalog import CATALOG_FILE, Catalog, is_damaged, set_aside
from vault.embedder import Embedder
from vault.embedding_versions import Embedders, read_used_model
from vault.errors import EmbedderFailed, IndexBusy, IndexDamaged, IndexUnusable, VaultError
from vault.index_queries import INDEX_DAMAGED, Finding, mends
from vault.indexing.indexer import (
    CancelCheck,
    Indexer,
    IndexProgress,
    IndexReport,
    ProgressCallback,
)
from vault.indexing.machine_load import MachineLoad
from vault.indexing.status import Health, is_mending
from vault.indexing.throttle import Throttle
from vault.indexing.watcher import Watcher
from vault.open_index import OpenIndex, take_lock
from vault.options import IndexOptions
from vault.records import Records
from vault.search.rerank import Reranker
from vault.vectors import VectorStore

_LOOK_S = 0.05
_CATCH_UP_S = 3.0
_BEHIND = "The latest changes of the notes are still being taken up and may be missing here."
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class NoteState:
    """Where one file of the vault stands; `reason` is the rule or the failure."""

    path: str
    title: str
    state: Literal["indexed", "excluded", "failed"]
    reason: str = ""


class VaultIndex(Finding):
    """A folder of notes and the index over it; safe to use from several threads.

    One process owns an index, by file lock, from its first `update` to `close`; any other
    searches the catalog read-only and gets `IndexBusy` from `update`.

    Attributes:
        pace: pauses runs, and lets them go on.
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
        """Name the folder and where its index lies; nothing is opened or started yet.

        Args:
            root: the folder of notes.
            index_dir: holds `catalog.db`, `chroma/` and the lock; made when it is needed.
            exclude: patterns as in a `.gitignore`.
            embedder: one to share with other indexes, which outlives this one.
            options: tells what is chosen now; another choice counts from the next update on.
            cache_dir: keeps what was measured once on this computer.
        """
        self.root = root
        self.index_dir = index_dir
        self.exclude = tuple(exclude)
        self.throttle = Throttle()
        self._embedders = Embedders(embedder, cache_dir)
        self._options = options
        self._reranker = Reranker()
        self._lock = threading.RLock()
        self._update_lock = threading.Lock()
        self._owner_lock: IO[bytes] | None = None
        self._opened: OpenIndex | None = None
        self._former: list[Catalog] = []
        self._watcher: Watcher | None = None
        self._is_seen_whole = False  # since the folder is watched
        self._is_closed = False
        self._is_given_up = False
        self._stops = 0
        self._generation = 0
        self._was_damaged = False
        self._take_up: Callable[[], None] | None = None
        self._rebuild: threading.Thread | None = None

    def update(
        self,
        progress: ProgressCallback = lambda _progress: None,
        is_cancelled: CancelCheck = lambda: False,
        only: Collection[str] | None = None,
        *,
        is_background: bool = False,
        fills_store: bool = True,
    ) -> IndexReport:
        """Bring the index up to date with the folder; a second call waits for the first.

        Args:
            progress: told several times a second.
            is_cancelled: asked between notes and between batches.
            only: the paths that changed, where they are known; None for all.
            is_background: nobody waits for this run, so that load and battery may slow it down.
            fills_store: wait for a vector store that is not in line yet; otherwise searches bring
                it in line, beside the exact scan that answers them.

        Raises:
            IndexBusy: another process owns the index.
            VaultMissing: the folder is not there, or its drive is not mounted.
            VaultUnreadable: it may not be listed.
            EmbedderFailed: passages cannot be embedded; they are found by their words.
            IndexUnusable: the index cannot be written.
        """
        stops = self._stops

        def is_over() -> bool:
            return self._is_given_up or self._stops != stops or is_cancelled()

        with nullcontext() if is_background else self.throttle.run_at_full_speed():
            while not self._update_lock.acquire(timeout=_LOOK_S):
                if is_over():
                    return IndexReport(str(self.root), self.note_count, is_complete=False)
            try:
                return self._update(progress, is_over, only, fills_store)
            finally:
                self._update_lock.release()

    @mends
    def _update(
        self,
        progress: ProgressCallback,
        is_over: CancelCheck,
        only: Collection[str] | None,
        fills_store: bool,
    ) -> IndexReport:
        opened = self._own()
        assert opened.store is not None
        opened.store.use(self._options().server)
        embedder, failure = self._chosen_embedder(opened.catalog)
        indexer = Indexer(
            self.root, opened.catalog, embedder, opened.store, self.exclude, self.throttle
        )
        is_seen = self._watcher is not None and self._watcher.is_ready
        report = indexer.run(progress, is_over, only, fills_store=fills_store)
        if only is None and report.is_complete:
            self._is_seen_whole = self._is_seen_whole or is_seen
        if failure is not None:
            raise failure
        return report

    def stop(self) -> None:
        """End the updates that go on now, whoever began them; what they have done is kept."""
        self._stops += 1

    @mends
    def retry(self, paths: Collection[str] | None = None) -> None:
        """Let the next update look at failed files again, though they have not changed.

        Args:
            paths: which; None for all.

        Raises:
            IndexBusy: another process owns the index.
            IndexUnusable: the index cannot be written.
        """
        catalog = self._own().catalog
        with catalog.transaction():
            Records(catalog).forget_failures(paths)

    def rebuild(self) -> None:
        """Throw away all that the index holds; the next update makes everything again.

        An update that is under way ends first, as if it were cancelled.

        Raises:
            IndexBusy: another process owns the index.
            IndexUnusable: the index cannot be written.
        """
        self._is_given_up = True
        try:
            with self._update_lock:
                opened = self._own()
                with opened.catalog.transaction():
                    opened.catalog.clear()
                assert opened.store is not None
                opened.store.discard()
        finally:
            self._is_given_up = False

    def watch(
        self,
        told: Callable[[IndexReport], None] = lambda _report: None,
        progress: ProgressCallback = lambda _progress: None,
        failed: Callable[[VaultError], None] = lambda _error: None,
    ) -> None:
        """Follow the folder from now on: what changes in it is taken up as it changes.

        From then on background updates work half of the time while the machine is on battery, or
        busy with other programs.

        Args:
            told: what was done, after each time; as the others in a thread of the watcher.
            progress: told how far that is, as by `update`.
            failed: told why something could not be taken up; the next change tries again.
        """

        def on_progress(at: IndexProgress) -> None:
            if at.phase not in ("seen", "scan"):
                watcher.release()  # words are enough to be found
            progress(at)

        update = partial(self.update, on_progress, is_background=True, fills_store=False)

        def take_up(paths: Collection[str] | None) -> None:
            told(update(lambda: self._is_closed, paths))

        def rebuild() -> None:
            try:
                take_up(None)
            except VaultError as error:
                failed(error)

        with self._lock:
            if self._is_closed or self.is_watched:
                return
            self._take_up = rebuild
            self.throttle.watch_load(MachineLoad(self._children).read_reason)
            marks_dir = self.index_dir / "watch"
            self._watcher = watcher = Watcher(self.root, take_up, failed, marks_dir)
            watcher.start()

    def wait_until_idle(self, timeout_s: float) -> bool:
        """Tell whether no update is going on, or ends within this time."""
        with self.throttle.run_at_full_speed():
            if not self._update_lock.acquire(timeout=timeout_s):
                return False
            self._update_lock.release()
            return True

    @property
    def is_mending(self) -> bool:
        """Tell whether the index was damaged and has not been made anew yet."""
        opened = self._opened
        return opened is not None and is_mending(opened.catalog)

    @property
    def is_watched(self) -> bool:
        """Tell whether changes of the folder are followed; not after it has gone."""
        return self._watcher is not None and self._watcher.is_alive

    @mends
    def notes(self) -> tuple[NoteState, ...]:
        """List every note with its state, by path."""
        opened = self._open()
        if opened is None:
            return ()
        return tuple(NoteState(*row) for row in Records(opened.catalog).list_states())

    @mends
    def health(self) -> list[tuple[str, bool, str]]:
        """Try each part of the index for real: its name, whether it works, and details."""
        model = self._options().model
        return Health(self.root, self._open, self._own, self._embedders, model).checks()

    def close(self) -> None:
        """End the children and give up the lock."""
        with self._lock:
            self._is_closed = True
            opened, self._opened = self._opened, None
        self.throttle.resume()  # a run that stands still is to find that it is over
        if self._watcher is not None:
            self._watcher.close()
        if self._rebuild is not None and self._rebuild is not threading.current_thread():
            self._rebuild.join()
        self._embedders.close()
        self._reranker.close()
        if opened is not None:
            opened.close()
        for catalog in self._former:
            catalog.close()
        if self._owner_lock is not None:
            self._owner_lock.close()

    # -- inside

    def _children(self) -> tuple[int | None, ...]:
        opened = self._opened
        store = None if opened is None else opened.store
        return *self._embedders.pids, self._reranker.pid, None if store is None else store.pid

    def _catch_up(self) -> str:
        watcher = self._watcher
        if watcher is None or not watcher.is_alive or self.throttle.is_paused:
            return ""
        looks_at_all = not self._is_seen_whole and self.indexed_at is not None
        self._is_seen_whole = self._is_seen_whole or looks_at_all
        with self.throttle.run_at_full_speed():
            is_done = watcher.catch_up(_CATCH_UP_S, looks_at_all=looks_at_all)
        return "" if is_done else _BEHIND

    def _chosen_embedder(self, catalog: Catalog) -> tuple[Embedder, EmbedderFailed | None]:
        """Give what is to embed, or in its place what embedded so far, and why that is."""
        try:
            return self._embedders.find_chosen(self._options().model), None
        except EmbedderFailed as error:
            return self._embedders.find_named(*read_used_model(catalog)), error

    def _own(self) -> OpenIndex:
        """Become the owner of the index, or find that another process is."""
        with self._lock:
            if self._is_closed:
                raise IndexUnusable("The index was closed.")
            if self._opened is not None and self._opened.store is not None:
                return self._opened
            lock = self._owner_lock or take_lock(self.index_dir)
            try:
                catalog = Catalog(self.index_dir / CATALOG_FILE, is_writable=True)
            except BaseException:
                self._owner_lock = None
                lock.close()
                raise
            if self._opened is not None:
                self._former.append(self._opened.catalog)  # a search may be reading it yet
            self._owner_lock = lock
            self._was_damaged |= catalog.was_damaged
            store = VectorStore(catalog, self.index_dir / "chroma", self._options().server)
            self._opened = OpenIndex(catalog, store)
            return self._opened

    def _is_damaged(self) -> bool:
        return is_damaged(self.index_dir / CATALOG_FILE)

    def _begin_anew(self, generation: int) -> None:
        """Put an empty catalog in the place of a damaged one; fill it while notes are watched."""
        with self._lock:
            if self._is_closed:
                raise IndexUnusable("The index was closed.")
            if self._generation != generation:
                return  # another call has done it
            try:
                self._owner_lock = self._owner_lock or take_lock(self.index_dir)
            except IndexBusy as error:
                raise IndexDamaged(
                    "The index of these notes is damaged, and another Strata has it open; "
                    "close that one, then index again."
                ) from error
            if self._opened is not None:
                self._opened.close()
                self._opened = None
            _log.warning("The index in %s was damaged and is made anew", self.index_dir)
            with suppress(FileNotFoundError):
                set_aside(self.index_dir / CATALOG_FILE)
            self._generation += 1
            self._own().catalog.was_damaged = self._was_damaged = True
            if self._take_up is not None and not self._update_lock.locked():
                self._rebuild = threading.Thread(target=self._take_up, name="rebuild", daemon=True)
                self._rebuild.start()

    def take_warning(self) -> str:
        """Return, once, that the index was damaged; empty where it was not."""
        with self._lock:
            was_damaged, self._was_damaged = self._was_damaged, False
        return INDEX_DAMAGED if was_damaged else ""

    def _open(self) -> OpenIndex | None:
        """Give what is open, else open the catalog for reading; None where there is none yet."""
        with self._lock:
            if self._is_closed:
                raise IndexUnusable("The index was closed.")
            path = self.index_dir / CATALOG_FILE
            if self._opened is None and path.exists():
                catalog = Catalog(path, is_writable=False)
                if catalog.is_new:  # its maker has it in hand
                    catalog.close()
                    return None
                self._opened = OpenIndex(catalog)
            return self._opened
