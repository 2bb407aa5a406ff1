"""What reading attachments whole takes, found without a model: parts, calls, tokens, price."""

import html
import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any, Final

from chains.citations.map_notes import span
from chains.errors import CannotRead
from chains.models import ModelInfo
from context.assemble.request import Preamble, preamble
from context.budget import Room
from context.envelope import System
from context.fit.guard import PreparedRequest
from context.layers import Segment
from context.prompt import PromptSection, system_parts
from context.side_calls import prepare_call
from context.tokens import TokenCounter
from vault.notes.markdown import parse_document

__all__ = [
    "FILLED",
    "PROMPT",
    "Asked",
    "Part",
    "Plan",
    "Reading",
    "ReadingCost",
    "parts_of",
    "plan_reading",
]

_HEADING, _BLOCK, _INNER, _LINE = 10, 3, 2, 1


@dataclass(frozen=True)
class Part:
    """Some lines of a text.

    Attributes:
        lines: first and last, from 1, inclusive.
        text: the lines as they stand; a piece of one where that is too long for a part.
        tokens: what they count as a model is shown them.
    """

    lines: tuple[int, int]
    text: str
    tokens: int

    @property
    def numbered(self) -> str:
        """The lines as a model is shown them, each behind its number."""
        numbers = range(self.lines[0], self.lines[1] + 1)
        return "\n".join(_shown(n, s) for n, s in zip(numbers, self.text.split("\n"), strict=True))


def parts_of(text: str, first_line: int, most_tokens: int, counter: TokenCounter) -> list[Part]:
    """Return the parts of a text, every line in exactly one of them.

    Args:
        first_line: the number of its first line.
        most_tokens: what a part may count, numbers of its lines included; 1 at the least.
        counter: counts them.
    """
    return list(_Cutting(text, first_line, most_tokens, counter).parts())


