"""A card that lists the notes an agent changed, with a button to undo the changes."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from chains.events import EditedNote, RunEdits
from ui.theme import Theme, dress
from ui.widgets.buttons import UNDO, ButtonText, make_button
from ui.widgets.controls import (
    ElidedLabel,
    IconLabel,
    escape_tooltip,
    make_wrapped_label,
    one_line,
)
from ui.widgets.diff import DiffView
from ui.widgets.formatting import plural
from ui.widgets.geometry import OUTDENT, keep_place
from ui.widgets.layouts import grow, make_column, make_row
from ui.widgets.surfaces import AccessibleFrame
from ui.widgets.texts import from_left

__all__ = ["EditsCard", "summarise_edits"]

_UNDO_ALL = ButtonText("Undo all", "Take back the changes to all of these notes")
_SHOW = ButtonText("Show the changes", "Show the changed lines of each note")
_HIDE = ButtonText("Hide the changes", "Fold the changed lines away again")


class EditsCard(AccessibleFrame):
    """A card that shows which notes an agent changed in one turn, and can undo the changes.

    Signals:
        undo_requested: the user wants to undo the changes of the agent run with this ID.
        note_requested: the user wants to read the changed note with this path.

    Args:
        edits: the changed notes, and the ID of the agent run.

    Attributes:
        run: the ID of the agent run.
        undo: the button that undoes all of the run's changes.
        more: the button that shows and hides the changes.
        changes: the widget with the changes to each note, or None until it is first shown.
    """

    undo_requested = Signal(str)
    note_requested = Signal(str)

    def __init__(self, edits: RunEdits, parent: QWidget | None = None) -> None:
        super().__init__(QAccessible.Role.Note, parent)
        self.run = edits.run
        self._notes: Sequence[EditedNote] = edits.notes
        summary = summarise_edits(self._notes)
        self._text = ElidedLabel(summary, is_ours=True)
        dress(self._text, "ui", "primary")
        self._state = make_wrapped_label("", "caption", "secondary")
        self.undo = make_button(_UNDO_ALL if len(self._notes) > 1 else UNDO, "", self._on_undo)
        self.more = make_button(_SHOW, "link", self._on_more)
        self._openers: list[QPushButton] = []
        self.changes: QWidget | None = None
        self.setAccessibleName(summary)
        self._lay_out()
        self._state.hide()

    @property
    def text(self) -> str:
        """A sentence that names the changed notes."""
        return self._text.whole

    @property
    def state(self) -> str:
        """The result of the undo: a sentence, or an empty string before an undo."""
        return self._state.text()

    def show_undone(self) -> None:
        """Show that all changes to the notes have been undone."""
        self._text.set_text(_summarise_undo(self._notes))
        self._say(f"Undone. {_describe_state(self._notes)}", "secondary")
        for made in (self.undo, *self._openers):  # a note may be gone, or have its old name
            made.hide()

    def show_failure(self, reason: str) -> None:
        """Show why the changes to the notes could not be undone."""
        self._say(f"Nothing was undone: {one_line(reason)}", "danger")
        self.undo.setEnabled(True)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the border of the card that lists the changed notes."""
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme.color("line.hairline"))
        edge = self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(edge, theme.radius("lg"), theme.radius("lg"))

    def _say(self, text: str, tone: str) -> None:
        dress(self._state, "caption", tone)
        self._state.setText(from_left(text))
        self._state.show()
        self.setAccessibleName(f"{self.text}. {text}")

    def _on_undo(self) -> None:
        self.undo.setEnabled(False)
        self.undo_requested.emit(self.run)

    def _on_more(self) -> None:
        keep_place(self)
        if self.changes is None:
            self.changes = self._list_changes()
            self._column.addWidget(self.changes)
            is_shown = True
        else:
            is_shown = self.changes.isHidden()
            self.changes.setVisible(is_shown)
        self.more.set_text(_HIDE if is_shown else _SHOW)

    def _lay_out(self) -> None:
        head = make_row(IconLabel("note-pencil", "text.secondary"), grow(self._text), spacing=8)
        if len(self._notes) == 1:
            head.addWidget(self._build_opener(self._notes[0]))
        head.addWidget(self.more)
        head.addWidget(self.undo)
        self._column = make_column(
            head, self._state, margins=(OUTDENT, 8, 8, 8), spacing=6, parent=self
        )

    def _build_opener(self, note: EditedNote) -> QPushButton:
        path = note.path
        text = ButtonText("Open the note", escape_tooltip(f"Read {one_line(path)}"))
        made = make_button(text, "link", lambda: self.note_requested.emit(path))
        made.setAccessibleName(f"Open {one_line(path)}")
        self._openers.append(made)
        return made

    def _list_changes(self) -> QWidget:
        """Build the list of diffs. A single note is named by the card itself."""
        made = QWidget()
        column = make_column(margins=(0, 2, 8, 4), spacing=6, parent=made)
        for note in self._notes:
            if len(self._notes) > 1:
                column.addLayout(self._build_title(note))
            if "@@" in note.diff:
                column.addWidget(DiffView(note.diff, f"The change of {one_line(note.path)}"))
        return made

    def _build_title(self, note: EditedNote) -> QHBoxLayout:
        text = f"{one_line(note.path)} {_name_change(note)}"
        title = ElidedLabel(text, Qt.TextElideMode.ElideMiddle, is_ours=True)
        dress(title, "caption", "secondary")
        return make_row(grow(title), self._build_opener(note))


def summarise_edits(notes: Sequence[EditedNote]) -> str:
    """Describe which notes changed, such as `Beans.md changed` or `3 notes changed`."""
    if len(notes) == 1:
        return f"{one_line(notes[0].path)} {_name_change(notes[0])}"
    return f"{plural(len(notes), 'note')} changed"


def _summarise_undo(notes: Sequence[EditedNote]) -> str:
    """Describe which notes were restored, such as `2 notes changed back`."""
    if len(notes) != 1:
        return f"{plural(len(notes), 'note')} changed back"
    (note,) = notes
    path, old = one_line(note.path), note.old_path
    if note.is_new:
        return f"{path} removed again"
    return f"{path} moved back to {one_line(old)}" if old else f"{path} changed back"


def _describe_state(notes: Sequence[EditedNote]) -> str:
    """Describe the state of notes after their changes were undone."""
    new = [note for note in notes if note.is_new]
    if len(new) == len(notes):
        return "The new note is gone." if len(new) == 1 else "The new notes are gone."
    them = {1: "The note is", 2: "Both notes are"}.get(len(notes), "The notes are")
    return f"{them} as before{', and the new ones are gone' if new else ''}."


def _name_change(note: EditedNote) -> str:
    if note.is_new:
        return "created"
    old = note.old_path
    return f"moved from {one_line(old)}" if old else "changed"
