"""What a branch of a chat came to, for the user who left it; no request carries it."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from chains.cancel import CancelToken
from chains.events import Usage
from chains.request.session import ChatPort
from chains.request.usage import SUMMARY, counted
from chains.turn.run import Chain, TurnRequest, running_means
from context.assemble.inputs import SummaryTask
from context.assemble.request import preamble
from context.budget import room_for
from context.envelope import System
from context.errors import SummaryFailed
from context.fit.outline import outline
from context.fit.summaries import SUMMARY_TOKENS
from context.history.measured_turn import MeasuredTurn
from context.history.turns import Turn
from context.log.entries import UsageEntry
from context.report.report import ContextReport

__all__ = ["BranchSummary", "summarise_branch"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class BranchSummary:
    """What a branch came to, and what services counted for saying so."""

    text: str
    usage: tuple[UsageEntry, ...] = ()


def summarise_branch(
    chain: Chain,
    request: TurnRequest,
    branch: Sequence[Turn],
    chat: ChatPort,
    cancel: CancelToken,
) -> BranchSummary:
    """Return a summary of turns by a model; an outline where there is none, or it makes none.

    Args:
        request: its settings count, its question does not.
        chat: the one that the branch is of.

    Raises:
        Cancelled: it was stopped.
    """
    means = running_means(chain, request, cancel)
    counter = means.counter
    turns = tuple(MeasuredTurn.measure(turn, turn.messages, counter) for turn in branch)
    limits = request.threshold, means.model.input_limit, request.max_output_tokens
    task = SummaryTask(
        said=turns,
        sent=(),
        preamble=preamble(System(), (), counter),
        room=room_for(counter, *limits),
        model=request.model,
        session=None,
        most_tokens=SUMMARY_TOKENS,
    )
    spent: list[UsageEntry] = []

    def spend(report: ContextReport, usage: Usage) -> None:
        spent.append(counted(chat, "", report, usage, purpose=SUMMARY))

    text = ""
    try:
        if means.summarise is not None:
            text = means.summarise(task, spend).strip()
    except SummaryFailed as failure:
        _log.warning("An outline stands for a summary of a branch: %s", failure)
    return BranchSummary(text or outline(turns, SUMMARY_TOKENS, counter), tuple(spent))