class _Cutting:
    """A text on its way to being parts."""

    def __init__(self, text: str, first_line: int, most_tokens: int, counter: TokenCounter) -> None:
        self._text = text
        self._lines = text.split("\n")
        self._first = first_line
        self._most = max(1, most_tokens)
        self._counter = counter
        self._up_to = [0, *accumulate(self._size(n, s) for n, s in enumerate(self._lines))]

    def parts(self) -> Iterator[Part]:
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
        """Return where the next part begins best, `fitting` at the latest."""
        half = bisect_right(self._up_to, self._up_to[start] + self._most // 2)
        ends = range(max(start + 1, half), fitting + 1)
        return max(ends or (fitting,), key=lambda line: (self._worth.get(line, _LINE), line))

    @cached_property
    def _worth(self) -> dict[int, int]:
        """How good a place to begin each line is, by its index."""
        found: dict[int, int] = {}
        for block in parse_document(self._text).blocks:
            for first, _ in block.inner:
                found.setdefault(first - 1, _INNER)
            found[block.first - 1] = (
                _BLOCK if block.heading is None else _HEADING - block.heading.level
            )
        return found

    def _part(self, start: int, end: int) -> Part:
        lines = (self._first + start, self._first + end - 1)
        tokens = self._up_to[end] - self._up_to[start]
        return Part(lines, "\n".join(self._lines[start:end]), tokens)

    def _pieces(self, at: int) -> Iterator[Part]:
        """Cut a line that is too long."""
        number = self._first + at
        for piece in _sentences(self._lines[at], self._most, lambda text: self._size(at, text)):
            yield Part((number, number), piece, self._size(at, piece))

    def _size(self, at: int, line: str) -> int:
        shown = _shown(self._first + at, line)
        return self._counter.count(html.escape(shown, quote=False) + "\n")


def _shown(number: int, line: str) -> str:
    return f"{number}: {line}"


def _sentences(line: str, most: int, size: Callable[[str], int]) -> Sequence[str]:
    from semantic_text_splitter import TextSplitter

    return TextSplitter.from_callback(size, most, trim=False).chunks(line)


PROMPT: Final = "reading"
WORDS_PER_TOKEN: Final = 0.6
MOST_PART_TOKENS: Final = 12_500  # some 50,000 characters
MOST_NOTES_TOKENS: Final = 1_000
LEAST_FREE_TOKENS: Final = 400
LEAST_NOTES_TOKENS: Final = 48
NOTES_A_CALL: Final = 4  # notes of so many parts fit a call at the least, so that they get fewer
PATH_CHARS: Final = 60
PATH_TOKENS: Final = 120  # of as many characters, whatever they are
FILLED: Final = 0.98  # lines may count a little more together than one by one


@dataclass(frozen=True)
class Asked:
    """What all calls of a reading have in common.

    Attributes:
        question: what the text is read for.
        model: who reads.
        room: the budget of each call.
        sections: the prompt.
        session: the chat it is read for.
        most_notes: how long the notes of a call may be, in tokens.
    """

    question: str
    model: str
    room: Room
    sections: Sequence[PromptSection]
    counter: TokenCounter
    session: str | None = None
    temperature: float = 0.0
    most_notes: int = MOST_NOTES_TOKENS

    @cached_property
    def frame(self) -> int:
        """What a call has beside the text that is read: prompt, question, path and lines."""
        longest = (10**8, 10**8)
        framed = self.counter.count(_framed("notes", "", longest, "", self.question, 10**4))
        beside = self._preamble.system_tokens + self.counter.message_overhead
        return framed + beside + PATH_TOKENS

    @cached_property
    def free(self) -> int:
        """What a call has for the text itself.

        Raises:
            CannotRead: there is too little of it.
        """
        found = int((self.room.budget - self.frame) * FILLED)
        notes = min(self.most_notes, self.room.reserve)
        if found < LEAST_FREE_TOKENS or notes < LEAST_NOTES_TOKENS:
            raise CannotRead(
                "The limit leaves no room for reading an attachment part by part. "
                "Raise autoCompactThreshold, or shorten the question."
            )
        return found

    @property
    def part_tokens(self) -> int:
        """How large a part may be."""
        return min(self.free, MOST_PART_TOKENS)

    @property
    def notes_tokens(self) -> int:
        """How long the notes that a call makes may be."""
        return min(self.most_notes, self.room.reserve, self.free // NOTES_A_CALL)

    def of_part(self, path: str, part: Part) -> PreparedRequest:
        """Return the call that reads a part."""
        return self._call("part", path, part.lines, part.numbered)

    def of_notes(self, path: str, lines: tuple[int, int], notes: str) -> PreparedRequest:
        """Return the call that makes notes on several parts fewer."""
        return self._call("notes", path, lines, notes)

    def _call(self, kind: str, path: str, lines: tuple[int, int], text: str) -> PreparedRequest:
        words = int(self.notes_tokens * WORDS_PER_TOKEN)
        return prepare_call(
            self._preamble,
            (),
            _framed(kind, path[-PATH_CHARS:], lines, text, self.question, words),
            replace(self.room, reserve=self.notes_tokens),
            model=self.model,
            session=self.session,
            temperature=self.temperature,
        )

    @cached_property
    def _preamble(self) -> Preamble:
        return preamble(System(system_parts(PROMPT, self.sections)), (), self.counter)


def _framed(
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
class Reading:
    """One attachment that is read whole.

    Attributes:
        size: its tokens, as it would be sent whole.
        notes_room: what its notes may take in the end.
    """

    segment: Segment
    size: int
    parts: tuple[Part, ...]
    notes_room: int

    @property
    def tokens(self) -> int:
        """What its parts count as they are shown, with the numbers of their lines."""
        return sum(part.tokens for part in self.parts)


@dataclass(frozen=True)
class ReadingCost:
    """What reading takes at most.

    Attributes:
        attachments: source, lines, tokens and parts of each.
        calls: of the model, those that make notes fewer included.
        price: in dollars; None where the model's price is not known.
    """

    attachments: tuple[tuple[str, tuple[int, int], int, int], ...]
    calls: int
    prompt_tokens: int
    output_tokens: int
    price: float | None

    @property
    def parts(self) -> int:
        """How many parts are read."""
        return sum(parts for *_, parts in self.attachments)

    def to_dict(self) -> dict[str, Any]:
        """Return the shape that `read_whole` has wherever it is told."""
        named = ("source", "lines", "tokens", "parts")
        return {
            "attachments": [
                dict(zip(named, (path, list(lines), tokens, parts), strict=True))
                for path, lines, tokens, parts in self.attachments
            ],
            "parts": self.parts,
            "calls": self.calls,
            "prompt_tokens": self.prompt_tokens,
            "output_tokens": self.output_tokens,
            "price": self.price,
        }


@dataclass(frozen=True)
class Plan:
    """What is read, and how it is asked for."""

    readings: tuple[Reading, ...]
    asked: Asked

    @property
    def parts(self) -> int:
        """How many parts are read."""
        return sum(len(reading.parts) for reading in self.readings)

    def cost(self, model: ModelInfo) -> ReadingCost:
        """Return what it takes at most with a model's prices."""
        joins = [self._joins(reading) for reading in self.readings]
        calls = self.parts + sum(made for made, _ in joins)
        shown = sum(reading.tokens for reading in self.readings) + sum(read for _, read in joins)
        prompt = math.ceil(shown / FILLED) + calls * self.asked.frame
        output = calls * self.asked.notes_tokens
        price = None
        if model.input_price is not None and model.output_price is not None:
            price = prompt * model.input_price + output * model.output_price
        named = tuple(_named(reading) for reading in self.readings)
        return ReadingCost(named, calls, prompt, output, price)

    def _joins(self, reading: Reading) -> tuple[int, int]:
        """Return the calls that make notes fewer, and what they are shown, at most."""
        sets, most = len(reading.parts), self.asked.notes_tokens
        calls = shown = 0
        while sets > 1 and sets * most > reading.notes_room:
            shown += sets * most
            sets = -(-sets // (self.asked.free // most))
            calls += sets
        return calls, shown


def plan_reading(
    segments: Sequence[Segment], sizes: Mapping[str, int], notes_room: int, asked: Asked
) -> Plan:
    """Return how attachments are read whole.

    Args:
        segments: those that are too large to be sent.
        sizes: what each counts, by its id.
        notes_room: what their notes may take together.
        asked: how a model is asked for them.

    Raises:
        CannotRead: the limit leaves no room for it, or it would take too many calls.
    """
    each = notes_room // max(1, len(segments))
    asked = replace(asked, most_notes=min(asked.most_notes, each))
    least = sum(sizes[segment.id] for segment in segments) // asked.part_tokens
    _require_few(least)  # before what is far too large is looked at line by line
    readings = tuple(
        Reading(segment, sizes[segment.id], _parts(segment, asked), each) for segment in segments
    )
    plan = Plan(readings, asked)
    _require_few(plan.parts)
    return plan


def _parts(segment: Segment, asked: Asked) -> tuple[Part, ...]:
    first = segment.lines[0] if segment.lines else 1
    return tuple(parts_of(segment.raw_content, first, asked.part_tokens, asked.counter))


def _require_few(parts: int) -> None:
    if parts > MOST_PARTS:
        raise CannotRead(
            f"Reading all of it would take {parts:,} calls of the model, and at most {MOST_PARTS} "
            "are made. Attach less, or raise autoCompactThreshold."
        )


def _named(reading: Reading) -> tuple[str, tuple[int, int], int, int]:
    lines = reading.parts[0].lines[0], reading.parts[-1].lines[1]
    return reading.segment.source, lines, reading.size, len(reading.parts)
