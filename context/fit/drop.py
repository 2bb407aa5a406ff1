"""Choose which earlier turns a request keeps. Whole turns are dropped, oldest first.

A drop that is stored in the log cuts the history to three quarters of its token budget. The next
drop is then needed only much later. Dropping one turn per request would invalidate the provider's
prompt cache every time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from context.history.boundaries import MODEL, Epoch
from context.history.turn_list import TurnList, count_summaries, find_guaranteed_turn
from context.history.turns import MeasuredTurn
from context.log.entries import DropEntry
from context.messages import FrozenMapping

CUT_TO: Final = 0.75
ROOM: Final = "room"


@dataclass(frozen=True, slots=True)
class FittedTurns:
    """The turns to keep and the turns to drop, each oldest first."""

    kept: TurnList
    dropped: TurnList = field(default_factory=TurnList.of)


def fit_turns(turns: Sequence[MeasuredTurn], room_tokens: int) -> FittedTurns:
    """Keep the newest whole turns that fit a token limit, and the summary of still older ones.

    The last answered turn and all turns after it are always kept, even if they do not fit. The
    summary is always kept too: it is no turn, and stands for all that was said before.

    Args:
        turns: the turns to choose from, oldest first.
        room_tokens: the token limit for all kept turns.

    Returns:
        The kept turns in order, and the dropped turns for the report.
    """
    known, first = TurnList.of(turns), count_summaries(turns)
    cut = _cut(turns, room_tokens, find_guaranteed_turn(turns), first)
    return FittedTurns(known.without(first, cut), known[first:cut])


def fit_for_now(turns: Sequence[MeasuredTurn], room_tokens: int) -> FittedTurns:
    """Keep the newest whole turns that fit a token limit, for a single request.

    Unlike `fit_turns`, this function may drop user messages after the last answered turn. The
    history contains unanswered user messages if calls to the model have failed.

    Args:
        turns: the turns to choose from, oldest first.
        room_tokens: the token limit for all kept turns.
    """
    fitted = fit_turns(turns, room_tokens)
    kept, first = fitted.kept, count_summaries(fitted.kept)
    if len(kept) <= first or find_guaranteed_turn(kept) != first:
        return fitted
    cut = _cut(kept, room_tokens, len(kept), first + 1)
    dropped = TurnList.of((*fitted.dropped, *kept[first + 1 : cut]))
    return FittedTurns(kept.without(first + 1, cut), dropped)


def fit_without_guarantee(turns: Sequence[MeasuredTurn], room_tokens: int) -> FittedTurns:
    """Keep the newest whole turns that fit a token limit. If no turn fits, none is kept.

    Args:
        turns: the turns to choose from, oldest first.
        room_tokens: the token limit for all kept turns.
    """
    cut = _cut(turns, room_tokens, len(turns), 0)
    known = TurnList.of(turns)
    return FittedTurns(known[cut:], known[:cut])


def _cut(turns: Sequence[MeasuredTurn], room_tokens: int, most: int, first: int) -> int:
    """Return the index up to which turns are dropped so that the others fit a token limit.

    Args:
        turns: the turns, oldest first.
        room_tokens: the token limit.
        most: the index of the first turn that must not be dropped.
        first: the index of the first turn that may be dropped.
    """
    tokens, cut = sum(turn.tokens for turn in turns), first
    while cut < most and tokens > room_tokens:
        tokens -= turns[cut].tokens
        cut += 1
    return cut


def make_drop_entry(
    place: tuple[str, str | None, str],
    first_kept: MeasuredTurn,
    sizes: tuple[int, int],
    epoch: Epoch,
) -> DropEntry:
    """Build the log entry that leaves all turns before `first_kept` out of later requests.

    Args:
        place: the entry's id, parent id and timestamp.
        first_kept: the oldest turn that later requests contain.
        sizes: the token count of the history before and after the drop.
        epoch: the model and token budget for which the drop is valid.
    """
    up_to, extra = first_kept.turn.entry_ids[0], FrozenMapping({MODEL: epoch.model})
    return DropEntry(*place, up_to, *sizes, ROOM, epoch.budget, extra=extra)
