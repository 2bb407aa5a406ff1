"""Tell the user of a newer version of Strata, if an address to look at is set."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from PySide6.QtGui import QGuiApplication

from app.errors import describe
from app.updates import UpdateReport
from chains.cancel import CancelToken
from ui.controllers.session import Collaborators, Controller
from ui.widgets.buttons import DISMISS, ButtonText
from ui.widgets.surfaces import Notice
from ui.widgets.texts import word_error

__all__ = ["UpdateController"]

_COPY: Final = ButtonText("Copy addresses", "Copy the addresses of the files and their checksums")
_COPIED: Final = "The addresses and checksums are copied."
_LOOKING: Final = "Looking for a newer version…"


class UpdateController(Controller):
    """Looks for a newer version when the window starts and on a command, and shows a notice of it.

    At the start nothing else is shown, and nothing at all is done without an address.

    Attributes:
        notice: the notice above the chat, or None before the first newer version.
    """

    def __init__(self, shared: Collaborators) -> None:
        super().__init__(shared)
        self.notice: Notice | None = None
        self._is_asked = self._is_running = False
        if self._assistant.settings.values.updates_address:
            self._start()

    def look(self) -> None:
        """Look for a newer version, and tell the result in any case."""
        self._is_asked = True
        if self._assistant.settings.values.updates_address:
            self._frame.notifier.toast(_LOOKING)
        self._start()

    def _start(self) -> None:
        if self._is_running:
            return
        self._is_running = True

        def find(cancel: CancelToken) -> Iterator[UpdateReport]:
            yield self._assistant.look_for_update(cancel)

        task = self._runner.stream(find)
        task.yielded.connect(self._on_found)
        task.failed.connect(self._on_failed)
        task.finished.connect(self._on_finished)
        task.start()

    def _on_finished(self) -> None:
        self._is_asked = self._is_running = False

    def _on_found(self, report: UpdateReport) -> None:
        if not report.is_newer:
            self._tell(report.describe())
            return
        if self.notice is None:
            self.notice = Notice("info")
            self._frame.middle.add_notice(self.notice)
        copy = partial(self._copy, "\n".join(report.describe_files()))
        sums = [f"{file.name}, SHA-256 {file.sha256}" for file in report.files]
        actions = ((_COPY, copy), (DISMISS, self.notice.hide))
        self.notice.show_notice("info", report.describe(), "\n".join(sums), actions)
        if self._is_asked:
            self.notice.focus_first()

    def _copy(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self._frame.notifier.toast(_COPIED)

    def _on_failed(self, error: Exception) -> None:
        self._tell(word_error(describe(error)))

    def _tell(self, text: str) -> None:
        """Show a toast, unless nobody asked."""
        if self._is_asked:
            self._frame.notifier.toast(text)
