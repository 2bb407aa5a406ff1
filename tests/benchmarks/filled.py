"""Catalogs of real notes with vectors that are drawn at random, since embedding takes very long."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from vault.catalog import Catalog
from vault.embedding.chunking import chunk_note
from vault.embedding.models import DIMENSION
from vault.notes.note import parse_note, read_bytes
from vault.records import Records
from vault.scan import FileStat, scan

__all__ = ["fill"]


def fill(notes: Path, index_dir: Path, chunks: int, *, copies_too: bool = False) -> None:
    """Make a catalog of so many passages, where the notes give fewer of changed copies too."""
    index_dir.mkdir(parents=True)
    catalog = Catalog(index_dir / "catalog.db", is_writable=True)
    records = Records(catalog)
    found: Mapping[str, FileStat] = scan(notes).files
    try:
        with catalog.transaction():
            _put(records, notes, found, chunks)
        while copies_too and records.counts()[1] < chunks:
            found = _copied(notes, found)
            with catalog.transaction():
                _put(records, notes, found, chunks)
        with catalog.transaction():
            _draw_vectors(catalog)
    finally:
        catalog.close()


def _put(records: Records, notes: Path, found: Mapping[str, FileStat], most: int) -> None:
    done = records.counts()[1]
    for path, stat in found.items():
        if done >= most:
            return
        note, document = parse_note(path, read_bytes(notes, path))
        passages = chunk_note(note, document)[: most - done]
        records.put_note(stat, note, passages)
        done += len(passages)


def _copied(notes: Path, found: Mapping[str, FileStat]) -> Mapping[str, FileStat]:
    for path in found:
        copy = notes / "copy" / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes((notes / path).read_bytes() + b"\nA copy.\n")
    made = scan(notes).files
    return {path: stat for path, stat in made.items() if path not in found}


def _draw_vectors(catalog: Catalog) -> None:
    hashes = [bytes(row[0]) for row in catalog.run("SELECT DISTINCT hash FROM chunks")]
    drawn = np.random.default_rng(7).standard_normal((len(hashes), DIMENSION), dtype="<f4")
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    catalog.add_vectors(hashes, [vector.tobytes() for vector in drawn])
