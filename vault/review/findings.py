"""The findings of a review. A finding consists of some notes and a reason to look at them."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal, get_args

__all__ = [
    "FIXED_KINDS",
    "KINDS",
    "MOST_FINDINGS",
    "Check",
    "Finding",
    "FindingFilter",
    "FindingKind",
    "FindingNote",
    "choose_findings",
    "limit_findings",
]

# In the order in which they are shown.
FindingKind = Literal[
    "git_conflict",
    "contradiction",
    "front_matter",
    "broken_link",
    "broken_embed",
    "conflict_copy",
    "duplicate",
    "same_title",
    "overdue",
    "outdated",
    "draft",
    "orphan",
]
KINDS: Final[tuple[FindingKind, ...]] = get_args(FindingKind)

# The kinds for which a change to the notes can be planned. For others, a person has to decide.
FIXED_KINDS: Final[frozenset[FindingKind]] = frozenset(
    {
        "broken_embed",
        "broken_link",
        "conflict_copy",
        "contradiction",
        "duplicate",
        "git_conflict",
    }
)

# Called between steps. It may pause, and raises an exception to end the review.
Check = Callable[[], None]

MOST_FINDINGS: Final = 500  # of one kind that are shown
_MOST_PER_NOTE: Final = 4
_QUOTE_CHARS: Final = 240
# Of these, a note that is like many others would have as many.
_OF_PAIRS: Final = frozenset({"contradiction", "duplicate", "outdated"})


@dataclass(frozen=True, slots=True)
class FindingNote:
    """A note of a finding, and the lines in it to look at.

    Attributes:
        first: the first line to look at, or 0 for the whole note.
        last: the last line to look at.
        quote: the shortened text of these lines without markup, or an empty string for the whole
            note.
        value: the figure or day in the quote that another note contradicts, or an empty string.
    """

    path: str
    title: str
    first: int = 0
    last: int = 0
    quote: str = ""
    value: str = ""

    json_shape = (
        "path",
        "title",
        "lines",
        "quote",
        "value",
    )

    @property
    def lines(self) -> tuple[int, int] | None:
        """The first and the last line to look at, or None for the whole note."""
        return (self.first, self.last) if self.first else None

    @property
    def name(self) -> str:
        """The title of the note, or the name of its file if it has no title."""
        return self.title.strip() or self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Finding:
    """Notes that the user may want to look at together, or one with a fault.

    Attributes:
        kind: what was found.
        notes: one or two notes, or up to six of one title. If one of two is outdated, it is the
            first. So is the copy of another.
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

    json_shape = (
        "key",
        "kind",
        "reason",
        "notes",
    )

    @property
    def key(self) -> str:
        """A string that identifies the finding. It stays the same in later reviews."""
        paths = sorted(note.path for note in self.notes)
        whole = "\0".join((self.kind, *paths, self.detail))
        return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class FindingFilter:
    """What limits the findings of a review that are shown.

    Attributes:
        kinds: the kinds to show. If there are none, all are shown.
        folder: the path in the vault of the folder that all notes of a finding have to be in, or an
            empty string for the whole vault.
    """

    kinds: frozenset[FindingKind] = frozenset()
    folder: str = ""

    def fits(self, finding: Finding) -> bool:
        """Return whether a finding is shown."""
        return (not self.kinds or finding.kind in self.kinds) and all(
            self.covers(note.path) for note in finding.notes
        )

    def covers(self, path: str) -> bool:
        """Return whether a note is in the folder."""
        folder = self.folder.strip("/")
        return not folder or path.startswith(f"{folder}/")


def choose_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the best findings in order: by kind, and of a kind by their scores.

    If several notes are nearly the same, only as many pairs are returned as are needed to connect
    them. A note is only in a few pairs of a kind. Of one title are no notes that are copies anyway.
    """
    ordered = sorted(
        findings,
        key=lambda one: (KINDS.index(one.kind), -one.score, [note.path for note in one.notes]),
    )
    seen: Counter[tuple[str, str]] = Counter()
    groups: dict[str, set[str]] = {}
    chosen = []
    for finding in ordered:
        paths = {note.path for note in finding.notes}
        places = [(finding.kind, path) for path in paths]
        if finding.kind in ("duplicate", "same_title") and any(
            paths <= groups.get(path, set()) for path in paths
        ):
            continue
        if finding.kind in _OF_PAIRS and any(seen[place] >= _MOST_PER_NOTE for place in places):
            continue
        chosen.append(finding)
        seen.update(places)
        if finding.kind in ("conflict_copy", "duplicate"):
            group = paths.union(*(groups.get(path, ()) for path in paths))
            groups.update(dict.fromkeys(group, group))
    return tuple(chosen)


def limit_findings(
    findings: Iterable[Finding], most: int = MOST_FINDINGS
) -> tuple[tuple[Finding, ...], dict[str, int]]:
    """Return the first findings of each kind, and how many of each kind there are in all."""
    totals: Counter[str] = Counter()
    shown = []
    for finding in findings:
        totals[finding.kind] += 1
        if totals[finding.kind] <= most:
            shown.append(finding)
    return tuple(shown), dict(totals)


def shorten_quote(text: str) -> str:
    """Join a text into one line, and shorten it to a limited length."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _QUOTE_CHARS else f"{flat[: _QUOTE_CHARS - 1].rstrip()}…"
