"""The history of the notes and images that were opened, for going back and forward.

As in a browser, opening a note discards the visits after the current one.
"""

from dataclasses import dataclass, replace
from typing import Final

__all__ = ["NoteVisit", "VisitHistory"]

_MOST_VISITS: Final = 100


@dataclass(frozen=True)
class NoteVisit:
    """A visited note or image, and the user's position in it.

    Attributes:
        path: the path of the note or image.
        first: the first line to highlight, or 0 to highlight no lines.
        last: the last line to highlight.
        heading: the heading or `^block` to open instead of lines.
        top: the line at the top of the viewport when the user left the note, or 0 to scroll to the
            highlighted lines instead.
    """

    path: str
    first: int = 0
    last: int = 0
    heading: str = ""
    top: int = 0

    @property
    def name(self) -> str:
        """The name of the file, without its folder."""
        return self.path.rpartition("/")[2]


class VisitHistory:
    """The history of the last 100 visited notes and images, like a browser's history."""

    def __init__(self) -> None:
        self._visits: list[NoteVisit] = []
        self._at = -1

    @property
    def current(self) -> NoteVisit | None:
        """The visit of the open note or image, or None if nothing has been opened."""
        return self._visits[self._at] if self._visits else None

    @property
    def can_go_back(self) -> bool:
        """Whether there is a visit before the current one."""
        return self.find(-1) is not None

    @property
    def can_go_forward(self) -> bool:
        """Whether there is a visit after the current one."""
        return self.find(1) is not None

    def add(self, visit: NoteVisit) -> None:
        """Add a visit after the current one, and discard the forward history."""
        self._visits = [*self._visits[: self._at + 1], visit][-_MOST_VISITS:]
        self._at = len(self._visits) - 1

    def find(self, step: int) -> NoteVisit | None:
        """Return the visit `step` entries after the current one, or None if there is none.

        A negative `step` counts backwards.
        """
        at = self._at + step
        return self._visits[at] if 0 <= at < len(self._visits) else None

    def go(self, step: int) -> None:
        """Move forward in the history, or back if `step` is negative."""
        self._at += step

    def leave(self, top: int) -> None:
        """Remember the line at the top of the viewport for the current visit."""
        if self._visits:
            self._visits[self._at] = replace(self._visits[self._at], top=top)

    def clear(self) -> None:
        """Forget all visits, because another vault has been opened."""
        self._visits, self._at = [], -1
