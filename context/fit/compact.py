"""Compact the history of a session, and build the log entries that store the compaction.

Compaction clears old tool results, and replaces old turns with a summary.
"""

from dataclasses import dataclass, field, replace
from typing import Final

from context.assemble.inputs import SummaryTask
from context.assemble.request import Request
from context.compaction import HEAD, CompactResult
from context.draft import Preamble
from context.exam import SummaryExam
from context.fit.compact_steps import (
    TARGET,
    CompactionInput,
    CompactionState,
    make_result,
    replace_messages,
    run_steps,
)
from context.fit.drop import make_drop_entry
from context.fit.policy import HistoryUsage, Why
from context.fit.summaries import (
    Maker,
    compute_list_size,
    compute_summary_size,
    restore_results,
)
from context.fit.summary_facts import keep_facts
from context.fit.trim import PlannedTrim, plan_trim_after_compaction
from context.history.boundaries import (
    TrimInput,
    TrimOffsets,
)
from context.history.memory import read_memory
from context.history.outline import build_chat_note
from context.history.pins import Pins
from context.history.replay import WITHHELD
from context.history.turn_list import TurnList, count_summaries
from context.json_codec import Record
from context.log.entries import Entry, TransformEntry, TrimEntry
from context.offload import READ_RESULT_NAME
from context.tokens import count_message

COMPACTION: Final = "compaction"
COMPACTED: Final = "the history was compacted"
CLEARED: Final = "old results were cleared"
FACTS_SHARE: Final = 0.5  # of the size of a summary, for the facts of it that are kept apart


@dataclass(frozen=True)
class History:
    """The history of a session before it is compacted.

    Attributes:
        shown: the turns as they are sent, oldest first.
        trim_input: the turns before any text was shortened, and the user message and tool calls of
            the turn in progress.
        offsets: the indexes up to which messages of the turns are or must be shortened.
        dropped_turns: older turns that requests no longer contain, as stored in the log.
        preamble: the tools and instructions of the session's requests.
        excluded: the notes whose text is left out of the turns.
        pins: what the user has pinned, which later requests contain.
    """

    shown: TurnList
    trim_input: TrimInput
    offsets: TrimOffsets
    dropped_turns: TurnList
    preamble: Preamble
    excluded: frozenset[str] = frozenset()
    pins: Pins = field(default_factory=lambda: Pins({}, frozenset()))

    @property
    def kept_as(self) -> TurnList:
        """The turns kept by a compaction: answers in full, other messages shortened as before."""
        return self.trim_input.list_shown_parts(self.offsets.after(0))[0]


@dataclass(frozen=True)
class CompactionReport(Record):
    """The result of a compaction.

    Attributes:
        result: the size of the history before and after.
        entry: the id of the log entry that stores the compaction, or None if nothing was compacted.
        summary: the summary, or an empty string if no summary was needed.
        by: the author of the summary: `model`, or `outline` if no model wrote it, or `none`.
        warnings: one sentence for each failed summary.
        exam: what requests still say of what left them, or None if that was not examined.
    """

    result: CompactResult
    entry: str | None
    summary: str
    by: Maker
    warnings: tuple[str, ...] = ()
    exam: SummaryExam | None = None

    json_shape = (
        "before_tokens = result.before_tokens",
        "after_tokens = result.after_tokens",
        "before_messages = result.before_messages",
        "after_messages = result.after_messages",
        "strategies_run = result.strategies_run",
        "entry",
        "summary",
        "by",
        "warnings",
        "exam",
    )


@dataclass(frozen=True)
class PlannedCompaction:
    """A compaction that frees tokens. Its log entries are not stored yet.

    Attributes:
        entries: the log entries that store the compaction.
        report: the result.
    """

    entries: tuple[Entry, ...]
    report: CompactionReport

    @property
    def has_trimmed(self) -> bool:
        """Whether messages are shortened in the turns that remain after the compaction."""
        trims = (entry for entry in self.entries if isinstance(entry, TrimEntry))
        return any(trim.tokens_after < trim.tokens_before for trim in trims)


