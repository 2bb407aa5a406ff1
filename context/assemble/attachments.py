"""Carry-forward (L2): attachments and cited notes of earlier turns, as the model sees them.

Attachments are read in their current version and shortened, always the same way. A source that is
gone or excluded is replaced by a notice. Selections stay unchanged, and so do the notes of a
map-reduce.

Source: "Token Budget Enforcement", "L2 Carry-Forward Compaction".
"""

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

from context.carry_forward import Tools, shorten_carried_text
from context.history.sources import CarriedSource, CarriedSources, make_source_key
from context.layers import Layer, Segment
from context.tokens import TokenCounter, count_segment

CARRY_FORWARD_SHARE: Final = 0.15

SourceState = Literal["same", "changed", "gone", "excluded"]
Loss = Literal["gone", "excluded"]
LOSSES: Final[tuple[str, ...]] = get_args(Loss)
_LINES: Final[Mapping[Loss, str]] = {
    "gone": "[This note is no longer there.]",
    "excluded": "[This note is now excluded and is not read any more.]",
}


@dataclass(frozen=True, slots=True)
class CurrentSource:
    """The current state of a segment's source.

    Attributes:
        text: the current raw text, if it has changed.
        version: the hash of the file with that text.
    """

    state: SourceState
    text: str = ""
    version: str | None = None

    @property
    def loss(self) -> Loss | None:
        """The reason why the source is not read any more; None if it still is."""
        match self.state:
            case "gone" | "excluded" as loss:
                return loss
            case _:
                return None


Resolve = Callable[[Segment], CurrentSource]


@dataclass(frozen=True, slots=True)
class CarryForward:
    """The segments of L2, and the segments that exceed its share.

    Attributes:
        full: the complete segment that each segment was shortened from, by id.
        lost: cited segments whose note is not read any more; nothing replaces them in the request.
    """

    segments: tuple[Segment, ...] = ()
    dropped: tuple[Segment, ...] = ()
    full: tuple[tuple[str, Segment], ...] = ()
    lost: tuple[tuple[Segment, Loss], ...] = ()

    def without(self, others: Sequence[Segment]) -> tuple[Segment, ...]:
        """Return the segments that are not among others."""
        there = {segment.id for segment in others}
        return tuple(segment for segment in self.segments if segment.id not in there)


def describe_excluded(segment: Segment, resolve: Resolve) -> Segment | None:
    """Return the notice for a segment whose source is excluded now, or None if it is not."""
    if resolve(segment).state != "excluded":
        return None
    return _replace_by_line(segment, "excluded")


def find_loss(segment: Segment) -> Loss | None:
    """Return why a segment consists of a notice only: its source is excluded or gone; else None."""
    if segment.layer is not Layer.L2 or segment.version is not None:
        return None
    return next((loss for loss, line in _LINES.items() if segment.content == line), None)


def make_carry_forward(
    carried: CarriedSources,
    now: Sequence[Segment],
    resolve: Resolve,
    counter: TokenCounter,
    room_tokens: int,
    tools: Tools = None,
) -> CarryForward:
    """Build L2 from the sources of earlier turns, without those that this turn has itself.

    Args:
        now: the segments of this turn.
        resolve: returns the current state of a source; nothing excluded is sent.
        room_tokens: the budget of L2; the least recently used sources leave first, pins never.
        tools: the names of the request's tools, with which the model can read more.
    """
    found = [(item, resolve(item.segment)) for item in _select_sources(carried, now)]
    entries = [
        (item, segment, full)
        for item, source in found
        for segment, full in _make_segments(item.segment, source, tools)
    ]
    leaving = sorted((entry for entry in entries if not entry[1].pinned), key=_last_use)
    tokens = sum(count_segment(segment, counter) for _, segment, _ in entries)
    tokens -= sum(count_segment(part, counter) for _, part, _ in entries if part.pinned)
    dropped: list[Segment] = []
    while tokens > room_tokens:
        _, segment, _ = leaving.pop(0)
        dropped.append(segment)
        tokens -= count_segment(segment, counter)
    gone = {segment.id for segment in dropped}
    kept = tuple(segment for _, segment, _ in entries if segment.id not in gone)
    made_from = tuple((segment.id, full) for _, segment, full in entries)
    lost = tuple(loss for item, source in found for loss in _find_lost(item.segment, source))
    return CarryForward(kept, tuple(dropped), made_from, lost)


def _last_use(entry: tuple[CarriedSource, Segment, Segment]) -> int:
    return entry[0].used


def _select_sources(carried: CarriedSources, now: Sequence[Segment]) -> Iterator[CarriedSource]:
    """Select the carried sources that this turn does not have.

    An attached note is preferred to a citation of it.
    """
    taken = {make_source_key(segment) for segment in now}
    sources = {segment.source for segment in now if segment.kind != "selection"}
    attached = {
        item.segment.source
        for item in carried.items.values()
        if item.segment.kind not in ("passage", "selection")
    }
    for key, item in carried.items.items():
        is_cited = item.segment.kind == "passage"
        if key not in taken and not (is_cited and item.segment.source in sources | attached):
            yield item


def _make_segments(
    segment: Segment, source: CurrentSource, tools: Tools
) -> Iterator[tuple[Segment, Segment]]:
    """Build each L2 segment of a source, paired with the complete segment."""
    if segment.kind == "passage":
        if not source.loss:
            yield _move_to_l2(segment, _describe_citation(segment)), segment
        return
    if source.loss:
        yield _replace_by_line(segment, source.loss), segment
        return
    if source.state == "changed" and segment.kind != "selection" and not segment.derived:
        content = html.escape(source.text, quote=False)
        segment = replace(segment, content=content, version=source.version)
    text = segment.raw_content
    if segment.kind != "selection":
        text = shorten_carried_text(segment.source, segment.kind, text, tools)
    yield _move_to_l2(segment, text), segment


def _find_lost(segment: Segment, source: CurrentSource) -> Iterator[tuple[Segment, Loss]]:
    if segment.kind == "passage" and source.loss:
        yield _move_to_l2(segment, _describe_citation(segment)), source.loss


def _replace_by_line(segment: Segment, loss: Loss) -> Segment:
    return replace(_move_to_l2(segment, _LINES[loss]), version=None)


def _move_to_l2(segment: Segment, text: str) -> Segment:
    content = html.escape(text, quote=False)
    return replace(segment, layer=Layer.L2, content=content, number=None)


def _describe_citation(segment: Segment) -> str:
    return " › ".join(("Cited earlier: " + (segment.title or segment.source), *segment.heading))
