"""One vault with its index, for the packages above: update, search, read, health."""

import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from vault.access import still_allowed
from vault.catalog import CATALOG_FILE, Catalog
from vault.embedder import Embedder
from vault.embedders import Embedders
from vault.errors import EmbedderFailed, IndexUnusable, VaultError
from vault.finding import Finding
from vault.generations import used_model
from vault.health import Health
from vault.indexer import CancelCheck, Indexer, IndexReport, ProgressCallback
from vault.notes import Note, read_note
from vault.opened import Opened, take_lock
from vault.options import IndexOptions
from vault.pace import Pace
from vault.records import Records
from vault.rerank import Reranker
from vault.status import IndexStatus, status_of
from vault.strain import Machine
from vault.vectors import VectorStore
from vault.watcher import Watcher

_LOOK_S = 0.05


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
    ):
        """Name the folder and where its index lies; nothing is opened or started yet.

        Args:
            root: the folder of notes.
            index_dir: holds `catalog.db`, `chroma/` and the lock; made when it is needed.
            exclude: patterns as in a `.gitignore`.
            embedder: one to share with other indexes, which outlives this one.
            options: tells what is chosen now; another choice counts from the next update on.
        """
        self.root = root
        self.index_dir = index_dir
        self.exclude = tuple(exclude)
        self.pace = Pace()
        self._embedders = Embedders(embedder)
        self._options = options
        self._reranker = Reranker()
        self._lock = threading.RLock()
        self._update_lock = threading.Lock()
        self._owner_lock: IO[bytes] | None = None
        self._opened: Opened | None = None
        self._former: list[Catalog] = []
        self._watcher: Watcher | None = None
        self._is_closed = False
        self._is_given_up = False

    def update(
        self,
        progress: ProgressCallback = lambda _progress: None,
        is_cancelled: CancelCheck = lambda: False,
        only: Collection[str] | None = None,
    ) -> IndexReport:
        """Bring the index up to date with the folder; a second call waits for the first.

        Args:
            progress: told several times a second.
            is_cancelled: asked between notes and between batches.
            only: the paths that changed, where they are known; None for all.

        Raises:
            IndexBusy: another process owns the index.
            VaultMissing: the folder is not there, or its drive is not mounted.
            VaultUnreadable: it may not be listed.
            EmbedderFailed: passages cannot be embedded; they are found by their words.
            IndexUnusable: the index cannot be written.
        """

        def is_over() -> bool:
            return self._is_given_up or is_cancelled()

        while not self._update_lock.acquire(timeout=_LOOK_S):
            if is_over():
                return IndexReport(str(self.root), self.note_count, is_complete=False)
        try:
            return self._update(progress, is_over, only)
        finally:
            self._update_lock.release()

    def _update(
        self,
        progress: ProgressCallback,
        is_over: CancelCheck,
        only: Collection[str] | None,
    ) -> IndexReport:
        opened = self._own()
        assert opened.store is not None
        opened.store.use(self._options().server)
        embedder, failure = self._chosen_embedder(opened.catalog)
        indexer = Indexer(
            self.root, opened.catalog, embedder, opened.store, self.exclude, self.pace
        )
        report = indexer.run(progress, is_over, only)
        if failure is not None:
            raise failure
        return report

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
                opened.store.throw_away()
        finally:
            self._is_given_up = False

    def watch(
        self,
        told: Callable[[IndexReport], None] = lambda _report: None,
        progress: ProgressCallback = lambda _progress: None,
        failed: Callable[[VaultError], None] = lambda _error: None,
    ) -> None:
        """Follow the folder from now on: what changes in it is taken up as it changes.

        From then on updates work half of the time while the machine is on battery, or busy
        with other programs.

        Args:
            told: what was done, after each time; as the others in a thread of the watcher.
            progress: told how far that is, as by `update`.
            failed: told why something could not be taken up; the next change tries again.
        """

        def take_up(paths: Collection[str] | None) -> None:
            told(self.update(progress, lambda: self._is_closed, paths))

        with self._lock:
            if self._is_closed or self.is_watched:
                return
            self.pace.yield_to(Machine(self._children).strain)
            self._watcher = Watcher(self.root, take_up, failed)
            self._watcher.start()

    def settles(self, timeout_s: float) -> bool:
        """Tell whether no update is going on, or ends within this time."""
        if not self._update_lock.acquire(timeout=timeout_s):
            return False
        self._update_lock.release()
        return True

    @property
    def is_watched(self) -> bool:
        """Tell whether changes of the folder are followed; not after it has gone."""
        return self._watcher is not None and self._watcher.is_alive

    def notes(self) -> tuple[NoteState, ...]:
        """List every note with its state, by path."""
        opened = self._open()
        if opened is None:
            return ()
        return tuple(NoteState(*row) for row in Records(opened.catalog).states())

    def still_allowed(self, paths: Sequence[str]) -> frozenset[str]:
        """Give those notes that nothing keeps out now; only what was changed is read."""
        opened = self._open()
        if opened is None:
            return frozenset()
        return still_allowed(self.root, Records(opened.catalog).files_of(paths), self.exclude)

    def tags(self) -> tuple[tuple[str, str], ...]:
        """List each tag with the path of each note that carries it, by tag, then by path."""
        opened = self._open()
        return () if opened is None else tuple(Records(opened.catalog).tags())

    @property
    def note_count(self) -> int:
        """Tell how many notes are indexed."""
        opened = self._open()
        return 0 if opened is None else Records(opened.catalog).counts()[0]

    @property
    def indexed_at(self) -> str | None:
        """Tell when the last complete update ended, in ISO 8601 UTC."""
        opened = self._open()
        return None if opened is None else opened.catalog.meta("indexed_at")

    def status(self) -> IndexStatus:
        """Tell how the index stands.

        Raises:
            IndexUnusable: it cannot be read.
        """
        opened = self._open()
        if opened is None:
            return IndexStatus(embedder=self._options().model)
        return status_of(opened.catalog, self.index_dir, is_owner=opened.store is not None)

    def read_note(self, path: str) -> Note:
        """Read one note as it is on disk now.

        Raises:
            UnsafePath: the path would leave the vault.
            NoteUnreadable: it is gone, or is not text.
        """
        return read_note(self.root, path)

    def health(self) -> list[tuple[str, bool, str]]:
        """Try each part of the index for real: its name, whether it works, and details."""
        model = self._options().model
        return Health(self.root, self._open, self._own, self._embedders, model).checks()

    def close(self) -> None:
        """End the children and give up the lock."""
        with self._lock:
            self._is_closed = True
            opened, self._opened = self._opened, None
        self.pace.resume()  # a run that stands still is to find that it is over
        if self._watcher is not None:
            self._watcher.close()
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

    def _chosen_embedder(self, catalog: Catalog) -> tuple[Embedder, EmbedderFailed | None]:
        """Give what is to embed, or in its place what embedded so far, and why that is."""
        try:
            return self._embedders.chosen(self._options().model), None
        except EmbedderFailed as error:
            return self._embedders.named(*used_model(catalog)), error

    def _own(self) -> Opened:
        """Become the owner of the index, or find that another process is."""
        with self._lock:
            if self._is_closed:
                raise IndexUnusable("The index was closed.")
            if self._opened is not None and self._opened.store is not None:
                return self._opened
            lock = take_lock(self.index_dir)
            try:
                catalog = Catalog(self.index_dir / CATALOG_FILE, is_writable=True)
            except BaseException:
                lock.close()
                raise
            if self._opened is not None:
                self._former.append(self._opened.catalog)  # a search may be reading it yet
            self._owner_lock = lock
            store = VectorStore(catalog, self.index_dir / "chroma", self._options().server)
            self._opened = Opened(catalog, store)
            return self._opened

    def _open(self) -> Opened | None:
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
                self._opened = Opened(catalog)
            return self._opened
