"""List the models that the user can choose, with their limits; build the options of the index.

API keys are read from the keyring or the environment when they are needed, and not kept here.
"""

import json
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from app.config import secrets
from app.config.settings import Settings
from app.durable import write_atomically
from app.paths import make_private_folder
from chains.errors import LedgerFailed
from chains.gguf.file import find_path
from chains.gguf.memory import format_size
from chains.ledger import LedgerPort, OutgoingCall
from chains.llm.http import is_loopback, parse_host, parse_place
from chains.llm.server import ServedModel, find_local_servers, list_served_models
from chains.models import EXTRACTIVE, describe
from vault.errors import VectorStoreFailed
from vault.options import IndexOptions, RecordCall, VectorServer

__all__ = [
    "FoundServer",
    "LearnedLimits",
    "ModelChoice",
    "describe_choice",
    "describe_file_choice",
    "find_servers",
    "index_options",
    "list_models_at",
    "model_choices",
]

_log = logging.getLogger(__name__)
MOST_MODELS: Final = 200
_MILLION: Final = 1_000_000
_VECTOR_SERVER: Final = "chroma"  # the owner of its key in the keyring
_SERVER_NAMES: Final = {
    "ollama": "Ollama",
    "lm_studio": "LM Studio",
    "llamafile": "llama.cpp",
    "hosted_vllm": "vLLM",
}


@dataclass(frozen=True)
class ModelChoice:
    """A model that the user can choose.

    Attributes:
        name: the name for the setting `chat.model`.
        label: the name to show.
        where: "this computer", or the host that requests are sent to.
        input_limit: the maximum number of tokens in a request, or None if unknown.
        is_set: whether the model is the one in the settings.
        is_local: whether the model runs on this computer.
        input_price: dollars per token of the prompt, or None if unknown.
        output_price: dollars per token of the answer, or None if unknown.
        takes_tools: whether the model can call tools, or None if unknown.
        sees: whether the model accepts images, or None if unknown.
        memory_bytes: the memory that a model file needs, or None for other models, or if unknown.
        longest_context: the maximum number of tokens that a model file is designed for, or None for
            other models, or if unknown.
        problem: why the model file cannot be used, or an empty string if it can be used, and for
            other models.
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
    memory_bytes: int | None = None
    longest_context: int | None = None
    problem: str = ""

    @property
    def summary(self) -> str:
        """The model's known properties in words: limits, price, abilities, and where it runs."""
        if self.problem:
            return self.problem
        parts = []
        if self.input_limit is not None:
            longest = self.longest_context or 0
            more = f" of {longest:,}" if longest > self.input_limit else ""
            parts.append(f"{self.input_limit:,}{more} tokens")
        if self.memory_bytes is not None:
            parts.append(f"{format_size(self.memory_bytes)} of memory")
        if self.input_price is not None and self.output_price is not None:
            into, out = self.input_price * _MILLION, self.output_price * _MILLION
            parts.append(f"${into:,.2f} in, ${out:,.2f} out per million")
        parts += [word for word, has in (("tools", self.takes_tools), ("images", self.sees)) if has]
        return " · ".join((*parts, self.where))

    def to_dict(self) -> dict[str, Any]:
        """Return the model as a JSON object, with prices in dollars per million tokens."""
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
            "memory_bytes": self.memory_bytes,
            "problem": self.problem or None,
            "set": self.is_set,
        }


@dataclass(frozen=True)
class FoundServer:
    """A model server that answered.

    Attributes:
        name: the name to show, such as "Ollama"; for the server at `chat.apiBase`, its host.
        api_base: the value of `chat.apiBase` for this server, or an empty string if it has its
            usual address.
        models: the models that it offers.
    """

    name: str
    api_base: str
    models: tuple[ModelChoice, ...]

    @property
    def is_local(self) -> bool:
        """Whether the server runs on this computer."""
        return all(model.is_local for model in self.models)


def find_servers(
    values: Settings, ledger: LedgerPort, limits: "LearnedLimits"
) -> tuple[FoundServer, ...]:
    """Find model servers at the usual addresses on this computer and at `chat.apiBase`.

    Raises:
        LedgerFailed: a request to a server could not be recorded, so it was not sent.
    """
    bare = values.model_copy(update={"chat_api_base": ""})
    found = [
        FoundServer(
            _SERVER_NAMES.get(server.provider, server.provider),
            "",
            tuple(
                _choice(f"{server.provider}/{model.name}", bare, model, limits)
                for model in server.models
            ),
        )
        for server in find_local_servers(ledger)
    ]
    base = values.chat_api_base
    models = list_models_at(base, None, values, ledger, limits) if base else ()
    if models:
        found.append(FoundServer(parse_place(base) or base, base, models))
    return tuple(found)


