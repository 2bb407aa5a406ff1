"""`NoteView`, a Markdown view of one part of a note, which can highlight source lines."""

from collections.abc import Callable, Iterator

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QPainter,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QMenu, QWidget

from ui.markdown.inline import NOTE
from ui.markdown.note_parts import NotePart, read_part
from ui.markdown.page.images import Embedded
from ui.markdown.page.lines import find_line_at, find_line_band
from ui.markdown.page.view import MarkdownView
from ui.theme import Theme
from ui.widgets.menus import show_menu

__all__ = ["NoteView"]

_LINK = "link:"


class NoteView(MarkdownView):
    """Draws one part of a note.

    Signals:
        menu_wanted: emitted with the text's context menu before it is shown. The receiver adds to
            it.

    Attributes:
        part: the part of the note that is drawn.

    Args:
        part: the part of the note to draw.
        width: the width of the view in pixels.
        embeds: the loaded images and embedded notes by their source, which all parts share.
        parent: the parent widget.
    """

    menu_wanted = Signal(QMenu)

    def __init__(
        self, part: NotePart, width: int, embeds: dict[str, Embedded], parent: QWidget
    ) -> None:
        self._is_missing: Callable[[str], bool] = lambda _target: False
        super().__init__(parent, embeds)
        self.part = part
        self._lit: tuple[int, int] | None = None
        self.setAccessibleName("Text of the note")
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.resize(width, self.height())

    def draw(self) -> None:
        """Draw the part, once the receivers of the signals are connected."""
        self.set_leaves(read_part(self.part))

    def mark_missing(self, is_missing: Callable[[str], bool]) -> None:
        """Show links to notes that do not exist in a quiet colour, with a dashed line.

        Args:
            is_missing: returns whether the target of a link, as written, does not exist.
        """
        self._is_missing = is_missing
        self._color_links()

    def _rewrite(self) -> None:
        super()._rewrite()
        self._color_links()

    def _color_links(self) -> None:
        """Color each link to a note by whether the note exists."""
        cursor, keep = QTextCursor(self.document()), QTextCursor.MoveMode.KeepAnchor
        for start, end, target in list(self._list_note_links()):
            cursor.setPosition(start)
            cursor.setPosition(end, keep)
            cursor.mergeCharFormat(_make_look(is_missing=self._is_missing(target)))

    def _list_note_links(self) -> Iterator[tuple[int, int, str]]:
        """Yield the start and end position and the target of each link to a note."""
        targets, block = self._targets(), self.document().begin()
        while block.isValid():
            pieces = block.begin()
            while not pieces.atEnd():
                piece = pieces.fragment()
                href = piece.charFormat().anchorHref()
                target = targets[int(href.removeprefix(_LINK))] if href.startswith(_LINK) else ""
                if target.startswith(NOTE):
                    end = piece.position() + piece.length()
                    yield piece.position(), end, target.removeprefix(NOTE)
                pieces += 1
            block = block.next()

    def light(self, first: int, last: int) -> None:
        """Highlight the note's lines from `first` to `last`. If `first` is 0, highlight nothing."""
        lit = (first, last) if first else None
        if lit != self._lit:
            self._lit = lit
            self.viewport().update()

    def find_band(self, first: int, last: int) -> tuple[int, int] | None:
        """Return the y coordinates of the upper and lower edge of a range of the note's lines.

        Return None if this part does not contain the lines.
        """
        own = self.part.find_own_line
        band = find_line_band(self.document(), own(first), own(last))
        return None if band is None else (round(band[0]), round(band[1]))

    def find_height(self, line: int) -> int:
        """Return the y coordinate of a line of the note in the view.

        If the line is not drawn, return the coordinate of the next drawn line, or 0 if there is
        none.
        """
        band = self.find_band(line, line + self.part.text.count("\n") + 1)
        return band[0] if band else 0

    def find_line_at_height(self, y: int) -> int:
        """Return the line of the note at a y coordinate in the view."""
        position = self.cursorForPosition(QRect(self.width() // 2, y, 1, 1).topLeft()).position()
        return self.part.find_note_line(find_line_at(self.document(), position))

    def find_selected_lines(self) -> tuple[int, int] | None:
        """Return the numbers of the first and last selected line of the note.

        Return None if nothing is selected.
        """
        cursor = self.textCursor()
        if not cursor.hasSelection():
            return None
        ends = (cursor.selectionStart(), max(cursor.selectionStart(), cursor.selectionEnd() - 1))
        first, last = (find_line_at(self.document(), position) for position in ends)
        return self.part.find_note_line(first), self.part.find_note_line(last)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the context menu of the text, with what the receiver of `menu_wanted` adds."""
        menu = self._pointing.menu(self.anchorAt(event.pos()))
        self.menu_wanted.emit(menu)
        show_menu(menu, event.globalPos())

    def _paint_ground(self, painter: QPainter) -> None:
        """Paint the background of the highlighted lines, as wide as the view."""
        if self._lit is not None and (band := self.find_band(*self._lit)) is not None:
            self._ink.paint_band(painter, self._inks, band, self.width())


def _make_look(*, is_missing: bool) -> QTextCharFormat:
    made, lines = QTextCharFormat(), QTextCharFormat.UnderlineStyle
    made.setForeground(Theme.current().color("text.tertiary" if is_missing else "text.link"))
    made.setUnderlineStyle(lines.DashUnderline if is_missing else lines.SingleUnderline)
    return made
