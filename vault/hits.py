"""What a search gives back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SIGNALS = ("dense", "words", "title", "links", "tags", "dates", "rerank")


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that answers a query, with its exact place and why it was found.

    Attributes:
        id: stays the same while the passage does, wherever else the note changes.
        lines: first and last line in the file as it is, from 1, inclusive.
        signals: score by signal (dense, words, title, links, tags, dates, rerank); None where
            a signal was not used.
        version: SHA-256 of the note's bytes that these lines are of.
    """

    id: str
    path: str
    title: str
    heading: tuple[str, ...]
    lines: tuple[int, int]
    text: str
    score: float
    signals: Mapping[str, float | None]
    version: str

    def to_dict(self) -> dict[str, Any]:
        """Give the hit as `strata search --json` prints it."""
        return {
            "id": self.id,
            "path": self.path,
            "title": self.title,
            "heading": list(self.heading),
            "lines": list(self.lines),
            "text": self.text,
            "score": self.score,
            "signals": dict(self.signals),
        }


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits of one query, best first.

    Attributes:
        filters: what the query asked for beside its words, each with its values.
        warnings: what could not be used, in words; every hit's signal for it is None then.
    """

    query: str
    hits: tuple[Hit, ...]
    seconds: float
    filters: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Give the result as `strata search --json` prints it."""
        return {
            "query": self.query,
            "filters": dict(self.filters),
            "hits": [hit.to_dict() for hit in self.hits],
            "seconds": round(self.seconds, 4),
        }
