"""Run index updates, watch the disk for changes, and show the state of the index."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from time import monotonic
from typing import Protocol

from PySide6.QtCore import QObject, QTimer, Signal

from app.config.schema import use_labels
from app.errors import describe
from app.library.library import IndexFinished, Library
from chains.cancel import CancelToken
from chains.events import IndexProgressed
from ui.controllers.session import ChatController, Collaborators, SessionController
from ui.controllers.turns import ChatTurn
from ui.panels.index.state import OPENING, IndexState
from ui.tasks import LatestOnly, Mailbox, Task, TaskRunner
from ui.widgets.controls import one_line
from vault.errors import IndexBusy, VaultError, VaultMissing
from vault.indexing.indexer import IndexProgress, IndexReport
from vault.indexing.status import IndexStatus

__all__ = ["IndexController", "WatchController"]

_log = logging.getLogger(__name__)

Order = Callable[[Library], None]

_STATUS_PAUSE_MS = 200
_MINUTE_MS = 60_000
_MOMENT_S = 0.4


class IndexController(ChatController):
    """Runs one index update at a time, and shows its state in the footer, rail and index panel.

    Signals:
        phase_changed: emitted when an indexing run begins a new phase, with the name of the phase.
            The list of notes may have changed then.
        finished: emitted when an indexing run has finished, with its `IndexReport`.
    """

    phase_changed = Signal(str)
    finished = Signal(object)

    def __init__(self, shared: Collaborators, session: SessionController) -> None:
        super().__init__(shared, session)
        self._panel = self._frame.column.index
        self._task: Task | None = None
        self._orders: list[Order] = []
        self._is_wanted_again = False
        self._is_background = False
        self._is_mending = False
        self._stopped_by: Exception | None = None
        self._phase = ""
        self.state = self._settled = IndexState()
        self._views: list[StateView] = [self._frame.sidebar.footer, self._frame.rail, self._panel]
        self._status = LatestOnly(self._runner, _STATUS_PAUSE_MS, self)
        self._status.answered.connect(self._panel.show_status)
        self._status.failed.connect(self._on_status_failed)
        self._minutes = QTimer(self, interval=_MINUTE_MS)  # the panel shows relative times
        self._minutes.timeout.connect(self.refresh_status)
        self._minutes.start()
        self._connect_views()
        session.event_arrived.connect(self._on_turn_event)
        session.turn_ended.connect(self._on_turn_ended)

    @property
    def is_running(self) -> bool:
        """Whether an index update is running."""
        return self._task is not None

    def add_view(self, view: "StateView") -> None:
        """Add a view that shows the state of the index whenever it changes."""
        self._views.append(view)

    def start(self, *, is_background: bool = False) -> None:
        """Start an indexing run. If one is active, start another one after it.

        Args:
            is_background: whether the run may be throttled, because the user did not request it.
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
        """Stop the indexing run, even if it was started by a turn or a file change.

        Notes that were already indexed stay indexed.
        """
        self._is_wanted_again = False
        library = self._assistant.library
        if library is not None and self.state.is_going_on:
            library.stop()
        if self._task is not None:
            self._task.cancel()
        elif self.state.is_going_on:
            self._show(replace(self.state, kind="stopped"))
        self._let_go_on()

    def fail(self, error: Exception) -> None:
        """Show an error that makes indexing impossible. Stop the indexing run, if one is active."""
        if self._task is None:
            self.show_failure(error)
        else:
            self._stopped_by = error
            self.cancel()

    def pause(self) -> None:
        """Pause the indexing run until `resume` is called."""
        library = self._assistant.library
        if library is not None and self.state.kind == "running":
            library.vault.throttle.pause()
            self._show(replace(self.state, kind="paused"))

    def resume(self) -> None:
        """Resume a paused indexing run, or start one if none is active."""
        self._let_go_on()
        if self._task is None:
            self.start()
        elif self.state.kind == "paused":
            self._show(replace(self.state, kind="running"))

    def toggle_pause(self) -> None:
        """Resume the indexing run if it is paused, otherwise pause it."""
        if self.state.kind == "paused":
            self.resume()
        else:
            self.pause()

    def retry(self, paths: Sequence[str]) -> None:
        """Index failed notes again: the given ones, or all of them if no paths are given."""
        self._orders.append(lambda library: library.vault.retry(paths or None))
        self.start()

    def rebuild(self) -> None:
        """Delete the index and start building it again."""
        self.cancel()
        self._orders.append(lambda library: library.vault.rebuild())
        self.start()

    def forget(self) -> None:
        """Cancel the indexing run and reset the state, because another vault has been opened."""
        self._orders.clear()
        self.cancel()
        self._settled = OPENING
        self._show(OPENING)

    def show_progress(self, progress: IndexProgress) -> None:
        """Show the progress of an indexing run, even one that the user did not start."""
        if progress.phase != self._phase:
            self._phase = progress.phase
            self.phase_changed.emit(progress.phase)
        if progress.phase == "done":
            self.settle()
            return
        library = self._assistant.library
        is_paused = self._is_paused()  # read now: the event may be older
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
                is_mending=self._is_mending or (library is not None and library.vault.is_mending),
            )
        )

    def settle(self) -> None:
        """Restore the display after an indexing run that the user did not start.

        If indexing is paused, show that it is paused.
        """
        if self.is_running or not self.state.is_going_on:
            return
        is_paused = self._is_paused()  # a pause lasts until `resume`
        self._show(replace(self.state, kind="paused") if is_paused else self._settled)

    def show_counts(self, notes: int, failed: int) -> None:
        """Show how many notes are indexed and how many failed.

        Do nothing if the last indexing run was not completed.
        """
        if self.state.kind == "done" and notes + failed:
            self._show(IndexState("done", notes=notes, failed=failed))

    def show_report(self, report: IndexReport) -> None:
        """Show the state of the index after an indexing run, given the run's report."""
        failed = len(report.failed)
        if report.is_complete:
            self._show(IndexState("done", notes=report.notes, failed=failed))
        else:
            self._show(replace(self.state, kind="stopped", notes=report.notes, failed=failed))

    def show_failure(self, error: Exception) -> None:
        """Show the error that prevented the index update."""
        info = describe(error)
        _log.warning("The notes could not be indexed: %s", info.message)
        message, is_elsewhere = info.message, isinstance(error, IndexBusy)
        is_missing = isinstance(error, VaultMissing)
        if is_missing:
            message = f"The folder {self._assistant.vault} cannot be reached. Nothing was deleted."
        failed = IndexState("failed", notes=self.state.notes, message=use_labels(one_line(message)))
        self._show(replace(failed, is_elsewhere=is_elsewhere, is_missing=is_missing))

    def refresh_status(self) -> None:
        """Reload the index status if the index panel is visible."""
        if self._panel.isVisible():
            self._status.ask(self._read_status)

    def _connect_views(self) -> None:
        panel, footer = self._panel, self._frame.sidebar.footer
        panel.looked_at.connect(self.refresh_status)
        panel.lists.retry_requested.connect(self.retry)
        panel.rebuild_confirmed.connect(self.rebuild)
        panel.run.index_requested.connect(self.resume)
        self._frame.sidebar.index_requested.connect(self.resume)
        for view in (panel.run, footer):
            view.pause_requested.connect(self.pause)
            view.continue_requested.connect(self.resume)
            view.cancel_requested.connect(self.cancel)

    def _is_paused(self) -> bool:
        library = self._assistant.library
        return library is not None and library.vault.throttle.is_paused

    def _read_status(self) -> IndexStatus | None:
        library = self._assistant.library
        return None if library is None else library.vault.status()

    def _on_status_failed(self, _error: Exception) -> None:
        self._panel.show_status(None)  # the index state shows the error

    def _on_turn_event(self, _turn: ChatTurn, event: object) -> None:
        if isinstance(event, IndexProgressed):
            self.show_progress(event.progress)

    def _on_turn_ended(self, _turn: ChatTurn) -> None:
        library = self._assistant.library
        if library is None or not library.is_updating:  # the watcher ends its own updates
            self.settle()

    def _work(self, token: CancelToken) -> Iterator[object]:
        orders, self._orders = self._orders, []
        library = self._assistant.library
        if library is not None:
            for order in orders:
                order(library)
        is_first = True
        for event in self._assistant.index(token, is_background=self._is_background):
            if is_first and library is not None:
                yield library.vault.status()  # known only now: whether the index was damaged
            is_first = False
            yield event

    def _let_go_on(self) -> None:
        library = self._assistant.library
        if library is not None:
            library.vault.throttle.resume()

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
        error, self._stopped_by = self._stopped_by, None
        if error is not None:
            self.show_failure(error)
        if self._is_wanted_again:
            self._is_wanted_again = False
            self.start()

    def _show(self, state: IndexState) -> None:
        self.state = state
        if not state.is_going_on:
            self._settled = state
        for view in self._views:
            view.show_state(state)


