"""Ask a model for summaries of old turns, and check summaries before they are used."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, Literal

from context.assemble.inputs import Summarise, SummaryTask
from context.carry_forward import truncate_with_ellipsis
from context.cleaner import clean_tool_output
from context.compaction import HEAD
from context.errors import SummaryFailed, SummaryRefused
from context.exam import SummaryExam
from context.fit.summary_check import examine_summary
from context.fit.summary_exam import SummaryExaminer, describe_faults
from context.fit.summary_list import strike_changed
from context.history.outline import format_summary, remove_head
from context.history.turns import MeasuredTurn
from context.messages import Message
from context.tokens import TokenCounter, count_message

SUMMARY_TOKENS: Final = 600
SUMMARY_SHARE: Final = 0.05
LIST_TOKENS: Final = 600
FULL_SHARE: Final = 0.5  # a longer summary has no room for what it lacks
LIST_SHARE: Final = 0.05  # more, for what the exam of a summary adds to it
LEAST_SUMMARY_TOKENS: Final = 48

Maker = Literal["model", "outline", "none"]


def compute_summary_size(room_tokens: int) -> int:
    """Return the token limit of a summary.

    Args:
        room_tokens: the tokens available for the history.
    """
    return min(SUMMARY_TOKENS, max(LEAST_SUMMARY_TOKENS, int(room_tokens * SUMMARY_SHARE)))


def compute_list_size(room_tokens: int) -> int:
    """Return the token limit of the list that completes a summary.

    Args:
        room_tokens: the tokens available for the history.
    """
    return min(LIST_TOKENS, int(room_tokens * LIST_SHARE))


def request_summary(
    task: SummaryTask,
    summarise: Summarise,
    check: Callable[[str], str],
    examiner: SummaryExaminer | None = None,
) -> str:
    """Ask a model for a summary, and once more if its text must be refused or lacks too much.

    Args:
        task: the inputs of the summary.
        summarise: asks the model.
        check: checks the length of a summary, and returns it as it is used.
        examiner: examines the summary, or None to use it without an exam.

    Returns:
        The better of the summaries.

    Raises:
        SummaryFailed: when the second summary must be refused too, or a call fails.
    """

    def ask(task: SummaryTask) -> str:
        text = summarise(task)
        examine_summary(text, task.full_turns)
        return check(text)

    try:
        first = ask(task)
    except SummaryRefused as refusal:
        return ask(replace(task, refusal=str(refusal)))
    if examiner is None or not _is_worth_asking(exam := examiner.examine(first), first, task):
        return first
    faults = describe_faults(exam)
    try:
        second = ask(replace(task, refusal=faults))
    except SummaryFailed:
        return first  # it lacks something, but it is a summary
    return max((second, first), key=lambda text: _rate(text, examiner))


def _is_worth_asking(exam: SummaryExam, text: str, task: SummaryTask) -> bool:
    """Return whether another summary may be better.

    One that is full would lack something else. The list of what it lacks is made by rule.
    """
    if exam.changed or exam.is_good:
        return not exam.is_good
    size = count_message(Message("user", text), task.preamble.counter)
    return size < task.most_tokens * FULL_SHARE


def _rate(text: str, examiner: SummaryExaminer) -> tuple[bool, int, int]:
    """Return how good a summary is. One that says what nobody said is worse than a short one."""
    exam = examiner.examine(text)
    rest = strike_changed(remove_head(text), exam.changed)
    return bool(rest.strip()), -len(exam.changed), exam.in_request


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
    originals = {message.id: message for message in turn.turn.messages}
    messages = [_restore_message(message, originals.get(message.id)) for message in turn.messages]
    return MeasuredTurn.measure(turn.turn, messages, counter)


def _restore_message(message: Message, original: Message | None) -> Message:
    if (
        original is None
        or isinstance(original.content, str)
        or len(original.content) != len(message.content)
    ):
        return message
    emptied = clean_tool_output(original).content
    parts = zip(message.content, original.content, emptied, strict=True)
    is_cleared = all(part in (before, gone) for part, before, gone in parts)
    return original if is_cleared else message
