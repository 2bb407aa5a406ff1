"""A summary without a model: what was asked and how the answers began, the newest in full view."""

from collections.abc import Iterator, Sequence
from typing import Final

from context.carry_forward import truncate_with_ellipsis
from context.compaction import HEAD
from context.fit.summaries import summary_text
from context.history.measured_turn import MeasuredTurn
from context.history.tool_pairing import is_final
from context.messages import Message, calls_of
from context.tokens import TokenCounter, count_message

LINE_CHARS: Final = (240, 120, 60, 24)
LEAST_CHARS: Final = LINE_CHARS[-1]
EMPTY: Final = "…"
# Its answers say that no model is set, and then quote notes or name them.
QUOTING_MODEL: Final = "extractive"


def outline(turns: Sequence[MeasuredTurn], most_tokens: int, counter: TokenCounter) -> str:
    """Return what the turns were about, within so many tokens; the same for the same turns.

    All turns are told of in shorter lines first; only then the oldest are merely counted.
    """
    # A line takes a token at the least, so that more turns need not be looked at.
    for chars in LINE_CHARS if len(turns) <= most_tokens else ():
        lines = [line for turn in turns for line in _lines(turn, chars)]
        text = "\n".join([*lines, *_sources(turns)])
        if _fits(text, most_tokens, counter):
            return text
    kept = _newest(turns, most_tokens, counter)
    left = sum(_line_count(turn) for turn in turns) - len(kept)
    text = "\n".join([f"- {left} more before that", *kept]) if left else "\n".join(kept)
    return text if _fits(text, most_tokens, counter) else EMPTY


def _newest(turns: Sequence[MeasuredTurn], most_tokens: int, counter: TokenCounter) -> list[str]:
    """The last lines that fit, with some room for saying how many do not."""
    room = most_tokens - count_message(
        Message("user", summary_text("- 0000 more before that")), counter
    )
    kept: list[str] = []
    newest_first = (line for turn in reversed(turns) for line in [*_lines(turn, LEAST_CHARS)][::-1])
    for line in newest_first:
        room -= counter.count(f"{line}\n")
        if room < 0:
            break
        kept.append(line)
    return kept[::-1]


def _fits(text: str, most_tokens: int, counter: TokenCounter) -> bool:
    return count_message(Message("user", summary_text(text)), counter) <= most_tokens


def _lines(turn: MeasuredTurn, chars: int) -> Iterator[str]:
    if turn.turn.user is None:
        for message in turn.messages:
            yield f"- {_first_words(message.text.removeprefix(HEAD), 4 * chars)}"
        return
    asked = next((m.text for m in turn.messages if m.role == "user"), "")
    answer = next((m.text for m in reversed(turn.messages) if is_final(m)), "")
    tools = {call.name: None for message in turn.messages for call in calls_of(message)}
    if any(entry.model == QUOTING_MODEL for entry in turn.turn.answers):
        answer = _quotations(answer) or answer
    used = f" ({', '.join(tools)})" if tools else ""
    yield f"- Asked: {_first_words(asked, chars)} — answered{used}: {_first_words(answer, chars)}"


def _quotations(answer: str) -> str:
    """Return what an answer quotes, else the notes it names, without the sentence before that."""
    lines = answer.split("\n")
    for sign in (">", "- "):
        if found := [line.removeprefix(sign).strip() for line in lines if line.startswith(sign)]:
            return " ".join(found)
    return ""


def _line_count(turn: MeasuredTurn) -> int:
    return len(turn.messages) if turn.turn.user is None else 1


def _sources(turns: Sequence[MeasuredTurn]) -> list[str]:
    names = dict.fromkeys(part.source for turn in turns for part in turn.turn.segments)
    return [f"- Notes used: {', '.join(names)}"] if names else []


def _first_words(text: str, chars: int) -> str:
    return truncate_with_ellipsis(" ".join(text.split()), chars)
