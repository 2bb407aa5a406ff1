"""Compact a session's history: for a request, on demand, or after a turn."""

from dataclasses import dataclass, replace
from typing import Final

from context.assemble.apply_hooks import link_entries, make_hook_envelope
from context.assemble.builder import RequestPlan
from context.assemble.inputs import Ports, PrepareInputs, RequestContext, SummaryTask
from context.assemble.request import Preamble, Tail, make_preamble
from context.assemble.turn_context import count_lasting_tail
from context.compaction import HEAD, CompactResult
from context.fit.compact_steps import (
    TARGET,
    CompactionOutcome,
    CompactionPlan,
    make_result,
    replace_messages,
    run_steps,
)
from context.fit.drop import make_drop_entry
from context.fit.policy import HistoryUsage, Why
from context.fit.summaries import Maker, compute_summary_size, restore_results
from context.fit.trim import PlannedTrim, plan_trim_after_compaction
from context.history.boundaries import (
    TrimInput,
    TrimOffsets,
    count_dropped_turns,
    find_trim_offsets,
)
from context.history.replay import CurrentTurn, ReplayedPath, replay_path
from context.history.turn_list import TurnList, find_guaranteed_turn
from context.layers import Layer
from context.log.entries import Entry, TransformEntry, TrimEntry
from context.messages import Message
from context.tokens import TokenCounter, count_message

COMPACTION: Final = "compaction"
COMPACTED: Final = "the history was compacted"
CLEARED: Final = "old results were cleared"


@dataclass(frozen=True)
class History:
    """The history to compact.

    Attributes:
        shown: the turns as they are sent, oldest first.
        trim_input: the untrimmed turns, with the user message and tool calls in progress.
        offsets: how far the turns are or must be trimmed.
        dropped_turns: older turns that stored drops left out.
    """

    shown: TurnList
    trim_input: TrimInput
    offsets: TrimOffsets
    dropped_turns: TurnList
    preamble: Preamble

    @property
    def kept_as(self) -> TurnList:
        """The turns as a compaction keeps them: answers in full, everything else trimmed."""
        return self.trim_input.shown_parts(self.offsets.after(0))[0]


@dataclass(frozen=True)
class Compaction:
    """A compaction that freed tokens, with log entries that are not stored yet.

    Attributes:
        summary: the summary, or an empty string if no summary was needed.
    """

    entries: tuple[Entry, ...]
    result: CompactResult
    summary: str
    by: Maker
    warnings: tuple[str, ...] = ()

    @property
    def entry(self) -> str:
        """The id of the log entry that stores the compaction."""
        return self.entries[0].id

    @property
    def has_trimmed(self) -> bool:
        """Whether any of the remaining turns is trimmed."""
        trims = (entry for entry in self.entries if isinstance(entry, TrimEntry))
        return any(trim.tokens_after < trim.tokens_before for trim in trims)

    def to_dict(self) -> dict[str, object]:
        """Return the compaction as JSON."""
        return write_compaction(self.result, self.entry, self.summary, self.by)


def write_compaction(
    result: CompactResult, entry: str | None, summary: str, by: Maker
) -> dict[str, object]:
    """Return a compaction's result as JSON. `entry` is None if nothing was compacted."""
    return {
        "before_tokens": result.before_tokens,
        "after_tokens": result.after_tokens,
        "before_messages": result.before_messages,
        "after_messages": result.after_messages,
        "strategies_run": list(result.strategies_run),
        "entry": entry,
        "summary": summary,
        "by": by,
    }


def preview_compaction(
    history: History, usage: HistoryUsage, request: RequestContext, why: Why
) -> Compaction | None:
    """Estimate a compaction without calling a model, or return None if it would free nothing.

    The circuit breaker does not count it as an attempt.
    """
    history_policy = request.inputs.history_policy
    has_model = history_policy is not None and history_policy.can_summarise
    order = replace(_plan_compaction(history, usage, request, why), is_foretold=has_model)
    ports = replace(request.ports, summarise=None, breaker=None)
    return _run_compaction(order, history, usage, replace(request, ports=ports))


def compact_history(
    history: History, usage: HistoryUsage, request: RequestContext, why: Why
) -> Compaction | None:
    """Compact the history, or return `None` if that would free nothing.

    Raises:
        SummaryFailed: when a given summary cannot be used.
        Any other exception of the summary port, such as that of a cancelled call.
    """
    order = _plan_compaction(history, usage, request, why)
    return _run_compaction(order, history, usage, request)


def _run_compaction(
    order: CompactionPlan, history: History, usage: HistoryUsage, request: RequestContext
) -> Compaction | None:
    outcome = run_steps(order, request.ports.summarise)
    if not outcome.is_attempt:
        return None
    trim, after_tokens = _trim_again(order, outcome, history, usage)
    result = make_result(order, outcome, after_tokens)
    has_shrunk = result.after_tokens < result.before_tokens
    if request.ports.breaker is not None:
        request.ports.breaker.record(request.inputs.model, request.budget_tokens, has_shrunk)
    if not has_shrunk:
        return None
    entries = _make_entries(outcome, result, request)
    if trim is not None:
        place = request.ports.new_id(), None, request.ports.now()
        entries = (*entries, trim.make_entry(place, request.epoch))
    return Compaction(entries, result, outcome.summary, outcome.by, tuple(outcome.warnings))


