"""What the settings say of the index: which model embeds, and where its vectors are searched."""

from app.secrets import key_for
from app.settings import Settings
from chains.wire import host_of, is_loopback
from vault.options import IndexOptions, VectorServer

__all__ = ["index_options"]

_PROVIDER = "chroma"


def index_options(values: Settings) -> IndexOptions:
    """Return what the settings choose for the index; a server's key is looked up."""
    url = values.vector_store_url
    if not url:
        return IndexOptions(values.embedding_model)
    server = VectorServer(
        url,
        token=key_for(_PROVIDER) or "",
        is_refused=values.privacy_offline and not is_loopback(host_of(url)),
    )
    return IndexOptions(values.embedding_model, server)
