"""Limit retrieved passages to their share of the token budget.

Also compute how many tokens to reserve for the user messages of later turns.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Final

from context.draft import Tail
from context.history.turns import LoggedTurn, MeasuredTurn
from context.layers import Layer, Segment
from context.log.entries import Entry, MessageEntry
from context.tokens import count_segment

PASSAGES_SHARE: Final = 0.25
LEAST_PASSAGES_SHARE: Final = 0.10
TURN_CONTEXT_SHARE: Final = 0.50
STANDING_SHARE: Final = 0.25
STANDING_TURNS: Final = 4
# The field of an answer with the token count of its request's tools and instructions.
START_TOKENS: Final = "startTokens"
SENT: Final = "sent"  # the reference to the stored request that was answered
WHERE: Final = "where"  # the host that answered, or "this computer"


@dataclass(frozen=True, slots=True)
class FittedTail:
    """The last user message with its context, after passages were dropped.

    Attributes:
        tail: the message with the passages that fit.
        dropped: the passages that were dropped.
    """

    tail: Tail
    dropped: tuple[Segment, ...] = ()


def fit_passages(tail: Tail, budget: int) -> FittedTail:
    """Drop the lowest-ranked passages until the others fit their share of the token budget.

    Passages may use a quarter of the budget minus the user message, but at least a tenth of the
    budget. The whole turn context, which also contains attachments, may use up to half of the
    budget. The sentence above a list, which comes first and has no number, always stays.

    Args:
        tail: the user message with its context.
        budget: the token limit of the request.
    """
    passages = [segment for segment in tail.segments if _is_retrieved(segment)]
    if not passages:
        return FittedTail(tail)
    sizes = [count_segment(segment, tail.counter) for segment in passages]
    most_tokens, kept = _compute_passages_limit(tail, budget), len(passages)
    least = 1 if passages[0].number is None else 0
    while kept > least and sum(sizes[:kept]) > most_tokens:
        kept -= 1
    rank = count()
    segments = tuple(
        segment for segment in tail.segments if not _is_retrieved(segment) or next(rank) < kept
    )
    return FittedTail(replace(tail, segments=segments), tuple(passages[kept:]))


def count_lasting_tail(tail: Tail, earlier: Sequence[MeasuredTurn], budget: int) -> int:
    """Compute how many tokens to reserve for user messages in this and later requests.

    This is the size of the user message with its context (the tail), but at most a quarter of the
    budget. Thus, one large user message does not shorten the history permanently. The limit does
    not apply if the last three turns exceeded it too.

    Args:
        tail: the user message with its context.
        earlier: the earlier turns, oldest first.
        budget: the token limit of the request.
    """
    most = int(budget * STANDING_SHARE)
    if tail.total <= most:
        return tail.total
    before = earlier[-(STANDING_TURNS - 1) :]
    running = len(before) == STANDING_TURNS - 1 and all(
        _count_tail(turn.turn, tail) > most for turn in before
    )
    return tail.total if running else most


def count_lasting_start(start_tokens: int, path: Sequence[Entry], turn: str) -> int:
    """Compute how many tokens to reserve for tools and instructions in this and later requests.

    This is their size in this turn or in one of the last turns, whichever is smallest. Thus, one
    question in a mode with many tools does not shorten the history permanently.

    Args:
        start_tokens: the token count of the tools and instructions of this turn.
        path: the log entries of the active path. The answers of older versions of Strata do not
            contain the size.
        turn: the id of the turn in progress, or an empty string if the last turn has ended.
    """
    sizes = dict[str, int]()
    most = STANDING_TURNS + (not turn)
    for entry in reversed(path):
        if not isinstance(entry, MessageEntry) or entry.turn_id == turn:
            continue
        if entry.turn_id not in sizes and len(sizes) == most:
            break
        size = entry.extra.get(START_TOKENS)
        known = size if isinstance(size, int) and not isinstance(size, bool) else 0
        # The last request of a turn may have offered no tools, so that the model answers.
        sizes[entry.turn_id] = max(sizes.get(entry.turn_id, 0), known)
    return min([start_tokens, *(size for size in sizes.values() if size > 0)])


def _is_retrieved(segment: Segment) -> bool:
    """Return whether a segment is a passage that was retrieved in this turn.

    Notes cited in earlier turns are excluded, because each of them takes only one line.
    """
    return segment.is_retrieved and segment.layer is Layer.L3


def compute_passages_share(budget: int, question_tokens: int) -> int:
    """Compute the token limit for the retrieved passages of a turn.

    Args:
        budget: the token limit of the request.
        question_tokens: the token count of the user message.
    """
    return max(int(budget * PASSAGES_SHARE) - question_tokens, int(budget * LEAST_PASSAGES_SHARE))


def _compute_passages_limit(tail: Tail, budget: int) -> int:
    question = tail.tokens[Layer.L5]
    share = compute_passages_share(budget, question)
    attached = (part for part in tail.on(Layer.L3) if not part.is_retrieved)
    taken = sum(count_segment(segment, tail.counter) for segment in attached)
    return min(share, int(budget * TURN_CONTEXT_SHARE) - taken)


def _count_tail(turn: LoggedTurn, like: Tail) -> int:
    if turn.user is None:
        return 0
    return Tail(turn.segments, turn.user.message, like.counter).total
