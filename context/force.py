"""A compaction apart from any request: asked for, or due when a turn has ended."""

from dataclasses import dataclass

from context.boundaries import Epoch, Reach, reach_of, resting_cut, shown_turns
from context.budget import Room
from context.compaction import CompactResult
from context.conversation import Conversation, read_path
from context.draft import preamble
from context.inputs import Ports, PrepareInputs
from context.measured import MeasuredTurn
from context.pipeline import room_of
from context.settle import Past, Standing, Why, compact, compaction_json
from context.shaping import envelope_of, linked
from context.summaries import Maker
from context.tokens import TokenCounter
from context.turn_list import TurnList

__all__ = ["Forced", "compact_when_due", "force_compact"]


@dataclass(frozen=True)
class Forced:
    """What a compaction did.

    Attributes:
        entry: where it is stored; None where there was nothing to compact.
    """

    result: CompactResult
    entry: str | None
    summary: str
    by: Maker
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return it as JSON."""
        return compaction_json(self.result, self.entry, self.summary, self.by)


def force_compact(inputs: PrepareInputs, ports: Ports) -> Forced:
    """Make a summary of everything before the last complete turn, whatever the fill.

    What it comes to is appended in one write; where it frees nothing, nothing is.

    Args:
        inputs: as for a request; the path may also end with an answer, and a turn that is worked on
            stays as it is.

    Source: "Context Management Enhancements", 7.
    """
    room = room_of(inputs, ports.counter)
    past = _past(inputs, ports, room)
    compacted = _compact(past, inputs, ports, room, "asked")
    if compacted is not None:
        return compacted
    tokens, messages = past.shown.tokens, past.shown.message_count
    return Forced(CompactResult(tokens, tokens, messages, messages, ()), None, "", "none")


def compact_when_due(inputs: PrepareInputs, ports: Ports) -> Forced | None:
    """Compact a chat whose turn has ended and that fills its room; `None` where it does not."""
    upkeep = inputs.upkeep
    room = room_of(inputs, ports.counter)
    if upkeep is None or not upkeep.auto_compact:
        return None
    if ports.breaker is not None and ports.breaker.is_tripped(inputs.model, room.budget):
        return None
    past = _past(inputs, ports, room)
    if not _standing(past, room).should_compact(upkeep):
        return None
    return _compact(past, inputs, ports, room, "auto")


def _compact(
    past: Past, inputs: PrepareInputs, ports: Ports, room: Room, why: Why
) -> Forced | None:
    compacted = compact(past, _standing(past, room), inputs, ports, room, why)
    if compacted is None:
        return None
    entries = linked(compacted.entries, inputs.path[-1].id)
    ports.append(entries)
    told = compacted.summary, compacted.by, compacted.warnings
    return Forced(compacted.result, compacted.entry, *told)


def _standing(past: Past, room: Room) -> Standing:
    beside = past.preamble.tool_tokens + past.preamble.system_tokens
    return Standing(room.budget, beside, past.shown.tokens, 0)


def _past(inputs: PrepareInputs, ports: Ports, room: Room) -> Past:
    reading, counter = read_path(inputs.path, ports.counter), ports.counter
    envelope = envelope_of(inputs, ports, room, reading)
    turns = _turns(reading, inputs.turn, counter)
    epoch = Epoch(room.budget, inputs.model)
    cut = resting_cut(reading.drops, turns, epoch)
    said = turns[cut:]
    trims = [trim for trim in reading.trims if epoch.binds(trim)]
    messages = tuple(said.messages)
    reach = reach_of(trims, messages) if trims else Reach()
    shown = shown_turns(said, reach, reading.pins.messages, counter)
    start = preamble(envelope.system, envelope.tools, counter)
    return Past(shown, said, turns[:cut], reading.pins.messages, start)


def _turns(reading: Conversation, turn: str, counter: TokenCounter) -> TurnList:
    """The turns of a chat; the last one too, unless it is being worked on."""
    current = reading.open
    is_worked_on = current is not None and current.turn.turn_id == turn
    if current is None or (is_worked_on and not current.turn.is_ended):
        return reading.earlier
    last = MeasuredTurn.measure(current.turn, current.as_history, counter)
    return TurnList.of((*reading.earlier, last))
