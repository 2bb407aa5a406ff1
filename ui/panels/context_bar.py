"""The stacked bar: the whole window of a request, layer by layer in the order of the wire.

Style Guide: order T L1 L4 L2 L3 E L5 W, so that the reused beginning is one stretch; 2 px gaps; a
part that is not zero is at least 3 px wide; nothing is told by colour alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QHelpEvent, QKeyEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QToolTip, QWidget

from ui.kit.controls import paint_focus
from ui.kit.figures import count, percent, share
from ui.theme import Theme, tokens

__all__ = ["BarPart", "ContextBar", "bar_parts", "slots"]


@dataclass(frozen=True)
class BarPart:
    """A stretch of the bar: a layer's code, or `margin`, `reserve`, `free`."""

    code: str
    tokens: int


def bar_parts(context: Mapping[str, Any]) -> tuple[BarPart, ...]:
    """Return the layers that hold something, then what is free, then what is held back.

    Their tokens add up to the window; over the budget nothing is free and they exceed it.
    """
    used = [BarPart(code, context["layers"][code]["tokens"]) for code in tokens()["layer_order"]]
    free = max(0, context["budget"] - context["used"])
    margin = max(0, context["window"] - context["reserve"] - context["budget"])
    rest = (
        BarPart("free", free),
        BarPart("margin", margin),
        BarPart("reserve", context["reserve"]),
    )
    return tuple(part for part in (*used, *rest) if part.tokens > 0)


def slots(parts: tuple[BarPart, ...], width: int) -> list[tuple[BarPart, int, int]]:
    """Return each part with its left edge and its width, gap included, over a whole width.

    A part too small to be seen gets its least width, and the widest parts pay for it.
    """
    total = sum(part.tokens for part in parts)
    if total <= 0 or width <= 0:
        return []
    least = int(tokens()["bar"]["min_segment"] + tokens()["bar"]["gap"])
    exact = [part.tokens * width / total for part in parts]
    wide = sum(size for size in exact if size > least)
    missing = sum(least - size for size in exact if size <= least)
    factor = max(0.0, (wide - missing) / wide) if wide else 1.0
    found, left = [], 0.0
    for part, size in zip(parts, exact, strict=True):
        right = left + (least if size <= least else size * factor)
        found.append((part, round(left), round(right) - round(left)))
        left = right
    return found


