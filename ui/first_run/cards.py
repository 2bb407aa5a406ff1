"""Widgets of the first-run dialog: a selectable card, and a bar that shows the steps."""

from collections.abc import Sequence

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from ui.icons import begin_painting, paint_icon
from ui.theme import Theme
from ui.widgets.controls import draw_text, escape_tooltip, one_line, paint_focus

__all__ = ["ChoiceCard", "StepBar"]

_HEIGHT = 56
_ONE_LINE_HEIGHT = 40
_SIDE = 16
_ICON = 20
_MARK = 18
_CIRCLE = 20


class ChoiceCard(QAbstractButton):
    """A selectable card with an icon, a title and a sentence.

    The user selects a card with a click or an arrow key. Only one card of a page is selected.

    Args:
        icon_name: the name of the icon on the left.
        title: the title of the card.
        text: the sentence below the title, or an empty string for a card with a single line.
        badge: a word after the title, such as "Found", or an empty string for no badge.
    """

    def __init__(self, icon_name: str, title: str, text: str = "", badge: str = "") -> None:
        super().__init__()
        self._icon_name, self._badge = icon_name, badge
        self.title, self.sentence = one_line(title), one_line(text)
        self.setText(self.title)
        self.setCheckable(True)
        self.setAutoExclusive(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(", ".join(filter(None, (self.title, badge, self.sentence))))
        self.setToolTip(escape_tooltip("\n".join(filter(None, (self.title, self.sentence)))))
        Theme.current().changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        """Return the card's height at the current font scale."""
        height = _HEIGHT if self.sentence else _ONE_LINE_HEIGHT
        return QSize(320, Theme.current().px(height))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the card. If the card is selected, its border has the accent colour."""
        theme, painter = Theme.current(), begin_painting(self)
        is_on = self.isChecked()
        pen = painter.pen()
        pen.setColor(theme.color("accent.base" if is_on else "line.control"))
        pen.setWidth(2 if is_on else 1)
        painter.setPen(pen)
        ground = "accent.soft" if is_on else "bg.hover" if self.underMouse() else "bg.overlay"
        painter.setBrush(theme.color(ground))
        edge = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        painter.drawRoundedRect(edge, theme.radius("lg"), theme.radius("lg"))
        self._paint_icons(painter, is_on)
        self._paint_texts(painter)
        if self.hasFocus():
            paint_focus(painter, self.rect(), "lg")

    def _paint_icons(self, painter: QPainter, is_on: bool) -> None:
        theme = Theme.current()
        side, mark = theme.px(_ICON), theme.px(_MARK)
        left = QRect(_SIDE, (self.height() - side) // 2, side, side)
        paint_icon(painter, left, self._icon_name, "accent.base" if is_on else "text.secondary")
        right = QRect(self.width() - _SIDE - mark, (self.height() - mark) // 2, mark, mark)
        name, tone = ("check-circle", "accent.base") if is_on else ("circle", "text.tertiary")
        paint_icon(painter, right, name, tone)

    def _paint_texts(self, painter: QPainter) -> None:
        theme = Theme.current()
        left = _SIDE + theme.px(_ICON) + 12
        width = self.width() - left - theme.px(_MARK) - 2 * _SIDE
        strong, small = theme.font("ui_strong"), theme.font("caption")
        high = QFontMetrics(strong).height()
        total = high + (QFontMetrics(small).height() + 2 if self.sentence else 0)
        top = (self.height() - total) // 2
        painter.setFont(strong)
        painter.setPen(theme.color("text.primary"))
        title = QFontMetrics(strong).elidedText(self.title, Qt.TextElideMode.ElideMiddle, width)
        draw_text(painter, QRect(left, top, width, high), Qt.AlignmentFlag.AlignVCenter, title)
        painter.setFont(small)
        if self._badge:
            begin = left + QFontMetrics(strong).horizontalAdvance(title) + 10
            painter.setPen(theme.color("success.text"))
            room = QRect(begin, top, left + width - begin, high)
            draw_text(painter, room, Qt.AlignmentFlag.AlignVCenter, self._badge)
        if self.sentence:
            metrics = QFontMetrics(small)
            painter.setPen(theme.color("text.secondary"))
            text = metrics.elidedText(self.sentence, Qt.TextElideMode.ElideRight, width)
            below = QRect(left, top + high + 2, width, metrics.height())
            draw_text(painter, below, Qt.AlignmentFlag.AlignVCenter, text)


class StepBar(QWidget):
    """A bar that shows the names of the first-run steps, and which steps are completed.

    The circle of a completed step contains a tick, and the circle of the current step is filled.
    """

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self._names = names
        self._current = 0
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        Theme.current().changed.connect(self.updateGeometry)
        self.show_step(0)

    def show_step(self, current: int) -> None:
        """Mark a first-run step as the current one, and the steps before it as completed."""
        self._current = current
        self.setAccessibleName(f"Step {current + 1} of {len(self._names)}: {self._names[current]}")
        self.update()

    def sizeHint(self) -> QSize:
        """Return the height of the step circles at the current font scale."""
        return QSize(320, Theme.current().px(_CIRCLE + 4))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw a circle and a name for each first-run step, with lines between the steps."""
        theme, painter = Theme.current(), begin_painting(self)
        side, left = theme.px(_CIRCLE), 0
        for place, name in enumerate(self._names):
            if place:
                painter.setPen(theme.color("line.hairline"))
                middle = self.height() // 2
                painter.drawLine(left, middle, left + theme.px(32), middle)
                left += theme.px(32) + 8
            circle = QRect(left, (self.height() - side) // 2, side, side)
            self._paint_circle(painter, circle, place)
            left = circle.right() + 9
            is_current = place == self._current
            font = theme.font("ui_strong" if is_current else "ui")
            painter.setFont(font)
            painter.setPen(theme.color("text.primary" if is_current else "text.secondary"))
            width = QFontMetrics(font).horizontalAdvance(name) + 2
            room = QRect(left, 0, width, self.height())
            draw_text(painter, room, Qt.AlignmentFlag.AlignVCenter, name)
            left += width + 8

    def _paint_circle(self, painter: QPainter, circle: QRect, place: int) -> None:
        theme = Theme.current()
        is_current = place == self._current
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("accent.base" if is_current else "bg.hover"))
        painter.drawEllipse(circle)
        if place < self._current:
            inner = circle.adjusted(4, 4, -4, -4)
            paint_icon(painter, inner, "check", "success.text")
            return
        painter.setFont(theme.font("label", numbers=True))
        painter.setPen(theme.color("text.on_accent" if is_current else "text.secondary"))
        draw_text(painter, circle, Qt.AlignmentFlag.AlignCenter, str(place + 1))
