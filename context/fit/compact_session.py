"""Compact a session outside of a request: when the user asks for it, or after a turn."""

from dataclasses import dataclass
from typing import Final

from context.assemble.apply_hooks import link_entries, make_hook_envelope
from context.assemble.builder import find_acts
from context.assemble.request import Request
from context.assemble.turn_context import count_lasting_start, count_lasting_tail
from context.compaction import CompactResult
from context.draft import Tail, make_preamble
from context.fit.compact import (
    CompactionReport,
    History,
    compact_history,
    preview_compaction,
)
from context.fit.policy import HistoryUsage, Why
from context.history.boundaries import (
    TrimInput,
    TrimOffsets,
    find_trim_offsets,
    split_dropped_turns,
)
from context.history.replay import CurrentTurn, ReplayedPath
from context.history.turn_list import find_guaranteed_turn
from context.layers import Layer
from context.messages import Message
from context.report.report import ContextReport
from context.tokens import TokenCounter, count_message

_FAR_FROM_DUE: Final = 4


def compact_session(request: Request, why: Why = "asked") -> CompactionReport:
    """Compact a session on demand, regardless of its size.

    The new log entries are written together. If the compaction frees nothing, no entries are
    written.

    Args:
        request: a new request. Its path may also end with an answer. A turn in progress stays
            unchanged.
        why: the reason for the compaction. `asked` summarises all turns before the last complete
            one. With any other reason, the history is compacted to the usual fraction of its
            budget.
    """
    history, usage = read_history(request)
    compacted = _try_compaction(history, usage, request, why)
    return _report_nothing(history) if compacted is None else compacted


def _report_nothing(history: History) -> CompactionReport:
    tokens, messages = history.shown.tokens, history.shown.message_count
    return CompactionReport(CompactResult(tokens, tokens, messages, messages, ()), None, "", "none")


@dataclass(frozen=True)
class CompactionPreview:
    """A preview of a compaction, which uses an outline instead of a model's summary.

    Attributes:
        report: the expected result of the compaction.
        questions: the user messages that would be summarised, oldest first.
        maker: the name of the model that would write the summary, or an empty string if an outline
            would be used.
    """

    report: CompactionReport
    questions: tuple[str, ...]
    maker: str = ""


def preview_session(request: Request) -> CompactionPreview:
    """Preview the result of `compact_session`, without storing anything or calling a model."""
    history, usage = read_history(request)
    found = preview_compaction(history, usage, request, "asked")
    if found is None:
        return CompactionPreview(_report_nothing(history), ())
    shown = tuple(history.shown)
    turns = (*history.dropped_turns, *shown[: find_guaranteed_turn(shown)])
    questions = tuple(turn.turn.user.message.text for turn in turns if turn.turn.user)
    return CompactionPreview(found.report, questions)


def may_be_due(report: ContextReport, answer: str) -> bool:
    """Return whether the history may be so large after an answer that its compaction is due.

    This is False if the request with the answer fills at most a fourth of what makes it due, so
    that the whole history need not be read and counted. A text has at most as many tokens as bytes.
    The rest is for what later requests count differently, such as a budget with a larger factor.

    Args:
        report: the report of the request that was answered.
        answer: the text of the answer.
    """
    most_tokens = report.used + len(answer.encode("utf-8", "replace"))
    is_far = most_tokens * _FAR_FROM_DUE <= report.budget * report.policy.compact_at
    return bool(report.dropped) or not is_far


def compact_if_due(request: Request) -> CompactionReport | None:
    """Compact a session after a turn if its history is too large for the token budget.

    Return None if nothing was compacted.
    """
    history_policy, breaker = request.history_policy, request.ports.breaker
    if history_policy is None or not history_policy.auto_compact:
        return None
    if breaker is not None and breaker.is_tripped(request.model, request.budget_tokens):
        return None
    history, usage = read_history(request)
    if not usage.should_compact(history_policy):
        return None
    return _try_compaction(history, usage, request, "auto")


def _try_compaction(
    history: History, usage: HistoryUsage, request: Request, why: Why
) -> CompactionReport | None:
    compacted = compact_history(history, usage, request, why)
    if compacted is None:
        return None
    request.ports.append(link_entries(compacted.entries, request.path[-1].id))
    return compacted.report


def read_history(request: Request) -> tuple[History, HistoryUsage]:
    """Read the history of a session, and measure how much of the token budget it uses."""
    reading, counter = request.ports.replay(request.path), request.counter
    envelope = make_hook_envelope(request, reading)
    start = make_preamble(envelope.system, envelope.tools, counter)
    worked_on = _find_current_turn(reading, request.turn)
    turns = reading.earlier if worked_on else reading.turns
    _, question, work = worked_on.parts if worked_on else ((), None, ())
    epoch = request.epoch
    kept, dropped_turns = split_dropped_turns(reading.drops, turns, epoch)
    acts = find_acts(reading, kept, work, request.reading_tools)
    trim_input = TrimInput(kept, question, work, reading.pins.messages | acts, counter)
    trims = [trim for trim in reading.trims if epoch.binds(trim)]
    offsets = find_trim_offsets(trims, trim_input.messages) if trims else TrimOffsets()
    shown, work = trim_input.list_shown_parts(offsets)
    tail = _make_tail(worked_on, question, counter)
    size = start.tool_tokens + start.system_tokens
    in_progress = request.turn if worked_on else ""
    fixed_tokens = count_lasting_start(size, request.path, in_progress)
    fixed_tokens += count_lasting_tail(tail, reading.earlier, request.budget_tokens) if tail else 0
    size = sum(count_message(message, counter) for message in work)
    asked = tail.tokens[Layer.L5] if tail else 0
    usage = HistoryUsage(request.budget_tokens, fixed_tokens, shown.tokens, size, asked)
    history = History(
        shown, trim_input, offsets, dropped_turns, start, reading.excluded, reading.pins
    )
    return history, usage


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
