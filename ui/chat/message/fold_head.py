"""The line that folds a list below an answer: the steps of an agent, or the checked claims."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy

from ui.icons import begin_painting, paint_icon
from ui.theme import Theme
from ui.widgets.buttons import PressedByEnter
from ui.widgets.controls import draw_text, escape_tooltip, paint_focus
from ui.widgets.geometry import OUTDENT
from ui.widgets.lists import paint_text

__all__ = ["FoldHead"]

_HEAD = 28


class FoldHead(PressedByEnter, QAbstractButton):
    """A line that unfolds what is below it: a chevron, a summary, and a short text behind it.

    Args:
        noun: what is folded, such as "steps", for screen readers.
    """

    def __init__(self, noun: str) -> None:
        super().__init__()
        self._noun, self._tone = noun, "text.tertiary"
        self._took = ""
        self._is_open = False
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def took(self) -> str:
        """The text behind the summary, such as `1.4 s`, or an empty string."""
        return self._took

    def show_words(self, words: str, took: str, tone: str = "text.tertiary") -> None:
        """Show the summary and the text behind it.

        Args:
            words: the summary.
            took: the text behind it, such as the total time of steps, or an empty string.
            tone: the name of the colour of the text behind it.
        """
        self._took, self._tone = took, tone
        self.setText(words)
        self._name()
        self.update()

    def set_open(self, is_open: bool) -> None:
        """Show whether the list below is expanded."""
        self._is_open = is_open
        self._name()
        self.update()

    def sizeHint(self) -> QSize:
        """Return a small width, because the text can be elided, and the height of one line."""
        return QSize(160, Theme.current().px(_HEAD))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the chevron, the summary and the text behind it."""
        theme, painter = Theme.current(), begin_painting(self)
        tone = "text.primary" if self.underMouse() else "text.secondary"
        side = theme.px(12)
        arrow = QRect(OUTDENT, (self.height() - side) // 2, side, side)
        paint_icon(painter, arrow, "caret-down" if self._is_open else "caret-right", tone)
        words = self.rect().adjusted(OUTDENT + theme.px(20), 0, -OUTDENT, 0)
        painter.setFont(theme.font("ui", weight=500))
        painter.setPen(theme.color(tone))
        taken = QFontMetrics(theme.font("caption", numbers=True)).horizontalAdvance(self._took)
        words.setRight(words.right() - taken - 8)
        paint_text(painter, words, self.text())
        ends = QFontMetrics(painter.font()).horizontalAdvance(self.text())
        painter.setFont(theme.font("caption", numbers=True))
        painter.setPen(theme.color(self._tone))
        left = min(words.left() + ends, words.right()) + 8
        draw_text(painter, QRect(left, 0, taken + 2, self.height()), _MIDDLE, self._took)
        if self.hasFocus():
            paint_focus(painter, self.rect().adjusted(OUTDENT - 6, 2, -OUTDENT + 6, -2))

    def _name(self) -> None:
        state = "shown" if self._is_open else "folded"
        took = f", {self._took}" if self._took else ""
        self.setAccessibleName(f"{self.text()}{took}, {self._noun} {state}")
        act = "Hide" if self._is_open else "Show"
        self.setToolTip(escape_tooltip(f"{self.text()}. {act} the {self._noun}."))


_MIDDLE = Qt.AlignmentFlag.AlignVCenter
