"""An MCP server over HTTP that answers a call of its tool with given bytes."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

__all__ = ["BrokenServer", "serve_broken"]

LIST: Final = [{"name": "look", "inputSchema": {"type": "object"}}]
HELLO: Final = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "x", "version": "1"},
}


@dataclass
class BrokenServer:
    """What the server answers.

    Attributes:
        tools: the tools that it lists.
        called: the bytes of the answer to a call, with ID in place of the id.
        media_type: how the answer to a call is sent: as JSON or as events.
        status: the status of the answer to a call.
        on_call: called before the answer to a call, such as to hang.
        url: the address of the server.
    """

    tools: list[object] = field(default_factory=lambda: list(LIST))
    called: bytes = b""
    media_type: str = "application/json"
    status: int = 200
    on_call: Callable[[], object] = lambda: None
    url: str = ""


@contextmanager
def serve_broken() -> Iterator[BrokenServer]:
    """Serve over streamable HTTP on loopback."""
    answers = BrokenServer()

    class Handler(BaseHTTPRequestHandler):
        """Answers as usual, except calls of a tool."""

        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found: dict[str, Any] = {"initialize": HELLO, "tools/list": {"tools": answers.tools}}
            id, method = asked.get("id"), asked["method"]
            if id is None:
                self._send(202, b"", "application/json")
            elif method == "tools/call":
                answers.on_call()
                said = answers.called.replace(b"ID", str(id).encode())
                self._send(answers.status, said, answers.media_type)
            else:
                said = {"error": {"code": -32601, "message": "no"}}
                said = {"result": found[method]} if method in found else said
                message = json.dumps({"jsonrpc": "2.0", "id": id, **said}).encode()
                self._send(200, message, "application/json")

        def do_GET(self) -> None:
            self._send(405, b"", "text/plain")

        def do_DELETE(self) -> None:
            self._send(405, b"", "text/plain")

        def _send(self, status: int, body: bytes, media_type: str) -> None:
            is_stream = media_type == "text/event-stream"
            self.send_response(status)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Connection", "close" if is_stream else "keep-alive")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing: standard error belongs to the test."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    answers.url = f"http://127.0.0.1:{server.server_address[1]}/mcp"
    threading.Thread(target=lambda: server.serve_forever(0.01), daemon=True).start()
    try:
        yield answers
    finally:
        server.shutdown()
        server.server_close()
