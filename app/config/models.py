"""List the models that the user can choose, and build the options of the index from settings.

Keys are read from the keyring when they are needed, and are not kept in memory.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.config import secrets
from app.config.settings import Settings
from chains.errors import LedgerFailed
from chains.ledger import LedgerPort, OutgoingCall
from chains.llm.http import is_loopback, parse_host
from chains.llm.server import list_served_models
from chains.models import EXTRACTIVE, describe
from vault.errors import VectorStoreFailed
from vault.options import IndexOptions, RecordCall, VectorServer

__all__ = ["ModelChoice", "index_options", "model_choices"]

_VECTOR_SERVER: Final = "chroma"  # the owner of its key in the keyring


@dataclass(frozen=True)
class ModelChoice:
    """A model that the user can choose.

    Attributes:
        name: the name for the setting `chat.model`.
        label: the name to show.
        where: "this computer", or the host that requests are sent to.
        input_limit: the maximum tokens of a request, or None if unknown.
        is_set: whether the model is the one in the settings.
    """

    name: str
    label: str
    where: str
    input_limit: int | None
    is_set: bool


def model_choices(values: Settings, ledger: LedgerPort | None = None) -> tuple[ModelChoice, ...]:
    """Return the choices: no model, the model that is set, and the models of the user's server."""
    names = (EXTRACTIVE, values.chat_model, *_list_served(values, ledger))
    return tuple(_choice(name, values) for name in dict.fromkeys(names))


def _list_served(values: Settings, ledger: LedgerPort | None) -> tuple[str, ...]:
    base = values.chat_api_base
    # The kind of server does not depend on the model, so any name without a prefix works.
    server = describe("any", base)
    if not base or (values.privacy_offline and not server.is_local):
        return ()
    key = None if server.key_provider is None else secrets.key_for(server.key_provider)
    return tuple(model.name for model in list_served_models(base, key, ledger))


def _choice(name: str, values: Settings) -> ModelChoice:
    info = describe(name, values.chat_api_base, local_context=values.chat_local_context)
    return ModelChoice(
        name=name,
        label="No model: quoted passages" if name == EXTRACTIVE else name,
        where="this computer" if info.is_local else info.host,
        input_limit=info.input_limit,
        is_set=name == values.chat_model,
    )


def index_options(values: Settings, ledger: LedgerPort | None = None) -> IndexOptions:
    """Return the options of the index: embedding model, vector server and reranker.

    With `privacy.offline`, a vector server on another computer is refused.

    Args:
        values: the settings.
        ledger: records each call to the vector server.
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
        record=None if ledger is None else _build_recorder(ledger, parse_host(url)),
    )
    return IndexOptions(values.embedding_model, server, reranker)


def _build_recorder(ledger: LedgerPort, host: str) -> RecordCall:
    def record(bytes_out: int) -> Callable[[int], None]:
        try:
            return ledger.record(OutgoingCall("vectorstore", host, bytes_out)).finish
        except LedgerFailed as error:
            raise VectorStoreFailed(f"{error} Search goes on without it.") from error

    return record
