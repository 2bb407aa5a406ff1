"""Embed texts that have no vector yet, and store the vectors."""

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from vault.catalog import Catalog, Row, VectorTable
from vault.embedder import Embedder
from vault.errors import VectorStoreFailed
from vault.indexing.priority import Priority
from vault.indexing.progress import ProgressMeter
from vault.vectors import BATCH, VectorStore

__all__ = ["EmbeddingRun"]

_BATCH_TEXTS = 32
_BATCH_TOKENS = 2_048
# Passages are sorted by length within a window, since the longest text decides how long a batch
# takes. The first windows are small, so that the first notes are finished early.
_FIRST_WINDOW, _LAST_WINDOW = 128, 1_024


class WaitingPassage(NamedTuple):
    """A passage whose text has no vector yet.

    Attributes:
        chunk_id: the id of the passage in the catalog.
        tokens: the token count of the passage.
        note_id: the file id of its note.
    """

    chunk_id: int
    tokens: int
    note_id: int


Batch = Sequence[WaitingPassage]
TakePreferred = Callable[[], Collection[int]]
_Placed = tuple[int, WaitingPassage]


class EmbeddingRun:
    """Embeds the passages of an indexing run in batches.

    Attributes:
        count: the number of texts embedded so far.
    """

    def __init__(
        self,
        catalog: Catalog,
        embedder: Embedder,
        store: VectorStore,
        meter: ProgressMeter,
        priority: Priority,
        table: VectorTable = "vectors",
    ):
        self.count = 0
        self._table: VectorTable = table
        self._catalog = catalog
        self._embedder = embedder
        self._store = store
        self._meter = meter
        self._priority = priority
        self._is_store_broken = False
        self._left_of_notes: Counter[int] = Counter()
        self._done_notes = 0

    def run(self, rows: Sequence[Row], *, empty_notes: int = 0, fills_store: bool = True) -> None:
        """Embed the given passages. The reported progress counts completed notes.

        Args:
            rows: the passages, grouped by note, highest priority first.
            empty_notes: the number of notes read by this run that have no passage. They count as
                completed.
            fills_store: whether to wait for the vector store. If not, the next search starts to
                fill it, and until then an exact scan is used.

        Raises:
            EmbedderFailed: the model is damaged, or its process dies repeatedly.
        """
        waiting = [WaitingPassage._make(row) for row in rows]
        self._left_of_notes = Counter(passage.note_id for passage in waiting)
        self._done_notes = empty_notes
        self._meter.begin("embed", len(self._left_of_notes) + empty_notes, work=len(waiting))
        if self._table != "vectors":
            for _ in self._embed_and_store(waiting):
                pass  # the store contains only the vectors used by searches
            return
        if fills_store:
            self._store.start()
        not_stored: list[bytes] = []
        for hashes in self._embed_and_store(waiting):
            not_stored += hashes
            if len(not_stored) >= BATCH:
                self._add_to_store(not_stored, fills_store)
                not_stored = []
        self._add_to_store(not_stored, fills_store)

    def synchronize_store(self) -> None:
        """Synchronize the vector store with the catalog. Errors are ignored.

        If the store is broken, searches use an exact scan, and the next search repairs the store.
        """
        self._meter.begin("store")
        self._run_unless_broken(lambda: self._store.synchronize(on_wait=self._meter.tick))

    def _embed_and_store(self, waiting: Batch) -> Iterator[list[bytes]]:
        """Embed passages in batches and store their vectors in the catalog.

        Yield the hashes of the texts of each batch after it is committed.
        """
        asked: deque[tuple[Batch, list[bytes]]] = deque()
        for vectors in self._embedder.embed(
            self._read_batches(waiting, asked), self._meter.tick, self._meter.can_work_ahead
        ):
            batch, hashes = asked.popleft()
            with self._catalog.transaction():
                rows = [vector.tobytes() for vector in vectors]
                self._catalog.add_vectors(hashes, rows, self._table)
            self.count += len(hashes)
            self._count_notes(batch)
            self._meter.step(self._done_notes, work=self.count)
            yield hashes

    def _count_notes(self, batch: Batch) -> None:
        for passage in batch:
            self._left_of_notes[passage.note_id] -= 1
            self._done_notes += not self._left_of_notes[passage.note_id]

    def _read_batches(
        self, waiting: Batch, asked: deque[tuple[Batch, list[bytes]]]
    ) -> Iterator[list[str]]:
        for batch in split_into_batches(waiting, self._follow_priority()):
            texts = self._catalog.texts([passage.chunk_id for passage in batch])
            asked.append((batch, [text_hash for text_hash, _ in texts]))
            yield [text for _, text in texts]

    def _follow_priority(self) -> "TakePreferred":
        take = self._priority.follow()

        def take_ids() -> Collection[int]:
            preferred = take()
            return () if preferred is None else preferred.find_ids(self._catalog)

        return take_ids

    def _add_to_store(self, hashes: Sequence[bytes], fills_store: bool) -> None:
        if self._store.is_ready:
            self._run_unless_broken(lambda: self._store.add(hashes, self._meter.tick))
        elif fills_store:
            self._run_unless_broken(lambda: self._store.synchronize(on_wait=self._meter.tick))

    def _run_unless_broken(self, act: Callable[[], None]) -> None:
        if not self._is_store_broken:
            try:
                act()
            except VectorStoreFailed:  # the exact scan answers; `health` reports the error
                self._is_store_broken = True


def split_into_batches(
    waiting: Batch, take_preferred: TakePreferred = frozenset
) -> Iterator[Batch]:
    """Yield batches of passages of similar length, roughly in the given order.

    Args:
        waiting: the passages to embed, highest priority first.
        take_preferred: called before each batch. It returns the ids of notes to embed next.
    """
    left = dict.fromkeys(range(len(waiting)))

    def take(places: Sequence[int]) -> Iterator[Batch]:
        ordered = sorted((n for n in places if n in left), key=lambda n: -waiting[n].tokens)
        for placed in _split_by_length([(n, waiting[n]) for n in ordered]):
            if (notes := take_preferred()) and left:
                yield from take([n for n in left if waiting[n].note_id in notes])
            still = [(n, passage) for n, passage in placed if n in left]
            for n, _ in still:
                del left[n]
            if still:
                yield [passage for _, passage in still]

    start, size = 0, _FIRST_WINDOW
    while start < len(waiting):
        yield from take(range(start, min(start + size, len(waiting))))
        start, size = start + size, min(2 * size, _LAST_WINDOW)


def _split_by_length(passages: Sequence[_Placed]) -> Iterator[Sequence[_Placed]]:
    """Split passages, sorted by length, into batches with a limited number of tokens.

    Args:
        passages: the passages, longest first, each with its position in the list of all passages.
    """
    batch: list[_Placed] = []
    for place, passage in passages:
        is_full = batch and batch[0][1].tokens * (len(batch) + 1) > _BATCH_TOKENS
        if is_full or len(batch) == _BATCH_TEXTS:
            yield batch
            batch = []
        batch.append((place, passage))
    if batch:
        yield batch
