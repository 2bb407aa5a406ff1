"""What the index panel shows, and what is asked for there."""

from PySide6.QtCore import QObject, QTimer

from app.assistant import Assistant
from ui.controllers.index import Indexing
from ui.panels.index.panel import IndexPanel
from ui.tasks import LatestOnly, TaskRunner
from vault.indexing.status import IndexStatus

__all__ = ["Tending"]

_PAUSE_MS = 200
_MINUTE_MS = 60_000


class Tending(QObject):
    """Keeps the panel and the index in step; the panel is filled when it is in sight."""

    def __init__(
        self, assistant: Assistant, runner: TaskRunner, indexing: Indexing, panel: IndexPanel
    ) -> None:
        super().__init__(indexing)
        self._assistant = assistant
        self._panel = panel
        self._asks = LatestOnly(runner, _PAUSE_MS, self)
        self._asks.answered.connect(panel.show_status)
        self._asks.failed.connect(self._on_failed)
        self._minutes = QTimer(self, interval=_MINUTE_MS)  # what was just now is so no more
        self._minutes.timeout.connect(self.refresh)
        self._minutes.start()
        indexing.state_changed.connect(panel.show_state)
        panel.looked_at.connect(self.refresh)
        panel.run.pause_requested.connect(indexing.pause)
        panel.run.continue_requested.connect(indexing.resume)
        panel.run.cancel_requested.connect(indexing.cancel)
        panel.run.index_requested.connect(indexing.resume)
        panel.lists.retry_requested.connect(indexing.retry)
        panel.rebuild_confirmed.connect(indexing.rebuild)

    def refresh(self) -> None:
        """Look up how the index stands, if that is seen."""
        if self._panel.isVisible():
            self._asks.ask(self._status)

    def _status(self) -> IndexStatus | None:
        library = self._assistant.library
        return None if library is None else library.status()

    def _on_failed(self, _error: Exception) -> None:
        self._panel.show_status(None)  # the run says what is the matter with the index
