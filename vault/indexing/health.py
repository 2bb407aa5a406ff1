"""Each part of an index, tried for real."""

from collections.abc import Callable
from pathlib import Path

from vault.catalog import Catalog
from vault.embedding_versions import used_model
from vault.errors import IndexBusy, VaultError
from vault.indexing.embedders import Embedders
from vault.open_index import Opened
from vault.records import Records
from vault.scan import check_folder

__all__ = ["Health"]

_NOT_YET = "not made yet; `strata index` makes it"


class Health:
    """The checks of one index."""

    def __init__(
        self,
        root: Path,
        open_: Callable[[], Opened | None],
        own: Callable[[], Opened],
        embedders: Embedders,
        model: str,
    ):
        """Name what is to be tried.

        Args:
            root: the folder of notes.
            open_: opens the index to read; own: opens it to write.
            embedders: those of the index.
            model: what is chosen to embed.
        """
        self._root = root
        self._open = open_
        self._own = own
        self._embedders = embedders
        self._model = model

    def checks(self) -> list[tuple[str, bool, str]]:
        """Try each part: its name, whether it works, and details."""
        parts = {
            "notes folder": self._folder,
            "catalog": self._catalog,
            "embedding model": self._embedding_model,
            "vector store": self._store,
        }
        checks = []
        for name, check in parts.items():
            try:
                checks.append((name, True, check()))
            except VaultError as error:
                checks.append((name, False, str(error)))
        return checks

    def _folder(self) -> str:
        check_folder(self._root)
        return str(self._root)

    def _catalog(self) -> str:
        opened = self._open()
        if opened is None:
            return _NOT_YET
        notes, chunks = Records(opened.catalog).counts()
        return f"{notes} notes in {chunks} passages; every script is found by its words"

    def _embedding_model(self) -> str:
        embedder = self._embedders.chosen(self._model)
        embedder.embed_query("a note about health")
        opened = self._open()
        meanwhile = "" if opened is None else _meanwhile(opened.catalog, embedder.model.stamp)
        languages = embedder.model.languages()
        name = embedder.model.name
        return f"{name} in {embedder.precision}; found by meaning: {languages}{meanwhile}"

    def _store(self) -> str:
        if self._open() is None:
            return _NOT_YET
        try:
            store = self._own().store
        except IndexBusy:
            return "kept by another Strata; this one searches the catalog's vectors"
        assert store is not None
        store.bring_in_line()
        where = "" if store.server is None else f" at {store.server.host}"
        return f"{store.size} vectors in Chroma{where}, in line with the catalog"


def _meanwhile(catalog: Catalog, stamp: str) -> str:
    name, used = used_model(catalog)
    if used == stamp or not catalog.rows("SELECT 1 FROM vectors LIMIT 1"):
        return ""
    return f"; searches use the vectors of {name} until the new ones are complete"
