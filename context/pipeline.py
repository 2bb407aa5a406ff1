"""The story of one request, from the entries of a chat to what may be sent.

Path replayed and shaped by hooks → earlier turns, less what a resting cut leaves out → the turn's
own context, what earlier turns left behind, what is kept in mind → measure → guard → comparison
with the previous request → report → marks → `PreparedRequest`. No step calls a model, and a preview
writes nothing and runs no hook.
"""

from dataclasses import replace
from typing import Final, Literal

from context.accounting import Base, account
from context.budget import budget_tokens, output_reserve, window
from context.boundaries import Epoch, resting_cut
from context.cache import Asked
from context.conversation import Conversation
from context.draft import Draft, MeasuredTurn, Tail, preamble
from context.entries import DropEntry, Entry
from context.envelope import ContextEnvelope, Messages
from context.errors import BadInputs, ContextOverflow
from context.guard import ROOM, GuardReport, PreparedRequest, enforce, seal
from context.inputs import Ports, PrepareInputs
from context.layers import Layer
from context.marks import Mark, place_marks
from context.memory import MEMORY_CHANGED
from context.messages import Message
from context.prior import PRIOR_SHARE, Prior, prior_segments
from context.replay import Turn
from context.report import ContextReport, Room
from context.shaping import Shaped, shape, uncached_message
from context.tokens import TokenCounter, factor_for
from context.turn_context import fit_passages, standing_tail

__all__ = ["Mode", "Ports", "PrepareInputs", "prepare", "room_of"]

Mode = Literal["send", "preview"]
NOTHING_KEPT: Final = "(nothing)"


def prepare(inputs: PrepareInputs, ports: Ports, mode: Mode = "send") -> PreparedRequest:
    """Put a request together that fits its budget, and say what is in it and what is not.

    What stays from now on, transforms of hooks and a cut of the history, is appended in one write,
    unless this is a preview.

    Raises:
        ContextOverflow: when instructions, tools and the question alone exceed the budget; then
            nothing is appended.
        ContextHookError: when a hook fails; then nothing is appended either.
        BadInputs: when the path does not end with this turn's user message, or with work on it.
    """
    is_sent = mode == "send"
    room = room_of(inputs, ports.counter)
    shaped = shape(inputs, ports, room, is_sent)
    base = _base(inputs, ports, room, shaped)
    guarded = enforce(base.draft, room.budget, base.standing_tail)
    report = account(inputs, room, shaped, base, guarded, "last" if is_sent else "next")
    if not guarded.fits:
        raise _overflow(report)
    envelope = _as_sent(shaped.envelope, guarded.draft)
    prepared = seal(guarded, envelope, report, _marks(inputs, guarded.draft))
    if is_sent:
        _append(inputs, ports, room, shaped, base, guarded)
    return prepared


def room_of(inputs: PrepareInputs, counter: TokenCounter) -> Room:
    """Return the budget of a request, and what it comes from."""
    factor = max(factor_for(counter), inputs.factor or 0.0)
    size = window(inputs.threshold, inputs.model_limit)
    reserve = output_reserve(inputs.max_output_tokens, size)
    return Room(
        counter=counter.name,
        factor=factor,
        threshold=inputs.threshold,
        model_limit=inputs.model_limit,
        window=size,
        reserve=reserve,
        budget=budget_tokens(size, reserve, factor),
    )


def _base(inputs: PrepareInputs, ports: Ports, room: Room, shaped: Shaped) -> Base:
    reading, envelope, counter = shaped.reading, shaped.envelope, ports.counter
    current = reading.open
    if current is None or not _is_open(current.turn, inputs.turn):
        raise BadInputs(f"The path does not end with the open question of turn {inputs.turn}.")
    lead, question, work = current.parts
    found = current.turn.segments
    prior = _prior(inputs, ports, room, reading)
    tail = Tail((*prior.segments, *found), question, counter, current.memory.render())
    fitted = fit_passages(tail, room.budget)
    cut = resting_cut(reading.drops, reading.earlier, Epoch(room.budget, inputs.model))
    history = (*reading.earlier[cut:], *_lead(lead, counter))
    before = preamble(envelope.system, envelope.tools, counter)
    return Base(
        draft=Draft(before, history, fitted.tail, work, _uncached(reading, envelope)),
        standing_tail=standing_tail(fitted.tail, reading.earlier, room.budget),
        resting=reading.earlier[:cut],
        prior=prior,
        found=(*prior.segments, *prior.dropped, *found),
        unfit=(*prior.dropped, *fitted.dropped),
        asked=_asked(inputs, reading),
    )


