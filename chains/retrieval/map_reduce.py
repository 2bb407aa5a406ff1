"""Map-reduce: a model reads large attachments part by part, and takes reading notes.

Up to three calls run in parallel. Lines that could not be read are listed in the warnings and in
the text for the model. If more than half of an attachment's parts fail, the whole attachment fails.
Token usage is always logged.
"""

import hashlib
import html
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from chains.cancel import CancelToken
from chains.citations.map_notes import (
    Lines,
    MapNote,
    Matcher,
    QuotedNotes,
    build_matcher,
    name_spans,
    read_notes,
    render_notes,
)
from chains.concurrency import WorkerPool, gather
from chains.errors import MissingKey, ModelError, Offline, SpendingLimitReached
from chains.events import Event, ReadingPart, Step
from chains.llm.incoming.answer_reader import collect_answer
from chains.llm.port import ModelPort
from chains.request.open_turn import open_model
from chains.request.turn import Turn
from chains.request.usage import READING, CallUsage, log_usage, sum_usage
from chains.retrieval.map_reduce_plan import AttachmentPart, AttachmentPlan, MapReducePlan
from context.assemble.request import Request
from context.carry_forward import truncate_with_ellipsis
from context.errors import ContextOverflow
from context.layers import Segment, name_source

__all__ = ["DERIVED", "MapReduceResult", "MapReducer", "map_reduce"]

DERIVED: Final = "map_reduce"
AT_ONCE: Final = 3
LEAST_NOTE_CHARS: Final = 80

# These calls wait for model calls in the shared pool, so they need threads of their own.
_POOL: Final = WorkerPool(AT_ONCE)


@dataclass(frozen=True)
class MapReduceResult:
    """The result of a map-reduce.

    Attributes:
        attached: all attachments. Those that were read are replaced with the model's reading notes.
        summary: the counts and costs, for `read_whole` in the turn's result.
        warnings: one sentence for each gap in the reading notes.
        calls: the usage of each call.
    """

    attached: tuple[Segment, ...]
    summary: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    calls: tuple[CallUsage, ...] = ()


def map_reduce(turn: Turn, plan: MapReducePlan) -> Generator[Event, None, MapReduceResult]:
    """Replace the attachments of a plan with reading notes that a model writes.

    Raises:
        ModelError: more than half of the parts of an attachment could not be read.
        Cancelled: the token was cancelled.
    """
    reducer = MapReducer(plan, partial(open_model, turn), turn.cancel)
    try:
        segments = yield from reducer.read()
    except BaseException:
        log_usage(turn.session, turn.id, reducer.usage, READING)
        raise
    notes = {one.segment.id: made for one, made in zip(plan.readings, segments, strict=True)}
    attached = tuple(notes.get(segment.id, segment) for segment in turn.attached)
    summary = plan.measure_cost(turn.model).to_dict() | {"done": _summarise(reducer)}
    return MapReduceResult(attached, summary, tuple(reducer.warnings), tuple(reducer.usage))


def _summarise(reducer: "MapReducer") -> dict[str, Any]:
    usage = sum_usage(reducer.usage)
    return {
        "calls": reducer.calls,
        "prompt_tokens": usage.prompt_tokens if usage else None,
        "output_tokens": usage.completion_tokens if usage else None,
        "failed": [
            {"source": gap.source, "lines": list(gap.lines), "reason": gap.reason}
            for gap in reducer.unread
        ],
    }


@dataclass(frozen=True)
class UnreadLines:
    """Lines of an attachment that could not be read, with the reason."""

    source: str
    lines: Lines
    reason: str


@dataclass(frozen=True)
class _Outcome:
    """The result of one model call: reading notes, or an error."""

    notes: tuple[MapNote, ...] = ()
    usage: CallUsage | None = None
    is_cut: bool = False
    error: Exception | None = None


@dataclass(frozen=True)
class _Call:
    """A model call to make.

    Attributes:
        request: prepares the request.
        lines: the lines that the model reads.
        find: finds a quotation in these lines.
    """

    request: Callable[[], Request]
    lines: Lines
    find: Matcher


Notes = tuple[MapNote, ...]


