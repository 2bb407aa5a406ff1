"""Plan how a model reads large attachments by map-reduce: parts, calls, tokens and price.

Parts consist of whole lines and end before a high-level heading if possible, otherwise before a
block or at any line. Only lines that are too long for a part are split.
"""

import html
import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Final

from chains.citations.map_notes import span
from chains.errors import CannotRead
from chains.models import ModelInfo
from chains.prompts import CallSetup
from context.assemble.request import Request
from context.json_codec import Record
from context.layers import Segment
from context.tokens import TokenCounter
from vault.notes.text.document import parse_document

__all__ = [
    "AttachmentPart",
    "AttachmentPlan",
    "MapReducePlan",
    "MapReduceSetup",
    "ReadingCost",
    "plan_map_reduce",
    "split_text",
]

_HEADING, _BLOCK, _INNER, _LINE = 10, 3, 2, 1


@dataclass(frozen=True)
class AttachmentPart:
    """A range of lines in an attachment.

    Attributes:
        lines: the first and last line number, counted from 1.
        text: the text of the lines, or a piece of a single line if that line is too long.
        tokens: the token count of the text with line numbers, as it is sent.
    """

    lines: tuple[int, int]
    text: str
    tokens: int

    @property
    def numbered(self) -> str:
        """The lines as sent to the model, each with its number."""
        numbers = range(self.lines[0], self.lines[1] + 1)
        return "\n".join(
            _number_line(n, s) for n, s in zip(numbers, self.text.split("\n"), strict=True)
        )


def split_text(
    text: str, first_line: int, most_tokens: int, counter: TokenCounter
) -> list[AttachmentPart]:
    """Split a text into consecutive parts.

    Args:
        first_line: the number of the first line.
        most_tokens: the token limit of a part including line numbers, at least 1.
        counter: the token counter.
    """
    return list(_TextSplitter(text, first_line, most_tokens, counter).parts())


