"""A view of a rendered note that draws only the parts near the visible area.

A long note is divided into parts. Each part near the visible area has its own widget. The height of
the other parts is estimated. When a widget is created, the line at the top of the visible area does
not move.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import accumulate
from operator import add

from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QFrame, QMenu, QScrollArea, QWidget

from app.faults import report_fault
from ui.markdown.embeds import list_view_sources
from ui.markdown.inline import FOOTNOTE, MORE, find_counterpart
from ui.markdown.note_parts import (
    NotePart,
    count_common,
    cut_parts,
    find_part,
    keep_cuts,
    read_part,
)
from ui.markdown.page.images import Embedded
from ui.markdown.page.note_view import NoteView
from ui.markdown.page.spacing import compute_distance
from ui.markdown.page.view import SPARE_BELOW
from ui.panels.notes.table_bar import TableBars, TableSpan
from ui.theme import Theme, dress
from ui.widgets.geometry import compute_column

__all__ = ["NoteReader"]

_ABOVE, _BELOW, _GAP = 20, 48, 16
# Between two parts of one table, whose rows are as far apart as others.
_SEAM = -SPARE_BELOW
_END = NotePart(0, "")
_LINE_CHARS = 90
_CELL_CHARS = 30  # that fit into a column of a table, which may be wider than the text
_TARGET_SHARE = 5  # a target line is shown a fifth of the height below the upper edge
_KEPT_PAGES = 4


class NoteReader(QScrollArea):
    """Shows a note as rendered Markdown, with highlighted lines.

    Signals:
        link_clicked: emitted with the address of a clicked link that may be opened.
        task_pressed: emitted with the line of a task whose checkbox was pressed.
        listed_task_pressed: emitted with the link of a task that a query lists, when its checkbox
            was pressed.
        embed_wanted: emitted with the source of an image or embedded note that has to be loaded.
        selection_changed: emitted when the selection has changed.
        menu_wanted: emitted with the context menu of the text before it is shown.
        part_drawn: emitted with the index of a part each time it has been drawn.

    Attributes:
        table_bars: the scroll bars of wide tables that are drawn in several parts.
    """

    part_drawn = Signal(int)

    embed_wanted = Signal(str)
    link_clicked = Signal(str)
    task_pressed = Signal(int)
    listed_task_pressed = Signal(str)
    selection_changed = Signal()
    menu_wanted = Signal(QMenu)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parts: tuple[NotePart, ...] = ()
        self._kinds = ""  # of all lines of the note
        self._views: dict[int, NoteView] = {}
        self._heights: list[int] = []
        self._seams: list[int] = []  # the space below each part
        self._tops: list[int] = []
        self._embeds: dict[str, Embedded] = {}
        self._wanted: set[str] = set()
        self._folds: dict[int, set[str]] = {}  # which callouts of a part were folded or opened
        self._table_offsets: dict[str, int] = {}  # of tables in several parts that are too wide
        self._highlight = (0, 0)
        self._anchor = (0, 0)  # a line of the note, and its distance from the upper edge
        self._is_placing = False
        self._ahead = _END  # the part that was parsed before it is drawn
        self._page = QWidget()
        dress(self._page, "body")
        self._page.setAttribute(Qt.WidgetAttribute.WA_StaticContents)
        self.table_bars = TableBars(self._page)
        self.table_bars.scrolled.connect(self._on_table_scrolled)
        self.setWidget(self._page)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Note")
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self.verticalScrollBar().rangeChanged.connect(self._restore)
        self._is_missing: Callable[[str], bool] = lambda _target: False
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._fill)
        Theme.current().changed.connect(self._on_theme_changed)

    def show_text(self, text: str, first: int = 0, last: int = 0, kinds: str = "") -> None:
        """Show a note.

        Args:
            text: the Markdown of the note.
            first, last: the first and last line to highlight and scroll to, or 0 and 0 to highlight
                none and show the beginning.
            kinds: the kind of each line, as in `Note.kinds`, or "" if it is unknown.
        """
        self._clear()
        self._embeds.clear()
        self._wanted.clear()
        self._folds.clear()
        self._table_offsets.clear()
        self._parts, self._kinds = cut_parts(text, kinds), kinds
        self._heights = [self._estimate(part) for part in self._parts]
        self._seams = _guess_seams(self._parts)
        self._highlight = (first, max(first, last))
        self._anchor = (first, self.viewport().height() // _TARGET_SHARE) if first else (0, 0)
        self._lay_out()
        self._fill()

    def update_text(
        self, text: str, first: int, last: int, kinds: str, follow: Callable[[int], int]
    ) -> None:
        """Show a new version of the note. Nothing that stayed the same moves, folds or opens.

        Args:
            text, first, last, kinds: as for `show_text`, but nothing is scrolled to.
            follow: returns where a line of the shown version is in the new one.
        """
        line, distance = self._measure_anchor() if self._value else (0, 0)
        parts = keep_cuts(self._parts, cut_parts(text, kinds), (self._kinds, kinds))
        above = count_common(self._parts, parts)
        below = count_common(*(_without_lines(some[above:])[::-1] for some in (self._parts, parts)))
        self._move_parts(parts, above, below)
        self._kinds, self._highlight = kinds, (first, max(first, last))
        self._anchor = (follow(line), distance) if line else (0, 0)
        self._lay_out()
        self._fill()
        for view in self._views.values():
            view.light(*self._highlight)
        for source in list(self._embeds):
            self.embed_wanted.emit(source)

    def _move_parts(self, parts: tuple[NotePart, ...], above: int, below: int) -> None:
        """Replace the parts of the note, and keep the views of those that are the same.

        Args:
            parts: the new parts.
            above: the number of parts at the beginning that are the same.
            below: the number of parts at the end whose text is the same.
        """
        end = len(self._parts) - below
        moved, new_end = len(parts) - len(self._parts), len(parts) - below
        views, folds, heights = self._views, self._folds, self._heights
        self._views, self._folds = {}, {}
        self._heights = [self._estimate(part) for part in parts]
        for index, height in enumerate(heights):
            is_same = index < above or index >= end
            place = index + moved if index >= end else index
            if index in folds and (is_same or place < new_end):
                self._folds[place] = folds[index]
            if is_same:
                self._heights[place] = height
            if index in views and is_same:
                views[index].part, self._views[place] = parts[place], views[index]
            elif index in views:
                self._discard(views[index])
        self._parts, self._seams = parts, _guess_seams(parts)

    @property
    def focused_task(self) -> int:
        """The line of the task that has the focus, or 0."""
        return max((view.focused_task for view in self._views.values()), default=0)

    def focus_task(self, line: int) -> None:
        """Give the focus to the task in a line, or take it from all if none is drawn there."""
        if not line or not any(view.focus_task(line) for view in self.views()):
            for view in self._views.values():
                view.leave_task()

    def follow_task(self, path: str, before: int, after: int) -> None:
        """Keep the focus at a task that a query lists, as `TaskView.follow_task` does."""
        for view in self._views.values():
            view.follow_task(path, before, after)

    def mark_missing(self, is_missing: Callable[[str], bool]) -> None:
        """Set the function that returns whether a link leads to a note that does not exist."""
        self._is_missing = is_missing
        for view in self._views.values():
            view.mark_missing(is_missing)

    def show_embed(self, source: str, content: Embedded) -> None:
        """Show an image or an embedded note in place of its placeholders.

        Args:
            source: the source, as in the signal `embed_wanted`.
            content: the image or note, or the reason why it is not shown.
        """
        if self._embeds.get(source) == content:
            return
        if source in self._embeds and self._value:
            self._anchor = self._measure_anchor()  # at the end of the note, more rows follow below
        self._embeds[source] = content
        for view in self._views.values():
            view.show_embed(source, content)

    def refresh_views(self) -> None:
        """Request the results of bases and queries anew, because notes have changed."""
        for source in list_view_sources(self._embeds):
            self.embed_wanted.emit(source)

    def light(self, first: int, last: int) -> None:
        """Highlight lines without scrolling. If `first` is 0, remove the highlight."""
        self._highlight = (first, max(first, last))
        for view in self._views.values():
            view.light(*self._highlight)

    def show_line(self, line: int) -> None:
        """Scroll so that a line of the note is at the top of the visible area."""
        self._anchor = (line, 0)
        self._fill()

    def find_top_line(self) -> int:
        """Return the number of the line at the top of the visible area."""
        return self._find_anchor()[0] or 1

    def find_lit_lines(self) -> tuple[int, int] | None:
        """Return the first and last highlighted line, or None if no lines are highlighted."""
        return self._highlight if self._highlight[0] else None

    def find_selected_lines(self) -> tuple[int, int] | None:
        """Return the first and last selected line, or None if nothing is selected."""
        found = (view.find_selected_lines() for view in self._views.values())
        return next((lines for lines in found if lines), None)

    def read_texts(self) -> list[str]:
        """Return the text of each part: the displayed text, or the Markdown if it is not drawn."""
        return [
            self._views[at].toPlainText() if at in self._views else part.text
            for at, part in enumerate(self._parts)
        ]

    def count_parts(self) -> int:
        """Return the number of parts into which the note is divided."""
        return len(self._parts)

    def find_view(self, part: int) -> NoteView | None:
        """Return the view of a part, or None if the part is not drawn."""
        return self._views.get(part)

    def draw_part(self, part: int) -> NoteView:
        """Draw a part, given its index, unless it is already drawn. Return its view."""
        if part not in self._views:
            self._make(part)
        return self._views[part]

    def show_spot(self, part: int, top: int, height: int) -> None:
        """Scroll to an area of the note if it is hidden or close to the edge of the visible area.

        Args:
            part: the index of the part that contains the area.
            top: the distance of the area from the top of the part, in pixels.
            height: the height of the area in pixels.
        """
        y, room = self._tops[part] + top, self.viewport().height()
        if not self._value + room // 8 <= y <= self._value + room - room // 8 - height:
            self.verticalScrollBar().setValue(y - room // 3)

    def find_top_part(self) -> tuple[int, int]:
        """Return the index of the topmost visible part of the note.

        The second value is how far the top of this part is scrolled out of view, in pixels.
        """
        part = max(0, bisect_right(self._tops, self._value) - 1)
        return part, self._value - self._tops[part] if self._tops else 0

    def views(self) -> list[NoteView]:
        """Return the views of all drawn parts, from top to bottom."""
        return [self._views[index] for index in sorted(self._views)]

    def is_visible_line(self, line: int) -> bool:
        """Return whether a line of the note is drawn and within the visible area."""
        index = find_part(self._parts, line)
        view = self._views.get(index)
        if view is None:
            return False
        y = self._tops[index] + view.find_height(line) - self._value
        return 0 <= y < self.viewport().height()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out the note for the new width. The line at the top of the view stays there."""
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._heights = [self._estimate(part) for part in self._parts]
            self._drop_views(0)
        self._lay_out()
        self._fill()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Lay out the note again when the height of a part changes."""
        is_part = isinstance(watched, NoteView)
        if is_part and event.type() == QEvent.Type.Resize and not self._is_placing:
            self._lay_out()
            self._later.start()
        return super().eventFilter(watched, event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll the note vertically. Ignore horizontal scrolling."""
        if event.angleDelta().y() or event.pixelDelta().y():
            super().wheelEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scroll with the arrow keys, Page Up, Page Down, Space, Home and End.

        Ctrl+Home and Ctrl+End do the same as Home and End.
        """
        bar = self.verticalScrollBar()
        page, line = bar.pageStep() - Theme.current().line("body"), bar.singleStep()
        is_back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        by = {
            Qt.Key.Key_Up: -line,
            Qt.Key.Key_Down: line,
            Qt.Key.Key_PageUp: -page,
            Qt.Key.Key_PageDown: page,
            Qt.Key.Key_Space: -page if is_back else page,
            Qt.Key.Key_Home: -bar.maximum(),
            Qt.Key.Key_End: bar.maximum(),
        }.get(Qt.Key(event.key()))
        allowed = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier
        if event.key() in {Qt.Key.Key_Home, Qt.Key.Key_End}:
            allowed |= Qt.KeyboardModifier.ControlModifier
        if by is None or event.modifiers() & ~allowed:
            event.ignore()
        else:
            bar.setValue(bar.value() + by)

    @property
    def _value(self) -> int:
        return self.verticalScrollBar().value()

    def _compute_column(self) -> tuple[int, int]:
        """Return the left edge and the width of the text column in pixels, as in the chat.

        A scroll bar does not move the left edge, but the column does not extend below it.
        """
        left, width = compute_column(self.width())
        return left, min(width, self.viewport().width() - left)

    def _estimate(self, part: NotePart) -> int:
        _, width = self._compute_column()
        chars = max(20, _LINE_CHARS * width // Theme.current().px(760))
        own = part.text.split("\n")[part.repeated :]
        lines = sum(_estimate_lines(line, chars) for line in own if line)
        return round(lines * Theme.current().line("body") * 1.2)

    def _clear(self) -> None:
        self._later.stop()
        for view in self._views.values():
            self._discard(view)
        self._views.clear()

    def _discard(self, view: NoteView) -> None:
        view.removeEventFilter(self)
        view.hide()
        view.deleteLater()

    def _drop_views(self, spare: int) -> None:
        """Delete the views of all parts that are far from the visible area.

        The view that has the focus and views with a selection are kept.

        Args:
            spare: the distance in pixels up to which a view is kept.
        """
        top, bottom = self._value - spare, self._value + self.viewport().height() + spare
        focus = self.focusWidget()
        for index, view in list(self._views.items()):
            is_near = self._tops[index] + self._heights[index] >= top and self._tops[index] < bottom
            if not is_near and view is not focus and not view.textCursor().hasSelection():
                self._discard(self._views.pop(index))

    def _fill(self) -> None:
        """Draw one missing part near the visible area, and schedule the next one.

        A part that is not in view yet is parsed in one step and drawn in the next, so that no step
        of scrolling takes the time of both.
        """
        index = self._find_missing()
        if index is not None and (self._is_in_view(index) or not self._read_ahead(index)):
            self._make(index)
            if self._value and self._is_in_view(index):
                # What is still to be painted when the page is scrolled lets Qt paint all of it.
                self._views[index].repaint()
        self._restore()
        if self._find_missing() is not None:
            self._later.start()

    def _find_missing(self) -> int | None:
        """Return the index of the next part to draw.

        Return None if all parts near the visible area are drawn.
        """
        if not self._parts:
            return None
        line = self._anchor[0]
        if line and (at := find_part(self._parts, line)) not in self._views:
            return at
        height = self.viewport().height()
        first = max(0, bisect_right(self._tops, self._value) - 1)
        last = bisect_right(self._tops, self._value + 2 * height)
        nearby = [*range(first, min(last, len(self._parts))), first - 1]
        return next((at for at in nearby if at >= 0 and at not in self._views), None)

    def _is_in_view(self, index: int) -> bool:
        line = self._anchor[0]
        if line and find_part(self._parts, line) == index:
            return True
        seen, top = self._find_visible_area(), self._tops[index]
        return top <= seen.bottom() and top + self._heights[index] >= seen.top()

    def _read_ahead(self, index: int) -> bool:
        """Parse a part that is drawn in the next step. Return whether it was not parsed before."""
        part, before = self._parts[index], self._ahead
        self._ahead = part
        if part is before:
            return False
        with suppress(Exception):  # reported when the part is drawn
            read_part(part)
        return True

    def _make(self, index: int) -> None:
        self._is_placing = True
        try:
            self._place(index)
        finally:
            self._is_placing = False
        self._lay_out()
        self.part_drawn.emit(index)

    def _place(self, index: int) -> None:
        left, width = self._compute_column()
        view = NoteView(self._parts[index], width, self._embeds, self._page)
        view.link_clicked.connect(self._on_link_clicked)
        view.task_pressed.connect(self.task_pressed)
        view.listed_task_pressed.connect(self.listed_task_pressed)
        view.selectionChanged.connect(self.selection_changed)
        view.menu_wanted.connect(self.menu_wanted)
        view.toggled_folds.update(self._folds.get(index, ()))
        self._folds[index] = view.toggled_folds
        view.embed_wanted.connect(self._on_embed_wanted)
        view.mark_missing(self._is_missing)
        below = next((part.table for part in self._parts[index + 1 : index + 2]), "")
        view.wide.share(self._parts[index].table, below, self._table_offsets)
        view.wide.table_scrolled.connect(self._on_table_scrolled)
        view.move(left, self._tops[index])
        self.table_bars.cover(view)
        view.show()  # first, because Qt lays out the text again for the size that it is shown in
        _draw(view)
        view.light(*self._highlight)
        view.installEventFilter(self)
        view.rewritten.connect(partial(self._on_rewritten, view))
        self._views[index] = view

    def _place_table_bars(self) -> None:
        """Place the scroll bars of the tables in several parts."""
        spans: list[TableSpan] = []
        for index, view in sorted(self._views.items()):
            for shared in view.wide.shared_tables:
                area = shared.rect.translated(view.pos())
                if shared.is_continued and spans and spans[-1].last_part == index - 1:
                    area = area.united(spans.pop().area)
                spans.append(TableSpan(shared.table, index, area, shared.most, shared.offset))
        self.table_bars.place(spans, self._find_visible_area())

    def _find_visible_area(self) -> QRect:
        """Return the visible area of the page."""
        return self.viewport().rect().translated(0, self._value)

    def _on_table_scrolled(self, table: str, offset: int) -> None:
        """Scroll all parts of a table that is wider than the text to the same position."""
        self._table_offsets[table] = offset
        for view in self._views.values():
            view.wide.scroll_table(table, offset)
        self._place_table_bars()

    def _on_rewritten(self, view: NoteView) -> None:
        for index, shown in self._views.items():
            if shown is view:
                self.part_drawn.emit(index)

    def _on_link_clicked(self, address: str) -> None:
        """Follow a link. The counterpart of a footnote's link may be in another part."""
        counterpart = find_counterpart(address)
        if not counterpart:
            self.link_clicked.emit(address)
            return
        label = address.partition(":")[2]
        has_colon = address.startswith(FOOTNOTE)
        pattern = re.compile(rf"\[\^{re.escape(label)}\](?{'=' if has_colon else '!'}:)")
        for part in self._parts:
            if match := pattern.search(part.text):
                self.show_line(part.find_note_line(part.text.count("\n", 0, match.start()) + 1))
                return

    def _on_embed_wanted(self, source: str) -> None:
        if source.startswith(MORE) or source not in self._wanted:
            self._wanted.add(source)
            self.embed_wanted.emit(source)

    def _lay_out(self) -> None:
        """Position all parts below each other, and set the width of the drawn parts."""
        self._is_placing = True
        left, width = self._compute_column()
        for index, view in self._views.items():
            view.resize(width, view.height())
            self._heights[index] = view.height()
        for index in self._views:
            self._seams[index] = self._find_seam(index)
        steps = map(add, self._heights, self._seams)
        self._tops = list(accumulate(steps, initial=_ABOVE))
        end = self._tops.pop() + _BELOW
        for index, view in self._views.items():
            view.move(left, self._tops[index])
        self._page.resize(self.viewport().width(), end)
        self._is_placing = False
        self._restore()
        self._place_table_bars()

    def _find_seam(self, index: int) -> int:
        """Return the space below a part, as between the blocks within a part if both are drawn."""
        upper, lower = self._views.get(index), self._views.get(index + 1)
        above, below = upper and upper.ends, lower and lower.ends
        if not above or not below or self._parts[index + 1].table:
            return self._seams[index]
        return round(compute_distance(below[0], above[1])) - SPARE_BELOW

    def _restore(self) -> None:
        """Scroll back to the line that was at the top before the layout changed."""
        line, distance = self._anchor
        self._is_placing = True
        self.verticalScrollBar().setSingleStep(Theme.current().line("body"))
        self.verticalScrollBar().setValue(self._find_height(line) - distance if line else 0)
        self._is_placing = False

    def _find_height(self, line: int) -> int:
        index = find_part(self._parts, line)
        if index >= len(self._tops):
            return 0
        view = self._views.get(index)
        return self._tops[index] + (view.find_height(line) if view else 0)

    def _find_anchor(self) -> tuple[int, int]:
        """Return the line at the top of the visible area, and its distance from the top in pixels.

        At the beginning of the note, both values are 0.
        """
        if self._value == 0 or not self._parts:
            return 0, 0
        if self._value == self.verticalScrollBar().maximum():
            last = self._parts[-1]
            return last.find_note_line(last.text.count("\n") + 1), 0
        return self._measure_anchor()

    def _measure_anchor(self) -> tuple[int, int]:
        index = max(0, bisect_right(self._tops, self._value) - 1)
        view = self._views.get(index)
        if view is None:
            return self._parts[index].line, self._tops[index] - self._value
        line = view.find_line_at_height(max(0, self._value - self._tops[index]))
        return line, self._tops[index] + view.find_height(line) - self._value

    def _on_scrolled(self) -> None:
        if not self._is_placing:
            self._anchor = self._find_anchor()
            self.table_bars.follow(self._find_visible_area())
            self._drop_views(_KEPT_PAGES * self.viewport().height())
            self._later.start()

    def _on_theme_changed(self) -> None:
        self._heights = [self._estimate(part) for part in self._parts]
        self._lay_out()
        self._later.start()


def _draw(view: NoteView) -> None:
    """Draw a part of a note, or show it as it is written if that fails."""
    try:
        view.draw()
    except Exception as error:  # noqa: BLE001 - reported, and the text can still be read
        report_fault(error, "the text of a note")
        view.draw_source()


def _estimate_lines(line: str, chars: int) -> int:
    """Return how many lines a line of Markdown takes. A row takes those of its longest cell.

    Args:
        chars: how many characters fit into the width of the text.
    """
    if not line.startswith("|"):
        return 1 + len(line) // chars
    cells = line.strip("| ").split("|")
    return 1 + max(map(len, cells)) // max(_CELL_CHARS, chars // len(cells))


def _guess_seams(parts: Sequence[NotePart]) -> list[int]:
    """Return the space below each part of a note that is not drawn yet."""
    return [_SEAM if part.table else _GAP for part in (*parts[1:], _END)][: len(parts)]


def _without_lines(parts: Sequence[NotePart]) -> list[NotePart]:
    """Return parts that are equal if their text is, wherever in the note they stand."""
    return [replace(part, line=0) for part in parts]
