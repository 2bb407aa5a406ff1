"""What the settings say of the index: which model embeds, and where its vectors are searched."""

from pathlib import Path

from app.config.schema import Settings
from app.config.secrets import key_for
from chains.llm.http import host_of, is_loopback
from vault.options import IndexOptions, VectorServer

__all__ = ["index_options"]

_PROVIDER = "chroma"


def index_options(values: Settings) -> IndexOptions:
    """Return what the settings choose for the index; a server's key is looked up."""
    url, model = values.vector_store_url, values.retrieval_rerank_model
    folder = str(Path(model).expanduser()) if model else ""
    reranker = folder if values.retrieval_rerank else None
    if not url:
        return IndexOptions(values.embedding_model, reranker=reranker)
    server = VectorServer(
        url,
        token=key_for(_PROVIDER) or "",
        is_refused=values.privacy_offline and not is_loopback(host_of(url)),
    )
    return IndexOptions(values.embedding_model, server, reranker)
