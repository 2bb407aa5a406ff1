"""Following the open folder: what changes on the disk is taken up, and the window hears of it."""

from time import monotonic

from PySide6.QtCore import QObject, Signal

from app.library.library import Library
from ui.tasks import Mailbox, TaskRunner
from vault.errors import VaultError
from vault.indexing.progress import IndexProgress, IndexReport

__all__ = ["Watching"]

_MOMENT_S = 0.4


class Watching(QObject):
    """Follows one folder at a time, from `start` until another one or the end of the window.

    `looked` is emitted whenever something on the disk has changed, `changed` with the report when
    the index has changed by that, `failed` with the reason when it could not. `progressed` tells
    how far the taking up is, where that takes longer than a moment.
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
        """Follow these notes and no others; also again, where that has ended by itself."""
        if library is not self._library:
            self._listen_to(library)
        assert self._mail is not None
        put = self._mail.put
        # In a task, since the index may be held by another one for a moment.
        self._runner.call(lambda: library.watch(put, put, put)).start()

    def _listen_to(self, library: Library) -> None:
        if self._mail is not None:
            self._mail.close()
            self._mail.deleteLater()
        self._library, self._begun_s, self._left_out = library, None, None
        self._mail = self._runner.mailbox()
        self._mail.arrived.connect(self._on_arrived)

    def _on_arrived(self, told: object) -> None:
        match told:
            case IndexProgress() if told.phase != "done":
                self._on_progress(told)
            case IndexReport():
                self._begun_s = None
                self.looked.emit()
                if self._is_news(told):
                    self.changed.emit(told)
            case VaultError():
                self._begun_s = None
                self.looked.emit()
                self.failed.emit(told)

    def _on_progress(self, progress: IndexProgress) -> None:
        if self._begun_s is None:
            self._begun_s = monotonic()
        elif monotonic() - self._begun_s >= _MOMENT_S:
            self.progressed.emit(progress)

    def _is_news(self, report: IndexReport) -> bool:
        """Tell whether more has changed than a file that is none of the notes."""
        before, self._left_out = self._left_out, (report.excluded, report.failed)
        counts = (report.added, report.changed, report.removed, report.renamed)
        return any(counts) or before != self._left_out
