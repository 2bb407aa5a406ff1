"""The stacked bar that shows how much of the context window each layer of a request uses."""

from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QEasingCurve,
    QEvent,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    QVariantAnimation,
)
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QToolTip, QWidget

from ui.panels.context.scale import (
    BarPart,
    ScaleMark,
    Slot,
    label_spans,
    list_bar_parts,
    marks,
    slots,
)
from ui.theme import Theme, tokens
from ui.widgets.controls import paint_focus
from ui.widgets.formatting import count, percent, share

if TYPE_CHECKING:
    from context.report.report import ContextReport

__all__ = ["ContextBar"]

_BELOW = 4
_NEAR = 3
_MARK_TIPS = {
    "trim": "{}: old results of tools are shortened",
    "compact": "{}: older messages become a summary",
    "block": "{}: older messages are summarised before another message is sent",
    "budget": "The end of the budget: nothing larger is sent",
}


class ContextBar(QProgressBar):
    """A stacked bar with a segment for each layer of a request. A layer is one kind of content.

    The left and right arrow keys select a segment.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context: ContextReport | None = None
        self._parts: tuple[BarPart, ...] = ()
        self._from: dict[str, tuple[int, int]] = {}
        self._current = -1
        self._motion = QVariantAnimation(self, startValue=0.0, endValue=1.0)
        self._motion.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._motion.valueChanged.connect(self.update)
        self.setTextVisible(False)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Context")

    def show_context(self, context: "ContextReport") -> None:
        """Show the layers of a request as bar segments. Changes are animated.

        Args:
            context: the request report.
        """
        before, after = self._parts, list_bar_parts(context)
        self._from = {part.code: (left, width) for part, left, width in self._drawn()}
        self._context, self._parts = context, after
        self._current = min(self._current, len(after) - 1)
        budget = max(1, context.budget)
        self.setRange(0, budget)
        self.setValue(min(context.used, budget))
        figures = f"{count(context.used)} of {count(context.budget)} tokens"
        fraction = percent(context.fraction).replace("\N{NO-BREAK SPACE}%", " percent")
        self.setAccessibleName(f"Context {fraction}, {figures}")
        if before and before != after and self.isVisible():
            self._motion.setDuration(Theme.current().duration("base"))
            self._motion.start()
        self.update()

    def slots(self) -> list[Slot]:
        """Return the bar segments with their final positions, even during an animation."""
        return slots(self._parts, self.width())

    def marks(self) -> list[ScaleMark]:
        """Return the marks of the thresholds, with their positions on the bar.

        At the thresholds, old tool results are shortened or messages are summarised.
        """
        return [] if self._context is None else marks(self._context, self.width())

    def compute_bar_rect(self) -> QRect:
        """Return the rectangle of the stacked bar, without the labels above it."""
        theme = Theme.current()
        high = theme.px(theme.value("bar.height"))
        return QRect(0, self.height() - high - _BELOW, self.width(), high)

    def sizeHint(self) -> QSize:
        """Return the preferred size: the bar with the labels above and a margin below."""
        theme = Theme.current()
        above = theme.line("micro") + theme.value("bar.mark_over")
        return QSize(240, above + theme.px(theme.value("bar.height")) + _BELOW)

    def minimumSizeHint(self) -> QSize:
        """Return the smallest size at which the bar segments can be distinguished."""
        return QSize(120, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the segments, the threshold marks, and a line below the cached prefix."""
        painter, bar, drawn = QPainter(self), self.compute_bar_rect(), self._drawn()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = QPainterPath()
        radius = Theme.current().radius("bar")
        outline.addRoundedRect(QRectF(bar), radius, radius)
        painter.save()
        painter.setClipPath(outline)
        for place, (part, left, width) in enumerate(drawn):
            gap = Theme.current().value("bar.gap") if place + 1 < len(drawn) else 0
            _paint_part(painter, part, QRect(left, bar.top(), width - gap, bar.height()))
        self._paint_beyond(painter, bar)
        painter.restore()
        self._paint_reused(painter, drawn, bar)
        self._paint_marks(painter, bar)
        if self.hasFocus():
            self._paint_focus(painter, drawn, bar)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Select a segment with the left and right arrow keys, and describe it in a tooltip."""
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        step = steps.get(Qt.Key(event.key()))
        if step is None or not self._parts:
            super().keyPressEvent(event)
            return
        self._current = max(0, min(len(self._parts) - 1, self._current + step))
        _, left, width = self.slots()[self._current]
        text = self._describe(self._parts[self._current])
        self.setAccessibleDescription(text)
        place = QRect(left, 0, width, self.height()).bottomLeft()
        QToolTip.showText(self.mapToGlobal(place), text, self)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Clear the selection, so that the next arrow key starts at the left edge again."""
        self._current = -1
        self.setAccessibleDescription("")
        super().focusOutEvent(event)

    def event(self, event: QEvent) -> bool:
        """Show the tooltip of the threshold mark or bar segment under the pointer."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.text_at(event.pos().x()), self)
            return True
        return super().event(event)

    def text_at(self, x: int) -> str:
        """Return a description of the threshold mark or bar segment at an x position.

        Return an empty string if there is none.

        Args:
            x: the position in pixels from the left edge of the widget.
        """
        for mark in self.marks():
            if abs(mark.x - x) <= _NEAR:
                return _MARK_TIPS[mark.name].format(percent(mark.share))
        for part, left, width in self.slots():
            if left <= x < left + width:
                return self._describe(part)
        return ""

    def _drawn(self) -> list[Slot]:
        """Return the bar segments at their current positions during an animation."""
        found = self.slots()
        if self._motion.state() != QVariantAnimation.State.Running:
            return found
        done = float(self._motion.currentValue())
        moving = []
        for part, left, width in found:
            old_left, old_width = self._from.get(part.code, (left, 0))
            edge = round(old_left + (left - old_left) * done)
            end = round(old_left + old_width + (left + width - old_left - old_width) * done)
            moving.append((part, edge, end - edge))
        return moving

    def _describe(self, part: BarPart) -> str:
        name = tokens()["layer_name"][part.code]
        if part.code in tokens()["layer_order"] and self._context is not None:
            ratio = share(part.tokens, self._context.budget)
            return f"{part.code} {name}: {count(part.tokens)} tokens, {ratio}"
        return f"{name}: {count(part.tokens)} tokens"

    def _paint_reused(self, painter: QPainter, drawn: list[Slot], bar: QRect) -> None:
        left_over = 0 if self._context is None else self._context.prefix.tokens_reused
        right = 0.0
        for part, left, width in drawn:
            if left_over <= 0 or part.code not in tokens()["layer_order"]:
                break
            covered = min(1.0, left_over / part.tokens)
            right = left + (width - 2) * covered
            left_over -= part.tokens
        line = QRectF(0, bar.bottom() + 3, right, 2)
        painter.fillRect(line, Theme.current().color("success.graphic"))

    def _paint_beyond(self, painter: QPainter, bar: QRect) -> None:
        """Hatch the part of the bar that exceeds the token budget."""
        for mark in self.marks():
            if mark.name == "budget":
                beyond = bar.adjusted(mark.x, 0, 0, 0)
                painter.fillRect(beyond, Theme.current().color("danger.soft"))
                _hatch(painter, beyond, 5, "danger.graphic")

    def _paint_marks(self, painter: QPainter, bar: QRect) -> None:
        theme, found = Theme.current(), self.marks()
        font = theme.font("micro", numbers=True)
        painter.setFont(font)
        over = theme.value("bar.mark_over")
        spans = label_spans(found, QFontMetrics(font).horizontalAdvance, self.width())
        for mark in found:
            tone, text_tone = _mark_tones(mark)
            wide = 2 if mark.is_passed else 1
            line = QRect(mark.x - wide // 2, bar.top() - over, wide, bar.height() + 2 * over)
            painter.fillRect(line, theme.color(tone))
            if mark.name in spans:
                left, right = spans[mark.name]
                painter.setPen(theme.color(text_tone))
                place = QRect(left, 0, right - left + 1, theme.line("micro"))
                painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, mark.text)

    def _paint_focus(self, painter: QPainter, drawn: list[Slot], bar: QRect) -> None:
        if 0 <= self._current < len(drawn):
            _, left, width = drawn[self._current]
            painter.setPen(QPen(Theme.current().color("text.primary"), 1))
            top = bar.top() + 0.5
            painter.drawRect(QRectF(left + 0.5, top, max(2, width - 3), bar.height() - 1))
        paint_focus(painter, bar, "bar")


def _mark_tones(mark: ScaleMark) -> tuple[str, str]:
    if mark.name == "budget":
        return "danger.graphic", "danger.text"
    return ("amber.graphic", "amber.text") if mark.is_passed else ("text.secondary",) * 2


def _paint_part(painter: QPainter, part: BarPart, rect: QRect) -> None:
    theme = Theme.current()
    if part.code in {"reserve", "margin"}:
        painter.fillRect(rect, theme.color("layer.free"))
        _hatch(painter, rect, 5 if part.code == "reserve" else 10)
        return
    painter.fillRect(rect, theme.color(f"layer.{part.code}"))
    if part.code != "free" and rect.width() >= theme.px(theme.value("bar.code_from_width")):
        painter.setFont(theme.font("micro"))
        painter.setPen(theme.color(f"layer_on.{part.code}"))
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, part.code)


def _hatch(painter: QPainter, rect: QRect, step: int, tone: str = "layer.reserve") -> None:
    painter.save()
    painter.setClipRect(rect, Qt.ClipOperation.IntersectClip)
    painter.setPen(QPen(Theme.current().color(tone), 1.2))
    high = rect.height()
    for x in range(rect.left() - high, rect.right() + 1, step):
        painter.drawLine(QPointF(x, rect.bottom() + 1), QPointF(x + high, rect.top()))
    painter.restore()
