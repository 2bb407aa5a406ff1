"""What may stand for an old message: its results by their number of lines, or `[trimmed]`.

A part is only shortened where that makes it smaller, and the stub of a stored result always stays,
since it holds the only reference to it. Each form of a message is made once.

Source: "Budget-Aware Trimming", 7.1; "Context Engineering Optimization", 3.5.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from context.cleaner import clean_tool_output
from context.history.tool_pairing import is_final
from context.messages import Message, Part, ReasoningPart, TextPart, ToolResultPart, calls_of
from context.offload import is_offload_stub
from context.tokens import TokenCounter, count_message
from context.trimming import TRIMMED

_TRIMMED_BYTES: Final = len(TRIMMED)


def cleaned(message: Message, counter: TokenCounter) -> Message:
    """Return the message with each result by its number of lines, or as it is."""
    if isinstance(message.content, str):
        return message
    return _remembered("cleaned", _cleaned, message, counter)


def trimmed(message: Message, counter: TokenCounter) -> Message:
    """Return the message with `[trimmed]` for its words and results, or as it is."""
    return _remembered("trimmed", _trimmed, message, counter)


def is_work(message: Message) -> bool:
    """Return whether it is a tool's result, or what the assistant said when it called tools."""
    return message.role == "tool" or (message.role == "assistant" and bool(calls_of(message)))


def may_be_trimmed(message: Message, has_answers: bool) -> bool:
    """Return whether trimming may touch it at all.

    Args:
        has_answers: whether that goes for a turn's last words too.
    """
    return is_work(message) or (has_answers and is_final(message))


def _remembered(
    form: str, make: Callable[[Message], Message], message: Message, counter: TokenCounter
) -> Message:
    key = (form, counter)
    made = message.shorter.get(key)
    if made is None:
        made = make(message)
        if made is not message and count_message(made, counter) >= count_message(message, counter):
            made = message
        message.shorter[key] = made
    return made


def _cleaned(message: Message) -> Message:
    made = clean_tool_output(message)
    assert not isinstance(message.content, str)
    assert not isinstance(made.content, str)
    pairs = zip(message.content, made.content, strict=True)
    return _with_parts(message, tuple(min(pair, key=_size) for pair in pairs))


def _trimmed(message: Message) -> Message:
    if isinstance(message.content, str):
        is_long = len(message.content.encode("utf-8", "surrogatepass")) > _TRIMMED_BYTES
        return replace(message, content=TRIMMED) if is_long else message
    return _with_parts(message, tuple(_trimmed_part(part) for part in message.content))


def _trimmed_part(part: Part) -> Part:
    if _size(part) <= _TRIMMED_BYTES:
        return part
    if isinstance(part, TextPart | ReasoningPart):
        return replace(part, text=TRIMMED)
    if isinstance(part, ToolResultPart) and not is_offload_stub(part.content):
        return replace(part, content=TRIMMED)
    return part


def _size(part: Part) -> int:
    text = ""
    if isinstance(part, TextPart | ReasoningPart):
        text = part.text
    elif isinstance(part, ToolResultPart):
        text = part.content
    return len(text.encode("utf-8", "surrogatepass"))


def _with_parts(message: Message, parts: tuple[Part, ...]) -> Message:
    return message if parts == message.content else replace(message, content=parts)
