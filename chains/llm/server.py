"""Query model servers, and find servers on this computer."""

import json
import socket
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from chains.ledger import LedgerPort, NoLedger
from chains.llm.server_queries import ServerProblem, ServerQueries, ServerQuery, ServerResponse
from chains.llm.urls import find_ollama_root, is_loopback, is_nearby, parse_host, split_query

__all__ = [
    "LOCAL_SERVERS",
    "MOST_CONTEXT_TOKENS",
    "Abilities",
    "LocalServer",
    "ModelList",
    "ServedModel",
    "ask_abilities",
    "ask_context_length",
    "find_local_servers",
    "find_server_kind",
    "list_served_models",
]

CONNECT_TIMEOUT_S: Final = 0.5
# The default addresses of Ollama, LM Studio, llama.cpp and vLLM, by the provider's name in litellm.
LOCAL_SERVERS: Mapping[str, str] = {
    "ollama": "http://127.0.0.1:11434",
    "lm_studio": "http://127.0.0.1:1234/v1",
    "llamafile": "http://127.0.0.1:8080/v1",
    "hosted_vllm": "http://127.0.0.1:8000/v1",
}
_LIMIT_FIELDS: Final = (
    "max_model_len",
    "loaded_context_length",
    "context_length",
    "context_window",
    "max_context_length",
    "max_context_window_tokens",
    "inputTokenLimit",
)
# The objects within a model's entry that may have the limit too. The provider that answers may
# have a smaller one than the model.
_LIMIT_PLACES: Final = (("top_provider",), ("capabilities", "limits"))
# More tokens than the context of any model, so a larger number is no limit.
MOST_CONTEXT_TOKENS: Final = 50_000_000
# The fields of a list of models, and of the name in an entry, in the order of preference.
_LIST_FIELDS: Final = ("data", "models", "result")
_NAME_FIELDS: Final = ("id", "name", "model")
MOST_NAME_CHARS: Final = 300


@dataclass(frozen=True)
class Abilities:
    """What a server says that a model can do.

    Attributes:
        takes_tools: whether the model can call tools, or None if the server does not say.
        sees: whether the model accepts images, or None if the server does not say.
    """

    takes_tools: bool | None = None
    sees: bool | None = None


@dataclass(frozen=True)
class ServedModel:
    """A model that a server offers.

    Attributes:
        input_limit: the context length reported by the server, or None.
    """

    name: str
    input_limit: int | None
    abilities: Abilities = Abilities()


@dataclass(frozen=True)
class ModelList:
    """The models of a server.

    Attributes:
        models: the models. The tuple is empty if there is a problem.
        problem: why the server lists no models, or an empty string.
    """

    models: tuple[ServedModel, ...] = ()
    problem: ServerProblem = ""


@dataclass(frozen=True)
class LocalServer:
    """A model server on this computer.

    Attributes:
        provider: the provider's name in litellm, which prefixes the model names.
        api_base: the base address of the API.
        models: the available models.
    """

    provider: str
    api_base: str
    models: tuple[ServedModel, ...]


def list_served_models(
    api_base: str,
    key: str | None = None,
    ledger: LedgerPort | None = None,
    *,
    is_fresh: bool = False,
) -> ModelList:
    """List the models of an Ollama or OpenAI-compatible server.

    Args:
        api_base: the base address of the API.
        key: the API key of the server, or None.
        ledger: records the requests, or None to record nothing.
        is_fresh: whether to ask the server even if its answer is known.

    Raises:
        LedgerFailed: a request could not be recorded, so it was not sent.
    """
    base, query = split_query(api_base)
    place = _Place(base.rstrip("/"), key, ledger or NoLedger(), is_fresh, query)
    kind = place.find_kind()
    if kind == "silent":
        return ModelList(problem="silent")
    if kind == "ollama":
        response = place.get(f"{place.root}/api/tags")
        named = _read_models(response.data)
        return ModelList(tuple(ServedModel(name, None) for name in named))
    response = place.get(f"{place.base}/models")
    models = tuple(
        ServedModel(name, _read_limit(entry), _read_abilities(entry))
        for name, entry in _read_models(response.data).items()
    )
    if any(model.input_limit is None for model in models) and is_nearby(parse_host(place.base)):
        models = tuple(_complete_limits(models, place))
    return ModelList(models, response.problem)


