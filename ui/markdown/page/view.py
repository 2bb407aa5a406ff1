"""The view of one Markdown text, which may grow while it is read; nothing is fetched."""

import time
from collections.abc import Mapping
from math import ceil

from PySide6.QtCore import QMimeData, QPoint, QRect, QRectF, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QCursor,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCursor,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QTextBrowser, QWidget

from ui.markdown.blocks import Leaf
from ui.markdown.page.card import CitationCard, Source
from ui.markdown.page.citations import LinkHandler, find_unverified_pills
from ui.markdown.page.code import CopyButtons
from ui.markdown.page.decorations import Decorations, Panel
from ui.markdown.page.formats import Formats
from ui.markdown.page.painter import DecorationPainter, Reach
from ui.markdown.page.wide import WideBlocks
from ui.markdown.page.writer import DocumentWriter
from ui.markdown.stream import Growth, MarkdownStream
from ui.theme import Theme
from ui.widgets.texts import read_selection

__all__ = ["MarkdownView"]

_SPARE_BELOW = 4
_BUSY_SHARE = 4
_COLORS_S = 0.006


class MarkdownView(QTextBrowser):
    """Shows Markdown as wide as it is given room, and as high as it needs.

    `citation_clicked` has the number of a source, `citation_pointed` too, with 0 where the pointer
    leaves it; `link_clicked` has an allowed address.

    Attributes:
        flushes: how often what had arrived was drawn.
        wide: what of it scrolls in itself.
    """

    citation_clicked = Signal(int)
    citation_pointed = Signal(int)
    link_clicked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._set_up_widget()
        self._leaves: list[Leaf] = []
        self._stream: MarkdownStream | None = None
        self._is_stale = False
        self._codes: list[Panel] = []
        self.flushes = 0
        self._begin()
        interval = Theme.current().duration("stream_flush")
        self._timer = QTimer(self, singleShot=True, interval=interval)
        self._timer.timeout.connect(self.flush)
        self._colors = QTimer(self, interval=0)
        self._colors.timeout.connect(self._on_colors)
        self._pointing = LinkHandler(self, self._targets, self.place_of)
        self._pointing.citation_clicked.connect(self.citation_clicked)
        self._pointing.citation_pointed.connect(self.citation_pointed)
        self._pointing.link_clicked.connect(self.link_clicked)
        layout = self.document().documentLayout()
        layout.documentSizeChanged.connect(self._fit_height)
        Theme.current().changed.connect(self._on_theme_changed)

    @property
    def written(self) -> int:
        """How many blocks were ever written for good."""
        return self._writer.written

    def set_markdown(self, text: str) -> None:
        """Show a whole text in place of what was there."""
        stream = MarkdownStream()
        stream.feed(text)
        self._leaves = list(stream.finish())
        self._stream = None
        self._rewrite()

    def append(self, text: str) -> None:
        """Add what has arrived; it is drawn within some 33 ms, together with what follows it."""
        if self._stream is None:
            self._stream = MarkdownStream()
        self._stream.feed(text)
        if not self._timer.isActive():
            self._timer.start()

    def flush(self) -> None:
        """Draw now what has arrived."""
        self._timer.stop()
        if self._stream is None:
            return
        started = time.perf_counter()
        growth = self._stream.update()
        self._write(growth.final, growth.tail)
        self.flushes += 1
        self._pause(time.perf_counter() - started)

    def finish(self) -> None:
        """Draw the rest; the text is whole."""
        self._timer.stop()
        if self._stream is None:
            return
        final = (*self._stream.update().final, *self._stream.finish())
        self._stream = None
        self._write(final, ())
        self._show_doubts()

    def set_sources(self, sources: Mapping[int, Source]) -> None:
        """Tell what the numbers stand for; citations that are not borne out become amber."""
        self._pointing.sources = sources
        self._show_doubts()
        self._ink.forget()
        self._place_buttons()
        self.viewport().update()

    def mark(self, number: int) -> None:
        """Mark where a source is cited; 0 marks none."""
        if number != self._ink.marked:
            self._ink.marked = number
            self.viewport().update()

    @property
    def card(self) -> CitationCard | None:
        """The card about a citation, once one was shown."""
        return self._pointing.card

    def point_at(self, href: str) -> None:
        """Act as if the pointer rested on an anchor, such as `cite:1`; on none where empty."""
        self._pointing.point_at(QUrl(href))

    def copy_last_code(self) -> None:
        """Put the last block of code on the clipboard, if there is one."""
        if self._codes:
            QGuiApplication.clipboard().setText(self._code_text(len(self._codes) - 1))

    def refresh(self) -> None:
        """Draw everything again if the theme has changed since it was drawn."""
        if self._is_stale:
            self._is_stale = False
            self._rewrite()

    def createMimeDataFromSelection(self) -> QMimeData:
        """Copy plain text only."""
        data = QMimeData()
        data.setText(read_selection(self.textCursor()))
        return data

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Load nothing: no text that is shown may cause a call or open a file."""
        return None

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint backgrounds, then the text band by band with what stands under and beside it."""
        reach = self._ink.reach_of(QRectF(event.rect()))
        painter = QPainter(self.viewport())
        for ink in self._inks:
            self._ink.paint_panels(painter, ink, reach)
        painter.end()
        for band in self.wide.bands(event.rect()):
            self._paint_band(band, reach)
        if self._is_stale:
            QTimer.singleShot(0, self.refresh)

    def _paint_band(self, band: QRect, reach: Reach) -> None:
        painter = QPainter(self.viewport())
        painter.setClipRect(band)
        for ink in self._inks:
            self._ink.paint_below(painter, ink, reach)
        painter.end()
        super().paintEvent(QPaintEvent(band))
        painter = QPainter(self.viewport())
        painter.setClipRect(band)
        for ink in self._inks:
            self._ink.paint_beside(painter, ink, reach)
        cursor = self.textCursor()
        if self.hasFocus() and cursor.charFormat().isAnchor():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._ink.paint_ring(painter, cursor.selectionStart(), cursor.selectionEnd())
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay the text out for the new width."""
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._ink.forget()
            self._fit()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Scroll the transcript while a selection is drawn beyond its edge."""
        super().mouseMoveEvent(event)
        area = self._area() if event.buttons() & Qt.MouseButton.LeftButton else None
        if area is not None and (page := area.widget()):
            spot = self.viewport().mapTo(page, event.position().toPoint())
            area.ensureVisible(spot.x(), spot.y(), 0, Theme.current().line("body"))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave scrolling to the transcript, but for what is scrolled sideways."""
        across = event.pixelDelta().x() or event.angleDelta().x()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            across = across or event.angleDelta().y()
        if not across or not self.wide.scroll(round(event.position().y()), -across):
            event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave scrolling keys to the transcript; those across move wide code and tables."""
        across = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if across and self.wide.step(across, self.visibleRegion().boundingRect()):
            return
        if event.key() in _SCROLL_KEYS:
            event.ignore()
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Walk the links, and treat the one that has the focus as one that is pointed at."""
        is_here = super().focusNextPrevChild(forward)
        href = self.textCursor().charFormat().anchorHref() if is_here else ""
        self._pointing.focus(href)
        return is_here

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to copy, and to copy the address of a link as it is."""
        menu = self._pointing.menu(self.anchorAt(event.pos()))
        menu.exec(event.globalPos())
        menu.deleteLater()

    def _area(self) -> QScrollArea | None:
        above = self.parentWidget()
        while above is not None and not isinstance(above, QScrollArea):
            above = above.parentWidget()
        return above

    def _set_up_widget(self) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.document().setDocumentMargin(0)
        self.viewport().setAutoFillBackground(False)
        self.horizontalScrollBar().rangeChanged.connect(self._on_range_changed)
        self._buttons = CopyButtons(self.viewport(), self._code_text)
        self.wide = WideBlocks(self.viewport(), self.document())
        self.wide.moved.connect(self._on_moved)

    def _begin(self) -> None:
        self.document().setDefaultFont(Theme.current().font("body"))
        self._writer = DocumentWriter(self.document(), Formats())
        self._ink = DecorationPainter(self.document())
        self.wide.forget()

    @property
    def _inks(self) -> tuple[Decorations, Decorations]:
        return self._writer.final, self._writer.tail

    def _on_moved(self) -> None:
        self._ink.forget()
        self.viewport().update()

    def _on_range_changed(self, _least: int, most: int) -> None:
        """Keep the page in its place: only what is too wide for it scrolls."""
        if most:
            self.horizontalScrollBar().setRange(0, 0)

    def _pause(self, seconds: float) -> None:
        """Wait the longer before the next drawing, the more this one took."""
        wait = ceil(seconds * 1000 * _BUSY_SHARE)
        self._timer.setInterval(max(Theme.current().duration("stream_flush"), wait))

    def _write(self, final: tuple[Leaf, ...], tail: tuple[Leaf, ...]) -> None:
        selection = self._selection()
        self._ink.forget_tail(self._writer.tail, self._writer.open_code)
        self._writer.write(final, tail)
        self._leaves.extend(final)
        self._restore(selection)
        self._fit()

    def _rewrite(self) -> None:
        self.document().clear()
        self._begin()
        growth = self._stream.update() if self._stream else Growth((), ())
        self._leaves.extend(growth.final)
        self._writer.write(self._leaves, growth.tail)
        self._show_doubts()
        self._fit()

    def _fit(self) -> None:
        """Take the height of the text, and put in their places what stands on it."""
        self.wide.fit_tables(*self._inks)
        self._fit_height()
        self._place_buttons()
        self.wide.update(self._ink.panel_rect, *self._inks)
        if self._writer.recoloring.is_waiting:
            self._colors.start()

    def _on_colors(self) -> None:
        self._writer.recoloring.go_on(_COLORS_S)
        if not self._writer.recoloring.is_waiting:
            self._colors.stop()

    def _show_doubts(self) -> None:
        pills = [*self._writer.final.pills, *self._writer.tail.pills]
        doubtful = find_unverified_pills(self.document(), pills, self._pointing.sources)
        self._ink.doubtful = doubtful
        self._writer.set_doubtful(doubtful)

    def _selection(self) -> tuple[int, int]:
        cursor = self.textCursor()
        return cursor.anchor(), cursor.position()

    def _restore(self, selection: tuple[int, int]) -> None:
        """Put a selection back that reached into what was drawn again."""
        if self._selection() == selection:
            return
        most = self.document().characterCount() - 1
        cursor = self.textCursor()
        cursor.setPosition(min(selection[0], most))
        cursor.setPosition(min(selection[1], most), QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)

    def _fit_height(self) -> None:
        below = self._writer.compute_padding_below + _SPARE_BELOW
        height = ceil(self.document().size().height() + below)
        if height != self.height() or self.minimumHeight() != height:
            self.setFixedHeight(height)

    def _place_buttons(self) -> None:
        panels = [*self._writer.final.panels, *self._writer.tail.panels]
        codes = [panel for panel in panels if panel.kind == "code"]
        self._buttons.place([self._ink.panel_rect(panel) for panel in codes])
        self._codes = codes

    def _code_text(self, index: int) -> str:
        cursor = QTextCursor(self.document())
        cursor.setPosition(self._codes[index].first)
        cursor.setPosition(self._codes[index].last, QTextCursor.MoveMode.KeepAnchor)
        return read_selection(cursor)

    def _on_theme_changed(self) -> None:
        self._is_stale = True
        if not self.visibleRegion().isEmpty():
            self.refresh()

    def _targets(self) -> list[str]:
        return [*self._writer.final.targets, *self._writer.tail.targets]

    def places_of(self, number: int) -> list[QRect]:
        """Return where a number stands on the view, each time it is cited."""
        pills = [*self._writer.final.pills, *self._writer.tail.pills]
        cited = [pill for pill in pills if number in pill.numbers]
        return [rect.toRect() for pill in cited for rect in self._ink.pill_rects(pill)]

    def place_of(self, number: int) -> QRect:
        """Return the one of these places that is nearest to the pointer."""
        pointer = self.viewport().mapFromGlobal(QCursor.pos())
        return min(
            self.places_of(number), key=lambda rect: _distance(rect, pointer), default=QRect()
        )


def _distance(rect: QRect, point: QPoint) -> int:
    return (rect.center() - point).manhattanLength()


_SCROLL_KEYS = {
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_PageUp,
    Qt.Key.Key_PageDown,
    Qt.Key.Key_Home,
    Qt.Key.Key_End,
}
