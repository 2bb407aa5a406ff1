"""What reading attachments whole takes, found without a model: parts, calls, tokens, price."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from chains.errors import CannotRead
from chains.models import ModelInfo
from chains.retrieval.map_reduce.questions import FILLED, Asked
from chains.retrieval.map_reduce.split import Part, parts_of
from context.layers import Segment

__all__ = ["Plan", "Reading", "ReadingCost", "plan_reading"]

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
