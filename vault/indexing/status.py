"""The status of an index, and checks of whether its components work."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vault.catalog import CATALOG_FILE, Catalog
from vault.coverage import Coverage, find_gap, name_count
from vault.embedding_versions import Embedders, read_used_model
from vault.errors import IndexBusy, VaultError
from vault.open_index import IndexHandle
from vault.records import Records
from vault.scan import check_folder

__all__ = ["HealthCheck", "IndexStatus", "is_mending", "read_status"]

_MOST_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The status of an index.

    Attributes:
        notes: the number of indexed notes.
        chunks: the number of indexed passages.
        size_bytes: the size of the catalog and vector store on disk.
        embedder: the name of the model that computed the vectors.
        indexed_at: the time of the last complete update, in ISO 8601 and UTC, or None.
        excluded: the excluded files, as pairs of path and rule.
        failed: the files that cannot be indexed, as pairs of path and reason.
        owner: whether this process owns the index.
        was_damaged: whether the index was damaged and is being rebuilt.
        gap: which notes an incomplete index covers so far, or None if the index is complete.
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
    gap: Coverage | None = None


def read_status(catalog: Catalog, index_dir: Path, *, is_owner: bool) -> IndexStatus:
    """Return the status of an open index.

    Args:
        catalog: the catalog of the index.
        index_dir: the folder of the index, whose size is measured.
        is_owner: whether this process owns the index.
    """
    records = Records(catalog)
    notes, chunks = records.counts()
    return IndexStatus(
        notes=notes,
        chunks=chunks,
        size_bytes=sum(_list_sizes(index_dir)),
        embedder=read_used_model(catalog)[0],
        indexed_at=catalog.meta("indexed_at"),
        excluded=records.list_by_state("excluded"),
        failed=records.list_by_state("failed"),
        owner=is_owner,
        was_damaged=is_mending(catalog),
        gap=find_gap(catalog),
    )


def is_mending(catalog: Catalog) -> bool:
    """Return whether a damaged catalog was replaced and has not been completely rebuilt yet."""
    return catalog.was_damaged and catalog.meta("indexed_at") is None


def _list_sizes(index_dir: Path) -> Iterator[int]:
    for path in [*index_dir.glob(f"{CATALOG_FILE}*"), *index_dir.glob("chroma/**/*")]:
        with suppress(OSError):  # the file was replaced meanwhile
            if path.is_file():
                yield path.stat().st_size


_NOT_YET = "not made yet; `strata index` makes it"


class HealthCheck:
    """Checks whether the components of an index work."""

    def __init__(
        self,
        root: Path,
        handle: IndexHandle,
        embedders: Embedders,
        model: str,
    ):
        """Store the components to check.

        Args:
            root: the folder of notes.
            handle: opens the index.
            embedders: the embedders of the index.
            model: the value of the setting `embedding.model`.
        """
        self._root = root
        self._handle = handle
        self._embedders = embedders
        self._model = model

    def run(self) -> list[tuple[str, bool, str]]:
        """Check each component of the index. Return its name, whether it works, and details."""
        parts = {
            "notes folder": self._check_folder,
            "catalog": self._check_catalog,
            "front matter": self._check_front_matter,
            "embedding model": self._check_model,
            "vector store": self._check_store,
        }
        checks = []
        for name, check in parts.items():
            try:
                checks.append((name, True, check()))
            except VaultError as error:
                checks.append((name, False, str(error)))
        return checks

    def _check_folder(self) -> str:
        check_folder(self._root)
        return str(self._root)

    def _check_catalog(self) -> str:
        catalog = self._handle.open()
        if catalog is None:
            return _NOT_YET
        notes, chunks = Records(catalog).counts()
        summary = f"{name_count(notes, 'note')} in {name_count(chunks, 'passage')}"
        summary = f"{summary}; every script is found by its words"
        gap = find_gap(catalog)
        return summary if gap is None else f"{summary}; {gap.advice}"

    def _check_front_matter(self) -> str:
        """Name the notes of whose front matter something is lost. They are found all the same."""
        catalog = self._handle.open()
        faults = () if catalog is None else Records(catalog).list_faults()
        if not faults:
            return "no fault is known"
        named = ", ".join(path for path, _ in faults[:_MOST_NAMED])
        more = ", …" if len(faults) > _MOST_NAMED else ""
        count = name_count(len(faults), "note")
        return f"something is lost in {count}: {named}{more}; `strata review` says what"

    def _check_model(self) -> str:
        embedder = self._embedders.find_chosen(self._model)
        embedder.embed_query("a note about health")
        catalog = self._handle.open()
        meanwhile = "" if catalog is None else _describe_switch(catalog, embedder.model.stamp)
        languages = embedder.model.languages()
        name = embedder.model.name
        return f"{name} in {embedder.precision}; found by meaning: {languages}{meanwhile}"

    def _check_store(self) -> str:
        if self._handle.open() is None:
            return _NOT_YET
        try:
            _, store = self._handle.own()
        except IndexBusy:
            return "in use by another Strata; searching the catalog instead"
        store.synchronize()
        where = "" if store.server is None else f" at {store.server.host}"
        return f"{name_count(store.size, 'vector')} in Chroma{where}, in line with the catalog"


def _describe_switch(catalog: Catalog, stamp: str) -> str:
    name, used = read_used_model(catalog)
    if used == stamp or not catalog.rows("SELECT 1 FROM vectors LIMIT 1"):
        return ""
    return f"; searches use the vectors of {name} until the new ones are complete"
