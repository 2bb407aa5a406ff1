"""The source text of a note with line numbers and Markdown highlighting."""

import re
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFont,
    QFontMetrics,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QMenu, QPlainTextEdit, QTextEdit, QWidget

from ui.theme import Theme, dress
from ui.widgets.menus import show_menu
from ui.widgets.texts import count_units, find_units
from vault.notes.text.lines import (
    CODE_KINDS,
    COMMENT,
    FENCE_CLOSES,
    FENCE_OPENS,
    FRONT,
    NESTED_HEADING,
    SECTION_KINDS,
)
from vault.notes.text.scan import scan_kinds

__all__ = ["MarkdownColors", "NoteText"]

_LINES_ABOVE = 2
_LINES_AT_ONCE, _CHARS_AT_ONCE = 400, 20_000
_HIGHLIGHTED = 0
_QUIET = frozenset((FRONT, COMMENT))
_FENCES = frozenset((FENCE_OPENS, FENCE_CLOSES))
_HEADINGS = SECTION_KINDS | {NESTED_HEADING}
_INLINE = (
    (re.compile(r"`[^`\n]+`"), "code"),
    (re.compile(r"!?\[\[[^\]\n]+\]\]|\[[^\]\n]*\]\([^)\n]*\)|https?://\S+"), "link"),
    (re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__"), "strong"),
    (re.compile(r"(?<!\S)#[^\W\d][\w/-]*"), "quiet"),
    (re.compile(r"^\s*(?:[-*+]|\d+[.)])(?= )|^\s*>+"), "quiet"),
)


class NoteText(QPlainTextEdit):
    """A read-only view of a note's source text, with line numbers and highlighted lines.

    The signal `menu_wanted` is emitted with the context menu before it is shown.
    """

    menu_wanted = Signal(QMenu)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._start, self._first, self._last = 1, 0, 0
        self._is_untouched = True
        self._found: Sequence[QTextEdit.ExtraSelection] = ()
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
        self._coloring = QTimer(self, interval=0)
        self._coloring.timeout.connect(self._on_coloring)
        self.updateRequest.connect(self._on_update)
        self.verticalScrollBar().actionTriggered.connect(self._on_scrolled)
        Theme.current().changed.connect(self._on_theme)

    def show_text(self, text: str, start: int, first: int, last: int, kinds: str = "") -> None:
        """Show a text. Highlight some of its lines, and scroll to them.

        Args:
            text: the text of a note, or of a part of a note.
            start: the line number of the first line of the text.
            first, last: the first and last line to highlight, or 0 and 0 to highlight none.
            kinds: the kind of each line of the whole note, as in `Note.kinds`. If it is empty, the
                text is scanned.
        """
        self._start, self._first, self._last = start, first, max(first, last)
        known = kinds[start - 1 :] or scan_kinds(text.split("\n"), starts_note=start == 1)
        self._colors.begin(known)
        self.setPlainText(text)
        self._coloring.start()
        self._on_coloring()
        self._fit_numbers()
        self._mark()
        self._is_untouched = True
        self._scroll_to(first)

    def show_line(self, line: int) -> None:
        """Scroll so that a line is at the top of the visible area."""
        block = self.document().findBlockByNumber(max(0, line - self._start))
        self.stay_at(block.firstLineNumber())

    def stay_at(self, line: int) -> None:
        """Scroll to a position, and stay there when the view is resized.

        Args:
            line: the position of the scroll bar, in lines from the top. A wrapped line counts as
                several lines.
        """
        self.verticalScrollBar().setValue(line)
        self._is_untouched = False

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the context menu, with what the receiver of `menu_wanted` adds."""
        menu = self.createStandardContextMenu(event.pos())
        self.menu_wanted.emit(menu)
        show_menu(menu, event.globalPos())

    def find_selected_lines(self) -> tuple[int, int] | None:
        """Return the first and last selected line, or None if nothing is selected."""
        cursor = self.textCursor()
        if not cursor.hasSelection():
            return None
        document, end = self.document(), cursor.selectionEnd()
        first = document.findBlock(cursor.selectionStart()).blockNumber()
        last = document.findBlock(end)
        # A selection that ends at the start of a line does not include that line.
        is_before = last.position() == end and last.blockNumber() > first
        return first + self._start, last.blockNumber() - is_before + self._start

    def find_marked_lines(self) -> tuple[int, int] | None:
        """Return the first and last highlighted line, or None if no lines are highlighted."""
        return (self._first, self._last) if self._first else None

    def find_first_visible_line(self) -> int:
        """Return the number of the line at the top of the visible area."""
        return self.firstVisibleBlock().blockNumber() + self._start

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the line numbers. Scroll to the highlighted lines unless the user has scrolled."""
        super().resizeEvent(event)
        self._fit_numbers()
        if self._is_untouched:
            self._scroll_to(self._first)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll the text. From now on, a resize does not scroll back to the highlighted lines."""
        self._is_untouched = False
        super().wheelEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        """Adjust the width of the line numbers when the font changes."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_numbers"):
            self._fit_numbers()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the background of the highlighted lines, and then the text."""
        painter = QPainter(self.viewport())
        color = Theme.current().color("diff.mark_bg")
        for number in range(self._first, self._last + 1) if self._first else ():
            block = self.document().findBlockByNumber(number - self._start)
            if block.isValid() and block.isVisible():
                height = round(self.blockBoundingRect(block).height())
                painter.fillRect(0, self._top(block), self.viewport().width(), height, color)
        painter.end()
        super().paintEvent(event)

    def mark_found(self, found: Sequence[QTextEdit.ExtraSelection]) -> None:
        """Highlight the occurrences of a search text. An empty list removes the highlights."""
        self._found = found
        self._mark()

    def paint_numbers(self, event: QPaintEvent) -> None:
        """Draw the numbers of the visible lines."""
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
        """Return the width of the strip of line numbers, in pixels."""
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

    def _on_coloring(self) -> None:
        self._colors.go_on()
        if self._colors.is_done:
            self._coloring.stop()

    def _on_theme(self) -> None:
        self._colors.rehighlight()
        self._mark()

    def _mark(self) -> None:
        selections = []
        if self._first:
            for number in range(self._first, self._last + 1):
                block = self.document().findBlockByNumber(number - self._start)
                if block.isValid():
                    selections.append(_format_marked_line(block))
        self.setExtraSelections([*selections, *self._found])
        self._numbers.update()

    def _scroll_to(self, line: int) -> None:
        """Scroll so that a line is slightly below the top of the visible area."""
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
    """The strip of line numbers on the left of the text."""

    def __init__(self, text: NoteText) -> None:
        super().__init__(text)
        self._text = text

    def sizeHint(self) -> QSize:
        """Return the width of the strip of line numbers."""
        return QSize(self._text.numbers_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the numbers of the visible lines."""
        self._text.paint_numbers(event)


