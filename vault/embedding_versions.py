"""Switch between embedding models, keeping the vectors of up to two models.

When the user chooses another model, its vectors are written to a spare table while searches still
use the old ones. Once every text has a new vector, the tables are swapped. The old vectors are
kept, so that switching back only requires embedding new texts. A third model replaces the spare
vectors.
"""

import threading
from collections.abc import Callable, Sequence
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
    """Return the name and the stamp of the model that computed the stored vectors."""
    keys = (_USED_NAME, _USED)
    rows = catalog.rows("SELECT key, value FROM meta WHERE key IN (?, ?)", keys)
    found: dict[str, str] = dict(rows)
    return found.get(_USED_NAME, MODEL_NAME), found.get(_USED, EMBEDDER)


def choose_vector_table(catalog: Catalog, model: EmbeddingModel) -> VectorTable:
    """Return the table for a model's vectors.

    If the spare table contains the vectors of another model, it is cleared first.
    """
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
    """Swap the active and the spare vector tables, so that searches use the other model."""
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
    """The embedders of an index, one per model. Thread-safe.

    There are two embedders while the vectors for a new model are computed, because searches still
    use the vectors of the old model.
    """

    def __init__(self, shared: Embedder | None = None, cache_dir: Path | None = None):
        """Create the object. No process is started yet.

        Args:
            shared: an embedder of the packaged model, which `close` does not close.
            cache_dir: the folder for caching each model's fastest precision and ONNX form.
        """
        self._cache_dir = cache_dir
        self._lock = threading.Lock()
        self._shared = shared
        self._by_stamp = {} if shared is None else {PACKAGED.stamp: shared}
        self._found: dict[str, EmbeddingModel] = {PACKAGED.name: PACKAGED}

    def get(self, model: EmbeddingModel) -> Embedder:
        """Return a model's embedder, creating it if needed."""
        with self._lock:
            self._found[model.name] = model
            if model.stamp not in self._by_stamp:
                self._by_stamp[model.stamp] = Embedder(model, cache_dir=self._cache_dir)
            return self._by_stamp[model.stamp]

    def find_chosen(self, name: str) -> Embedder:
        """Return the embedder for the setting `embedding.model`.

        Raises:
            EmbedderFailed: the model is not on this computer.
        """
        return self.get(find_model(name))

    def find_named(self, name: str, stamp: str) -> Embedder:
        """Return the embedder of the model that computed the stored vectors.

        Args:
            name: the model's name in the catalog.
            stamp: the hash of the model's files in the catalog.

        Raises:
            EmbedderFailed: the model is no longer on this computer, or its files have changed.
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
        """Return the embedder of the model that is chosen in the settings.

        If this model cannot be used, return the embedder of the stored vectors, and the error.

        Args:
            name: the value of the setting `embedding.model`.
            catalog: the catalog with the stored vectors and the name of their model.

        Raises:
            EmbedderFailed: neither model can be used.
        """
        try:
            return self.find_chosen(name), None
        except EmbedderFailed as error:
            return self.find_named(*read_used_model(catalog)), error

    def begin_query(self, catalog: Catalog, text: str) -> "Callable[[], Vectors | None]":
        """Start embedding a query with the model that computed the stored vectors.

        Returns:
            A function that waits for the vector. If no vectors are stored, the model is not loaded,
            and the function returns None.

        Raises:
            EmbedderFailed: the model cannot be used.
        """
        if not catalog.rows("SELECT 1 FROM vectors LIMIT 1"):
            return lambda: None
        return self.find_named(*read_used_model(catalog)).begin_query(text)

    def measure_cosines(
        self, catalog: Catalog, query: str, texts: Sequence[str]
    ) -> Sequence[float]:
        """Return the cosine similarity of a query and each of a few short texts.

        The texts need not be indexed. The result is empty if no vectors are stored yet, because the
        model is not loaded just for this comparison.

        Raises:
            EmbedderFailed: the model cannot be used.
        """
        if not catalog.rows("SELECT 1 FROM vectors LIMIT 1"):
            return ()
        return self.find_named(*read_used_model(catalog)).measure_cosines(query, texts)

    @property
    def pids(self) -> tuple[int | None, ...]:
        """The process ids of the embedders, with None for each one that is not running."""
        with self._lock:
            return tuple(embedder.pid for embedder in self._by_stamp.values())

    def close(self) -> None:
        """Stop all embedders except the one that was passed as `shared`."""
        with self._lock:
            ours = [one for one in self._by_stamp.values() if one is not self._shared]
        for embedder in ours:
            embedder.close()
