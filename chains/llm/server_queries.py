"""Send short queries to model servers, and keep their answers for a minute.

Only answers are kept, never failures: whoever enters the right key or starts the server is not told
what was true before. Every request is recorded in the ledger first.
"""

import json
import threading
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final, Literal

from chains.ledger import LedgerPort, OutgoingCall
from chains.llm.urls import parse_host

__all__ = ["ServerProblem", "ServerQueries", "ServerQuery", "ServerResponse"]

SERVER_TIMEOUT_S: Final = 2.0
ANSWER_KEPT_S: Final = 60.0
MAX_ANSWER_BYTES: Final = 2_000_000

# Why a server has not answered a query: it does not respond, it wants a key, it refused the key
# that was sent, it knows no such page, or it responded with something else.
ServerProblem = Literal["", "silent", "wants_key", "refused_key", "unknown", "other"]


@dataclass(frozen=True)
class ServerQuery:
    """A query to a server.

    Attributes:
        method: the HTTP method.
        address: the URL.
        key: the API key of the server, or None.
        body: the JSON text of the body, or an empty string.
    """

    method: Literal["GET", "POST"]
    address: str
    key: str | None = None
    body: str = ""


@dataclass(frozen=True)
class ServerResponse:
    """What a server responded to a query.

    Attributes:
        data: the JSON, or None if there is a problem.
        problem: why there is no JSON, or an empty string.
    """

    data: Any = None
    problem: ServerProblem = ""

    @property
    def fields(self) -> dict[str, Any]:
        """The JSON object of the response. It is empty if there is none."""
        return self.data if isinstance(self.data, dict) else {}


class ServerQueries:
    """Sends queries to servers. An answer is kept by address and key. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[ServerQuery, tuple[float, ServerResponse]] = {}

    def send(
        self, query: ServerQuery, ledger: LedgerPort, *, is_fresh: bool = False
    ) -> ServerResponse:
        """Return the response to a query, which may be up to a minute old.

        Args:
            ledger: records the request.
            is_fresh: whether to ask the server in any case.

        Raises:
            LedgerFailed: the request could not be recorded, so it was not sent.
        """
        kept = None if is_fresh else self._find(query)
        if kept is not None:
            return kept
        response = _send_query(query, ledger)
        with self._lock:
            self._kept.pop(query, None)
            # A page that a server does not have will not appear within a minute.
            if response.problem in ("", "unknown"):
                self._kept[query] = monotonic() + ANSWER_KEPT_S, response
        return response

    def _find(self, query: ServerQuery) -> ServerResponse | None:
        with self._lock:
            until, response = self._kept.get(query, (0.0, ServerResponse()))
        return response if monotonic() < until else None


def _send_query(query: ServerQuery, ledger: LedgerPort) -> ServerResponse:
    content = query.body.encode()
    host = parse_host(query.address) or query.address
    record = ledger.record(OutgoingCall("model", host, len(content)))
    read = bytearray()
    try:
        return _read_response(query, content, read)
    finally:
        record.finish(len(read))


def _read_response(query: ServerQuery, content: bytes, read: bytearray) -> ServerResponse:
    """Send a query, and return the parsed response.

    Args:
        content: the body.
        read: a buffer to which the bytes of the response are added, so that the caller knows how
            many arrived, even after a failure.
    """
    import httpx

    from chains.llm.http import build_key_headers, open_client

    headers = build_key_headers(query.key)
    if content:
        headers["Content-Type"] = "application/json"
    client = open_client()  # which reads certificates, and takes seconds while notes are indexed
    deadline = monotonic() + SERVER_TIMEOUT_S
    options: dict[str, Any] = {"headers": headers, "timeout": SERVER_TIMEOUT_S}
    if content:
        options["content"] = content
    try:
        with client.stream(query.method, query.address, **options) as response:
            for chunk in response.iter_raw():
                read += chunk
                if len(read) > MAX_ANSWER_BYTES or monotonic() > deadline:
                    return ServerResponse(problem="silent")
        if response.status_code >= 300:
            return ServerResponse(problem=_name_problem(response.status_code, query.key))
        return ServerResponse(json.loads(bytes(read)))
    except (httpx.ConnectError, httpx.TimeoutException):
        return ServerResponse(problem="silent")
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, RecursionError):
        # A server that does not list its models may still answer chat requests.
        return ServerResponse(problem="other")


def _name_problem(status: int, key: str | None) -> ServerProblem:
    if status in (401, 403):
        return "refused_key" if key else "wants_key"
    return "unknown" if status in (404, 405) else "other"