class _TextSplitter:
    """Splits one text into parts."""

    def __init__(self, text: str, first_line: int, most_tokens: int, counter: TokenCounter) -> None:
        self._text = text
        self._lines = text.split("\n")
        self._first = first_line
        self._most = max(1, most_tokens)
        self._counter = counter
        self._up_to = [0, *accumulate(self._size(n, s) for n, s in enumerate(self._lines))]

    def parts(self) -> Iterator[AttachmentPart]:
        start = 0
        while start < len(self._lines):
            fitting = bisect_right(self._up_to, self._up_to[start] + self._most) - 1
            if fitting == start:
                yield from self._pieces(start)
                start += 1
                continue
            end = fitting if fitting == len(self._lines) else self._cut(start, fitting)
            yield self._part(start, end)
            start = end

    def _cut(self, start: int, fitting: int) -> int:
        """Return the index of the line that starts the next part, which is `fitting` at most."""
        half = bisect_right(self._up_to, self._up_to[start] + self._most // 2)
        ends = range(max(start + 1, half), fitting + 1)
        return max(ends or (fitting,), key=lambda line: (self._worth.get(line, _LINE), line))

    @cached_property
    def _worth(self) -> dict[int, int]:
        """Rate each line that starts a block as the start of a part, by index. Higher is better."""
        found: dict[int, int] = {}
        for block in parse_document(self._text).blocks:
            for first, _ in block.inner:
                found.setdefault(first - 1, _INNER)
            found[block.first - 1] = (
                _BLOCK if block.heading is None else _HEADING - block.heading.level
            )
        return found

    def _part(self, start: int, end: int) -> AttachmentPart:
        lines = (self._first + start, self._first + end - 1)
        tokens = self._up_to[end] - self._up_to[start]
        return AttachmentPart(lines, "\n".join(self._lines[start:end]), tokens)

    def _pieces(self, at: int) -> Iterator[AttachmentPart]:
        number = self._first + at
        for piece in _split_line(self._lines[at], self._most, lambda text: self._size(at, text)):
            yield AttachmentPart((number, number), piece, self._size(at, piece))

    def _size(self, at: int, line: str) -> int:
        shown = _number_line(self._first + at, line)
        return self._counter.count(html.escape(shown, quote=False) + "\n")


def _number_line(number: int, line: str) -> str:
    return f"{number}: {line}"


def _split_line(line: str, most: int, size: Callable[[str], int]) -> Sequence[str]:
    from semantic_text_splitter import TextSplitter

    return TextSplitter.from_callback(size, most, trim=False).chunks(line)


WORDS_PER_TOKEN: Final = 0.6
MOST_PART_TOKENS: Final = 12_500  # about 50,000 characters
MOST_NOTES_TOKENS: Final = 1_000
LEAST_FREE_TOKENS: Final = 400
LEAST_NOTES_TOKENS: Final = 48
NOTES_A_CALL: Final = 4  # the notes of at least four parts fit a call, so that merging reduces them
PATH_CHARS: Final = 60
PATH_TOKENS: Final = 120  # an upper limit for a path of PATH_CHARS characters
FILLED: Final = 0.98  # joined lines may have slightly more tokens than their sum


@dataclass(frozen=True)
class MapReduceSetup:
    """The values shared by all calls of a map-reduce.

    Attributes:
        question: the user message.
        call: the model, the prompt and the budget of each call.
        session: the session id, or None.
        most_notes: the maximum length in tokens of the reading notes that a call returns.
    """

    question: str
    call: CallSetup
    session: str | None = None
    most_notes: int = MOST_NOTES_TOKENS

    @cached_property
    def frame(self) -> int:
        """The token count of a model call, not including the attachment's text."""
        longest = (10**8, 10**8)
        framed = self.call.counter.count(
            _frame_text("notes", "", longest, "", self.question, 10**4)
        )
        beside = self.call.preamble.system_tokens + self.call.counter.message_overhead
        return framed + beside + PATH_TOKENS

    @cached_property
    def free(self) -> int:
        """The number of tokens that a model call has left for the attachment's text.

        Raises:
            CannotRead: too few tokens are available.
        """
        found = int((self.call.request_budget.budget - self.frame) * FILLED)
        notes = min(self.most_notes, self.call.request_budget.reserve)
        if found < LEAST_FREE_TOKENS or notes < LEAST_NOTES_TOKENS:
            raise CannotRead(
                "The limit leaves no room for reading an attachment part by part. "
                "Raise autoCompactThreshold, or shorten the question."
            )
        return found

    @property
    def part_tokens(self) -> int:
        """The token limit of each part of an attachment."""
        return min(self.free, MOST_PART_TOKENS)

    @property
    def notes_tokens(self) -> int:
        """The token limit for the reading notes that a call returns."""
        return min(self.most_notes, self.call.request_budget.reserve, self.free // NOTES_A_CALL)

    def prepare_part(self, path: str, part: AttachmentPart) -> Request:
        """Build the request that asks the model to read a part of an attachment."""
        return self._prepare("part", path, part.lines, part.numbered)

    def prepare_notes(self, path: str, lines: tuple[int, int], notes: str) -> Request:
        """Build the request that asks the model to merge its reading notes on several parts.

        Args:
            lines: the first and last line that the reading notes cover.
            notes: the reading notes as text.
        """
        return self._prepare("notes", path, lines, notes)

    def _prepare(self, kind: str, path: str, lines: tuple[int, int], text: str) -> Request:
        words = int(self.notes_tokens * WORDS_PER_TOKEN)
        return self.call.prepare(
            _frame_text(kind, path[-PATH_CHARS:], lines, text, self.question, words),
            most_tokens=self.notes_tokens,
            session=self.session,
        )


def _frame_text(
    kind: str, path: str, lines: tuple[int, int], text: str, question: str, words: int
) -> str:
    asked = html.escape(question, quote=False)
    return (
        f'<{kind} path="{html.escape(path)}" lines="{span(lines)}">\n'
        f"{html.escape(text, quote=False)}\n</{kind}>\n\n"
        f"<question>\n{asked}\n</question>\n\nWrite at most {words} words."
    )


MOST_PARTS: Final = 500


@dataclass(frozen=True)
class AttachmentPlan:
    """The plan for reading one attachment.

    Attributes:
        segment: the attachment.
        size: the token count of the whole attachment.
        parts: the parts to read.
        notes_tokens_left: the tokens available for the reading notes.
    """

    segment: Segment
    size: int
    parts: tuple[AttachmentPart, ...]
    notes_tokens_left: int

    @property
    def tokens(self) -> int:
        """The token count of all parts of the attachment, including line numbers."""
        return sum(part.tokens for part in self.parts)


@dataclass(frozen=True)
class ReadingCost(Record):
    """The maximum cost of reading attachments by map-reduce.

    Attributes:
        attachments: the source, lines, token count and number of parts of each attachment.
        calls: the number of model calls, including those that merge reading notes.
        price: the price in dollars, or None if unknown.
    """

    attachments: tuple[tuple[str, tuple[int, int], int, int], ...]
    calls: int
    prompt_tokens: int
    output_tokens: int
    price: float | None

    json_shape = (
        "attachments = named_attachments",
        "parts",
        "calls",
        "prompt_tokens",
        "output_tokens",
        "price",
    )

    @property
    def named_attachments(self) -> list[dict[str, object]]:
        """The source, lines, token count and number of parts of each attachment, by name."""
        names = ("source", "lines", "tokens", "parts")
        return [dict(zip(names, each, strict=True)) for each in self.attachments]

    @property
    def parts(self) -> int:
        """The number of attachment parts that the model has to read."""
        return sum(parts for *_, parts in self.attachments)


@dataclass(frozen=True)
class MapReducePlan:
    """The attachments to read, and the values shared by all calls."""

    readings: tuple[AttachmentPlan, ...]
    setup: MapReduceSetup

    @property
    def parts(self) -> int:
        """The number of attachment parts that the model has to read."""
        return sum(len(reading.parts) for reading in self.readings)

    def measure_cost(self, model: ModelInfo) -> ReadingCost:
        """Compute the maximum cost of the planned calls at a model's prices."""
        joins = [self._count_joins(reading) for reading in self.readings]
        calls = self.parts + sum(made for made, _ in joins)
        shown = sum(reading.tokens for reading in self.readings) + sum(read for _, read in joins)
        prompt = math.ceil(shown / FILLED) + calls * self.setup.frame
        output = calls * self.setup.notes_tokens
        price = None
        if model.input_price is not None and model.output_price is not None:
            price = prompt * model.input_price + output * model.output_price
        named = tuple(_summarise_plan(reading) for reading in self.readings)
        return ReadingCost(named, calls, prompt, output, price)

    def _count_joins(self, reading: AttachmentPlan) -> tuple[int, int]:
        """Return the maximum number of calls that merge notes, and of the tokens they read."""
        sets, most = len(reading.parts), self.setup.notes_tokens
        calls = shown = 0
        while sets > 1 and sets * most > reading.notes_tokens_left:
            shown += sets * most
            sets = -(-sets // (self.setup.free // most))
            calls += sets
        return calls, shown


def plan_map_reduce(
    segments: Sequence[Segment],
    sizes: Mapping[str, int],
    notes_tokens_left: int,
    setup: MapReduceSetup,
) -> MapReducePlan:
    """Plan the parts and calls of a map-reduce.

    Args:
        segments: the attachments that are too large.
        sizes: the token count of each attachment, keyed by id.
        notes_tokens_left: the tokens available for all reading notes.
        setup: the values shared by the calls.

    Raises:
        CannotRead: the budget is too small, or there would be too many calls.
    """
    each = notes_tokens_left // max(1, len(segments))
    setup = replace(setup, most_notes=min(setup.most_notes, each))
    least = sum(sizes[segment.id] for segment in segments) // setup.part_tokens
    _require_few(least)  # before an attachment that is far too large is parsed line by line
    readings = tuple(
        AttachmentPlan(segment, sizes[segment.id], _split_attachment(segment, setup), each)
        for segment in segments
    )
    plan = MapReducePlan(readings, setup)
    _require_few(plan.parts)
    return plan


def _split_attachment(segment: Segment, setup: MapReduceSetup) -> tuple[AttachmentPart, ...]:
    first = segment.lines[0] if segment.lines else 1
    return tuple(split_text(segment.raw_content, first, setup.part_tokens, setup.call.counter))


def _require_few(parts: int) -> None:
    if parts > MOST_PARTS:
        raise CannotRead(
            f"Reading all of it would take {parts:,} calls of the model, and at most {MOST_PARTS} "
            "are made. Attach less, or raise autoCompactThreshold."
        )


def _summarise_plan(reading: AttachmentPlan) -> tuple[str, tuple[int, int], int, int]:
    lines = reading.parts[0].lines[0], reading.parts[-1].lines[1]
    return reading.segment.source, lines, reading.size, len(reading.parts)
