"""One vault with its index, for the packages above: update, search, read, health."""

import fcntl
import os
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

from vault.access import still_allowed
from vault.catalog import Catalog
from vault.embedder import Embedder
from vault.errors import IndexBusy, IndexUnusable, VaultError, VectorStoreFailed
from vault.exact import ExactScan
from vault.freshness import Disk
from vault.hits import Hit, SearchResult
from vault.indexer import CancelCheck, Indexer, IndexReport, ProgressCallback
from vault.model_card import MODEL_NAME
from vault.notes import Note, read_note
from vault.records import Records
from vault.related import RelatedNote, related_notes
from vault.scan import check_folder
from vault.search import Searcher
from vault.self_test import SelfTest, run_self_test
from vault.vectors import VectorStore
from vault.watcher import Watcher
from vault.why_not import why_not
from vault.within import Text, search_within

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_MANY_HITS = 200


@dataclass(frozen=True, slots=True)
class NoteState:
    """Where one file of the vault stands; `reason` is the rule or the failure."""

    path: str
    title: str
    state: Literal["indexed", "excluded", "failed"]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Opened:
    """The catalog as it is open now, and what searches it; a store only for the owner."""

    catalog: Catalog
    exact: ExactScan
    store: VectorStore | None

    def nearest(
        self, vector: "NDArray[np.float32]", k: int, among: Collection[bytes] | None
    ) -> list[tuple[bytes, float]]:
        """Give the hashes of the nearest texts, from Chroma where it is ready and may choose."""
        if among is None and self.store is not None and self.store.is_ready:
            with suppress(VectorStoreFailed):  # the exact scan answers in its place
                return self.store.query(vector, k)
        return self.exact.query(vector, k, among)


