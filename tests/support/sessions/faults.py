"""Raise an exception at any step of a turn, however unlikely it is there.

A `Place` is a method that turns call. `count_calls` finds out how often one turn calls each place,
and `raise_at` lets one of these calls fail. Kinds of exceptions that are no `Exception` count too:
a hook or a library may end "the program" with them, in a thread that is not the main one.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, NamedTuple

import pytest

from app.library.library import Library
from app.rpc import jobs
from app.rpc.wire import Wire
from app.sessions.session import Session
from app.sessions.store import SessionStore
from app.state_db import StateDB
from chains.model import LiteLLMModel
from chains.tools.approval_desk import ApprovalDesk
from chains.tools.registry import ToolRegistry
from chains.turn import agent, run
from chains.turn.answer import AnswerStream
from context.hooks import HookRegistry
from vault.vault import Vault


class Place(NamedTuple):
    """A method or function that a turn calls, by its owner and its name there."""

    kind: str
    owner: Any
    name: str

    @property
    def label(self) -> str:
        """The place in the name of a test."""
        return f"{self.kind}: {self.owner.__name__.rpartition('.')[2]}.{self.name}"


class Ending(BaseException):
    """An exception that `except Exception` does not catch."""


ERRORS: Final[tuple[Callable[[], BaseException], ...]] = (
    partial(ValueError, "injected"),
    partial(OSError, 5, "injected"),
    MemoryError,
    StopIteration,
    partial(SystemExit, 3),
    KeyboardInterrupt,
    GeneratorExit,
    Ending,
)
# Where any front end runs through.
PLACES: Final = (
    Place("model", LiteLLMModel, "stream"),
    Place("model", LiteLLMModel, "_call"),
    Place("model", AnswerStream, "_take"),
    Place("model", AnswerStream, "_store"),
    Place("tool", ToolRegistry, "run"),
    Place("tool", ToolRegistry, "propose"),
    Place("tool", ToolRegistry, "apply"),
    Place("tool", agent, "offload_result"),
    Place("hook", HookRegistry, "run_message"),
    Place("hook", HookRegistry, "run_agent_start"),
    Place("hook", HookRegistry, "run_context"),
    Place("store", SessionStore, "open"),
    Place("store", SessionStore, "_append_partial"),
    Place("store", Session, "append"),
    Place("store", Session, "new_id"),
    Place("store", Session, "save_request"),
    Place("store", Session, "recall_counts"),
    Place("store", Session, "keep_counts"),
    Place("store", StateDB, "save_request"),
    Place("store", SessionStore, "_remember"),
    Place("retrieval", Library, "freshen"),
    Place("retrieval", Vault, "search"),
    Place("retrieval", run, "retrieve"),
    Place("retrieval", run, "fit_attachments"),
    Place("answer", run, "prepare_turn"),
    Place("answer", run, "check_answer"),
    Place("answer", run, "end_turn"),
)
RPC_PLACES: Final = (
    Place("approval", ApprovalDesk, "open"),
    Place("approval", ApprovalDesk, "decide"),
    Place("writer", jobs, "convert_event"),
    Place("writer", Wire, "respond"),
    Place("writer", Wire, "event"),
    Place("writer", Wire, "_line"),
)


@contextmanager
def count_calls(places: tuple[Place, ...]) -> Iterator[Mapping[Place, int]]:
    """Count how often each place is called in the `with` block."""
    counts: Counter[Place] = Counter()
    with pytest.MonkeyPatch.context() as patch:
        for place in places:
            _wrap(patch, place, partial(counts.update, [place]))
        yield counts


class Fault:
    """Raises an exception at one of many calls."""

    def __init__(self, call: int, error: BaseException) -> None:
        self._calls_left, self._error = call, error

    @property
    def is_raised(self) -> bool:
        """Whether the exception has been raised."""
        return self._calls_left <= 0

    def count(self) -> None:
        """Count a call, and raise the exception if it is the one that fails."""
        self._calls_left -= 1
        if self._calls_left == 0:
            raise self._error


@contextmanager
def raise_at(place: Place, call: int, error: BaseException) -> Iterator[Fault]:
    """Let one call of a place fail in the `with` block.

    Args:
        call: which of its calls fails, counted from 1.
        error: the exception that the call raises.
    """
    fault = Fault(call, error)
    with pytest.MonkeyPatch.context() as patch:
        _wrap(patch, place, fault.count)
        yield fault


def _wrap(patch: pytest.MonkeyPatch, place: Place, before: Callable[[], object]) -> None:
    original = getattr(place.owner, place.name)

    def wrapped(*args: Any, **fields: Any) -> Any:
        before()
        return original(*args, **fields)

    patch.setattr(place.owner, place.name, wrapped)
