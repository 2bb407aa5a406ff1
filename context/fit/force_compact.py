"""A compaction apart from any request: asked for, or due when a turn has ended."""

from dataclasses import dataclass

from context.assemble.apply_hooks import envelope_of, linked
from context.assemble.base import Line
from context.assemble.inputs import Ports, PrepareInputs, room_of
from context.assemble.request import Tail, preamble
from context.assemble.turn_context import standing_tail
from context.budget import Room
from context.compaction import CompactResult
from context.fit.policy import Past, Standing, Why, compact, compaction_json
from context.fit.summaries import Maker
from context.history.boundaries import Epoch, Reach, reach_of, resting_cut
from context.history.replay import Conversation, OpenTurn, read_path
from context.layers import Layer
from context.messages import Message
from context.tokens import TokenCounter, count_message

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


def force_compact(inputs: PrepareInputs, ports: Ports, why: Why = "asked") -> Forced:
    """Compact a chat apart from any request, whatever its fill.

    What it comes to is appended in one write; where it frees nothing, nothing is.

    Args:
        inputs: as for a request; the path may also end with an answer, and a turn that is worked on
            stays as it is.
        why: `asked` makes a summary of everything before the last complete turn; any other reason
            compacts to the usual share of the room.

    Source: "Context Management Enhancements", 7.
    """
    room = room_of(inputs, ports.counter)
    past, now = _past(inputs, ports, room)
    compacted = _compact(past, now, inputs, ports, room, why)
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
    past, now = _past(inputs, ports, room)
    if not now.should_compact(upkeep):
        return None
    return _compact(past, now, inputs, ports, room, "auto")


def _compact(
    past: Past, now: Standing, inputs: PrepareInputs, ports: Ports, room: Room, why: Why
) -> Forced | None:
    compacted = compact(past, now, inputs, ports, room, why)
    if compacted is None:
        return None
    entries = linked(compacted.entries, inputs.path[-1].id)
    ports.append(entries)
    told = compacted.summary, compacted.by, compacted.warnings
    return Forced(compacted.result, compacted.entry, *told)


def _past(inputs: PrepareInputs, ports: Ports, room: Room) -> tuple[Past, Standing]:
    """The history of a chat, with what requests hold beside it as far as that is known now."""
    reading, counter = read_path(inputs.path, ports.counter), ports.counter
    envelope = envelope_of(inputs, ports, room, reading)
    start = preamble(envelope.system, envelope.tools, counter)
    worked_on = _worked_on(reading, inputs.turn)
    turns = reading.earlier if worked_on else reading.turns
    _, question, work = worked_on.parts if worked_on else ((), None, ())
    epoch = Epoch(room.budget, inputs.model)
    cut = resting_cut(reading.drops, turns, epoch)
    line = Line(turns[cut:], question, work, reading.pins.messages, counter)
    trims = [trim for trim in reading.trims if epoch.binds(trim)]
    reach = reach_of(trims, line.messages) if trims else Reach()
    shown, work = line.shown_parts(reach)
    tail = _tail(worked_on, question, counter)
    beside = start.tool_tokens + start.system_tokens
    beside += standing_tail(tail, reading.earlier, room.budget) if tail else 0
    size = sum(count_message(message, counter) for message in work)
    asked = tail.tokens[Layer.L5] if tail else 0
    now = Standing(room.budget, beside, shown.tokens, size, asked)
    return Past(shown, line, reach, turns[:cut], start), now


def _worked_on(reading: Conversation, turn: str) -> OpenTurn | None:
    """The last turn, where it is the one that is being worked on."""
    current = reading.open
    if current is None or current.turn.turn_id != turn or current.turn.is_ended:
        return None
    return current if current.turn.user is not None else None


def _tail(
    worked_on: OpenTurn | None, question: Message | None, counter: TokenCounter
) -> Tail | None:
    if worked_on is None or question is None:
        return None
    return Tail(worked_on.turn.segments, question, counter, worked_on.memory.render())
