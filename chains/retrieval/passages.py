"""Convert search hits to numbered passages that answers can cite."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from context.layers import Layer, Segment
from vault.search.hits import Hit

__all__ = ["build_passages"]


def build_passages(
    hits: Sequence[Hit],
    attached: Sequence[Segment] = (),
    known: Sequence[Segment] = (),
    gap: int = 0,
) -> tuple[Segment, ...]:
    """Convert search hits to segments, numbered by rank.

    Adjacent or overlapping hits of a note are merged, with the rank of the better hit.

    Args:
        hits: the hits, best first.
        attached: the attached segments, which are numbered first. Hits in fully attached notes are
            skipped.
        known: notes whose text is in the system message. Hits in them are skipped unless the
            note has changed.
        gap: the maximum number of blank lines between two passages that are merged.
    """
    whole = {segment.source for segment in attached if segment.kind != "selection"}
    read = {(segment.source, segment.version) for segment in known}
    spans = [
        _Span.from_hit(rank, hit)
        for rank, hit in enumerate(hits)
        if hit.path not in whole and (hit.path, hit.version) not in read
    ]
    merged = sorted(_merge(spans, gap), key=lambda span: span.rank)
    first = 1 + len(attached)
    return tuple(_segment(span, number) for number, span in enumerate(merged, start=first))


@dataclass(frozen=True)
class _Span:
    """The lines of a hit, starting at line number `first`."""

    rank: int
    hit: Hit
    first: int
    lines: tuple[str, ...]

    @classmethod
    def from_hit(cls, rank: int, hit: Hit) -> "_Span":
        return cls(rank, hit, hit.lines[0], tuple(hit.text.split("\n")))

    @property
    def last(self) -> int:
        return self.hit.lines[1]

    @property
    def is_whole(self) -> bool:
        """Whether the hit's text has as many lines as its line range, so that it can be merged."""
        return len(self.lines) == self.last - self.first + 1

    def touches(self, below: "_Span", gap: int) -> bool:
        same_note = (self.hit.path, self.hit.version) == (below.hit.path, below.hit.version)
        is_near = below.first <= self.last + 1 + gap
        return same_note and self.is_whole and below.is_whole and is_near

    def join(self, below: "_Span") -> "_Span":
        better = min(self, below, key=lambda span: span.rank)
        shared = self.last - below.first + 1
        above, both = [*self.lines, *[""] * max(0, -shared)], []
        if shared > 0:
            above, both = above[:-shared], above[-shared:]
        common = [_join_line(a, b) for a, b in zip(both, below.lines, strict=False)]
        lines = (*above, *common, *both[len(common) :], *below.lines[len(both) :])
        last = max(self.last, below.last)
        hit = replace(better.hit, lines=(self.first, last), text="\n".join(lines))
        text = self.hit.markdown_text.join(below.hit.markdown_text, below.first - self.first, lines)
        hit = replace(hit, heading=self.hit.heading, structure=text.structure)
        return _Span(better.rank, hit, self.first, lines)


def _join_line(above: str, below: str) -> str:
    if below in above:
        return above
    return below if above in below else above + below


def _merge(spans: Iterable[_Span], gap: int) -> list[_Span]:
    merged: list[_Span] = []
    for span in sorted(spans, key=lambda span: (span.hit.path, span.first, span.last)):
        if merged and merged[-1].touches(span, gap):
            merged[-1] = merged[-1].join(span)
        else:
            merged.append(span)
    return merged


def _segment(span: _Span, number: int) -> Segment:
    hit = span.hit
    place = f"{hit.path}\n{hit.lines[0]}-{hit.lines[1]}\n{hit.version}\n{hit.text}"
    made = Segment.build(
        id=hashlib.sha256(place.encode("utf-8", "surrogatepass")).hexdigest()[:12],
        layer=Layer.L3,
        kind="passage",
        source=hit.path,
        text=hit.text,
        lines=hit.lines,
        version=None if hit.is_kept else hit.version,
        title=hit.title,
        heading=hit.heading,
        number=number,
        structure=hit.structure,
    )
    return made.name_below(hit.base) if hit.base else made
