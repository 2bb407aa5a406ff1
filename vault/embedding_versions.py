"""The vectors of two embedding models side by side, and the embedder for each.

When another embedding model is chosen, its vectors are gathered in a spare table while searches go
on with the old ones. Once they are complete, the tables change places in one transaction. The old
vectors stay as the spare, so that going back costs only what is new since. A third model takes
that table.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from vault.catalog import Catalog, VectorTable
from vault.embedder import Embedder
from vault.embedding.models import EMBEDDER, MODEL_NAME, PACKAGED, EmbeddingModel, find_model
from vault.errors import EmbedderFailed

if TYPE_CHECKING:
    from vault.embedder import Vectors

__all__ = ["Embedders", "choose_vector_table", "read_used_model", "switch_model"]

_USED, _USED_NAME = "embedder", "embedder_name"
_SPARE, _SPARE_NAME = "spare_embedder", "spare_embedder_name"


def read_used_model(catalog: Catalog) -> tuple[str, str]:
    """Return the name and the stamp of the model whose vectors searches use."""
    keys = (_USED_NAME, _USED)
    rows = catalog.rows("SELECT key, value FROM meta WHERE key IN (?, ?)", keys)
    found: dict[str, str] = dict(rows)
    return found.get(_USED_NAME, MODEL_NAME), found.get(_USED, EMBEDDER)


def choose_vector_table(catalog: Catalog, model: EmbeddingModel) -> VectorTable:
    """Return the table for a model's vectors; a spare table of another model is emptied for it."""
    if read_used_model(catalog)[1] == model.stamp:
        return "vectors"
    with catalog.transaction():
        if not catalog.rows("SELECT 1 FROM vectors LIMIT 1"):
            _store_stamp(catalog, _USED, _USED_NAME, model)
            return "vectors"
        if catalog.meta(_SPARE) != model.stamp:
            catalog.run("DELETE FROM spare_vectors")
            _store_stamp(catalog, _SPARE, _SPARE_NAME, model)
    return "spare_vectors"


def switch_model(catalog: Catalog) -> None:
    """Swap the vectors that searches use with the spare ones."""
    with catalog.transaction():
        catalog.run("ALTER TABLE vectors RENAME TO former_vectors")
        catalog.run("ALTER TABLE spare_vectors RENAME TO vectors")
        catalog.run("ALTER TABLE former_vectors RENAME TO spare_vectors")
        name, stamp = read_used_model(catalog)
        for used, spare, former in ((_USED, _SPARE, stamp), (_USED_NAME, _SPARE_NAME, name)):
            catalog.set_meta(used, catalog.meta(spare) or "")
            catalog.set_meta(spare, former)
        catalog.mark_vectors_changed()


def _store_stamp(catalog: Catalog, stamp: str, name: str, model: EmbeddingModel) -> None:
    catalog.set_meta(stamp, model.stamp)
    catalog.set_meta(name, model.name)


class Embedders:
    """An embedder for each model in use; safe to use from several threads.

    There are two for as long as the vectors of one model are kept for searches while those of
    another are made.
    """

    def __init__(self, shared: Embedder | None = None, cache_dir: Path | None = None):
        """Start nothing yet.

        Args:
            shared: one of the model that comes with Strata, which outlives these.
            cache_dir: keeps the precision that each model is the fastest in.
        """
        self._cache_dir = cache_dir
        self._lock = threading.Lock()
        self._shared = shared
        self._by_stamp = {} if shared is None else {PACKAGED.stamp: shared}
        self._found: dict[str, EmbeddingModel] = {PACKAGED.name: PACKAGED}

    def get(self, model: EmbeddingModel) -> Embedder:
        """Return the embedder of a model."""
        with self._lock:
            self._found[model.name] = model
            if model.stamp not in self._by_stamp:
                self._by_stamp[model.stamp] = Embedder(model, cache_dir=self._cache_dir)
            return self._by_stamp[model.stamp]

    def find_chosen(self, name: str) -> Embedder:
        """Return the embedder that the setting `embedding.model` names, as it is on the disk now.

        Raises:
            EmbedderFailed: it is not on this computer.
        """
        return self.get(find_model(name))

    def find_named(self, name: str, stamp: str) -> Embedder:
        """Return the embedder of the model that vectors were made with.

        Raises:
            EmbedderFailed: it is not on this computer any more, or is another by now.
        """
        model = self._found.get(name)
        if model is None or model.stamp != stamp:
            model = find_model(name)
        if model.stamp != stamp:
            raise EmbedderFailed(
                f"The embedding model {name} is another than the one that was indexed with; "
                "notes are found by meaning again once the index is up to date."
            )
        return self.get(model)

    def find_chosen_or_used(
        self, name: str, catalog: Catalog
    ) -> tuple[Embedder, EmbedderFailed | None]:
        """Return the chosen embedder, or the one used so far with the reason for that.

        Args:
            name: a value of the setting `embedding.model`.
            catalog: holds the vectors of the embedder used so far.
        """
        try:
            return self.find_chosen(name), None
        except EmbedderFailed as error:
            return self.find_named(*read_used_model(catalog)), error

    def begin_query(self, catalog: Catalog, text: str) -> "Callable[[], Vectors]":
        """Begin to embed a query with the model of the vectors that it is compared with.

        Raises:
            EmbedderFailed: that model cannot be used.
        """
        return self.find_named(*read_used_model(catalog)).begin_query(text)

    @property
    def pids(self) -> tuple[int | None, ...]:
        """The process ids of the embedders that run."""
        with self._lock:
            return tuple(embedder.pid for embedder in self._by_stamp.values())

    def close(self) -> None:
        """End all embedders but the shared one."""
        with self._lock:
            ours = [one for one in self._by_stamp.values() if one is not self._shared]
        for embedder in ours:
            embedder.close()
