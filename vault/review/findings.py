"""The findings of a review. A finding consists of one or two notes and a reason to look at them."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["MOST_FINDINGS", "Check", "Finding", "FindingKind", "FindingNote", "choose_findings"]

FindingKind = Literal["contradiction", "front_matter", "duplicate", "outdated"]

# Called between steps. It may pause, and raises an exception to end the review.
Check = Callable[[], None]

MOST_FINDINGS: Final = 200
_MOST_PER_NOTE: Final = 4
_QUOTE_CHARS: Final = 240
_ORDER: Final = {"contradiction": 0, "front_matter": 1, "duplicate": 2, "outdated": 3}


@dataclass(frozen=True, slots=True)
class FindingNote:
    """A note of a finding, and the lines in it to look at.

    Attributes:
        first: the first line to look at, or 0 for the whole note.
        last: the last line to look at.
        quote: the shortened text of these lines without markup, or an empty string for the whole
            note.
    """

    path: str
    title: str
    first: int = 0
    last: int = 0
    quote: str = ""

    def to_dict(self) -> dict[str, object]:
        """Return the note with the lines to look at, as a JSON object."""
        lines = [self.first, self.last] if self.first else None
        return {"path": self.path, "title": self.title, "lines": lines, "quote": self.quote}

    @property
    def name(self) -> str:
        """The title of the note, or the name of its file if it has no title."""
        return self.title.strip() or self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Finding:
    """Two notes that the user may want to look at together, or one with a fault.

    Attributes:
        kind: the rule that found the notes.
        notes: one or two notes. If one of two is outdated, it comes first.
        reason: a sentence for the user.
        detail: identifies the content that led to the finding. A dismissed finding is shown again
            when this changes.
        score: how certain the finding is. Scores are only comparable for findings of the same kind.
    """

    kind: FindingKind
    notes: tuple[FindingNote, ...]
    reason: str
    detail: str
    score: float

    @property
    def key(self) -> str:
        """A string that identifies the finding. It stays the same in later reviews."""
        paths = sorted(note.path for note in self.notes)
        whole = "\0".join((self.kind, *paths, self.detail))
        return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:24]

    def to_dict(self) -> dict[str, object]:
        """Return the finding as a JSON object, with its key."""
        notes = [note.to_dict() for note in self.notes]
        return {"key": self.key, "kind": self.kind, "reason": self.reason, "notes": notes}


def choose_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the best findings in order, but only a few about each note.

    Contradictions come first, then faults, duplicates and outdated notes. If several notes are
    nearly the same, only as many pairs are returned as are needed to connect them.
    """
    ordered = sorted(
        findings,
        key=lambda one: (_ORDER[one.kind], -one.score, [note.path for note in one.notes]),
    )
    seen: Counter[tuple[str, str]] = Counter()
    groups: dict[str, set[str]] = {}
    chosen = []
    for finding in ordered:
        first, second = finding.notes[0].path, finding.notes[-1].path
        places = ((finding.kind, first), (finding.kind, second))
        if finding.kind == "duplicate" and second in groups.get(first, ()):
            continue
        if all(seen[place] < _MOST_PER_NOTE for place in places):
            chosen.append(finding)
            seen.update(places)
            if finding.kind == "duplicate":
                group = groups.get(first, {first}) | groups.get(second, {second})
                groups.update(dict.fromkeys(group, group))
    return tuple(chosen[:MOST_FINDINGS])


def shorten_quote(text: str) -> str:
    """Join a text into one line, and shorten it to a limited length."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _QUOTE_CHARS else f"{flat[: _QUOTE_CHARS - 1].rstrip()}…"
