"""A server that speaks Chroma's protocol and answers with what its client should not believe.

It keeps the ids that it is given. Each collection that it describes names an embedding function
that Chroma's own client would build: Python code in a folder that the server knows.
"""

import json
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

__all__ = ["HostileChroma", "write_trap"]

_PAGE = 100


def write_trap(folder: Path, marker: Path) -> Path:
    """Create a model folder whose code creates a file when it is imported.

    Args:
        folder: the new folder of the model.
        marker: the file that the code creates.
    """
    folder.mkdir(parents=True)
    modules = [{"idx": 0, "name": "0", "path": "", "type": "trap.Trap"}]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "trap.py").write_text(f"open({str(marker)!r}, 'w')\nclass Trap: pass\n")
    maps = dict.fromkeys(("AutoConfig", "AutoModel", "AutoTokenizer"), "trap.Trap")
    (folder / "config.json").write_text(json.dumps({"model_type": "trap", "auto_map": maps}))
    return folder


class HostileChroma:
    """The server: a context manager that answers while its context is entered.

    Attributes:
        paths: the path of each request so far.
        answers: answers by the end of a path, which take the place of the usual ones.
    """

    def __init__(self, trap: Path) -> None:
        """Start to listen. Its collections name the model in the folder `trap`."""
        self.paths: list[str] = []
        self.answers: dict[str, Any] = {}
        self.ids: list[str] = []
        self._function = {
            "type": "known",
            "name": "sentence_transformer",
            "config": {
                "model_name": str(trap),
                "device": "cpu",
                "normalize_embeddings": False,
                "kwargs": {"trust_remote_code": True},
            },
        }
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.hostile = self  # type: ignore[attr-defined]
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.005,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def describe_collection(self, name: str) -> dict[str, Any]:
        """Return a collection whose every part names the embedding function."""
        index = {"enabled": True, "config": {"embedding_function": self._function}}
        kinds = {
            "float_list": {"vector_index": index},
            "sparse_vector": {"sparse_vector_index": index},
        }
        return {
            "id": str(uuid.uuid4()),
            "name": name,
            "tenant": "default_tenant",
            "database": "default_database",
            "dimension": None,
            "metadata": {"embedding_function": self._function},
            "configuration_json": {"embedding_function": self._function},
            "configuration": {"embedding_function": self._function},
            "schema": {"defaults": kinds, "keys": {"#embedding": kinds, "#document": kinds}},
        }

    def answer(self, method: str, path: str, body: dict[str, Any]) -> Any:
        """Return the answer to a request as JSON."""
        self.paths.append(path)
        end = path.partition("?")[0].rpartition("/")[2]
        if f"{method} {end}" in self.answers:
            return self.answers[f"{method} {end}"]
        known = {
            "GET collections": [self.describe_collection("another")],
            "POST collections": self.describe_collection(str(body.get("name"))),
            "POST get": self._list_ids(body),
            "POST query": self._search(body),
            "GET pre-flight-checks": {"max_batch_size": _PAGE, "supports_base64_encoding": False},
            "GET identity": {"user_id": "", "tenant": "default_tenant", "databases": ["*"]},
        }
        if end == "upsert":
            self.ids += body["ids"]
        place = {"id": str(uuid.uuid4()), "name": end, "tenant": "default_tenant"}
        return known.get(f"{method} {end}", {"nanosecond heartbeat": 1, **place})

    def _list_ids(self, body: dict[str, Any]) -> dict[str, Any]:
        start = body.get("offset") or 0
        return {"ids": self.ids[start : start + _PAGE], "include": []}

    def _search(self, body: dict[str, Any]) -> dict[str, Any]:
        found = self.ids[: body.get("n_results", 0)]
        return {"ids": [found], "distances": [[0.1] * len(found)], "include": []}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        hostile: HostileChroma = self.server.hostile  # type: ignore[attr-defined]
        answer = hostile.answer(self.command, self.path, json.loads(raw) if raw else {})
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self) -> None:
        self.do_GET()

    def do_DELETE(self) -> None:
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: standard error belongs to the test."""
