"""Open an index for reading or writing, and replace a damaged one.

Any call may fail because of damage: SQLite reports it, or a value with an impossible type, encoding
or length raises another exception. The catalog is therefore checked after a failed call. If it is
damaged, it is replaced with an empty one, and the call is repeated.
"""

import logging
import os
import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from resources.system.calls import lock_file
from resources.system.files import make_private_folder, open_file
from vault.catalog import CATALOG_FILE, Catalog
from vault.database_file import set_aside
from vault.errors import (
    IndexBusy,
    IndexDamaged,
    IndexOutdated,
    IndexUnusable,
    VaultError,
    VectorStoreFailed,
)
from vault.migrations import is_damaged
from vault.options import VectorServer
from vault.search.exact import ExactScan
from vault.vectors import VectorStore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["INDEX_DAMAGED", "IndexHandle", "take_lock"]

_CLOSED: Final = "The index was closed."
INDEX_DAMAGED: Final = "The index was damaged and is being rebuilt. Your notes are untouched."

# Measured: a request to Chroma's process takes 4 ms, a scan of this many vectors half of that.
_FEW_VECTORS = 5_000
_log = logging.getLogger(__name__)


class IndexHandle:
    """The index in a folder: opens it on demand, and replaces a damaged catalog. Thread-safe."""

    def __init__(
        self,
        index_dir: Path,
        server: Callable[[], VectorServer | None],
        on_replaced: Callable[[], None],
    ):
        """Create the handle. Nothing is opened yet.

        Args:
            index_dir: the folder for `catalog.db`, `chroma/` and the lock file, created on demand.
            server: returns the vector server, or None to store vectors in `chroma/`.
            on_replaced: called after a damaged catalog was replaced.
        """
        self._index_dir = index_dir
        self._path = index_dir / CATALOG_FILE
        self._server = server
        self._on_replaced = on_replaced
        self._lock = threading.RLock()
        self._owner_lock: IO[bytes] | None = None
        self._catalog: Catalog | None = None
        self._exact: ExactScan | None = None
        self._store: VectorStore | None = None
        self._refill: threading.Thread | None = None
        self._former: list[Catalog] = []
        self._generation = 0  # the number of times that the catalog was set aside
        self._was_damaged = False
        self._is_closed = False

    @property
    def catalog(self) -> Catalog | None:
        """The open catalog, or None if the index is not open."""
        return self._catalog

    @property
    def store(self) -> VectorStore | None:
        """The vector store, or None if this process does not own the index."""
        return self._store

    @property
    def generation(self) -> int:
        """The number of times that a damaged catalog was replaced."""
        return self._generation

    @property
    def is_closed(self) -> bool:
        """Whether the index has been closed."""
        return self._is_closed

    def open(self) -> Catalog | None:
        """Return the catalog, opening it for reading if necessary, or None if it does not exist.

        Raises:
            IndexUnusable: the index cannot be read, or was closed.
        """
        with self._lock:
            if self._is_closed:
                raise IndexUnusable(_CLOSED)
            if self._catalog is None and self._path.exists():
                catalog = self._open_for_reading()
                if catalog.is_new:  # its creator has not filled it yet
                    catalog.close()
                    return None
                self._catalog, self._exact = catalog, ExactScan(catalog)
            return self._catalog

    def _open_for_reading(self) -> Catalog:
        """Open the catalog, which is first brought up to date if an earlier version made it."""
        try:
            return Catalog(self._path, is_writable=False)
        except IndexOutdated as outdated:
            try:
                with take_lock(self._index_dir):
                    Catalog(self._path, is_writable=True).close()
            except IndexBusy:
                raise IndexUnusable(str(outdated)) from None
            return Catalog(self._path, is_writable=False)

    def own(self) -> tuple[Catalog, VectorStore]:
        """Lock the index, and return its catalog and vector store for writing.

        Raises:
            IndexBusy: another process owns the index.
            IndexUnusable: the index cannot be written, or was closed.
        """
        with self._lock:
            if self._is_closed:
                raise IndexUnusable(_CLOSED)
            if self._catalog is not None and self._store is not None:
                return self._catalog, self._store
            lock = self._owner_lock or take_lock(self._index_dir)
            try:
                catalog = Catalog(self._path, is_writable=True)
            except BaseException:
                self._owner_lock = None
                lock.close()
                raise
            if self._catalog is not None:
                self._former.append(self._catalog)  # a search may still be reading it
            self._owner_lock = lock
            self._was_damaged |= catalog.was_damaged
            store = VectorStore(catalog, self._index_dir / "chroma", self._server())
            self._catalog, self._exact, self._store = catalog, ExactScan(catalog), store
            return catalog, store

    def find_nearest(
        self, vector: "NDArray[np.float32]", k: int, among: Collection[bytes] | None
    ) -> list[tuple[bytes, float]]:
        """Return the hash and cosine similarity of the texts nearest to a vector, nearest first.

        At most `k` texts are returned. If `among` is given, only texts with these hashes are
        searched. Otherwise Chroma is used if it is faster than an exact scan.

        Raises:
            IndexUnusable: the index was closed.
        """
        store, exact = self._store, self._exact
        if exact is None:
            raise IndexUnusable(_CLOSED)
        if store is not None and store.is_ready and among is None and _is_worth_asking(store):
            with suppress(VectorStoreFailed):  # the exact scan answers instead
                return store.query(vector, k)
        return exact.query(vector, k, among)

    def refill_if_needed(self) -> None:
        """Start synchronizing the vector store in the background, unless it is ready.

        Searches do not wait until the store is synchronized.
        """
        with self._lock:
            if self._store is None or self._store.is_ready or self._is_closed:
                return
            if self._refill is None or not self._refill.is_alive():
                self._refill = threading.Thread(
                    target=_synchronize_quietly, args=(self._store,), name="refill", daemon=True
                )
                self._refill.start()

    def take_warning(self) -> str:
        """Return a warning if damage of the index was found since the last call, otherwise ""."""
        with self._lock:
            was_damaged, self._was_damaged = self._was_damaged, False
        return INDEX_DAMAGED if was_damaged else ""

    def has_damage(self, generation: int, error: Exception) -> bool:
        """Return whether a call failed because the catalog is damaged or was just replaced.

        Args:
            generation: the value of `generation` before the call.
            error: the exception raised by the call.
        """
        if isinstance(error, IndexDamaged):
            return True
        if isinstance(error, VaultError):
            return isinstance(error, IndexUnusable) and self._generation != generation
        return is_damaged(self._path)

    def replace_damaged(self, generation: int) -> None:
        """Replace a damaged catalog with an empty one, unless this has already been done.

        Args:
            generation: the value of `generation` before the call that found the damage.

        Raises:
            IndexDamaged: another process owns the index.
        """
        with self._lock:
            if self._is_closed:
                raise IndexUnusable(_CLOSED)
            if self._generation != generation:
                return  # another call has done it
            try:
                self._owner_lock = self._owner_lock or take_lock(self._index_dir)
            except IndexBusy as error:
                raise IndexDamaged(
                    "The index of these notes is damaged, and another Strata has it open; "
                    "close that one, then index again."
                ) from error
            self._close_stores()
            _log.warning("The index in %s was damaged and is made anew", self._index_dir)
            with suppress(FileNotFoundError):
                set_aside(self._path)
            self._generation += 1
            catalog, _ = self.own()
            catalog.was_damaged = self._was_damaged = True
            self._on_replaced()

    def stop_opening(self) -> None:
        """Prevent the index from being opened again. An open index stays open until `close`."""
        with self._lock:
            self._is_closed = True

    def close(self) -> None:
        """Close the catalog and the vector store, and release the lock."""
        with self._lock:
            self._is_closed = True
        self._close_stores()
        for catalog in self._former:
            catalog.close()
        if self._owner_lock is not None:
            self._owner_lock.close()

    def _close_stores(self) -> None:
        """Stop the child process of the vector store and close the catalog."""
        catalog, store = self._catalog, self._store
        self._catalog = self._exact = self._store = None
        if store is not None:
            store.close()
        if self._refill is not None:
            self._refill.join()
        if catalog is not None:
            catalog.close()


def take_lock(index_dir: Path) -> IO[bytes]:
    """Lock an index until the returned file is closed.

    Raises:
        IndexBusy: another process owns the index.
        IndexUnusable: the folder cannot be written.
    """
    try:
        make_private_folder(index_dir)
        lock = os.fdopen(open_file(index_dir / "lock", os.O_RDWR | os.O_CREAT), "r+b")
    except OSError as error:
        raise IndexUnusable(
            f"The index in {index_dir} cannot be written ({error.strerror}); "
            "see that its folder may be written and has room."
        ) from error
    try:
        lock_file(lock.fileno())
    except OSError as error:
        lock.close()
        raise IndexBusy(
            "Another Strata keeps this index up to date; close it, or only search here."
        ) from error
    return lock


def _is_worth_asking(store: VectorStore) -> bool:
    """Return whether the vector store is a server, or too large for a fast exact scan."""
    return store.server is not None or store.size > _FEW_VECTORS


def _synchronize_quietly(store: VectorStore) -> None:
    with suppress(VaultError):  # the exact scan answers instead; `health` reports the error
        store.synchronize()
