"""Models as the settings choose them: those that answer, and those of the index.

A server's key is looked up where it is needed, and not kept.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.config import secrets
from app.config.schema import Settings
from chains.llm.http import is_loopback, parse_host
from chains.models import EXTRACTIVE, describe, list_served_models
from vault.options import IndexOptions, VectorServer

__all__ = ["ModelChoice", "index_options", "model_choices"]

_VECTOR_SERVER: Final = "chroma"  # the name its key is kept under


@dataclass(frozen=True)
class ModelChoice:
    """A model that can be chosen.

    Attributes:
        name: as in the setting `chat.model`.
        where: "this computer", or the host that text goes to.
        input_limit: tokens it takes; None where that is not known.
        is_set: whether it is the one in the settings.
    """

    name: str
    label: str
    where: str
    input_limit: int | None
    is_set: bool


def model_choices(values: Settings) -> tuple[ModelChoice, ...]:
    """Return no model at all, the one that is set, and those that the user's server offers."""
    names = (EXTRACTIVE, values.chat_model, *_list_served(values))
    return tuple(_choice(name, values) for name in dict.fromkeys(names))


def _list_served(values: Settings) -> tuple[str, ...]:
    base = values.chat_api_base
    # What kind of server it is does not depend on the name; any without a prefix will do.
    server = describe("any", base)
    if not base or (values.privacy_offline and not server.is_local):
        return ()
    key = None if server.key_provider is None else secrets.key_for(server.key_provider)
    return tuple(model.name for model in list_served_models(base, key))


def _choice(name: str, values: Settings) -> ModelChoice:
    info = describe(name, values.chat_api_base, local_context=values.chat_local_context)
    return ModelChoice(
        name=name,
        label="No model: quoted passages" if name == EXTRACTIVE else name,
        where="this computer" if info.is_local else info.host,
        input_limit=info.input_limit,
        is_set=name == values.chat_model,
    )


def index_options(values: Settings) -> IndexOptions:
    """Return the models and the vector store that the settings choose for the index.

    With `privacy.offline`, a vector store on another computer is refused.
    """
    url, model = values.vector_store_url, values.retrieval_rerank_model
    folder = str(Path(model).expanduser()) if model else ""
    reranker = folder if values.retrieval_rerank else None
    if not url:
        return IndexOptions(values.embedding_model, reranker=reranker)
    server = VectorServer(
        url,
        token=secrets.key_for(_VECTOR_SERVER) or "",
        is_refused=values.privacy_offline and not is_loopback(parse_host(url)),
    )
    return IndexOptions(values.embedding_model, server, reranker)
