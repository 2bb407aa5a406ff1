"""A web server on loopback that serves a test's pages and records the requests.

```
with WebServer() as server:
    server.pages["/a"] = Page(b"<p>Hello", "text/html")
    client = WebClient(lambda: False, NoLedger(), is_allowed=allow_loopback)
    client.fetch(server.url + "/a", CancelToken())
```
"""

import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from chains.web.urls import IPAddress


def allow_loopback(ip: IPAddress) -> bool:
    """Allow only the addresses of this computer; the program's own rule forbids them."""
    return ip.is_loopback


@dataclass(frozen=True)
class Page:
    """A response of the server.

    Attributes:
        repeats: how often the body is sent, without a `Content-Length`; None sends it once.
        stalls: whether the connection stays open until the server is closed.
    """

    body: bytes = b""
    content_type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    repeats: int | None = None
    stalls: bool = False


# A certificate for the host strata.test, valid for a hundred years, and its key.
CERTIFICATE = """\
-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIHnvjejaN9gUbZkdf5bVHI1IvFycPfmLKlietahTDSgToAoGCCqGSM49
AwEHoUQDQgAElYf3VG3fkTFlHQR6QD0oE35hjgDnrBafGzv5deMdCbBTBoFxkeUu
eHcGEpMkRnYAOgLHVhDkfB+vUZTfBHDkvw==
-----END EC PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBnDCCAUGgAwIBAgIUHZOu7Ie3ltYVzhqZazS2dw7UlukwCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLc3RyYXRhLnRlc3QwIBcNMjYxMTIyMjIzNTAyWhgPMjEyNjEw
MjkyMjM1MDJaMBYxFDASBgNVBAMMC3N0cmF0YS50ZXN0MFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAElYf3VG3fkTFlHQR6QD0oE35hjgDnrBafGzv5deMdCbBTBoFx
keUueHcGEpMkRnYAOgLHVhDkfB+vUZTfBHDkv6NrMGkwHQYDVR0OBBYEFBhvMYM7
lKmTkboJmQiFhbdUuN81MB8GA1UdIwQYMBaAFBhvMYM7lKmTkboJmQiFhbdUuN81
MA8GA1UdEwEB/wQFMAMBAf8wFgYDVR0RBA8wDYILc3RyYXRhLnRlc3QwCgYIKoZI
zj0EAwIDSQAwRgIhALMbiQbm0hkFKGEADrCY0mVTlF7d8ffvVb8Wf4LVU1OXAiEA
6LVCs28mwf0xzlowvQLOBOUc8xAhF1m3sgPdfd6CH+E=
-----END CERTIFICATE-----
"""


class WebServer:
    """The server: a context manager that answers while its context is entered.

    Args:
        certificate: the file with a certificate and its key, for a server with TLS.
    """

    def __init__(self, certificate: Path | None = None) -> None:
        self.pages: dict[str, Page] = {}
        self.requests: list[tuple[str, Mapping[str, str]]] = []
        self.bodies: list[bytes] = []
        self.is_reached = threading.Event()
        self._ends = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _build_handler(self))
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)

    @property
    def url(self) -> str:
        """The server's address without a path."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def port(self) -> int:
        """The server's port."""
        return int(self._server.server_address[1])

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        self.requests.append((handler.path, dict(handler.headers)))
        self.bodies.append(handler.rfile.read(int(handler.headers.get("Content-Length", 0))))
        self.is_reached.set()
        page = self.pages.get(handler.path, Page(b"missing", status=404))
        handler.send_response(page.status)
        for name, value in {"Content-Type": page.content_type, **page.headers}.items():
            if value:
                handler.send_header(name, value)
        if page.repeats is None and not page.stalls and "Content-Length" not in page.headers:
            handler.send_header("Content-Length", str(len(page.body)))
        handler.end_headers()
        try:
            for _ in range(page.repeats or 1):
                handler.wfile.write(page.body)
            handler.wfile.flush()
            if page.stalls:
                self._ends.wait(60)
        except OSError:
            pass  # the client has disconnected


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """Print no trace for a client that has disconnected."""


def _build_handler(server: WebServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.answer(self)

        def do_POST(self) -> None:
            server.answer(self)

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    return Handler
