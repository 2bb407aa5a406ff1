"""The numbers by which the answer of one turn cites what was attached and what tools read."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace

from context.layers import Segment


class Sources:
    """Gives each source of a turn its number, once; safe to use from several threads."""

    def __init__(self, attached: Iterable[Segment] = ()) -> None:
        self._lock = threading.Lock()
        self._known = {s.id: s for s in attached if s.number is not None}
        self._told = set(self._known)
        self._last = max((s.number or 0 for s in self._known.values()), default=0)

    def numbered(self, segments: Sequence[Segment]) -> tuple[Segment, ...]:
        """Return the segments with their numbers; one that was seen before keeps its own."""
        with self._lock:
            return tuple(self._numbered(segment) for segment in segments)

    @property
    def all(self) -> tuple[Segment, ...]:
        """Everything that can be cited, by number."""
        with self._lock:
            return tuple(self._known.values())

    def take_new(self, found: str, stored: str) -> tuple[Segment, ...]:
        """Return what a result is the first to tell of, to be kept with it.

        Args:
            found: the result as the tool gave it.
            stored: the result as it is kept; of a source that a hook changed in it, no text is.
        """
        with self._lock:
            new = [
                segment
                for id, segment in self._known.items()
                if id not in self._told and segment.render() in found
            ]
            for segment in new:
                self._told.add(segment.id)
                if segment.render() not in stored:
                    self._known[segment.id] = replace(segment, content="")
            return tuple(self._known[segment.id] for segment in new)

    def _numbered(self, segment: Segment) -> Segment:
        known = self._known.get(segment.id)
        if known is None:
            self._last += 1
            known = self._known[segment.id] = replace(segment, number=self._last)
        return replace(segment, number=known.number)
