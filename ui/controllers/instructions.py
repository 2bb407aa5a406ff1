"""What the notes want models to do: asked about once, and again when it has changed."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Signal

from app.assistant import Assistant
from app.errors import describe
from app.library.instructions import Instructions
from ui.chat.transcript.instructions_bar import InstructionsBar
from ui.notify import announce
from ui.tasks import LatestOnly, TaskRunner

__all__ = ["Instructing"]


class Instructing(QObject):
    """Keeps the bar in step with the file; `decided` when the next request is another one.

    `failed` carries a sentence.
    """

    decided = Signal()
    failed = Signal(str)

    def __init__(self, assistant: Assistant, runner: TaskRunner, bar: InstructionsBar) -> None:
        super().__init__(bar)
        self._assistant = assistant
        self._bar = bar
        self._looks = LatestOnly(runner, 0, self)
        self._looks.answered.connect(self._on_found)
        self._looks.failed.connect(self._on_failed)
        self._runner = runner
        bar.accepted.connect(self._on_accepted)
        bar.refused.connect(self._on_refused)

    def look(self) -> None:
        """See whether there is something to be asked."""
        self._looks.ask(self._assistant.instructions, now=True)

    def _on_found(self, found: Instructions | None) -> None:
        if found is None or found.decision is not None:
            self._bar.hide()
            return
        if self._bar.isHidden():
            announce(self._bar, f"{found.path} has instructions for models.", is_urgent=True)
        self._bar.ask(found.path, found.visible_text, found.digest)

    def _on_accepted(self, digest: str) -> None:
        self._decide(partial(self._assistant.accept_instructions, digest))

    def _on_refused(self, digest: str) -> None:
        self._decide(partial(self._assistant.refuse_instructions, digest))

    def _decide(self, work: Callable[[], object]) -> None:
        task = self._runner.call(work)
        task.yielded.connect(self.decided)
        task.failed.connect(self._on_failed)
        task.finished.connect(self.look)
        task.start()

    def _on_failed(self, error: Exception) -> None:
        self.failed.emit(describe(error).message)
