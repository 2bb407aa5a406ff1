"""Compact the history of a session: in a request, on demand, and after a turn."""

from dataclasses import dataclass, replace
from typing import Final

from context.assemble.apply_hooks import link_entries, make_hook_envelope
from context.assemble.builder import RequestPlan
from context.assemble.inputs import Ports, PrepareInputs, SummaryTask, compute_request_budget
from context.assemble.request import Preamble, Tail, make_preamble
from context.assemble.turn_context import count_lasting_tail
from context.budget import RequestBudget
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
from context.fit.trim import (
    PlannedTrim,
    plan_trim_after_compaction,
)
from context.history.boundaries import (
    Epoch,
    TrimInput,
    TrimOffsets,
    count_dropped_turns,
    find_trim_offsets,
)
from context.history.replay import CurrentTurn, ReplayedPath, replay_path
from context.history.turn_list import TurnList
from context.layers import Layer
from context.log.entries import Entry, TransformEntry, TrimEntry
from context.messages import Message
from context.tokens import TokenCounter, count_message

COMPACTION: Final = "compaction"
COMPACTED: Final = "the history was compacted"
CLEARED: Final = "old results were cleared"


@dataclass(frozen=True)
class History:
    """The history that is compacted.

    Attributes:
        shown: the turns as they are sent, oldest first.
        line: the same turns before trimming, with the user message and the work in progress.
        reach: how far the turns are trimmed, or have to be trimmed now.
        resting: older turns that a drop leaves out.
    """

    shown: TurnList
    line: TrimInput
    reach: TrimOffsets
    resting: TurnList
    preamble: Preamble

    @property
    def kept_as(self) -> TurnList:
        """The turns in the form that is kept: answers in full, everything else as trimmed."""
        return self.line.shown_parts(self.reach.after(0))[0]


@dataclass(frozen=True)
class Compaction:
    """A compaction that freed tokens, with entries that are not stored yet.

    Attributes:
        summary: the text of the summary; empty if none was needed.
    """

    entries: tuple[Entry, ...]
    result: CompactResult
    summary: str
    by: Maker
    warnings: tuple[str, ...] = ()

    @property
    def entry(self) -> str:
        """The id of the entry that stores the compaction."""
        return self.entries[0].id

    @property
    def has_trimmed(self) -> bool:
        """Whether any of the kept turns is trimmed."""
        trims = (entry for entry in self.entries if isinstance(entry, TrimEntry))
        return any(trim.tokens_after < trim.tokens_before for trim in trims)

    def to_dict(self) -> dict[str, object]:
        """Return the compaction as JSON."""
        return write_compaction(self.result, self.entry, self.summary, self.by)


def write_compaction(
    result: CompactResult, entry: str | None, summary: str, by: Maker
) -> dict[str, object]:
    """Return the result of a compaction as JSON. `entry` is None if nothing was compacted."""
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
    past: History,
    now: HistoryUsage,
    inputs: PrepareInputs,
    ports: Ports,
    room: RequestBudget,
    why: Why,
) -> Compaction | None:
    """Estimate a compaction without asking a model and without recording the attempt."""
    has_model = inputs.history_policy is not None and inputs.history_policy.can_summarise
    order = replace(_plan_compaction(past, now, inputs, ports, room, why), is_foretold=has_model)
    return _run_compaction(
        order, past, now, inputs, replace(ports, summarise=None, breaker=None), room
    )


def compact_history(
    past: History,
    now: HistoryUsage,
    inputs: PrepareInputs,
    ports: Ports,
    room: RequestBudget,
    why: Why,
) -> Compaction | None:
    """Compact the history, or return `None` if that would free nothing.

    Raises:
        Whatever the port for summaries raises when it is cancelled.
    """
    order = _plan_compaction(past, now, inputs, ports, room, why)
    return _run_compaction(order, past, now, inputs, ports, room)


