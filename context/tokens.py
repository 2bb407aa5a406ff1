"""Count the tokens of messages, segments and tools.

Counts are estimates without a safety margin. Instead, the token budget is divided by a safety
factor. The factor is 1.0 for the model's own tokenizer and 1.1 for any other. It is raised if a
provider reports more tokens than estimated.
"""

import math
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass
from typing import ClassVar, Final, Protocol, runtime_checkable

from context.layers import Segment
from context.messages import (
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolDefinition,
    is_merged,
)

BYTES_PER_TOKEN: Final = 3.5
SAFETY: Final = 1.05
IMAGE_TOKENS: Final = 2_000
CALL_OVERHEAD_TOKENS: Final = 9  # 30 bytes of JSON around a call or a result
TOOL_OVERHEAD_TOKENS: Final = 8
TOOL_OVERHEAD_FACTOR: Final = 1.2

OWN_FACTOR: Final = 1.0
GUESSED_FACTOR: Final = 1.1
FACTOR_STEP: Final = 0.05
LARGEST_FACTOR: Final = 2.0
MOST_COUNTED_TOKENS: Final = 10_000_000  # no model has such a long context
PRIMING_TOKENS: Final = 8  # providers add a few tokens to every request of any size


@runtime_checkable
class TokenCounter(Hashable, Protocol):
    """The interface of a tokenizer that also knows the overhead of messages and their parts.

    Token counts are cached by the counter, whose hash depends on its settings. A counter may have a
    method `count_image(data: str) -> int`, which counts a base64-encoded image by the rules of the
    provider. Without one, or if its size is unknown, an image has `IMAGE_TOKENS`.
    """

    @property
    def name(self) -> str:
        """The name of the token counter in context reports."""

    @property
    def is_exact(self) -> bool:
        """Whether this is the model's own tokenizer."""

    @property
    def message_overhead(self) -> int:
        """The number of tokens that each message needs in addition to its text."""

    @property
    def part_overhead(self) -> int:
        """The number of tokens that each message part needs in addition to its text."""

    def count(self, text: str) -> int:
        """Count the tokens of text. Implementations must be fast even for very long text."""


@dataclass(frozen=True)
class ByteEstimator:
    """Estimates token counts from UTF-8 bytes when no tokenizer is available.

    The common rule of four characters per token underestimates Japanese text by half.

    Reasons: ARCHITECTURE.md, "Counting".
    """

    name: ClassVar[str] = "bytes"
    is_exact: ClassVar[bool] = False
    message_overhead: ClassVar[int] = 8
    part_overhead: ClassVar[int] = 3

    def count(self, text: str) -> int:
        """Return the byte count divided by 3.5, rounded up, plus five percent."""
        size = len(text.encode("utf-8", "surrogatepass"))
        return math.ceil(math.ceil(size / BYTES_PER_TOKEN) * SAFETY)


def count_message(message: Message, counter: TokenCounter) -> int:
    """Count the tokens of a rendered message. The count is cached per token counter."""
    tokens = message.token_counts.get(counter)
    if tokens is None:
        tokens = message.token_counts[counter] = _count_content(message, counter)
    return tokens


def count_merged(
    before: Message, after: Message, counter: TokenCounter, *, joined: Collection[Message] = ()
) -> int:
    """Return how many tokens are saved by sending two consecutive messages as one.

    The overhead of a message then applies only once, but plain text becomes a message part with an
    overhead of its own.

    Args:
        before: the first message.
        after: the second message.
        counter: counts the tokens.
        joined: which of these messages are already part of a merged message.
    """
    if not is_merged(before.role, after.role):
        return 0
    texts = [message for message in (before, after) if not any(message is one for one in joined)]
    bare = sum(isinstance(message.content, str) and message.content != "" for message in texts)
    return counter.message_overhead - bare * counter.part_overhead


def count_segment(segment: Segment, counter: TokenCounter) -> int:
    """Count the tokens of a rendered segment, including its newline and its image.

    The count is cached per token counter.
    """
    tokens = segment.token_counts.get(counter)
    if tokens is None:
        tokens = counter.count(segment.render() + "\n") + count_segment_image(segment, counter)
        segment.token_counts[counter] = tokens
    return tokens


def count_segment_image(segment: Segment, counter: TokenCounter) -> int:
    """Count the tokens of a segment's image, or return 0 if it has none."""
    if segment.image is None:
        return 0
    return _count_image(segment.image.data, counter) + counter.part_overhead


def count_part(text: str, counter: TokenCounter) -> int:
    """Count the tokens of text that is sent as a message part."""
    return counter.count(text) + counter.part_overhead


def count_tool(tool: ToolDefinition, counter: TokenCounter) -> int:
    """Count the tokens of a tool definition."""
    text = tool.name + tool.description + tool.parameters_json
    return math.ceil(counter.count(text) * TOOL_OVERHEAD_FACTOR) + TOOL_OVERHEAD_TOKENS


def choose_safety_factor(counter: TokenCounter) -> float:
    """Return the initial safety factor, by which the token budget of a model is divided.

    The factor can be raised when a provider has reported its actual token count.
    """
    return OWN_FACTOR if counter.is_exact else GUESSED_FACTOR


def raise_factor(factor: float, estimated: int, reported: int) -> float:
    """Return the safety factor after a provider has reported its token count.

    Token budgets are divided by the safety factor. If the request was larger than `estimated ×
    factor`, the factor rises by one step. It never falls. Steps are small and limited, because a
    provider may report wrong counts. A count that no request can have is ignored.

    Args:
        factor: the current safety factor.
        estimated: the estimated token count of the request.
        reported: the token count reported by the provider.
    """
    is_larger = reported > estimated * factor + PRIMING_TOKENS
    return step_factor(factor) if is_larger and reported <= MOST_COUNTED_TOKENS else factor


def step_factor(factor: float) -> float:
    """Return the safety factor after one step, which stays within its limits."""
    return limit_factor(factor + FACTOR_STEP)


def limit_factor(factor: float) -> float:
    """Return a safety factor within its limits, whatever a log or a provider says."""
    if not math.isfinite(factor):
        return OWN_FACTOR
    return min(max(round(factor, 2), OWN_FACTOR), LARGEST_FACTOR)


def _count_image(data: str, counter: TokenCounter) -> int:
    count_image: Callable[[str], int] | None = getattr(counter, "count_image", None)
    return IMAGE_TOKENS if count_image is None else count_image(data)


def _count_content(message: Message, counter: TokenCounter) -> int:
    if isinstance(message.content, str):
        return counter.message_overhead + counter.count(message.content)
    parts = sum(_count_part(part, counter) + counter.part_overhead for part in message.content)
    return counter.message_overhead + parts


def _count_part(part: Part, counter: TokenCounter) -> int:
    if isinstance(part, TextPart | ReasoningPart):
        return counter.count(part.text)
    if isinstance(part, ImagePart):
        return _count_image(part.data, counter)
    if isinstance(part, ToolCallPart):
        return counter.count(part.name + part.arguments_json) + CALL_OVERHEAD_TOKENS
    return counter.count(part.content) + CALL_OVERHEAD_TOKENS
