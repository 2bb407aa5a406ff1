"""The calls that read attachments whole, three at a time, and what is made of their answers.

What a call could not read is told, in the notes as well; where more than half of an attachment's
parts fail, it is given up.
"""

import hashlib
import html
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from chains.cancel import CancelToken
from chains.citations.map_notes import (
    Find,
    Lines,
    Note,
    QuotedNotes,
    finder,
    name_spans,
    read_notes,
    render_notes,
)
from chains.concurrency import WorkerPool, gather
from chains.errors import MissingKey, ModelError, Offline
from chains.events import Event, ReadingPart, Step, Usage
from chains.llm.port import ModelEnded, ModelPort, ModelText
from chains.retrieval.map_reduce.plan import Part, Plan, Reading
from context.carry_forward import truncate_with_ellipsis
from context.errors import ContextOverflow
from context.fit.guard import PreparedRequest
from context.layers import Segment
from context.report.report import ContextReport

__all__ = ["DERIVED", "CountedCall", "Reader", "Unread"]

DERIVED: Final = "map_reduce"
AT_ONCE: Final = 3
LEAST_NOTE_CHARS: Final = 80

# What waits here for a model waits in the chains' own pool, which must not be full of it.
_READING: Final = WorkerPool(AT_ONCE)


@dataclass(frozen=True)
class CountedCall:
    """What the service counted for a call, beside what we know of its request."""

    report: ContextReport
    usage: Usage


@dataclass(frozen=True)
class Unread:
    """Lines that are missing from the notes, and why."""

    source: str
    lines: Lines
    reason: str


@dataclass(frozen=True)
class _Outcome:
    """What came of a call; `error` where nothing did."""

    notes: tuple[Note, ...] = ()
    counted: CountedCall | None = None
    is_cut: bool = False
    error: Exception | None = None


@dataclass(frozen=True)
class _Call:
    """A call that is to be made: `lines` are what it is about, `find` looks its quotations up."""

    request: Callable[[], PreparedRequest]
    lines: Lines
    find: Find


Notes = tuple[Note, ...]


