"""Two generations of vectors: those that searches use, and a spare beside them.

When another embedding model is chosen, its vectors are gathered in the spare while searches go on
with the old ones. Once they are complete, both change places in one transaction. The old ones are
the spare from then on, so that going back costs only what is new since; a third model takes it.
"""

from vault.catalog import Catalog, VectorTable
from vault.embedding.model_card import EMBEDDER, MODEL_NAME
from vault.embedding.models import EmbeddingModel

__all__ = ["switch", "table_of", "used_model"]

_USED, _USED_NAME = "embedder", "embedder_name"
_SPARE, _SPARE_NAME = "spare_embedder", "spare_embedder_name"


def used_model(catalog: Catalog) -> tuple[str, str]:
    """Tell name and stamp of the model whose vectors searches use."""
    keys = (_USED_NAME, _USED)
    rows = catalog.rows("SELECT key, value FROM meta WHERE key IN (?, ?)", keys)
    found: dict[str, str] = dict(rows)
    return found.get(_USED_NAME, MODEL_NAME), found.get(_USED, EMBEDDER)


def table_of(catalog: Catalog, model: EmbeddingModel) -> VectorTable:
    """Give the place for a model's vectors; a spare of another one is thrown away for it."""
    if used_model(catalog)[1] == model.stamp:
        return "vectors"
    with catalog.transaction():
        if not catalog.rows("SELECT 1 FROM vectors LIMIT 1"):
            _stamp(catalog, _USED, _USED_NAME, model)
            return "vectors"
        if catalog.meta(_SPARE) != model.stamp:
            catalog.run("DELETE FROM spare_vectors")
            _stamp(catalog, _SPARE, _SPARE_NAME, model)
    return "spare_vectors"


def switch(catalog: Catalog) -> None:
    """Let searches use the spare, and keep what they used as the spare."""
    with catalog.transaction():
        catalog.run("ALTER TABLE vectors RENAME TO former_vectors")
        catalog.run("ALTER TABLE spare_vectors RENAME TO vectors")
        catalog.run("ALTER TABLE former_vectors RENAME TO spare_vectors")
        name, stamp = used_model(catalog)
        for used, spare, former in ((_USED, _SPARE, stamp), (_USED_NAME, _SPARE_NAME, name)):
            catalog.set_meta(used, catalog.meta(spare) or "")
            catalog.set_meta(spare, former)
        catalog.tell_that_vectors_went()


def _stamp(catalog: Catalog, stamp: str, name: str, model: EmbeddingModel) -> None:
    catalog.set_meta(stamp, model.stamp)
    catalog.set_meta(name, model.name)
