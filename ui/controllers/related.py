"""Which notes stand beside the one that is read, or else beside the one that was cited last."""

from PySide6.QtCore import QObject

from app.assistant import Assistant
from app.errors import describe
from ui.panels.notes.related import RelatedPanel
from ui.tasks import LatestOnly, TaskRunner
from vault.search.related import RelatedNote

__all__ = ["Relating"]

Answer = tuple[str, list[RelatedNote] | Exception]


class Relating(QObject):
    """Fills the panel of related notes when it is in sight, and again when they may be others."""

    def __init__(
        self, assistant: Assistant, runner: TaskRunner, panel: RelatedPanel, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._assistant = assistant
        self._panel = panel
        self._read = self._cited = ""
        self._shown: str | None = None
        self._asks = LatestOnly(runner, 0, self)
        self._asks.answered.connect(self._on_answered)
        panel.looked_at.connect(self._look)

    def show_read(self, path: str) -> None:
        """Show what is beside the note that is read now; empty for none."""
        self._read = path
        self._look()

    def show_cited(self, path: str) -> None:
        """Show what is beside this note while none is read."""
        self._cited = path
        self._look()

    def refresh(self) -> None:
        """Look again, since notes have changed."""
        self._shown = None
        self._look()

    def forget(self) -> None:
        """Other notes are open now."""
        self._read = self._cited = ""
        self.refresh()

    def _look(self) -> None:
        path = self._read or self._cited
        if not self._panel.isVisible() or path == self._shown:
            return
        self._shown = path
        if not path:
            self._asks.forget()
            self._panel.show_nothing()
            return
        self._panel.begin(path)
        self._asks.ask(lambda: self._related(path), now=True)

    def _related(self, path: str) -> Answer:
        library = self._assistant.library
        try:
            return path, [] if library is None else library.related(path)
        except Exception as error:  # noqa: BLE001 - it is shown in words where the notes would be
            return path, error

    def _on_answered(self, answer: Answer) -> None:
        path, found = answer
        if isinstance(found, Exception):
            self._panel.show_error(path, describe(found).message)
        else:
            self._panel.show_notes(path, found)
