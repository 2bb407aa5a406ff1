"""Compact a session during a turn, with summaries written by a model.

The history is compacted when it exceeds its budget, at the end of a turn, when the user or model
requests it, and after a service rejects a request as too long.

Reasons: ARCHITECTURE.md, "Compaction".
"""

import logging
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeVar

from chains.concurrency import Emit, WorkerPool, iterate
from chains.events import CompactionEnded, CompactionStarted, Event
from chains.prompts import SUMMARY_PROMPT, CallSetup
from chains.request.draft import Prepared, begin_request, build_ports
from chains.request.open_turn import find_model, open_language_model, open_turn
from chains.request.turn import Turn
from chains.request.usage import SUMMARY, CallUsage, LogUsage, build_usage_entry
from chains.tokenizer import load_counter
from chains.turn.summariser import Summariser
from context.assemble.inputs import GivenSummary, SummaryTask
from context.budget import compute_budget
from context.draft import make_preamble
from context.envelope import System
from context.errors import SummaryFailed
from context.fit.compact import CompactionReport
from context.fit.compact_session import compact_if_due, compact_session
from context.fit.summaries import SUMMARY_TOKENS
from context.history.exclusion import hide_in_turns
from context.history.outline import make_outline
from context.history.turn_list import TurnList
from context.history.turns import LoggedTurn, MeasuredTurn
from context.log.entries import Entry, UsageEntry

__all__ = [
    "BranchSummary",
    "add_summaries",
    "compact",
    "compact_at_end",
    "prepare_request",
    "summarise_branch",
]

# Preparing waits for model calls in the shared pool, so it must not occupy the threads of that.
_PREPARING: Final = WorkerPool(4)
_log = logging.getLogger(__name__)

T = TypeVar("T")


def prepare_request(
    turn: Turn, prepare: Callable[[Turn], Prepared]
) -> Generator[Event, None, Prepared]:
    """Prepare a request in the pool, and yield the events of a compaction if there is one."""
    prepared, has_begun = yield from _run_announced(prepare, turn, "auto")
    actions = prepared[0].report.actions
    if actions.compaction is not None:
        reason = "block" if actions.block else "auto"
        yield from _end_compaction(actions.compaction, has_begun, reason)
    return prepared


def compact(
    turn: Turn,
    instructions: str = "",
    *,
    reason: Literal["asked", "overflow"] = "asked",
    given: GivenSummary | None = None,
    is_draft: bool = False,
) -> Generator[Event, None, CompactionReport]:
    """Compact a session, and store the result if it frees any tokens.

    A turn in progress is not compacted.

    Args:
        turn: the turn in progress, or one that has only settings.
        instructions: the user's additional instructions for the summary.
        given: a finished summary to store instead of asking a model for one.
        is_draft: whether to return the summary without storing it. Token usage is always stored.
        reason: `asked` summarises everything before the last complete turn. `overflow` compacts the
            history to the usual fraction of its budget.
    """

    def run(turn: Turn) -> tuple[CompactionReport, list[Entry]]:
        new_entries: list[Entry] = []
        request = begin_request(turn, build_ports(turn, new_entries), turn.session.path())
        request = replace(request, summary_instructions=instructions, given_summary=given)
        return compact_session(request, reason), new_entries

    (forced, new_entries), has_begun = yield from _run_announced(run, turn, reason)
    if is_draft:
        new_entries = [entry for entry in new_entries if isinstance(entry, UsageEntry)]
    if new_entries:
        turn.session.append(new_entries)
    if not is_draft:
        yield from _end_compaction(forced.to_dict(), has_begun, reason)
    return forced


def compact_at_end(turn: Turn) -> Generator[Event]:
    """Compact a session at the end of a turn, if its history is too long."""

    def run(turn: Turn) -> tuple[CompactionReport | None, list[Entry]]:
        new_entries: list[Entry] = []
        ports, path = build_ports(turn, new_entries), turn.session.path()
        request = begin_request(turn, ports, path, is_ended=True)
        return compact_if_due(request), new_entries

    (forced, new_entries), has_begun = yield from _run_announced(run, turn, "auto")
    if new_entries:
        turn.session.append(new_entries)
    if forced is not None:
        yield from _end_compaction(forced.to_dict(), has_begun, "auto")


