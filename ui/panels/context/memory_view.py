"""The chat's memory in the context panel. It is shown as lines, and edited in fields."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from ui.panels.context.sections import SIDE, MemoryText, list_memory_lines
from ui.theme import dress
from ui.widgets.buttons import ButtonText, make_button
from ui.widgets.controls import label
from ui.widgets.dialogs import CtrlEnter
from ui.widgets.geometry import scale_size
from ui.widgets.layouts import make_column, make_row, stretch

if TYPE_CHECKING:
    from context.history.memory import Memory

__all__ = ["MemoryView"]

_EMPTY: Final = [("tertiary", "Nothing is noted yet.")]
_TEXTS: Final = (
    ("pending_steps", "Steps to do, one a line"),
    ("completed_steps", "Steps done, one a line"),
    ("facts", "Facts, one a line"),
    ("scratchpad", "Scratchpad"),
)
_FIELD_HEIGHT: Final = 64


class MemoryView(QWidget):
    """The chat's memory, shown as lines. A button opens fields in which the user edits it.

    The signal `saved` is emitted with the edited memory, a `Memory`.

    Attributes:
        edit: the button that opens the fields. It is hidden while the memory cannot be edited.
        fields: the fields, or None while they are closed.
    """

    saved = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._current: Memory | None = None
        self._text = MemoryText()
        self.edit = make_button(
            ButtonText("Edit the memory", "Change what the model keeps in mind in this chat"),
            "link",
            self._open,
        )
        self.fields: _MemoryFields | None = None
        row = make_row(self.edit, stretch(), margins=(SIDE, 0, SIDE, 0))
        self._column = make_column(self._text, row, margins=0, spacing=4, parent=self)

    def show_memory(self, memory: "Memory | None", current: "Memory | None") -> bool:
        """Show the memory in a request. Return False if the view is empty and should be hidden.

        Args:
            memory: the memory in the request, or None if it contains no memory.
            current: the chat's current memory, for editing, or None if it cannot be edited.
        """
        lines = list_memory_lines(memory)
        self._current = current
        self._text.show_lines(lines or _EMPTY)
        self.edit.setVisible(current is not None and self.fields is None)
        return bool(lines) or current is not None or self.fields is not None

    def close_fields(self) -> None:
        """Close the fields without saving, and show the memory as lines again."""
        focused, was_used = QApplication.focusWidget(), False
        if self.fields is not None:
            was_used = focused is not None and self.fields.isAncestorOf(focused)
            self._column.removeWidget(self.fields)
            self.fields.hide()
            self.fields.deleteLater()
            self.fields = None
        self._text.show()
        self.edit.setVisible(self._current is not None)
        if was_used:
            self.edit.setFocus()

    def _open(self) -> None:
        if self._current is None:
            return
        self.fields = _MemoryFields(self._current)
        self.fields.saved.connect(self.saved)
        self.fields.discarded.connect(self.close_fields)
        self._text.hide()
        self.edit.hide()
        self._column.addWidget(self.fields)
        self.fields.objective.setFocus()


class _MemoryFields(QWidget):
    """The fields for editing the chat's memory, with buttons to save or discard the changes.

    Esc closes the fields if nothing has been changed.
    """

    saved = Signal(object)
    discarded = Signal()

    def __init__(self, memory: "Memory") -> None:
        super().__init__()
        progress = memory.progress
        self.objective = QLineEdit(progress.current_objective)
        self.objective.setAccessibleName("Objective")
        dress(self.objective, "ui", "")
        shown = {
            "pending_steps": progress.pending_steps,
            "completed_steps": progress.completed_steps,
            "facts": memory.facts,
            "scratchpad": memory.scratchpad,
        }
        self.texts = {name: _make_field(words, shown[name]) for name, words in _TEXTS}
        column = make_column(
            label("Objective", "caption", "secondary"),
            self.objective,
            margins=(SIDE, 0, SIDE, 0),
            spacing=4,
            parent=self,
        )
        for name, words in _TEXTS:
            column.addWidget(label(words, "caption", "secondary"))
            column.addWidget(self.texts[name])
        save = make_button(
            ButtonText("Save the memory", "Send it with the next message"), "", self._save
        )
        buttons = make_row(
            stretch(),
            make_button(
                ButtonText("Discard changes", "Go back to the text that was saved"),
                "text",
                self.discarded.emit,
            ),
            save,
        )
        CtrlEnter(self, save)
        column.addLayout(buttons)
        self._before = self._read()

    def event(self, event: QEvent) -> bool:
        """Close the fields with Esc, unless something has been changed."""
        is_escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if not is_escape or self._read() != self._before:
            return super().event(event)
        if event.type() == QEvent.Type.KeyPress:
            self.discarded.emit()
        event.accept()
        return True

    def _save(self) -> None:
        self.saved.emit(self._read())

    def _read(self) -> "Memory":
        from context.history.memory import Memory, Progress  # late: it delays the first paint

        texts = {name: field.toPlainText() for name, field in self.texts.items()}
        progress = Progress(
            " ".join(self.objective.text().split()),
            _read_lines(texts["completed_steps"]),
            _read_lines(texts["pending_steps"]),
        )
        return Memory(texts["scratchpad"], progress, _read_lines(texts["facts"]))


def _make_field(words: str, value: str | Sequence[str]) -> QPlainTextEdit:
    field = QPlainTextEdit(value if isinstance(value, str) else "\n".join(value))
    field.setAccessibleName(words)
    field.setTabChangesFocus(True)
    field.setProperty("field", True)
    dress(field, "ui", "")
    scale_size(field, 0, _FIELD_HEIGHT)
    return field


def _read_lines(text: str) -> tuple[str, ...]:
    return tuple(" ".join(line.split()) for line in text.split("\n") if line.strip())
