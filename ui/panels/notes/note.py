"""A note as it lies on the disk, with line numbers, opened at the lines that were cited."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetrics,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlock,
    QTextCursor,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QTextEdit, QVBoxLayout, QWidget

from context.layers import name_lines
from ui.panels.notes.note_colors import MarkdownColors
from ui.theme import Theme, dress
from ui.widgets.controls import ElidedLabel, IconButton, label, wrapped
from ui.widgets.figures import count, place
from ui.widgets.surfaces import Header, Notice, Pane

if TYPE_CHECKING:
    from vault.notes.note import Note

__all__ = ["NotePanel", "NoteText"]

_MOST_LINES = 4_000
_MOST_CHARS = 400_000
_LINES_ABOVE = 2


class NotePanel(Pane):
    """The text of a note; its title and path stand in `head`, which the dock puts on top.

    `closed` is emitted by a button there, `attach_requested` by another one, with the path and the
    lines that are selected, 0 for the whole note, `related_requested` by a third one.
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
        self._cut = wrapped("", "caption", "secondary")
        self._cut.setContentsMargins(16, 6, 16, 6)
        self._notice = Notice("danger")
        self.text = NoteText()
        self.attach = IconButton("paperclip", "Attach the note")
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
            note: as it was read just now.
            first: the first line to mark and to scroll to; 0 marks none.
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
        """Show the note as it is now; what is in view stays so, and the marked lines if they do."""
        if self._note is None or note.path != self.path:
            return
        self._notice.hide()
        if note.version != self._note.version:
            lines = self.text.marked_lines()
            lines = _find_again(self._note.text, note.text, lines) if lines else None
            at = self.text.verticalScrollBar().value()
            self.show_note(note, *(lines or (0, 0)))
            self.text.stay_at(at)

    def show_lost(self, path: str) -> None:
        """Say that the note is not there any more; its text stays to be read."""
        if path == self.path and self._note is not None:
            hint = "It was moved or deleted. This is how it was."
            self._notice.show_notice("amber", "This note is not there any more.", hint, ())

    def show_error(self, path: str, message: str, hint: str) -> None:
        """Say in place why a note cannot be shown."""
        self.path, self._note = path, None
        self._title.set_text(path.rpartition("/")[2])
        self._place.set_text(path)
        self._set_visible(is_empty=False)
        self.text.hide()
        self._cut.hide()
        self._notice.show_notice("danger", message, hint, ())

    def clear(self) -> None:
        """Show no note."""
        self.path, self._note = "", None
        self._title.set_text("Note")
        self.text.show_text("", 1, 0, 0)
        self._notice.hide()
        self._cut.hide()
        self._set_visible(is_empty=True)

    def _on_selected(self) -> None:
        lines = self.text.selected_lines()
        self.attach.set_name(f"Attach {name_lines(lines)}" if lines else "Attach the note")

    def attach_selection(self) -> None:
        """Ask for the selected lines to be attached, or the note where none are; if one is open."""
        if self.path:
            self.attach_requested.emit(self.path, *(self.text.selected_lines() or (0, 0)))

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


