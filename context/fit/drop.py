"""Choose the earlier turns of a request. Only whole turns are dropped, the oldest first.

A stored drop goes down to three quarters of the history budget, and then holds for many requests:
a window that slides by one turn each time would break the provider's prompt cache at every request.
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
    """Keep the newest whole turns that fit, and always the last answered one and what follows it.

    Args:
        turns: oldest first.
        room_tokens: the tokens that they may take together, counted as in `context.tokens`.

    Returns:
        The kept turns in their order, and the dropped ones, for the report.

    Source: "Token Budget Enforcement", 1.2.
    """
    cut = _cut(turns, room_tokens, find_guaranteed_turn(turns))
    known = TurnList.of(turns)
    return FittedTurns(known[cut:], known[:cut])


def fit_for_now(turns: Sequence[MeasuredTurn], room_tokens: int) -> FittedTurns:
    """Keep the turns that fit like `fit_turns`, but also drop user messages without an answer.

    Otherwise a user message that failed after the last answered turn would stay until the next
    answer.
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
    """Return the entry that drops all turns before `first_kept` from later requests.

    Args:
        place: id, parent and timestamp of the entry.
        sizes: the tokens of the history before and after.
    """
    up_to, extra = first_kept.turn.entry_ids[0], FrozenMapping({MODEL: epoch.model})
    return DropEntry(*place, up_to, *sizes, ROOM, epoch.budget, extra=extra)