def ask_context_length(
    root: str, model: str, key: str | None, ledger: LedgerPort | None = None
) -> int | None:
    """Return the context length of an Ollama model, or None if it is unknown.

    Args:
        root: the base address of the Ollama server.
        model: the name of the model on the server.
        key: the API key of the server, or None.
        ledger: records the request, or None to record nothing.
    """
    info = _describe_ollama_model(root, model, key, ledger).get("model_info")
    found = info.items() if isinstance(info, dict) else ()
    lengths = (value for name, value in found if name.endswith(".context_length"))
    return next((n for n in lengths if isinstance(n, int) and n > 0), None)


def ask_abilities(
    root: str, model: str, key: str | None, ledger: LedgerPort | None = None
) -> Abilities:
    """Ask an Ollama server what a model can do.

    The parameters are the same as for `ask_context_length`.
    """
    return _read_abilities(_describe_ollama_model(root, model, key, ledger))


def find_server_kind(
    api_base: str, ledger: LedgerPort | None = None
) -> Literal["ollama", "other", "silent"]:
    """Return whether an address is an Ollama server, another one, or does not respond.

    No key is sent.
    """
    return _Place(api_base, None, ledger or NoLedger()).find_kind()


def find_local_servers(
    ledger: LedgerPort, addresses: Mapping[str, str] | None = None, *, is_fresh: bool = False
) -> tuple[LocalServer, ...]:
    """Find the model servers on this computer, and list their models.

    Servers are queried in parallel with GET requests, without a key. Nothing is sent to ports that
    are closed.

    Args:
        ledger: records the requests.
        addresses: the addresses to try by provider, or None for the usual ones. Addresses of other
            computers are skipped.
        is_fresh: whether to ask the servers even if their answers are known.
    """
    tried = (LOCAL_SERVERS if addresses is None else addresses).items()
    wanted = [(name, base) for name, base in tried if is_loopback(parse_host(base))]
    with ThreadPoolExecutor(max(1, len(wanted)), "find-server") as pool:
        found = pool.map(lambda place: _find_server(place[0], place[1], ledger, is_fresh), wanted)
        return tuple(server for server in found if server is not None)


def _find_server(
    provider: str, base: str, ledger: LedgerPort, is_fresh: bool
) -> LocalServer | None:
    if not _is_listening(base):
        return None
    models = list_served_models(base, None, ledger, is_fresh=is_fresh).models
    return LocalServer(provider, base, models) if models else None


def _is_listening(base: str) -> bool:
    place = base.split("://", 1)[-1].split("/", 1)[0]
    host, _, port = place.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_TIMEOUT_S).close()
    except (OSError, ValueError):
        return False
    return True


_queries: Final = ServerQueries()


@dataclass(frozen=True)
class _Place:
    """A server to query.

    Attributes:
        base: the base address of the API.
        key: the API key of the server, or None.
        ledger: records the requests.
        is_fresh: whether to ask the server even if its answer is known.
        query: the query that belongs to each address, or an empty string.
    """

    base: str
    key: str | None
    ledger: LedgerPort
    is_fresh: bool = False
    query: str = ""

    @property
    def root(self) -> str:
        """The address of the server without the path of the API."""
        return find_ollama_root(self.base)

    def get(self, address: str) -> ServerResponse:
        """Query a page of the server, with the key."""
        whole = f"{address}?{self.query}" if self.query else address
        query = ServerQuery("GET", whole, self.key)
        return _queries.send(query, self.ledger, is_fresh=self.is_fresh)

    def find_kind(self) -> Literal["ollama", "other", "silent"]:
        """Return whether this is an Ollama server, another one, or does not respond."""
        query = ServerQuery("GET", f"{self.root}/api/version")
        response = _queries.send(query, self.ledger, is_fresh=self.is_fresh)
        if response.problem == "silent":
            return "silent"
        return "ollama" if isinstance(response.fields.get("version"), str) else "other"


def _describe_ollama_model(
    root: str, model: str, key: str | None, ledger: LedgerPort | None
) -> Mapping[str, Any]:
    """Return the description of an Ollama model, or an empty mapping if there is none.

    The parameters are the same as for `ask_context_length`.
    """
    query = ServerQuery("POST", f"{root}/api/show", key, json.dumps({"model": model}))
    return _queries.send(query, ledger or NoLedger()).fields


