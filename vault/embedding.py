"""Texts without a vector get one, and the vector store gets it too."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence

from vault.catalog import Catalog, VectorTable
from vault.embedder import Embedder
from vault.errors import VectorStoreFailed
from vault.reports import Meter
from vault.vectors import BATCH, VectorStore

__all__ = ["Embedding"]

_BATCH_TEXTS = 32
_BATCH_TOKENS = 4_096


class Embedding:
    """One run's embedding; what is done is committed batch by batch.

    Attributes:
        count: how many texts were embedded so far.
    """

    def __init__(
        self,
        catalog: Catalog,
        embedder: Embedder,
        store: VectorStore,
        meter: Meter,
        table: VectorTable = "vectors",
    ):
        self.count = 0
        self._table: VectorTable = table
        self._catalog = catalog
        self._embedder = embedder
        self._store = store
        self._meter = meter
        self._is_store_broken = False

    def run(self, waiting: Sequence[tuple[int, int]], *, fills_store: bool = True) -> None:
        """Embed passages, named by number and tokens, the longest first.

        Args:
            waiting: the passages.
            fills_store: wait for a vector store that is not in line yet; otherwise searches
                bring it in line, beside the exact scan that answers them.

        Raises:
            EmbedderFailed: the model is damaged or its process cannot be kept running.
        """
        self._meter.begin("embed", len(waiting))
        if self._table != "vectors":
            for _ in self._vectors(waiting):
                pass  # the store holds what searches use
            return
        if fills_store:
            self._store.start()
        not_stored: list[bytes] = []
        for hashes in self._vectors(waiting):
            not_stored += hashes
            if len(not_stored) >= BATCH:
                self._add_to_store(not_stored, fills_store)
                not_stored = []
        self._add_to_store(not_stored, fills_store)

    def bring_store_in_line(self) -> None:
        """Make the vector store hold what the catalog holds; a broken one is left to search."""
        self._meter.begin("store")
        self._guarded(lambda: self._store.bring_in_line(self._meter.step, self._meter.tick))

    def _vectors(self, waiting: Sequence[tuple[int, int]]) -> Iterator[list[bytes]]:
        """Embed and keep, and give the hashes of each batch that is kept."""
        asked: deque[list[bytes]] = deque()
        for vectors in self._embedder.embed(
            self._texts(waiting, asked), self._meter.tick, self._meter.works_ahead
        ):
            hashes = asked.popleft()
            with self._catalog.transaction():
                rows = [vector.tobytes() for vector in vectors]
                self._catalog.add_vectors(hashes, rows, self._table)
            self.count += len(hashes)
            self._meter.step(self.count)
            yield hashes

    def _texts(
        self, waiting: Sequence[tuple[int, int]], asked: deque[list[bytes]]
    ) -> Iterator[list[str]]:
        """Give batches of texts of about equal length, noting the hashes of each."""
        for chunk_ids in _batches(waiting):
            texts = self._catalog.texts(chunk_ids)
            asked.append([text_hash for text_hash, _ in texts])
            yield [text for _, text in texts]

    def _add_to_store(self, hashes: Sequence[bytes], fills_store: bool) -> None:
        if self._store.is_ready:
            self._guarded(lambda: self._store.add(hashes, self._meter.tick))
        elif fills_store:
            self._guarded(lambda: self._store.bring_in_line(on_wait=self._meter.tick))

    def _guarded(self, act: Callable[[], None]) -> None:
        if not self._is_store_broken:
            try:
                act()
            except VectorStoreFailed:  # the exact scan serves; `health` says what is wrong
                self._is_store_broken = True


def _batches(waiting: Sequence[tuple[int, int]]) -> Iterator[list[int]]:
    batch: list[int] = []
    longest = 0
    for chunk_id, tokens in waiting:
        longest = max(longest, tokens)
        if len(batch) == _BATCH_TEXTS or (longest * (len(batch) + 1) > _BATCH_TOKENS and batch):
            yield batch
            batch, longest = [], tokens
        batch.append(chunk_id)
    if batch:
        yield batch
