"""Find the nearest passages by comparing a query with all vectors of the catalog.

This exact scan is used when Chroma is not available: while the vector store is being filled, when
it is broken, and in processes that only read the index.
"""

import threading
from collections.abc import Collection
from typing import TYPE_CHECKING

from vault.catalog import Catalog
from vault.errors import IndexDamaged

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SPARE = 8  # one spare row per 8, so that saving a note does not copy the whole matrix


class ExactScan:
    """A copy of the catalog's vectors in memory, updated before each query. Thread-safe."""

    def __init__(self, catalog: Catalog):
        self._catalog = catalog
        self._lock = threading.Lock()
        self._hashes: list[bytes] = []
        self._matrix: NDArray[np.float32] | None = None
        self._rows = 0
        self._last_id = 0
        self._epoch: str | None = None

    def query(
        self, vector: "NDArray[np.float32]", k: int, among: Collection[bytes] | None = None
    ) -> list[tuple[bytes, float]]:
        """Return the hash and cosine similarity of the texts nearest to a vector, nearest first.

        Args:
            vector: the query's vector, of unit length.
            k: the maximum number of results.
            among: the hashes of the texts to search, or None for all texts.
        """
        import numpy as np

        hashes, matrix = self._refresh()
        if matrix is not None and matrix.shape[1] != len(vector):
            return []  # another embedder's vectors have just replaced them
        if matrix is not None and among is not None:
            rows = [row for row, text_hash in enumerate(hashes) if text_hash in among]
            hashes, matrix = [hashes[row] for row in rows], matrix[rows]
        if matrix is None or k <= 0 or not hashes:
            return []
        # Not `@`: the threads of its library keep spinning for a while and slow down other
        # processes, such as the embedding child. One thread is as fast, since memory is the limit.
        cosines = np.einsum("ij,j->i", matrix, vector)
        k = min(k, len(hashes))
        nearest = np.argpartition(-cosines, k - 1)[:k]
        ordered = nearest[np.argsort(-cosines[nearest], kind="stable")]
        return [(hashes[index], float(cosines[index])) for index in ordered]

    def _refresh(self) -> "tuple[list[bytes], NDArray[np.float32] | None]":
        import numpy as np

        with self._lock:
            epoch = self._catalog.meta("vectors_epoch")
            if epoch != self._epoch:
                self._hashes, self._matrix, self._rows = [], None, 0
                self._last_id, self._epoch = 0, epoch
            rows = self._catalog.rows(
                "SELECT id, hash, vector FROM vectors WHERE id > ? ORDER BY id", (self._last_id,)
            )
            if rows:
                joined = b"".join(row[2] for row in rows)
                added = np.frombuffer(joined, "<f4").reshape(len(rows), -1)
                if not np.isfinite(added).all():
                    raise IndexDamaged("A vector of the index holds what is no number.")
                self._append(added)
                self._hashes = self._hashes + [bytes(row[1]) for row in rows]
                self._last_id = int(rows[-1][0])
            return self._hashes, None if self._matrix is None else self._matrix[: self._rows]

    def _append(self, added: "NDArray[np.float32]") -> None:
        """Append vectors to the matrix.

        A new matrix gets spare rows, so that adding vectors rarely copies the whole matrix.
        """
        import numpy as np

        rows = self._rows + len(added)
        if self._matrix is None:
            self._matrix = added
        else:
            if rows > len(self._matrix):
                larger = np.empty((rows + rows // _SPARE, added.shape[1]), "<f4")
                larger[: self._rows] = self._matrix[: self._rows]
                self._matrix = larger
            self._matrix[self._rows : rows] = added
        self._rows = rows
