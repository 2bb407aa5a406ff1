"""Find notes in which Git has left both versions of lines that it could not merge."""

from collections.abc import Iterator, Sequence
from typing import Final

from vault.notes.text.conflicts import Conflict, find_conflicts
from vault.review.findings import Check, Finding, FindingNote, shorten_quote
from vault.review.texts import NoteInfo, NoteLine

__all__ = ["ConflictRule"]

_REASON: Final = (
    "Git has left two versions of the same lines in this note. Keep one of them, and delete the "
    "lines with <<<<<<<, ======= and >>>>>>>."
)
_SCORE: Final = 100.0  # before all contradictions, because these are certain


class ConflictRule:
    """Collects the notes with marks of conflicts."""

    def __init__(self) -> None:
        self._found: list[Finding] = []

    def add(self, note: NoteInfo, lines: Sequence[NoteLine]) -> None:
        """Check a note.

        Args:
            lines: the lines of the note that are not code.
        """
        numbered = [(line.number, line.raw) for line in lines]
        conflict = next(find_conflicts(numbered), None)
        if conflict is None:
            return
        ours = _build_side(note, lines, conflict.opens, conflict.base)
        theirs = _build_side(note, lines, conflict.divides, conflict.closes)
        detail = "\0".join(_list_sides(lines, conflict))
        self._found.append(Finding("contradiction", (ours, theirs), _REASON, detail, _SCORE))

    def find(self, check: Check) -> Iterator[Finding]:
        """Yield a finding for the first conflict of each note.

        Args:
            check: called between steps. It may raise an exception to stop.
        """
        for finding in self._found:
            check()
            yield finding


def _list_sides(lines: Sequence[NoteLine], conflict: Conflict) -> list[str]:
    return [line.raw for line in lines if conflict.opens <= line.number <= conflict.closes]


def _build_side(note: NoteInfo, lines: Sequence[NoteLine], above: int, below: int) -> FindingNote:
    """Build one of the two versions, which stands between the lines with two marks."""
    inside = [line for line in lines if above < line.number < below]
    first = inside[0].number if inside else above
    last = inside[-1].number if inside else above
    quote = shorten_quote(" ".join(line.text for line in inside))
    return FindingNote(note.path, note.title, first, last, quote)