class ContextBar(QProgressBar):
    """Shows a *Context*; one focus stop in which the arrow keys walk the parts."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parts: tuple[BarPart, ...] = ()
        self._reused = self._used = self._budget = 0
        self._current = -1
        self.setTextVisible(False)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Context")

    def show_context(self, context: Mapping[str, Any]) -> None:
        """Draw a request."""
        self._parts = bar_parts(context)
        self._used, self._budget = context["used"], context["budget"]
        self._reused = context["prefix"]["tokens_reused"]
        self.setRange(0, max(1, self._budget))
        self.setValue(min(self._used, max(1, self._budget)))
        figures = f"{count(self._used)} of {count(self._budget)} tokens"
        fraction = percent(context["fraction"]).replace("\N{NO-BREAK SPACE}%", " percent")
        self.setAccessibleName(f"Context {fraction}, {figures}")
        self.update()

    def slots(self) -> list[tuple[BarPart, int, int]]:
        """Return what is drawn where."""
        return slots(self._parts, self.width())

    def sizeHint(self) -> QSize:
        """Return the bar with room for the line under it."""
        theme = Theme.current()
        return QSize(240, theme.px(theme.value("bar.height")) + 4)

    def minimumSizeHint(self) -> QSize:
        """Return the least width in which parts can be told apart."""
        return QSize(120, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the parts, the hatches, and the line under what is reused."""
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        bar = QRect(0, 0, self.width(), self.height() - 4)
        outline = QPainterPath()
        outline.addRoundedRect(QRectF(bar), theme.radius("bar"), theme.radius("bar"))
        painter.save()
        painter.setClipPath(outline)
        drawn = self.slots()
        for place, (part, left, width) in enumerate(drawn):
            gap = theme.value("bar.gap") if place + 1 < len(drawn) else 0
            self._paint_part(painter, part, QRect(left, 0, width - gap, bar.height()))
        painter.restore()
        self._paint_reused(painter, drawn, bar)
        self._paint_budget(painter, bar)
        if self.hasFocus():
            self._paint_focus(painter, drawn, bar)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Walk the parts with the arrow keys, saying each."""
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        step = steps.get(Qt.Key(event.key()))
        if step is None or not self._parts:
            super().keyPressEvent(event)
            return
        self._current = max(0, min(len(self._parts) - 1, self._current + step))
        _, left, width = self.slots()[self._current]
        text = self._describe(self._parts[self._current])
        self.setAccessibleDescription(text)
        QToolTip.showText(
            self.mapToGlobal(QRect(left, 0, width, self.height()).bottomLeft()), text, self
        )
        self.update()

    def event(self, event: QEvent) -> bool:
        """Answer tooltips by the part under the pointer."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self._text_at(event.pos().x()), self)
            return True
        return super().event(event)

    def _text_at(self, x: int) -> str:
        for part, left, width in self.slots():
            if left <= x < left + width:
                return self._describe(part)
        return ""

    def _describe(self, part: BarPart) -> str:
        name = tokens()["layer_name"][part.code]
        if part.code in tokens()["layer_order"]:
            ratio = share(part.tokens, self._budget)
            return f"{part.code} {name}: {count(part.tokens)} tokens, {ratio}"
        return f"{name}: {count(part.tokens)} tokens"

    def _paint_part(self, painter: QPainter, part: BarPart, rect: QRect) -> None:
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

    def _paint_reused(
        self, painter: QPainter, drawn: list[tuple[BarPart, int, int]], bar: QRect
    ) -> None:
        right, left_over = 0.0, self._reused
        for part, left, width in drawn:
            if left_over <= 0 or part.code not in tokens()["layer_order"]:
                break
            covered = min(1.0, left_over / part.tokens)
            right = left + (width - 2) * covered
            left_over -= part.tokens
        line = QRectF(0, bar.bottom() + 3, right, 2)
        painter.fillRect(line, Theme.current().color("success.graphic"))

    def _paint_budget(self, painter: QPainter, bar: QRect) -> None:
        """Mark the end of the budget where the request goes over it, and hatch what is beyond."""
        total = sum(part.tokens for part in self._parts)
        if self._used <= self._budget or total <= 0:
            return
        x = round(self._budget * self.width() / total)
        end = round(self._used * self.width() / total)
        red = Theme.current().color("danger.graphic")
        painter.save()
        painter.setClipRect(QRect(x, 0, end - x, bar.height()))
        painter.fillRect(bar, Theme.current().color("danger.soft"))
        _hatch(painter, QRect(x, 0, end - x, bar.height()), 5, "danger.graphic")
        painter.restore()
        painter.fillRect(QRect(x - 1, 0, 2, self.height()), red)

    def _paint_focus(
        self, painter: QPainter, drawn: list[tuple[BarPart, int, int]], bar: QRect
    ) -> None:
        if 0 <= self._current < len(drawn):
            _, left, width = drawn[self._current]
            painter.setPen(QPen(Theme.current().color("text.primary"), 1))
            painter.drawRect(QRectF(left + 0.5, 0.5, max(2, width - 3), bar.height() - 1))
        paint_focus(painter, bar, "bar")


def _hatch(painter: QPainter, rect: QRect, step: int, tone: str = "layer.reserve") -> None:
    painter.save()
    painter.setClipRect(rect, Qt.ClipOperation.IntersectClip)
    painter.setPen(QPen(Theme.current().color(tone), 1.2))
    high = rect.height()
    for x in range(rect.left() - high, rect.right() + 1, step):
        painter.drawLine(QPointF(x, rect.bottom() + 1), QPointF(x + high, rect.top()))
    painter.restore()
