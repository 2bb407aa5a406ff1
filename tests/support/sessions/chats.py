"""A chat for tests of the context engine: a list of entries that grows turn by turn."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from context.assemble.inputs import HistoryPolicy, Summarise
from context.assemble.request import Request
from context.budget import compute_budget
from context.compaction import CircuitBreaker
from context.envelope import SystemPart
from context.layers import Layer, Segment
from context.log.entries import (
    DropEntry,
    Entry,
    MessageEntry,
    SegmentsEntry,
    TransformEntry,
    TrimEntry,
)
from context.messages import Message
from context.pipeline import Mode, Ports, prepare
from context.tokens import ByteEstimator, TokenCounter

TIME = "2026-01-01T00:00:00Z"


def hex_ids() -> Iterator[str]:
    return (f"{number:08x}" for number in count(1))


def passage(number: int, text: str, **fields: object) -> Segment:
    values = {
        "id": f"p{number}",
        "layer": Layer.L3,
        "kind": "passage",
        "source": f"Folder/Note {number}.md",
        "lines": (number, number + 3),
        "version": "v1",
        "title": f"Note {number}",
        "number": number,
    }
    return Segment.build(**{**values, **fields}, text=text)


@dataclass
class Chat:
    """Asks questions and stores answers, and appends the entries about trimming like a runner."""

    threshold: int = 4_000
    max_output_tokens: int = 1_000
    system: str = "You answer from the notes."
    counter: TokenCounter = field(default_factory=ByteEstimator)
    path: list[Entry] = field(default_factory=list)
    previous: dict[str, object] | None = None
    model_limit: int | None = None
    factor: float | None = None
    model: str = "test/model"
    history_policy: HistoryPolicy | None = None
    summarise: Summarise | None = None
    breaker: CircuitBreaker = field(default_factory=CircuitBreaker)

    def __post_init__(self) -> None:
        self._ids = hex_ids()
        self._turns = count(1)

    @property
    def trims(self) -> list[TrimEntry]:
        return [entry for entry in self.path if isinstance(entry, TrimEntry)]

    @property
    def compactions(self) -> list[TransformEntry]:
        return [entry for entry in self.path if isinstance(entry, TransformEntry)]

    @property
    def drops(self) -> list[DropEntry]:
        return [entry for entry in self.path if isinstance(entry, DropEntry)]

    def inputs(self, question: str, segments: Sequence[Segment] = ()) -> Request:
        """Return the new request for a question that has not been stored yet."""
        turn = f"t{next(self._turns)}"
        added: list[Entry] = []
        parent = self.path[-1].id if self.path else None
        if segments:
            added.append(SegmentsEntry(next(self._ids), parent, TIME, turn, tuple(segments)))
            parent = added[-1].id
        message = Message("user", question)
        added.append(MessageEntry(next(self._ids), parent, TIME, message, turn))
        limits = self.threshold, self.model_limit, self.max_output_tokens
        return Request(
            self.ports([]),
            compute_budget(self.counter, *limits, self.factor),
            session="s1",
            model=self.model,
            temperature=0.2,
            system=(SystemPart("base", self.system),),
            path=(*self.path, *added),
            turn=turn,
            previous=self.previous,
            history_policy=self.history_policy,
        )

    def prepare(
        self, inputs: Request, appended: list[Entry] | None = None, mode: Mode = "send"
    ) -> Request:
        appended = [] if appended is None else appended
        return prepare(replace(inputs, ports=self.ports(appended)), mode)

    def ports(self, appended: list[Entry]) -> Ports:
        return Ports(
            self.counter,
            appended.extend,
            lambda: next(self._ids),
            lambda: TIME,
            summarise=self.summarise,
            breaker=self.breaker,
        )

    def preview(self, question: str, segments: Sequence[Segment] = ()) -> Request:
        return self.prepare(self.inputs(question, segments), mode="preview")

    def ask(
        self, question: str, answer: str | None = "Yes.", segments: Sequence[Segment] = ()
    ) -> Request:
        """Prepare a request, store its entries and the answer, if any, and return the request."""
        inputs = self.inputs(question, segments)
        appended: list[Entry] = []
        prepared = self.prepare(inputs, appended)
        self.path = [
            replace(entry, segments=prepared.segments)
            if isinstance(entry, SegmentsEntry) and entry.turn_id == inputs.turn
            else entry
            for entry in inputs.path
        ]
        self.path += appended
        self.previous = prepared.request_body()
        if answer is not None:
            self.answer(inputs.turn, answer)
        return prepared

    def answer(self, turn: str, text: str, status: str = "complete") -> None:
        message = Message("assistant", text)
        self.path.append(
            MessageEntry(
                next(self._ids), self.path[-1].id, TIME, message, turn, "test/model", None, status
            )
        )
