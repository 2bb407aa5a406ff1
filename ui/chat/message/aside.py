"""What stands in a chat and is neither question nor answer: Markdown, and where it is from.

A program may have put it there, which is stored; or a command was given, whose answer is not.
"""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ui.chat.message.roles import Part
from ui.markdown.page.view import MarkdownView
from ui.theme import Theme, dress
from ui.widgets.controls import ElidedLabel, IconButton, IconLabel, one_line

__all__ = ["Aside"]

_ONLY_HERE = "shown here only, neither stored nor sent"


class Aside(Part):
    """One such block.

    `dismissed` is emitted where it is to go; only what is not stored can.

    Args:
        title: where it comes from, such as `/context`.
        text: Markdown.
        is_local: whether it is shown here only.
        parent: as in Qt.
    """

    dismissed = Signal()

    def __init__(
        self, title: str, text: str, *, is_local: bool, parent: QWidget | None = None
    ) -> None:
        super().__init__(QAccessible.Role.Note, parent)
        self._text = text
        said = f"{one_line(title)} · {_ONLY_HERE}" if is_local else one_line(title)
        self.setAccessibleName(said)
        words = ElidedLabel(said)
        dress(words, "caption", "secondary")
        copy = IconButton("copy", "Copy this text", size=24)
        copy.clicked.connect(lambda _checked=False: self.copy())
        head = QHBoxLayout()
        head.setContentsMargins(16, 6, 8, 0)
        head.setSpacing(8)
        icon = "terminal-window" if is_local else "note"
        head.addWidget(IconLabel(icon, "text.tertiary", 14), 0, Qt.AlignmentFlag.AlignVCenter)
        head.addWidget(words, 1)
        head.addWidget(copy)
        if is_local:
            close = IconButton("x", "Take this away", size=24)
            close.clicked.connect(lambda _checked=False: self.dismissed.emit())
            head.addWidget(close)
        self.view = MarkdownView()
        self.view.setAccessibleName(said)
        self.view.set_markdown(text)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 10)
        column.setSpacing(6)
        column.addLayout(head)
        column.addWidget(self.view)

    def copy(self) -> None:
        """Put the text on the clipboard, in Markdown."""
        QGuiApplication.clipboard().setText(self._text)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the edge."""
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme.color("line.hairline"))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        edge = self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(edge, theme.radius("lg"), theme.radius("lg"))
