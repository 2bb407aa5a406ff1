"""The work of a turn in progress, made smaller: results shrink, the calls stay visible.

Source: "Context Engineering Optimization", 3.5.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from context.carry_forward import truncate_with_ellipsis
from context.cleaner import clean_tool_output
from context.messages import Message, Part, ToolResultPart, calls_of
from context.offload import is_offload_stub

SHORT_RESULT_CHARS: Final = 2_000


def clean_older(work: Sequence[Message]) -> tuple[Message, ...]:
    """Replace all results but those of the latest calls by their number of lines."""
    latest = _last_batch(work)
    older = (_cleaned(message) for message in work[:latest])
    return (*older, *work[latest:])


def clean_results(work: Sequence[Message]) -> tuple[Message, ...]:
    """Replace every result by its number of lines."""
    return tuple(_cleaned(message) for message in work)


def shorten_results(work: Sequence[Message]) -> tuple[Message, ...]:
    """Keep the beginning of every result."""
    return tuple(_shortened(message) for message in work)


def without_oldest_batch(work: Sequence[Message]) -> tuple[Message, ...]:
    """Leave out the oldest calls with their results, and what was said around them."""
    batches = [at for at, message in enumerate(work) if message.role == "assistant"]
    return tuple(work[batches[1] :]) if len(batches) > 1 else ()


def _last_batch(work: Sequence[Message]) -> int:
    for at in range(len(work) - 1, -1, -1):
        if calls_of(work[at]):
            return at
    return len(work)


def _cleaned(message: Message) -> Message:
    """A short result may be shorter than what would stand for it."""
    cleaned = clean_tool_output(message)
    if isinstance(message.content, str) or isinstance(cleaned.content, str):
        return message
    pairs = zip(message.content, cleaned.content, strict=True)
    return replace(message, content=tuple(min(pair, key=_size) for pair in pairs))


def _size(part: Part) -> int:
    return len(part.content.encode("utf-8", "replace")) if isinstance(part, ToolResultPart) else 0


def _shortened(message: Message) -> Message:
    if isinstance(message.content, str):
        return message
    return replace(message, content=tuple(_shortened_part(part) for part in message.content))


def _shortened_part(part: Part) -> Part:
    if not isinstance(part, ToolResultPart) or is_offload_stub(part.content):
        return part
    return replace(part, content=truncate_with_ellipsis(part.content, SHORT_RESULT_CHARS))
