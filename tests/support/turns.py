"""Turns of a real assistant, run to their end."""

from collections.abc import Iterable
from typing import Any

from app.assistant import Assistant
from app.sessions.ask import AskRequest
from chains.cancel import CancelToken
from chains.events import AskResult, Event, TurnEnded


def ask(assistant: Assistant, question: str, **fields: Any) -> list[Event]:
    """Ask, and return all that happened."""
    return list(assistant.ask(AskRequest(question, **fields), CancelToken()))


def result_of(events: Iterable[Event]) -> AskResult:
    """Return what a turn came to."""
    *_, last = events
    assert isinstance(last, TurnEnded)
    return last.result
