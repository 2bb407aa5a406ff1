"""Choose which earlier turns a request keeps. Whole turns are dropped, the oldest first.

A stored drop cuts the history to three quarters of its budget, so that many requests need no other
drop. If each request dropped one more turn, each would break the provider's prompt cache.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from context.history.boundaries import MODEL, Epoch
from context.history.turn_list import TurnList, find_guaranteed_turn
from context.history.turns import MeasuredTurn
from context.log.entries import DropEntry
from context.messages import FrozenMapping

CUT_TO: Final = 0.75
ROOM: Final = "room"


@dataclass(frozen=True, slots=True)
class FittedTurns:
    """The kept turns and the dropped ones, each oldest first."""

    kept: TurnList
    dropped: TurnList = field(default_factory=TurnList.of)


def fit_turns(turns: Sequence[MeasuredTurn], room_tokens: int) -> FittedTurns:
    """Keep the newest whole turns that fit, but always the last answered turn and those after it.

    Args:
        turns: the turns to choose from, oldest first.
        room_tokens: the token limit of all kept turns, counted by `context.tokens`.

    Returns:
        The kept turns in their order, and the dropped turns for the report.

    Source: "Token Budget Enforcement", 1.2.
    """
    cut = _cut(turns, room_tokens, find_guaranteed_turn(turns))
    known = TurnList.of(turns)
    return FittedTurns(known[cut:], known[:cut])


def fit_for_now(turns: Sequence[MeasuredTurn], room_tokens: int) -> FittedTurns:
    """Keep the newest turns that fit, like `fit_turns`, but drop unanswered user messages too.

    `fit_turns` keeps all user messages after the last answered turn until the next answer, even if
    the calls to answer them failed.
    """
    fitted = fit_turns(turns, room_tokens)
    if not fitted.kept:
        return fitted
    if find_guaranteed_turn(fitted.kept) != 0:
        return fitted
    answered, unanswered = fitted.kept[0], fitted.kept[1:]
    cut = _cut(unanswered, room_tokens - answered.tokens, len(unanswered))
    dropped = TurnList.of((*fitted.dropped, *unanswered[:cut]))
    return FittedTurns(TurnList.of((answered, *unanswered[cut:])), dropped)


def fit_without_guarantee(turns: Sequence[MeasuredTurn], room_tokens: int) -> FittedTurns:
    """Keep the newest whole turns that fit, possibly none."""
    cut = _cut(turns, room_tokens, len(turns))
    known = TurnList.of(turns)
    return FittedTurns(known[cut:], known[:cut])


def _cut(turns: Sequence[MeasuredTurn], room_tokens: int, most: int) -> int:
    tokens, cut = sum(turn.tokens for turn in turns), 0
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
    """Build the log entry that drops all turns before `first_kept` from later requests.

    Args:
        place: the id, the parent's id and the timestamp of the entry.
        sizes: the token count of the history before the drop and after it.
    """
    up_to, extra = first_kept.turn.entry_ids[0], FrozenMapping({MODEL: epoch.model})
    return DropEntry(*place, up_to, *sizes, ROOM, epoch.budget, extra=extra)
