"""Bringing the index up to date beside everything else, and saying how far it is."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.assistant import Assistant
from app.config.schema import use_labels
from app.errors import describe
from app.library.library import IndexFinished, Library
from chains.cancel import CancelToken
from chains.events import IndexProgressed
from ui.panels.index import IndexState
from ui.tasks import Task, TaskRunner
from ui.widgets.controls import one_line
from vault.errors import IndexBusy, VaultMissing
from vault.indexing.indexer import IndexProgress, IndexReport
from vault.indexing.status import IndexStatus

__all__ = ["Indexing"]

_log = logging.getLogger(__name__)

Order = Callable[[Library], None]


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
        self._orders: list[Order] = []
        self._is_wanted_again = False
        self._is_background = False
        self._is_mending = False
        self._phase = ""
        self.state = self._settled = IndexState()

    @property
    def is_running(self) -> bool:
        """Whether notes are being read now."""
        return self._task is not None

    def start(self, *, is_background: bool = False) -> None:
        """Begin, or begin again when the present run has ended.

        Args:
            is_background: the user did not ask for this run, so that load may slow it down.
        """
        if self._task is not None:
            self._is_wanted_again = True
            return
        self._is_background = is_background
        self._task = self._runner.stream(self._work)
        self._task.yielded.connect(self._on_yielded)
        self._task.failed.connect(self._on_failed)
        self._task.finished.connect(self._on_finished)
        self._show(IndexState("running", notes=self.state.notes))
        self._task.start()

    def cancel(self) -> None:
        """Stop, also what a question or a change began; what was done by then is kept."""
        self._is_wanted_again = False
        library = self._assistant.library
        if library is not None and self.state.is_going_on:
            library.stop()
        if self._task is not None:
            self._task.cancel()
        elif self.state.is_going_on:
            self._show(replace(self.state, kind="stopped"))
        self._let_go_on()

    def pause(self) -> None:
        """Let a run stand still until `resume`."""
        library = self._assistant.library
        if library is not None and self.state.kind == "running":
            library.pause()
            self._show(replace(self.state, kind="paused"))

    def resume(self) -> None:
        """Let a paused run go on; begin one where there is none."""
        self._let_go_on()
        if self._task is None:
            self.start()
        elif self.state.kind == "paused":
            self._show(replace(self.state, kind="running"))

    def toggle_pause(self) -> None:
        """Pause a run, or let it go on."""
        if self.state.kind == "paused":
            self.resume()
        else:
            self.pause()

    def retry(self, paths: Sequence[str]) -> None:
        """Read notes again that could not be read; all of them where none is named."""
        self._orders.append(lambda library: library.retry(paths or None))
        self.start()

    def rebuild(self) -> None:
        """Throw the index away and make it again."""
        self.cancel()
        self._orders.append(Library.rebuild)
        self.start()

    def forget(self) -> None:
        """Say nothing of the notes that were open before."""
        self._orders.clear()
        self.cancel()
        self.state = self._settled = IndexState()
        self.state_changed.emit(self.state)

    def show_progress(self, progress: IndexProgress) -> None:
        """Show how far a run has come, also one that a question or a change began."""
        if progress.phase != self._phase:
            self._phase = progress.phase
            self.phase_changed.emit(progress.phase)
        if progress.phase == "done":
            self.settle()
            return
        library = self._assistant.library
        is_paused = library is not None and library.is_paused  # now, not when the step was made
        self._show(
            IndexState(
                "paused" if is_paused else "running",
                progress.done,
                progress.total,
                self.state.notes,
                phase=progress.phase,
                per_s=progress.per_s,
                left_s=progress.remaining_s,
                slow=progress.throttle,
                is_mending=self._is_mending or (library is not None and library.is_mending),
            )
        )

    def settle(self) -> None:
        """Show how the index stood before the reading that somebody else began and has ended."""
        if self.is_running or not self.state.is_going_on:
            return
        library = self._assistant.library
        is_paused = library is not None and library.is_paused  # which stays until it is let go on
        self._show(replace(self.state, kind="paused") if is_paused else self._settled)

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
            self._show(replace(self.state, kind="stopped", notes=report.notes, failed=failed))

    def show_failure(self, error: Exception) -> None:
        """Say why the index could not be brought up to date."""
        info = describe(error)
        _log.warning("The notes could not be indexed: %s", info.message)
        message, is_elsewhere = info.message, isinstance(error, IndexBusy)
        if isinstance(error, VaultMissing):
            message = f"The folder {self._assistant.vault} cannot be reached. Nothing was deleted."
        failed = IndexState("failed", notes=self.state.notes, message=use_labels(one_line(message)))
        self._show(replace(failed, is_elsewhere=is_elsewhere))

    def _work(self, token: CancelToken) -> Iterator[object]:
        orders, self._orders = self._orders, []
        library = self._assistant.library
        if library is not None:
            for order in orders:
                order(library)
        is_first = True
        for event in self._assistant.index(token, is_background=self._is_background):
            if is_first and library is not None:
                yield library.status()  # by now it is open, and it is known whether it was damaged
            is_first = False
            yield event

    def _let_go_on(self) -> None:
        library = self._assistant.library
        if library is not None:
            library.resume()

    def _on_yielded(self, event: object) -> None:
        if isinstance(event, IndexStatus):
            self._is_mending = event.was_damaged
        elif isinstance(event, IndexProgressed):
            self.show_progress(event.progress)
        elif isinstance(event, IndexFinished):
            self.show_report(event.report)
            self.finished.emit(event.report)

    def _on_failed(self, error: Exception) -> None:
        self.show_failure(error)

    def _on_finished(self) -> None:
        self._task = None
        self._is_mending = False
        if self._is_wanted_again:
            self._is_wanted_again = False
            self.start()

    def _show(self, state: IndexState) -> None:
        self.state = state
        if not state.is_going_on:
            self._settled = state
        self.state_changed.emit(state)
