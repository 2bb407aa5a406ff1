"""Build the content of a request, before messages are shortened and the budget is enforced.

The content is called the draft. It contains the history (shortened as the log says), the turn's
context, attachments carried forward from earlier turns, the session's memory, and the turn's tool
calls so far.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from context.assemble.apply_hooks import make_uncached_message
from context.assemble.attachments import (
    CARRY_FORWARD_SHARE,
    CarryForward,
    describe_excluded,
    describe_exclusion,
    make_carry_forward,
)
from context.assemble.inputs import Ports
from context.assemble.request import Request
from context.assemble.turn_context import (
    FittedTail,
    count_lasting_start,
    count_lasting_tail,
    fit_passages,
)
from context.draft import RequestDraft, Tail, make_preamble
from context.envelope import ContextEnvelope
from context.errors import BadInputs
from context.history import tool_pairing
from context.history.boundaries import (
    TrimInput,
    TrimOffsets,
    find_trim_offsets,
    split_dropped_turns,
)
from context.history.memory import MEMORY_CHANGED
from context.history.pins import PINNED_SOURCE
from context.history.replay import CurrentTurn, ReplayedPath
from context.history.turn_list import TurnList
from context.history.turns import LoggedTurn, MeasuredTurn
from context.layers import Layer, Segment
from context.messages import Message
from context.tokens import TokenCounter

NOTHING_KEPT: Final = "(nothing)"


def draft_request(request: Request) -> Request:
    """Build the content of a request from the conversation, as changed by hooks.

    If the request was drafted before, the unpinned segments from earlier turns (L2) stay the same.

    Raises:
        BadInputs: when the path does not end with this turn's user message or its tool calls.
    """
    reading, counter = request.reading, request.counter
    current = reading.open
    if current is None or not _is_open(current.turn, request.turn):
        raise BadInputs(f"The path does not end with the open question of turn {request.turn}.")
    carried = _make_carry_forward(request) if request.state == "new" else request.carry_forward
    kept, dropped_turns = split_dropped_turns(reading.drops, reading.earlier, request.epoch)
    lead, question, work = current.parts
    history = _append_lead(kept, lead, counter)
    acts = find_acts(reading, history, work, request.reading_tools)
    trim_input = TrimInput(history, question, work, reading.pins.messages | acts, counter)
    trims = [trim for trim in reading.trims if request.epoch.binds(trim)]
    offsets = find_trim_offsets(trims, trim_input.messages) if trims else TrimOffsets()
    if trims:
        history, work = trim_input.list_shown_parts(offsets)
    pinned = _collect_pins(reading, request.ports, (history, work), current.turn.segments)
    segments = (*pinned, *carried.without(pinned), *_hide_segments(current, reading, request.ports))
    fitted = _fit_tail(request, current, segments)
    preamble = make_preamble(request.base.system, request.base.tools, counter)
    uncached = _make_uncached(reading, request.base)
    parts = preamble, history, fitted.tail, work, uncached, reading.pins, acts, request.end_tools
    draft = RequestDraft(*parts)
    return replace(
        request,
        state="drafted",
        draft=draft,
        unguarded=draft,
        trim_input=trim_input,
        offsets=offsets,
        dropped_turns=dropped_turns,
        lasting_tokens=_count_lasting(request, draft),
        carry_forward=carried,
        offered=(*segments, *carried.dropped),
        oversized=(*carried.dropped, *fitted.dropped),
    )


def _fit_tail(request: Request, current: CurrentTurn, segments: tuple[Segment, ...]) -> FittedTail:
    """Build the last user message with its context, without the passages that exceed their share.

    Args:
        request: the request, with its conversation.
        current: the turn in progress.
        segments: the context of the turn, and that of earlier turns.
    """
    tools = frozenset(tool.name for tool in request.base.tools)
    notes = request.deferral.add_note(current.memory.render())
    tail = Tail(segments, current.parts[1], request.counter, notes, tools)
    return fit_passages(tail, request.budget_tokens)


def _hide_segments(
    current: CurrentTurn, reading: ReplayedPath, ports: Ports
) -> tuple[Segment, ...]:
    """Return the segments of the turn with a notice for each note that is excluded since."""
    segments = current.turn.segments
    if ports.find_excluded is None or not segments:
        return segments
    excluded = ports.find_excluded(frozenset(one.source for one in segments if not one.is_web))
    excluded |= reading.excluded  # also what was moved away and is excluded there
    return tuple(describe_exclusion(one) if one.source in excluded else one for one in segments)


def _count_lasting(request: Request, draft: RequestDraft) -> int:
    """Count the tokens to reserve, in this and later requests, for all but history and work."""
    preamble = draft.preamble
    size = preamble.tool_tokens + preamble.system_tokens
    start = count_lasting_start(size, request.path, request.turn)
    return start + count_lasting_tail(draft.tail, request.reading.earlier, request.budget_tokens)


def find_acts(
    reading: ReplayedPath,
    history: TurnList,
    work: Sequence[Message],
    reading_tools: frozenset[str] | None,
) -> frozenset[str]:
    """Return the ids of the messages with results of tools that may have changed something.

    Args:
        reading: the turns and other state that were rebuilt from the log.
        history: the earlier turns.
        work: the tool calls and results of the current turn.
        reading_tools: the names of the tools that only read, or None if all tools do.
    """
    if reading_tools is None:
        return frozenset()
    read = reading.open.turn.read if reading.open else frozenset()
    acts = tool_pairing.find_acts(work, read, reading_tools)
    return acts | history.find_acts(reading_tools)


def _is_open(turn: LoggedTurn, turn_id: str) -> bool:
    return turn.user is not None and turn.turn_id == turn_id and not turn.is_ended


def _make_carry_forward(request: Request) -> CarryForward:
    """Build the carry-forward layer (L2) for the first request of a turn.

    For later requests of the turn, the result is empty, because these requests reuse the segments
    of the first one.
    """
    reading, tools = request.reading, {tool.name for tool in request.base.tools}
    segments = reading.open.turn.segments if reading.open else ()
    is_made = request.number > 1 or any(segment.layer is Layer.L2 for segment in segments)
    if request.ports.resolve is None or is_made:
        return CarryForward()
    share = int(request.budget_tokens * CARRY_FORWARD_SHARE)
    # Pinned segments are sent in any case. They do not count towards the share.
    carried = reading.carried.without(reading.pins.segments)
    return make_carry_forward(
        carried, segments, request.ports.resolve, request.counter, share, tools
    )


def _collect_pins(
    reading: ReplayedPath,
    ports: Ports,
    shown: tuple[TurnList, tuple[Message, ...]],
    found: tuple[Segment, ...],
) -> tuple[Segment, ...]:
    """Return the pinned items that the request does not contain yet.

    A notice replaces each note that is now excluded.

    Args:
        reading: the turns and other state that were rebuilt from the log.
        ports: the ports of the request.
        shown: the history, and the tool calls of the current turn.
        found: the segments of the current turn.
    """
    if not reading.pins.segments:
        return ()
    history, work = shown
    messages = (*history.messages, *work)
    moved = []
    for segment in reading.pins.select_moved(messages, found):
        if segment.source == PINNED_SOURCE:
            moved.append(segment)
        elif segment.source in reading.excluded:
            moved.append(describe_exclusion(segment))
        elif ports.resolve is not None:
            moved.append(describe_excluded(segment, ports.resolve) or segment)
    return tuple(moved)


def _append_lead(history: TurnList, lead: tuple[Message, ...], counter: TokenCounter) -> TurnList:
    """Append to the history the messages that hooks inserted before the user message."""
    if not lead:
        return history
    ids = tuple(message.id for message in lead if message.id is not None)
    return TurnList.of((*history, MeasuredTurn.measure(LoggedTurn("", ids, None), lead, counter)))


def _make_uncached(reading: ReplayedPath, envelope: ContextEnvelope) -> Message | None:
    """Build the message that is sent only once, from memory changes and the messages of hooks."""
    changed = ""
    if reading.open is not None and reading.open.memory != reading.memory:
        changed = f"{MEMORY_CHANGED}\n{reading.memory.render() or NOTHING_KEPT}"
    return make_uncached_message([changed], envelope.messages.uncached)
