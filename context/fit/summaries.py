"""Check summaries of old turns, and build outlines where no model can write a summary."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, Literal

from context.assemble.inputs import Summarise, SummaryTask
from context.carry_forward import truncate_with_ellipsis
from context.cleaner import clean_tool_output
from context.compaction import HEAD
from context.errors import SummaryFailed, SummaryRefused
from context.fit.summary_check import examine_summary
from context.history.tool_pairing import is_final
from context.history.turns import MeasuredTurn
from context.messages import Message, list_tool_calls
from context.tokens import TokenCounter, count_message

SUMMARY_TOKENS: Final = 600
SUMMARY_SHARE: Final = 0.05
LEAST_SUMMARY_TOKENS: Final = 48

Maker = Literal["model", "outline", "none"]


def compute_summary_size(room_tokens: int) -> int:
    """Return the token limit of a summary.

    Args:
        room_tokens: the tokens available for the history.
    """
    return min(SUMMARY_TOKENS, max(LEAST_SUMMARY_TOKENS, int(room_tokens * SUMMARY_SHARE)))


def format_summary(text: str) -> str:
    """Return a summary as it is sent to the model, below a line that introduces it."""
    return f"{HEAD}\n{text.strip()}"


def request_summary(task: SummaryTask, summarise: Summarise, check: Callable[[str], str]) -> str:
    """Ask a model for a summary, and once more if its text must be refused.

    Args:
        task: the inputs of the summary.
        summarise: asks the model.
        check: checks the length of a summary, and returns it as it is used.

    Raises:
        SummaryFailed: when the second summary must be refused too, or a call fails.
    """

    def ask(task: SummaryTask) -> str:
        text = summarise(task)
        examine_summary(text, task.said)
        return check(text)

    try:
        return ask(task)
    except SummaryRefused as refusal:
        return ask(replace(task, refusal=str(refusal)))


def check_summary(
    text: str, turns: Sequence[MeasuredTurn], most_tokens: int, counter: TokenCounter
) -> str:
    """Check a model's summary, truncate it if it is too long, and return it as sent to the model.

    Args:
        text: the summary.
        turns: the turns that the summary replaces.
        most_tokens: the token limit of the summary.
        counter: counts the tokens.

    Raises:
        SummaryRefused: when the summary is empty, cannot be shortened enough, or is not smaller
            than the turns.
    """
    if not text.strip():
        raise SummaryRefused("The summary is empty.")
    stored = format_summary(text)
    while (size := count_message(Message("user", stored), counter)) > most_tokens:
        body = stored.removeprefix(f"{HEAD}\n")
        most_chars = min(len(body) - 1, len(body) * most_tokens // size)
        if most_chars < 1:
            raise SummaryRefused("The summary cannot be made short enough.")
        stored = format_summary(truncate_with_ellipsis(body, most_chars).rstrip(" .\n"))
    if count_message(Message("user", stored), counter) >= sum(turn.tokens for turn in turns):
        raise SummaryRefused("The summary is no smaller than what it stands for.")
    return stored


def check_given_summary(
    text: str, turns: Sequence[MeasuredTurn], most_tokens: int, counter: TokenCounter
) -> str:
    """Check a summary that the user has reviewed, and return it as sent to the model.

    The summary is never truncated.

    Args:
        text: the summary.
        turns: the turns that the summary replaces.
        most_tokens: the token limit of the summary.
        counter: counts the tokens.

    Raises:
        SummaryFailed: when the summary is empty, too long, or not smaller than the turns.
    """
    stored = format_summary(text)
    size = count_message(Message("user", stored), counter)
    check_length(text, size, min(most_tokens, sum(turn.tokens for turn in turns) - 1))
    return stored


def check_length(text: str, tokens: int, most_tokens: int) -> None:
    """Check that a summary written by the user is neither empty nor too long.

    Args:
        text: the summary.
        tokens: the token count of the summary.
        most_tokens: the token limit of the summary.

    Raises:
        SummaryFailed: when the summary is empty, or has too many tokens.
    """
    if not text.strip():
        raise SummaryFailed("The summary is empty.")
    if tokens > most_tokens:
        raise SummaryFailed(
            f"The summary has {tokens:,} tokens; it may have up to {most_tokens:,}."
        )


def restore_results(
    turns: Sequence[MeasuredTurn], counter: TokenCounter
) -> tuple[MeasuredTurn, ...]:
    """Restore cleared tool results in turns.

    An earlier compaction replaced the text of these results with line counts.
    """
    return tuple(_restore_turn(turn, counter) for turn in turns)


def _restore_turn(turn: MeasuredTurn, counter: TokenCounter) -> MeasuredTurn:
    if turn.turn.user is None or turn.messages == turn.turn.messages:
        return turn
    said = {message.id: message for message in turn.turn.messages}
    messages = [_restore_message(message, said.get(message.id)) for message in turn.messages]
    return MeasuredTurn.measure(turn.turn, messages, counter)


def _restore_message(message: Message, said: Message | None) -> Message:
    if said is None or isinstance(said.content, str) or len(said.content) != len(message.content):
        return message
    emptied = clean_tool_output(said).content
    parts = zip(message.content, said.content, emptied, strict=True)
    is_cleared = all(part in (before, gone) for part, before, gone in parts)
    return said if is_cleared else message


LINE_CHARS: Final = (240, 120, 60, 24)
LEAST_CHARS: Final = LINE_CHARS[-1]
EMPTY: Final = "…"
# The answers of this model say that no model is set, and then quote or name notes.
QUOTING_MODEL: Final = "extractive"


def make_outline(turns: Sequence[MeasuredTurn], most_tokens: int, counter: TokenCounter) -> str:
    """Build an outline of old turns that is not longer than a token limit.

    Long lines are shortened first. If this is not enough, the oldest lines are replaced with a line
    that gives their number. The same turns always give the same outline.
    """
    # A line takes at least one token, so older turns cannot fit.
    for chars in LINE_CHARS if len(turns) <= most_tokens else ():
        lines = [line for turn in turns for line in _describe_turn(turn, chars)]
        text = "\n".join([*lines, *_list_sources(turns)])
        if _fits(text, most_tokens, counter):
            return text
    kept = _select_newest(turns, most_tokens, counter)
    left = sum(_count_lines(turn) for turn in turns) - len(kept)
    text = "\n".join([f"- {left} more before that", *kept]) if left else "\n".join(kept)
    return text if _fits(text, most_tokens, counter) else EMPTY


def _select_newest(
    turns: Sequence[MeasuredTurn], most_tokens: int, counter: TokenCounter
) -> list[str]:
    """Return the newest lines of an outline that fit a token limit.

    Args:
        turns: the turns to describe, oldest first.
        most_tokens: the token limit of the outline. A part of it is reserved for a line with the
            number of omitted lines.
        counter: counts the tokens.
    """
    free_tokens = most_tokens - count_message(
        Message("user", format_summary("- 0000 more before that")), counter
    )
    kept: list[str] = []
    newest_first = (
        line for turn in reversed(turns) for line in [*_describe_turn(turn, LEAST_CHARS)][::-1]
    )
    for line in newest_first:
        free_tokens -= counter.count(f"{line}\n")
        if free_tokens < 0:
            break
        kept.append(line)
    return kept[::-1]


def _fits(text: str, most_tokens: int, counter: TokenCounter) -> bool:
    return count_message(Message("user", format_summary(text)), counter) <= most_tokens


def _describe_turn(turn: MeasuredTurn, chars: int) -> Iterator[str]:
    if turn.turn.user is None:
        for message in turn.messages:
            yield f"- {_shorten_line(message.text.removeprefix(HEAD), 4 * chars)}"
        return
    asked = next((m.text for m in turn.messages if m.role == "user"), "")
    answer = next((m.text for m in reversed(turn.messages) if is_final(m)), "")
    tools = {call.name: None for message in turn.messages for call in list_tool_calls(message)}
    if any(entry.model == QUOTING_MODEL for entry in turn.turn.answers):
        answer = _find_quotations(answer) or answer
    used = f" ({', '.join(tools)})" if tools else ""
    yield f"- Asked: {_shorten_line(asked, chars)} — answered{used}: {_shorten_line(answer, chars)}"


def _find_quotations(answer: str) -> str:
    """Return the quotations in an answer that was built without a model.

    If there are none, return the items that the answer lists, or an empty string.
    """
    lines = answer.split("\n")
    for sign in (">", "- "):
        if found := [line.removeprefix(sign).strip() for line in lines if line.startswith(sign)]:
            return " ".join(found)
    return ""


def _count_lines(turn: MeasuredTurn) -> int:
    return len(turn.messages) if turn.turn.user is None else 1


def _list_sources(turns: Sequence[MeasuredTurn]) -> list[str]:
    names = dict.fromkeys(part.shown_source for turn in turns for part in turn.turn.segments)
    return [f"- Notes used: {', '.join(names)}"] if names else []


def _shorten_line(text: str, chars: int) -> str:
    return truncate_with_ellipsis(" ".join(text.split()), chars)
