"""Find notes of whose front matter something is lost, so that their tags are not found."""

from collections.abc import Iterator, Sequence
from typing import Final

from vault.review.findings import Check, Finding, FindingNote, shorten_quote
from vault.review.texts import NoteInfo, NoteLine

__all__ = ["FrontMatterRule"]

_SCORE: Final = 1.0  # all are equally certain
_FENCE: Final = "---"
_SHOWN_LINES: Final = 3


class FrontMatterRule:
    """Collects the notes with a fault in their front matter."""

    def __init__(self) -> None:
        self._found: list[Finding] = []

    def add(self, note: NoteInfo, lines: Sequence[NoteLine]) -> None:
        """Check a note.

        Args:
            lines: the lines of the note that are not code.
        """
        if not note.fault:
            return
        front = [line for line in lines if line.kind == "front"] or lines[:_SHOWN_LINES]
        quote = " ".join(line.raw for line in front if line.raw.strip() != _FENCE)
        last = front[-1].number if front else 1
        place = FindingNote(note.path, note.title, 1, last, shorten_quote(quote))
        detail = "\0".join(line.raw for line in front)
        self._found.append(Finding("front_matter", (place,), note.fault, detail, _SCORE))

    def find(self, check: Check) -> Iterator[Finding]:
        """Yield a finding for each note.

        Args:
            check: called between steps. It may raise an exception to stop.
        """
        for finding in self._found:
            check()
            yield finding
