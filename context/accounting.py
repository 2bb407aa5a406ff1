"""Build the report of one request: the content of each layer, omissions, the reused prefix."""

from collections.abc import Iterable, Iterator, Sequence

from context.assemble.apply_hooks import HookedPath
from context.assemble.attachments import LOSSES, find_loss
from context.assemble.builder import RequestPlan
from context.assemble.inputs import HistoryPolicy, PrepareInputs
from context.assemble.request import RequestDraft
from context.budget import RequestBudget
from context.fit.cache import (
    MODEL_CHANGED,
    THRESHOLD_RAISED,
    Changes,
    Continuation,
    compare_requests,
)
from context.fit.compact import COMPACTION
from context.fit.drop import ROOM
from context.fit.guard import BUDGET, GuardReport, record_dropped_segment, record_dropped_turns
from context.history.boundaries import Boundary, Epoch
from context.history.replay import ReplayedPath
from context.history.tool_pairing import list_tool_results
from context.history.turn_list import TurnList
from context.layers import Layer, Segment
from context.log.entries import TransformEntry
from context.offload import Offloaded, read_stub
from context.report.layer_parts import list_layer_parts
from context.report.report import (
    Actions,
    ContextReport,
    LayerUse,
    LeftOut,
    PinUse,
    SegmentState,
    SegmentUse,
    TrimSummary,
    When,
)
from context.report.warnings import SHARE, warn_of_attachments
from context.tokens import TokenCounter, count_message, count_segment

HOOK = "hook"


def make_report(
    inputs: PrepareInputs,
    room: RequestBudget,
    shaped: HookedPath,
    base: RequestPlan,
    guarded: GuardReport,
    when: When,
    actions: Actions,
) -> ContextReport:
    """Return the report of a request that went through the guard."""
    draft = guarded.draft
    history_policy = inputs.history_policy or HistoryPolicy()
    segments = (*_list_segments(base, guarded), *_list_unsent(inputs, base))
    changes = _find_changes(inputs, room, shaped, guarded)
    continued = compare_requests(draft, inputs.previous, base.asked, changes)
    return ContextReport(
        session=inputs.session,
        when=when,
        request=inputs.request,
        model=inputs.model,
        room=room,
        layers=measure_layers(draft, continued),
        prefix=continued.prefix,
        guard=guarded.steps,
        actions=actions,
        trimmed=_summarise_trim(base),
        compactions=tuple(_list_compactions(shaped.transforms)),
        offloaded=tuple(_list_offloaded(draft)),
        segments=(*_list_instructions(inputs, draft), *segments),
        dropped=_list_left_out(base, guarded, segments, inputs.unsent),
        tools=tuple(tool.name for tool in draft.preamble.tools),
        warnings=_collect_warnings(inputs, shaped, actions, segments),
        memory=shaped.reading.memory,
        ephemerals=len(shaped.envelope.messages.uncached),
        transforms=tuple(_describe_transform(transform) for transform in shaped.transforms),
        system_parts=tuple((part.name, len(part.text)) for part in draft.preamble.system.parts),
        parts=list_layer_parts(draft),
        has_uncached=draft.uncached is not None,
        pins=tuple(_list_pins(shaped.reading, base)),
        policy=history_policy.policy,
        auto_compact=history_policy.auto_compact,
        instruction_tokens=sum(
            draft.preamble.part_tokens.get(segment.id, 0) for segment in inputs.instructions
        ),
    )


def _collect_warnings(
    inputs: PrepareInputs, shaped: HookedPath, actions: Actions, segments: Sequence[SegmentUse]
) -> tuple[str, ...]:
    """Collect the warnings for a request.

    Warnings about attachments come with its turn's first request.
    """
    attached = warn_of_attachments(segments) if inputs.request == 1 else ()
    warnings = (*inputs.warnings, *attached, *shaped.warnings, *actions.warnings)
    return tuple(dict.fromkeys(warnings))


def _find_changes(
    inputs: PrepareInputs, room: RequestBudget, shaped: HookedPath, guarded: GuardReport
) -> Changes:
    """Return the changes since the previous request that can break the prompt cache."""
    epoch = Epoch(room.budget, inputs.model)
    stored: tuple[Boundary, ...] = (*shaped.reading.drops, *shaped.reading.trims)
    loose = [one for one in stored if not epoch.binds(one)]
    because = [THRESHOLD_RAISED if epoch.is_of(one) else MODEL_CHANGED for one in loose]
    newly_dropped = sum(left_out.turns for left_out in guarded.left_out)
    return Changes(shaped.reasons, shaped.touched, newly_dropped, tuple(dict.fromkeys(because)))


def _list_pins(reading: ReplayedPath, base: RequestPlan) -> Iterator[PinUse]:
    for target, item in reading.pins.segments.items():
        tokens = count_segment(item, base.line.counter)
        yield PinUse(target, item.kind, item.source, tokens)


def _summarise_trim(base: RequestPlan) -> TrimSummary | None:
    """Summarise how many messages are trimmed, and by how many tokens."""
    reach = max(base.reach.cleaned, base.reach.trimmed)
    if not reach:
        return None
    said, counter = base.line.messages, base.line.counter
    shown = (*base.draft.history_messages, base.draft.tail.question, *base.draft.work)
    pairs = [pair for pair in zip(said, shown[:reach], strict=False) if pair[0] is not pair[1]]
    if not pairs:
        return None
    return TrimSummary(
        up_to_entry=base.line.entry_at(reach),
        messages=len(pairs),
        tokens_before=sum(count_message(before, counter) for before, _ in pairs),
        tokens_after=sum(count_message(after, counter) for _, after in pairs),
    )


