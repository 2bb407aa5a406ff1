"""The way to a model server without a network: the client library, the connection, and its time.

A task that calls a server runs to its end before anybody reads what it has received. Therefore each
item of a channel carries the time at which the server has sent it, and whoever waits for it gets
there at that time, or gives up before.
"""

import json
import socket
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from math import inf
from types import SimpleNamespace
from typing import Any, Final
from unittest import mock
from weakref import WeakKeyDictionary

import httpx

from chains import concurrency
from chains.llm.http import open_client
from chains.llm.incoming.patience import Patience
from tests.support.models.model_server import (
    Answer,
    Body,
    Failure,
    Played,
    Reply,
    Script,
    openai_events,
)
from tests.support.models.stage import Step

__all__ = ["HOST", "ServerTime", "Wire"]

HOST: Final = "api.openai.com"
_PUT: Final[Callable[..., bool]] = concurrency._Channel.put
_FINISH: Final[Callable[..., None]] = concurrency._Channel.finish
_CLOSED: Final = socket.socket()  # nothing is sent through it
_CLOSED.close()


class ServerTime:
    """The time of a server and of its client. It takes the place of the clock of a call.

    Attributes:
        now_s: the time at the client.
        sent_s: the time at the server, which runs ahead while it sends.
    """

    def __init__(self, pass_time: Callable[[float], None]) -> None:
        """Begin.

        Args:
            pass_time: told of the time that has passed at the client.
        """
        self.now_s = self.sent_s = 1_000.0
        self._pass_time = pass_time
        self._times: WeakKeyDictionary[Any, deque[float]] = WeakKeyDictionary()

    # What a step of a script uses as its stage and its clock

    @property
    def clock(self) -> "ServerTime":
        """The clock of a stage."""
        return self

    def until_shown(self, _text: str) -> None:
        """Do nothing: what was sent is shown when its time has come."""

    def until_waiting(self, _most_s: float) -> None:
        """Do nothing: a client waits for as long as nothing comes."""

    def elapse(self, seconds: float) -> None:
        """Let time pass at the server."""
        self.sent_s += seconds

    # What the client uses

    def now(self) -> float:
        """Return the time at the client."""
        return self.now_s

    def put(self, channel: Any, item: object) -> bool:
        """Add an item to a channel, with the time at which it was sent."""
        self._times.setdefault(channel, deque()).append(self.sent_s)
        return _PUT(channel, item)

    def finish(self, channel: Any, error: BaseException | None = None) -> None:
        """Finish a channel at the time of the server."""
        self._times.setdefault(channel, deque()).append(self.sent_s)
        _FINISH(channel, error)

    def wait_for(self, channel: Any, limit: object) -> None:
        """Let the time pass until the next item of a channel has come.

        Raises:
            WaitEnded: the limit was reached before.
        """
        times = self._times.get(channel)
        comes_s = times.popleft() if times else self.now_s
        if not isinstance(limit, Patience):
            return
        while comes_s > self.now_s:
            if (rest_s := limit.measure_rest()) <= 0:
                raise concurrency.WaitEnded
            before_s, self.now_s = self.now_s, min(comes_s, self.now_s + rest_s)
            self._pass_time(self.now_s - before_s)


