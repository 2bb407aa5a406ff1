"""A turn with the messages that stand for it in requests, counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from context.history.tool_pairing import results_of
from context.history.turns import Turn
from context.messages import Message
from context.offload import Offloaded, read_stub
from context.tokens import TokenCounter, count_merged, count_message, is_merged


@dataclass(frozen=True)
class MeasuredTurn:
    """An earlier turn with the messages that stand for it, and their tokens.

    Attributes:
        counter: the counter of the tokens; None where neighbouring turns are never merged.
    """

    turn: Turn
    messages: tuple[Message, ...]
    tokens: int
    counter: TokenCounter | None = None

    @classmethod
    def measure(
        cls, turn: Turn, messages: Sequence[Message], counter: TokenCounter
    ) -> "MeasuredTurn":
        """Count the messages that stand for a turn."""
        tokens = sum(count_message(message, counter) for message in messages)
        joined: tuple[Message, ...] = ()
        for pair in pairwise(messages):
            tokens -= count_merged(*pair, counter, joined=joined)
            joined = pair if is_merged(*pair) else ()
        return cls(turn, tuple(messages), tokens, counter)

    def count_merged_with(self, before: "MeasuredTurn", *, is_joined: bool) -> int:
        """Return the tokens saved where this turn's first message joins the last one before it.

        Args:
            before: the turn before this one.
            is_joined: whether the last message of `before` is part of a merged one already.
        """
        if self.counter is None or not self.messages or not before.messages:
            return 0
        pair = before.messages[-1], self.messages[0]
        joined = pair[:1] if is_joined else ()
        if len(self.messages) > 1 and is_merged(*self.messages[:2]):
            joined = (*joined, pair[1])
        return count_merged(*pair, self.counter, joined=joined)

    def is_last_joined(self, is_first_joined: bool) -> bool:
        """Return whether the last message joins the one before it.

        Args:
            is_first_joined: whether the first one joins the turn before this one.
        """
        if len(self.messages) < 2:
            return is_first_joined
        return is_merged(*self.messages[-2:])

    @cached_property
    def digest(self) -> bytes:
        """A hash of what goes on the wire of it."""
        return b"".join(message.digest for message in self.messages)

    @property
    def offloaded(self) -> tuple[Offloaded, ...]:
        """The results that are kept elsewhere, of which stubs stand here."""
        results = [part for message in self.messages for part in results_of(message)]
        found = (read_stub(result.content) for result in results)
        return tuple(stub for stub in found if stub is not None) if results else ()