def _complete_limits(models: tuple[ServedModel, ...], place: _Place) -> Iterator[ServedModel]:
    """Yield the models with the properties that LM Studio or llama.cpp report elsewhere."""
    pages = place.get(f"{place.root}/api/v0/models")
    found = {str(entry.get("id")): entry for entry in _list_entries(pages, "data")}
    slots = place.get(f"{place.root}/props") if not found and len(models) == 1 else None
    for model in models:
        entry = found.get(model.name, {})
        known, more = model.abilities, _read_abilities(entry)
        limit = _read_limit(entry) if slots is None else _read_slot_length(slots.fields)
        yield replace(
            model,
            input_limit=model.input_limit or limit,
            abilities=Abilities(
                more.takes_tools if known.takes_tools is None else known.takes_tools,
                more.sees if known.sees is None else known.sees,
            ),
        )


def _read_slot_length(page: Mapping[str, Any]) -> int | None:
    """Return the context length of llama.cpp's slots, or None if the page does not have it."""
    settings = page.get("default_generation_settings")
    return _find_limit(settings, ("n_ctx",))


def _list_entries(response: ServerResponse, name: str) -> list[Mapping[str, Any]]:
    listed = response.fields.get(name)
    entries = listed if isinstance(listed, list) else []
    return [entry for entry in entries if isinstance(entry, dict)]


def _read_models(page: Any) -> dict[str, Mapping[str, Any]]:
    """Return the entries of a list of models by name, in order.

    Some servers send a bare list, names in place of objects, or an object with a name for each
    model.
    """
    is_list = isinstance(page, list)
    while isinstance(page, dict):
        inner = next((page[f] for f in _LIST_FIELDS if isinstance(page.get(f), list | dict)), None)
        if inner is None:
            break
        page, is_list = inner, True
    if isinstance(page, dict):
        page = [{"id": name} | entry for name, entry in page.items() if isinstance(entry, dict)]
    models: dict[str, Mapping[str, Any]] = {}
    for entry in page if is_list else ():
        fields = entry if isinstance(entry, dict) else {"id": entry}
        if name := _read_name(fields):
            models.setdefault(name, fields)
    return models


def _read_name(entry: Mapping[str, Any]) -> str:
    """Return the name of a model, or an empty string if it has none that could be asked for."""
    named = next((entry[field] for field in _NAME_FIELDS if entry.get(field)), "")
    name = named.strip() if isinstance(named, str) else ""
    return name if name.isprintable() and len(name) <= MOST_NAME_CHARS else ""


def _read_limit(entry: Mapping[str, Any]) -> int | None:
    """Read the context length from the fields used by vLLM, LM Studio, Groq and others."""
    own = [_find_limit(entry, _LIMIT_FIELDS), _find_limit(entry.get("meta"), ("n_ctx",))]
    for path in _LIMIT_PLACES:
        inner: Any = entry
        for field in path:
            inner = inner.get(field) if isinstance(inner, dict) else None
        own.append(_find_limit(inner, _LIMIT_FIELDS))
    return min((limit for limit in own if limit is not None), default=None)


def _find_limit(entry: Any, fields: Iterable[str]) -> int | None:
    """Return the first of these fields that is a number of tokens, or None."""
    values = map(entry.get, fields) if isinstance(entry, dict) else ()
    return next(filter(None, map(_read_tokens, values)), None)


def _read_tokens(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 12:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 < value <= MOST_CONTEXT_TOKENS else None


def _read_abilities(entry: Mapping[str, Any]) -> Abilities:
    listed = entry.get("capabilities")
    named = {str(one) for one in listed} if isinstance(listed, list) else None
    tools = None if named is None else bool(named & {"tools", "tool_use"})
    sees = None if named is None else bool(named & {"vision", "multimodal"})
    design = entry.get("architecture")
    inputs = design.get("input_modalities") if isinstance(design, dict) else None
    if sees is None and isinstance(inputs, list):
        sees = "image" in inputs
    return Abilities(tools, True if entry.get("type") == "vlm" else sees)
