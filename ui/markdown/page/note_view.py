"""`NoteView`, a Markdown view of one part of a note, which can highlight source lines."""

from PySide6.QtCore import QPointF, QRect, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QMenu, QWidget

from ui.markdown.blocks import CodeLines, Leaf
from ui.markdown.code_colors import list_plain_lines
from ui.markdown.inline import BREAK, TASK
from ui.markdown.note_parts import NotePart, read_part
from ui.markdown.page.decorations import ListMarker, list_tasks
from ui.markdown.page.images import Embedded
from ui.markdown.page.lines import NO_LINE, SourceLines, find_line_at
from ui.markdown.page.view import MarkdownView
from ui.widgets.controls import paint_focus
from ui.widgets.menus import show_menu

__all__ = ["NoteView"]

_LINK = "link:"
_NAME = "Text of the note"


class NoteView(MarkdownView):
    """Draws one part of a note.

    Signals:
        menu_wanted: emitted with the text's context menu before it is shown. The receiver adds to
            it.
        task_pressed: emitted with the line of a task whose checkbox was clicked, or that has the
            focus when Space is pressed. Tab moves the focus through tasks and links.
        listed_task_pressed: the same for a task of another note that a query lists, with its link.

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
    listed_task_pressed = Signal(str)

    def __init__(
        self, part: NotePart, width: int, embeds: dict[str, Embedded], parent: QWidget
    ) -> None:
        super().__init__(parent, embeds)
        self.part = part
        self._lines = SourceLines(self.document())
        self.document().contentsChange.connect(self._on_contents_changed)
        self.rewritten.connect(self._renew_focused)
        self._pressed: ListMarker | None = None
        self._focused: ListMarker | None = None
        self._lit: tuple[int, int] | None = None
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
        lit = (first, last) if first else None
        if lit != self._lit:
            self._lit = lit
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

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remember the checkbox that is pressed."""
        super().mousePressEvent(event)
        is_left = event.button() == Qt.MouseButton.LeftButton
        self._pressed = self._find_task(event.position()) if is_left else None
        self._set_focused(self._pressed)
        self.viewport().update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Tick or untick the task whose checkbox was clicked."""
        super().mouseReleaseEvent(event)
        pressed, self._pressed = self._pressed, None
        if pressed is not None and pressed is self._find_task(event.position()):
            self._press(pressed)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show a hand over a checkbox."""
        super().mouseMoveEvent(event)
        is_over = self._find_task(event.position()) is not None
        shape = Qt.CursorShape.PointingHandCursor if is_over else Qt.CursorShape.IBeamCursor
        if is_over or not self.anchorAt(event.position().toPoint()):
            self.viewport().setCursor(shape)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tick or untick the focused task with Space."""
        if event.key() == Qt.Key.Key_Space and self._focused is not None and self.hasFocus():
            self._press(self._focused)
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Move the focus with Tab: first through the tasks, then through the links."""
        if self._step_task(1 if forward else -1):
            return True
        self._set_focused(None)
        self.viewport().update()
        return super().focusNextPrevChild(forward)

    def _step_task(self, step: int) -> bool:
        """Focus the next or previous task, and return whether there is one."""
        tasks, cursor = self._list_tasks(), self.textCursor()
        if self._focused in tasks:
            place = tasks.index(self._focused) + step
        else:
            is_at_link = cursor.hasSelection() and cursor.charFormat().isAnchor()
            place = 0 if step > 0 and not is_at_link else -1
        if not 0 <= place < len(tasks):
            return False
        self._focus_task(tasks[place])
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the text, and a ring around the focused checkbox."""
        super().paintEvent(event)
        if self._focused is not None and self.hasFocus():
            painter = QPainter(self.viewport())
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            box = self._ink.find_box(self._focused).adjusted(-2, -2, 2, 2)
            paint_focus(painter, box, "sm")
            painter.end()

    def _focus_task(self, task: ListMarker) -> None:
        cursor = self.textCursor()
        cursor.setPosition(task.start)
        self.setTextCursor(cursor)
        self._set_focused(task)
        self._pointing.focus("")
        self.viewport().update()

    def _set_focused(self, task: ListMarker | None) -> None:
        """Set the task that has the focus, and name it with its state for screen readers."""
        self._focused = task
        name = _NAME
        if task is not None:
            text = self.document().findBlock(task.start).text().partition(BREAK)[0]
            name = f"Task, {task.describe_status()}: {text}"
        self.setAccessibleName(name)

    def _renew_focused(self) -> None:
        """Find the task that has the focus again. The text cursor has stayed in it."""
        if self._focused is not None:
            block = self.textCursor().block()
            here = (task for task in self._list_tasks() if block.contains(task.start))
            self._set_focused(next(here, None))

    def _press(self, task: ListMarker) -> None:
        if link := self._find_task_link(task):
            self.listed_task_pressed.emit(link)
        else:
            self.task_pressed.emit(self._find_task_line(task))

    def _list_tasks(self) -> list[ListMarker]:
        """Return the checkboxes of this note and of its queries, not of notes that it embeds."""
        return [task for task in list_tasks(self._writer.final) if self._can_tick(task)]

    def _can_tick(self, task: ListMarker) -> bool:
        is_own = self.document().findBlock(task.start).userState() != NO_LINE
        return is_own or bool(self._find_task_link(task))

    def _find_task_link(self, task: ListMarker) -> str:
        """Return the link to a task of another note, or "" for a task of this note."""
        targets, pieces = self._targets(), self.document().findBlock(task.start).begin()
        while not pieces.atEnd():
            href = pieces.fragment().charFormat().anchorHref()
            pieces += 1
            if href.startswith(_LINK):
                target = targets[int(href.removeprefix(_LINK))]
                if target.startswith(TASK):
                    return target
        return ""

    def _find_task(self, spot: QPointF) -> ListMarker | None:
        found = self._ink.find_task(self._writer.final, spot)
        return found if found is not None and found in self._list_tasks() else None

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
        if self._lit is not None and (band := self.find_band(*self._lit)) is not None:
            self._ink.paint_band(painter, self._inks, band, self.width())
