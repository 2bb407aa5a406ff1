"""What a summary of old turns is asked with, and what it has to be to be taken."""

from collections.abc import Sequence
from typing import Final, Literal

from context.carry_forward import truncate_with_ellipsis
from context.cleaner import clean_tool_output
from context.compaction import HEAD
from context.errors import SummaryFailed
from context.history.measured_turn import MeasuredTurn
from context.messages import Message
from context.tokens import TokenCounter, count_message

SUMMARY_TOKENS: Final = 600
SUMMARY_SHARE: Final = 0.05
LEAST_SUMMARY_TOKENS: Final = 48

Maker = Literal["model", "outline", "none"]


def summary_size(room_tokens: int) -> int:
    """Return how many tokens a summary may have in a room for the history."""
    return min(SUMMARY_TOKENS, max(LEAST_SUMMARY_TOKENS, int(room_tokens * SUMMARY_SHARE)))


def summary_text(text: str) -> str:
    """Return a summary as it stands in a request."""
    return f"{HEAD}\n{text.strip()}"


def check_summary(
    text: str, turns: Sequence[MeasuredTurn], most_tokens: int, counter: TokenCounter
) -> str:
    """Return a summary as it is stored, cut to its length.

    Raises:
        SummaryFailed: it is empty, or no smaller than what it stands for.
    """
    if not text.strip():
        raise SummaryFailed("The summary is empty.")
    stored = summary_text(text)
    while (size := count_message(Message("user", stored), counter)) > most_tokens:
        body = stored.removeprefix(f"{HEAD}\n")
        most_chars = min(len(body) - 1, len(body) * most_tokens // size)
        if most_chars < 1:
            raise SummaryFailed("The summary cannot be made short enough.")
        stored = summary_text(truncate_with_ellipsis(body, most_chars).rstrip(" .\n"))
    if count_message(Message("user", stored), counter) >= sum(turn.tokens for turn in turns):
        raise SummaryFailed("The summary is no smaller than what it stands for.")
    return stored


def as_said(turns: Sequence[MeasuredTurn], counter: TokenCounter) -> tuple[MeasuredTurn, ...]:
    """Return turns with the results that an earlier compaction had cleared in their place again."""
    return tuple(_as_said(turn, counter) for turn in turns)


def _as_said(turn: MeasuredTurn, counter: TokenCounter) -> MeasuredTurn:
    if turn.turn.user is None or turn.messages == turn.turn.messages:
        return turn
    said = {message.id: message for message in turn.turn.messages}
    messages = [_restored(message, said.get(message.id)) for message in turn.messages]
    return MeasuredTurn.measure(turn.turn, messages, counter)


def _restored(message: Message, said: Message | None) -> Message:
    """What was said, where nothing but its results was taken from it."""
    if said is None or isinstance(said.content, str) or len(said.content) != len(message.content):
        return message
    emptied = clean_tool_output(said).content
    parts = zip(message.content, said.content, emptied, strict=True)
    is_cleared = all(part in (before, gone) for part, before, gone in parts)
    return said if is_cleared else message
