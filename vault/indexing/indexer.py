"""Index a folder: read, chunk and embed new and changed notes, and remove deleted ones.

File names and attributes are compared with the catalog. Only changed files are read, and only texts
without a vector are embedded. Every step is committed, so that an interrupted run can be continued.
"""

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from vault.catalog import FINGERPRINT, UNFINISHED, VECTORLESS, Catalog, Row, VectorTable
from vault.embedder import Embedder
from vault.embedding.chunking import Chunk, chunk_note
from vault.embedding_versions import choose_vector_table, switch_model
from vault.errors import NoteUnreadable, UnsafePath, VaultMissing
from vault.indexing.embed import EmbeddingRun
from vault.indexing.priority import Priority, find_files_with_words, order_passages
from vault.indexing.progress import (
    CancelCheck,
    IndexCancelled,
    IndexProgress,
    IndexReport,
    ProgressCallback,
    ProgressMeter,
)
from vault.indexing.relocate import is_same_folder, remember_folder
from vault.indexing.throttle import Throttle
from vault.notes.day_formats import read_day_formats
from vault.notes.kinds import find_kind
from vault.notes.note import Note, parse_note, read_bytes
from vault.notes.parser_client import ParserClient
from vault.records import NEVER_SEEN, FileRow, Records, RemovedNotes, State
from vault.scan import FileStat, ScanResult, scan, scan_paths
from vault.vectors import VectorStore

__all__ = ["CancelCheck", "IndexProgress", "IndexReport", "Indexer", "ProgressCallback"]

PRIVATE_RULE = "private: the note says so"

_COMMIT_S = 0.3
_COMMIT_NOTES = 128
_LARGE_BYTES = 1 << 20
_LAST_NOTES = 1_000  # of a first index; they are read while the model loads
_PASSAGE_BYTES = 1_000  # of a long note, for each of its passages; most are shorter


@dataclass(slots=True)
class _Counts:
    """What a run has done so far. `notes` is keyed by the fields of `IndexReport`."""

    notes: Counter[str] = field(default_factory=Counter)
    embedded: int = 0
    empty: int = 0
    is_switched: bool = False

    @property
    def has_change(self) -> bool:
        return self.notes.total() + self.embedded > 0


@dataclass(frozen=True, slots=True)
class _Changes:
    """The differences between the files in the folder of notes and the catalog."""

    known: dict[str, FileRow]
    to_read: list[tuple[str, FileStat]]
    left_out: list[tuple[str, State, str]]
    gone: dict[str, FileRow]


@dataclass(slots=True)
class _Pending:
    """Changes to the catalog that are committed together in one transaction."""

    writes: list[Callable[[], None]] = field(default_factory=list)
    since: float = field(default_factory=time.monotonic)

    @property
    def is_due(self) -> bool:
        return len(self.writes) >= _COMMIT_NOTES or time.monotonic() - self.since > _COMMIT_S


