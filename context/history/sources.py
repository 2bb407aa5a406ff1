"""Collect the sources that later turns repeat (carry-forward): attachments and cited notes.

If an answer cites a retrieved passage, the passage's note is carried forward. Other retrieved
passages are not.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from context.history.turns import LoggedTurn
from context.layers import Layer, Segment

_CITATION: Final = re.compile(r"\[(\d{1,4})\]")


@dataclass(frozen=True, slots=True)
class CarriedSource:
    """A source that later turns repeat.

    Attributes:
        segment: the segment that was sent last for this source, in full.
        used: the number of the last turn that used the source.
    """

    segment: Segment
    used: int


@dataclass(frozen=True)
class CarriedSources:
    """The attached and cited sources of earlier turns, in order of first use.

    Attributes:
        items: the sources, by the key from `make_source_key`.
        turns: the number of turns from which the sources were collected.
    """

    items: Mapping[str, CarriedSource] = field(default_factory=dict)
    turns: int = 0

    def without(self, ids: Collection[str]) -> "CarriedSources":
        """Return a copy without the sources whose segments have the given ids."""
        kept = {key: item for key, item in self.items.items() if item.segment.id not in ids}
        return CarriedSources(kept, self.turns)


class SourceCollector:
    """Collects the sources that later turns repeat, turn by turn."""

    def __init__(self, start: CarriedSources) -> None:
        self._items = dict(start.items)
        self._turns = start.turns

    def add(self, turn: LoggedTurn) -> None:
        """Add the sources of a finished turn."""
        self._turns += 1
        for segment in (*_list_attached(turn), *_list_cited(turn)):
            self._items[make_source_key(segment)] = CarriedSource(segment, self._turns)

    def collect(self) -> CarriedSources:
        """Return the sources collected so far."""
        return CarriedSources(dict(self._items), self._turns)


def make_source_key(segment: Segment) -> str:
    """Return a key that identifies a source: its path, and for selections also the lines.

    A cited note and the same note as an attachment have different keys, because the attachment
    contains more text.
    """
    if segment.kind == "selection":
        return f"selection {segment.lines} {segment.source}"
    return f"{'cited' if segment.kind == 'passage' else 'attached'} {segment.source}"


def _list_attached(turn: LoggedTurn) -> Iterator[Segment]:
    return (part for part in turn.segments if part.layer is Layer.L3 and part.kind != "passage")


def _list_cited(turn: LoggedTurn) -> Iterator[Segment]:
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
