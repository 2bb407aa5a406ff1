"""HTTP calls to models: record requests, limit responses, support cancelling.

All calls share one httpx client, whose hooks report to the `WireCall` of the current thread. The
`WireCall` records the sent body, can abort a stalled response, and has its body read by
`chains.llm.incoming.response`.
Redirects are not followed. In offline mode, only loopback addresses are allowed.
"""

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from email.utils import parsedate_to_datetime
from functools import cache
from time import time
from typing import TYPE_CHECKING, Any, Final
from urllib.request import getproxies

from chains.errors import LedgerFailed, ModelUnavailable, Offline, SpendingLimitReached
from chains.llm.incoming.patience import FIRST_WORD_S
from chains.llm.incoming.pieces import AnswerPiece
from chains.llm.incoming.response import ResponseReader
from chains.llm.urls import is_loopback
from context.envelope import EncodedJson

if TYPE_CHECKING:
    import httpx

__all__ = [
    "WireCall",
    "build_key_headers",
    "load_certificates",
    "open_client",
    "report_calls_to",
]

CONNECT_TIMEOUT_S: Final = 10.0
# The end of a wait that `chains.llm.incoming.patience` does not end before.
READ_TIMEOUT_S: Final = FIRST_WORD_S + 60
ERROR_TIMEOUT_S: Final = 10.0
LONGEST_WAIT_S: Final = 1e9  # thirty years, since a header may contain any number

_thread = threading.local()


class SentAlready(Exception):
    """The call was refused, so that it may not send another request of its own."""