class StateView(Protocol):
    """A view that shows the state of the index."""

    def show_state(self, state: IndexState) -> None: ...


class WatchController(QObject):
    """Watches the open vault for file changes on disk, and updates the index after changes.

    Signals:
        looked: emitted when a check for changes has finished, even if it failed.
        changed: emitted with the `IndexReport` of an update that changed the index.
        failed: emitted with the error of an update that failed.
        progressed: emitted with the `IndexProgress` of an update that takes longer than 0.4 s.
    """

    looked = Signal()
    changed = Signal(object)
    progressed = Signal(object)
    failed = Signal(object)

    def __init__(self, runner: TaskRunner, parent: QObject) -> None:
        super().__init__(parent)
        self._runner = runner
        self._library: Library | None = None
        self._mail: Mailbox | None = None
        self._begun_s: float | None = None
        self._left_out: tuple[object, object] | None = None

    def start(self, library: Library) -> None:
        """Watch the files of a vault, in place of the vault that was watched before.

        Args:
            library: gives access to the vault. If its watcher is not running, it is started.
        """
        if library is not self._library:
            self._listen_to(library)
        assert self._mail is not None
        put = self._mail.put
        # In a task, because another process may lock the index for a moment.
        self._runner.call(lambda: library.watch(put, put, put)).start()

    def _listen_to(self, library: Library) -> None:
        if self._mail is not None:
            self._mail.close()
            self._mail.deleteLater()
        self._library, self._begun_s, self._left_out = library, None, None
        self._mail = self._runner.mailbox()
        self._mail.arrived.connect(self._on_arrived)

    def _on_arrived(self, news: object) -> None:
        match news:
            case IndexProgress() if news.phase != "done":
                self._on_progress(news)
            case IndexReport():
                self._begun_s = None
                self.looked.emit()
                if self._is_news(news):
                    self.changed.emit(news)
            case VaultError():
                self._begun_s = None
                self.looked.emit()
                self.failed.emit(news)

    def _on_progress(self, progress: IndexProgress) -> None:
        if self._begun_s is None:
            self._begun_s = monotonic()
        elif monotonic() - self._begun_s >= _MOMENT_S:
            self.progressed.emit(progress)

    def _is_news(self, report: IndexReport) -> bool:
        """Return whether an update changed the index or the set of excluded and failed notes."""
        before, self._left_out = self._left_out, (report.excluded, report.failed)
        return report.has_changes or before != self._left_out
