"""The story of one request, from the entries of a chat to what may be sent.

Base → view of the earlier turns → tail → measure → guard → comparison with the previous request →
report → `PreparedRequest`. No step calls a model, and a preview writes nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from context.budget import budget_tokens, output_reserve, window
from context.cache import Continuation, continuation
from context.conversation import read_path
from context.draft import Draft, MeasuredTurn, Tail, preamble
from context.entries import DropEntry, Entry
from context.envelope import ContextEnvelope, Messages, RequestMeta, System, SystemPart
from context.errors import BadInputs, ContextOverflow
from context.frozen import FrozenMapping
from context.guard import (
    BUDGET,
    ROOM,
    GuardReport,
    PreparedRequest,
    enforce,
    seal,
    segment_left_out,
    turns_left_out,
)
from context.history import resting_cut
from context.layers import Layer, Segment
from context.messages import ToolDefinition
from context.report import ContextReport, LayerUse, LeftOut, Room, SegmentUse, When
from context.tokens import TokenCounter, count_segment, factor_for
from context.turn_context import fit_passages, standing_tail

Mode = Literal["send", "preview"]
SHARE: Final = "share"


@dataclass(frozen=True)
class PrepareInputs:
    """What a request is made from.

    Attributes:
        model_limit: the model's own input limit; `None` where it is not known.
        path: the active path, this turn's segments and user message at its end, also where they
            are not stored yet.
        turn: the id of this turn.
        factor: what the session's budget is divided by so far, where usage was reported.
        previous: the neutral body of the previous request on this path.
    """

    session: str | None
    model: str
    model_limit: int | None
    threshold: int
    max_output_tokens: int
    temperature: float
    system: tuple[SystemPart, ...]
    path: tuple[Entry, ...]
    turn: str
    request: int = 1
    tools: tuple[ToolDefinition, ...] = ()
    previous: Mapping[str, object] | None = None
    factor: float | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ports:
    """What the pipeline needs from outside."""

    counter: TokenCounter
    append: Callable[[Sequence[Entry]], None]
    new_id: Callable[[], str]
    now: Callable[[], str]


def prepare(inputs: PrepareInputs, ports: Ports, mode: Mode = "send") -> PreparedRequest:
    """Put a request together that fits its budget, and say what is in it and what is not.

    A cut of the history that stays is appended as a `drop` entry, unless this is a preview.

    Raises:
        ContextOverflow: when instructions, tools and the question alone exceed the budget; then
            nothing is appended.
        BadInputs: when the path does not end with the unanswered user message of this turn.
    """
    room = _room(inputs, ports.counter)
    base = _base(inputs, ports.counter, room.budget)
    guarded = enforce(base.draft, room.budget, base.standing_tail)
    report = _report(inputs, room, base, guarded, "last" if mode == "send" else "next")
    if not guarded.fits:
        raise _overflow(report)
    prepared = seal(guarded, _envelope(inputs, room, guarded.draft), report)
    if guarded.cut and mode == "send":
        ports.append([_drop(inputs, ports, room, base, guarded)])
    return prepared


@dataclass(frozen=True)
class _Base:
    """What the request would be without the guard.

    Attributes:
        resting: the turns that earlier drops leave out.
        found: this turn's segments before any left.
        unfit: those that exceed the share of their kind.
    """

    draft: Draft
    standing_tail: int
    resting: tuple[MeasuredTurn, ...]
    found: tuple[Segment, ...]
    unfit: tuple[Segment, ...]


def _room(inputs: PrepareInputs, counter: TokenCounter) -> Room:
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


def _base(inputs: PrepareInputs, counter: TokenCounter, budget: int) -> _Base:
    read = read_path(inputs.path, counter)
    current = read.current
    if current is None or current.user is None or current.answers or current.turn_id != inputs.turn:
        raise BadInputs(f"The path does not end with the open question of turn {inputs.turn}.")
    fitted = fit_passages(Tail(current.segments, current.user.message, counter), budget)
    before = preamble(System(inputs.system), inputs.tools, counter)
    cut = resting_cut(inputs.path, read.earlier, budget)
    return _Base(
        draft=Draft(before, read.earlier[cut:], fitted.tail),
        standing_tail=standing_tail(fitted.tail, read.earlier, budget),
        resting=read.earlier[:cut],
        found=current.segments,
        unfit=fitted.dropped,
    )


def _envelope(inputs: PrepareInputs, room: Room, draft: Draft) -> ContextEnvelope:
    options = {"temperature": inputs.temperature, "maxTokens": room.reserve}
    return ContextEnvelope(
        system=draft.preamble.system,
        tools=draft.preamble.tools,
        messages=Messages(cached=(*draft.history_messages, draft.tail.question)),
        options=FrozenMapping(options),
        meta=RequestMeta(inputs.model, room.budget, inputs.turn, inputs.request),
    )


def _drop(
    inputs: PrepareInputs, ports: Ports, room: Room, base: _Base, guarded: GuardReport
) -> DropEntry:
    before = base.draft.history
    kept = before[guarded.cut :]
    return DropEntry(
        id=ports.new_id(),
        parent_id=inputs.path[-1].id,
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


def _report(
    inputs: PrepareInputs, room: Room, base: _Base, guarded: GuardReport, when: When
) -> ContextReport:
    draft = guarded.draft
    newly_dropped = sum(left_out.turns for left_out in guarded.left_out)
    continued = continuation(draft, inputs.previous, newly_dropped)
    return ContextReport(
        session=inputs.session,
        when=when,
        request=inputs.request,
        model=inputs.model,
        room=room,
        layers=_layers(draft, continued),
        prefix=continued.prefix,
        guard=guarded.steps,
        segments=_segments(base, guarded),
        dropped=_left_out(base, guarded),
        tools=tuple(tool.name for tool in inputs.tools),
        warnings=inputs.warnings,
    )


def _layers(draft: Draft, continued: Continuation) -> dict[Layer, LayerUse]:
    items = {
        Layer.T: len(draft.preamble.tools),
        Layer.L1: len(draft.preamble.system.parts),
        Layer.L4: len(draft.history),
        Layer.L2: len(draft.tail.on(Layer.L2)),
        Layer.L3: len(draft.tail.on(Layer.L3)),
        Layer.L5: 1,
    }
    return {
        layer: LayerUse(tokens, layer in continued.reused, items.get(layer, 0))
        for layer, tokens in draft.layers.items()
    }


def _left_out(base: _Base, guarded: GuardReport) -> tuple[LeftOut, ...]:
    """Everything that is missing from the request; nothing, where there is no request."""
    if not guarded.fits:
        return ()
    standing = (*base.resting, *base.draft.history[: guarded.cut])
    turns_out = [turns_left_out(standing, ROOM)] if standing else []
    counter = base.draft.tail.counter
    unfit = [segment_left_out(segment, SHARE, counter) for segment in base.unfit]
    guarded_out = [left_out for left_out in guarded.left_out if left_out.reason != ROOM]
    return (*turns_out, *unfit, *guarded_out)


def _segments(base: _Base, guarded: GuardReport) -> tuple[SegmentUse, ...]:
    counter = base.draft.tail.counter
    sent = {segment.id for segment in guarded.draft.tail.segments}
    unfit = {segment.id for segment in base.unfit}
    uses = []
    for segment in base.found:
        tokens = count_segment(segment, counter)
        if segment.id in sent:
            uses.append(SegmentUse(segment, tokens, tokens, "full"))
        else:
            reason = SHARE if segment.id in unfit else BUDGET
            uses.append(SegmentUse(segment, 0, tokens, "dropped", reason))
    return tuple(uses)