class NoteText(QPlainTextEdit):
    """Read-only text with line numbers; the cited lines are marked and in view."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._start, self._first, self._last = 1, 0, 0
        self._is_untouched = True
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName("Text of the note")
        self.setUndoRedoEnabled(False)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        dress(self, "ui")
        self._numbers = _LineNumbers(self)
        self._colors = MarkdownColors(self.document())
        self.updateRequest.connect(self._on_update)
        self.verticalScrollBar().actionTriggered.connect(self._on_scrolled)
        Theme.current().changed.connect(self._on_theme)

    def show_text(self, text: str, start: int, first: int, last: int) -> None:
        """Show text whose first line has the number `start`, marking lines `first` to `last`."""
        self._start, self._first, self._last = start, first, max(first, last)
        self._colors.begin(is_note_start=start == 1)
        self.setPlainText(text)
        self._fit_numbers()
        self._mark()
        self._is_untouched = True
        self._scroll_to(first)

    def stay_at(self, line: int) -> None:
        """Have a line of the text at the top, where the reader was."""
        self.verticalScrollBar().setValue(line)
        self._is_untouched = False

    def selected_lines(self) -> tuple[int, int] | None:
        """Return the lines that the selection touches; None where nothing is selected."""
        cursor = self.textCursor()
        if not cursor.hasSelection():
            return None
        document, end = self.document(), cursor.selectionEnd()
        first = document.findBlock(cursor.selectionStart()).blockNumber()
        last = document.findBlock(end)
        # A selection that ends where a line begins holds nothing of that line.
        is_before = last.position() == end and last.blockNumber() > first
        return first + self._start, last.blockNumber() - is_before + self._start

    def marked_lines(self) -> tuple[int, int] | None:
        """Return the lines that are marked."""
        return (self._first, self._last) if self._first else None

    def first_visible_line(self) -> int:
        """Return the number of the line at the top."""
        return self.firstVisibleBlock().blockNumber() + self._start

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the numbers beside the text."""
        super().resizeEvent(event)
        self._fit_numbers()
        if self._is_untouched:
            self._scroll_to(self._first)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the place to the reader from now on."""
        self._is_untouched = False
        super().wheelEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        """Follow the font scale."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_numbers"):
            self._fit_numbers()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Mark the cited lines, wrapped ones whole, under the text."""
        painter = QPainter(self.viewport())
        color = Theme.current().color("diff.mark_bg")
        for number in range(self._first, self._last + 1) if self._first else ():
            block = self.document().findBlockByNumber(number - self._start)
            if block.isValid() and block.isVisible():
                height = round(self.blockBoundingRect(block).height())
                painter.fillRect(0, self._top(block), self.viewport().width(), height, color)
        painter.end()
        super().paintEvent(event)

    def paint_numbers(self, event: QPaintEvent) -> None:
        """Draw the numbers of the lines in view."""
        theme, painter = Theme.current(), QPainter(self._numbers)
        painter.setFont(theme.font("caption", numbers=True))
        width = self._numbers.width() - 8
        block = self.firstVisibleBlock()
        while block.isValid():
            top = self._top(block)
            if top > event.rect().bottom():
                return
            number = block.blockNumber() + self._start
            is_marked = self._first <= number <= self._last
            painter.setPen(theme.color("text.primary" if is_marked else "text.tertiary"))
            first = block.layout().lineAt(0)
            left = width - painter.fontMetrics().horizontalAdvance(str(number))
            painter.drawText(QPointF(left, top + first.y() + first.ascent()), str(number))
            block = block.next()

    def numbers_width(self) -> int:
        """Return the room that the numbers need."""
        metrics = QFontMetrics(Theme.current().font("caption", numbers=True))
        digits = len(str(self._start + self.blockCount()))
        return metrics.horizontalAdvance("0") * max(3, digits) + 18

    def _top(self, block: QTextBlock) -> int:
        return round(self.blockBoundingGeometry(block).translated(self.contentOffset()).top())

    def _fit_numbers(self) -> None:
        width = self.numbers_width()
        self.setViewportMargins(width, 0, 8, 0)
        area = self.contentsRect()
        self._numbers.setGeometry(QRect(area.left(), area.top(), width, area.height()))

    def _on_update(self, rect: QRect, moved: int) -> None:
        if moved:
            self._numbers.scroll(0, moved)
        else:
            self._numbers.update(0, rect.y(), self._numbers.width(), rect.height())

    def _on_theme(self) -> None:
        self._colors.rehighlight()
        self._mark()

    def _mark(self) -> None:
        selections = []
        if self._first:
            for number in range(self._first, self._last + 1):
                block = self.document().findBlockByNumber(number - self._start)
                if block.isValid():
                    selections.append(_marked(block))
        self.setExtraSelections(selections)
        self._numbers.update()

    def _scroll_to(self, line: int) -> None:
        """Have a line in view, a little below the upper edge."""
        block = self.document().findBlockByNumber(max(0, line - self._start))
        self.setTextCursor(QTextCursor(block))
        if line:
            self.centerCursor()
            above = self.cursorRect().top() // max(1, QFontMetrics(self.font()).lineSpacing())
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + max(0, above - _LINES_ABOVE))

    def _on_scrolled(self) -> None:
        self._is_untouched = False


class _LineNumbers(QWidget):
    """The strip left of the text."""

    def __init__(self, text: NoteText) -> None:
        super().__init__(text)
        self._text = text

    def sizeHint(self) -> QSize:
        """Return the width that the numbers need."""
        return QSize(self._text.numbers_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the numbers."""
        self._text.paint_numbers(event)


def _marked(block: QTextBlock) -> QTextEdit.ExtraSelection:
    """Return the text colour of a marked line; its background is painted by the view."""
    selection = QTextEdit.ExtraSelection()
    selection.cursor = QTextCursor(block)
    move = QTextCursor.MoveOperation.EndOfBlock
    selection.cursor.movePosition(move, QTextCursor.MoveMode.KeepAnchor)
    selection.format.setForeground(Theme.current().color("diff.mark_text"))
    return selection


def _find_again(before: str, now: str, lines: tuple[int, int]) -> tuple[int, int] | None:
    """Return where the same lines stand now; None where they are gone or occur twice."""
    first, last = lines
    old, new = before.split("\n"), now.split("\n")
    wanted = old[first - 1 : last]
    if new[first - 1 : last] == wanted:
        return lines
    places = [at for at in range(len(new)) if new[at : at + len(wanted)] == wanted]
    return (places[0] + 1, places[0] + len(wanted)) if len(places) == 1 else None


def _shown_lines(start: int, end: int, total: int) -> str:
    """Return the sentence over a note of which only a part is shown."""
    if start == end:
        return f"Line {count(start)} of {count(total)} is shown here."
    return f"Lines {count(start)} to {count(end)} of {count(total)} are shown here."


def _cut_out(text: str, line: int) -> tuple[int, str, int]:
    """Return the first line shown, the text shown, and how many lines there are.

    A note too large to be laid out at once is shown around the line that is wanted.
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
