"""Actions of errors: open settings or the log, choose a folder, copy details, disable hooks."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from app.assistant import Assistant
from app.errors import ErrorInfo
from ui.controllers.session import SessionController
from ui.frame import WindowFrame
from ui.notify import open_log_file
from ui.settings.writer import SettingsWriter
from ui.tasks import TaskRunner

__all__ = ["ErrorActionController"]

_PAGES = {
    "enter_key": "Models",
    "choose_model": "Models",
    "privacy_settings": "Privacy",
    "raise_limit": "Context",
}
_HOOKS_KEY = "hooks.enabled"
_HOOKS_OFF = "Your hook files are off."
_HOOKS_ON = "Your hook files are on again."
_PACKAGE_HOOK = "This hook is part of an installed package, and goes when that is removed."


class ErrorActionController(QObject):
    """Performs error actions; `hooks_switched` is emitted when hooks are turned on or off."""

    hooks_switched = Signal()

    def __init__(
        self,
        assistant: Assistant,
        runner: TaskRunner,
        frame: WindowFrame,
        session: SessionController,
    ) -> None:
        super().__init__(session)
        self._frame, self._session = frame, session
        self._notifier = frame.notifier
        self._log: Path = assistant.paths.log_file
        self._writer = SettingsWriter(assistant, runner, self)
        self._writer.changed.connect(self._on_hooks_switched)
        self._writer.refused.connect(self._on_refused)
        frame.transcript.maker.error_action.connect(self.perform)

    def perform(self, name: str) -> None:
        """Perform an action of the last error by its name, such as `open_log`."""
        if name in _PAGES:
            self._frame.navigation.open_settings(_PAGES[name])
        elif name == "choose_folder":
            self._frame.navigation.choose_folder()
        elif name == "turn_hooks_off":
            self._turn_hooks_off()
        elif name == "open_log":
            open_log_file(self._log)
        elif name == "copy_details" and self._session.failure is not None:
            _copy(self._session.failure)

    def _turn_hooks_off(self) -> None:
        """Disable the user's hook files; hooks of installed packages cannot be disabled here."""
        if self._writer.value(_HOOKS_KEY):
            self._writer.set(_HOOKS_KEY, False)
        else:
            self._notifier.toast(_PACKAGE_HOOK)

    def _on_hooks_switched(self, _key: str) -> None:
        if self._writer.value(_HOOKS_KEY):
            self._notifier.toast(_HOOKS_ON)
        else:
            self._notifier.toast(_HOOKS_OFF, "Undo", lambda: self._writer.set(_HOOKS_KEY, True))
        self.hooks_switched.emit()

    def _on_refused(self, _key: str, sentence: str) -> None:
        self._notifier.toast(sentence)


def _copy(info: ErrorInfo) -> None:
    details = "\n".join(filter(None, (info.code, info.message, info.hint)))
    QGuiApplication.clipboard().setText(details)
