"""Simpler ways of keeping a chat within its budget, for comparison; none is the product's."""

from collections.abc import Callable, Sequence
from typing import Protocol

from context.messages import Message
from context.tokens import count_message
from context.trimming import INDEX_KEY, ContextTrimmer
from tests.benchmarks.context.long_chats import QuickCounter, Turn
from tests.benchmarks.context.prompt_price import Bill, Block, build_key

COUNTER = QuickCounter()
LAST_MESSAGES = 30


def simply_played(
    turns: Sequence[Turn], system: str, threshold: int, way: "Callable[[], _Way]"
) -> Bill:
    """Return what a chat without tools costs that is kept in such a way."""
    bill, chosen = Bill(COUNTER, {}), way()
    head = count_message(Message("system", system), COUNTER)
    room = threshold - min(4_096, threshold // 4) - head
    said: list[Message] = []
    for turn in turns:
        question = Message("user", turn.question)
        free = room - count_message(question, COUNTER)
        history = chosen.keep(said, free)
        blocks: list[Block] = [("head", head)]
        blocks += [(build_key(m), count_message(m, COUNTER)) for m in (*history, question)]
        bill.cache.send(blocks, len(history) + 1)
        said += [question, Message("assistant", turn.answer)]
    return bill


class _Way(Protocol):
    """One way of choosing what is sent; it may remember what it chose."""

    def keep(self, said: Sequence[Message], room: int) -> Sequence[Message]:
        """Return what is sent of the messages so far."""


class _Sliding:
    """The newest turns that fit, at each request anew."""

    def keep(self, said: Sequence[Message], room: int) -> Sequence[Message]:
        start = len(said)
        while start >= 2:
            room -= sum(count_message(message, COUNTER) for message in said[start - 2 : start])
            if room < 0:
                break
            start -= 2
        return said[start:]


class _LastMessages(_Sliding):
    """The last thirty messages, as far as they fit."""

    def keep(self, said: Sequence[Message], room: int) -> Sequence[Message]:
        return super().keep(said[-LAST_MESSAGES:], room)


class _ReferenceTrimmer:
    """Old answers become `[trimmed]`; what the user said stays, and may exceed any budget."""

    def __init__(self) -> None:
        self._index = 0

    def keep(self, said: Sequence[Message], room: int) -> Sequence[Message]:
        trimmer = ContextTrimmer(keep_last_n_assistant_messages=10)
        kept, metadata = trimmer.reduce_context_with_budget(said, room, {INDEX_KEY: self._index})
        index = (metadata or {}).get(INDEX_KEY)
        self._index = index if isinstance(index, int) else 0
        return kept


WAYS: dict[str, Callable[[], _Way]] = {
    "a sliding window": _Sliding,
    "the last 30 messages": _LastMessages,
    "trimming alone": _ReferenceTrimmer,
}
