"""Query model servers, and find servers on this computer.

Responses are cached for a minute, so that previews cause no requests. Every request is recorded in
the ledger first.
"""

import json
import socket
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final

from chains.ledger import LedgerPort, NoLedger, OutgoingCall
from chains.llm.urls import find_ollama_root, is_loopback, parse_host

__all__ = [
    "LOCAL_SERVERS",
    "LocalServer",
    "ServedModel",
    "ask_abilities",
    "ask_context_length",
    "find_local_servers",
    "is_ollama",
    "list_served_models",
]

SERVER_TIMEOUT_S: Final = 2.0
CONNECT_TIMEOUT_S: Final = 0.5
SERVER_ANSWER_KEPT_S: Final = 60.0
SERVER_SILENCE_KEPT_S: Final = 10.0
MAX_SERVER_ANSWER_BYTES: Final = 2_000_000
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
)
# Returned for a server that does not respond, and for one that responds with an error.
SILENT: Final = "silent"
REFUSED: Final = "refused"


@dataclass(frozen=True)
class ServedModel:
    """A model that a server offers.

    Attributes:
        input_limit: the context length reported by the server, or None.
        takes_tools: whether the model can call tools, or None if the server does not say.
        sees: whether the model accepts images, or None if the server does not say.
    """

    name: str
    input_limit: int | None
    takes_tools: bool | None = None
    sees: bool | None = None


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
    api_base: str, key: str | None = None, ledger: LedgerPort | None = None
) -> tuple[ServedModel, ...]:
    """List the models of an OpenAI-compatible server.

    The list is empty if the server does not respond.

    Raises:
        LedgerFailed: the request could not be recorded, so it was not sent.
    """
    return _servers.models(api_base.rstrip("/"), key, ledger or NoLedger())


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
    return _servers.context_length(root, model, key, ledger or NoLedger())


def ask_abilities(
    root: str, model: str, key: str | None, ledger: LedgerPort | None = None
) -> tuple[bool | None, bool | None]:
    """Ask an Ollama server whether a model supports tools, and whether it accepts images.

    Each value is None if it is unknown. The parameters are the same as for `ask_context_length`.
    """
    return _read_abilities(_servers.show(root, model, key, ledger or NoLedger()))


def is_ollama(api_base: str, ledger: LedgerPort | None = None) -> bool:
    """Return whether an address is an Ollama server. No key is sent."""
    return _servers.is_ollama(find_ollama_root(api_base), ledger or NoLedger())


def find_local_servers(
    ledger: LedgerPort, addresses: Mapping[str, str] | None = None
) -> tuple[LocalServer, ...]:
    """Find the model servers on this computer, and list their models.

    Servers are queried in parallel with GET requests, without a key. Nothing is sent to ports that
    are closed.

    Args:
        ledger: records the requests.
        addresses: the addresses to try by provider, or None for the usual ones. Addresses of other
            computers are skipped.
    """
    tried = (LOCAL_SERVERS if addresses is None else addresses).items()
    wanted = [(name, base) for name, base in tried if is_loopback(parse_host(base))]
    with ThreadPoolExecutor(max(1, len(wanted)), "find-server") as pool:
        found = pool.map(lambda place: _find_server(place[0], place[1], ledger), wanted)
        return tuple(server for server in found if server is not None)


def _find_server(provider: str, base: str, ledger: LedgerPort) -> LocalServer | None:
    if not _is_listening(base):
        return None
    models = list_served_models(base, None, ledger)
    return LocalServer(provider, base, models) if models else None


def _is_listening(base: str) -> bool:
    place = base.split("://", 1)[-1].split("/", 1)[0]
    host, _, port = place.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_TIMEOUT_S).close()
    except (OSError, ValueError):
        return False
    return True