def list_models_at(
    base: str, key: str | None, values: Settings, ledger: LedgerPort, limits: "LearnedLimits"
) -> tuple[ModelChoice, ...]:
    """Return the models of the server at an address, or an empty tuple if it does not answer.

    Args:
        base: the address.
        key: the API key to send; None means the stored key for the address.
        values: the settings. With `privacy.offline`, only servers on this computer are asked.
        ledger: records the requests.
        limits: the context lengths that services reported in their errors.
    """
    there = values.model_copy(update={"chat_api_base": base})
    server = describe("any", base)  # the kind of server does not depend on the model
    if values.privacy_offline and not server.is_local:
        return ()
    if key is None and server.key_provider is not None:
        key = secrets.key_for(server.key_provider)
    return tuple(
        _choice(model.name, there, model, limits) for model in list_served_models(base, key, ledger)
    )


def model_choices(
    values: Settings, ledger: LedgerPort, limits: "LearnedLimits", files: Sequence[str] = ()
) -> tuple[ModelChoice, ...]:
    """Return the models to choose from: none, the one that is set, model files, models of servers.

    The server at `chat.apiBase` is asked for its models. Without that setting, the usual servers on
    this computer are asked, each for at most two seconds.

    Args:
        values: the settings.
        ledger: records the requests.
        limits: the context lengths that services reported in their errors.
        files: the names of the model files that the user opened.

    Raises:
        LedgerFailed: a request to a server could not be recorded, so it was not sent.
    """
    served = _list_served(values, ledger)
    names = dict.fromkeys((EXTRACTIVE, values.chat_model, *files, *served))
    return tuple(_choice(name, values, served.get(name), limits) for name in names)


def _list_served(values: Settings, ledger: LedgerPort) -> dict[str, ServedModel]:
    """Map the names of servers' models, as in the setting `chat.model`, to the models."""
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


def describe_choice(name: str, limits: "LearnedLimits") -> ModelChoice:
    """Return a service's model with its properties, without sending a request to the service."""
    return _choice(name, Settings(), None, limits)


def describe_file_choice(name: str, values: Settings) -> ModelChoice:
    """Describe the model in a model file, with the properties that the file's header states."""
    info = describe(name, local_context=values.chat_local_context)
    file, limit, path = info.file, info.input_limit, find_path(name)
    return ModelChoice(
        name=name,
        label=file.name if file else path.stem if path else name,
        where="this computer",
        input_limit=limit,
        is_set=name == values.chat_model,
        takes_tools=info.takes_tools,
        sees=info.sees,
        memory_bytes=file.count_needed_bytes(limit) if file and limit else None,
        longest_context=file.context_length if file else None,
        problem=info.problem,
    )


def _choice(
    name: str, values: Settings, served: ServedModel | None, limits: "LearnedLimits"
) -> ModelChoice:
    if find_path(name) is not None:
        return describe_file_choice(name, values)
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
        label=_find_label(name),
        where="this computer" if info.is_local else info.host,
        input_limit=limits.find(info.limit_owner, reported) or limit,
        is_set=name == values.chat_model,
        is_local=info.is_local,
        input_price=info.input_price,
        output_price=info.output_price,
        takes_tools=tools,
        sees=sees,
    )


def _find_label(name: str) -> str:
    """Return the name to show for a model. llama.cpp reports a path. Its file's stem is shown."""
    if name == EXTRACTIVE:
        return "No model: quoted passages"
    return name.rpartition("/")[2].removesuffix(".gguf") if name.endswith(".gguf") else name


class LearnedLimits:
    """The context lengths that services reported when they refused a request as too long.

    Because of these limits, a server that does not report its context length in advance gets an
    overlong request only once. The limits are stored in a small JSON file. If it is deleted, they
    are learned again. The file is read for each use, since another process may replace it. The
    class is thread-safe.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def find(self, owner: str, reported: int | None) -> int | None:
        """Return a model's learned limit, or None if none applies; see `LimitsPort`."""
        if not owner:
            return None
        entry = self._read().get(owner)
        if not isinstance(entry, dict) or entry.get("reported") != reported:
            return None
        limit = entry.get("limit")
        return limit if isinstance(limit, int) and limit > 0 else None

    def learn(self, owner: str, limit: int, reported: int | None) -> None:
        """Store a model's limit. A failure is only logged, since the turn can continue."""
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
        """Return the stored limits.

        Returns an empty mapping if the file is missing or cannot be read.
        """
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
        ledger: records each call to the vector server. If None, calls are not recorded.
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