def _format_marked_line(block: QTextBlock) -> QTextEdit.ExtraSelection:
    """Return the text format of a highlighted line. Its background is drawn by `paintEvent`."""
    selection = QTextEdit.ExtraSelection()
    selection.cursor = QTextCursor(block)
    move = QTextCursor.MoveOperation.EndOfBlock
    selection.cursor.movePosition(move, QTextCursor.MoveMode.KeepAnchor)
    selection.format.setForeground(Theme.current().color("diff.mark_text"))
    return selection


class MarkdownColors(QSyntaxHighlighter):
    """A Markdown syntax highlighter for one document. It never changes the text.

    A new text is highlighted in several steps, because highlighting a long text at once would block
    the window.
    """

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._kinds = ""
        self._lines = 0

    @property
    def is_done(self) -> bool:
        """Whether all lines have been highlighted."""
        return self._lines >= self.document().blockCount()

    def begin(self, kinds: str) -> None:
        """Prepare for highlighting a new text.

        Args:
            kinds: the kind of each line, as in `vault.notes.text.lines`.
        """
        self._kinds = kinds
        self._lines = 0

    def go_on(self) -> None:
        """Highlight the next few hundred lines of the text, or fewer if the lines are long."""
        first = block = self.document().findBlockByNumber(self._lines)
        lines = chars = 0
        while block.isValid() and lines < _LINES_AT_ONCE and chars < _CHARS_AT_ONCE:
            lines, chars, block = lines + 1, chars + block.length(), block.next()
        self._lines += lines
        if first.isValid():
            # Qt then also highlights the lines below, as long as their state changes.
            self.rehighlightBlock(first)

    def highlightBlock(self, text: str) -> None:
        """Highlight the Markdown syntax of a line, unless a later step will do this."""
        number = self.currentBlock().blockNumber()
        if number >= self._lines:
            return
        self.setCurrentBlockState(_HIGHLIGHTED)
        kind = self._kinds[number : number + 1]
        if kind in _QUIET:
            self._whole(text, "quiet")
        elif kind in _FENCES:
            self._whole(text, "code_fence")
        elif kind in CODE_KINDS:
            self._whole(text, "code")
        else:
            self._text(text, is_heading=kind in _HEADINGS)

    def _text(self, text: str, *, is_heading: bool) -> None:
        if is_heading:
            self._whole(text, "strong")
        for pattern, kind in _INLINE:
            for first, last in find_units(text, (one.span() for one in pattern.finditer(text))):
                self.setFormat(first, last - first, _format(kind))

    def _whole(self, text: str, kind: str) -> None:
        self.setFormat(0, count_units(text), _format(kind))


def _format(kind: str) -> QTextCharFormat:
    theme, made = Theme.current(), QTextCharFormat()
    if kind == "strong":
        made.setFontWeight(QFont.Weight.DemiBold)
    elif kind == "link":
        made.setForeground(theme.color("text.link"))
    elif kind == "code":
        made.setFontFamilies(theme.font("code").families())
        made.setForeground(theme.color("text.secondary"))
    else:
        made.setForeground(theme.color("text.tertiary"))
    return made
