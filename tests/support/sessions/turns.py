"""Run turns of a real assistant to their end."""

from collections.abc import Iterable
from typing import Any

from app.assistant import Assistant
from chains.cancel import CancelToken
from chains.events import AskResult, Event, TurnEnded
from chains.request.ask import Ask


def ask(assistant: Assistant, question: str, **fields: Any) -> list[Event]:
    """Ask a question and return all events of the turn."""
    return list(assistant.ask(Ask(question, **fields), CancelToken()))


def result_of(events: Iterable[Event]) -> AskResult:
    """Return the result of a turn, given its events."""
    *_, last = events
    assert isinstance(last, TurnEnded)
    return last.result
