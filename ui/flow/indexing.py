"""Bringing the index up to date beside everything else, and saying how far it is."""

import logging

from PySide6.QtCore import QObject, Signal

from app.assistant import Assistant
from app.errors import describe
from app.library import IndexFinished
from chains.events import IndexProgressed
from ui.kit.controls import one_line
from ui.panels.index import IndexState
from ui.tasks import Task, TaskRunner
from vault.indexer import IndexProgress, IndexReport

__all__ = ["Indexing"]

_log = logging.getLogger(__name__)


class Indexing(QObject):
    """Runs one index update at a time.

    `state_changed` carries an `IndexState`; `phase_changed` the new phase of a run, at which the
    list of notes may have grown; `finished` the report, after the notes on the disk and
    in the index agree as far as the run came.
    """

    state_changed = Signal(object)
    phase_changed = Signal(str)
    finished = Signal(object)

    def __init__(self, assistant: Assistant, runner: TaskRunner, parent: QObject) -> None:
        super().__init__(parent)
        self._assistant = assistant
        self._runner = runner
        self._task: Task | None = None
        self._is_wanted_again = False
        self._phase = ""
        self.state = self._settled = IndexState()

    @property
    def is_running(self) -> bool:
        """Whether notes are being read now."""
        return self._task is not None

    def start(self) -> None:
        """Begin, or begin again when the present run has ended."""
        if self._task is not None:
            self._is_wanted_again = True
            return
        self._task = self._runner.stream(self._assistant.index)
        self._task.yielded.connect(self._on_yielded)
        self._task.failed.connect(self._on_failed)
        self._task.finished.connect(self._on_finished)
        self._show(IndexState("running", notes=self.state.notes))
        self._task.start()

    def cancel(self) -> None:
        """Stop; what was done by then is kept."""
        self._is_wanted_again = False
        if self._task is not None:
            self._task.cancel()

    def forget(self) -> None:
        """Say nothing of the notes that were open before."""
        self.cancel()
        self.state = self._settled = IndexState()
        self.state_changed.emit(self.state)

    def show_progress(self, progress: IndexProgress) -> None:
        """Show how far a run has come, also one that a question began."""
        if progress.phase != self._phase:
            self._phase = progress.phase
            self.phase_changed.emit(progress.phase)
        if progress.phase == "done":
            self.settle()
            return
        done, total = progress.done, progress.total
        if progress.phase in {"seen", "scan"}:
            done = total = 0
        self._show(IndexState("running", done, total, self.state.notes))

    def settle(self) -> None:
        """Show how the index stood before the reading that a question began and has ended."""
        if not self.is_running and self.state.kind == "running":
            self._show(self._settled)

    def show_counts(self, notes: int, failed: int) -> None:
        """Take over what the list of notes says, once nothing is being read."""
        if self.state.kind == "done" and notes + failed:
            self._show(IndexState("done", notes=notes, failed=failed))

    def show_report(self, report: IndexReport) -> None:
        """Show how the index stands after a run."""
        failed = len(report.failed)
        if report.is_complete:
            self._show(IndexState("done", notes=report.notes, failed=failed))
        else:
            done, total = self.state.done, self.state.total
            self._show(IndexState("stopped", done, total, report.notes, failed))

    def _on_yielded(self, event: object) -> None:
        if isinstance(event, IndexProgressed):
            self.show_progress(event.progress)
        elif isinstance(event, IndexFinished):
            self.show_report(event.report)
            self.finished.emit(event.report)

    def _on_failed(self, error: Exception) -> None:
        info = describe(error)
        _log.warning("The notes could not be indexed: %s", info.message)
        self._show(IndexState("failed", notes=self.state.notes, message=one_line(info.message)))

    def _on_finished(self) -> None:
        self._task = None
        if self._is_wanted_again:
            self._is_wanted_again = False
            self.start()

    def _show(self, state: IndexState) -> None:
        self.state = state
        if state.kind != "running":
            self._settled = state
        self.state_changed.emit(state)
