"""Find notes with a fault of their own: conflicts of Git, and front matter that is lost."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from vault.notes.text.document import Conflict, find_conflicts
from vault.notes.text.lines import FRONT_MARK
from vault.review.findings import Check, Finding, FindingNote, shorten_quote
from vault.review.texts import NoteInfo, NoteLine

__all__ = ["ConflictRule", "FrontMatterRule"]

_CONFLICT_REASON: Final = (
    "Git has left two versions of the same lines in this note{names}. Keep one of them, and delete "
    "the lines with <<<<<<<, ======= and >>>>>>>."
)
_LAST_MARK: Final = ">>>>>>> "
_FAULT_SCORE: Final = 1.0  # all are equally certain
_SHOWN_LINES: Final = 3


class ConflictRule:
    """Collects the notes in which Git has left both versions of lines that it could not merge."""

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
            numbered = list(_add_last_marks(numbered))
            conflict = next(find_conflicts(numbered), None)
        if conflict is None:
            return
        ours = _build_side(note, lines, conflict.opens, conflict.base)
        theirs = _build_side(note, lines, conflict.divides, conflict.closes)
        detail = "\0".join(_list_sides(lines, conflict))
        reason = _CONFLICT_REASON.format(names=_name_sides(dict(numbered), conflict))
        self._found.append(Finding("git_conflict", (ours, theirs), reason, detail, _FAULT_SCORE))

    def find(self, check: Check) -> Iterator[Finding]:
        """Yield a finding for the first conflict of each note.

        Args:
            check: called between steps. It may raise an exception to stop.
        """
        for finding in self._found:
            check()
            yield finding


def _add_last_marks(lines: Sequence[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield lines with the mark of a conflict's end above each gap.

    The index lacks this mark where a passage ends with it.

    Args:
        lines: numbered lines, without blank ones.
    """
    numbers = {number for number, _ in lines}
    for number, line in lines:
        yield number, line
        if number + 1 not in numbers:
            yield number + 1, _LAST_MARK


def _name_sides(lines: Mapping[int, str], conflict: Conflict) -> str:
    """Return the names that Git gave the two versions, such as `HEAD` and a branch."""
    names = [lines[number][7:].strip() for number in (conflict.opens, conflict.closes)]
    return f", from “{names[0]}” and “{names[1]}”" if all(names) else ""


def _list_sides(lines: Sequence[NoteLine], conflict: Conflict) -> list[str]:
    return [line.raw for line in lines if conflict.opens <= line.number <= conflict.closes]


def _build_side(note: NoteInfo, lines: Sequence[NoteLine], above: int, below: int) -> FindingNote:
    """Build one of the two versions, which stands between the lines with two marks."""
    inside = [line for line in lines if above < line.number < below]
    first = inside[0].number if inside else above
    last = inside[-1].number if inside else above
    quote = shorten_quote(" ".join(line.text for line in inside))
    return FindingNote(note.path, note.title, first, last, quote)


class FrontMatterRule:
    """Collects the notes of whose front matter something is lost.

    Args:
        faults: the reasons, keyed by path.
    """

    def __init__(self, faults: Mapping[str, str]) -> None:
        self._faults = faults
        self._found: list[Finding] = []

    def add(self, note: NoteInfo, lines: Sequence[NoteLine]) -> None:
        """Check a note.

        Args:
            lines: the lines of the note that are not code.
        """
        fault = self._faults.get(note.path)
        if fault is None:
            return
        front = [line for line in lines if line.kind == "front"] or lines[:_SHOWN_LINES]
        quote = " ".join(line.raw for line in front if line.raw.strip() != FRONT_MARK)
        last = front[-1].number if front else 1
        place = FindingNote(note.path, note.title, 1, last, shorten_quote(quote))
        detail = "\0".join(line.raw for line in front)
        self._found.append(Finding("front_matter", (place,), fault, detail, _FAULT_SCORE))

    def find(self, check: Check) -> Iterator[Finding]:
        """Yield a finding for each note.

        Args:
            check: called between steps. It may raise an exception to stop.
        """
        for finding in self._found:
            check()
            yield finding
