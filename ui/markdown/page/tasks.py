"""`TaskView`, a Markdown view whose checkboxes tick tasks."""

from typing import NamedTuple

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from ui.markdown.inline import BREAK, TASK
from ui.markdown.page.decorations import ListMarker, list_tasks
from ui.markdown.page.images import Embedded
from ui.markdown.page.view import MarkdownView
from ui.widgets.controls import paint_focus

__all__ = ["TaskView"]

_LINK = "link:"


class _Listed(NamedTuple):
    """Where a task is that a base or query lists: its line and note, and its place in the text.

    The avoided line and note are those of another task, which does not get the focus in its place.
    """

    task: tuple[str, str]
    place: int
    avoided: tuple[str, str] | None = None


class TaskView(MarkdownView):
    """Draws Markdown, in which the tasks that a base or query lists can be ticked.

    Tab moves the focus through tasks and links.

    Signals:
        listed_task_pressed: emitted with the link to a task that a base or query lists, when its
            checkbox was clicked, or when it has the focus and Space is pressed.
    """

    listed_task_pressed = Signal(str)

    def __init__(
        self, parent: QWidget | None = None, embeds: "dict[str, Embedded] | None" = None
    ) -> None:
        super().__init__(parent, embeds)
        self._pressed: ListMarker | None = None
        self._focused: ListMarker | None = None
        self._listed: _Listed | None = None  # where the task with the focus is, if it is listed
        self._name = ""  # of the view for screen readers, while none of its tasks has the focus
        self.rewritten.connect(self._renew_focused)

    def follow_task(self, path: str, before: int, after: int) -> None:
        """Keep the focus at a listed task whose line changes when the list is drawn again.

        A task that takes its line, as the next one of a recurring task does, never gets the focus.

        Args:
            path: the note of the task.
            before: its line before the change.
            after: its line then, or 0 if it is deleted.
        """
        if self._listed is not None and self._listed.task == (str(before), path):
            avoided = self._listed.task if after != before else None
            self._listed = self._listed._replace(task=(str(after), path), avoided=avoided)

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
            box = self._decoration_painter.find_box(self._focused).adjusted(-2, -2, 2, 2)
            paint_focus(painter, box, "sm")
            painter.end()

    def _focus_task(self, task: ListMarker) -> None:
        self._go_to(task)
        self._pointing.focus("")
        self._reveal_cursor()
        self.viewport().update()

    def _set_focused(self, task: ListMarker | None) -> None:
        """Set the task that has the focus, and name it with its state for screen readers."""
        if self._focused is None:
            self._name = self.accessibleName()
        self._focused, name = task, self._name
        if task is not None:
            text = self.document().findBlock(task.start).text().partition(BREAK)[0]
            name = f"Task, {task.describe_status()}: {text}"
        self._listed = None if task is None else self._find_listed(task)
        self.setAccessibleName(name)

    def _renew_focused(self) -> None:
        """Find the task that has the focus again: a listed one by its note and line.

        If it is listed no more, the one in its place gets the focus. For a task of the text itself,
        the text cursor has stayed in it.
        """
        if self._focused is None:
            return
        tasks, before = self._list_tasks(), self._listed
        if before is None:
            block = self.textCursor().block()
            here = (task for task in tasks if block.contains(task.start))
            self._set_focused(next(here, None))
            return
        listed = [(task, found) for task in tasks if (found := self._find_listed(task))]
        same = (task for task, found in listed if found.task == before.task)
        others = (each for each in listed if each[1].task != before.avoided)
        below = (task for task, found in others if found.place >= before.place)
        if (task := next(same, None) or next(below, None)) is None:
            self._set_focused(None)
        else:
            self._go_to(task)

    def _go_to(self, task: ListMarker) -> None:
        """Give a task the focus, and move the text cursor to it, where Tab goes on."""
        cursor = self.textCursor()
        cursor.setPosition(task.start)
        self.setTextCursor(cursor)
        self._set_focused(task)

    def _find_listed(self, task: ListMarker) -> "_Listed | None":
        link = self._find_task_link(task)
        if not link:
            return None
        _, line, _version, path = link.split(":", 3)
        return _Listed((line, path), list_tasks(self._writer.final).index(task))

    def _press(self, task: ListMarker) -> None:
        if link := self._find_task_link(task):
            self.listed_task_pressed.emit(link)

    def _list_tasks(self) -> list[ListMarker]:
        """Return the checkboxes that can be ticked, in text order."""
        return [task for task in list_tasks(self._writer.final) if self._can_tick(task)]

    def _can_tick(self, task: ListMarker) -> bool:
        return bool(self._find_task_link(task))

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
        found = self._decoration_painter.find_task(self._writer.final, spot)
        return found if found is not None and found in self._list_tasks() else None
