"""`MarkdownView`, the widget that draws Markdown, such as an answer while it is streamed.

`ui.chat.message.answer.Answer` passes an answer's text to this widget. The view never loads images
or files.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil

from PySide6.QtCore import QMimeData, QRect, QRectF, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QTextBrowser, QWidget

from chains.citations.answer_sources import Source
from ui.markdown.blocks import CodeLines, Embed, Leaf
from ui.markdown.embeds import make_view_embed, make_view_embeds, split_view_target
from ui.markdown.inline import CALLOUT, MORE, NOTE, TAB, find_counterpart
from ui.markdown.page.card import CitationCard
from ui.markdown.page.citations import LinkHandler, find_unverified_pills
from ui.markdown.page.code import CopyButtons
from ui.markdown.page.decorations import Decorations, Panel, Pill
from ui.markdown.page.formats import Formats
from ui.markdown.page.formulas import FormulaPainter, read_with_formulas
from ui.markdown.page.images import Embedded
from ui.markdown.page.painter import DecorationPainter, Reach
from ui.markdown.page.tabs import find_neighbour
from ui.markdown.page.wide import WideBlocks
from ui.markdown.page.writer import OUTDENT, DocumentWriter
from ui.markdown.stream import Growth, MarkdownStream
from ui.theme import Theme
from ui.widgets.geometry import keep_place
from ui.widgets.menus import show_menu
from ui.widgets.texts import clean_selection, read_selection

__all__ = ["SPARE_BELOW", "MarkdownView"]

SPARE_BELOW = 4
_BUSY_SHARE = 4
_COLORS_S = 0.006


class MarkdownView(QTextBrowser):
    """Draws Markdown text, complete or streamed. The view is always as tall as its content.

    Signals:
        citation_clicked: the number of the clicked citation.
        citation_pointed: the number of the hovered citation, or 0 when the hover ends.
        source_opened: the source of a clicked citation, with the lines of its claim.
        link_clicked: a permitted address.
        embed_wanted: the source of an image or an embedded note that has to be loaded, or `more:`
            and the source of one of which more rows are wanted. The receiver calls `show_embed`.
        rewritten: the document, or an embedded note in it, was written again. Earlier text cursors
            may be invalid.

    Attributes:
        flushes: how many times streamed text was drawn.
        wide: the code blocks and tables that scroll horizontally.
    """

    citation_clicked = Signal(int)
    citation_pointed = Signal(int)
    source_opened = Signal(object)
    link_clicked = Signal(str)
    embed_wanted = Signal(str)
    rewritten = Signal()

    def __init__(
        self, parent: QWidget | None = None, embeds: "dict[str, Embedded] | None" = None
    ) -> None:
        """Create an empty view.

        Args:
            parent: the parent widget.
            embeds: the loaded images and embedded notes by their source, which the view may share
                with others. If it is None, they are shown as placeholders.
        """
        super().__init__(parent)
        self._embeds, self._asked = embeds, set[str]()
        self._arrived: dict[str, None] = {}  # the embedded notes that are not drawn yet
        self._is_outdated = False
        self._toggled: set[str] = set()
        self._resume_at = 0  # the text position from which Tab goes on when more rows are shown
        self._is_missing: Callable[[str], bool] = lambda _target: False
        self._set_up_widget()
        self._leaves: list[Leaf] = []
        self._stream: MarkdownStream | None = None
        self._is_stale = False
        self._codes: list[Panel] = []
        self.flushes = 0
        self._formulas = FormulaPainter(self.document())
        self._begin()
        interval = Theme.current().duration("stream_flush")
        self._timer = QTimer(self, singleShot=True, interval=interval)
        self._timer.timeout.connect(self.flush)
        self._embeds_timer = QTimer(self, singleShot=True, interval=0)
        self._embeds_timer.timeout.connect(self._draw_arrived)
        self._formulas.outdated.connect(self._rewrite_soon)
        self._formulas.shown.connect(self._on_text_moved)
        self._colors = QTimer(self, interval=0)
        self._colors.timeout.connect(self._on_colors)
        self._pointing = LinkHandler(self, self._targets, self._find_pills)
        self._pointing.citation_clicked.connect(self.citation_clicked)
        self._pointing.citation_pointed.connect(self.citation_pointed)
        self._pointing.source_opened.connect(self.source_opened)
        self._pointing.link_clicked.connect(self._on_link_clicked)
        layout = self.document().documentLayout()
        layout.documentSizeChanged.connect(self._fit_height)
        Theme.current().changed.connect(self._on_theme_changed)

    @property
    def written(self) -> int:
        """The number of final leaves (blocks of Markdown) written since the last full rewrite."""
        return self._writer.written

    def set_markdown(self, text: str) -> None:
        """Replace the content of the view with complete Markdown text."""
        stream = MarkdownStream()
        stream.feed(text)
        leaves = stream.finish()
        if self._embeds is not None:
            leaves = make_view_embeds(leaves)
        self.set_leaves(leaves)

    @property
    def has_view_source(self) -> bool:
        """Whether a base or query is shown as source, as while it is streamed."""
        return any(make_view_embed(leaf) is not None for leaf in self._leaves)

    def set_leaves(self, leaves: Sequence[Leaf]) -> None:
        """Replace the content with parsed blocks of Markdown, which are called leaves."""
        self._leaves, self._stream = list(leaves), None
        self._rewrite()

    def append(self, text: str) -> None:
        """Append streamed text, which is drawn after a short delay.

        The delay is 33 ms, or longer if drawing was slow the last time.
        """
        if self._stream is None:
            self._stream = MarkdownStream()
        self._stream.feed(text)
        if not self._timer.isActive():
            self._timer.start()

    def flush(self) -> None:
        """Draw the streamed text that has arrived, without waiting for the timer."""
        self._timer.stop()
        if self._stream is None:
            return
        started = time.perf_counter()
        growth = self._stream.update()
        self._write(growth.final, growth.tail)
        self.flushes += 1
        self._pause(time.perf_counter() - started)

    def finish(self) -> None:
        """Stop streaming, and draw the remaining text in its final form."""
        self._timer.stop()
        if self._stream is None:
            return
        final = (*self._stream.update().final, *self._stream.finish())
        self._stream = None
        self._write(final, ())
        self._show_doubts()

    def set_sources(self, sources: Mapping[int, Source]) -> None:
        """Set the source of each citation number. Unverified citations get the warning colour."""
        self._pointing.sources = sources
        self._show_doubts()
        self._decoration_painter.forget()
        self._place_buttons()
        self.viewport().update()

    def show_embed(self, source: str, content: Embedded) -> None:
        """Show a loaded image or embedded note in place of its placeholders.

        Args:
            source: the source, as in the signal `embed_wanted`.
            content: the image or note, or the reason why it is not shown.
        """
        if self._embeds is not None:
            self._embeds[source] = content
        if source in self._writer.sources:
            self._arrived[source] = None
            self._embeds_timer.start()  # several that arrive together are drawn at once

    @property
    def toggled_folds(self) -> set[str]:
        """The addresses of what the user has folded or opened, and of the tabs that are chosen."""
        return self._toggled

    def toggle(self, address: str) -> None:
        """Fold a callout, open it if it is folded, or choose a tab. The focus stays there."""
        keep_place(self)
        self._writer.folds.toggle(address)
        self._rewrite()
        self.select_link(address)

    def select_link(self, address: str) -> bool:
        """Move the text cursor to a link, where Tab and Enter go on, and scroll to it.

        Return False if the document has no such link.
        """
        position = self._find_link(address)
        if position < 0:
            return False
        self._focus_link(position)
        self._reveal_cursor()
        return True

    def _reveal_cursor(self) -> None:
        """Scroll the area around the view, so that the line of the text cursor is in sight."""
        area = self._area()
        if area is not None and (page := area.widget()):
            spot = self.viewport().mapTo(page, self.cursorRect().center())
            area.ensureVisible(spot.x(), spot.y(), 0, 2 * Theme.current().line("body"))

    def _focus_link(self, position: int) -> None:
        """Move the text cursor to the link at a text position."""
        cursor = QTextCursor(self.document())
        # From a selection, Qt goes on to the next link, otherwise to the first one.
        cursor.setPosition(max(0, position - 1))
        cursor.setPosition(position, QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)
        if self.hasFocus():
            QTextBrowser.focusNextPrevChild(self, True)

    def _find_link(self, address: str) -> int:
        """Return the text position of a link, or -1 if there is none."""
        targets, block = self._targets(), self.document().begin()
        while block.isValid():
            pieces = block.begin()
            while not pieces.atEnd():
                piece = pieces.fragment()
                kind, _, number = piece.charFormat().anchorHref().partition(":")
                if kind == "link" and targets[int(number)] == address:
                    return piece.position()
                pieces += 1
            block = block.next()
        return -1

    def mark_missing(self, is_missing: Callable[[str], bool]) -> None:
        """Show links to notes that do not exist in a quiet colour, with a dashed line.

        Args:
            is_missing: returns whether the target of a link, as written, does not exist.
        """
        self._is_missing = self._writer.is_missing = self._pointing.is_missing = is_missing
        links = {one for one in self._targets() if one.startswith(NOTE)}
        missing = {one for one in links if is_missing(one.removeprefix(NOTE))}
        if missing != self._writer.missing & links:
            self._writer.missing = missing
            self._color_links()

    def _color_links(self) -> None:
        """Color each link to a note by whether the note exists."""
        formats, cursor = Formats(), QTextCursor(self.document())
        for start, end, address in list(self._list_note_links()):
            look = QTextCharFormat()
            formats.mark_link(look, is_missing=address in self._writer.missing)
            cursor.setPosition(start)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            cursor.mergeCharFormat(look)

    def _list_note_links(self) -> Iterator[tuple[int, int, str]]:
        """Yield the start and end position and the address of each link to a note."""
        targets, block = self._targets(), self.document().begin()
        while block.isValid():
            pieces = block.begin()
            while not pieces.atEnd():
                piece = pieces.fragment()
                kind, _, number = piece.charFormat().anchorHref().partition(":")
                if kind == "link" and targets[int(number)].startswith(NOTE):
                    end = piece.position() + piece.length()
                    yield piece.position(), end, targets[int(number)]
                pieces += 1
            block = block.next()

    def _on_link_clicked(self, address: str) -> None:
        if address.startswith((CALLOUT, TAB)):
            self.toggle(address)
        elif address.startswith(MORE):
            self._resume_at = self.textCursor().selectionStart()
            self.embed_wanted.emit(address)
        elif not (counterpart := find_counterpart(address)) or not self.select_link(counterpart):
            self.link_clicked.emit(address)

    def mark(self, number: int) -> None:
        """Highlight the citations with the given number, or none if the number is 0."""
        if number != self._decoration_painter.marked:
            self._decoration_painter.marked = number
            self.viewport().update()

    @property
    def card(self) -> CitationCard | None:
        """The card that shows a citation's source, or None until a card has been shown."""
        return self._pointing.card

    def point_at(self, href: str) -> None:
        """Behave as if the pointer hovered over a link or citation.

        `href` is the link's address, or `cite:1` for a citation. An empty string ends the hover.
        """
        self._pointing.point_at(QUrl(href))

    def copy_last_code(self) -> None:
        """Copy the last code block to the clipboard, or the source of a base or query."""
        codes = (leaf for leaf in reversed(self._leaves) if isinstance(leaf, CodeLines | Embed))
        last = next((leaf for leaf in codes if not isinstance(leaf, Embed) or leaf.code), None)
        if isinstance(last, Embed) and (view := split_view_target(last.target)):
            QGuiApplication.clipboard().setText(view[1])
        elif self._codes:
            QGuiApplication.clipboard().setText(self._code_text(len(self._codes) - 1))

    def refresh(self) -> None:
        """Draw the document again if the theme has changed since it was drawn."""
        if self._is_stale:
            self._is_stale = False
            self._rewrite()

    def createMimeDataFromSelection(self) -> QMimeData:
        """Return the selected text for the clipboard, as plain text only."""
        data = QMimeData()
        data.setText(clean_selection(read_with_formulas(self.textCursor())))
        return data

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Return None, so that displayed text never causes a network request or opens a file."""
        return None

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the backgrounds, then the text and the decorations around it."""
        reach = self._decoration_painter.find_reach(QRectF(event.rect()))
        painter = QPainter(self.viewport())
        for decorations in self._all_decorations:
            self._decoration_painter.paint_panels(painter, decorations, reach)
        self._paint_ground(painter)
        painter.end()
        for band in self.wide.bands(event.rect()):
            self._paint_band(band, reach)
        if self._is_stale:
            QTimer.singleShot(0, self.refresh)

    def _paint_ground(self, painter: QPainter) -> None:
        """Paint additional backgrounds behind the text. Subclasses override this method."""

    def _paint_band(self, band: QRect, reach: Reach) -> None:
        painter = QPainter(self.viewport())
        painter.setClipRect(band)
        for decorations in self._all_decorations:
            self._decoration_painter.paint_below(painter, decorations, reach)
        painter.end()
        super().paintEvent(QPaintEvent(band))
        painter = QPainter(self.viewport())
        painter.setClipRect(band)
        for decorations in self._all_decorations:
            self._decoration_painter.paint_beside(painter, decorations, reach)
        cursor = self.textCursor()
        if self.hasFocus() and cursor.charFormat().isAnchor():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._decoration_painter.paint_ring(
                painter, cursor.selectionStart(), cursor.selectionEnd()
            )
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Update the layout, the height and the decorations for the new width."""
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._decoration_painter.forget()
            self._fit()
            if self._embeds:
                self._rewrite_soon()  # images are fitted to the new width

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Scroll the transcript while the user drags a selection beyond the viewport's edge."""
        super().mouseMoveEvent(event)
        area = self._area() if event.buttons() & Qt.MouseButton.LeftButton else None
        if area is not None and (page := area.widget()):
            spot = self.viewport().mapTo(page, event.position().toPoint())
            area.ensureVisible(spot.x(), spot.y(), 0, Theme.current().line("body"))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll wide code and tables horizontally. Leave vertical scrolling to the transcript."""
        across = event.pixelDelta().x() or event.angleDelta().x()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            across = across or event.angleDelta().y()
        if not across or not self.wide.scroll(round(event.position().y()), -across):
            event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose a tab, or scroll wide code and tables, with Left and Right. Leave other keys."""
        across = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if across and (tab := self._find_focused_tab()):
            step = -across if self.isRightToLeft() else across
            self.toggle(find_neighbour(tab, step, self._writer.folds.hints))
            return
        if across and self.wide.step(across, self.visibleRegion().boundingRect()):
            return
        if event.key() in _SCROLL_KEYS:
            event.ignore()
        else:
            super().keyPressEvent(event)

    def _find_focused_tab(self) -> str:
        """Return the address of the tab that has the focus, or an empty string."""
        _, _, number = self.textCursor().charFormat().anchorHref().partition("link:")
        target = self._targets()[int(number)] if number else ""
        return target if target.startswith(TAB) else ""

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Move the focus with Tab to another link, and show that link as if it were hovered.

        The link is scrolled into view.
        """
        is_here = super().focusNextPrevChild(forward)
        href = self.textCursor().charFormat().anchorHref() if is_here else ""
        self._pointing.focus(href)
        if href:
            self._reveal_cursor()
        return is_here

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show a context menu to copy the selection or link address, or to select all."""
        menu = self._pointing.menu(self.anchorAt(event.pos()))
        show_menu(menu, event.globalPos())

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
        self._formulas.forget()
        self._writer = DocumentWriter(self.document(), Formats(), self._formulas)
        self._writer.shown = self._embeds
        self._writer.folds.toggled = self._toggled
        self._writer.is_missing = self._is_missing
        self._writer.picture_width = self._find_text_width()
        self._decoration_painter = DecorationPainter(self.document())
        self.wide.forget()

    def _find_text_width(self) -> int:
        """Return the width of the text in pixels, which no image exceeds."""
        return self.width() - 2 * OUTDENT

    def _ask_embeds(self) -> None:
        """Request the images and embedded notes that the document shows as placeholders."""
        for source in [one for one in self._writer.wanted if one not in self._asked]:
            self._asked.add(source)
            self.embed_wanted.emit(source)

    @property
    def _all_decorations(self) -> tuple[Decorations, Decorations]:
        return self._writer.final, self._writer.tail

    def _on_moved(self) -> None:
        self._decoration_painter.forget()
        self.viewport().update()

    def _on_text_moved(self) -> None:
        """Place everything beside and behind the text again."""
        self._decoration_painter.forget()
        self._fit()
        self.viewport().update()

    def _on_range_changed(self, _least: int, most: int) -> None:
        """Disable Qt's horizontal scrolling, because wide blocks have their own scroll bars."""
        if most:
            self.horizontalScrollBar().setRange(0, 0)

    def _pause(self, seconds: float) -> None:
        """Set the delay of the next redraw: 33 ms, or more if the last redraw was slow."""
        wait = ceil(seconds * 1000 * _BUSY_SHARE)
        self._timer.setInterval(max(Theme.current().duration("stream_flush"), wait))

    def _write(self, final: tuple[Leaf, ...], tail: tuple[Leaf, ...]) -> None:
        selection = self._selection()
        self._decoration_painter.forget_tail(self._writer.tail, self._writer.open_code)
        self._writer.write(final, tail)
        self._pointing.fold_hints = self._writer.folds.hints
        self._leaves.extend(final)
        self._restore(selection)
        self._fit()
        self._ask_embeds()

    def _rewrite_soon(self) -> None:
        self._is_outdated = True
        self._embeds_timer.start()

    def _draw_arrived(self) -> None:
        """Draw the images and embedded notes that have arrived, without the rest if possible."""
        if self._resume_at:
            keep_place(self)
        if self._is_outdated or self._stream is not None:
            self._rewrite()
            return
        tab = self._find_focused_tab()
        for source in self._arrived:
            replaced = self._writer.replace_embed(source)
            if replaced is None:
                self._rewrite()
                return
            for part in replaced:
                self.wide.follow(part)
        self._decoration_painter.forget()
        self._settle(tab)
        self.viewport().update()

    def _rewrite(self) -> None:
        tab, place = self._find_focused_tab(), _TextPlace(self.textCursor())
        self.document().clear()
        self._begin()
        growth = self._stream.update() if self._stream else Growth((), ())
        self._leaves.extend(growth.final)
        self._writer.write(self._leaves, growth.tail)
        if selection := place.find(self.document()):
            self._restore(selection)
        self._settle(tab)

    def _settle(self, tab: str) -> None:
        """Bring everything up to date with a document that has been written again.

        Args:
            tab: the address of the tab that has the focus, or an empty string.
        """
        self._arrived, self._is_outdated = {}, False
        self._pointing.fold_hints = self._writer.folds.hints
        self._show_doubts()
        self._fit()
        if tab and (position := self._find_link(tab)) >= 0:
            self._focus_link(position)
        if self._resume_at:
            self._restore((self._resume_at, self._resume_at))
            self._resume_at = 0
        self.rewritten.emit()
        self._ask_embeds()

    def _fit(self) -> None:
        self.wide.fit_tables(*self._all_decorations)
        self._fit_height()
        self._place_buttons()
        self.wide.update(self._decoration_painter.panel_rect, *self._all_decorations)
        if self._writer.recoloring.is_waiting:
            self._colors.start()

    def _on_colors(self) -> None:
        self._writer.recoloring.go_on(_COLORS_S)
        if not self._writer.recoloring.is_waiting:
            self._colors.stop()

    def _show_doubts(self) -> None:
        pills = [*self._writer.final.pills, *self._writer.tail.pills]
        doubtful = find_unverified_pills(self.document(), pills, self._pointing.sources)
        self._decoration_painter.doubtful = doubtful
        self._writer.set_doubtful(doubtful)

    def _selection(self) -> tuple[int, int]:
        cursor = self.textCursor()
        return cursor.anchor(), cursor.position()

    def _restore(self, selection: tuple[int, int]) -> None:
        if self._selection() == selection:
            return
        most = self.document().characterCount() - 1
        cursor = self.textCursor()
        cursor.setPosition(min(selection[0], most))
        cursor.setPosition(min(selection[1], most), QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)

    def _fit_height(self) -> None:
        height = ceil(self.document().size().height() + self._writer.padding_below + SPARE_BELOW)
        if height != self.height() or self.minimumHeight() != height:
            self.setFixedHeight(height)

    def _place_buttons(self) -> None:
        panels = [*self._writer.final.panels, *self._writer.tail.panels]
        codes = [panel for panel in panels if panel.kind == "code"]
        self._buttons.place([self._decoration_painter.panel_rect(panel) for panel in codes])
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

    def find_places(self, number: int) -> list[QRect]:
        """Return the rectangles of all citations with the given number, in view coordinates."""
        return [rect for rects in self._find_pills(number).values() for rect in rects]

    def find_place(self, number: int) -> QRect:
        """Return the rectangle of the citation of `number` that is nearest to the pointer."""
        return self._pointing.find_nearest(self.find_places(number))

    def _find_pills(self, number: int) -> dict[Pill, list[QRect]]:
        pills = [*self._writer.final.pills, *self._writer.tail.pills]
        cited = (pill for pill in pills if number in pill.numbers)
        return {
            pill: [rect.toRect() for rect in self._decoration_painter.list_pill_rects(pill)]
            for pill in cited
        }


