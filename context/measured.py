"""A turn with the messages that stand for it in requests, counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from context.messages import Message
from context.offload import Offloaded, read_stub
from context.replay import Turn
from context.tokens import TokenCounter, count_message
from context.view import results_of


@dataclass(frozen=True)
class MeasuredTurn:
    """An earlier turn with the messages that stand for it, and their tokens."""

    turn: Turn
    messages: tuple[Message, ...]
    tokens: int

    @classmethod
    def measure(
        cls, turn: Turn, messages: Sequence[Message], counter: TokenCounter
    ) -> "MeasuredTurn":
        """Count the messages that stand for a turn."""
        tokens = sum(count_message(message, counter) for message in messages)
        return cls(turn, tuple(messages), tokens)

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
