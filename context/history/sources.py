"""What earlier turns leave behind for later ones: what the user attached, what an answer cited.

Retrieved passages are not carried forward; of those that were cited, the note is remembered.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from context.history.turns import Turn
from context.layers import Layer, Segment

_CITATION: Final = re.compile(r"\[(\d{1,4})\]")


@dataclass(frozen=True, slots=True)
class CarriedSource:
    """Something to carry forward.

    Attributes:
        segment: as it was attached or retrieved last, in full.
        used: when that was; a later turn has a larger number.
    """

    segment: Segment
    used: int


@dataclass(frozen=True)
class CarriedSources:
    """Everything that earlier turns leave behind, in the order of first appearance."""

    items: Mapping[str, CarriedSource] = field(default_factory=dict)
    turns: int = 0


class SourceCollector:
    """Adds one turn after the other to what is carried."""

    def __init__(self, start: CarriedSources) -> None:
        self._items = dict(start.items)
        self._turns = start.turns

    def add(self, turn: Turn) -> None:
        """Take what a turn that has ended leaves behind."""
        self._turns += 1
        for segment in (*_list_attached(turn), *_list_cited(turn)):
            self._items[make_source_key(segment)] = CarriedSource(segment, self._turns)

    def collect(self) -> CarriedSources:
        """Return what was collected so far."""
        return CarriedSources(dict(self._items), self._turns)


def make_source_key(segment: Segment) -> str:
    """Return what makes two segments the same thing: a note by its path, a selection by its lines.

    A cited note is another thing than the attached one, which says more.
    """
    if segment.kind == "selection":
        return f"selection {segment.lines} {segment.source}"
    return f"{'cited' if segment.kind == 'passage' else 'attached'} {segment.source}"


def _list_attached(turn: Turn) -> Iterator[Segment]:
    return (part for part in turn.segments if part.layer is Layer.L3 and part.kind != "passage")


def _list_cited(turn: Turn) -> Iterator[Segment]:
    passages = {part.number: part for part in turn.segments if part.kind == "passage"}
    if not passages:
        return
    numbers = (
        int(number)
        for answer in turn.answers
        if answer.message.role == "assistant"
        for number in _CITATION.findall(answer.message.text)
    )
    yield from (passages[number] for number in dict.fromkeys(numbers) if number in passages)
