"""List the models that the user can choose, with their limits; build the options of the index.

Keys are read from the keyring when they are needed, and are not kept in memory.
"""

import json
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from app.config import secrets
from app.config.settings import Settings
from app.durable import write_atomically
from app.paths import make_private_folder
from chains.errors import LedgerFailed
from chains.ledger import LedgerPort, OutgoingCall
from chains.llm.http import is_loopback, parse_host
from chains.llm.server import ServedModel, find_local_servers, list_served_models
from chains.models import EXTRACTIVE, describe
from vault.errors import VectorStoreFailed
from vault.options import IndexOptions, RecordCall, VectorServer

__all__ = ["LearnedLimits", "ModelChoice", "index_options", "model_choices"]

_log = logging.getLogger(__name__)
MOST_MODELS: Final = 200
_MILLION: Final = 1_000_000
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
        is_local: whether the model runs on this computer.
        input_price: dollars per token of the prompt, or None if unknown.
        output_price: dollars per token of the answer, or None if unknown.
        takes_tools: whether the model can call tools, or None if unknown.
        sees: whether the model accepts images, or None if unknown.
    """

    name: str
    label: str
    where: str
    input_limit: int | None
    is_set: bool
    is_local: bool = True
    input_price: float | None = None
    output_price: float | None = None
    takes_tools: bool | None = None
    sees: bool | None = None

    @property
    def summary(self) -> str:
        """The known properties in words: context length, price, abilities, and where it runs."""
        parts = []
        if self.input_limit is not None:
            parts.append(f"{self.input_limit:,} tokens")
        if self.input_price is not None and self.output_price is not None:
            into, out = self.input_price * _MILLION, self.output_price * _MILLION
            parts.append(f"${into:,.2f} in, ${out:,.2f} out per million")
        parts += [word for word, has in (("tools", self.takes_tools), ("images", self.sees)) if has]
        return " · ".join((*parts, self.where))

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as JSON, with prices in dollars per million tokens."""
        prices = self.input_price, self.output_price
        into, out = (None if one is None else round(one * _MILLION, 6) for one in prices)
        return {
            "name": self.name,
            "where": self.where,
            "local": self.is_local,
            "context": self.input_limit,
            "input_price": into,
            "output_price": out,
            "tools": self.takes_tools,
            "vision": self.sees,
            "set": self.is_set,
        }


def model_choices(
    values: Settings, ledger: LedgerPort, limits: "LearnedLimits"
) -> tuple[ModelChoice, ...]:
    """Return the choices: no model, the model that is set, and the models of servers.

    The server at `chat.apiBase` is asked for its models. Without that setting the usual servers on
    this computer are asked, each for at most two seconds.

    Raises:
        LedgerFailed: a request to a server could not be recorded, so it was not sent.
    """
    served = _list_served(values, ledger)
    names = dict.fromkeys((EXTRACTIVE, values.chat_model, *served))
    return tuple(_choice(name, values, served.get(name), limits) for name in names)


def _list_served(values: Settings, ledger: LedgerPort) -> dict[str, ServedModel]:
    """Return the models of servers by their names for the setting `chat.model`."""
    base = values.chat_api_base
    if not base:
        found = find_local_servers(ledger)
        return {f"{one.provider}/{model.name}": model for one in found for model in one.models}
    # The kind of server does not depend on the model, so any name without a prefix works.
    server = describe("any", base)
    if values.privacy_offline and not server.is_local:
        return {}
    key = None if server.key_provider is None else secrets.key_for(server.key_provider)
    return {model.name: model for model in list_served_models(base, key, ledger)}


def _choice(
    name: str, values: Settings, served: ServedModel | None, limits: "LearnedLimits"
) -> ModelChoice:
    info = describe(name, values.chat_api_base, local_context=values.chat_local_context)
    limit, reported = info.input_limit, info.reported_limit
    if served is not None and served.input_limit is not None:
        limit = reported = served.input_limit
    tools, sees = info.takes_tools, info.sees
    if served is not None:
        tools = tools if served.takes_tools is None else served.takes_tools
        sees = sees if served.sees is None else served.sees
    return ModelChoice(
        name=name,
        label="No model: quoted passages" if name == EXTRACTIVE else name,
        where="this computer" if info.is_local else info.host,
        input_limit=limits.find(info.limit_owner, reported) or limit,
        is_set=name == values.chat_model,
        is_local=info.is_local,
        input_price=info.input_price,
        output_price=info.output_price,
        takes_tools=tools,
        sees=sees,
    )


class LearnedLimits:
    """The context lengths that services named when they refused a request as too long.

    A server that does not report its context length is asked too much once, and never again. The
    small JSON file can be deleted: limits are then learned anew. Another process may replace it, so
    it is read for each use. The class is safe to use from several threads.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def find(self, owner: str, reported: int | None) -> int | None:
        """Return the learned limit of a model, or None, as `LimitsPort` describes."""
        if not owner:
            return None
        entry = self._read().get(owner)
        if not isinstance(entry, dict) or entry.get("reported") != reported:
            return None
        limit = entry.get("limit")
        return limit if isinstance(limit, int) and limit > 0 else None

    def learn(self, owner: str, limit: int, reported: int | None) -> None:
        """Remember a limit; a failure to store it is logged, since the turn goes on without it."""
        with self._lock:
            known = self._read()
            known.pop(owner, None)
            known[owner] = {"limit": limit, "reported": reported}
            newest = dict(list(known.items())[-MOST_MODELS:])
            try:
                make_private_folder(self._path.parent)
                write_atomically(self._path, json.dumps(newest, indent=2).encode())
            except OSError as error:
                _log.warning("The limit of a model could not be stored: %s", error)

    def _read(self) -> dict[str, Any]:
        """Return the stored limits; a file that cannot be read counts as empty."""
        try:
            found = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            _log.warning("The learned limits cannot be read: %s", error)
            return {}
        return found if isinstance(found, dict) else {}


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