@dataclass
class Reader:
    """Reads what is planned, with one model.

    Attributes:
        model: returns who is asked.
        counted: what the service counted so far, also where reading is stopped or fails.
        calls: how many were answered so far.
        unread: the lines that could not be read so far.
    """

    plan: Plan
    model: Callable[[], ModelPort]
    cancel: CancelToken
    counted: list[CountedCall] = field(default_factory=list, init=False)
    calls: int = field(default=0, init=False)
    unread: list[Unread] = field(default_factory=list, init=False)
    _cut: int = field(default=0, init=False)
    _shorter: int = field(default=0, init=False)
    _left_out: int = field(default=0, init=False)

    def read(self) -> Generator[Event, None, tuple[Segment, ...]]:
        """Return the notes on each attachment, as a segment in its place.

        Raises:
            ModelError: more than half of an attachment's parts could not be read.
            Cancelled: the token was cancelled.
        """
        segments, done = [], 0
        for reading in self.plan.readings:
            sets = yield from self._on_parts(reading, done)
            sets = yield from self._fewer(reading, sets)
            segments.append(self._derived(reading, [note for notes in sets for note in notes]))
            done += len(reading.parts)
        return tuple(segments)

    @property
    def warnings(self) -> Iterator[str]:
        """What is missing from the notes, one sentence each."""
        for gap in self.unread:
            verb = "was" if gap.lines[0] == gap.lines[1] else "were"
            named = name_spans(gap.lines).capitalize()
            yield f"{named} of {gap.source} {verb} not read: {gap.reason}"
        if self._cut:
            yield f"The notes on {self._cut} of the parts broke off at their end."
        if self._shorter:
            yield f"To have room, notes were shortened: {self._shorter}."
        if self._left_out:
            yield f"There was no room for {self._left_out} of the notes."

    def _on_parts(self, reading: Reading, done: int) -> Generator[Event, None, list[Notes]]:
        """Return the notes on each part, in their order."""
        path = reading.segment.source
        calls = [self._of_part(path, part) for part in reading.parts]
        found: list[Notes] = [()] * len(calls)
        failed = 0
        yield ReadingPart(done + 1, self.plan.parts)
        with closing(self._made(calls)) as made:
            for ended, (at, outcome) in enumerate(made, start=1):
                found[at] = self._fitting(outcome.notes)
                if outcome.error is not None:
                    failed += 1
                    self.unread.append(Unread(path, calls[at].lines, str(outcome.error)))
                    if failed * 2 > len(calls):
                        raise outcome.error
                if ended < len(calls):
                    yield ReadingPart(done + ended + 1, self.plan.parts)
        return [notes for notes in found if notes]

    def _fewer(self, reading: Reading, sets: list[Notes]) -> Generator[Event, None, list[Notes]]:
        """Return notes that fit their room: notes on the notes, as often as that takes."""
        at_once = self.plan.asked.free // self.plan.asked.notes_tokens
        while len(sets) > 1 and sum(map(self._size, sets)) > reading.notes_room:
            yield Step("read", f"Joining the notes on {len(sets)} parts")
            groups = [sets[at : at + at_once] for at in range(0, len(sets), at_once)]
            joined = [tuple(note for notes in group for note in notes) for group in groups]
            sets = self._joined(reading.segment.source, joined)
        return sets

    def _joined(self, path: str, groups: Sequence[Notes]) -> list[Notes]:
        """Return notes on notes; where a call gives none, as many as there is room for."""
        calls = [self._of_notes(path, notes) for notes in groups]
        found = list(groups)
        with closing(self._made(calls)) as made:
            for at, outcome in made:
                found[at] = outcome.notes or groups[at]
        return [self._fitting(notes) for notes in found if notes]

    def _fitting(self, notes: Notes) -> Notes:
        """Return as much of the notes as a call may make; the last one may be shortened."""
        kept: list[Note] = []
        room = self.plan.asked.notes_tokens
        for note in notes:
            fitting = self._shortened(note, room)
            if fitting is None:
                break
            kept.append(fitting)
            room -= self._size((fitting,))
        self._left_out += len(notes) - len(kept)
        self._shorter += sum(a is not b for a, b in zip(kept, notes, strict=False))
        return tuple(kept)

    def _shortened(self, note: Note, room: int) -> Note | None:
        """Return a note as it fits a room; None where too little of it would be left."""
        fitting, most_chars = note, len(note.text)
        while (size := self._size((fitting,))) > room:
            most_chars = min(most_chars - 1, most_chars * room // size)
            if most_chars < LEAST_NOTE_CHARS:
                return None
            fitting = replace(note, text=truncate_with_ellipsis(note.text, most_chars))
        return fitting

    def _size(self, notes: Notes) -> int:
        text = html.escape(render_notes(notes), quote=False)
        return self.plan.asked.counter.count(text + "\n")

    def _derived(self, reading: Reading, notes: Sequence[Note]) -> Segment:
        segment = reading.segment
        lines = reading.parts[0].lines[0], reading.parts[-1].lines[1]
        text = "\n".join((*self._head(reading, lines), *(note.render() for note in notes)))
        id = hashlib.sha256(f"{segment.id}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()
        return Segment.build(
            id=id[:12],
            layer=segment.layer,
            kind=segment.kind,
            source=segment.source,
            text=text,
            lines=lines,
            version=segment.version,
            title=segment.title,
            number=segment.number,
            derived=DERIVED,
        )

    def _head(self, reading: Reading, lines: Lines) -> Iterator[str]:
        yield (
            f"[Notes on {name_spans(lines)}, read in {len(reading.parts)} parts for this question. "
            "Each stands behind its lines; what is quoted stands there word for word. What is not "
            "noted does not bear on the question.]"
        )
        gaps = [gap.lines for gap in self.unread if gap.source == reading.segment.source]
        if gaps:
            yield f"[Not read: {name_spans(*sorted(gaps))}.]"

    def _made(self, calls: Sequence[_Call]) -> Generator[tuple[int, _Outcome]]:
        """Make calls side by side; whoever stops listening stops those that are left."""
        stop = CancelToken()
        forget = self.cancel.on_cancel(stop.cancel)
        try:
            for at, outcome in gather(
                [partial(self._make, c, stop) for c in calls], stop, _READING
            ):
                self.calls += outcome.error is None
                self._cut += outcome.is_cut
                if outcome.counted is not None:
                    self.counted.append(outcome.counted)
                yield at, outcome
        finally:
            forget()
            stop.cancel()

    def _make(self, call: _Call, stop: CancelToken) -> _Outcome:
        try:
            return self._answer(call, stop)
        except (MissingKey, Offline):
            raise  # no other call would fare better
        except (ModelError, ContextOverflow) as error:
            return _Outcome(error=error)

    def _answer(self, call: _Call, stop: CancelToken) -> _Outcome:
        request = call.request()
        pieces: list[str] = []
        ended = ModelEnded("interrupted")
        for event in self.model().stream(request, stop):
            if isinstance(event, ModelText):
                pieces.append(event.text)
            elif isinstance(event, ModelEnded):
                ended = event
        counted = None if ended.usage is None else CountedCall(request.report, ended.usage)
        notes = tuple(read_notes("".join(pieces), call.lines, call.find))
        is_cut = ended.finish == "length" or ended.status == "interrupted"
        return _Outcome(notes, counted, is_cut)

    def _of_part(self, path: str, part: Part) -> _Call:
        find = finder(part.text, part.lines[0])
        return _Call(lambda: self.plan.asked.of_part(path, part), part.lines, find)

    def _of_notes(self, path: str, notes: Sequence[Note]) -> _Call:
        lines = min(note.lines[0] for note in notes), max(note.lines[1] for note in notes)
        text = render_notes(notes)
        return _Call(
            lambda: self.plan.asked.of_notes(path, lines, text), lines, QuotedNotes(notes).find
        )