class VaultIndex:
    """A folder of notes and the index over it; safe to use from several threads.

    One process owns an index, by file lock, from its first `update` to `close`; any other
    searches the catalog read-only and gets `IndexBusy` from `update`.
    """

    def __init__(
        self,
        root: Path,
        index_dir: Path,
        exclude: Sequence[str] = (),
        embedder: Embedder | None = None,
    ):
        """Name the folder and where its index lies; nothing is opened or started yet.

        Args:
            root: the folder of notes.
            index_dir: holds `catalog.db`, `chroma/` and the lock; made when it is needed.
            exclude: patterns as in a `.gitignore`.
            embedder: one to share with other indexes, which outlives this one.
        """
        self.root = root
        self.index_dir = index_dir
        self.exclude = tuple(exclude)
        self._embedder = embedder or Embedder()
        self._owns_embedder = embedder is None
        self._lock = threading.RLock()
        self._update_lock = threading.Lock()
        self._owner_lock: IO[bytes] | None = None
        self._opened: _Opened | None = None
        self._refill: threading.Thread | None = None
        self._watcher: Watcher | None = None
        self._is_closed = False

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
        with self._update_lock:
            opened = self._own()
            assert opened.store is not None
            indexer = Indexer(self.root, opened.catalog, self._embedder, opened.store, self.exclude)
            return indexer.run(progress, is_cancelled, only)

    def watch(
        self,
        told: Callable[[IndexReport], None] = lambda _report: None,
        progress: ProgressCallback = lambda _progress: None,
        failed: Callable[[VaultError], None] = lambda _error: None,
    ) -> None:
        """Follow the folder from now on: what changes in it is taken up as it changes.

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

    def search(self, query: str, k: int = 8) -> SearchResult:
        """Find the `k` best passages by words and by meaning, also while an update runs.

        Raises:
            IndexUnusable: the index cannot be read.
        """
        opened = self._open()
        if opened is None:
            return SearchResult(query, (), 0.0)
        self._refill_if_needed(opened)

        # The index may be older than the notes and the patterns: what they keep private or exclude
        # by now is to reach no model.
        current = Disk(self.root, self.exclude).current
        searcher = Searcher(opened.catalog, self._embedder.begin_query, opened.nearest, current)
        return searcher.search(query, k)

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
        return search_within(texts, query, k, self._embedder.begin_query, vectors)

    def related(self, path: str, k: int = 8) -> list[RelatedNote]:
        """Give the `k` notes nearest to one, in meaning or by a link; no model is needed."""
        opened = self._open()
        return [] if opened is None else related_notes(opened.catalog, opened.nearest, path, k)

    def why_not(self, query: str, path: str, k: int = 8) -> str:
        """Say in a sentence why a note is not among the `k` hits of a query."""
        states = {note.path: (note.state, note.reason) for note in self.notes()}
        return why_not(path, states.get(path), self.search(query, _MANY_HITS), k)

    def self_test(self, is_cancelled: CancelCheck = lambda: False) -> SelfTest:
        """Ask for the vault's own notes, and tell how often and how fast they are found.

        Raises:
            IndexUnusable: there is no index yet, or it cannot be read.
        """
        opened = self._open()
        if opened is None:
            raise IndexUnusable("There is no index of these notes yet; run: strata index.")
        return run_self_test(opened.catalog, self.search, is_cancelled)

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

    def read_note(self, path: str) -> Note:
        """Read one note as it is on disk now.

        Raises:
            UnsafePath: the path would leave the vault.
            NoteUnreadable: it is gone, or is not text.
        """
        return read_note(self.root, path)

    def health(self) -> list[tuple[str, bool, str]]:
        """Try each part of the index for real: its name, whether it works, and details."""
        parts = {
            "notes folder": self._folder_health,
            "catalog": self._catalog_health,
            "embedding model": self._model_health,
            "vector store": self._store_health,
        }
        checks = []
        for name, check in parts.items():
            try:
                checks.append((name, True, check()))
            except VaultError as error:
                checks.append((name, False, str(error)))
        return checks

    def close(self) -> None:
        """End the children and give up the lock."""
        with self._lock:
            self._is_closed = True
            opened, self._opened = self._opened, None
            refill = self._refill
        if self._watcher is not None:
            self._watcher.close()
        if self._owns_embedder:
            self._embedder.close()
        if opened is not None and opened.store is not None:
            opened.store.close()
        if refill is not None:
            refill.join()
        if opened is not None:
            opened.catalog.close()
        if self._owner_lock is not None:
            self._owner_lock.close()

    # -- inside

    def _folder_health(self) -> str:
        check_folder(self.root)
        return str(self.root)

    def _catalog_health(self) -> str:
        opened = self._open()
        if opened is None:
            return "not made yet; `strata index` makes it"
        notes, chunks = Records(opened.catalog).counts()
        return f"{notes} notes in {chunks} passages; every script is found by its words"

    def _model_health(self) -> str:
        self._embedder.embed_query("a note about health")
        return f"{MODEL_NAME} in {self._embedder.precision}; found by meaning: English"

    def _store_health(self) -> str:
        if self._open() is None:
            return "not made yet; `strata index` makes it"
        try:
            store = self._own().store
        except IndexBusy:
            return "kept by another Strata; this one searches the catalog's vectors"
        assert store is not None
        store.bring_in_line()
        return f"{store.size} vectors in Chroma, in line with the catalog"

    def _own(self) -> _Opened:
        """Become the owner of the index, or find that another process is."""
        with self._lock:
            if self._is_closed:
                raise IndexUnusable("The index was closed.")
            if self._opened is not None and self._opened.store is not None:
                return self._opened
            lock = self._take_lock()
            try:
                catalog = Catalog(self.index_dir / "catalog.db", is_writable=True)
            except BaseException:
                lock.close()
                raise
            if self._opened is not None:
                self._opened.catalog.close()
            store = VectorStore(catalog, self.index_dir / "chroma")
            self._owner_lock = lock
            self._opened = _Opened(catalog, ExactScan(catalog), store)
            return self._opened

    def _take_lock(self) -> IO[bytes]:
        try:
            self.index_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = open(self.index_dir / "lock", "ab", opener=_private)  # noqa: SIM115 - held
        except OSError as error:
            raise IndexUnusable(
                f"The index in {self.index_dir} cannot be written ({error.strerror}); "
                "see that its folder may be written and has room."
            ) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.close()
            raise IndexBusy(
                "Another Strata keeps this index up to date; close it, or only search here."
            ) from error
        return lock

    def _open(self) -> _Opened | None:
        """Give what is open, else open the catalog for reading; None where there is none yet."""
        with self._lock:
            if self._is_closed:
                raise IndexUnusable("The index was closed.")
            path = self.index_dir / "catalog.db"
            if self._opened is None and path.exists():
                catalog = Catalog(path, is_writable=False)
                if catalog.is_new:  # its maker has it in hand
                    catalog.close()
                    return None
                self._opened = _Opened(catalog, ExactScan(catalog), None)
            return self._opened

    def _refill_if_needed(self, opened: _Opened) -> None:
        """Bring an owner's store in line beside the search, which does not wait for it."""
        with self._lock:
            if opened.store is None or opened.store.is_ready or self._is_closed:
                return
            if self._refill is None or not self._refill.is_alive():
                self._refill = threading.Thread(
                    target=_bring_in_line, args=(opened.store,), name="refill", daemon=True
                )
                self._refill.start()


def _bring_in_line(store: VectorStore) -> None:
    with suppress(VaultError):  # the exact scan serves; `health` says what is wrong
        store.bring_in_line()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
