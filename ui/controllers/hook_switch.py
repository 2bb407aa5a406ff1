"""The user's own hooks switched off where one failed, and on again by the same hand."""

from PySide6.QtCore import QObject, Signal

from app.assistant import Assistant
from ui.notify import Notifier
from ui.settings.writer import SettingsWriter
from ui.tasks import TaskRunner

__all__ = ["HookSwitch"]

_KEY = "hooks.enabled"
_OFF = "Your hook files are off."
_ON = "Your hook files are on again."
_PACKAGE = "This hook is part of an installed package, and goes when that is removed."


class HookSwitch(QObject):
    """Turns `hooks.enabled` off; `switched` when the next request is another one."""

    switched = Signal()

    def __init__(self, assistant: Assistant, runner: TaskRunner, notifier: Notifier) -> None:
        super().__init__(notifier)
        self._notifier = notifier
        self._writer = SettingsWriter(assistant, runner, self)
        self._writer.changed.connect(self._on_changed)
        self._writer.refused.connect(self._on_refused)

    def turn_off(self) -> None:
        """Switch the files off, or say why that would not help."""
        if self._writer.value(_KEY):
            self._writer.set(_KEY, False)
        else:
            self._notifier.toast(_PACKAGE)

    def _on_changed(self, _key: str) -> None:
        if self._writer.value(_KEY):
            self._notifier.toast(_ON)
        else:
            self._notifier.toast(_OFF, "Undo", lambda: self._writer.set(_KEY, True))
        self.switched.emit()

    def _on_refused(self, _key: str, sentence: str) -> None:
        self._notifier.toast(sentence)