def _list_compactions(transforms: Iterable[TransformEntry]) -> Iterator[dict[str, object]]:
    for transform in transforms:
        applied = [op for op in transform.patch if op.get("op") == "compaction_apply"]
        if not applied and transform.transformer_name == COMPACTION:
            applied = [{}]  # the compaction cleared old results, and needed no summary
        for op in applied:
            yield {
                "entry": transform.id,
                "first_kept_entry": op.get("firstKeptEntryId"),
                "before_tokens": op.get("tokensBefore"),
                "after_tokens": op.get("tokensAfter"),
                "by": op.get("by", "none"),
            }


def _list_offloaded(draft: RequestDraft) -> Iterator[Offloaded]:
    results = (part for message in draft.work for part in list_tool_results(message))
    yield from draft.history.offloaded
    yield from (stub for result in results if (stub := read_stub(result.content)) is not None)


def _describe_transform(transform: TransformEntry) -> dict[str, object]:
    reasons = (str(op["invalidateCacheReason"]) for op in transform.patch)
    display = transform.display or {}
    return {
        "entry": transform.id,
        "name": transform.transformer_name,
        "title": display.get("title", ""),
        "summary": display.get("summary", ""),
        "ops": [str(op["op"]) for op in transform.patch],
        "reasons": list(dict.fromkeys(reasons)),
    }


def measure_layers(draft: RequestDraft, continued: Continuation) -> dict[Layer, LayerUse]:
    """Return the size and the number of items of each layer."""
    items = {
        Layer.T: len(draft.preamble.tools),
        Layer.L1: len(draft.preamble.system.parts),
        Layer.L4: len(draft.history),
        Layer.L2: len(draft.tail.on(Layer.L2)),
        Layer.L3: len(draft.tail.on(Layer.L3)),
        Layer.E: bool(draft.tail.notes) + (draft.uncached is not None),
        Layer.L5: 1,
        Layer.W: len(draft.work),
    }
    return {
        layer: LayerUse(tokens, layer in continued.reused, items[layer])
        for layer, tokens in draft.layers.items()
    }


def _list_left_out(
    base: RequestPlan,
    guarded: GuardReport,
    segments: Iterable[SegmentUse],
    unsent: Sequence[Segment],
) -> tuple[LeftOut, ...]:
    """List everything that the request leaves out, with the reasons."""
    if not guarded.fits:
        return ()
    cut = base.draft.history[: guarded.cut]
    standing = TurnList.of((*base.resting, *cut)) if cut else base.resting
    turns_out = [record_dropped_turns(standing, ROOM)] if standing else []
    counter = base.draft.tail.counter
    unfit = [record_dropped_segment(segment, SHARE, counter) for segment in base.unfit]
    guarded_out = [left_out for left_out in guarded.left_out if left_out.reason != ROOM]
    unfit += [
        LeftOut(Layer.L3, (part.id,), 0, _count_whole(part, counter), SHARE) for part in unsent
    ]
    return (*turns_out, *unfit, *_list_losses(segments), *guarded_out)


def _list_losses(segments: Iterable[SegmentUse]) -> Iterator[LeftOut]:
    """List carried segments whose source is excluded or gone."""
    for use in segments:
        if use.reason in LOSSES:
            yield LeftOut(Layer.L2, (use.segment.id,), 0, use.original_tokens, use.reason)


def _list_instructions(inputs: PrepareInputs, draft: RequestDraft) -> Iterator[SegmentUse]:
    """List the parts of L1 that were written in notes, unless a hook removed them."""
    for segment in inputs.instructions:
        sent = draft.preamble.part_tokens.get(segment.id)
        if sent is None:
            size = count_segment(segment, draft.tail.counter)
            yield SegmentUse(segment, 0, size, "dropped", HOOK)
        else:
            yield SegmentUse(segment, sent, sent, "full")


def _list_segments(base: RequestPlan, guarded: GuardReport) -> Iterator[SegmentUse]:
    counter = base.draft.tail.counter
    sent = {segment.id: segment for segment in guarded.draft.tail.segments}
    unfit = {segment.id for segment in base.unfit}
    full = dict(base.prior.full)
    for segment in base.found:
        size = segment.whole_tokens or count_segment(full.get(segment.id, segment), counter)
        kept = sent.get(segment.id)
        if kept is None:
            reason = SHARE if segment.id in unfit else BUDGET
            yield SegmentUse(segment, 0, size, "dropped", reason)
        elif loss := find_loss(kept):
            yield SegmentUse(segment, 0, size, "dropped", loss)
        elif kept.content != segment.content:
            yield SegmentUse(segment, count_segment(kept, counter), size, "shrunk", BUDGET)
        elif segment.whole_tokens is not None:
            yield SegmentUse(segment, count_segment(kept, counter), size, "shrunk", SHARE)
        else:
            yield SegmentUse(segment, count_segment(kept, counter), size, _find_state(segment))
    for segment, loss in base.prior.lost:
        yield SegmentUse(segment, 0, count_segment(segment, counter), "dropped", loss)


def _list_unsent(inputs: PrepareInputs, base: RequestPlan) -> Iterator[SegmentUse]:
    """List the attachments of which nothing fitted."""
    for segment in inputs.unsent:
        size = _count_whole(segment, base.draft.tail.counter)
        yield SegmentUse(segment, 0, size, "dropped", SHARE)


def _count_whole(segment: Segment, counter: TokenCounter) -> int:
    return segment.whole_tokens or count_segment(segment, counter)


def _find_state(segment: Segment) -> SegmentState:
    if segment.pinned and segment.layer is Layer.L2:
        return "pinned"
    is_compacted = segment.layer is Layer.L2 and segment.kind != "selection"
    return "compacted" if is_compacted else "full"
