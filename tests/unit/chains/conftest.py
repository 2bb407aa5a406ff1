"""What the tests of chains share: a scripted server, a chat in memory, requests to send."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from app.config.settings import Settings
from chains.cancel import CancelToken
from chains.models import ModelInfo
from chains.request.ask import Ask
from chains.request.draft import draft_turn, prepare_turn
from chains.request.session import SessionView
from chains.request.turn import Turn, TurnPorts, TurnSettings
from context.assemble.request import Request
from context.layers import Layer, Segment
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


# The settings as they are when nothing is set.
SETTINGS = TurnSettings.read(Settings())
SHORT_NAMES = {
    "api_base": "chat_api_base",
    "threshold": "auto_compact_threshold",
    "temperature": "chat_temperature",
    "offline": "privacy_offline",
    "rewrites": "retrieval_rewrite",
    "trim_at": "context_trim_at",
    "compact_at": "context_compact_at",
    "block_at": "context_block_at",
    "auto_compact": "context_auto_compact",
    "keep_last": "context_keep_last_assistant_messages",
    "clean_after": "history_clean_tool_output_after_turns",
    "summary_model": "chat_summary_model",
    "local_context": "chat_local_context",
    "max_seconds": "chat_max_seconds",
    "image_models": "chat_image_models",
}


@pytest.fixture
def ask() -> Callable[..., Turn]:
    """Make a turn: fields of the question, settings by short names, ports, and any other field."""

    def make(question: str = "What is in my notes?", **fields: Any) -> Turn:
        known: dict[str, Any] = {"model": "scripted", "threshold": 8_000, "max_output_tokens": 512}
        known = {SHORT_NAMES.get(name, name): value for name, value in (known | fields).items()}

        def take(names: Iterable[str]) -> dict[str, Any]:
            return {name: known.pop(name) for name in set(names) & known.keys()}

        model = known.pop("model")
        settings = replace(SETTINGS, **take(vars(SETTINGS)))
        asked = Ask(question, **take(vars(Ask("")).keys() - {"session"}))
        ports = TurnPorts(lambda _: None, **take(vars(TurnPorts(lambda _: None))))
        return Turn(asked, model, settings, ports, **known)

    return make


@pytest.fixture
def prepared(ask: Callable[..., Turn]) -> Request:
    """A request that passed the guard."""
    model, view = ModelInfo("scripted", None), SessionView("chat1")
    turn = ask("Say something.", mode="chat", model=model.name, session=view)
    request, _ = prepare_turn(draft_turn(replace(turn, model=model), None), "preview")
    return request


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