def preview_compaction(
    history: History, usage: HistoryUsage, request: Request, why: Why
) -> PlannedCompaction | None:
    """Estimate the result of a compaction without calling a model.

    Return None if the compaction would free nothing. The circuit breaker does not count the preview
    as an attempt.

    Args:
        history: the history to compact.
        usage: how much of the token budget is used.
        why: the reason for the compaction.
    """
    history_policy = request.history_policy
    has_model = history_policy is not None and history_policy.can_summarise
    order = replace(_plan_compaction(history, usage, request, why), is_foretold=has_model)
    ports = replace(request.ports, summarise=None, breaker=None)
    return _run_compaction(order, history, usage, replace(request, ports=ports))


def compact_history(
    history: History, usage: HistoryUsage, request: Request, why: Why
) -> PlannedCompaction | None:
    """Compact the history, or return None if the compaction would free nothing.

    Args:
        history: the history to compact.
        usage: how much of the token budget is used.
        why: the reason for the compaction.

    Raises:
        SummaryFailed: when a given summary cannot be used.
        Exception: any other error of the summarising function, such as that of a cancelled call.
    """
    order = _plan_compaction(history, usage, request, why)
    return _run_compaction(order, history, usage, request)


def _run_compaction(
    order: CompactionInput, history: History, usage: HistoryUsage, request: Request
) -> PlannedCompaction | None:
    state = run_steps(order, request.ports.summarise)
    if not state.is_attempt:
        return None
    trim, after_tokens = _trim_again(order, state, history, usage)
    result = make_result(order, state, after_tokens)
    has_shrunk = result.after_tokens < result.before_tokens
    if request.ports.breaker is not None:
        request.ports.breaker.record(request.model, request.budget_tokens, has_shrunk)
    if not has_shrunk:
        return None
    entries = _make_entries(order, state, result, request, history.excluded)
    if state.summary and state.by == "model":
        most = int(order.task.most_tokens * FACTS_SHARE)
        path = (*request.path, *request.new_entries)
        place = request.ports.new_id(), None, request.ports.now()
        entries = (*entries, *keep_facts(path, state.summary, most, request.counter, place))
    if trim is not None:
        place = request.ports.new_id(), None, request.ports.now()
        entries = (*entries, trim.make_entry(place, request.epoch))
    made = state.summary, state.by, tuple(state.warnings), state.final_exam
    return PlannedCompaction(entries, CompactionReport(result, entries[0].id, *made))


def _trim_again(
    order: CompactionInput, state: CompactionState, history: History, usage: HistoryUsage
) -> tuple[PlannedTrim | None, int]:
    """Plan which messages to shorten in the turns that remain after a compaction.

    Return the plan, and the resulting token count of the history. The plan is None if no messages
    were shortened before the compaction.

    Args:
        order: the inputs of the compaction.
        state: the state after the steps of the compaction.
        history: the history before the compaction.
        usage: how much of the token budget is used.
    """
    if history.offsets == TrimOffsets():
        return None, state.tokens(order.counter)
    summary, counter = state.summary_tokens(order.counter), order.counter
    kept, gone = state.select_kept(history.trim_input.history)
    kept_turns = TurnList.of(replace_messages(turn, state.cleared, counter) for turn in kept)
    trim_input = replace(history.trim_input, history=kept_turns)
    question = 0 if trim_input.question is None else count_message(trim_input.question, counter)
    target = min(order.target, order.shown_tokens - 1) - summary + usage.work + question
    offsets = history.offsets.after(gone.message_count)
    offsets, trim = plan_trim_after_compaction(trim_input, offsets, target)
    return trim, summary + trim_input.list_shown_parts(offsets)[0].tokens


def make_history(sent: Request, planned: Request) -> History:
    """Build the history to compact before a request.

    Args:
        sent: the drafted request, with messages shortened as stored in the log.
        planned: the request with more messages shortened, which does not free enough tokens.
            It may be the same as `sent`.
    """
    draft = sent.draft
    return History(
        draft.history,
        sent.trim_input,
        planned.offsets,
        sent.dropped_turns,
        draft.preamble,
        sent.reading.excluded,
        sent.reading.pins,
    )


