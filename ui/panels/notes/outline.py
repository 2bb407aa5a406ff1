"""A button that opens a menu of the open note's headings.

If a note has more than 400 headings, the menu lists those around the visible lines.
"""

from bisect import bisect_right
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu

from ui.widgets.buttons import IconButton
from ui.widgets.controls import one_line
from ui.widgets.formatting import count
from ui.widgets.menus import show_menu

if TYPE_CHECKING:
    from vault.notes.note import Heading, Note

__all__ = ["OutlineButton"]

_MOST_HEADINGS = 400  # an item takes 0.3 ms, so creating more would block the window


class OutlineButton(IconButton):
    """A button that opens a menu of the open note's headings.

    Signals:
        line_chosen: emitted with the line number of the heading that the user selects.
        headings_wanted: emitted instead of opening the menu, if the headings of a large note have
            not been read yet.
    """

    line_chosen = Signal(int)
    headings_wanted = Signal()

    def __init__(self) -> None:
        super().__init__("list-bullets", "Headings of this note", "note_outline")
        self._note: Note | None = None

    def set_note(self, note: "Note | None") -> None:
        """Set the note whose headings the menu lists, or None if no note is open."""
        self._note = note
        self.setEnabled(note is not None and bool(note.headings or not note.has_structure))

    def open(self, line: int, *, is_by_key: bool) -> None:
        """Open the menu of headings. The heading above the current line has a check mark.

        Args:
            line: the current line, which is the line at the top of the visible area.
            is_by_key: whether a shortcut opened the menu. If so, an item of the menu is selected.
        """
        note = self._note
        if note is not None and not note.has_structure:
            self.headings_wanted.emit()
        elif note is not None and note.headings:
            menu = self._build_menu(note.headings, line)
            below = self.mapToGlobal(self.rect().bottomLeft())
            show_menu(menu, below, self, is_by_key=is_by_key)

    def _build_menu(self, headings: "tuple[Heading, ...]", line: int) -> QMenu:
        """Create a menu of all headings, or of the 400 headings around a line."""
        menu = QMenu(self)
        current = max(0, bisect_right(headings, line, key=lambda heading: heading.line) - 1)
        start = max(0, min(current - _MOST_HEADINGS // 2, len(headings) - _MOST_HEADINGS))
        listed = headings[start : start + _MOST_HEADINGS]
        if len(listed) < len(headings):
            ends = f"{count(start + 1)} to {count(start + len(listed))}"
            menu.addAction(f"Headings {ends} of {count(len(headings))}").setEnabled(False)
            menu.addSeparator()
        least = min(heading.level for heading in listed)
        for heading in listed:
            indent = "    " * (heading.level - least)
            text = one_line(heading.text).replace("&", "&&")
            action = menu.addAction(f"{indent}{text}")
            action.triggered.connect(partial(self._choose, heading.line))
            if heading is headings[current]:
                action.setCheckable(True)
                action.setChecked(True)
        return menu

    def _choose(self, line: int, _is_checked: bool = False) -> None:
        self.line_chosen.emit(line)
