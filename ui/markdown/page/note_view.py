"""`NoteView`, a Markdown view of one part of a note, which can highlight source lines."""

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QPainter
from PySide6.QtWidgets import QMenu, QWidget

from ui.markdown.blocks import CodeLines, Leaf
from ui.markdown.code_colors import list_plain_lines
from ui.markdown.note_parts import NotePart, read_part
from ui.markdown.page.decorations import ListMarker
from ui.markdown.page.images import Embedded
from ui.markdown.page.lines import NO_LINE, SourceLines, find_line_at
from ui.markdown.page.tasks import TaskView
from ui.widgets.menus import show_menu

__all__ = ["NoteView"]

_NAME = "Text of the note"


class NoteView(TaskView):
    """Draws one part of a note.

    Signals:
        menu_wanted: emitted with the text's context menu before it is shown. The receiver adds to
            it.
        task_pressed: emitted with the line of a task of the note, as `listed_task_pressed` is for
            those that a query lists.

    Attributes:
        part: the part of the note that is drawn.

    Args:
        part: the part of the note to draw.
        width: the width of the view in pixels.
        embeds: the loaded images and embedded notes by their source, which all parts share.
        parent: the parent widget.
    """

    menu_wanted = Signal(QMenu)
    task_pressed = Signal(int)

    def __init__(
        self, part: NotePart, width: int, embeds: dict[str, Embedded], parent: QWidget
    ) -> None:
        super().__init__(parent, embeds)
        self.part = part
        self._lines = SourceLines(self.document())
        self.document().contentsChange.connect(self._on_contents_changed)
        self._highlight: tuple[int, int] | None = None
        self.setAccessibleName(_NAME)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.resize(width, self.height())

    def draw(self) -> None:
        """Draw the part, once the receivers of the signals are connected."""
        self.set_leaves(read_part(self.part))

    def draw_source(self) -> None:
        """Draw the Markdown of the part as it is written."""
        repeated = self.part.repeated
        lines = list_plain_lines("\n".join(self.part.text.split("\n")[repeated:]))
        self.set_leaves([CodeLines("", lines, line=1 + repeated)])

    @property
    def ends(self) -> tuple[Leaf, Leaf] | None:
        """The first and the last leaf (block of Markdown) of the part, or None without any."""
        return (self._leaves[0], self._leaves[-1]) if self._leaves else None

    def light(self, first: int, last: int) -> None:
        """Highlight the note's lines from `first` to `last`. If `first` is 0, highlight nothing."""
        line_range = (first, last) if first else None
        if line_range != self._highlight:
            self._highlight = line_range
            self.viewport().update()

    def find_band(self, first: int, last: int) -> tuple[int, int] | None:
        """Return the y coordinates of the upper and lower edge of a range of the note's lines.

        Return None if this part does not contain the lines.
        """
        own = self.part.find_own_line
        band = self._lines.find_band(own(first), own(last))
        return None if band is None else (round(band[0]), round(band[1]))

    def find_height(self, line: int) -> int:
        """Return the y coordinate of a line of the note in the view.

        If the line is not drawn, return the coordinate of the next drawn line, or of the lower edge
        if there is none, as below an embedded note.
        """
        drawn = self._lines.find_next(self.part.find_own_line(line))
        band = self._lines.find_band(drawn, drawn) if drawn else None
        return round(band[0]) if band else self.height()

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

    @property
    def focused_task(self) -> int:
        """The line of the task that has the focus, or 0."""
        task = self._focused if self.hasFocus() else None
        return 0 if task is None or self._find_task_link(task) else self._find_task_line(task)

    def focus_task(self, line: int) -> bool:
        """Give the focus to the task in a line, and return whether the line has one."""
        tasks = (task for task in self._list_tasks() if self._find_task_line(task) == line)
        if (task := next(tasks, None)) is None:
            return False
        self.setFocus(Qt.FocusReason.TabFocusReason)
        self._focus_task(task)
        return True

    def leave_task(self) -> None:
        """Take the focus from the task that has it. The view keeps the keyboard."""
        if self.focused_task:
            self._set_focused(None)
            self.viewport().update()

    def _press(self, task: ListMarker) -> None:
        if self._find_task_link(task):
            super()._press(task)
        else:
            self.task_pressed.emit(self._find_task_line(task))

    def _can_tick(self, task: ListMarker) -> bool:
        """Return whether a task is of this note or of its queries, not of a note that it embeds."""
        is_own = self.document().findBlock(task.start).userState() != NO_LINE
        return is_own or super()._can_tick(task)

    def _find_task_line(self, task: ListMarker) -> int:
        return self.part.find_note_line(find_line_at(self.document(), task.start))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the context menu of the text, with what the receiver of `menu_wanted` adds."""
        menu = self._pointing.menu(self.anchorAt(event.pos()))
        self.menu_wanted.emit(menu)
        show_menu(menu, event.globalPos())

    def _on_contents_changed(self, *_change: int) -> None:
        self._lines.forget()

    def _paint_ground(self, painter: QPainter) -> None:
        """Paint the background of the highlighted lines, as wide as the view."""
        if self._highlight is not None and (band := self.find_band(*self._highlight)) is not None:
            self._decoration_painter.paint_band(painter, self._all_decorations, band, self.width())
