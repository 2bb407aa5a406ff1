"""The hits of a search: passages with their scores and signals."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vault.search.passages import Passage

SIGNALS = ("dense", "words", "title", "links", "tags", "dates", "rerank")


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that matches a query, with its lines and the signals that found it.

    Attributes:
        id: identifies the passage by the note's path, its first line and its text.
        lines: the first and last line in the current file, counted from 1.
        signals: the score for each signal (dense, words, title, links, tags, dates, rerank). Those
            of `vault.search.boosts` are from 0 to 1. None if a signal was not used.
        version: the SHA-256 of the note's bytes to which the lines refer.
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
        """Return the hit as `strata search --json` prints it."""
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
        seconds: the time that the search took, in seconds.
        filters: the query's filters, each with its values.
        warnings: sentences about parts of the search that failed. The signals of these are None.
        total: the number of matching notes in a listing, or None in a search.
        next: the offset of the next page of a listing; None on the last page and in a search.
        support: a measure of how well quoted hits support an answer, as in `vault.quotes.sections`,
            or None if it was not measured.
    """

    query: str
    hits: tuple[Hit, ...]
    seconds: float
    filters: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    total: int | None = None
    next: int | None = None
    support: float | None = None

    def explain_no_hits(self) -> str:
        """Return a sentence that says why nothing was found: the filters or the words."""
        filters = [
            f"{name}:{value}"
            for name, values in self.filters.items()
            for value in (values if isinstance(values, list) else [values])
        ]
        if not filters or "phrase" in self.filters:
            return f'Nothing found for "{self.query}". Try fewer words.'
        noun = "filter" if len(filters) == 1 else "filters"
        return f"No note matches the {noun} {' '.join(filters)}."

    def to_dict(self) -> dict[str, Any]:
        """Return the result as `strata search --json` prints it."""
        pages = {} if self.total is None else {"total": self.total, "next": self.next}
        return {
            "query": self.query,
            "filters": dict(self.filters),
            "hits": [hit.to_dict() for hit in self.hits],
            **pages,
            "seconds": round(self.seconds, 4),
            **({"warnings": list(self.warnings)} if self.warnings else {}),
        }


def build_hit(passage: Passage, score: float, signals: Mapping[str, float | None]) -> Hit:
    """Build a hit from a passage. Signals that are not given count as not used."""
    used = {name: round(value, 4) for name, value in signals.items() if value is not None}
    return Hit(
        id=compute_hit_id(passage.path, passage.lines[0], passage.text_hash),
        path=passage.path,
        title=passage.title,
        heading=passage.heading,
        lines=passage.lines,
        text=passage.text,
        score=round(score, 4),
        signals={name: used.get(name) for name in SIGNALS},
        version=passage.version,
    )


def compute_hit_id(path: str, first_line: int, text_hash: bytes) -> str:
    """Compute a hit's id from its path, its first line and the hash of its text."""
    name = f"{path}\0{first_line}\0".encode()
    return hashlib.sha256(name + text_hash).hexdigest()[:16]
