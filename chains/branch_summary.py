"""What a branch of a chat came to, for the user who left it; no request carries it."""

import logging
from collections.abc import Sequence

from chains.cancel import CancelToken
from chains.runner import Chain, TurnRequest, running_means
from context.budget import room_for
from context.draft import preamble
from context.envelope import System
from context.errors import SummaryFailed
from context.measured import MeasuredTurn
from context.outline import outline
from context.replay import Turn
from context.summaries import SUMMARY_TOKENS, SummaryTask

__all__ = ["summarise_branch"]

_log = logging.getLogger(__name__)


def summarise_branch(
    chain: Chain, request: TurnRequest, branch: Sequence[Turn], cancel: CancelToken
) -> str:
    """Return a summary of turns by a model; an outline where there is none, or it makes none.

    Args:
        request: its settings count, its question does not.

    Raises:
        Cancelled: it was stopped.
    """
    means = running_means(chain, request, cancel)
    counter = means.counter
    turns = tuple(MeasuredTurn.measure(turn, turn.messages, counter) for turn in branch)
    limits = request.threshold, means.model.input_limit, request.max_output_tokens
    task = SummaryTask(
        turns=turns,
        preamble=preamble(System(), (), counter),
        continues=False,
        room=room_for(counter, *limits),
        model=request.model,
        session=None,
        most_tokens=SUMMARY_TOKENS,
    )
    try:
        if means.summarise is not None:
            return means.summarise(task).strip()
    except SummaryFailed as failure:
        _log.warning("An outline stands for a summary of a branch: %s", failure)
    return outline(turns, SUMMARY_TOKENS, counter)
