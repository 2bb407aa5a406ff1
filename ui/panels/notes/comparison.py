"""The dialog that shows two notes side by side, with the words lit in which they differ."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import (
    QKeySequence,
    QShortcut,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextLength,
    QTextTableFormat,
)
from PySide6.QtWidgets import QDialog, QTextEdit, QWidget

from ui.theme import Theme, dress
from ui.widgets.buttons import DONE, ButtonText, make_button
from ui.widgets.controls import ElidedLabel, label, make_wrapped_label
from ui.widgets.dialogs import fit_dialog
from ui.widgets.formatting import count, plural
from ui.widgets.layouts import grow, make_column, make_row, stretch
from ui.widgets.surfaces import Pane

if TYPE_CHECKING:
    from vault.review.comparison import ComparedLine, ComparedRow
    from vault.review.findings import Finding

__all__ = ["ComparisonDialog"]

_WIDTH: Final = 1_160
_MOST_ROWS: Final = 2_000
_NUMBER_SHARE: Final = 5  # of the width, in percent; both texts have the same width
_OPEN = ButtonText("Open", "Open this note beside the chat")
_NEXT = ButtonText("Next difference", "Scroll to the next line that differs (F7)")
_BEFORE = ButtonText("Previous difference", "Scroll to the line before that differs (Shift+F7)")
_FIX = ButtonText("Fix…", "Show how one of the notes could be changed")


class ComparisonDialog(QDialog):
    """A dialog with two notes side by side. Words that differ are lit and underlined.

    Signals:
        note_chosen: emitted when the user opens a note, with its path and the first and last line
            to show.
        fix_requested: emitted when the user wants to fix what was found.

    Attributes:
        text: the field with both notes, as rows of a table.
        differences: the rows that differ, counted from 0.
    """

    note_chosen = Signal(str, int, int)
    fix_requested = Signal()

    def __init__(
        self,
        finding: "Finding",
        rows: "Sequence[ComparedRow]",
        *,
        can_fix: bool,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._finding, self._all_rows = finding, len(rows)
        self._rows = rows[:_MOST_ROWS]
        self.differences = [at for at, row in enumerate(self._rows) if row.is_different]
        self._at = -1
        self.setWindowTitle("Compare two notes")
        self.text = QTextEdit()
        self.text.setReadOnly(True)
        self.text.setFrameShape(QTextEdit.Shape.NoFrame)
        self.text.setAccessibleName("The two notes, line by line")
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        dress(self.text, "code", "")
        self._place = label("", "caption", "secondary", numbers=True)
        self.next = make_button(_NEXT, "", lambda: self.step(1))
        self.before = make_button(_BEFORE, "", lambda: self.step(-1))
        for key, by in (("F7", 1), ("Shift+F7", -1)):
            shortcut = QShortcut(QKeySequence(key), self)
            shortcut.activated.connect(lambda by=by: self.step(by))
        self._lay_out(can_fix)
        Theme.current().changed.connect(self._write_again)
        fit_dialog(self, _WIDTH)
        self._write()
        self.step(1)
        self.text.setFocus()

    def step(self, by: int) -> None:
        """Scroll to the next or previous line that differs, and say which of them it is.

        Args:
            by: 1 for the next line, -1 for the previous one, or 0 for the same one.
        """
        number = len(self.differences)
        if not number:
            self._place.setText("The texts are the same.")
            return
        self._at = (max(0, self._at) if not by else self._at + by) % number
        self._place.setText(f"Difference {count(self._at + 1)} of {count(number)}")
        row = self.differences[self._at]
        cursor = self._table.cellAt(row, 1 if self._rows[row].first else 3).firstCursorPosition()
        self.text.setTextCursor(cursor)
        bar, spot = self.text.verticalScrollBar(), self.text.cursorRect(cursor)
        bar.setValue(bar.value() + spot.top() - self.text.viewport().height() // 3)

    def _write_again(self) -> None:
        """Write both notes in the colours of another theme, and stay at the same difference."""
        self._write()
        self.step(0)

    def _write(self) -> None:
        """Write both notes into a table, in the colours of the theme."""
        self.text.clear()
        cursor = self.text.textCursor()
        cursor.beginEditBlock()
        form = QTextTableFormat()
        form.setBorder(0)
        form.setCellSpacing(0)
        form.setCellPadding(3)
        number = QTextLength(QTextLength.Type.PercentageLength, _NUMBER_SHARE)
        text = QTextLength(QTextLength.Type.PercentageLength, 50 - _NUMBER_SHARE)
        form.setColumnWidthConstraints([number, text, number, text])
        form.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
        self._table = cursor.insertTable(max(1, len(self._rows)), 4, form)
        for at, row in enumerate(self._rows):
            if row.folded:
                self._write_folded(at, row.folded)
            for column, line in ((0, row.first), (2, row.second)):
                if line is not None:
                    self._write_line(at, column, line)
        cursor.endEditBlock()
        self.text.moveCursor(QTextCursor.MoveOperation.Start)

    def _write_folded(self, at: int, number: int) -> None:
        form = QTextCharFormat()
        form.setForeground(Theme.current().color("text.tertiary"))
        words = f"{plural(number, 'equal line')}"
        for column in (1, 3):
            self._table.cellAt(at, column).firstCursorPosition().insertText(words, form)

    def _write_line(self, at: int, column: int, line: "ComparedLine") -> None:
        theme = Theme.current()
        dim, plain, highlight = QTextCharFormat(), QTextCharFormat(), QTextCharFormat()
        dim.setForeground(theme.color("text.tertiary"))
        plain.setForeground(theme.color("text.primary"))
        highlight.setForeground(theme.color("diff.mark_text"))
        highlight.setBackground(theme.color("diff.mark_bg"))
        highlight.setFontUnderline(True)
        right = QTextBlockFormat()
        right.setAlignment(Qt.AlignmentFlag.AlignRight)
        cursor = self._table.cellAt(at, column).firstCursorPosition()
        cursor.setBlockFormat(right)
        cursor.insertText(str(line.number), dim)
        cursor = self._table.cellAt(at, column + 1).firstCursorPosition()
        for text, is_lit in line.parts:
            cursor.insertText(text, highlight if is_lit else plain)

    def _lay_out(self, can_fix: bool) -> None:
        reason = make_wrapped_label(self._finding.reason, "ui", "secondary")
        heads = [self._make_head(at) for at in (0, 1)]
        foot = make_row(self.before, self.next, self._place, stretch(), spacing=8)
        if can_fix:
            self.fix = make_button(_FIX, "", self._on_fix)
            foot.addWidget(self.fix)
        foot.addWidget(make_button(DONE, "primary", self.accept))
        parts = [label("Compare two notes", "h2"), reason]
        if self._all_rows > _MOST_ROWS:
            sentence = f"Of {count(self._all_rows)} lines, the first {count(_MOST_ROWS)} are shown."
            parts.append(label(sentence, "caption", "secondary"))
        ground = Pane("content")
        make_column(ground, margins=0, parent=self)
        both = make_row(*map(grow, heads), spacing=16)
        make_column(*parts, both, grow(self.text), foot, margins=24, spacing=12, parent=ground)

    def _make_head(self, at: int) -> QWidget:
        note = self._finding.notes[at]
        head, name = QWidget(), ElidedLabel(note.path)
        dress(name, "ui_strong", "")

        def open_note() -> None:
            self.accept()
            self.note_chosen.emit(note.path, note.first, note.last)

        button = make_button(_OPEN, "link", open_note)
        button.setAccessibleName(f"Open {note.path}")
        make_row(grow(name), button, margins=0, parent=head)
        return head

    def _on_fix(self) -> None:
        self.accept()
        self.fix_requested.emit()
