"""Build the plan of a request: its draft before new trims, a compaction and the guard.

The draft holds the history after the stored trims and drops, the turn's context, carry-forward,
memory, and the work so far.
"""

from dataclasses import dataclass
from typing import Final

from context.assemble.apply_hooks import HookedPath, make_uncached_message
from context.assemble.attachments import (
    CARRY_FORWARD_SHARE,
    CarryForward,
    describe_excluded,
    make_carry_forward,
)
from context.assemble.inputs import Ports, PrepareInputs, PreviousQuestion
from context.assemble.request import RequestDraft, Tail, make_preamble
from context.assemble.turn_context import count_lasting_tail, fit_passages
from context.budget import RequestBudget
from context.envelope import ContextEnvelope
from context.errors import BadInputs
from context.history.boundaries import (
    Epoch,
    TrimInput,
    TrimOffsets,
    count_dropped_turns,
    find_trim_offsets,
)
from context.history.memory import MEMORY_CHANGED
from context.history.pins import PINNED_SOURCE
from context.history.replay import ReplayedPath
from context.history.turn_list import TurnList
from context.history.turns import MeasuredTurn, Turn
from context.layers import Layer, Segment
from context.messages import Message
from context.tokens import TokenCounter

NOTHING_KEPT: Final = "(nothing)"


@dataclass(frozen=True)
class RequestPlan:
    """The plan of a request: its draft before the guard, and the values that decisions need.

    Attributes:
        line: history, user message and work before trimming, without dropped turns.
        reach: how far `line` is trimmed.
        standing_tail: the tokens that the history leaves free for the tails of later requests too.
        resting: the turns that stored drops leave out.
        prior: L2, if this request built it.
        found: all segments of this turn and of L2, before any was left out.
        unfit: the segments that exceed the share of their kind.
        asked: the user message of the previous request.
    """

    draft: RequestDraft
    line: TrimInput
    reach: TrimOffsets
    standing_tail: int
    resting: TurnList
    prior: CarryForward
    found: tuple[Segment, ...]
    unfit: tuple[Segment, ...]
    asked: PreviousQuestion


def build_plan(
    inputs: PrepareInputs,
    ports: Ports,
    room: RequestBudget,
    shaped: HookedPath,
    prior: CarryForward | None = None,
) -> RequestPlan:
    """Build the plan of a request from its replayed and hooked path.

    Args:
        prior: L2 without pins, if it is built already.

    Raises:
        BadInputs: when the path does not end with this turn's user message or its work.
    """
    reading, counter = shaped.reading, ports.counter
    current = reading.open
    if current is None or not _is_open(current.turn, inputs.turn):
        raise BadInputs(f"The path does not end with the open question of turn {inputs.turn}.")
    prior = _make_carry_forward(inputs, ports, room, shaped) if prior is None else prior
    epoch = Epoch(room.budget, inputs.model)
    cut = count_dropped_turns(reading.drops, reading.earlier, epoch)
    lead, question, work = current.parts
    history = _append_lead(reading.earlier[cut:], lead, counter)
    line = TrimInput(history, question, work, reading.pins.messages, counter)
    trims = [trim for trim in reading.trims if epoch.binds(trim)]
    reach = find_trim_offsets(trims, line.messages) if trims else TrimOffsets()
    if trims:
        history, work = line.shown_parts(reach)
    found = current.turn.segments
    pinned = _collect_pins(reading, ports, (history, work), found)
    told = (*pinned, *prior.without(pinned), *found)
    tools = frozenset(tool.name for tool in shaped.envelope.tools)
    tail = Tail(told, question, counter, current.memory.render(), tools)
    fitted = fit_passages(tail, room.budget)
    before = make_preamble(shaped.envelope.system, shaped.envelope.tools, counter)
    uncached = _make_uncached(reading, shaped.envelope)
    return RequestPlan(
        draft=RequestDraft(before, history, fitted.tail, work, uncached, reading.pins),
        line=line,
        reach=reach,
        standing_tail=count_lasting_tail(fitted.tail, reading.earlier, room.budget),
        resting=reading.earlier[:cut],
        prior=prior,
        found=(*told, *prior.dropped),
        unfit=(*prior.dropped, *fitted.dropped),
        asked=_find_previous_question(inputs, reading),
    )


def _is_open(turn: Turn, turn_id: str) -> bool:
    return turn.user is not None and turn.turn_id == turn_id and not turn.is_ended


def _make_carry_forward(
    inputs: PrepareInputs, ports: Ports, room: RequestBudget, shaped: HookedPath
) -> CarryForward:
    """Build L2 in the first request of a turn. Later requests keep that."""
    reading, tools = shaped.reading, {tool.name for tool in shaped.envelope.tools}
    segments = reading.open.turn.segments if reading.open else ()
    is_made = inputs.request > 1 or any(segment.layer is Layer.L2 for segment in segments)
    if ports.resolve is None or is_made:
        return CarryForward()
    share = int(room.budget * CARRY_FORWARD_SHARE)
    return make_carry_forward(reading.carried, segments, ports.resolve, ports.counter, share, tools)


def _collect_pins(
    reading: ReplayedPath,
    ports: Ports,
    shown: tuple[TurnList, tuple[Message, ...]],
    found: tuple[Segment, ...],
) -> tuple[Segment, ...]:
    """Collect pinned items whose turn is not sent. An excluded note becomes a notice."""
    if not reading.pins.segments:
        return ()
    history, work = shown
    messages = (*history.messages, *work)
    moved = []
    for segment in reading.pins.select_moved(messages, found):
        if segment.source == PINNED_SOURCE:
            moved.append(segment)
        elif ports.resolve is not None:
            moved.append(describe_excluded(segment, ports.resolve) or segment)
    return tuple(moved)


def _append_lead(history: TurnList, lead: tuple[Message, ...], counter: TokenCounter) -> TurnList:
    """Append the messages that an extension added before the user message to the history."""
    if not lead:
        return history
    ids = tuple(message.id for message in lead if message.id is not None)
    return TurnList.of((*history, MeasuredTurn.measure(Turn("", ids, None), lead, counter)))


def _make_uncached(reading: ReplayedPath, envelope: ContextEnvelope) -> Message | None:
    """Build the message with changes of the memory and with content for this request alone."""
    changed = ""
    if reading.open is not None and reading.open.memory != reading.memory:
        changed = f"{MEMORY_CHANGED}\n{reading.memory.render() or NOTHING_KEPT}"
    return make_uncached_message([changed], envelope.messages.uncached)


def _find_previous_question(inputs: PrepareInputs, reading: ReplayedPath) -> PreviousQuestion:
    if inputs.request > 1 and reading.open is not None:
        return PreviousQuestion(reading.open.parts[1].text, is_same_turn=True)
    earlier = (turn.turn.user for turn in reversed(reading.earlier))
    last = next((user for user in earlier if user is not None), None)
    return PreviousQuestion(None if last is None else last.message.text)
