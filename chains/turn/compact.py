"""Compactions as steps of a chain: who makes their summaries, and what is told of them meanwhile.

A history is compacted before a request that would not leave it its room, when a turn has ended,
when it is asked for, and after a service said that a request is too long.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import replace
from typing import Final, Literal, TypeVar

from chains.cancel import CancelToken
from chains.concurrency import Emit, WorkerPool, iterate
from chains.events import CompactionEnded, CompactionStarted, Event
from chains.llm.port import ModelPort
from chains.models import ModelInfo
from chains.request.request import Means, PreparedTurn, Summariser, TurnRequest, inputs_of
from chains.request.session import SessionPort
from chains.request.usage import Spend
from chains.tokenizer import counter_for
from chains.turn.summarizer import PROMPT, Summarizer
from context.assemble.inputs import SummaryTask
from context.budget import room_for
from context.fit.force_compact import Forced, compact_when_due, force_compact
from context.log.entries import Entry

__all__ = ["FindModel", "compact", "compact_at_end", "prepared", "summariser"]

NO_TURN: Final = ""  # no turn is being worked on, so that the last one is history too

# What runs here waits for calls of models in the other pool, which must not be full of it.
_PREPARING: Final = WorkerPool(4)

T = TypeVar("T")

# Returns what is known of a model, and who is asked for it.
FindModel = Callable[[str], tuple[ModelInfo, ModelPort]]


def summariser(
    request: TurnRequest, means: Means, find: FindModel, cancel: CancelToken
) -> Summariser | None:
    """Return who makes summaries for a chat; None where no model does."""
    name = request.summarised_by
    if not name:
        return None

    def summarise(task: SummaryTask, spend: Spend) -> str:
        info, model = find(name)
        counter = means.counter if name == request.model else counter_for(name)
        limits = request.threshold, info.input_limit, request.max_output_tokens
        room = task.room if name == request.model else room_for(counter, *limits)
        return Summarizer(
            name=name,
            model=lambda: model,
            counter=counter,
            room=room,
            sections=means.additions.prompts(PROMPT).sections,
            cancel=cancel,
            temperature=request.temperature,
            takes_marks=info.takes_marks,
            spend=spend,
        )(task)

    return summarise


def prepared(
    prepare: Callable[[Means], PreparedTurn],
    means: Means,
    cancel: CancelToken,
) -> Generator[Event, None, PreparedTurn]:
    """Prepare a request in the pool, and tell of a compaction that it takes."""
    turn, has_begun = yield from _told(prepare, means, cancel, "auto")
    actions = turn.request.report.actions
    if actions.compaction is not None:
        yield from _ended(actions.compaction, has_begun, "block" if actions.block else "auto")
    return turn


def compact(
    request: TurnRequest,
    session: SessionPort,
    means: Means,
    cancel: CancelToken,
    instructions: str = "",
    *,
    turn: str = NO_TURN,
    reason: Literal["asked", "overflow"] = "asked",
) -> Generator[Event, None, Forced]:
    """Compact a chat apart from any request; it is stored where it frees anything.

    Args:
        instructions: what the user wants to see in the summary.
        turn: the one that is being worked on, which stays as it is.
        reason: `asked` for a summary of everything before the last complete turn; `overflow` for
            the usual share of the room.
    """

    def run(means: Means) -> tuple[Forced, list[Entry]]:
        kept: list[Entry] = []
        inputs = inputs_of(request, session, means, session.path(), turn)
        inputs = replace(inputs, summary_instructions=instructions)
        return force_compact(inputs, means.ports(session, kept, turn), reason), kept

    (forced, kept), has_begun = yield from _told(run, means, cancel, reason)
    if kept:
        session.append(kept)
    yield from _ended(forced.to_dict(), has_begun, reason)
    return forced


def compact_at_end(
    request: TurnRequest, session: SessionPort, means: Means, turn: str, cancel: CancelToken
) -> Generator[Event]:
    """Compact a chat whose turn has ended, where it fills its room."""

    def run(means: Means) -> tuple[Forced | None, list[Entry]]:
        kept: list[Entry] = []
        inputs = inputs_of(request, session, means, session.path(), NO_TURN)
        return compact_when_due(inputs, means.ports(session, kept, turn)), kept

    (forced, kept), has_begun = yield from _told(run, means, cancel, "auto")
    if kept:
        session.append(kept)
    if forced is not None:
        yield from _ended(forced.to_dict(), has_begun, "auto")


def _told(
    run: Callable[[Means], T], means: Means, cancel: CancelToken, reason: str
) -> Generator[Event, None, tuple[T, bool]]:
    """Run in a pool, and say so where a model is asked for a summary; return whether it was."""
    results: list[T] = []
    has_begun = False

    def produce(emit: Emit[Event]) -> None:
        results.append(run(_announcing(means, emit, reason)))

    for event in iterate(produce, cancel, _PREPARING):
        has_begun = True
        yield event
    return results[0], has_begun


def _ended(result: Mapping[str, object], has_begun: bool, reason: str) -> Iterator[Event]:
    if not has_begun:
        yield CompactionStarted(reason)
    yield CompactionEnded(result)


def _announcing(means: Means, emit: Emit[Event], reason: str) -> Means:
    summarise = means.summarise
    if summarise is None:
        return means

    def announced(task: SummaryTask, spend: Spend) -> str:
        emit(CompactionStarted(reason))
        return summarise(task, spend)

    return replace(means, summarise=announced)