class _Servers:
    """Caches the responses of model servers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, ...], tuple[float, Any]] = {}

    def models(self, api_base: str, key: str | None, ledger: LedgerPort) -> tuple[ServedModel, ...]:
        if self.is_ollama(root := find_ollama_root(api_base), ledger):
            answer = self._ask("GET", f"{root}/api/tags", key, ledger)
            listed = answer.get("models") if isinstance(answer, dict) else None
            entries = [entry for entry in listed or () if isinstance(entry, dict)]
            return tuple(ServedModel(str(e["name"]), None) for e in entries if "name" in e)
        if self._kept_answer(("GET", f"{root}/api/version", "")) is SILENT:
            return ()
        return tuple(_read_served_models(self._ask("GET", f"{api_base}/models", key, ledger)))

    def is_ollama(self, root: str, ledger: LedgerPort) -> bool:
        """Return whether a server is Ollama. No key is sent."""
        answer = self._ask("GET", f"{root}/api/version", None, ledger)
        return isinstance(answer, dict) and isinstance(answer.get("version"), str)

    def context_length(
        self, root: str, model: str, key: str | None, ledger: LedgerPort
    ) -> int | None:
        """Return the context length of an Ollama model, or None if it is unknown.

        The parameters are the same as for `ask_context_length`.
        """
        info = self.show(root, model, key, ledger).get("model_info")
        found = info.items() if isinstance(info, dict) else ()
        lengths = (value for name, value in found if name.endswith(".context_length"))
        return next((n for n in lengths if isinstance(n, int) and n > 0), None)

    def show(self, root: str, model: str, key: str | None, ledger: LedgerPort) -> Mapping[str, Any]:
        """Return the description of an Ollama model, or an empty mapping if there is none.

        The parameters are the same as for `ask_context_length`.
        """
        answer = self._ask("POST", f"{root}/api/show", key, ledger, {"model": model})
        return answer if isinstance(answer, dict) else {}

    def _kept_answer(self, question: tuple[str, ...]) -> Any:
        with self._lock:
            until, answer = self._kept.get(question, (0.0, None))
        return answer if monotonic() < until else None

    def _ask(
        self, method: str, address: str, key: str | None, ledger: LedgerPort, body: object = None
    ) -> Any:
        question = (method, address, json.dumps(body) if body else "")
        if (answer := self._kept_answer(question)) is None:
            answer = _ask_server(method, address, key, ledger, body)
            is_known = answer is not SILENT and answer is not REFUSED
            kept_s = SERVER_ANSWER_KEPT_S if is_known else SERVER_SILENCE_KEPT_S
            with self._lock:
                self._kept[question] = (monotonic() + kept_s, answer)
        return answer


_servers: Final = _Servers()


def _ask_server(
    method: str, address: str, key: str | None, ledger: LedgerPort, body: object
) -> Any:
    content = b"" if body is None else json.dumps(body).encode()
    record = ledger.record(OutgoingCall("model", parse_host(address) or address, len(content)))
    read = bytearray()
    try:
        return _read_answer(method, address, key, content, read)
    finally:
        record.finish(len(read))


def _read_answer(
    method: str, address: str, key: str | None, content: bytes, read: bytearray
) -> Any:
    """Send a request, and return the parsed JSON of the response.

    Return `SILENT` if the server does not respond in time, and `REFUSED` if the connection fails in
    another way or the response is not JSON.

    Args:
        method: the HTTP method.
        address: the URL.
        key: the API key of the server, or None.
        content: the request body.
        read: a buffer to which the bytes of the response are added, so that the caller knows how
            many arrived, even after a failure.
    """
    import httpx

    from chains.llm.http import build_key_headers, open_client

    options: dict[str, Any] = {"headers": build_key_headers(key), "timeout": SERVER_TIMEOUT_S}
    if content:
        options["content"] = content
        options["headers"]["Content-Type"] = "application/json"
    client = open_client()  # which reads certificates, and takes seconds while notes are indexed
    deadline = monotonic() + SERVER_TIMEOUT_S
    try:
        with client.stream(method, address, **options) as response:
            for chunk in response.iter_raw():
                read += chunk
                if len(read) > MAX_SERVER_ANSWER_BYTES or monotonic() > deadline:
                    return SILENT
        return json.loads(bytes(read))
    except (httpx.ConnectError, httpx.TimeoutException):
        return SILENT
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        # A server that does not list its models may still answer chat requests.
        return REFUSED


def _read_served_models(answer: Any) -> list[ServedModel]:
    listed = answer.get("data") if isinstance(answer, dict) else None
    entries = [entry for entry in listed or () if isinstance(entry, dict)]
    return [
        ServedModel(str(entry["id"]), _read_limit(entry), *_read_abilities(entry))
        for entry in entries
        if "id" in entry
    ]


def _read_limit(entry: Mapping[str, Any]) -> int | None:
    """Read the context length from the fields used by vLLM, LM Studio, Groq and others."""
    meta = entry.get("meta")
    places = [entry.get(field) for field in _LIMIT_FIELDS]
    places.append(meta.get("n_ctx") if isinstance(meta, dict) else None)
    return next((value for value in places if isinstance(value, int) and value > 0), None)


def _read_abilities(entry: Mapping[str, Any]) -> tuple[bool | None, bool | None]:
    """Return whether a model supports tools and accepts images. Unknown values are None."""
    listed = entry.get("capabilities")
    named = {str(one) for one in listed} if isinstance(listed, list) else None
    tools = None if named is None else bool(named & {"tools", "tool_use"})
    sees = None if named is None else bool(named & {"vision", "multimodal"})
    design = entry.get("architecture")
    inputs = design.get("input_modalities") if isinstance(design, dict) else None
    if sees is None and isinstance(inputs, list):
        sees = "image" in inputs
    return tools, (True if entry.get("type") == "vlm" else sees)