def _trim_again(
    order: CompactionPlan, outcome: CompactionOutcome, history: History, usage: HistoryUsage
) -> tuple[PlannedTrim | None, int]:
    """Plan how far to trim the turns that remain after a compaction.

    Returns the planned trim, or None if the turns were not trimmed before, and the resulting token
    count of the history.
    """
    if history.offsets == TrimOffsets():
        return None, outcome.tokens(order.counter)
    summary, counter = outcome.summary_tokens(order.counter), order.counter
    turns = history.trim_input.history
    kept, gone = turns[outcome.first_kept :], turns[: outcome.first_kept]
    kept_turns = TurnList.of(replace_messages(turn, outcome.cleared, counter) for turn in kept)
    trim_input = replace(history.trim_input, history=kept_turns)
    question = 0 if trim_input.question is None else count_message(trim_input.question, counter)
    target = min(order.target, order.shown_tokens - 1) - summary + usage.work + question
    offsets = history.offsets.after(gone.message_count)
    offsets, trim = plan_trim_after_compaction(trim_input, offsets, target)
    return trim, summary + trim_input.shown_parts(offsets)[0].tokens


def make_history(sent: RequestPlan, planned: RequestPlan) -> History:
    """Return the history to compact for a request.

    Args:
        sent: the plan with the stored trims.
        planned: the plan with an additional trim that does not free enough tokens, if one is due.
    """
    draft = sent.draft
    return History(
        draft.history, sent.trim_input, planned.offsets, sent.dropped_turns, draft.preamble
    )


def _plan_compaction(
    history: History, usage: HistoryUsage, request: RequestContext, why: Why
) -> CompactionPlan:
    task = SummaryTask(
        said=(),
        sent=(),
        preamble=history.preamble,
        request_budget=request.budget,
        model=request.inputs.model,
        session=request.inputs.session,
        most_tokens=compute_summary_size(usage.history_budget),
        instructions=request.inputs.summary_instructions,
    )
    return CompactionPlan(
        shown=tuple(history.shown),
        kept_as=tuple(history.kept_as),
        said=restore_results(history.trim_input.history, request.counter),
        dropped_turns=restore_results(history.dropped_turns, request.counter),
        continues=request.inputs.previous is not None and not history.dropped_turns,
        target=int(usage.history_budget * TARGET) - usage.work,
        is_whole=why == "asked",
        is_foretold=False,
        pinned=history.trim_input.pinned,
        task=task,
        counter=request.counter,
        given=request.inputs.given_summary,
    )


def _make_entries(
    outcome: CompactionOutcome, result: CompactResult, request: RequestContext
) -> tuple[Entry, ...]:
    now, kept = request.ports.now(), outcome.turns
    transform_id = request.ports.new_id()
    patch = _make_patch(outcome, result, now)
    figures = f"{result.before_tokens:,} → {result.after_tokens:,} tokens"
    markdown = outcome.summary.removeprefix(f"{HEAD}\n")
    display = {"title": "Compacted", "summary": figures, "markdown": markdown}
    transform = TransformEntry(transform_id, None, now, COMPACTION, patch, display)
    if not outcome.drop_to:
        return (transform,) if patch else ()
    sizes = sum(turn.tokens for turn in kept), sum(turn.tokens for turn in kept[outcome.drop_to :])
    place = request.ports.new_id(), transform_id, now
    epoch = request.epoch
    drop = make_drop_entry(place, kept[outcome.drop_to], sizes, epoch)
    return (transform, drop) if patch else (drop,)


def _make_patch(
    outcome: CompactionOutcome, result: CompactResult, usage: str
) -> tuple[dict[str, object], ...]:
    reason = COMPACTED if outcome.summary else CLEARED
    cached = {"scope": "cached", "invalidateCacheReason": reason}
    there = {message.id for turn in outcome.turns for message in turn.messages}
    cleared: list[dict[str, object]] = [
        {**cached, "op": "message_replace", "entryId": name, "parts": message.to_dict()["content"]}
        for name, message in outcome.cleared.items()
        if name in there
    ]
    if not outcome.summary:
        return tuple(cleared)
    apply: dict[str, object] = {
        **cached,
        "op": "compaction_apply",
        "summary": outcome.summary,
        "timestamp": usage,
        "firstKeptEntryId": outcome.turns[0].messages[0].id,
        "tokensBefore": result.before_tokens,
        "tokensAfter": result.after_tokens,
        "by": outcome.by,
        "strategies": list(result.strategies_run),
    }
    return (*cleared, apply)