def _run_compaction(
    order: CompactionPlan,
    past: History,
    now: HistoryUsage,
    inputs: PrepareInputs,
    ports: Ports,
    room: RequestBudget,
) -> Compaction | None:
    outcome = run_steps(order, ports.summarise)
    if not outcome.is_attempt:
        return None
    trim, after_tokens = _trim_again(order, outcome, past, now)
    result = make_result(order, outcome, after_tokens)
    has_shrunk = result.after_tokens < result.before_tokens
    if ports.breaker is not None:
        ports.breaker.record(inputs.model, room.budget, has_shrunk)
    if not has_shrunk:
        return None
    entries = _make_entries(outcome, result, inputs, ports, room)
    if trim is not None:
        place = ports.new_id(), None, ports.now()
        entries = (*entries, trim.make_entry(place, Epoch(room.budget, inputs.model)))
    return Compaction(entries, result, outcome.summary, outcome.by, tuple(outcome.warnings))


def _trim_again(
    order: CompactionPlan, outcome: CompactionOutcome, past: History, now: HistoryUsage
) -> tuple[PlannedTrim | None, int]:
    """Decide again how far the kept turns are trimmed.

    Return that trim, and the tokens of the history then.
    """
    if past.reach == TrimOffsets():
        return None, outcome.tokens(order.counter)
    summary, counter = outcome.summary_tokens(order.counter), order.counter
    kept, gone = past.line.history[outcome.first_kept :], past.line.history[: outcome.first_kept]
    history = TurnList.of(replace_messages(turn, outcome.cleared, counter) for turn in kept)
    line = replace(past.line, history=history)
    question = 0 if line.question is None else count_message(line.question, counter)
    target = min(order.target, order.shown_tokens - 1) - summary + now.work + question
    reach, trim = plan_trim_after_compaction(line, past.reach.after(gone.message_count), target)
    return trim, summary + line.shown_parts(reach)[0].tokens


def make_history(sent: RequestPlan, planned: RequestPlan) -> History:
    """Return the history for the compaction of a request.

    Args:
        sent: the plan of the request with the stored trims.
        planned: the plan with a further trim, which is due but does not free enough.
    """
    draft = sent.draft
    return History(draft.history, sent.line, planned.reach, sent.resting, draft.preamble)


def _plan_compaction(
    past: History,
    now: HistoryUsage,
    inputs: PrepareInputs,
    ports: Ports,
    room: RequestBudget,
    why: Why,
) -> CompactionPlan:
    task = SummaryTask(
        said=(),
        sent=(),
        preamble=past.preamble,
        room=room,
        model=inputs.model,
        session=inputs.session,
        most_tokens=compute_summary_size(now.room),
        instructions=inputs.summary_instructions,
    )
    return CompactionPlan(
        shown=tuple(past.shown),
        kept_as=tuple(past.kept_as),
        said=restore_results(past.line.history, ports.counter),
        resting=restore_results(past.resting, ports.counter),
        continues=inputs.previous is not None and not past.resting,
        target=int(now.room * TARGET) - now.work,
        is_whole=why == "asked",
        is_foretold=False,
        pinned=past.line.pinned,
        task=task,
        counter=ports.counter,
    )


def _make_entries(
    outcome: CompactionOutcome,
    result: CompactResult,
    inputs: PrepareInputs,
    ports: Ports,
    room: RequestBudget,
) -> tuple[Entry, ...]:
    now, kept = ports.now(), outcome.turns
    transform_id = ports.new_id()
    patch = _make_patch(outcome, result, now)
    figures = f"{result.before_tokens:,} → {result.after_tokens:,} tokens"
    markdown = outcome.summary.removeprefix(f"{HEAD}\n")
    display = {"title": "Compacted", "summary": figures, "markdown": markdown}
    transform = TransformEntry(transform_id, None, now, COMPACTION, patch, display)
    if not outcome.drop_to:
        return (transform,) if patch else ()
    sizes = sum(turn.tokens for turn in kept), sum(turn.tokens for turn in kept[outcome.drop_to :])
    place = ports.new_id(), transform_id, now
    epoch = Epoch(room.budget, inputs.model)
    drop = make_drop_entry(place, kept[outcome.drop_to], sizes, epoch)
    return (transform, drop) if patch else (drop,)


