"""From a question to numbered passages that a model can be sent and an answer can cite."""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from context.layers import Layer, Segment
from vault.search.search import Hit, SearchResult

__all__ = ["SearchPort", "passages"]


class SearchPort(Protocol):
    """Finds passages in the open vault."""

    def search(
        self, query: str, k: int, *, in_play: Collection[str] = (), reranks: bool = True
    ) -> SearchResult:
        """Return the best `k` passages, best first.

        Args:
            query: words and filters.
            k: how many at most.
            in_play: paths of the notes that the conversation is about.
            reranks: let a second model put them in order, where one is chosen.
        """

    def list_notes(self, query: str, limit: int, offset: int = 0) -> SearchResult:
        """Return every note that a query selects, one hit a note, in pages."""


def passages(
    hits: Sequence[Hit], attached: Sequence[Segment] = (), known: Sequence[Segment] = ()
) -> tuple[Segment, ...]:
    """Return hits as segments of this turn, numbered by their rank.

    Hits of one note that touch become one passage, with the rank of the better one.

    Args:
        hits: what was found, best first.
        attached: what is sent anyway; its numbers come first, and of a note that is attached whole
            no passage is sent again.
        known: notes whose text stands on L1; of these none is sent either, unless they changed.
    """
    whole = {segment.source for segment in attached if segment.kind != "selection"}
    read = {(segment.source, segment.version) for segment in known}
    spans = [
        _Span.of(rank, hit)
        for rank, hit in enumerate(hits)
        if hit.path not in whole and (hit.path, hit.version) not in read
    ]
    merged = sorted(_merged(spans), key=lambda span: span.rank)
    first = 1 + len(attached)
    return tuple(_segment(span, number) for number, span in enumerate(merged, start=first))


@dataclass(frozen=True)
class _Span:
    """Whole lines of a note, from `first` on."""

    rank: int
    hit: Hit
    first: int
    lines: tuple[str, ...]

    @classmethod
    def of(cls, rank: int, hit: Hit) -> "_Span":
        return cls(rank, hit, hit.lines[0], tuple(hit.text.split("\n")))

    @property
    def last(self) -> int:
        return self.hit.lines[1]

    @property
    def is_whole(self) -> bool:
        """Whether the text has exactly the lines that it is said to have."""
        return len(self.lines) == self.last - self.first + 1

    def touches(self, below: "_Span") -> bool:
        same_note = (self.hit.path, self.hit.version) == (below.hit.path, below.hit.version)
        return same_note and self.is_whole and below.is_whole and below.first <= self.last + 1

    def joined(self, below: "_Span") -> "_Span":
        better = min(self, below, key=lambda span: span.rank)
        shared = self.last - below.first + 1
        above, both = list(self.lines), []
        if shared > 0:
            above, both = above[:-shared], above[-shared:]
        common = [_line(a, b) for a, b in zip(both, below.lines, strict=False)]
        lines = (*above, *common, *both[len(common) :], *below.lines[len(both) :])
        last = max(self.last, below.last)
        hit = replace(better.hit, lines=(self.first, last), text="\n".join(lines))
        return _Span(better.rank, hit, self.first, lines)


def _line(above: str, below: str) -> str:
    """One line that both passages have, of which either may hold only a part."""
    if below in above:
        return above
    return below if above in below else above + below


def _merged(spans: Iterable[_Span]) -> list[_Span]:
    merged: list[_Span] = []
    for span in sorted(spans, key=lambda span: (span.hit.path, span.first, span.last)):
        if merged and merged[-1].touches(span):
            merged[-1] = merged[-1].joined(span)
        else:
            merged.append(span)
    return merged


def _segment(span: _Span, number: int) -> Segment:
    hit = span.hit
    place = f"{hit.path}\n{hit.lines[0]}-{hit.lines[1]}\n{hit.version}\n{hit.text}"
    return Segment.build(
        id=hashlib.sha256(place.encode("utf-8", "surrogatepass")).hexdigest()[:12],
        layer=Layer.L3,
        kind="passage",
        source=hit.path,
        text=hit.text,
        lines=hit.lines,
        version=hit.version,
        title=hit.title,
        heading=hit.heading,
        number=number,
    )
