"""Replace old assistant and tool content with `[trimmed]` when a conversation gets too long.

User and system messages never change, and tool calls stay complete. The position up to which
messages are trimmed only moves forward, so that the trimmed prefix stays the same from request to
request. Lengths are in UTF-8 bytes. `ContextTrimmer` is the whole rule for programs that import it.
Strata's own requests are trimmed by `context.fit.trim`, which shares the marks and the positions.

Reasons: ARCHITECTURE.md, "Trimming".
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from context.messages import (
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolDefinition,
    ToolResultPart,
)

TRIMMED: Final = "[trimmed]"
INDEX_KEY: Final = "trimmed_up_to_message_index"
CHECKPOINT_TAG: Final = "checkpoint_id"

BYTES_PER_TOKEN: Final = 3.5
SAFETY: Final = 1.05
MESSAGE_TOKENS: Final = 8
PART_TOKENS: Final = 3
CALL_BYTES: Final = 30
IMAGE_TOKENS: Final = 2_000
TOOL_JSON_FACTOR: Final = 1.2
TOOL_TOKENS: Final = 8


def bytes_to_tokens(n_bytes: int) -> int:
    """Estimate the token count of text from its number of bytes.

    The estimate is the number of bytes divided by 3.5, rounded up.
    """
    return math.ceil(n_bytes / BYTES_PER_TOKEN)


def estimate_tokens(messages: Sequence[Message]) -> int:
    """Estimate the token count of messages, plus a safety margin of five percent."""
    return _with_safety(sum(_message_tokens(message) for message in messages))


def estimate_tool_overhead(tools: Sequence[ToolDefinition] | None) -> int:
    """Estimate the token count of tool definitions."""
    return sum(_tool_tokens(tool) for tool in tools or ())


def merge_consecutive_same_role(messages: Iterable[Message]) -> list[Message]:
    """Merge consecutive messages of the same role. A merged message has the id of the first one.

    In a merged message, a string becomes a text part, and empty strings are removed. Messages that
    are not merged stay unchanged.
    """
    merged: list[Message] = []
    for _, neighbours in groupby(messages, key=lambda message: message.role):
        first, *others = neighbours
        if others:
            parts = tuple(part for message in (first, *others) for part in _parts(message))
            first = replace(first, content=parts)
        merged.append(first)
    return merged


def dedup_tool_results(messages: Iterable[Message]) -> list[Message]:
    """Remove all but the last result of each tool call within each tool message."""
    return [_without_earlier_results(message) for message in messages]


def remove_xml_tag(tag_name: str, content: str) -> str:
    """Remove all XML elements with a given tag name, including their content.

    Elements without a closing tag are kept. The running time is proportional to the text's length.
    """
    opening, closing = f"<{tag_name}>", f"</{tag_name}>"
    kept, at = [], 0
    while (start := content.find(opening, at)) >= 0:
        end = content.find(closing, start + len(opening))
        if end < 0:
            break
        kept.append(content[at:start])
        at = end + len(closing)
    return "".join((*kept, content[at:]))


@dataclass(frozen=True, slots=True)
class ContextTrimmer:
    """Trims messages, oldest first and no more than necessary.

    The position up to which messages are trimmed is stored in a dictionary of metadata.

    Attributes:
        keep_last_n_assistant_messages: how many of the newest assistant messages to keep unchanged
            if the token budget allows it.
        context_budget_threshold: the fraction of the context window available for messages and
            tools.
    """

    keep_last_n_assistant_messages: int = 50
    context_budget_threshold: float = 0.8

    def reduce_context(self, messages: Sequence[Message]) -> list[Message]:
        """Remove checkpoint tags, merge messages of the same role, and deduplicate tool results."""
        cleaned = [_without_checkpoints(message) for message in messages]
        return dedup_tool_results(merge_consecutive_same_role(cleaned))

    def reduce_context_with_budget(
        self,
        messages: Sequence[Message],
        context_window: int,
        metadata: dict[str, object] | None = None,
        tools: Sequence[ToolDefinition] | None = None,
    ) -> tuple[list[Message], dict[str, object] | None]:
        """Reduce the messages with `reduce_context`, and trim them if they exceed the threshold.

        Args:
            messages: the messages, oldest first.
            context_window: the size of the context window in tokens.
            metadata: the metadata returned by the previous call, or None.
            tools: the tools that are sent with the messages.

        Returns:
            The messages, and the metadata with the index up to which the reduced messages are
            trimmed. The index never decreases.
        """
        reduced = self.reduce_context(messages)
        overhead = estimate_tool_overhead(tools)
        threshold = int(context_window * self.context_budget_threshold)
        already = _read_index(metadata)
        if already == 0 and estimate_tokens(reduced) + overhead <= threshold:
            return reduced, metadata
        run = TrimPass(reduced, threshold - overhead)
        run.trim(0, already)
        end = already
        if run.is_over:
            keep_from = keep_from_index(reduced, self.keep_last_n_assistant_messages)
            run.trim(already, keep_from)
            end = max(run.trim_until_under(max(already, keep_from)), already, keep_from)
        return run.messages, {**(metadata or {}), INDEX_KEY: end}


def keep_from_index(messages: Sequence[Message], keep_last: int) -> int:
    """Return the index of the first message that is trimmed only as a last resort.

    This is the oldest of the `keep_last` newest assistant messages. The result is 0 if there are
    fewer assistant messages. If `keep_last` is 0 or less, it is the number of messages.
    """
    if keep_last <= 0:
        return len(messages)
    assistants = [at for at, message in enumerate(messages) if message.role == "assistant"]
    newest = assistants[-keep_last:]
    return newest[0] if len(newest) == keep_last else 0


class TrimPass:
    """Shortens the messages of a list until they fit, and keeps track of their total size.

    Args:
        messages: the messages, oldest first. The list is copied.
        limit: the maximum total size of the messages.
        measure: returns the size of a message, by default its estimated tokens.
        safety: a factor applied to the total size.
        shorten: returns the shortened message, or the message itself.
    """

    def __init__(
        self,
        messages: Sequence[Message],
        limit: int,
        *,
        measure: Callable[[Message], int] | None = None,
        safety: float = SAFETY,
        shorten: Callable[[Message], Message] | None = None,
    ) -> None:
        self.messages = list(messages)
        self._limit = limit
        self._measure = measure or _message_tokens
        self._safety = safety
        self._shorten = shorten or _trim_by_role
        self._raw = sum(self._measure(message) for message in self.messages)

    @property
    def is_over(self) -> bool:
        """Whether the messages exceed the maximum size."""
        return self.tokens > self._limit

    @property
    def tokens(self) -> int:
        """The total size of the messages, multiplied by the safety factor."""
        return math.ceil(self._raw * self._safety)

    def trim(self, first: int, end: int) -> None:
        """Shorten all messages from the index `first` to just before the index `end`."""
        for at in range(first, min(end, len(self.messages))):
            self._trim_one(at)

    def trim_until_under(
        self,
        first: int,
        end: int | None = None,
        shorten: Callable[[Message], Message] | None = None,
    ) -> int:
        """Shorten messages one by one until the total size is within the limit.

        Args:
            first: the index of the first message to shorten.
            end: the index to stop at, or None for the end of the list.
            shorten: a function to use instead of that of the trimming pass.

        Returns:
            The index after the last shortened message, or `first` if none was shortened.
        """
        last = first
        for at in range(first, len(self.messages) if end is None else end):
            if not self.is_over:
                break
            if self._trim_one(at, shorten):
                last = at + 1
        return last

    def _trim_one(self, at: int, shorten: Callable[[Message], Message] | None = None) -> bool:
        message = self.messages[at]
        shorter = (shorten or self._shorten)(message)
        if shorter is message:
            return False
        self._raw += self._measure(shorter) - self._measure(message)
        self.messages[at] = shorter
        return True


def _with_safety(raw: int) -> int:
    return math.ceil(raw * SAFETY)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _message_tokens(message: Message) -> int:
    if isinstance(message.content, str):
        return bytes_to_tokens(_size(message.content)) + MESSAGE_TOKENS
    return sum(_part_tokens(part) + PART_TOKENS for part in message.content) + MESSAGE_TOKENS


def _part_tokens(part: Part) -> int:
    if isinstance(part, ImagePart):
        return IMAGE_TOKENS
    if isinstance(part, ToolCallPart):
        return bytes_to_tokens(_size(part.name) + _size(part.arguments_json) + CALL_BYTES)
    if isinstance(part, ToolResultPart):
        return bytes_to_tokens(_size(part.content) + CALL_BYTES)
    return bytes_to_tokens(_size(part.text))


def _tool_tokens(tool: ToolDefinition) -> int:
    size = _size(tool.name) + _size(tool.description) + _size(tool.parameters_json)
    return bytes_to_tokens(math.ceil(size * TOOL_JSON_FACTOR)) + TOOL_TOKENS


def _parts(message: Message) -> tuple[Part, ...]:
    if not isinstance(message.content, str):
        return message.content
    return (TextPart(message.content),) if message.content else ()


def _without_earlier_results(message: Message) -> Message:
    if message.role != "tool" or isinstance(message.content, str):
        return message
    last = {
        part.tool_call_id: at
        for at, part in enumerate(message.content)
        if isinstance(part, ToolResultPart)
    }
    kept = tuple(
        part
        for at, part in enumerate(message.content)
        if not isinstance(part, ToolResultPart) or last[part.tool_call_id] == at
    )
    return message if len(kept) == len(message.content) else replace(message, content=kept)


def _without_checkpoints(message: Message) -> Message:
    if isinstance(message.content, str):
        return replace(message, content=remove_xml_tag(CHECKPOINT_TAG, message.content))
    parts = tuple(
        TextPart(remove_xml_tag(CHECKPOINT_TAG, part.text)) if isinstance(part, TextPart) else part
        for part in message.content
    )
    return replace(message, content=parts)


def _trim_by_role(message: Message) -> Message:
    return _trim(message) if message.role in ("assistant", "tool") else message


def _trim(message: Message) -> Message:
    if isinstance(message.content, str):
        return replace(message, content=TRIMMED)
    return replace(message, content=tuple(_trim_part(part) for part in message.content))


def _trim_part(part: Part) -> Part:
    if isinstance(part, TextPart | ReasoningPart):
        return type(part)(TRIMMED)  # without a signature, which holds for the whole text only
    if isinstance(part, ToolResultPart):
        return replace(part, content=TRIMMED)
    return part


def _read_index(metadata: Mapping[str, object] | None) -> int:
    index = (metadata or {}).get(INDEX_KEY)
    if isinstance(index, int) and not isinstance(index, bool) and index > 0:
        return index
    return 0
