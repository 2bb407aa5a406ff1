"""The scroll bars of wide tables that a note shows in several parts: one bar for each table.

A bar stands below the last row of its table, or at the lower edge of the visible area while the end
of the table is further down.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, QRect, QSignalBlocker, Signal
from PySide6.QtWidgets import QScrollBar, QWidget

from ui.markdown.page.wide import BAR_HEIGHT, BAR_OVERHANG, make_bar
from ui.theme import Theme

__all__ = ["TableBars", "TableSpan"]


@dataclass(frozen=True)
class TableSpan:
    """A wide table in several parts of a note.

    Attributes:
        table: identifies the table.
        last_part: the index of the lowest part of the note that is drawn and has rows of it.
        area: the rectangle of its drawn rows in the page.
        most: the largest scroll position in pixels.
        offset: the scroll position in pixels.
    """

    table: str
    last_part: int
    area: QRect
    most: int
    offset: int


class TableBars(QObject):
    """The scroll bars of tables in several parts.

    Emits `scrolled` with what identifies a table and its new scroll position, when the user has
    moved its bar.

    Args:
        page: the widget that is scrolled, with all parts of the note. The bars are its children,
            because below a widget that stays in place, Qt paints the whole page at each step.
    """

    scrolled = Signal(str, int)

    def __init__(self, page: QWidget) -> None:
        super().__init__(page)
        self._page = page
        self._bars: list[QScrollBar] = []
        self._spans: Sequence[TableSpan] = ()

    @property
    def visible(self) -> list[QScrollBar]:
        """The scroll bars of the tables that are in view."""
        return [bar for bar in self._bars if not bar.isHidden()]

    def cover(self, view: QWidget) -> None:
        """Keep the bars above a part of the note that was added to the page.

        Raising the bars would draw them again at each step of scrolling. Where something is still
        to be drawn, Qt cannot move what is drawn, and would draw the whole page again.
        """
        if self._bars:
            view.stackUnder(self._bars[0])

    def place(self, spans: Sequence[TableSpan], seen: QRect) -> None:
        """Show a scroll bar for each table that is in view, and hide the others.

        Args:
            spans: the wide tables that are drawn.
            seen: the visible area of the page.
        """
        self._spans = spans
        while len(self._bars) < len(spans):
            bar = make_bar(self._page)
            bar.setProperty("surface", "content")
            bar.valueChanged.connect(self._on_moved)
            self._bars.append(bar)
        for bar in self._bars[len(spans) :]:
            bar.hide()
        self.follow(seen)

    def follow(self, seen: QRect) -> None:
        """Keep the scroll bars in view while the page is scrolled.

        Args:
            seen: the visible area of the page.
        """
        for bar, span in zip(self._bars, self._spans, strict=False):
            self._place(bar, span, seen)

    def _place(self, bar: QScrollBar, span: TableSpan, seen: QRect) -> None:
        with QSignalBlocker(bar):
            bar.setRange(0, span.most)
            bar.setPageStep(span.area.width())
            bar.setValue(span.offset)
        end = span.area.bottom() + BAR_OVERHANG - BAR_HEIGHT
        top = min(end, seen.top() + seen.height() - BAR_HEIGHT)
        bar.setGeometry(span.area.left(), top, span.area.width(), BAR_HEIGHT)
        is_in_view = top >= max(seen.top(), span.area.top() + Theme.current().line("body"))
        bar.setVisible(is_in_view)

    def _on_moved(self, value: int) -> None:
        bar = self.sender()
        place = self._bars.index(bar) if isinstance(bar, QScrollBar) else len(self._spans)
        if place < len(self._spans):
            self.scrolled.emit(self._spans[place].table, value)
