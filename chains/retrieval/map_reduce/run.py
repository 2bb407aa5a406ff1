"""Reading whole as a step of a turn, before its first request is prepared.

It is planned first, and what that takes at most can be shown; only then a model is asked. What its
service counted is kept in the log, also where reading came to nothing.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from chains.cancel import CancelToken
from chains.errors import CannotRead
from chains.events import Event, TurnEnded, Usage
from chains.llm.port import ModelPort
from chains.models import EXTRACTIVE
from chains.request.request import ChatPort, Means, SessionPort, TurnRequest, factor_so_far
from chains.request.usage import counted
from chains.retrieval.attachments import Room, too_large
from chains.retrieval.map_reduce.calls import CountedCall, Reader
from chains.retrieval.map_reduce.plan import PROMPT, Asked, Plan, plan_reading
from context.budget import room_for
from context.layers import Segment

__all__ = ["ReadWhole", "keep_counts", "plan_of", "read_whole", "told_with"]

FOR_NOTES: Final = 0.75  # of what attachments may take; passages want some of it too
HEAD_TOKENS: Final = 120  # of the segment that holds the notes
READING: Final = "read"


@dataclass(frozen=True)
class ReadWhole:
    """What reading came to.

    Attributes:
        attached: all that was attached, notes in place of what was read.
        told: what it took, as `read_whole` in the result of the turn.
        warnings: what is missing from the notes, one sentence each.
        counted: what the service counted, for each call.
    """

    attached: tuple[Segment, ...]
    told: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    counted: tuple[CountedCall, ...] = ()


def plan_of(request: TurnRequest, means: Means, room: Room, chat: ChatPort) -> Plan | None:
    """Return how what is too large to be sent is read whole; None where nothing is.

    Raises:
        CannotRead: there is no model, no room, or it would take too many calls.
    """
    large = too_large(request.attached, room, means.counter)
    if not large.segments:
        return None
    if request.model == EXTRACTIVE:
        raise CannotRead(
            "Reading an attachment whole takes a model, and no model is set. Set one, or have it "
            "searched for what is closest to the question."
        )
    limits = request.threshold, means.model.input_limit, request.max_output_tokens
    factor = factor_so_far(chat, request.model)
    asked = Asked(
        question=request.question,
        model=request.model,
        room=room_for(means.counter, *limits, factor),
        sections=means.additions.prompts(PROMPT).sections,
        counter=means.counter,
        session=chat.id or None,
        temperature=request.temperature,
    )
    notes_room = int(large.room * FOR_NOTES) - HEAD_TOKENS * len(large.segments)
    return plan_reading(large.segments, large.sizes, notes_room, asked)


def read_whole(
    plan: Plan,
    request: TurnRequest,
    means: Means,
    model: Callable[[], ModelPort],
    session: SessionPort,
    cancel: CancelToken,
) -> Generator[Event, None, ReadWhole]:
    """Read what is planned.

    Raises:
        ModelError: more than half of an attachment's parts could not be read.
        Cancelled: the token was cancelled.
    """
    reader = Reader(plan, model, cancel)
    try:
        segments = yield from reader.read()
    except BaseException:
        keep_counts(reader.counted, request, session)
        raise
    made = {one.segment.id: notes for one, notes in zip(plan.readings, segments, strict=True)}
    attached = tuple(made.get(segment.id, segment) for segment in request.attached)
    told = plan.cost(means.model).to_dict() | {"done": _done(reader)}
    return ReadWhole(attached, told, tuple(reader.warnings), tuple(reader.counted))


def keep_counts(calls: Sequence[CountedCall], request: TurnRequest, session: SessionPort) -> None:
    """Write what the service counted for calls of a turn to the log of its chat."""
    entries = [
        counted(session, request.turn or "", call.report, call.usage, purpose=READING)
        for call in calls
    ]
    if entries:
        session.append(entries)


def told_with(read: ReadWhole, events: Iterator[Event]) -> Iterator[Event]:
    """Add to the end of a turn what reading took."""
    with closing(cast(Generator[Event], events)) as told:
        for event in told:
            if isinstance(event, TurnEnded):
                used = _sum(read.counted, event.result.usage)
                yield TurnEnded(replace(event.result, usage=used, read_whole=read.told))
            else:
                yield event


def _done(reader: Reader) -> dict[str, Any]:
    usage = _sum(reader.counted)
    return {
        "calls": reader.calls,
        "prompt_tokens": usage.prompt_tokens if usage else None,
        "output_tokens": usage.completion_tokens if usage else None,
        "failed": [
            {"source": gap.source, "lines": list(gap.lines), "reason": gap.reason}
            for gap in reader.unread
        ],
    }


def _sum(counted: Sequence[CountedCall], more: Usage | None = None) -> Usage | None:
    total = more
    for one in counted:
        total = one.usage.plus(total)
    return total
