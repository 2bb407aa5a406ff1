"""A scripted model server on loopback: it sends the replies of a test and records the requests.

It uses OpenAI's protocol, Anthropic's at `/messages`, Google's at `:streamGenerateContent`, and
Ollama's at `/api/chat`.

```
with ModelServer() as server:
    server.script(Failure(503), Answer("The answer is 42 [1]."))
    ...                       # chat.apiBase = server.url
    server.bodies[0]["messages"]
```

Replies are sent in order; the last one is repeated. A reply may be a function of the request's
body, so that an answer can quote what it received.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any, Literal, Self

from tests.support.models.anthropic_events import anthropic_events
from tests.support.models.gemini_events import gemini_events
from tests.support.models.ollama_events import ollama_events, ollama_page
from tests.support.models.stage import Stage, Step

Body = dict[str, Any]
_CHUNK_CHARS, _MOST_CHUNKS = 12, 40


@dataclass(frozen=True)
class Answer:
    """A streamed answer with its tool calls, and everything that can go wrong while it is sent.

    Attributes:
        calls: id, name and arguments of each tool call; the arguments are streamed as this text.
        reasoning: the model's reasoning before the answer.
        chunk_chars: the number of characters in each event; 0 sends 12, or 40 events.
        usage: the token counts that the server reports; None reports none.
        pause_s: the time between two events.
        stall_after: the number of events after which nothing is sent until the server is closed.
        break_after: the number of events after which the connection is cut.
        cut_json_after: the number of events after which the stream ends within an event's JSON.
    """

    text: str = "Understood."
    chunk_chars: int = 0
    finish: str | None = "stop"
    usage: Mapping[str, Any] | None = field(
        default_factory=lambda: {
            "prompt_tokens": 100,
            "completion_tokens": 10,
            "total_tokens": 110,
            "prompt_tokens_details": {"cached_tokens": 40},
        }
    )
    pause_s: float = 0.0
    stall_after: int | None = None
    break_after: int | None = None
    cut_json_after: int | None = None
    says_done: bool = True
    calls: tuple[tuple[str, str, str], ...] = ()
    reasoning: str = ""

    def split(self, text: str) -> Iterator[str]:
        """Split a text, such as the answer's own or arguments, into the texts of events."""
        size = self.chunk_chars or max(_CHUNK_CHARS, len(text) // _MOST_CHUNKS)
        return (text[start : start + size] for start in range(0, len(text), size))


@dataclass(frozen=True)
class Failure:
    """A reply with an error status."""

    status: int
    body: str = '{"error": {"message": "scripted failure", "type": "error", "code": null}}'
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def saying(cls, status: int, message: str, **headers: str) -> Self:
        """Build an error in OpenAI's format."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return cls(status, json.dumps({"error": {"message": message, "type": "error"}}), named)


@dataclass(frozen=True)
class Silence:
    """No reply: the request is accepted, but not even a status line is sent."""


@dataclass(frozen=True)
class Raw:
    """The bytes to send as the body of a streamed answer, endlessly if `repeats` is None."""

    data: bytes
    repeats: int | None = 1


@dataclass(frozen=True)
class Played:
    """A reply played step by step: bytes to send, and functions of the stage to wait for.

    Attributes:
        before: the steps before the headers.
        ending: `end` ends the response, `cut` closes the connection within it, and `open` sends
            nothing more until the client or the server closes.
    """

    steps: tuple[Step, ...] = ()
    before: tuple[Step, ...] = ()
    status: int = 200
    content_type: str = "text/event-stream"
    headers: Mapping[str, str] = field(default_factory=dict)
    ending: Literal["end", "cut", "open"] = "end"


Reply = Answer | Failure | Silence | Raw | Played
Script = Reply | Callable[[Body], Reply]


@dataclass(frozen=True)
class Received:
    """A request that the server has received."""

    path: str
    headers: Mapping[str, str]
    raw: bytes
    body: Body
    arrived_s: float
    """When the whole body had arrived, before it was parsed, by `time.perf_counter`."""


class ModelServer:
    """The server: a context manager that answers while its context is entered."""

    def __init__(
        self,
        *replies: Script,
        models: Sequence[Mapping[str, Any]] = (),
        ollama_context: int | None = None,
        ollama_sees: bool = False,
        host: str = "127.0.0.1",
        port: int = 0,
        key: str = "",
        pages: Mapping[str, object] | None = None,
    ) -> None:
        """Start to listen.

        Args:
            replies: the replies, in order.
            models: the models that `/v1/models` lists.
            ollama_context: if given, the server acts as Ollama, with a model of this context
                length.
            ollama_sees: whether that model sees images.
            host: the address to listen on.
            port: the port to listen on, or 0 for a free one.
            key: the key without which `/v1/models` is refused, or an empty string for none.
            pages: the JSON of further pages, by path.
        """
        self.ollama_context, self.ollama_sees = ollama_context, ollama_sees
        self._host = host
        self.models = [dict(model) for model in models] or [{"id": "scripted", "object": "model"}]
        self.received: list[Received] = []
        self.closing = threading.Event()
        self.stage = Stage()
        self.sent_bytes = 0
        self._lock = threading.Lock()
        self._script: list[Script] = list(replies) or [Answer()]
        self.key, self.pages = key, pages or {}
        self._server = _Server(self, host, port)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.005,))

    @property
    def url(self) -> str:
        """The value for the setting `chat.apiBase`."""
        return f"{self.root}/v1"

    @property
    def root(self) -> str:
        """The server's address without a path."""
        return f"http://{self._host}:{self._server.server_address[1]}"

    @property
    def bodies(self) -> list[Body]:
        """The body of each chat request so far."""
        said = (received for received in self.received if received.path != "/api/show")
        return [received.body for received in said if received.body]

    def script(self, *replies: Script) -> None:
        """Set the replies from now on; the last one is repeated."""
        with self._lock:
            self._script = list(replies)

    def next_reply(self, body: Body) -> Reply:
        """Return the next reply and remove it from the script, unless it is the last one."""
        with self._lock:
            reply = self._script.pop(0) if len(self._script) > 1 else self._script[0]
        return reply(body) if callable(reply) else reply

    def close(self) -> None:
        """Stop the server, and end every answer that stalls."""
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, owner: ModelServer, host: str, port: int) -> None:
        super().__init__((host, port), _Handler)
        self.owner = owner

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing: clients that disconnect are expected."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # small writes would wait for the client's delayed ACK
    server: _Server

    def do_GET(self) -> None:
        self._record(b"", time.perf_counter())
        owner = self.server.owner
        if self._send_page({}):
            return
        if self.path in owner.pages:
            self._send_json(200, json.dumps(owner.pages[self.path]))
        elif owner.key and self.headers.get("Authorization") != f"Bearer {owner.key}":
            self._send_json(401, '{"error": {"message": "wrong key"}}')
        elif self.path.rstrip("/").endswith("/v1/models"):
            self._send_json(200, json.dumps({"object": "list", "data": self.server.owner.models}))
        else:
            self._send_json(404, '{"error": {"message": "no such page"}}')

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        body = self._record(raw, time.perf_counter())
        if self._send_page(body):
            return
        match self.server.owner.next_reply(body):
            case Failure(status, text, headers):
                self._send_json(status, text, headers)
            case Silence():
                self.server.owner.closing.wait(30)
                self.close_connection = True
            case Raw(data, repeats):
                self._repeat(data, repeats)
            case Played() as played:
                self._play(played)
            case Answer() as answer if self.path == "/api/chat":
                self._answer(answer, ollama_events(answer, str(body.get("model"))), "", "\n")
            case Answer() as answer:
                speak = openai_events
                if self.path.endswith("/messages"):
                    speak = anthropic_events
                elif ":streamGenerateContent" in self.path:
                    speak = gemini_events
                self._answer(answer, speak(answer, str(body.get("model"))))

    def _repeat(self, data: bytes, repeats: int | None) -> None:
        self._start_stream()
        count = 0
        while repeats is None or count < repeats:
            self._chunk(data)
            count += 1
        self._end_stream()

    def _play(self, played: Played) -> None:
        self._take_steps(played.before)
        self.send_response(played.status)
        headers = {"Content-Type": played.content_type, "Transfer-Encoding": "chunked"}
        for name, value in {**headers, **played.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self._take_steps(played.steps)
        if played.ending == "end":
            self._end_stream()
        elif played.ending == "open":
            self._wait_for_close()
        self.close_connection = played.ending != "end"

    def _take_steps(self, steps: Sequence[Step]) -> None:
        for step in steps:
            if not isinstance(step, bytes):
                step(self.server.owner.stage)
            elif step:
                self._chunk(step)

    def _wait_for_close(self) -> None:
        """Send nothing more until the client or the server closes the connection."""
        self.connection.settimeout(0.05)
        while not self.server.owner.closing.is_set():
            try:
                if not self.connection.recv(1):
                    return
            except TimeoutError:
                continue
            except OSError:
                return

    def _send_page(self, body: Body) -> bool:
        """Answer a request that only Ollama supports; return whether it is one."""
        owner = self.server.owner
        context, sees = owner.ollama_context, owner.ollama_sees
        page = None if context is None else ollama_page(self.path, context, sees)
        if page is not None:
            self._send_json(200, json.dumps(page))
        return page is not None

    def _answer(
        self, answer: Answer, events: Iterator[str], before: str = "data: ", behind: str = "\n\n"
    ) -> None:
        self._start_stream()
        for index, event in enumerate(events):
            if index == answer.stall_after:
                self.server.owner.closing.wait(120)
            if index == answer.break_after:
                self.close_connection = True
                return
            if index == answer.cut_json_after:
                self._chunk(f"{before}{event[: len(event) // 2]}".encode())
                break
            self._chunk(f"{before}{event}{behind}".encode())
            if answer.pause_s:
                self.server.owner.closing.wait(answer.pause_s)
        self._end_stream()

    def _record(self, raw: bytes, arrived_s: float) -> Body:
        body: Body = json.loads(raw) if raw else {}
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.owner.received.append(Received(self.path, headers, raw, body, arrived_s))
        return body

    def _send_json(self, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
        data = text.encode()
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(data)

    def _start_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()
        self.server.owner.sent_bytes += len(data)

    def _end_stream(self) -> None:
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: standard error belongs to the test."""


def openai_events(answer: Answer, model: str) -> Iterator[str]:
    """Yield the data of each event of an answer in OpenAI's protocol."""
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model}

    def event(delta: Mapping[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": dict(delta), "finish_reason": finish}
        return json.dumps({**head, "choices": [choice]})

    yield event({"role": "assistant", "content": ""})
    if answer.reasoning:
        yield event({"content": "", "reasoning_content": answer.reasoning})
    for piece in answer.split(answer.text):
        yield event({"content": piece})
    for index, (id, name, arguments) in enumerate(answer.calls):
        begun = {"name": name, "arguments": ""}
        yield event({"tool_calls": [_call_piece(index, begun, id=id, type="function")]})
        for piece in answer.split(arguments):
            yield event({"tool_calls": [_call_piece(index, {"arguments": piece})]})
    if answer.finish:
        yield event({}, "tool_calls" if answer.calls else answer.finish)
    if answer.usage is not None:
        yield json.dumps({**head, "choices": [], "usage": dict(answer.usage)})
    if answer.says_done:
        yield "[DONE]"


def _call_piece(index: int, function: Mapping[str, str], **fields: str) -> dict[str, Any]:
    return {"index": index, **fields, "function": dict(function)}


def alternating(reply: Script) -> Script:
    """Refuse requests in which two messages have the same role, except for tool results."""

    def answer(body: Body) -> Reply:
        roles = roles_of(body)
        if any(before == after != "tool" for before, after in pairwise(roles)):
            return Failure.saying(400, "Conversation roles must alternate user/assistant/...")
        return reply(body) if callable(reply) else reply

    return answer


def roles_of(body: Body) -> list[str]:
    """Return the roles of a request's messages, which Gemini calls contents."""
    messages = body["contents"] if "contents" in body else body["messages"]
    return [str(message["role"]) for message in messages]
