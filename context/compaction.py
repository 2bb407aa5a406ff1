"""Pure functions and values for compacting long conversations.

Compaction replaces old messages with a summary, or clears old tool results.

Reasons: ARCHITECTURE.md, "Compaction".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

from context.messages import Message, ToolCallPart, ToolResultPart

LEAST_SPLIT: Final = 2
MOST_ATTEMPTS: Final = 3
HIGH_ERROR_DENSITY: Final = 0.3
HIGH_TOOL_DENSITY: Final = 0.6
LARGE_RESULT_BYTES: Final = 1_024
MEDIUM_RESULT_BYTES: Final = 768


HEAD: Final = "[Summary of the earlier conversation]"


@dataclass
class CircuitBreaker:
    """Disables compaction after three attempts in a row that freed no tokens.

    Compaction is enabled again when an attempt succeeds, or when the model or the token budget
    changes.

    Attributes:
        attempts: the number of failed attempts in a row.
        circumstances: the model and the token budget of the last attempt, or None.
    """

    attempts: int = 0
    circumstances: tuple[str, int] | None = None

    def is_tripped(self, model: str, budget: int) -> bool:
        """Return whether compaction is disabled for a model and token budget."""
        return self.circumstances == (model, budget) and self.attempts >= MOST_ATTEMPTS

    def record(self, model: str, budget: int, has_shrunk: bool) -> None:
        """Record an attempt to compact the conversation.

        Args:
            model: the name of the model.
            budget: the token budget.
            has_shrunk: whether the attempt freed tokens.
        """
        if has_shrunk or self.circumstances != (model, budget):
            self.attempts = 0
        self.circumstances = (model, budget)
        self.attempts += not has_shrunk


@dataclass(frozen=True, slots=True)
class CompactResult:
    """The result of a compaction.

    Attributes:
        before_tokens: the token count of the history before the compaction.
        after_tokens: the token count of the history after the compaction.
        before_messages: the number of messages before the compaction.
        after_messages: the number of messages after the compaction.
        strategies_run: the names of the steps that were run.
    """

    before_tokens: int
    after_tokens: int
    before_messages: int
    after_messages: int
    strategies_run: Sequence[str]


class ConversationSignals(NamedTuple):
    """Statistics about the messages of a conversation.

    Attributes:
        error_density: the fraction of messages with a failed tool result.
        tool_call_density: the fraction of messages with a tool call or a tool result.
        message_count: the number of messages.
    """

    error_density: float
    tool_call_density: float
    message_count: int

    @classmethod
    def measure(cls, messages: Sequence[Message]) -> Self:
        """Compute the statistics of a conversation."""
        total = len(messages)
        if not total:
            return cls(0.0, 0.0, 0)
        failed = sum(any(part.is_error for part in _results(message)) for message in messages)
        tools = sum(bool(_calls(message) or _results(message)) for message in messages)
        return cls(failed / total, tools / total, total)

    @property
    def clearing(self) -> tuple[float, int]:
        """Which old tool results to clear: a fraction of the messages, and a minimum size in bytes.

        Only that fraction of the messages is considered, starting with the oldest. Tool results in
        these messages are cleared if they have at least the minimum size.
        """
        if self.error_density > HIGH_ERROR_DENSITY:
            return 0.35, LARGE_RESULT_BYTES
        if self.tool_call_density > HIGH_TOOL_DENSITY:
            return 0.65, MEDIUM_RESULT_BYTES
        return 0.50, LARGE_RESULT_BYTES


def find_safe_split(messages: Sequence[Message], target: int) -> int:
    """Find an index at which messages can be split without separating a tool call from its result.

    Args:
        messages: the messages, oldest first.
        target: the preferred index.

    Returns:
        The last safe index at or before `target`, but at least 2.
    """
    unsafe = _find_positions_inside_calls(messages)
    for at in range(min(target, len(messages)), LEAST_SPLIT - 1, -1):
        if at not in unsafe:
            return at
    return LEAST_SPLIT


def _find_positions_inside_calls(messages: Sequence[Message]) -> set[int]:
    called: dict[str, int] = {}
    inside: set[int] = set()
    for at, message in enumerate(messages):
        for result in _results(message):
            if result.tool_call_id in called:
                inside.update(range(called[result.tool_call_id] + 1, at + 1))
        for call in _calls(message):
            called[call.id] = at
    return inside


def _calls(message: Message) -> list[ToolCallPart]:
    if isinstance(message.content, str):
        return []
    return [part for part in message.content if isinstance(part, ToolCallPart)]


def _results(message: Message) -> list[ToolResultPart]:
    if isinstance(message.content, str):
        return []
    return [part for part in message.content if isinstance(part, ToolResultPart)]
