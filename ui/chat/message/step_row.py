"""A widget for one agent step. It expands to show the step's arguments and result."""

import json

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from chains.turn_answer import ToolStep
from context.messages import thaw
from ui.chat.message.code import CodeBox
from ui.chat.message.step_words import StepWords
from ui.icons import begin_painting, paint_icon
from ui.theme import Theme
from ui.widgets.buttons import PressedByEnter
from ui.widgets.controls import draw_text, escape_tooltip, make_wrapped_label, paint_focus
from ui.widgets.geometry import keep_place
from ui.widgets.layouts import make_column
from ui.widgets.lists import paint_text
from ui.widgets.texts import from_left

__all__ = ["StepRow"]

_ROW = 24


class StepRow(QWidget):
    """The row of one agent step. A click shows or hides the details.

    Attributes:
        step: the step that is shown.
        text_before: the label above the line, with the text that the model wrote before the step.
            The label is hidden if it has no text.
        line: the line that describes the step.
        details: the widget with arguments and result, or None while the row is collapsed.
    """

    def __init__(self, step: ToolStep) -> None:
        super().__init__()
        self.step = step
        self.text_before = make_wrapped_label("", "ui", "secondary")
        self.text_before.setContentsMargins(4, 4, 4, 4)
        self.text_before.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.line = _StepLine()
        self.line.clicked.connect(self._on_clicked)
        self.details: QWidget | None = None
        self._column = make_column(self.text_before, self.line, margins=0, spacing=0, parent=self)
        self._show(step)

    def set_step(self, step: ToolStep) -> None:
        """Show the new state of an agent's step."""
        if step == self.step:
            return
        self.step = step
        self._show(step)
        if self.details is not None:
            self._toggle()
            self._toggle()

    def _show(self, step: ToolStep) -> None:
        self.text_before.setText(step.text_before)
        self.text_before.setVisible(bool(step.text_before))
        self.line.show_step(step)

    def _on_clicked(self) -> None:
        keep_place(self)
        self._toggle()

    def _toggle(self) -> None:
        if self.details is not None:
            self._column.removeWidget(self.details)
            self.details.hide()
            self.details.deleteLater()
            self.details = None
            return
        self.details = _details(self.step)
        self._column.addWidget(self.details)


class _StepLine(PressedByEnter, QAbstractButton):
    """The line of an agent's step: icon, verb, argument, time, and the outcome if it failed."""

    def __init__(self) -> None:
        super().__init__()
        self._words: StepWords | None = None
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_step(self, step: ToolStep) -> None:
        self._words = words = StepWords(step)
        self.setAccessibleName(words.spoken)
        self.setToolTip(escape_tooltip(f"{words.verb} {words.argument}"))
        self.update()

    def sizeHint(self) -> QSize:
        """Return the height of one line and a small width, because the text can be elided."""
        return QSize(160, Theme.current().px(_ROW))

    def paintEvent(self, event: QPaintEvent) -> None:
        words = self._words
        if words is None:
            return
        theme, painter = Theme.current(), begin_painting(self)
        if self.underMouse():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("bg.hover"))
            painter.drawRoundedRect(self.rect(), theme.radius("md"), theme.radius("md"))
        side = theme.px(14)
        spot = QRect(4, (self.height() - side) // 2, side, side)
        paint_icon(painter, spot, words.icon, _TERTIARY)
        rest = self.rect().adjusted(side + 12, 0, -6, 0)
        rest = _paint_right(painter, rest, words.took, _TERTIARY, numbers=True)
        rest = _paint_right(painter, rest, words.outcome, "danger.text", numbers=False)
        rest.setLeft(_paint_word(painter, rest, words.verb, theme.font("ui")) + 6)
        painter.setPen(theme.color("text.primary"))
        paint_text(painter, rest, from_left(words.argument), Qt.TextElideMode.ElideMiddle)
        if self.hasFocus():
            paint_focus(painter, self.rect())


def _paint_right(painter: QPainter, rest: QRect, text: str, tone: str, *, numbers: bool) -> QRect:
    """Paint text at the right edge, and return the space that remains to its left.

    Args:
        painter: the painter of the row.
        rest: the free space in the row.
        text: the text to paint.
        tone: the name of the text's colour in the theme.
        numbers: whether to use digits of equal width.
    """
    if not text:
        return rest
    theme = Theme.current()
    painter.setFont(theme.font("caption", numbers=numbers))
    painter.setPen(theme.color(tone))
    draw_text(painter, rest, Qt.AlignmentFlag.AlignRight | _MIDDLE, text)
    return rest.adjusted(0, 0, -QFontMetrics(painter.font()).horizontalAdvance(text) - 10, 0)


def _paint_word(painter: QPainter, rest: QRect, word: str, font: QFont) -> int:
    painter.setFont(font)
    painter.setPen(Theme.current().color("text.secondary"))
    draw_text(painter, rest, _MIDDLE, word)
    return rest.left() + QFontMetrics(font).horizontalAdvance(word)


def _details(step: ToolStep) -> QWidget:
    made = QWidget()
    given = json.dumps(thaw(step.arguments), ensure_ascii=False, indent=1)
    column = make_column(
        CodeBox(given, f"Arguments of {step.name}"), margins=(0, 2, 0, 8), spacing=6, parent=made
    )
    if step.status != "running":
        result = step.text + ("\n…" if step.is_cut else "")
        column.addWidget(CodeBox(result, f"Result of {step.name}"))
    return made


_MIDDLE = Qt.AlignmentFlag.AlignVCenter
_TERTIARY = "text.tertiary"