class WireCall:
    """One attempt to call a model.

    Attributes:
        sent: the JSON body as it was sent.
        status: the status of the response, or None before it arrives.
        reader: reads the body of the response.
        failure: why the network failed, or an empty string.
        foreign_host: the host of another service, which is not called, or an empty string.
        query: the query that belongs to each request, or an empty string.
    """

    def __init__(
        self,
        *,
        offline: bool,
        max_output_tokens: int,
        on_sent: Callable[[EncodedJson], object],
        host: str = "",
        key: str | None = None,
        fill: Mapping[str, str] | None = None,
        record: Callable[[str, int], object] | None = None,
        on_piece: Callable[[AnswerPiece], bool] | None = None,
    ) -> None:
        """Store the parameters of the HTTP call.

        Args:
            offline: whether to reject every host except this computer.
            max_output_tokens: the maximum tokens of the answer, which limit the response size.
            on_sent: receives the body as it is sent.
            host: the host of a server that the user set up, or an empty string for a provider's
                service. If it is set, no other host is called, and no key except `key` is sent.
            key: the key for the server.
            fill: maps each placeholder in the body to the JSON that replaces it when the body is
                sent.
            record: records the host and the size of the body before it is sent. If it raises
                `LedgerFailed` or `SpendingLimitReached`, the call is not made.
            on_piece: receives the pieces of an answer that is read here, and returns whether
                anybody still reads them.
        """
        self.sent: EncodedJson | None = None
        self.status: int | None = None
        self.reader = ResponseReader(max_output_tokens, on_piece)
        self.failure = ""
        self.refusal: Offline | ModelUnavailable | LedgerFailed | SpendingLimitReached | None = None
        self.foreign_host = self.query = ""
        self._headers: Mapping[str, str] = {}
        self._asked_hosts: set[str] = set()
        self._offline = offline
        self._host = host
        self._key = key
        self._fill = fill or {}
        self._on_sent = on_sent
        self._record = record
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._is_aborted = False
        self._responses: list[httpx.Response] = []

    @property
    def location(self) -> str:
        """The address that a redirect names, or an empty string."""
        return self._headers.get("location", "")

    @property
    def is_unbilled(self) -> bool:
        """Whether the service cannot bill the call: it was not reached, or it refused the call."""
        return self._socket is None or (self.status or 0) >= 400

    @property
    def retry_after_s(self) -> float | None:
        """The number of seconds that the server asks to wait, or None if it does not say."""
        told_ms = _parse_seconds(self._headers.get("retry-after-ms", ""))
        if told_ms is not None:
            return told_ms / 1000
        return _parse_seconds(self._headers.get("retry-after", ""))

    def abort(self) -> None:
        """Shut down the connection, and wake the thread that is waiting for it."""
        with self._lock:
            self._is_aborted = True
            _shut_down(self._socket)

    def end(self) -> None:
        """Close the connection, even if the response was not read completely.

        Otherwise, the garbage collector might close it during another call, in a thread that
        already holds the client's lock, which would cause a deadlock.
        """
        import httpx

        for response in self._responses:
            with suppress(httpx.HTTPError):  # the reader has already seen that it broke off
                response.close()

    def before_request(self, request: "httpx.Request") -> None:
        """Record the body, refuse forbidden hosts, and remove the keys of other services.

        Raises:
            SentAlready: the service has refused a request. LiteLLM sends some refused requests
                again, with blank messages or without the fields that it takes for the cause.
        """
        if self.status is not None and self.status >= 400:
            raise SentAlready
        host = request.url.host
        if self._offline and not is_loopback(host):
            self.refusal = Offline(host)
        elif self._host and host != self._host:
            reason = f"it would have gone to {host}, which is not in the settings"
            self.refusal = ModelUnavailable(self._host, reason=reason)
        elif host == self.foreign_host:
            reason = "the address of the model's own service is not known"
            self.refusal = ModelUnavailable(host, reason=reason, is_permanent=True)
        if self.refusal is not None:
            raise self.refusal
        self._refuse_look_up(request)
        if self._host:
            _keep_keys_back(request, self._key)
        if self.query:
            queries = filter(None, (request.url.query, self.query.encode()))
            request.url = request.url.copy_with(query=b"&".join(queries))
        request.extensions["trace"] = self._trace
        body = _insert_text(request, self._fill)
        self._write_record(host, len(body.encode()))
        self.sent = EncodedJson(body or "{}")
        self._on_sent(self.sent)

    def _refuse_look_up(self, request: "httpx.Request") -> None:
        """Refuse what litellm looks up before it asks a model, such as a template of a model hub.

        It then uses its own values. The model is asked with POST, and some services are asked for
        the rest of the answer with GET.
        """
        import httpx

        host = request.url.host
        if request.method == "POST":
            self._asked_hosts.add(host)
        elif host not in self._asked_hosts:
            raise httpx.ConnectError(f"{host} was not asked for an answer", request=request)

    def _write_record(self, host: str, size: int) -> None:
        if self._record is None:
            return
        try:
            self._record(host, size)
        except (LedgerFailed, SpendingLimitReached) as error:
            self.refusal = error
            raise

    def after_headers(self, response: "httpx.Response") -> None:
        """Record the status and headers of a response, and watch its body."""
        self.status = response.status_code
        self._headers = response.headers
        if self.status >= 400:  # the status has said already what the body only explains
            response.request.extensions.setdefault("timeout", {})["read"] = ERROR_TIMEOUT_S
        address = response.request.url.copy_with(userinfo=b"", query=None)
        self.reader.open(self.status, str(address))
        response.stream = _watch_stream(response, self)
        self._responses.append(response)

    def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            with self._lock:
                self._socket = info["return_value"].get_extra_info("socket")
                if self._is_aborted:
                    _shut_down(self._socket)
        elif event.endswith(".failed") and isinstance(info["exception"], Exception):
            # Any other exception means that the reader itself is ending.
            self.failure = self.failure or _describe_failure(info["exception"])


@contextmanager
def report_calls_to(call: WireCall) -> Iterator[None]:
    """Report this thread's HTTP requests to `call` in the block. Then close the connection."""
    _thread.call = call
    try:
        yield
    finally:
        _thread.call = None
        call.end()


@cache
def load_certificates() -> ssl.SSLContext:
    """Load the certificates that are trusted, once for all clients: it takes 25 ms."""
    import httpx

    return httpx.create_ssl_context()


@cache
def open_client() -> "httpx.Client":
    """Return the httpx client shared by all model calls."""
    import httpx

    def before_request(request: httpx.Request) -> None:
        if call := getattr(_thread, "call", None):
            call.before_request(request)

    def after_headers(response: httpx.Response) -> None:
        if call := getattr(_thread, "call", None):
            call.after_headers(response)

    return httpx.Client(
        event_hooks={"request": [before_request], "response": [after_headers]},
        limits=httpx.Limits(max_keepalive_connections=0),
        follow_redirects=False,
        # A compressed response could grow without limit.
        headers={"Accept-Encoding": "identity"},
        mounts=_build_proxies(),
        verify=load_certificates(),
        timeout=httpx.Timeout(READ_TIMEOUT_S, connect=CONNECT_TIMEOUT_S),
    )


