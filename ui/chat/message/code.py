"""Plain text of tools, such as arguments and results, in an expandable monospaced box."""

from math import ceil

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy, QWidget

from ui.theme import Theme, dress
from ui.widgets.buttons import SHOW_ALL, SHOW_LESS, make_button
from ui.widgets.geometry import keep_place
from ui.widgets.layouts import align, make_column

__all__ = ["CodeBox"]

_LINES = 12
_PADDING = 12


class CodeBox(QFrame):
    """A monospaced box that shows at most twelve lines, or all of them when expanded.

    Args:
        text: the plain text to show.
        name: the accessible name, for screen readers.
        parent: the parent widget.
    """

    def __init__(self, text: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = _Lines(text, name)
        self.more = make_button(SHOW_ALL, "link", self._on_more)
        make_column(
            self.text,
            align(self.more, Qt.AlignmentFlag.AlignLeft),
            margins=(_PADDING, 8, _PADDING, 8),
            spacing=2,
            parent=self,
        )
        self.text.set_most_lines(_LINES)
        self.more.setVisible(self.text.is_cut)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the raised background of the box around the text."""
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("bg.raised"))
        painter.drawRoundedRect(self.rect(), theme.radius("lg"), theme.radius("lg"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show the "Show all" button if lines are cut off."""
        super().resizeEvent(event)
        if self.text.most_lines:
            self.more.setVisible(self.text.is_cut)

    def _on_more(self) -> None:
        keep_place(self)
        self.text.set_most_lines(0 if self.text.most_lines else _LINES)
        self.more.set_text(SHOW_ALL if self.text.most_lines else SHOW_LESS)


class _Lines(QPlainTextEdit):
    """Read-only text that can be selected. The mouse wheel scrolls the chat instead."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__()
        self.most_lines = 0
        self.is_cut = False
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)
        self.document().setDocumentMargin(0)
        dress(self, "code", "")
        self.setPlainText(text)
        Theme.current().changed.connect(self._fit)

    def set_most_lines(self, lines: int) -> None:
        self.most_lines = lines
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def _fit(self) -> None:
        # A QPlainTextEdit's document gives its height in lines, wrapped ones included.
        lines = max(1, ceil(self.document().size().height()))
        shown = min(lines, self.most_lines) if self.most_lines else lines
        self.is_cut = shown < lines
        self.setFixedHeight(self._compute_height(shown) + 2)

    def _compute_height(self, lines: int) -> int:
        """Return the height in pixels of the first `lines` lines as displayed, after wrapping."""
        total, block = 0.0, self.document().firstBlock()
        while lines > 0 and block.isValid():
            whole = self.blockBoundingRect(block).height()  # this call also lays the block out
            layout = block.layout()
            is_whole = layout.lineCount() <= lines
            total += whole if is_whole else layout.lineAt(lines).y()
            lines -= layout.lineCount()
            block = block.next()
        return ceil(total)
