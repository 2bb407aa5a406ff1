"""What requests cost with a provider that keeps the beginnings of prompts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from context.assemble.inputs import SummaryTask
from context.assemble.request import Request
from context.history.tool_pairing import is_final
from context.layers import Layer
from context.messages import Message
from context.tokens import TokenCounter, count_message

READ, WRITE, PLAIN = 0.1, 1.25, 1.0
SUMMARY_PROMPT_TOKENS = 300

Block = tuple[object, int]


@dataclass
class PromptCache:
    """Counts what each request reads, writes and merely sends.

    Whatever stood before the last mark of an earlier request is kept; the longest kept beginning
    of a request is read, what follows up to its own last mark is written, the rest is plain.
    """

    read: int = 0
    written: int = 0
    plain: int = 0
    requests: int = 0
    _kept: set[int] = field(default_factory=set)

    @property
    def price(self) -> float:
        """In tokens of a provider that keeps nothing."""
        return READ * self.read + WRITE * self.written + PLAIN * self.plain

    @property
    def uncached(self) -> int:
        """What was not read."""
        return self.written + self.plain

    def send(self, blocks: Sequence[Block], marked: int) -> None:
        """Take a request, of which so many blocks stand before its last mark."""
        chain, is_kept = 0, True
        for at, (block, tokens) in enumerate(blocks):
            chain = hash((chain, block))
            is_kept = is_kept and chain in self._kept
            if is_kept:
                self.read += tokens
            elif at < marked:
                self.written += tokens
            else:
                self.plain += tokens
            if at < marked:
                self._kept.add(chain)
        self.requests += 1


@dataclass
class Bill:
    """What one way of keeping a chat within its budget costs, and what of the chat it shows.

    Attributes:
        said: the messages of the chat, by id.
        verbatim: tokens of the history that are as they were said, over all requests.
        words: those of them that the user said, and of final answers.
        summaries: how often one was made, and what was written for them.
        moves: how often the beginning of the history changed.
    """

    counter: TokenCounter
    said: Mapping[str, Message]
    cache: PromptCache = field(default_factory=PromptCache)
    verbatim: int = 0
    words: int = 0
    summaries: int = 0
    output: int = 0
    moves: int = 0
    shortened: int = 0
    _head: int = 0
    _last: tuple[int, ...] = ()

    @property
    def uncached(self) -> float:
        """What a request could not read from the cache, on the average."""
        return self.cache.uncached / self.cache.requests

    def take(self, prepared: Request, question: str) -> None:
        """Charge a request, and take stock of its history."""
        layers = prepared.report.layers
        self._head = layers[Layer.T].tokens + layers[Layer.L1].tokens
        blocks: list[Block] = [("head", self._head)]
        keys = []
        for message in prepared.messages:
            keys.append(build_key(message))
            blocks.append((keys[-1], count_message(message, self.counter)))
        marks = [mark.message for mark in prepared.marks if mark.message is not None]
        self.cache.send(blocks, max(marks, default=-1) + 2)
        ids = [message.id for message in prepared.messages]
        history = ids.index(question)
        self._take_stock(prepared.messages[:history])
        self.moves += tuple(keys[: len(self._last)]) != self._last
        self._last = tuple(keys[:history])
        self.shortened += any(out.reason == "tail" for out in prepared.report.dropped)

    def take_summary(self, task: SummaryTask) -> None:
        """Charge the call for a summary."""
        blocks: list[Block] = []
        if task.continues:
            blocks = [("head", self._head)]
        for turn in task.turns:
            blocks += [(build_key(m), count_message(m, self.counter)) for m in turn.messages]
        self.cache.send([*blocks, (object(), SUMMARY_PROMPT_TOKENS)], 0)
        self.summaries += 1
        self.output += task.most_tokens

    def _take_stock(self, history: Sequence[Message]) -> None:
        for message in history:
            said = self.said.get(message.id or "")
            if said is None or (said is not message and said.content != message.content):
                continue
            tokens = count_message(message, self.counter)
            self.verbatim += tokens
            if message.role == "user" or is_final(message):
                self.words += tokens


def build_key(message: Message) -> int:
    """Return what tells messages apart on the wire."""
    return hash((message.id, message.digest))