def _build_proxies() -> "dict[str, httpx.BaseTransport | None]":
    """Build transports for the proxies in the environment. Loopback addresses bypass them."""
    import httpx

    # A new connection for each call, so that `abort` shuts down only its socket.
    limits, certificates = httpx.Limits(max_keepalive_connections=0), load_certificates()
    direct = httpx.HTTPTransport(limits=limits, verify=certificates)

    class PastLoopback(httpx.BaseTransport):
        def __init__(self, proxy: str) -> None:
            self._proxied = httpx.HTTPTransport(proxy=proxy, limits=limits, verify=certificates)

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            chosen = direct if is_loopback(request.url.host) else self._proxied
            return chosen.handle_request(request)

    found = {name: address for name, address in getproxies().items() if address}
    named = {name: found[name] for name in ("http", "https", "all") if name in found}
    return {
        f"{name}://": PastLoopback(address if "://" in address else f"http://{address}")
        for name, address in named.items()
    }


def build_key_headers(key: str | None) -> dict[str, str]:
    """Build the `Authorization` header from a bearer token or a complete `Basic …` value."""
    if not key:
        return {}
    return {"Authorization": key if key.startswith("Basic ") else f"Bearer {key}"}


# The headers in which services expect a key. litellm sets some from the environment.
_KEY_HEADERS: Final = ("authorization", "api-key", "x-api-key", "x-goog-api-key")
# Headers about the user's OpenAI account and system, which no other server may receive.
_OWN_SERVICE_HEADERS: Final = (
    "openai-organization",
    "openai-project",
    "x-stainless-arch",
    "x-stainless-os",
)


def _keep_keys_back(request: "httpx.Request", key: str | None) -> None:
    """Remove all keys from a request, except for the key of the server that it is sent to."""
    for name in _KEY_HEADERS:
        if name in request.headers and (not key or key not in request.headers[name]):
            del request.headers[name]
    if key and key.startswith("Basic "):
        request.headers.update(build_key_headers(key))
    for name in _OWN_SERVICE_HEADERS:
        request.headers.pop(name, None)


def _insert_text(request: "httpx.Request", fill: Mapping[str, str]) -> str:
    """Replace the placeholders in a request body, and return the new body.

    Args:
        request: the request to change.
        fill: the JSON text that replaces each placeholder.
    """
    import httpx

    body = request.read().decode()
    if fill:
        for name, value in fill.items():
            body = body.replace(json.dumps(name), value, 1)
        content = body.encode()
        request.stream = httpx.ByteStream(content)
        request.headers["Content-Length"] = str(len(content))
    return body


def _watch_stream(response: "httpx.Response", call: WireCall) -> "httpx.SyncByteStream":
    import httpx

    source = response.stream

    class Watched(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            if response.headers.get("content-encoding", "identity") != "identity":
                call.reader.refuse_packed()
            yield from call.reader.read(iter(source))  # type: ignore[arg-type]

        def close(self) -> None:
            source.close()  # type: ignore[union-attr]

    return Watched()


def _shut_down(connection: socket.socket | None) -> None:
    if connection is None:
        return
    # The socket may be closed already, or was never connected.
    with suppress(OSError):
        # Not `SSLSocket.shutdown`, which would remove the TLS state while another thread reads.
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


def _describe_failure(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError) or "refused" in str(error).lower():
        return "nothing answers at that address"
    if isinstance(error, socket.gaierror) or "name or service" in str(error).lower():
        return "there is no such host"
    if "wrong_version_number" in str(error).lower().replace(" ", "_"):
        return "it does not speak TLS: its address may begin with http://"
    if "illegal request line" in str(error).lower():  # h11 about the bytes of a TLS alert
        return "it does not speak plain HTTP: its address may begin with https://"
    if isinstance(error, ssl.SSLError) or "certificate" in str(error).lower():
        return "its certificate is not trusted"
    if "timeout" in type(error).__name__.lower():
        return "it took too long"
    return "the connection was lost"


def _parse_seconds(header: str) -> float | None:
    header = header.strip()
    if header.isascii() and header.replace(".", "", 1).isdigit():
        return min(float(header), LONGEST_WAIT_S)
    with suppress(ValueError, TypeError):  # neither a number nor a date
        return max(0.0, parsedate_to_datetime(header).timestamp() - time())
    return None
