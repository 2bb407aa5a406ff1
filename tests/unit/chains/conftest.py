"""What the tests of chains share: a scripted server, a chat in memory, requests to send."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from chains.cancel import CancelToken
from chains.models import ModelInfo
from chains.request.chain import Chain
from chains.request.draft import draft_turn, prepare_turn
from chains.request.request import TurnContext, TurnRequest
from chains.request.session import SessionView
from context.assemble.request import Request
from context.layers import Layer, Segment
from context.tokens import ByteEstimator
from tests.support.models.model_server import ModelServer
from tests.support.sessions.memory_session import MemorySession


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture
def session() -> MemorySession:
    return MemorySession()


@pytest.fixture
def pauses() -> list[float]:
    """How long was waited between tries; nobody really waits."""
    return []


@pytest.fixture
def pause(pauses: list[float]) -> Callable[[CancelToken, float], None]:
    def record(cancel: CancelToken, seconds: float) -> None:
        pauses.append(seconds)
        cancel.raise_if_cancelled()

    return record


@pytest.fixture
def ask() -> Callable[..., TurnRequest]:
    """Make a turn's request, with a server's address or any other field."""

    def make(question: str = "What is in my notes?", **fields: Any) -> TurnRequest:
        values: dict[str, Any] = {
            "mode": "vault",
            "model": "scripted",
            "api_base": "",
            "threshold": 8_000,
            "max_output_tokens": 512,
            "temperature": 0.2,
            "top_k": 8,
            "offline": False,
        }
        return TurnRequest(question, **(values | fields))

    return make


@pytest.fixture
def prepared(ask: Callable[..., TurnRequest]) -> Request:
    """A request that passed the guard."""
    chain, model = Chain("chat", lambda _: None), ModelInfo("scripted", None)
    view = SessionView("chat1")
    context = TurnContext(chain, ask("Say something."), view, model, ByteEstimator())
    return prepare_turn(context, draft_turn(context, None), "preview").request


@pytest.fixture
def source() -> Callable[..., Segment]:
    """Make a numbered passage of a note out of its raw text."""

    def make(number: int, text: str, first: int = 1, **fields: Any) -> Segment:
        values: dict[str, Any] = {
            "id": f"s{number}",
            "layer": Layer.L3,
            "kind": "passage",
            "source": f"Notes/Note {number}.md",
            "text": text,
            "lines": (first, first + text.count("\n")),
            "version": "v1",
            "title": f"Note {number}",
            "number": number,
        }
        return Segment.build(**(values | fields))

    return make