@dataclass(frozen=True)
class CompactionReport:
    """The result of a compaction outside of a request.

    Attributes:
        entry: the id of the log entry that stores the compaction, or None if nothing was compacted.
    """

    result: CompactResult
    entry: str | None
    summary: str
    by: Maker
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return the report as JSON."""
        return write_compaction(self.result, self.entry, self.summary, self.by)


def compact_session(inputs: PrepareInputs, ports: Ports, why: Why = "asked") -> CompactionReport:
    """Compact a session on demand, regardless of its size.

    The new log entries are written together. If the compaction frees nothing, none is written.

    Args:
        inputs: the inputs of a request. Unlike for a request, the path may also end with an answer.
            A turn in progress stays unchanged.
        why: the reason for the compaction. `asked` summarises everything before the last complete
            turn. Any other reason compacts to the usual share of the history budget.

    Source: "Context Management Enhancements", 7.
    """
    history, usage = _read_history(request := RequestContext.build(inputs, ports))
    compacted = _try_compaction(history, usage, request, why)
    return _report_nothing(history) if compacted is None else compacted


def _report_nothing(history: History) -> CompactionReport:
    tokens, messages = history.shown.tokens, history.shown.message_count
    return CompactionReport(CompactResult(tokens, tokens, messages, messages, ()), None, "", "none")


@dataclass(frozen=True)
class CompactionPreview:
    """A preview of a requested compaction. An outline stands in for the model's summary.

    Attributes:
        questions: the user messages that would be summarised, oldest first.
        maker: the model that would write the summary, or an empty string for an outline.
    """

    report: CompactionReport
    questions: tuple[str, ...]
    maker: str = ""


def preview_session(inputs: PrepareInputs, ports: Ports) -> CompactionPreview:
    """Preview `compact_session`. Nothing is stored."""
    history, usage = _read_history(request := RequestContext.build(inputs, ports))
    found = preview_compaction(history, usage, request, "asked")
    if found is None:
        return CompactionPreview(_report_nothing(history), ())
    shown = tuple(history.shown)
    turns = (*history.dropped_turns, *shown[: find_guaranteed_turn(shown)])
    questions = tuple(turn.turn.user.message.text for turn in turns if turn.turn.user)
    report = CompactionReport(found.result, found.entry, found.summary, found.by)
    return CompactionPreview(report, questions)


def compact_if_due(inputs: PrepareInputs, ports: Ports) -> CompactionReport | None:
    """Compact a session after a turn if necessary. Returns None if nothing was compacted."""
    history_policy, request = inputs.history_policy, RequestContext.build(inputs, ports)
    if history_policy is None or not history_policy.auto_compact:
        return None
    if ports.breaker is not None and ports.breaker.is_tripped(inputs.model, request.budget_tokens):
        return None
    history, usage = _read_history(request)
    if not usage.should_compact(history_policy):
        return None
    return _try_compaction(history, usage, request, "auto")


def _try_compaction(
    history: History, usage: HistoryUsage, request: RequestContext, why: Why
) -> CompactionReport | None:
    compacted = compact_history(history, usage, request, why)
    if compacted is None:
        return None
    entries = link_entries(compacted.entries, request.inputs.path[-1].id)
    request.ports.append(entries)
    segments = compacted.summary, compacted.by, compacted.warnings
    return CompactionReport(compacted.result, compacted.entry, *segments)


def _read_history(request: RequestContext) -> tuple[History, HistoryUsage]:
    reading, counter = replay_path(request.inputs.path, request.counter), request.counter
    envelope = make_hook_envelope(request, reading)
    start = make_preamble(envelope.system, envelope.tools, counter)
    worked_on = _find_current_turn(reading, request.inputs.turn)
    turns = reading.earlier if worked_on else reading.turns
    _, question, work = worked_on.parts if worked_on else ((), None, ())
    epoch = request.epoch
    cut = count_dropped_turns(reading.drops, turns, epoch)
    trim_input = TrimInput(turns[cut:], question, work, reading.pins.messages, counter)
    trims = [trim for trim in reading.trims if epoch.binds(trim)]
    offsets = find_trim_offsets(trims, trim_input.messages) if trims else TrimOffsets()
    shown, work = trim_input.shown_parts(offsets)
    tail = _make_tail(worked_on, question, counter)
    fixed_tokens = start.tool_tokens + start.system_tokens
    fixed_tokens += count_lasting_tail(tail, reading.earlier, request.budget_tokens) if tail else 0
    size = sum(count_message(message, counter) for message in work)
    asked = tail.tokens[Layer.L5] if tail else 0
    usage = HistoryUsage(request.budget_tokens, fixed_tokens, shown.tokens, size, asked)
    return History(shown, trim_input, offsets, turns[:cut], start), usage


def _find_current_turn(reading: ReplayedPath, turn: str) -> CurrentTurn | None:
    current = reading.open
    if current is None or current.turn.turn_id != turn or current.turn.is_ended:
        return None
    return current if current.turn.user is not None else None


def _make_tail(
    worked_on: CurrentTurn | None, question: Message | None, counter: TokenCounter
) -> Tail | None:
    if worked_on is None or question is None:
        return None
    return Tail(worked_on.turn.segments, question, counter, worked_on.memory.render())