class Wire:
    """Takes the place of litellm, and of the network below it.

    Attributes:
        time: the time at the server.
    """

    def __init__(self, reply: Callable[[Body, str], Script], time: ServerTime) -> None:
        """Connect a server.

        Args:
            reply: returns the reply to a body, given its text as well.
            time: the time of the server.
        """
        self._reply, self.time = reply, time
        hooks = open_client().event_hooks
        self._client = httpx.Client(
            transport=_Transport(self), event_hooks=hooks, follow_redirects=False
        )
        self._library = SimpleNamespace(
            completion=self._complete,
            Usage=lambda *_counts, **_details: None,
            cost_per_token=lambda **_call: (0.0001, 0.0001),
        )

    @contextmanager
    def install(self) -> Iterator[None]:
        """Call models over this wire within a `with` block."""

        def put(channel: Any, item: object) -> bool:
            return self.time.put(channel, item)

        def finish(channel: Any, error: BaseException | None = None) -> None:
            self.time.finish(channel, error)

        with ExitStack() as stack:
            for name, double in {
                "chains.model._litellm": lambda: self._library,
                # Whether an earlier test has loaded the library must change nothing.
                "chains.model.warm_up": lambda: concurrency.start_call(lambda: self._library),
                "chains.model.CLOCK": self.time,
                "chains.model.BACK_OFF_S": (0.0, 0.0),
                "chains.concurrency._Channel.put": put,
                "chains.concurrency._Channel.finish": finish,
            }.items():
                stack.enter_context(mock.patch(name, double))
            yield

    def _complete(self, *, api_key: str, extra_body: Body | None = None, **options: Any) -> Any:
        """Send a request as the library does, and read its answer."""
        for name in ("api_base", "timeout", "drop_params", "max_retries", "num_retries"):
            options.pop(name)
        options["model"] = options["model"].partition("/")[2]
        self.time.sent_s = self.time.now_s
        with self._client.stream(
            "POST",
            f"https://{HOST}/v1/chat/completions",
            json={**options, **(extra_body or {})},
            headers={"Authorization": f"Bearer {api_key}"},
        ) as response:
            deque(response.iter_bytes(), maxlen=0)
            if response.status_code >= 300:
                raise _LibraryError(response.status_code)
        return iter(())

    def answer(self, request: httpx.Request) -> httpx.Response:
        """Answer a request as the server does."""
        content = b"".join(request.stream)  # type: ignore[arg-type]
        trace = request.extensions["trace"]
        connection = SimpleNamespace(get_extra_info=lambda _name: _CLOSED)
        trace("connection.connect_tcp.complete", {"return_value": connection})
        body: Body = json.loads(content)
        reply = self._reply(body, content.decode())
        played = _play(reply(body) if callable(reply) else reply, str(body["model"]))
        self._take(played.before)
        headers = {"Content-Type": played.content_type, **played.headers}
        return httpx.Response(
            played.status, headers=headers, stream=_Stream(self._send(played, trace))
        )

    def _take(self, steps: tuple[Step, ...]) -> None:
        for step in steps:
            assert not isinstance(step, bytes)
            step(self.time)  # type: ignore[arg-type]

    def _send(self, played: Played, trace: Callable[..., None]) -> Iterator[bytes]:
        for step in played.steps:
            if isinstance(step, bytes):
                yield step
            else:
                self._take((step,))
        if played.ending == "end":
            return
        if played.ending == "open":  # nothing more ever comes
            self.time.sent_s = inf
        error = httpx.RemoteProtocolError("the peer has closed the connection")
        trace("http11.receive_response_body.failed", {"exception": error})
        raise error


class _LibraryError(Exception):
    """What the client library raises for an error status."""

    def __init__(self, status: int) -> None:
        super().__init__(f"Error code: {status}")
        self.status_code = status


class _Transport(httpx.BaseTransport):
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._wire.answer(request)


class _Stream(httpx.SyncByteStream):
    def __init__(self, source: Iterator[bytes]) -> None:
        self._source = source

    def __iter__(self) -> Iterator[bytes]:
        return self._source


def _play(reply: Reply, model: str) -> Played:
    """Return a reply as the steps of its body."""
    if isinstance(reply, Played):
        return reply
    if isinstance(reply, Failure):
        headers = {"Content-Type": "application/json", **reply.headers}
        return Played((reply.body.encode(),), (), reply.status, "application/json", headers)
    assert isinstance(reply, Answer)
    return Played(tuple(f"data: {event}\n\n".encode() for event in openai_events(reply, model)))
