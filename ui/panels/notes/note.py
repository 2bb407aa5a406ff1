"""The panel that shows one note, opened at the cited lines."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from context.layers import name_lines
from ui.panels.notes.note_text import NoteText
from ui.theme import dress
from ui.widgets.controls import ElidedLabel, IconButton, label, make_wrapped_label
from ui.widgets.figures import count, place
from ui.widgets.surfaces import Header, Notice, Pane

if TYPE_CHECKING:
    from vault.notes.note import Note

__all__ = ["NotePanel"]

_MOST_LINES = 4_000
_MOST_CHARS = 400_000


class NotePanel(Pane):
    """The note panel: the text of a note, and a header `head` that the dock shows on top.

    The header's buttons emit `closed`, `related_requested` and `attach_requested`. The latter
    carries the path and the selected lines, which are 0 for the whole note.
    """

    closed = Signal()
    attach_requested = Signal(str, int, int)
    related_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("panel", parent)
        self.path = ""
        self._note: Note | None = None
        self._title = ElidedLabel("Note")
        self._place = ElidedLabel("", Qt.TextElideMode.ElideMiddle)
        dress(self._title, "ui_strong")
        dress(self._place, "caption", "secondary")
        self._cut = make_wrapped_label("", "caption", "secondary")
        self._cut.setContentsMargins(16, 6, 16, 6)
        self._notice = Notice("danger")
        self.text = NoteText()
        self.attach = IconButton("paperclip", "Attach this note")
        self.attach.clicked.connect(lambda _checked=False: self.attach_selection())
        self.related = IconButton("share-network", "Show related notes", "Ctrl+Shift+E")
        self.related.clicked.connect(self.related_requested)
        self.text.selectionChanged.connect(self._on_selected)
        self._empty = label("Click a note or a source to read it here.", "ui", "tertiary")
        self._empty.setContentsMargins(16, 12, 16, 8)
        self._lay_out()
        self.clear()

    def show_note(self, note: "Note", first: int = 0, last: int = 0) -> None:
        """Show a note.

        Args:
            note: the note as just read from disk.
            first: the first line to mark and to scroll to; 0 marks no lines.
            last: the last line to mark.
        """
        self.path, self._note = note.path, note
        self._title.set_text(note.title)
        self._place.set_text(place(note.path, (first, max(first, last)) if first else None))
        start, shown, total = _cut_out(note.text, first)
        self.text.show_text(shown, start, first, last)
        end = start + shown.count("\n")
        self._cut.setText(_shown_lines(start, end, total))
        self._cut.setVisible(start > 1 or end < total)
        self._set_visible(is_empty=False)
        self._notice.hide()

    def show_changed(self, note: "Note") -> None:
        """Show the changed note; the scroll position and, if possible, marked lines are kept."""
        if self._note is None or note.path != self.path:
            return
        self._notice.hide()
        if note.version != self._note.version:
            lines = self.text.find_marked_lines()
            lines = _find_again(self._note.text, note.text, lines) if lines else None
            at = self.text.verticalScrollBar().value()
            self.show_note(note, *(lines or (0, 0)))
            self.text.stay_at(at)

    def show_lost(self, path: str) -> None:
        """Show that the note no longer exists; its text stays visible."""
        if path == self.path and self._note is not None:
            hint = "It was moved or deleted. This is how it was."
            self._notice.show_notice("amber", "This note is not there any more.", hint, ())

    def show_error(self, path: str, message: str, hint: str) -> None:
        """Show why a note cannot be shown."""
        self.path, self._note = path, None
        self._title.set_text(path.rpartition("/")[2])
        self._place.set_text(path)
        self._set_visible(is_empty=False)
        self.text.hide()
        self._cut.hide()
        self._notice.show_notice("danger", message, hint, ())

    def clear(self) -> None:
        """Close the note and show the panel's hint instead."""
        self.path, self._note = "", None
        self._title.set_text("Note")
        self.text.show_text("", 1, 0, 0)
        self._notice.hide()
        self._cut.hide()
        self._set_visible(is_empty=True)

    def _on_selected(self) -> None:
        lines = self.text.find_selected_lines()
        self.attach.set_name(f"Attach {name_lines(lines)}" if lines else "Attach this note")

    def attach_selection(self) -> None:
        """Request attaching the selected lines, or the whole note if nothing is selected."""
        if self.path:
            self.attach_requested.emit(self.path, *(self.text.find_selected_lines() or (0, 0)))

    def _set_visible(self, *, is_empty: bool) -> None:
        self.attach.setVisible(not is_empty)
        self.related.setVisible(not is_empty)
        self._empty.setVisible(is_empty)
        self._place.setVisible(not is_empty)
        self.text.setVisible(not is_empty)

    def _lay_out(self) -> None:
        self.head = Header("panel")
        texts = QVBoxLayout()
        texts.setSpacing(0)
        texts.setContentsMargins(0, 2, 0, 2)
        texts.addWidget(self._title)
        texts.addWidget(self._place)
        close = IconButton("x", "Close the note")
        close.clicked.connect(self.closed)
        self.head.row.addLayout(texts, 1)
        self.head.row.addWidget(self.related)
        self.head.row.addWidget(self.attach)
        self.head.row.addWidget(close)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for widget in (self._notice, self._empty, self._cut):
            column.addWidget(widget)
        column.addWidget(self.text, 1)
        column.addStretch(0)


def _find_again(before: str, now: str, lines: tuple[int, int]) -> tuple[int, int] | None:
    """Return the new numbers of the same lines; None if they are gone or not unique."""
    first, last = lines
    old, new = before.split("\n"), now.split("\n")
    wanted = old[first - 1 : last]
    if new[first - 1 : last] == wanted:
        return lines
    places = [at for at in range(len(new)) if new[at : at + len(wanted)] == wanted]
    return (places[0] + 1, places[0] + len(wanted)) if len(places) == 1 else None


def _shown_lines(start: int, end: int, total: int) -> str:
    """Return the sentence shown above a note that is only shown in part."""
    if start == end:
        return f"Line {count(start)} of {count(total)} is shown here."
    return f"Lines {count(start)} to {count(end)} of {count(total)} are shown here."


def _cut_out(text: str, line: int) -> tuple[int, str, int]:
    """Return the number of the first line to show, the text to show, and the total line count.

    If a note is too large, only a part around the given line is shown.
    """
    lines = text.removesuffix("\n").split("\n")
    if len(lines) <= _MOST_LINES and len(text) <= _MOST_CHARS:
        return 1, "\n".join(lines), len(lines)
    start = max(0, min(line - 1 - _MOST_LINES // 2, len(lines) - _MOST_LINES))
    shown: list[str] = []
    size = 0
    for piece in lines[start : start + _MOST_LINES]:
        size += len(piece)
        if size > _MOST_CHARS and shown:
            break
        shown.append(piece[:_MOST_CHARS])
    return start + 1, "\n".join(shown), len(lines)
