"""Shorten old messages: replace tool results with their line counts, or text with `[trimmed]`.

A shortened message is computed once. It is never larger than the message itself.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from context.cleaner import clean_tool_output
from context.history.tool_pairing import is_final
from context.messages import Message, Part, ReasoningPart, TextPart, ToolResultPart, list_tool_calls
from context.offload import is_offload_stub
from context.tokens import TokenCounter, count_message
from context.trimming import TRIMMED

_TRIMMED_BYTES: Final = len(TRIMMED)


def clean_message(message: Message, counter: TokenCounter) -> Message:
    """Replace each tool result of a message with its number of lines, unless that is longer.

    Return the message unchanged if it would not have fewer tokens.
    """
    if isinstance(message.content, str):
        return message
    return _make_once("cleaned", _clean_results, message, counter)


def trim_message(message: Message, counter: TokenCounter) -> Message:
    """Replace the text and tool results of a message with `[trimmed]`.

    Return the message unchanged if it would not have fewer tokens.
    """
    return _make_once("trimmed", _trim_parts, message, counter)


def can_shorten_result(result: ToolResultPart) -> bool:
    """Return whether a tool result may be shortened.

    Errors stay, because a model that no longer sees them repeats the failed calls. Stubs stay,
    because they contain the reference to the stored result.
    """
    return not result.is_error and not is_offload_stub(result.content)


def is_tool_work(message: Message) -> bool:
    """Return whether a message is a tool result, or an assistant message with tool calls."""
    return message.role == "tool" or (
        message.role == "assistant" and bool(list_tool_calls(message))
    )


def can_be_trimmed(message: Message, has_answers: bool) -> bool:
    """Return whether a message may be replaced with `[trimmed]`.

    Args:
        has_answers: whether final answers may be replaced too.
    """
    return is_tool_work(message) or (has_answers and is_final(message))


def _make_once(
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


def _clean_results(message: Message) -> Message:
    made = clean_tool_output(message)
    assert not isinstance(message.content, str)
    assert not isinstance(made.content, str)
    pairs = zip(message.content, made.content, strict=True)
    return _with_parts(message, tuple(_choose_shorter(*pair) for pair in pairs))


def _choose_shorter(part: Part, cleaned: Part) -> Part:
    if isinstance(part, ToolResultPart) and not can_shorten_result(part):
        return part
    return min(part, cleaned, key=_size)


def _trim_parts(message: Message) -> Message:
    if isinstance(message.content, str):
        is_long = len(message.content.encode("utf-8", "surrogatepass")) > _TRIMMED_BYTES
        return replace(message, content=TRIMMED) if is_long else message
    return _with_parts(message, tuple(_trim_part(part) for part in message.content))


def _trim_part(part: Part) -> Part:
    if _size(part) <= _TRIMMED_BYTES:
        return part
    if isinstance(part, TextPart | ReasoningPart):
        return type(part)(TRIMMED)  # without a signature, which holds for the whole text only
    if isinstance(part, ToolResultPart) and can_shorten_result(part):
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
