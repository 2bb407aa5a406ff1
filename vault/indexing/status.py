"""How an index stands: what it holds, what it leaves out and why, and what it takes on the disk."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vault.catalog import CATALOG_FILE, Catalog
from vault.embedding_versions import used_model
from vault.records import Records

__all__ = ["IndexStatus", "is_mending", "status_of"]


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """How an index stands.

    Attributes:
        notes: indexed notes; `chunks` their passages.
        size_bytes: of the catalog and the vector store on the disk.
        embedder: the model that the vectors are from.
        indexed_at: when the last whole run ended, in ISO 8601 UTC.
        excluded: path and rule; failed: path and reason.
        owner: whether this process keeps the index up to date, from its first run on.
        was_damaged: it could not be read, and is being made anew from the notes.
    """

    notes: int = 0
    chunks: int = 0
    size_bytes: int = 0
    embedder: str = ""
    indexed_at: str | None = None
    excluded: tuple[tuple[str, str], ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    owner: bool = False
    was_damaged: bool = False


def status_of(catalog: Catalog, index_dir: Path, *, is_owner: bool) -> IndexStatus:
    """Tell how an open index stands."""
    records = Records(catalog)
    notes, chunks = records.counts()
    return IndexStatus(
        notes=notes,
        chunks=chunks,
        size_bytes=sum(_sizes(index_dir)),
        embedder=used_model(catalog)[0],
        indexed_at=catalog.meta("indexed_at"),
        excluded=records.left_out("excluded"),
        failed=records.left_out("failed"),
        owner=is_owner,
        was_damaged=is_mending(catalog),
    )


def is_mending(catalog: Catalog) -> bool:
    """Tell whether a catalog took the place of a damaged one and no run has filled it yet."""
    return catalog.was_damaged and catalog.meta("indexed_at") is None


def _sizes(index_dir: Path) -> Iterator[int]:
    for path in [*index_dir.glob(f"{CATALOG_FILE}*"), *index_dir.glob("chroma/**/*")]:
        with suppress(OSError):  # replaced meanwhile
            if path.is_file():
                yield path.stat().st_size