@dataclass
class MapReducer:
    """Asks a model to read attachments, and collects its reading notes.

    Attributes:
        usage: the usage of all calls so far, even if they are cancelled or fail.
        calls: the number of successful calls so far.
        unread: the lines that could not be read so far.
    """

    plan: MapReducePlan
    open_model: Callable[[], ModelPort]
    cancel: CancelToken
    usage: list[CallUsage] = field(default_factory=list, init=False)
    calls: int = field(default=0, init=False)
    unread: list[UnreadLines] = field(default_factory=list, init=False)
    _cut: int = field(default=0, init=False)
    _shorter: int = field(default=0, init=False)
    _left_out: int = field(default=0, init=False)

    def read(self) -> Generator[Event, None, tuple[Segment, ...]]:
        """Ask the model to read all attachments, and yield progress events.

        Returns:
            One segment for each attachment, containing the model's reading notes.

        Raises:
            ModelError: more than half of an attachment's parts could not be read.
            Cancelled: the token was cancelled.
        """
        segments, done = [], 0
        for reading in self.plan.readings:
            sets = yield from self._map(reading, done)
            sets = yield from self._reduce(reading, sets)
            segments.append(
                self._build_segment(reading, [note for notes in sets for note in notes])
            )
            done += len(reading.parts)
        return tuple(segments)

    @property
    def warnings(self) -> Iterator[str]:
        """One sentence for each gap: lines not read, and notes cut, shortened or left out."""
        for gap in self.unread:
            verb = "was" if gap.lines[0] == gap.lines[1] else "were"
            named = name_spans(gap.lines).capitalize()
            yield f"{named} of {name_source(gap.source)} {verb} not read: {gap.reason}"
        if self._cut:
            yield f"The notes on {self._cut} of the parts broke off at their end."
        if self._shorter:
            yield f"To have room, notes were shortened: {self._shorter}."
        if self._left_out:
            yield f"There was no room for {self._left_out} of the notes."

    def _map(self, reading: AttachmentPlan, done: int) -> Generator[Event, None, list[Notes]]:
        """Ask the model to read each part of an attachment, and yield progress events.

        Args:
            reading: the plan for the attachment.
            done: the number of parts of other attachments that were read before.

        Returns:
            The reading notes on each part.
        """
        path = reading.segment.source
        shown = reading.segment.shown_source
        calls = [self._prepare_part(shown, part) for part in reading.parts]
        found: list[Notes] = [()] * len(calls)
        failed = 0
        yield ReadingPart(done + 1, self.plan.parts)
        with closing(self._run_calls(calls)) as made:
            for ended, (at, outcome) in enumerate(made, start=1):
                found[at] = self._fit_notes(outcome.notes)
                if outcome.error is not None:
                    failed += 1
                    self.unread.append(UnreadLines(path, calls[at].lines, str(outcome.error)))
                    if failed * 2 > len(calls):
                        raise outcome.error
                if ended < len(calls):
                    yield ReadingPart(done + ended + 1, self.plan.parts)
        return [notes for notes in found if notes]

    def _reduce(
        self, reading: AttachmentPlan, sets: list[Notes]
    ) -> Generator[Event, None, list[Notes]]:
        """Ask the model to merge its reading notes until they fit the token budget.

        Args:
            reading: the plan for the attachment.
            sets: the reading notes on each part.

        Returns:
            The merged reading notes.
        """
        at_once = self.plan.setup.free // self.plan.setup.notes_tokens
        while len(sets) > 1 and sum(map(self._size, sets)) > reading.notes_tokens_left:
            yield Step("read", f"Joining the notes on {len(sets)} parts")
            groups = [sets[at : at + at_once] for at in range(0, len(sets), at_once)]
            merged = [tuple(note for notes in group for note in notes) for group in groups]
            sets = self._merge_notes(reading.segment.shown_source, merged)
        return sets

    def _merge_notes(self, path: str, groups: Sequence[Notes]) -> list[Notes]:
        """Merge each group of reading notes with one call.

        If a call fails, as many notes of its group as fit are kept unmerged.
        """
        calls = [self._prepare_notes(path, notes) for notes in groups]
        found = list(groups)
        with closing(self._run_calls(calls)) as made:
            for at, outcome in made:
                found[at] = outcome.notes or groups[at]
        return [self._fit_notes(notes) for notes in found if notes]

    def _fit_notes(self, notes: Notes) -> Notes:
        """Keep as many reading notes as one call may return.

        The last note is shortened if necessary.
        """
        kept: list[MapNote] = []
        tokens_left = self.plan.setup.notes_tokens
        for note in notes:
            fitting = self._shorten_note(note, tokens_left)
            if fitting is None:
                break
            kept.append(fitting)
            tokens_left -= self._size((fitting,))
        self._left_out += len(notes) - len(kept)
        self._shorter += sum(a is not b for a, b in zip(kept, notes, strict=False))
        return tuple(kept)

    def _shorten_note(self, note: MapNote, tokens_left: int) -> MapNote | None:
        """Shorten a reading note to a token limit, or return None if too little would remain."""
        fitting, most_chars = note, len(note.text)
        while (size := self._size((fitting,))) > tokens_left:
            most_chars = min(most_chars - 1, most_chars * tokens_left // size)
            if most_chars < LEAST_NOTE_CHARS:
                return None
            fitting = replace(note, text=truncate_with_ellipsis(note.text, most_chars))
        return fitting

    def _size(self, notes: Notes) -> int:
        text = html.escape(render_notes(notes), quote=False)
        return self.plan.setup.call.counter.count(text + "\n")

    def _build_segment(self, reading: AttachmentPlan, notes: Sequence[MapNote]) -> Segment:
        segment = reading.segment
        lines = reading.parts[0].lines[0], reading.parts[-1].lines[1]
        text = "\n".join((*self._write_head(reading, lines), *(note.render() for note in notes)))
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

    def _write_head(self, reading: AttachmentPlan, lines: Lines) -> Iterator[str]:
        yield (
            f"[Notes on {name_spans(lines)}, read in {len(reading.parts)} parts for this question. "
            "Each stands behind its lines; what is quoted stands there word for word. What is not "
            "noted does not bear on the question.]"
        )
        gaps = [gap.lines for gap in self.unread if gap.source == reading.segment.source]
        if gaps:
            yield f"[Not read: {name_spans(*sorted(gaps))}.]"

    def _run_calls(self, calls: Sequence[_Call]) -> Generator[tuple[int, _Outcome]]:
        """Run model calls in parallel. Closing the generator cancels the remaining calls."""
        stop = CancelToken()
        forget = self.cancel.on_cancel(stop.cancel)
        try:
            for at, outcome in gather(
                [partial(self._run_call, c, stop) for c in calls], stop, _POOL
            ):
                self.calls += outcome.error is None
                self._cut += outcome.is_cut
                if outcome.usage is not None:
                    self.usage.append(outcome.usage)
                yield at, outcome
        finally:
            forget()
            stop.cancel()

    def _run_call(self, call: _Call, stop: CancelToken) -> _Outcome:
        try:
            return self._answer(call, stop)
        except (MissingKey, Offline, SpendingLimitReached):
            raise  # all other calls would fail too
        except (ModelError, ContextOverflow) as error:
            return _Outcome(error=error)

    def _answer(self, call: _Call, stop: CancelToken) -> _Outcome:
        request = call.request()
        answer = collect_answer(self.open_model().stream(request, stop))
        ended = answer.ended
        usage = None if ended.usage is None else CallUsage(request.report, ended.usage)
        notes = tuple(read_notes(answer.text, call.lines, call.find))
        is_cut = ended.finish == "length" or ended.status == "interrupted"
        return _Outcome(notes, usage, is_cut)

    def _prepare_part(self, path: str, part: AttachmentPart) -> _Call:
        find = build_matcher(part.text, part.lines[0])
        return _Call(lambda: self.plan.setup.prepare_part(path, part), part.lines, find)

    def _prepare_notes(self, path: str, notes: Sequence[MapNote]) -> _Call:
        lines = min(note.lines[0] for note in notes), max(note.lines[1] for note in notes)
        text = render_notes(notes)
        return _Call(
            lambda: self.plan.setup.prepare_notes(path, lines, text), lines, QuotedNotes(notes).find
        )
