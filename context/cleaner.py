"""Replace old tool results in messages with their line counts. Tool calls are kept."""

import re
from dataclasses import replace
from typing import Final

from context.messages import Message, Part, ToolResultPart
from context.offload import is_offload_stub

_CLEANED: Final = re.compile(r"\[Content truncated: \d+ lines\]")


def clean_tool_output(message: Message) -> Message:
    """Replace each tool result of a message with `[Content truncated: N lines]`.

    Results that were already replaced stay unchanged, and so do stubs, which refer to stored
    results.
    """
    if isinstance(message.content, str):
        if message.role != "tool":
            return message
        return replace(message, content=_clean(message.content))
    return replace(message, content=tuple(_clean_part(part) for part in message.content))


def _clean_part(part: Part) -> Part:
    if not isinstance(part, ToolResultPart):
        return part
    return replace(part, content=_clean(part.content))


def is_cleaned(content: str) -> bool:
    """Return whether a tool result was replaced with `[Content truncated: N lines]`."""
    return _CLEANED.fullmatch(content) is not None


def _clean(content: str) -> str:
    if is_cleaned(content) or is_offload_stub(content):
        return content
    return f"[Content truncated: {_count_lines(content)} lines]"


def _count_lines(text: str) -> int:
    """Count the lines of text. A trailing newline does not start another line."""
    return text.count("\n") + (bool(text) and not text.endswith("\n"))