def _run_announced(
    run: Callable[[Turn], T], turn: Turn, reason: str
) -> Generator[Event, None, tuple[T, bool]]:
    """Run a function in the pool, and yield `CompactionStarted` before a model writes a summary.

    Args:
        run: the function, which receives the turn to use.
        reason: the reason for the compaction.

    Returns:
        The result of the function, and whether the event was yielded.
    """
    results: list[T] = []
    has_begun = False

    def produce(emit: Emit[Event]) -> None:
        results.append(run(_announce(turn, emit, reason)))

    for event in iterate(produce, turn.cancel, _PREPARING):
        has_begun = True
        yield event
    return results[0], has_begun


def _end_compaction(result: Mapping[str, object], has_begun: bool, reason: str) -> Iterator[Event]:
    if not has_begun:
        yield CompactionStarted(reason)
    yield CompactionEnded(result)


def _announce(turn: Turn, emit: Emit[Event], reason: str) -> Turn:
    """Return a copy of the turn that emits `CompactionStarted` before each model summary."""
    summarise = turn.summarise
    if summarise is None:
        return turn

    def summarise_announced(task: SummaryTask, log_usage: LogUsage) -> str:
        emit(CompactionStarted(reason))
        return summarise(task, log_usage)

    return replace(turn, summarise=summarise_announced)


def add_summaries(turn: Turn) -> Turn:
    """Return a copy of the turn in which a model, if one is set, writes the summaries."""
    name = turn.summarised_by
    if not name:
        return turn

    def summarise(task: SummaryTask, log_usage: LogUsage) -> str:
        model, is_own = find_model(turn, name), name == turn.model_name
        counter = turn.counter if is_own else load_counter(name)
        limits = (
            turn.settings.auto_compact_threshold,
            model.input_limit,
            turn.settings.max_output_tokens,
        )
        setup = CallSetup(
            SUMMARY_PROMPT,
            turn.customization.prompts(SUMMARY_PROMPT).sections,
            name,
            counter,
            task.request_budget if is_own else compute_budget(counter, *limits),
            turn.temperature,
            model.takes_marks,
        )
        return Summariser(setup, open_language_model(turn, model), turn.cancel, log_usage)(task)

    return replace(turn, summarise=summarise)


@dataclass(frozen=True)
class BranchSummary:
    """The summary of a branch, and the usage of the model calls that wrote it."""

    text: str
    usage: tuple[UsageEntry, ...] = ()


def summarise_branch(turn: Turn, branch: Sequence[LoggedTurn]) -> BranchSummary:
    """Summarise an abandoned branch, or build an outline of it if no model is available.

    Only the settings of the turn are used, not its user message.

    Raises:
        Cancelled: the token was cancelled.
    """
    turn = open_turn(turn)
    counter, summarise = turn.counter, add_summaries(turn).summarise
    turns = TurnList.of(MeasuredTurn.measure(one, one.messages, counter) for one in branch)
    if (rules := turn.note_rules) is not None:
        turns = hide_in_turns(turns, rules, counter)
    task = SummaryTask(
        full_turns=tuple(turns),
        sent=(),
        preamble=make_preamble(System(), (), counter),
        request_budget=turn.compute_request_budget(),
        model=turn.model_name,
        session=None,
        most_tokens=SUMMARY_TOKENS,
    )
    usage: list[UsageEntry] = []

    def log(call: CallUsage) -> None:
        usage.append(build_usage_entry(turn.session, "", call, purpose=SUMMARY))

    text = ""
    try:
        if summarise is not None:
            text = summarise(task, log).strip()
    except SummaryFailed as failure:
        _log.warning("An outline stands for a summary of a branch: %s", failure)
    return BranchSummary(text or make_outline(turns, SUMMARY_TOKENS, counter), tuple(usage))
