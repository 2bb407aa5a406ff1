"""A chat summed up because the user asked for it, apart from any question."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.assistant import Assistant
from app.errors import describe
from chains.events import CompactionEnded
from ui.controllers.session import Conversation
from ui.tasks import Task, TaskRunner
from ui.widgets.figures import count, plural

__all__ = ["Compacting", "compacted_sentence"]

_BUSY = "An answer is on its way. Stop it first."
_NOTHING = "Nothing has been asked in this chat yet."
_BEGUN = "Summarising older messages…"


class Compacting(QObject):
    """Sums up the open chat; `said` carries what is to be told, `done` is emitted at the end."""

    said = Signal(str)
    done = Signal()

    def __init__(self, assistant: Assistant, runner: TaskRunner, talk: Conversation) -> None:
        super().__init__(talk)
        self._assistant, self._runner, self._talk = assistant, runner, talk
        self._task: Task | None = None

    def start(self, instructions: str = "") -> None:
        """Sum up all but the last turn.

        Args:
            instructions: what the summary should keep above all.
        """
        session = self._talk.session
        if self._task is not None:
            return
        if session is None:
            self.said.emit(_NOTHING)
            return
        if self._talk.is_running:
            self.said.emit(_BUSY)
            return
        compact, model = self._assistant.compact, self._talk.model
        self._task = self._runner.stream(lambda token: compact(session, token, instructions, model))
        self._task.yielded.connect(self._on_yielded)
        self._task.failed.connect(self._on_failed)
        self._task.finished.connect(self._on_finished)
        self.said.emit(_BEGUN)
        self._task.start()

    def _on_yielded(self, event: object) -> None:
        if isinstance(event, CompactionEnded):
            self.said.emit(compacted_sentence(event.result))

    def _on_failed(self, error: Exception) -> None:
        self.said.emit(describe(error).message)

    def _on_finished(self) -> None:
        self._task = None
        self.done.emit()


def compacted_sentence(result: Mapping[str, Any]) -> str:
    """Return what a compaction came to, in one sentence."""
    if result["entry"] is None:
        return "There is nothing to summarise before the last message."
    before, after = result["before_tokens"], result["after_tokens"]
    # The summary itself is one of the messages that are there afterwards.
    gone = plural(result["before_messages"] - result["after_messages"] + 1, "earlier message")
    if result["by"] == "outline":
        return f"{gone} became an outline, made without a model."
    return f"{gone} summarised · {count(before)} → {count(after)} tokens"
