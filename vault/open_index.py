"""An index as one process has it open: as its owner, or only to read."""

import fcntl
import os
import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

from vault.catalog import Catalog
from vault.embedding_versions import read_used_model
from vault.errors import IndexBusy, IndexUnusable, VaultError, VectorStoreFailed
from vault.search.exact import ExactScan
from vault.search.hits import SearchResult
from vault.vectors import VectorStore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["OpenIndex", "take_lock"]

# Measured: a talk with Chroma's process takes 4 ms, a scan of so many vectors half of one.
_FEW_VECTORS = 5_000


class OpenIndex:
    """The catalog as it is open now, and what searches it; a store only for the owner."""

    def __init__(self, catalog: Catalog, store: VectorStore | None = None):
        self.catalog = catalog
        self.store = store
        self._exact = ExactScan(catalog)
        self._lock = threading.Lock()
        self._refill: threading.Thread | None = None
        self._is_closed = False

    def find_nearest(
        self, vector: "NDArray[np.float32]", k: int, among: Collection[bytes] | None
    ) -> list[tuple[bytes, float]]:
        """Give the hashes of the nearest texts, from Chroma where it is ready and the quicker."""
        store = self.store
        if store is not None and store.is_ready and among is None and _is_worth_asking(store):
            with suppress(VectorStoreFailed):  # the exact scan answers in its place
                return store.query(vector, k)
        return self._exact.query(vector, k, among)

    def search_in_one_version(self, search: Callable[[], SearchResult]) -> SearchResult:
        """Search, and again where the vectors of another embedder came into use meanwhile."""
        while True:
            before = read_used_model(self.catalog)
            try:
                result: SearchResult | None = search()
            except ValueError:  # vectors of different lengths were compared
                if read_used_model(self.catalog) == before:
                    raise
                result = None
            if result is not None and read_used_model(self.catalog) == before:
                return result

    def add_warning(self, result: SearchResult) -> SearchResult:
        """Add to a result that the server which the user has chosen was not asked."""
        if self.store is None or self.store.server is None or not self.store.failure:
            return result
        return replace(result, warnings=(*result.warnings, self.store.failure))

    def refill_if_needed(self) -> None:
        """Bring an owner's store in line beside the search, which does not wait for it."""
        with self._lock:
            if self.store is None or self.store.is_ready or self._is_closed:
                return
            if self._refill is None or not self._refill.is_alive():
                self._refill = threading.Thread(
                    target=_synchronize_quietly, args=(self.store,), name="refill", daemon=True
                )
                self._refill.start()

    def close(self) -> None:
        """End the store's child and close the catalog."""
        with self._lock:
            self._is_closed = True
        if self.store is not None:
            self.store.close()
        if self._refill is not None:
            self._refill.join()
        self.catalog.close()


def take_lock(index_dir: Path) -> IO[bytes]:
    """Become the owner of an index, until what is returned is closed.

    Raises:
        IndexBusy: another process is.
        IndexUnusable: the folder cannot be written.
    """
    try:
        index_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = open(index_dir / "lock", "ab", opener=_private)  # noqa: SIM115 - held
    except OSError as error:
        raise IndexUnusable(
            f"The index in {index_dir} cannot be written ({error.strerror}); "
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


def _is_worth_asking(store: VectorStore) -> bool:
    """Tell whether a store answers sooner than the scan would; the user's own server is asked."""
    return store.server is not None or store.size > _FEW_VECTORS


def _synchronize_quietly(store: VectorStore) -> None:
    with suppress(VaultError):  # the exact scan serves; `health` says what is wrong
        store.synchronize()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
