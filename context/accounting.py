"""Build the context report of a request."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from context.assemble.attachments import LOSSES, find_loss
from context.assemble.inputs import HistoryPolicy
from context.assemble.request import Request
from context.draft import RequestDraft
from context.exam import SummaryExam
from context.fit.cache import Continuation, PreviousQuestion, compare_requests
from context.fit.cache_changes import MODEL_CHANGED, THRESHOLD_RAISED, Changes
from context.fit.causes import find_causes
from context.fit.compact import COMPACTION
from context.fit.drop import ROOM
from context.fit.edit import find_edited_summaries
from context.fit.guard_steps import BUDGET, record_dropped_segment, record_dropped_turns
from context.history.boundaries import Boundary
from context.history.tool_pairing import list_tool_results
from context.history.turn_list import TurnList, count_summaries
from context.layers import Layer, Segment
from context.log.entries import TransformEntry
from context.messages import thaw
from context.offload import Offloaded, read_stub
from context.report.layer_parts import list_layer_parts
from context.report.report import (
    Compaction,
    ContextReport,
    LayerUse,
    LeftOut,
    PinUse,
    SegmentState,
    SegmentUse,
    TrimSummary,
    When,
)
from context.report.warnings import (
    SHARE,
    UNSEEN,
    UNSURE,
    WITHHELD,
    warn_of_attachments,
    warn_of_losses,
)
from context.tokens import TokenCounter, count_message, count_segment

HOOK = "hook"
_RENDERER: Final = ("rendererId", "rendererProps")


def make_report(request: Request, when: When) -> ContextReport:
    """Build the context report of a request after the budget guard has checked the request."""
    draft = request.draft
    history_policy = request.history_policy or HistoryPolicy()
    segments = (*_list_segments(request), *_list_unsent(request))
    pins = tuple(_list_pins(request))
    dropped = _list_left_out(request, segments)
    continued = _compare_with_previous(request)
    return ContextReport(
        session=request.session,
        when=when,
        request=request.number,
        model=request.model,
        request_budget=request.budget,
        layers=measure_layers(draft, continued),
        prefix=continued.prefix,
        guard=request.steps,
        actions=request.actions,
        trimmed=_summarise_trim(request),
        compactions=tuple(_list_compactions(request.transforms)) if request.transforms else (),
        offloaded=tuple(_list_offloaded(draft)),
        segments=(*_list_instructions(request), *segments),
        dropped=dropped,
        tools=tuple(tool.name for tool in draft.preamble.tools),
        warnings=_collect_warnings(request, segments, warn_of_losses(dropped, pins)),
        memory=request.reading.memory,
        deferred_tools=request.deferral.names,
        ephemerals=len(request.base.messages.uncached),
        transforms=tuple(_describe_transform(transform) for transform in request.transforms),
        system_parts=tuple((part.name, len(part.text)) for part in draft.preamble.system.parts),
        parts=list_layer_parts(draft),
        has_uncached=draft.uncached is not None,
        pins=pins,
        policy=history_policy.policy,
        auto_compact=history_policy.auto_compact,
        instruction_tokens=_count_instructions(request),
    )


def _compare_with_previous(request: Request) -> Continuation:
    """Compare a request with the previous one. Nothing is reused if no service has cached it."""
    if request.previous is None:
        return compare_requests(request.draft, None)
    previous_question = _find_previous_question(request)
    changes = _find_changes(request)
    continued = compare_requests(request.draft, request.previous, previous_question, changes)
    if request.is_cached:
        return continued
    return Continuation(replace(continued.prefix, tokens_reused=0))


def _find_previous_question(request: Request) -> PreviousQuestion:
    reading = request.reading
    if request.number > 1 and reading.open is not None:
        return PreviousQuestion(reading.open.parts[1].text, is_same_turn=True)
    earlier = (turn.turn.user for turn in reversed(reading.earlier))
    last = next((user for user in earlier if user is not None), None)
    return PreviousQuestion(None if last is None else last.message.text)


def _count_instructions(request: Request) -> int:
    sizes = request.draft.preamble.part_tokens
    return sum(sizes.get(segment.id, 0) for segment in request.instructions)


def _collect_warnings(
    request: Request, segments: Sequence[SegmentUse], lost: Sequence[str]
) -> tuple[str, ...]:
    """Collect the warnings for a request.

    Warnings about attachments appear only with the first request of a turn.
    """
    attached = warn_of_attachments(segments) if request.number == 1 else ()
    found = *attached, *lost, *request.hook_warnings, *request.actions.warnings
    return tuple(dict.fromkeys((*request.warnings, *found)))


def _find_changes(request: Request) -> Changes:
    epoch = request.epoch
    stored: tuple[Boundary, ...] = (*request.reading.drops, *request.reading.trims)
    loose = [one for one in stored if not epoch.binds(one)]
    because = [THRESHOLD_RAISED if epoch.is_of(one) else MODEL_CHANGED for one in loose]
    newly_dropped = sum(left_out.turns for left_out in request.left_out)
    return Changes(
        find_causes(request.decided, request.path, request.system, request.draft),
        newly_dropped,
        tuple(dict.fromkeys(because)),
        request.deferral.promoted,
    )


def _list_pins(request: Request) -> Iterator[PinUse]:
    for target, item in request.reading.pins.segments.items():
        tokens = count_segment(item, request.counter)
        yield PinUse(target, item.kind, item.source, tokens)


def _summarise_trim(request: Request) -> TrimSummary | None:
    """Count the shortened messages and their tokens. Return None if no message is shortened."""
    offsets = max(request.offsets.cleaned, request.offsets.trimmed)
    if not offsets:
        return None
    full_messages, counter = request.trim_input.messages, request.counter
    draft = request.unguarded
    shown = (*draft.history_messages, draft.tail.question, *draft.work)
    pairs = [
        pair for pair in zip(full_messages, shown[:offsets], strict=False) if pair[0] is not pair[1]
    ]
    if not pairs:
        return None
    return TrimSummary(
        up_to_entry=request.trim_input.find_entry_at(offsets),
        messages=len(pairs),
        tokens_before=sum(count_message(before, counter) for before, _ in pairs),
        tokens_after=sum(count_message(after, counter) for _, after in pairs),
    )


def _list_compactions(transforms: Sequence[TransformEntry]) -> Iterator[Compaction]:
    edited = find_edited_summaries(transforms)
    examined = [one.id for one in transforms if any("exam" in op for op in one.patch)]
    for transform in transforms:
        applied: list[Mapping[str, Any]] = [
            op for op in transform.patch if op.get("op") == "compaction_apply"
        ]
        if not applied and transform.transformer_name == COMPACTION:
            applied = [{}]  # the compaction cleared old results, and needed no summary
        for op in applied:
            edit: Mapping[str, Any] = edited.get(transform.id, op)
            yield Compaction(
                entry=transform.id,
                first_kept_entry=op.get("firstKeptEntryId"),
                before_tokens=op.get("tokensBefore"),
                after_tokens=edit.get("tokensAfter"),
                by=op.get("by", "none"),
                edited=transform.id in edited or op.get("edited") is True,
                exam=SummaryExam.read(op.get("exam")) if transform.id in examined[-1:] else None,
            )


def _list_offloaded(draft: RequestDraft) -> Iterator[Offloaded]:
    results = (part for message in draft.work for part in list_tool_results(message))
    yield from draft.history.offloaded
    yield from (stub for result in results if (stub := read_stub(result.content)) is not None)


def _describe_transform(transform: TransformEntry) -> dict[str, object]:
    reasons = (str(op["invalidateCacheReason"]) for op in transform.patch)
    display = transform.display or {}
    renderer = {key: thaw(display[key]) for key in _RENDERER if key in display}
    return {
        "entry": transform.id,
        "name": transform.transformer_name,
        "title": display.get("title", ""),
        "summary": display.get("summary", ""),
        "ops": [str(op["op"]) for op in transform.patch],
        "reasons": list(dict.fromkeys(reasons)),
        **renderer,
    }


def measure_layers(draft: RequestDraft, continued: Continuation) -> dict[Layer, LayerUse]:
    """Return the size of each layer, and whether the prompt cache covers it.

    Args:
        draft: the content of the request.
        continued: the comparison with the previous request.
    """
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


def _list_left_out(request: Request, segments: Iterable[SegmentUse]) -> tuple[LeftOut, ...]:
    """List everything that the request leaves out, each with its reason."""
    if request.state == "refused":
        return ()
    history, counter = request.unguarded.history, request.counter
    first = count_summaries(history)
    cut = history[first : first + request.cut]
    standing = TurnList.of((*request.dropped_turns, *cut)) if cut else request.dropped_turns
    turns_out = [record_dropped_turns(standing, ROOM)] if standing else []
    oversized = [record_dropped_segment(segment, SHARE, counter) for segment in request.oversized]
    guarded_out = [left_out for left_out in request.left_out if left_out.reason != ROOM]
    oversized += [
        LeftOut(
            Layer.L3, (part.id,), 0, _count_whole(part, counter), _find_unsent_reason(request, part)
        )
        for part in request.unsent
    ]
    withheld = _list_withheld(request)
    return (*turns_out, *oversized, *_list_losses(segments), *withheld, *guarded_out)


def _list_withheld(request: Request) -> Iterator[LeftOut]:
    """Yield a record of the messages without the text that comes from excluded notes."""
    known = request.reading.withheld_tokens
    if not known:
        return
    draft = request.unguarded
    parts = (Layer.L4, draft.history.messages), (Layer.W, draft.work)
    for layer, messages in parts:
        if ids := tuple(str(one.id) for one in messages if str(one.id) in known):
            tokens = max(0, sum(known[id] for id in ids))
            yield LeftOut(layer, ids, 0, tokens, WITHHELD)


def _list_losses(segments: Iterable[SegmentUse]) -> Iterator[LeftOut]:
    """Yield a record for each source of an earlier turn that cannot be sent again.

    The source may be missing, unreadable or excluded, or an image that the model cannot read.
    """
    for use in segments:
        if use.reason in LOSSES and use.segment.layer is Layer.L2:
            yield LeftOut(Layer.L2, (use.segment.id,), 0, use.original_tokens, use.reason)


def _list_instructions(request: Request) -> Iterator[SegmentUse]:
    for segment in request.instructions:
        sent = request.draft.preamble.part_tokens.get(segment.id)
        if sent is None:
            size = count_segment(segment, request.counter)
            yield SegmentUse(segment, 0, size, "dropped", HOOK)
        else:
            yield SegmentUse(segment, sent, sent, "full")


def _list_segments(request: Request) -> Iterator[SegmentUse]:
    counter = request.counter
    sent = {segment.id: segment for segment in request.draft.tail.segments}
    oversized = {segment.id for segment in request.oversized}
    full = dict(request.carry_forward.full)
    for segment in request.offered:
        size = segment.whole_tokens or count_segment(full.get(segment.id, segment), counter)
        kept = sent.get(segment.id)
        if kept is None:
            reason = SHARE if segment.id in oversized else BUDGET
            yield SegmentUse(segment, 0, size, "dropped", reason)
        elif loss := find_loss(kept):
            yield SegmentUse(segment, 0, size, "dropped", loss)
        elif kept.content != segment.content:
            yield SegmentUse(segment, count_segment(kept, counter), size, "shrunk", BUDGET)
        elif segment.whole_tokens is not None:
            yield SegmentUse(segment, count_segment(kept, counter), size, "shrunk", SHARE)
        else:
            yield SegmentUse(segment, count_segment(kept, counter), size, _find_state(segment))
    for segment, loss in request.carry_forward.lost:
        yield SegmentUse(segment, 0, count_segment(segment, counter), "dropped", loss)


def _list_unsent(request: Request) -> Iterator[SegmentUse]:
    """Yield a record for each attachment that does not fit, or that the model cannot read."""
    for segment in request.unsent:
        size = _count_whole(segment, request.counter)
        yield SegmentUse(segment, 0, size, "dropped", _find_unsent_reason(request, segment))


def _find_unsent_reason(request: Request, segment: Segment) -> str:
    if segment.kind != "image" or request.sees:
        return SHARE
    return UNSURE if request.sees is None else UNSEEN


def _count_whole(segment: Segment, counter: TokenCounter) -> int:
    return segment.whole_tokens or count_segment(segment, counter)


def _find_state(segment: Segment) -> SegmentState:
    if segment.pinned and segment.layer is Layer.L2:
        return "pinned"
    is_compacted = segment.layer is Layer.L2 and not segment.is_whole
    return "compacted" if is_compacted else "full"