def _make_patch(
    outcome: CompactionOutcome, result: CompactResult, now: str
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
        "timestamp": now,
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
        entry: the id of the entry that stores it; None if there was nothing to compact.
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
    """Compact a session on demand, whatever its size.

    Its entries are appended in one write. If it frees nothing, nothing is appended.

    Args:
        inputs: as for a request; the path may also end with an answer. A turn in progress stays
            as it is.
        why: `asked` summarises everything before the last complete turn; any other reason compacts
            to the usual share of the history budget.

    Source: "Context Management Enhancements", 7.
    """
    room = compute_request_budget(inputs, ports.counter)
    past, now = _read_history(inputs, ports, room)
    compacted = _try_compaction(past, now, inputs, ports, room, why)
    if compacted is not None:
        return compacted
    tokens, messages = past.shown.tokens, past.shown.message_count
    return CompactionReport(CompactResult(tokens, tokens, messages, messages, ()), None, "", "none")


def compact_if_due(inputs: PrepareInputs, ports: Ports) -> CompactionReport | None:
    """Compact a session after a turn, or return `None` if its history is not full enough."""
    history_policy = inputs.history_policy
    room = compute_request_budget(inputs, ports.counter)
    if history_policy is None or not history_policy.auto_compact:
        return None
    if ports.breaker is not None and ports.breaker.is_tripped(inputs.model, room.budget):
        return None
    past, now = _read_history(inputs, ports, room)
    if not now.should_compact(history_policy):
        return None
    return _try_compaction(past, now, inputs, ports, room, "auto")


def _try_compaction(
    past: History,
    now: HistoryUsage,
    inputs: PrepareInputs,
    ports: Ports,
    room: RequestBudget,
    why: Why,
) -> CompactionReport | None:
    compacted = compact_history(past, now, inputs, ports, room, why)
    if compacted is None:
        return None
    entries = link_entries(compacted.entries, inputs.path[-1].id)
    ports.append(entries)
    told = compacted.summary, compacted.by, compacted.warnings
    return CompactionReport(compacted.result, compacted.entry, *told)


def _read_history(
    inputs: PrepareInputs, ports: Ports, room: RequestBudget
) -> tuple[History, HistoryUsage]:
    """Read the history of a session, and measure its use of the budget."""
    reading, counter = replay_path(inputs.path, ports.counter), ports.counter
    envelope = make_hook_envelope(inputs, ports, room, reading)
    start = make_preamble(envelope.system, envelope.tools, counter)
    worked_on = _find_current_turn(reading, inputs.turn)
    turns = reading.earlier if worked_on else reading.turns
    _, question, work = worked_on.parts if worked_on else ((), None, ())
    epoch = Epoch(room.budget, inputs.model)
    cut = count_dropped_turns(reading.drops, turns, epoch)
    line = TrimInput(turns[cut:], question, work, reading.pins.messages, counter)
    trims = [trim for trim in reading.trims if epoch.binds(trim)]
    reach = find_trim_offsets(trims, line.messages) if trims else TrimOffsets()
    shown, work = line.shown_parts(reach)
    tail = _make_tail(worked_on, question, counter)
    beside = start.tool_tokens + start.system_tokens
    beside += count_lasting_tail(tail, reading.earlier, room.budget) if tail else 0
    size = sum(count_message(message, counter) for message in work)
    asked = tail.tokens[Layer.L5] if tail else 0
    now = HistoryUsage(room.budget, beside, shown.tokens, size, asked)
    return History(shown, line, reach, turns[:cut], start), now


def _find_current_turn(reading: ReplayedPath, turn: str) -> CurrentTurn | None:
    """Return the last turn if it is the given one and still in progress."""
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