def _plan_compaction(
    history: History, usage: HistoryUsage, request: Request, why: Why
) -> CompactionInput:
    entry_id = request.ports.new_id()
    has_reader = any(tool.name == READ_RESULT_NAME for tool in history.preamble.tools)
    task = SummaryTask(
        full_turns=(),
        sent=(),
        preamble=history.preamble,
        request_budget=request.budget,
        model=request.model,
        session=request.session,
        most_tokens=compute_summary_size(usage.history_budget),
        instructions=request.summary_instructions,
    )
    return CompactionInput(
        shown=tuple(history.shown),
        kept_as=tuple(history.kept_as),
        full_turns=restore_results(history.trim_input.history, request.counter),
        dropped_turns=restore_results(history.dropped_turns, request.counter),
        continues=request.previous is not None and not history.dropped_turns,
        target=int(usage.history_budget * TARGET) - usage.work,
        is_whole=why == "asked",
        is_foretold=False,
        spared=history.trim_input.spared,
        task=task,
        counter=request.counter,
        given=request.given_summary,
        facts=request.ports.facts,
        list_tokens=compute_list_size(usage.history_budget),
        others=_list_other_texts(history, request),
        entry_id=entry_id,
        chat_note=build_chat_note(entry_id) if has_reader else "",
        searches_notes=request.ports.searches_notes,
    )


def _list_other_texts(history: History, request: Request) -> tuple[str, ...]:
    """Return the other texts that requests contain: the memory, and what is pinned."""
    memory = read_memory((*request.path, *request.new_entries)).render()
    pinned = (item.raw_content for item in history.pins.segments.values())
    return (*([memory] if memory else []), *pinned)


def _make_entries(
    order: CompactionInput,
    state: CompactionState,
    result: CompactResult,
    request: Request,
    excluded: frozenset[str],
) -> tuple[Entry, ...]:
    now, transform_id = request.ports.now(), order.entry_id
    patch = _make_patch(state, result, now, excluded)
    figures = f"{result.before_tokens:,} → {result.after_tokens:,} tokens"
    markdown = state.summary.removeprefix(f"{HEAD}\n")
    display = {"title": "Compacted", "summary": figures, "markdown": markdown}
    transform = TransformEntry(transform_id, None, now, COMPACTION, patch, display)
    if not state.drop_to:
        return (transform,) if patch else ()
    sizes = sum(turn.tokens for turn in state.turns), sum(turn.tokens for turn in state.kept)
    place = request.ports.new_id(), transform_id, now
    first_kept = state.kept[count_summaries(state.turns)]
    drop = make_drop_entry(place, first_kept, sizes, request.epoch)
    return (transform, drop) if patch else (drop,)


def _make_patch(
    state: CompactionState, result: CompactResult, now: str, excluded: frozenset[str]
) -> tuple[dict[str, object], ...]:
    reason = COMPACTED if state.summary else CLEARED
    cached = {"scope": "cached", "invalidateCacheReason": reason}
    message_ids = {message.id for turn in state.turns for message in turn.messages}
    cleared: list[dict[str, object]] = [
        {**cached, "op": "message_replace", "entryId": name, "parts": message.to_dict()["content"]}
        for name, message in state.cleared.items()
        if name in message_ids
    ]
    if not state.summary:
        return tuple(cleared)
    apply: dict[str, object] = {
        **cached,
        "op": "compaction_apply",
        "summary": state.summary,
        "timestamp": now,
        "firstKeptEntryId": state.turns[0].messages[0].id,
        "tokensBefore": result.before_tokens,
        "tokensAfter": result.after_tokens,
        "by": state.by,
        "strategies": list(result.strategies_run),
        **({"edited": True} if state.is_edited else {}),
        **({"exam": state.final_exam.to_dict()} if state.final_exam is not None else {}),
        **({WITHHELD: sorted(excluded)} if excluded else {}),
    }
    return (*cleared, apply)