class Indexer:
    """Indexes one vault, one run at a time."""

    def __init__(
        self,
        root: Path,
        catalog: Catalog,
        embedder: Embedder,
        store: VectorStore,
        exclude: Sequence[str] = (),
        throttle: Throttle | None = None,
        priority: Priority | None = None,
    ):
        self._root = root
        self._catalog = catalog
        self._records = Records(catalog)
        self._embedder = embedder
        self._store = store
        self._exclude = tuple(exclude)
        self._throttle = throttle or Throttle()
        self._priority = priority or Priority()
        self._counts = _Counts()
        self._table: VectorTable = "vectors"
        self._foreign = ParserClient()

    def run(
        self,
        progress: ProgressCallback = lambda _progress: None,
        is_cancelled: CancelCheck = lambda: False,
        only: Collection[str] | None = None,
        *,
        fills_store: bool = True,
    ) -> IndexReport:
        """Update the index, and return a report of what was changed.

        Args:
            progress: called several times a second.
            is_cancelled: checked between notes and batches.
            only: the paths to check, or None to check the whole folder.
            fills_store: whether to wait until the vector store has the new vectors.

        Raises:
            VaultMissing: the folder does not exist, or its drive is not mounted.
            VaultUnreadable: the folder cannot be read because of its permissions.
            EmbedderFailed: texts cannot be embedded. Keyword search can still find them.
            IndexUnusable: the catalog cannot be written.
        """
        began = time.monotonic()
        self._counts = _Counts()
        self._table = choose_vector_table(self._catalog, self._embedder.model)
        self._throttle.begin()
        meter = ProgressMeter(progress, is_cancelled, self._throttle)
        is_complete = True
        try:
            found = None if only is None else scan_paths(self._root, self._exclude, only)
            if only is None or found is None:
                self._index_all(meter, fills_store=fills_store)
            else:
                self._index_paths(found, only, meter)
        except IndexCancelled:
            is_complete = False
        finally:
            self._foreign.close()
        report = self._report(time.monotonic() - began, is_complete)
        progress(IndexProgress("done", done=report.notes, total=report.notes))
        return report

    def _index_paths(self, found: ScanResult, paths: Collection[str], meter: ProgressMeter) -> None:
        """Update the index for the given paths only. The time does not depend on the vault's size.

        Unused vectors are deleted by the next update of the whole folder.
        """
        changes = self._compare(found, self._records.find_files(paths))
        had_vectors = not self._catalog.meta(VECTORLESS)
        self._leave_out(changes, found)
        self._read(changes, meter)
        self._embed(
            self._catalog.list_unembedded_among(paths, self._table), meter, fills_store=False
        )
        self._finish(found, "", has_vectors=had_vectors)

    def _index_all(self, meter: ProgressMeter, *, fills_store: bool) -> None:
        meter.begin("seen")
        found = scan(self._root, self._exclude, meter.step)
        fingerprint = found.fingerprint()
        if self._catalog.meta(FINGERPRINT) == fingerprint and self._table == "vectors":
            self._finish(found, fingerprint)
            return
        changes = self._compare(found, self._records.files())
        self._leave_out(changes, found, is_whole=True)
        self._read(changes, meter)
        with self._catalog.transaction():
            self._catalog.set_meta(UNFINISHED, "")
        waiting = order_passages(self._catalog, self._catalog.list_unembedded(self._table))
        self._embed(waiting, meter, fills_store=fills_store)
        self._switch_when_complete()
        self._drop_unused(meter, fills_store=fills_store)
        self._finish(found, fingerprint if not self._records.list_by_state("failed") else "")

    def _compare(self, found: ScanResult, known: dict[str, FileRow]) -> _Changes:
        left_out: list[tuple[str, State, str]] = [
            *((path, "excluded", rule) for path, rule in found.excluded),
            *((path, "failed", reason) for path, reason in found.failed),
        ]
        in_sight = found.files.keys() | {path for path, _, _ in left_out}
        hidden = tuple(f"{folder}/" for folder in found.unreadable_folders)
        gone = {
            path: row
            for path, row in known.items()
            if path not in in_sight and not path.startswith(hidden)
        }
        if known and not in_sight:
            self._refuse_unmounted(found)
        to_read = [
            (path, stat)
            for path, stat in found.files.items()
            if (row := known.get(path)) is None or row.differs(stat)
        ]
        to_read.sort(key=_build_sort_key)
        return _Changes(known, to_read, left_out, gone)

    def _refuse_unmounted(self, found: ScanResult) -> None:
        """Raise `VaultMissing` if the folder is the empty mount point of a missing drive."""
        if not is_same_folder(self._catalog, found.root):
            raise VaultMissing(
                f"The folder {self._root} is empty and not the one that was indexed; mount its "
                "drive, or delete the index if the notes are really gone."
            )

    def _leave_out(self, changes: _Changes, found: ScanResult, *, is_whole: bool = False) -> None:
        with self._catalog.transaction():
            if is_whole and changes.to_read:
                self._catalog.set_meta(UNFINISHED, str(len(found.files)))
            if changes.to_read:
                self._catalog.set_meta(VECTORLESS, "1")
            remember_folder(self._catalog, self._root, found.root)
            self._catalog.set_meta(FINGERPRINT, "")  # until this run is complete
            for path, state, reason in changes.left_out:
                row = changes.known.get(path)
                if row is None or (row.state, row.reason) != (state, reason):
                    self._put_state(path, row, NEVER_SEEN, state, reason)

    def _put_state(
        self, path: str, row: FileRow | None, stat: FileStat, state: State, reason: str
    ) -> None:
        self._counts.notes["removed"] += row is not None and row.state == "indexed"
        self._records.put_state(path, stat, state, reason)

    # -- reading

    def _read(self, changes: _Changes, meter: ProgressMeter) -> None:
        moved = RemovedNotes(changes.gone)
        meter.begin("scan", len(changes.to_read))
        pending = _Pending()
        try:
            find_files = partial(find_files_with_words, self._root, tick=meter.tick)
            arranged = self._priority.arrange(changes.to_read, find_files)
            for done, (path, stat) in enumerate(arranged):
                meter.step(done, path)
                if not changes.known and done == max(0, len(changes.to_read) - _LAST_NOTES):
                    self._embedder.start(_estimate_passages(changes))
                if _may_take_long(path, stat):
                    self._commit(pending)  # so that the notes read so far can be searched
                pending.writes.append(
                    self._read_file(path, stat, changes.known.get(path), moved, meter)
                )
                if pending.is_due:
                    self._commit(pending)
                    pending = _Pending()
        finally:
            self._commit(pending)
        for path, row in moved.list_rest():
            pending.writes.append(partial(self._remove, path, row))
        self._commit(pending)

    def _commit(self, pending: _Pending) -> None:
        if pending.writes:
            with self._catalog.transaction():
                for write in pending.writes:
                    write()
            pending.writes.clear()

    def _read_file(
        self,
        path: str,
        stat: FileStat,
        row: FileRow | None,
        moved: "RemovedNotes",
        meter: ProgressMeter,
    ) -> Callable[[], None]:
        try:
            data = read_bytes(self._root, path)
        except (NoteUnreadable, UnsafePath) as error:
            reason = error.reason if isinstance(error, NoteUnreadable) else str(error)
            return lambda: self._put_state(path, row, NEVER_SEEN, "failed", reason)
        version = hashlib.sha256(data).hexdigest()
        if row is not None and row.state == "indexed" and row.version == version:
            return lambda: self._records.touch(path, stat)
        try:
            note, document = parse_note(path, data, self._foreign, meter.tick)
        except NoteUnreadable as error:
            reason = error.reason
            return lambda: self._put_state(path, row, stat, "failed", reason)
        if note.is_private:
            return lambda: self._put_state(path, row, stat, "excluded", PRIVATE_RULE)
        old_path = moved.take(path, version, stat)
        if old_path is not None:
            return lambda: self._rename(old_path, row, stat, note)
        chunks = chunk_note(note, document, meter.tick)
        return lambda: self._put_note(row, stat, note, chunks)

    def _put_note(
        self, row: FileRow | None, stat: FileStat, note: Note, chunks: Sequence[Chunk]
    ) -> None:
        is_known = row is not None and row.state == "indexed"
        self._counts.notes["changed"] += is_known
        self._counts.notes["added"] += not is_known
        self._counts.empty += not chunks
        self._records.put_note(stat, note, chunks)

    def _rename(self, old: str, row: FileRow | None, stat: FileStat, note: Note) -> None:
        self._counts.notes["renamed"] += 1
        self._counts.notes["removed"] += row is not None and row.state == "indexed"
        self._records.rename(old, stat, note)

    def _remove(self, path: str, row: FileRow) -> None:
        self._counts.notes["removed"] += row.state == "indexed"
        self._records.remove(path)

    def _embed(
        self, waiting: Sequence[Row], meter: ProgressMeter, *, fills_store: bool = True
    ) -> None:
        if not waiting:
            return
        embedding = self._start_embedding(meter)
        try:
            embedding.run(waiting, empty_notes=self._counts.empty, fills_store=fills_store)
        finally:
            self._counts.embedded += embedding.count
        self._embedder.store_onnx_form(meter.tick)

    def _switch_when_complete(self) -> None:
        """Use the vectors of the new embedding model for searches, once they are complete."""
        if self._table != "vectors":
            self._store.set_aside()
            switch_model(self._catalog)
            self._table = "vectors"
            self._counts.is_switched = True

    def _drop_unused(self, meter: ProgressMeter, *, fills_store: bool) -> None:
        dropped = 0
        with self._catalog.transaction():
            if self._counts.has_change:
                dropped = self._catalog.drop_unused_vectors()
        is_other = self._counts.embedded or self._counts.is_switched
        is_at_hand = self._store.pid is not None if fills_store else self._store.is_ready
        if (is_other and fills_store) or (dropped and is_at_hand):
            self._start_embedding(meter).synchronize_store()

    def _start_embedding(self, meter: ProgressMeter) -> EmbeddingRun:
        parts = (self._catalog, self._embedder, self._store, meter)
        return EmbeddingRun(*parts, self._priority, self._table)

    def _finish(self, found: ScanResult, fingerprint: str, *, has_vectors: bool = True) -> None:
        """Record in the catalog that an indexing run is complete.

        Args:
            found: the files in the folder.
            fingerprint: a fingerprint of the folder, or an empty string to make the next run
                compare all files.
            has_vectors: whether every passage has a vector.
        """
        formats = read_day_formats(self._root)
        with self._catalog.transaction():
            remember_folder(self._catalog, self._root, found.root)
            self._records.put_day_formats(formats)
            self._catalog.set_meta("indexed_at", _format_now())
            self._catalog.set_meta(FINGERPRINT, fingerprint)
            if has_vectors:
                self._catalog.set_meta(VECTORLESS, "")

    def _report(self, seconds: float, is_complete: bool) -> IndexReport:
        notes, chunks = self._records.counts()
        unembedded = 0 if is_complete else self._catalog.count_unembedded(self._table)
        counts = self._counts
        return IndexReport(
            vault=str(self._root),
            notes=notes,
            chunks=chunks,
            embedded_chunks=counts.embedded,
            reused_chunks=chunks - unembedded - counts.embedded,
            added=counts.notes["added"],
            changed=counts.notes["changed"],
            removed=counts.notes["removed"],
            renamed=counts.notes["renamed"],
            excluded=self._records.list_by_state("excluded"),
            failed=self._records.list_by_state("failed"),
            faulty=self._records.list_faults(),
            seconds=seconds,
            is_complete=is_complete,
            warnings=(self._store.failure,) if self._store.failure else (),
        )


def _estimate_passages(changes: _Changes) -> int:
    """Return about how many passages the files to read have, or fewer."""
    sizes = (stat.size for path, stat in changes.to_read if not find_kind(path).needs_worker)
    return sum(max(1, size // _PASSAGE_BYTES) for size in sizes)


def _build_sort_key(file: tuple[str, FileStat]) -> tuple[bool, bool, str]:
    """Return a sort key that puts files that are slow to read at the end."""
    path, stat = file
    return find_kind(path).needs_worker, stat.size > _LARGE_BYTES, path


def _may_take_long(path: str, stat: FileStat) -> bool:
    return find_kind(path).needs_worker or stat.size > _LARGE_BYTES


def _format_now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