class _TextPlace:
    """The place of a text cursor, which is found again in a text that differs above or below it.

    Args:
        cursor: the cursor in the text before the change.
    """

    def __init__(self, cursor: QTextCursor) -> None:
        self._anchor, self._position = cursor.anchor(), cursor.position()
        self._start, self._end = cursor.selectionStart(), cursor.selectionEnd()
        self._length = cursor.document().characterCount()
        self._above = self._below = ""
        if self._end:
            self._above = _read_text(cursor.document(), 0, self._end)
            self._below = _read_text(cursor.document(), self._start, self._length - 1)

    def find(self, document: QTextDocument) -> tuple[int, int] | None:
        """Return the anchor and the position in the changed text, or None if they are gone."""
        by = document.characterCount() - self._length
        if not self._end:
            return None
        if _read_text(document, 0, self._end) == self._above:
            return self._anchor, self._position
        if _read_text(document, self._start + by, self._length - 1 + by) == self._below:
            return self._anchor + by, self._position + by
        return None


def _read_text(document: QTextDocument, start: int, end: int) -> str:
    """Return a part of a text, shortened at the ends of the document."""
    most = document.characterCount() - 1
    cursor = QTextCursor(document)
    cursor.setPosition(min(max(0, start), most))
    cursor.setPosition(min(max(0, end), most), QTextCursor.MoveMode.KeepAnchor)
    return cursor.selectedText()


_KEY = Qt.Key
_SCROLL_KEYS = {_KEY.Key_Up, _KEY.Key_Down, _KEY.Key_PageUp, _KEY.Key_PageDown}
_SCROLL_KEYS |= {_KEY.Key_Home, _KEY.Key_End}
