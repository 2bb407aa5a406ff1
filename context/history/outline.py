"""Build outlines of old turns without a model, and write summaries and turns as they are sent.

Turns are written as text for a model that summarises them, and for one that reads them again.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from context.carry_forward import truncate_with_ellipsis
from context.compaction import HEAD
from context.history.tool_pairing import is_final
from context.history.turns import MeasuredTurn
from context.messages import (
    Message,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    list_tool_calls,
)
from context.offload import READ_RESULT_NAME
from context.tokens import TokenCounter, count_message

LINE_CHARS: Final = (240, 120, 60, 24)
LEAST_CHARS: Final = LINE_CHARS[-1]
EMPTY: Final = "…"
# The answers of this model say that no model is set, and then quote or name notes.
QUOTING_MODEL: Final = "extractive"
_SPEAKERS: Final = {"user": "User", "assistant": "Assistant", "tool": "Tool", "system": "System"}
_NOTE: Final = '[All earlier messages in full: {tool} with ref_id="{ref_id}" and find="WORDS".]'
_NOTE_LINE: Final = re.compile(
    "\n?^" + re.escape(_NOTE).replace(r"\{tool\}", r"\w+").replace(r"\{ref_id\}", '[^"\n]*') + "$",
    re.MULTILINE,
)


def format_summary(text: str) -> str:
    """Return a summary as it is sent to the model, below a line that introduces it."""
    return f"{HEAD}\n{text.strip()}"


def remove_head(summary: str) -> str:
    """Return the text of a summary without the lines of the program.

    These are the one that introduces it, and the one that says how to read the turns before it.
    """
    return _NOTE_LINE.sub("", summary.removeprefix(HEAD)).lstrip("\n")


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
            yield f"- {_shorten_line(remove_head(message.text), 4 * chars)}"
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


def find_chat_note(summary: str) -> str:
    """Return the line of a summary that says how to read what it replaces, or an empty string."""
    found = _NOTE_LINE.search(summary)
    return "" if found is None else found[0]


def build_chat_note(ref_id: str) -> str:
    """Return the line of a summary that says how to read the turns before it.

    Args:
        ref_id: the id of the compaction's log entry.
    """
    return _NOTE.format(tool=READ_RESULT_NAME, ref_id=ref_id)


def render_turn(turn: MeasuredTurn) -> Iterator[str]:
    """Yield the messages of a turn as text, and then the names of the notes that it was sent."""
    for message in turn.messages:
        yield f"{_SPEAKERS[message.role]}: {_render_message(message)}"
    if names := dict.fromkeys(segment.shown_source for segment in turn.turn.segments):
        yield f"Notes that were sent along: {', '.join(names)}"


def _render_message(message: Message) -> str:
    if isinstance(message.content, str):
        return message.content
    texts = []
    for part in message.content:
        if isinstance(part, ReasoningPart):
            continue
        if isinstance(part, TextPart):
            texts.append(part.text)
        elif isinstance(part, ToolCallPart):
            texts.append(f"[calls {part.name} with {part.arguments_json}]")
        elif isinstance(part, ToolResultPart):
            texts.append(part.content)
        else:
            texts.append("[a picture]")
    return "\n".join(texts)
