"""Horizontal scrolling of code and tables that are wider than the viewport.

Code is scrolled by changing the indent of its lines, and tables by changing their margin, so that
Qt's layout knows all positions. Selecting, finding and clicking therefore need no extra code. The
painting code clips wide blocks: `bands` divides a region of the viewport into rectangles that are
painted separately.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QObject, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QTextBlock, QTextCursor, QTextDocument
from PySide6.QtWidgets import QScrollBar, QWidget

from ui.markdown.page.decorations import Decorations, Panel, ReplacedPart, Rows
from ui.markdown.page.geometry import find_bottom, find_top
from ui.markdown.page.spacing import CODE_PADDING, Inset
from ui.markdown.page.table import CELL_PADDING, choose_size, set_table_size
from ui.markdown.page.writer import OUTDENT

__all__ = ["BAR_HEIGHT", "BAR_OVERHANG", "SharedTable", "WideBlocks", "make_bar"]

BAR_HEIGHT = 8
BAR_OVERHANG = CELL_PADDING  # of a table's bar below the table
_STEP = 40
_RECOUNTED = 60
PanelRect = Callable[[Panel], QRectF]


@dataclass(eq=False)
class _Strip:
    """A code block or a table that can be scrolled horizontally.

    Attributes:
        key: a number that identifies the block: its first text position, negative for a table.
        panel: the background of a code block, or None for a table.
        tables: the groups of rows of a table, or an empty list for a code block.
        rect: the visible rectangle in the view.
        content: the full width in pixels.
        offset: the horizontal scroll position in pixels.
        shared: identifies a table that goes on in another view, or an empty string.
    """

    key: int
    panel: Panel | None = None
    tables: list[Rows] = field(default_factory=list)
    rect: QRect = field(default_factory=QRect)
    content: int = 0
    offset: int = 0
    shared: str = ""

    @property
    def most(self) -> int:
        """The largest scroll position in pixels, or 0 if the code block or table fits."""
        return max(0, self.content - self.rect.width())


@dataclass(frozen=True)
class SharedTable:
    """A wide table that goes on in another view. Its scroll bar belongs to the parent of the views.

    Attributes:
        table: identifies the table.
        rect: the visible rectangle of its rows in this view.
        most: the largest scroll position in pixels.
        offset: the scroll position in pixels.
        is_continued: whether the table begins in an earlier view.
    """

    table: str
    rect: QRect
    most: int
    offset: int
    is_continued: bool


class WideBlocks(QObject):
    """The code blocks and tables that are wider than the viewport of their view.

    Signals:
        moved: emitted when one of them has been scrolled.
        table_scrolled: emitted with the scroll position of a table that goes on in another view,
            and with what identifies the table.

    Args:
        viewport: the widget that the view paints on.
        document: the document of the view.
    """

    moved = Signal()
    table_scrolled = Signal(str, int)

    def __init__(self, viewport: QWidget, document: QTextDocument) -> None:
        super().__init__(viewport)
        self._viewport, self._document = viewport, document
        self._strips: list[_Strip] = []
        self._offsets: dict[int, int] = {}
        self._widest: dict[int, tuple[int, float]] = {}
        self._bars: list[QScrollBar] = []
        self._above = self._below = ""
        self._shared: Mapping[str, int] = {}

    def share(self, above: str, below: str, offsets: Mapping[str, int]) -> None:
        """Set which tables go on in other views, where they have the same scroll position.

        They get no scroll bar here.

        Args:
            above: identifies the table that begins in an earlier view, or an empty string.
            below: identifies the table that goes on in the next view, or an empty string.
            offsets: the scroll positions of such tables, which the caller keeps up to date.
        """
        self._above, self._below, self._shared = above, below, offsets

    def scroll_table(self, shared: str, offset: int) -> None:
        """Scroll a table to the position that it has in another view, if it is in this one."""
        for strip, bar in zip(self._strips, self._bars, strict=False):
            if strip.shared == shared:
                bar.setValue(offset)

    @property
    def shared_tables(self) -> list[SharedTable]:
        """The tables of this view that go on in other views and are too wide, from the top."""
        return [
            SharedTable(
                strip.shared, strip.rect, strip.most, strip.offset, strip.tables[0].is_continued
            )
            for strip in self._strips
            if strip.shared
        ]

    @property
    def bars(self) -> list[QScrollBar]:
        """The visible scroll bars of wide code blocks and tables."""
        return [bar for bar in self._bars if not bar.isHidden()]

    def forget(self) -> None:
        """Forget all blocks and scroll positions, because the document has been rewritten."""
        self._offsets, self._widest, self._strips = {}, {}, []

    def follow(self, part: ReplacedPart) -> None:
        """Keep the scroll positions of the blocks below a part of the text that was replaced."""
        moved = ((abs(key), key < 0, at) for key, at in self._offsets.items())
        self._offsets = {
            -part.move(first) if is_table else part.move(first): at for first, is_table, at in moved
        }
        self._widest = {}

    def fit_tables(self, *all_decorations: Decorations) -> None:
        """Give each table the width of the page, or more if its columns need more space.

        Args:
            *all_decorations: the decorations of the document, which contain its tables.
        """
        for rows in (rows for decorations in all_decorations for rows in decorations.tables):
            self._fit_table(rows)

    def update(self, panel_rect: PanelRect, *all_decorations: Decorations) -> None:
        """Find the blocks that are too wide for the view, and place their scroll bars.

        Call this after the document has been laid out.

        Args:
            panel_rect: returns the rectangle of a code block's background.
            *all_decorations: the decorations of the document.
        """
        found = [*self._codes(panel_rect, all_decorations), *self._tables(all_decorations)]
        for strip in found:
            if strip.most or strip.offset:
                self._move(strip, min(strip.offset, strip.most))
        self._strips = [strip for strip in found if strip.most]
        self._place_bars()

    def scroll(self, y: int, by: int) -> bool:
        """Scroll the wide code block or table at a position in the view.

        Return False if no wide code block or table is there.

        Args:
            y: the y coordinate of the position.
            by: the distance in pixels to the right, or to the left if it is negative.
        """
        for strip, bar in zip(self._strips, self._bars, strict=False):
            if strip.rect.top() <= y <= strip.rect.bottom() + BAR_HEIGHT:
                bar.setValue(bar.value() + by)
                return True
        return False

    def step(self, by: int, seen: QRect) -> bool:
        """Scroll the visible wide code blocks and tables.

        Return False if none is visible.

        Args:
            by: the number of steps of 40 pixels to the right, or to the left if it is negative.
            seen: the visible rectangle of the view.
        """
        moved = False
        for strip, bar in zip(self._strips, self._bars, strict=False):
            if strip.rect.intersects(seen):
                bar.setValue(bar.value() + by * _STEP)
                moved = True
        return moved

    def bands(self, rect: QRect) -> Iterator[QRect]:
        """Divide a region of the view into horizontal bands. Each wide block has its own band."""
        top = rect.top()
        for strip in sorted(self._strips, key=lambda strip: strip.rect.top()):
            if strip.rect.bottom() < rect.top() or strip.rect.top() > rect.bottom():
                continue
            if strip.rect.top() > top:
                yield QRect(rect.left(), top, rect.width(), strip.rect.top() - top)
            yield strip.rect.intersected(rect)
            top = strip.rect.bottom() + 1
        if top <= rect.bottom():
            yield QRect(rect.left(), top, rect.width(), rect.bottom() - top + 1)

    def _codes(
        self, panel_rect: PanelRect, all_decorations: Sequence[Decorations]
    ) -> Iterator[_Strip]:
        for panel in (
            panel
            for decorations in all_decorations
            for panel in decorations.panels
            if panel.kind == "code"
        ):
            outer = panel_rect(panel)
            top, bottom = (
                find_top(self._document, panel.first),
                find_bottom(self._document, panel.last),
            )
            left, right = outer.left() + CODE_PADDING, outer.right() - CODE_PADDING
            rect = QRectF(left, top, right - left, bottom - top).toRect()
            key = panel.first
            content = round(self._widest_line(panel))
            yield _Strip(key, panel, [], rect, content, self._offsets.get(key, 0))

    def _tables(self, all_decorations: Sequence[Decorations]) -> Iterator[_Strip]:
        layout, width = self._document.documentLayout(), self._document.textWidth()
        groups = list(
            _groups([rows for decorations in all_decorations for rows in decorations.tables])
        )
        for tables in groups:
            if not tables[0].is_wide:
                continue
            is_last = tables is groups[-1]
            shared = self._above if tables[0].is_continued else self._below if is_last else ""
            first = layout.frameBoundingRect(tables[0].table)
            last = layout.frameBoundingRect(tables[-1].table)
            left = OUTDENT + tables[0].start_inset
            right = width - OUTDENT - tables[0].end_inset
            rect = QRectF(left, first.top(), right - left, last.bottom() - first.top())
            key = -tables[0].first
            content = round(sum(tables[0].lengths))
            start = content if tables[0].is_rtl else 0
            offset = self._shared.get(shared, self._offsets.get(key, start))
            yield _Strip(key, None, tables, rect.toRect(), content, offset, shared)

    def _widest_line(self, panel: Panel) -> float:
        """Return the width in pixels of a code block's longest line.

        Earlier lines were measured by earlier calls. Only the newest lines are measured again.
        """
        position, widest = self._widest.get(panel.first, (panel.first, 0.0))
        if position > panel.last:
            position, widest = panel.first, 0.0
        block = self._document.findBlock(position)
        end = self._document.findBlock(panel.last).blockNumber()
        settled = (position, widest)
        while block.isValid() and block.blockNumber() <= end:
            widest = max(widest, _line_width(block))
            block = block.next()
            if block.isValid() and block.blockNumber() == end - _RECOUNTED:
                settled = (block.position(), widest)
        self._widest[panel.first] = settled
        return widest

    def _fit_table(self, rows: Rows) -> None:
        inset = Inset(rows.start_inset, rows.end_inset)
        size = choose_size(rows.lengths, inset, self._document.textWidth() - 2 * OUTDENT)
        if size == rows.size:
            return
        rows.size = size
        made = rows.table.format().toTableFormat()
        made.setLeftMargin(rows.start_inset)
        set_table_size(made, size, rows.lengths, rows.shares)
        rows.table.setFormat(made)

    def _move(self, strip: _Strip, offset: int) -> None:
        strip.offset = offset
        if strip.panel is not None:
            self._indent(strip.panel, -offset)
        for rows in strip.tables:
            made = rows.table.format().toTableFormat()
            if made.leftMargin() != rows.start_inset - offset:
                made.setLeftMargin(rows.start_inset - offset)
                rows.table.setFormat(made)

    def _indent(self, panel: Panel, indent: int) -> None:
        block = self._document.findBlock(panel.first)
        end = self._document.findBlock(panel.last).blockNumber()
        cursor = QTextCursor(block)
        cursor.beginEditBlock()
        while block.isValid() and block.blockNumber() <= end:
            made = block.blockFormat()
            if made.textIndent() != indent:
                made.setTextIndent(indent)
                QTextCursor(block).setBlockFormat(made)
            block = block.next()
        cursor.endEditBlock()

    def _place_bars(self) -> None:
        while len(self._bars) < len(self._strips):
            self._bars.append(make_bar(self._viewport))
            self._bars[-1].valueChanged.connect(self._on_scrolled)
        for bar, strip in zip(self._bars, self._strips, strict=False):
            bar.blockSignals(True)
            bar.setRange(0, strip.most)
            bar.setPageStep(strip.rect.width())
            bar.setValue(strip.offset)
            bar.blockSignals(False)
            below = strip.rect.bottom() + (2 if strip.panel else BAR_OVERHANG - BAR_HEIGHT)
            bar.setGeometry(strip.rect.left(), below, strip.rect.width(), BAR_HEIGHT)
            bar.setVisible(not strip.shared)
        for bar in self._bars[len(self._strips) :]:
            bar.hide()

    def _on_scrolled(self, value: int) -> None:
        bar = self.sender()
        if isinstance(bar, QScrollBar) and bar in self._bars:
            place = self._bars.index(bar)
            if place < len(self._strips):
                strip = self._strips[place]
                self._offsets[strip.key] = value
                self._move(strip, value)
                self.moved.emit()
                if strip.shared:
                    self.table_scrolled.emit(strip.shared, value)


def make_bar(parent: QWidget) -> QScrollBar:
    """Return a scroll bar for a code block or table that is too wide."""
    bar = QScrollBar(Qt.Orientation.Horizontal, parent)
    bar.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    bar.setCursor(Qt.CursorShape.ArrowCursor)
    bar.setAccessibleName("Scroll sideways")
    bar.setSingleStep(_STEP)
    return bar


def _line_width(block: QTextBlock) -> float:
    layout = block.layout()
    return layout.lineAt(0).naturalTextWidth() if layout.lineCount() else 0.0


def _groups(tables: Sequence[Rows]) -> Iterator[list[Rows]]:
    group: list[Rows] = []
    for rows in tables:
        if group and not rows.is_continued:
            yield group
            group = []
        group.append(rows)
    if group:
        yield group