def _is_open(turn: Turn, turn_id: str) -> bool:
    return turn.user is not None and turn.turn_id == turn_id and not turn.is_ended


def _prior(inputs: PrepareInputs, ports: Ports, room: Room, reading: Conversation) -> Prior:
    """L2 is made with the first request of a turn, and then stays what it was."""
    segments = reading.open.turn.segments if reading.open else ()
    is_made = inputs.request > 1 or any(segment.layer is Layer.L2 for segment in segments)
    if ports.resolve is None or is_made:
        return Prior()
    share = int(room.budget * PRIOR_SHARE)
    return prior_segments(reading.carried, segments, ports.resolve, ports.counter, share)


def _lead(lead: tuple[Message, ...], counter: TokenCounter) -> tuple[MeasuredTurn, ...]:
    ids = tuple(message.id for message in lead if message.id is not None)
    return (MeasuredTurn.measure(Turn("", ids, None), lead, counter),) if lead else ()


def _uncached(reading: Conversation, envelope: ContextEnvelope) -> Message | None:
    """What changed of E since the turn began, and what belongs to this request alone."""
    changed = ""
    if reading.open is not None and reading.open.memory != reading.memory:
        changed = f"{MEMORY_CHANGED}\n{reading.memory.render() or NOTHING_KEPT}"
    return uncached_message([changed], envelope.messages.uncached)


def _asked(inputs: PrepareInputs, reading: Conversation) -> Asked:
    if inputs.request > 1 and reading.open is not None:
        return Asked(reading.open.parts[1].text, is_same_turn=True)
    earlier = (turn.turn.user for turn in reversed(reading.earlier))
    last = next((user for user in earlier if user is not None), None)
    return Asked(None if last is None else last.message.text)


def _as_sent(envelope: ContextEnvelope, draft: Draft) -> ContextEnvelope:
    cached = (*draft.history_messages, draft.tail.question, *draft.work)
    uncached = () if draft.uncached is None else (draft.uncached,)
    return replace(envelope, tools=draft.preamble.tools, messages=Messages(cached, uncached))


def _marks(inputs: PrepareInputs, draft: Draft) -> tuple[Mark, ...]:
    if inputs.takes_marks is False:
        return ()
    head = (turn for turn in draft.history[:1] if turn.turn.user is None)
    summary = next((message.id for turn in head for message in turn.messages), None)
    return place_marks(draft, inputs.model, summary)


def _append(
    inputs: PrepareInputs,
    ports: Ports,
    room: Room,
    shaped: Shaped,
    base: Base,
    guarded: GuardReport,
) -> None:
    new = list(shaped.new)
    if guarded.cut:
        parent = (*inputs.path, *new)[-1].id
        new.append(_drop(ports, room, base, guarded, parent))
    if new:
        ports.append(new)


def _drop(ports: Ports, room: Room, base: Base, guarded: GuardReport, parent: str) -> Entry:
    before = base.draft.history
    kept = before[guarded.cut :]
    return DropEntry(
        id=ports.new_id(),
        parent_id=parent,
        timestamp=ports.now(),
        up_to_entry_id=kept[0].turn.entry_ids[0],
        tokens_before=sum(turn.tokens for turn in before),
        tokens_after=sum(turn.tokens for turn in kept),
        reason=ROOM,
        budget=room.budget,
    )


def _overflow(report: ContextReport) -> ContextOverflow:
    layers = report.layers
    needed = layers[Layer.L5].tokens
    free = max(0, report.budget - (report.used - needed))
    return ContextOverflow(
        f"Your message has {needed:,} tokens, but only {free:,} are free for it: raise "
        "autoCompactThreshold, shorten the message or split it.",
        report,
    )
