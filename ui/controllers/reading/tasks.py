"""Tick and untick the tasks of the open note and those that queries list, with undo."""

from functools import partial

from PySide6.QtCore import QObject
from shiboken6 import isValid

from app.assistant import Assistant
from app.errors import describe
from app.library.edits import TickedTask
from app.sessions.session_info import one_line
from ui.chat.message.sections import AnswerView
from ui.controllers.reading.open_note import ReadingController
from ui.controllers.reading.views import split_task_link
from ui.frame import WindowFrame
from ui.tasks import TaskRunner
from ui.widgets.buttons import ButtonText
from vault.errors import EditOutdated

__all__ = ["TaskTickController"]

_UNDO = ButtonText("Undo", "Put the task back as it was")
_CHANGED = "The note has changed meanwhile, and is shown anew. Nothing was ticked."
_TEXT_CHARS = 40


class TaskTickController(QObject):
    """Changes a task when its checkbox is pressed, in the open note or in an answer.

    The character in the checkbox changes, and what the Tasks plugin and Logseq change with it, such
    as the next task beside a recurring one that is done. The change is recorded in the journal of
    edits, as an agent's edit is.
    """

    def __init__(
        self,
        assistant: Assistant,
        runner: TaskRunner,
        frame: WindowFrame,
        reading: ReadingController,
    ) -> None:
        super().__init__(frame.window)
        self._assistant, self._runner, self._frame = assistant, runner, frame
        self._reading, self._is_busy = reading, False
        self._answer: AnswerView | None = None
        frame.note.task_pressed.connect(self.toggle)
        frame.note.listed_task_pressed.connect(self._on_listed_task_pressed)
        frame.transcript.maker.task_pressed.connect(self._on_answer_task_pressed)

    def toggle(self, path: str, version: str, line: int) -> None:
        """Tick or untick a task, unless another one is just being written.

        Args:
            path: the note.
            version: the hash of the content that is shown.
            line: the line of the task.
        """
        if self._is_busy:
            return
        self._is_busy = True
        toggle = self._assistant.user_edits.toggle_task
        task = self._runner.call(lambda: toggle(path, line, version))
        task.yielded.connect(self._on_toggled)
        task.failed.connect(self._on_failed)
        task.start()

    def _on_listed_task_pressed(self, link: str) -> None:
        if (task := split_task_link(link)) is not None:
            self.toggle(*task)

    def _on_answer_task_pressed(self, view: AnswerView, link: str) -> None:
        """Tick a task in an answer, which may be shown outside of the chat."""
        self._answer = view
        self._on_listed_task_pressed(link)

    def _follow(self, task: TickedTask, before: int, after: int) -> None:
        """Keep the focus at a task that is in another line now, or in none if that is 0."""
        self._frame.note.follow_task(task.path, before, after)
        if self._answer is not None and isValid(self._answer):
            self._answer.follow_task(task.path, before, after)

    def _show_again(self) -> None:
        self._reading.reread()
        self._reading.refresh_views()
        if self._answer is not None and isValid(self._answer):
            self._answer.refresh_views()

    def _on_toggled(self, task: TickedTask) -> None:
        self._is_busy = False
        self._follow(task, task.old_line, 0 if task.is_deleted else task.line)
        self._show_again()
        message = f"“{one_line(task.text, _TEXT_CHARS)}” {_describe_state(task)}"
        self._frame.notifier.toast(message, (_UNDO, partial(self._undo, task)))

    def _undo(self, task: TickedTask) -> None:
        undo = self._runner.call(lambda: self._assistant.edits.undo(run=task.run))
        undo.yielded.connect(lambda _undone: self._on_undone(task))
        undo.failed.connect(self._on_failed)
        undo.start()

    def _on_undone(self, task: TickedTask) -> None:
        self._follow(task, task.line, task.old_line)
        self._show_again()
        self._frame.notifier.toast(f"Undone. {task.path} is as before.")

    def _on_failed(self, error: Exception) -> None:
        self._is_busy = False
        self._show_again()
        is_outdated = isinstance(error, EditOutdated)
        self._frame.notifier.toast(_CHANGED if is_outdated else describe(error).message)


def _describe_state(task: TickedTask) -> str:
    """Return how a task is now, and which one follows it, as the end of a sentence."""
    if task.next_day and task.next_line is None:
        return f"is done, and open again for {task.next_day}."
    state = "is open again." if task.status == " " else "is done."
    if task.is_deleted:
        state = "is done, and was deleted, as its line says."
    if task.next_line is None:
        return state
    where = "below" if task.next_line > task.line else "above"
    place = "in its place" if task.is_deleted else where
    following = (
        f"The next one is on {task.next_day}." if task.next_day else f"It is open again {place}."
    )
    return f"{state} {following}"
