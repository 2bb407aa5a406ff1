"""What the user wrote: plain text on a raised ground, folded when it is long."""

from math import ceil

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QEnterEvent,
    QGuiApplication,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlockFormat,
    QTextCursor,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QTextEdit, QVBoxLayout, QWidget

from ui.chat.measure import OUTDENT
from ui.chat.message.roles import Part
from ui.chat.page.formats import AT_LEAST, FIXED
from ui.chat.page.letters import has_tall_letters, wrap_for
from ui.chat.page.selection import selected_text
from ui.kit.controls import IconButton, button
from ui.kit.figures import minutes_clock
from ui.theme import Theme

__all__ = ["UserMessage"]

_FOLD_LINES = 12
# What a folded message may show; the rest is not even laid out until it is asked for.
_FOLD_CHARS = 2_000


class UserMessage(Part):
    """One message of the user's.

    Args:
        text: as it was sent.
        time: ISO 8601; nothing for a message that is being sent.
    """

    def __init__(self, text: str, time: str = "", parent: QWidget | None = None) -> None:
        super().__init__(QAccessible.Role.Grouping, parent)
        self._text = text
        clock = minutes_clock(time) if time else ""
        self.setAccessibleName(f"You, {clock}" if clock else "You")
        self.body = _Body()
        self.body.setAccessibleName(self.accessibleName())
        self.more = button("Show all", "link", self.toggle)
        self._copy = _QuietButton("copy", "Copy message", size=24)
        self._copy.clicked.connect(self._on_copy)
        self._is_folded = True
        self._lay_out()
        self.body.cut_changed.connect(self._show_more)
        self._show_text()
        Theme.current().changed.connect(self._show_text)

    @property
    def text(self) -> str:
        """The whole message."""
        return self._text

    def toggle(self) -> None:
        """Show all of a long message, or fold it again."""
        self._is_folded = not self._is_folded
        self.more.setText("Show all" if self._is_folded else "Show less")
        self._show_text()

    def enterEvent(self, event: QEnterEvent) -> None:
        """Show the button; it has its place from the start, so nothing moves."""
        self._copy.set_seen(True)

    def leaveEvent(self, event: QEvent) -> None:
        """Hide the button."""
        self._copy.set_seen(False)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the raised ground."""
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("bg.raised"))
        painter.drawRoundedRect(self.rect(), theme.radius("lg"), theme.radius("lg"))

    def _lay_out(self) -> None:
        texts = QVBoxLayout()
        texts.setSpacing(4)
        texts.addWidget(self.body)
        texts.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        row = QHBoxLayout(self)
        row.setContentsMargins(OUTDENT, 10, 10, 10)
        row.setSpacing(8)
        row.addLayout(texts, 1)
        row.addWidget(self._copy, 0, Qt.AlignmentFlag.AlignTop)

    def _show_text(self) -> None:
        is_long = self._is_folded and len(self._text) > _FOLD_CHARS
        self.body.show_text(self._text[:_FOLD_CHARS] if is_long else self._text)
        self.body.set_most_lines(_FOLD_LINES if self._is_folded else 0)
        self._show_more()

    def _show_more(self) -> None:
        is_long = len(self._text) > _FOLD_CHARS or self.body.is_cut
        self.more.setVisible(is_long or not self._is_folded)

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text)


class _QuietButton(IconButton):
    """A button that is drawn only while its message is pointed at, or the keyboard is on it."""

    _is_seen = False

    def set_seen(self, is_seen: bool) -> None:
        self._is_seen = is_seen
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._is_seen or self.hasFocus():
            super().paintEvent(event)


class _Body(QTextEdit):
    """Plain text to read and select, as high as its lines, or as the most that is allowed."""

    cut_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._most_lines = 0
        self.is_cut = False
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(0)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)

    def show_text(self, text: str) -> None:
        theme = Theme.current()
        self.document().setDefaultFont(theme.font("body"))
        self.setWordWrapMode(wrap_for(text))
        self.setPlainText(text)
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        spaced = QTextBlockFormat()
        spaced.setLineHeight(theme.line("body"), AT_LEAST if has_tall_letters(text) else FIXED)
        cursor.mergeBlockFormat(spaced)

    def set_most_lines(self, lines: int) -> None:
        self._most_lines = lines
        self._fit()

    def createMimeDataFromSelection(self) -> QMimeData:
        data = QMimeData()
        data.setText(selected_text(self.textCursor()))
        return data

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def _fit(self) -> None:
        wanted = ceil(self.document().size().height())
        most = self._most_lines * Theme.current().line("body")
        is_cut = 0 < most < wanted
        self.setFixedHeight(most if is_cut else wanted)
        if is_cut != self.is_cut:
            self.is_cut = is_cut
            self.cut_changed.emit()
