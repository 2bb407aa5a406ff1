"""Paint the decorations behind and next to the text: backgrounds, pills, markers, lines.

The document itself contains only text. Rectangles are computed once per layout and then cached,
because a final block does not move when text is appended.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import TypeVar

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QTextDocument

from ui.icons import paint_icon
from ui.markdown.page.decorations import (
    Decorations,
    ListMarker,
    Panel,
    Pill,
    Rows,
    RuleLine,
    Span,
    list_tasks,
)
from ui.markdown.page.geometry import baseline, find_bottom, find_origin, find_top, line_at, pieces
from ui.markdown.page.spacing import CODE_PADDING, EMBED_INSET
from ui.markdown.page.table import CELL_PADDING
from ui.markdown.page.writer import OUTDENT
from ui.theme import Theme

__all__ = ["DecorationPainter", "Reach"]

_PANEL_PADDING = {
    "code": CODE_PADDING,
    "missing": CODE_PADDING,
    "callout": 10,
    "quote": 2,
    "embed": 2,
}
_CODE_HEAD = 24
_SPARE = 2  # above and below highlighted lines


# The first and the last visible text position.
Reach = tuple[int, int]
_Decoration = TypeVar("_Decoration", ListMarker, Span, Pill, RuleLine, Rows)


@dataclass(slots=True)
class _Placed:
    """The cached positions of a decoration: its rectangles, and the baselines of its lines."""

    decoration: object
    rects: list[QRectF]
    lows: list[float]


class DecorationPainter:
    """Paints the decorations of one document.

    Attributes:
        doubtful: the start positions of the unverified citations.
        marked: the citation number whose citations are highlighted, or 0 for none.
    """

    def __init__(self, document: QTextDocument) -> None:
        self._document = document
        self._placed: dict[int, _Placed] = {}
        self.doubtful: frozenset[int] = frozenset()
        self.marked = 0

    @property
    def _page_width(self) -> float:
        """The width of the view in pixels. A long line of code can make the document wider."""
        return self._document.textWidth()

    def forget(self) -> None:
        """Clear all cached positions, because the width of the view or earlier text has changed."""
        self._placed.clear()

    def forget_tail(self, tail: Decorations, open_code: Panel | None) -> None:
        """Clear the cached positions of the end of the document, which may still change.

        Args:
            tail: the decorations at the end of the document.
            open_code: the background of a code block that is not closed yet, or None.
        """
        groups = (tail.panels, tail.marks, tail.spans, tail.pills)
        for decoration in (decoration for group in groups for decoration in group):
            self._placed.pop(id(decoration), None)
        if open_code is not None:
            self._placed.pop(id(open_code), None)

    def panel_rect(self, panel: Panel) -> QRectF:
        """Return the rectangle of the background behind a code block, callout or quote."""
        return self._place(panel).rects[0]

    def list_pill_rects(self, pill: Pill) -> list[QRectF]:
        """Return the rectangles of a citation, one per line."""
        return self._place(pill).rects

    def paint_panels(self, painter: QPainter, decorations: Decorations, reach: Reach) -> None:
        """Paint the visible backgrounds of code blocks, callouts, quotes and missing images.

        Args:
            painter: the painter of the view.
            decorations: the decorations to paint.
            reach: the first and last visible text position, as returned by `find_reach`.
        """
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        first, last = reach
        for panel in decorations.panels:
            if panel.first <= last and panel.last >= first:
                self._paint_panel(painter, panel, decorations)

    def paint_band(
        self,
        painter: QPainter,
        all_decorations: Sequence[Decorations],
        band: tuple[float, float],
        width: int,
    ) -> None:
        """Paint the background of highlighted lines.

        A code block or callout that is highlighted as a whole keeps its own background.

        Args:
            painter: the painter of the view.
            all_decorations: the decorations of the document, the final ones and those at its end.
            band: the y coordinates of the upper and lower edge of the lines.
            width: the width of the view.
        """
        theme, (top, bottom) = Theme.current(), band
        area = QRectF(0, top - _SPARE, width, bottom - top + 2 * _SPARE)
        reach = area.adjusted(0, -_CODE_HEAD - CODE_PADDING, 0, CODE_PADDING)
        panels = (
            panel
            for decorations in all_decorations
            for panel in decorations.panels
            if panel.kind != "quote"
        )
        rects = [rect for rect in map(self.panel_rect, panels) if _is_within(rect, reach)]
        for rect in rects:
            area.setTop(min(area.top(), rect.top() - _SPARE))
            area.setBottom(max(area.bottom(), rect.bottom() + _SPARE))
        shape, rounding = QPainterPath(), theme.radius("sm")
        shape.addRoundedRect(area, rounding, rounding)
        for rect in rects:
            own = QPainterPath()
            own.addRoundedRect(rect, theme.radius("lg"), theme.radius("lg"))
            shape = shape.subtracted(own)
        painter.fillPath(shape, theme.color("diff.mark_bg"))

    def paint_below(self, painter: QPainter, decorations: Decorations, reach: Reach) -> None:
        """Paint the visible backgrounds of inline code, chosen tabs and citations.

        The arguments are those of `paint_panels`.
        """
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        first, last = reach
        for span in _between(decorations.spans, first, last):
            self._paint_rounded(painter, span, span.tone)
        for pill in _between(decorations.pills, first, last):
            is_doubtful = pill.start in self.doubtful
            self._paint_rounded(painter, pill, self._choose_background(decorations, pill))
            if self.marked in pill.numbers:
                self._paint_marked(painter, pill, "amber" if is_doubtful else "accent")

    def paint_beside(self, painter: QPainter, decorations: Decorations, reach: Reach) -> None:
        """Paint the visible list markers, rules, table lines and question marks of citations.

        The arguments are those of `paint_panels`.
        """
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        first, last = reach
        for mark in _between(decorations.marks, first, last):
            self._paint_mark(painter, mark)
        for rule in _between(decorations.rules, first, last):
            self._paint_rule(painter, rule.start)
        for rows in _list_tables(decorations.tables, first, last):
            self._paint_table(painter, rows)
        for pill in _between(decorations.pills, first, last):
            if pill.start in self.doubtful:
                self._paint_doubt(painter, pill)

    def paint_ring(self, painter: QPainter, start: int, end: int) -> None:
        """Paint a focus ring around a link or citation, in place of Qt's dotted rectangle."""
        pen = QPen(Theme.current().color("line.focus"), 2)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for rect, _ in pieces(self._document, start, end):
            painter.drawRoundedRect(rect.adjusted(-0.5, 0, 0.5, 0), 2, 2)

    def find_reach(self, clip: QRectF) -> Reach:
        """Return the first and last text position to paint for a clip rectangle.

        A little more than the rectangle is included at the top and the bottom.
        """
        layout = self._document.documentLayout()
        spare = 2 * Theme.current().line("body")
        fuzzy = Qt.HitTestAccuracy.FuzzyHit
        first = layout.hitTest(QPointF(0, clip.top() - spare), fuzzy)
        last = layout.hitTest(QPointF(self._page_width, clip.bottom() + spare), fuzzy)
        return self._document.findBlock(first).position(), last

    def find_task(self, decorations: Decorations, spot: QPointF) -> ListMarker | None:
        """Return the checkbox at a point in the view, or None."""
        tasks = list_tasks(decorations)
        return next((mark for mark in tasks if self._place(mark).rects[0].contains(spot)), None)

    def find_box(self, mark: ListMarker) -> QRect:
        """Return the square in which a checkbox is drawn, in view coordinates."""
        rect, side = self._place(mark).rects[0], Theme.current().px(17)
        direction = self._document.findBlock(mark.start).textDirection()
        is_rtl = direction == Qt.LayoutDirection.RightToLeft
        x = rect.left() + 5 if is_rtl else rect.right() - side - 5
        return QRect(round(x), round(rect.center().y() - side / 2) + 1, side, side)

    def _place(self, decoration: Panel | Span | Pill | ListMarker) -> _Placed:
        placed = self._placed.get(id(decoration))
        if placed is None:
            placed = self._placed[id(decoration)] = self._find(decoration)
        return placed

    def _find(self, decoration: Panel | Span | Pill | ListMarker) -> _Placed:
        if isinstance(decoration, Panel):
            return _Placed(decoration, [self._find_panel(decoration)], [])
        if isinstance(decoration, ListMarker):
            rect, low = self._find_mark(decoration)
            return _Placed(decoration, [rect], [low])
        found = list(pieces(self._document, decoration.start, decoration.end))
        theme = Theme.current()
        above, below = (13, 5) if isinstance(decoration, Pill) else (14, 5)
        side = -1 if isinstance(decoration, Pill) else 3
        rects = [
            QRectF(
                rect.x() - side,
                round(low - theme.px(above)),
                rect.width() + 2 * side,
                theme.px(above) + theme.px(below),
            )
            for rect, low in found
        ]
        return _Placed(decoration, rects, [low for _, low in found])

    def _find_panel(self, panel: Panel) -> QRectF:
        padding = _PANEL_PADDING[panel.kind]
        head = Theme.current().px(_CODE_HEAD) if panel.kind == "code" else 0
        top = find_top(self._document, panel.first) - padding - head
        bottom = find_bottom(self._document, panel.last) + padding
        last = self._document.findBlock(panel.last).blockFormat()
        if panel.kind != "code" and last.nonBreakableLines():
            bottom += CODE_PADDING  # the last block is code, whose background extends further down
        start, end = (panel.end, panel.start) if panel.is_rtl else (panel.start, panel.end)
        left = OUTDENT + start
        right = self._page_width - OUTDENT - end
        return QRectF(left, round(top), right - left, round(bottom) - round(top))

    def _find_mark(self, mark: ListMarker) -> tuple[QRectF, float]:
        block, line = line_at(self._document, mark.start)
        origin = find_origin(block)
        low = baseline(block, line)
        theme = Theme.current()
        width, high = theme.px(36), theme.px(20)
        is_rtl = block.textDirection() == Qt.LayoutDirection.RightToLeft
        edge = origin.x() + line.x()
        x = edge + line.width() if is_rtl else edge - width
        return QRectF(x, low - theme.px(16), width, high), low

    def _paint_panel(self, painter: QPainter, panel: Panel, decorations: Decorations) -> None:
        theme, rect = Theme.current(), self.panel_rect(panel)
        if panel.kind == "quote":
            top, bottom = self._find_quote_ends(panel, decorations)
            x = rect.right() - 3 if panel.is_rtl else rect.left()
            painter.fillRect(QRectF(x, top, 3, bottom - top), theme.color("line.strong"))
            return
        if panel.kind == "embed":
            self._paint_embed(painter, panel, decorations)
            return
        soft = "bg.raised" if panel.tone in {"", "neutral"} else f"{panel.tone}.soft"
        shape = QPainterPath()
        shape.addRoundedRect(rect, theme.radius("lg"), theme.radius("lg"))
        painter.fillPath(shape, theme.color(soft))
        if panel.kind == "callout":
            self._paint_callout(painter, panel, rect, shape)
        elif panel.kind == "missing":
            spot = QRect(round(rect.left()) + 12, round(rect.center().y()) - 8, 16, 16)
            paint_icon(painter, spot, panel.icon, "text.tertiary")
        else:
            self._paint_code_head(painter, panel, rect)

    def _paint_embed(self, painter: QPainter, panel: Panel, decorations: Decorations) -> None:
        """Paint the line beside an embedded note, and the icon before its title."""
        theme, rect = Theme.current(), self.panel_rect(panel)
        top, bottom = self._find_quote_ends(panel, decorations)
        x = rect.right() - 2 if panel.is_rtl else rect.left()
        painter.fillRect(QRectF(x, top, 2, bottom - top), theme.color("line.control"))
        side = theme.px(16)
        block, first = line_at(self._document, panel.first)
        middle = baseline(block, first) - theme.px(4)
        inset = theme.px(EMBED_INSET)
        left = rect.right() - inset - side if panel.is_rtl else rect.left() + inset
        spot = QRect(round(left), round(middle - side / 2), side, side)
        paint_icon(painter, spot, panel.icon, "text.secondary")

    def _find_quote_ends(self, quote: Panel, decorations: Decorations) -> tuple[float, float]:
        """Return the y coordinates of the top and bottom edges of a quote or embedded note.

        They include a background, such as that of code, at its start or end.
        """
        codes = [
            panel
            for panel in decorations.panels
            if panel.kind in {"code", "missing", "callout"}
            and quote.first <= panel.first <= panel.last <= quote.last
        ]
        rect = self.panel_rect(quote)
        tops = [self.panel_rect(code).top() for code in codes if code.first == quote.first]
        bottoms = [self.panel_rect(code).bottom() for code in codes if code.last == quote.last]
        return min([rect.top(), *tops]), max([rect.bottom(), *bottoms])

    def _paint_callout(
        self, painter: QPainter, panel: Panel, rect: QRectF, shape: QPainterPath
    ) -> None:
        theme = Theme.current()
        tone = "text.secondary" if panel.tone == "neutral" else f"{panel.tone}.graphic"
        line = "line.control" if panel.tone == "neutral" else f"{panel.tone}.graphic"
        x = rect.right() - 3 if panel.is_rtl else rect.left()
        painter.save()
        painter.setClipPath(shape, Qt.ClipOperation.IntersectClip)
        painter.fillRect(QRectF(x, rect.top(), 3, rect.height()), theme.color(line))
        painter.restore()
        side = theme.px(16)
        block, first = line_at(self._document, panel.first)
        middle = baseline(block, first) - theme.px(5)
        left = rect.right() - 12 - side if panel.is_rtl else rect.left() + 12
        paint_icon(
            painter, QRect(round(left), round(middle - side / 2), side, side), panel.icon, tone
        )

    def _paint_code_head(self, painter: QPainter, panel: Panel, rect: QRectF) -> None:
        theme = Theme.current()
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.color("text.secondary"))
        head = QRectF(rect.left() + 12, rect.top() + 8, rect.width() - 60, theme.px(20))
        words = painter.fontMetrics().elidedText(
            panel.language, Qt.TextElideMode.ElideRight, round(head.width())
        )
        painter.drawText(head, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)
        painter.setPen(Qt.PenStyle.NoPen)

    def _paint_rounded(self, painter: QPainter, decoration: Span | Pill, tone: str) -> None:
        theme = Theme.current()
        painter.setBrush(theme.color(tone))
        for rect in self._place(decoration).rects:
            painter.drawRoundedRect(rect, theme.radius("sm"), theme.radius("sm"))

    def _choose_background(self, decorations: Decorations, pill: Pill) -> str:
        """Return the name of the theme colour for a citation's background.

        This is an accent colour, or amber for an unverified citation. An unverified citation inside
        an amber callout has the colour of the page, so that it remains visible.
        """
        if pill.start not in self.doubtful:
            return "accent.soft"
        is_on_amber = any(
            panel.tone == "amber" and panel.first <= pill.start <= panel.last
            for panel in decorations.panels
        )
        return "bg.content" if is_on_amber else "amber.soft"

    def _paint_marked(self, painter: QPainter, pill: Pill, kind: str) -> None:
        """Paint a border around a citation whose source is highlighted.

        Args:
            painter: the painter of the view.
            pill: the citation.
            kind: `accent` for a verified citation, or `amber` for an unverified one.
        """
        theme = Theme.current()
        painter.save()
        tone = "accent.base" if kind == "accent" else "amber.graphic"
        painter.setPen(QPen(theme.color(tone), 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for rect in self._place(pill).rects:
            painter.drawRoundedRect(rect, theme.radius("sm"), theme.radius("sm"))
        painter.restore()

    def _paint_mark(self, painter: QPainter, mark: ListMarker) -> None:
        rect = self._place(mark).rects[0]
        direction = self._document.findBlock(mark.start).textDirection()
        is_rtl = direction == Qt.LayoutDirection.RightToLeft
        if mark.status:
            self._paint_box(painter, self.find_box(mark), mark.status)
        elif mark.text == "•":
            self._paint_bullet(painter, rect, is_rtl)
        else:
            self._paint_number(painter, mark, rect, is_rtl)

    def _paint_number(
        self, painter: QPainter, mark: ListMarker, rect: QRectF, is_rtl: bool
    ) -> None:
        theme = Theme.current()
        role = "body" if mark.text[-1:] in {".", ")"} else "caption"
        painter.setFont(theme.font(role, numbers=True))
        painter.setPen(theme.color("text.tertiary"))
        width = painter.fontMetrics().horizontalAdvance(mark.text)
        x = rect.left() + 7 if is_rtl else rect.right() - 7 - width
        ways = Qt.LayoutDirection
        painter.setLayoutDirection(ways.RightToLeft if is_rtl else ways.LeftToRight)
        painter.drawText(QPointF(x, self._place(mark).lows[0]), mark.text)
        painter.setLayoutDirection(ways.LeftToRight)

    def _paint_bullet(self, painter: QPainter, rect: QRectF, is_rtl: bool) -> None:
        theme = Theme.current()
        size = theme.px(5)
        x = rect.left() + 14 if is_rtl else rect.right() - theme.px(22) + 3
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("text.tertiary"))
        painter.drawEllipse(QRectF(x, rect.center().y() - size / 2 + 1, size, size))

    def _paint_box(self, painter: QPainter, spot: QRect, status: str) -> None:
        """Paint a checkbox, with its character if it is neither open nor done."""
        if status == "x":
            paint_icon(painter, spot, "check-square", "text.secondary")
            return
        paint_icon(painter, spot, "square", "text.tertiary")
        if status != " ":
            theme = Theme.current()
            painter.setFont(theme.font("chip", weight=600))
            painter.setPen(theme.color("text.secondary"))
            painter.drawText(spot, Qt.AlignmentFlag.AlignCenter, status)

    def _paint_rule(self, painter: QPainter, position: int) -> None:
        width = self._page_width - 2 * OUTDENT
        top = round(find_top(self._document, position))
        painter.fillRect(QRectF(OUTDENT, top, width, 1), Theme.current().color("line.hairline"))

    def _paint_table(self, painter: QPainter, rows: Rows) -> None:
        """Paint a hairline above each row except a table's header, as wide as the text around."""
        table = rows.table
        area = self._document.documentLayout().frameBoundingRect(table)
        area.setLeft(max(area.left(), OUTDENT + rows.start_inset))
        area.setRight(min(area.right(), self._page_width - OUTDENT - rows.end_inset))
        has_header = table.format().toTableFormat().headerRowCount() > 0
        for row in range(1 if has_header else 0, table.rows()):
            cell = table.cellAt(row, 0).firstCursorPosition()
            top = round(find_top(self._document, cell.position()) - CELL_PADDING)
            self._hairline(painter, area, top, is_strong=has_header and row == 1)

    def _hairline(self, painter: QPainter, area: QRectF, top: int, *, is_strong: bool) -> None:
        color: QColor = Theme.current().color("line.strong" if is_strong else "line.hairline")
        painter.fillRect(QRectF(area.left(), top, area.width(), 1), color)

    def _paint_doubt(self, painter: QPainter, pill: Pill) -> None:
        """Paint the question mark of an unverified citation in the space after its bracket."""
        placed = self._place(pill)
        theme = Theme.current()
        painter.setFont(theme.font("chip", weight=600))
        painter.setPen(theme.color("amber.text"))
        width = painter.fontMetrics().horizontalAdvance("?")
        for rect, low in zip(placed.rects, placed.lows, strict=True):
            painter.drawText(QPointF(rect.right() - width - 5, low), "?")


def _list_tables(tables: Sequence[Rows], first: int, last: int) -> Iterator[Rows]:
    """Yield the groups of rows of which a part is between two text positions."""
    ending = islice(tables, bisect_left(tables, first, key=_start), None)
    return takewhile(lambda rows: rows.first <= last, ending)


def _between(decorations: list[_Decoration], first: int, last: int) -> list[_Decoration]:
    """Return the decorations that start between two text positions.

    Args:
        decorations: decorations of one kind, in text order.
        first: the first text position.
        last: the last text position.
    """
    return decorations[
        bisect_left(decorations, first, key=_start) : bisect_right(decorations, last, key=_start)
    ]


def _start(decoration: ListMarker | Span | Pill | RuleLine | Rows) -> int:
    return decoration.start


def _is_within(rect: QRectF, reach: QRectF) -> bool:
    """Return whether a background is in the reach of highlighted lines from top to bottom."""
    return reach.top() <= rect.top() and rect.bottom() <= reach.bottom()
