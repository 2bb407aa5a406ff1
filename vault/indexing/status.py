"""The status of an index, and a check of each of its parts."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vault.catalog import CATALOG_FILE, Catalog
from vault.embedding_versions import Embedders, read_used_model
from vault.errors import IndexBusy, VaultError
from vault.open_index import IndexHandle
from vault.records import Records
from vault.scan import check_folder

__all__ = ["HealthCheck", "IndexStatus", "is_mending", "read_status"]


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """What an index holds, leaves out and takes on the disk.

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


def read_status(catalog: Catalog, index_dir: Path, *, is_owner: bool) -> IndexStatus:
    """Return the status of an open index."""
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
    )


def is_mending(catalog: Catalog) -> bool:
    """Return whether a catalog took the place of a damaged one and no run has filled it yet."""
    return catalog.was_damaged and catalog.meta("indexed_at") is None


def _list_sizes(index_dir: Path) -> Iterator[int]:
    for path in [*index_dir.glob(f"{CATALOG_FILE}*"), *index_dir.glob("chroma/**/*")]:
        with suppress(OSError):  # replaced meanwhile
            if path.is_file():
                yield path.stat().st_size


_NOT_YET = "not made yet; `strata index` makes it"


class HealthCheck:
    """The checks of one index."""

    def __init__(
        self,
        root: Path,
        handle: IndexHandle,
        embedders: Embedders,
        model: str,
    ):
        """Store what is checked.

        Args:
            root: the folder of notes.
            handle: opens the index.
            embedders: those of the index.
            model: what is chosen to embed.
        """
        self._root = root
        self._handle = handle
        self._embedders = embedders
        self._model = model

    def run(self) -> list[tuple[str, bool, str]]:
        """Check each part by using it: its name, whether it works, and details."""
        parts = {
            "notes folder": self._check_folder,
            "catalog": self._check_catalog,
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
        opened = self._handle.open()
        if opened is None:
            return _NOT_YET
        notes, chunks = Records(opened.catalog).counts()
        return f"{notes} notes in {chunks} passages; every script is found by its words"

    def _check_model(self) -> str:
        embedder = self._embedders.find_chosen(self._model)
        embedder.embed_query("a note about health")
        opened = self._handle.open()
        meanwhile = "" if opened is None else _describe_switch(opened.catalog, embedder.model.stamp)
        languages = embedder.model.languages()
        name = embedder.model.name
        return f"{name} in {embedder.precision}; found by meaning: {languages}{meanwhile}"

    def _check_store(self) -> str:
        if self._handle.open() is None:
            return _NOT_YET
        try:
            _, store = self._handle.own()
        except IndexBusy:
            return "kept by another Strata; this one searches the catalog's vectors"
        store.synchronize()
        where = "" if store.server is None else f" at {store.server.host}"
        return f"{store.size} vectors in Chroma{where}, in line with the catalog"


def _describe_switch(catalog: Catalog, stamp: str) -> str:
    name, used = read_used_model(catalog)
    if used == stamp or not catalog.rows("SELECT 1 FROM vectors LIMIT 1"):
        return ""
    return f"; searches use the vectors of {name} until the new ones are complete"
