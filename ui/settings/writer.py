"""Write settings in the background, and take up changes of the settings file."""

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication

from app.assistant import Assistant
from app.config.schema import SettingSpec, format_share, schema, use_labels
from app.errors import BadSetting, describe
from ui.actions import Keymap
from ui.tasks import LatestOnly, Task, TaskRunner

__all__ = ["SettingsFileWatch", "SettingsWriter"]


class SettingsWriter(QObject):
    """Writes settings in background tasks, in the order of the changes.

    Signals:
        changed: emitted with the key of a setting after it has been written.
        refused: emitted with the key of a setting that could not be written, and an error message.
    """

    changed = Signal(str)
    refused = Signal(str, str)

    def __init__(self, assistant: Assistant, runner: TaskRunner, parent: QObject) -> None:
        super().__init__(parent)
        self._assistant = assistant
        self._runner = runner
        self._waiting: list[tuple[str, Callable[[], object]]] = []
        self._task: Task | None = None

    def value(self, key: str) -> object:
        """Return the current value of a setting."""
        value: object = self._assistant.settings.get(key)
        return value

    def spec(self, key: str) -> SettingSpec:
        """Return the schema entry of a setting."""
        return self._assistant.settings.spec(key)

    def set(self, key: str, value: object) -> None:
        """Set a setting to a new value, in a background task."""
        self._add(key, lambda: self._assistant.settings.set(key, value))

    def update(self, key: str, change: Callable[[object], object]) -> None:
        """Change a setting based on its current value, in a background task.

        Args:
            key: the key of the setting.
            change: takes the current value and returns the new one. It is called in the task.
        """
        settings = self._assistant.settings
        self._add(key, lambda: settings.set(key, change(settings.get(key))))

    def reset(self, key: str) -> None:
        """Reset a setting to its default, in a background task."""
        self._add(key, lambda: self._assistant.settings.reset(key))

    def open_folder(self, folder: str) -> None:
        """Open a folder as the vault, in a background task.

        If that fails, the setting `vault.path` does not change.
        """
        self._add("vault.path", lambda: self._assistant.open_vault(Path(folder)))

    def finish(self) -> None:
        """Write at once what still waits for its task. Call this after the runner is closed."""
        for _key, write in self._waiting:
            _problem(write)
        self._waiting.clear()

    def _add(self, key: str, write: Callable[[], object]) -> None:
        self._waiting.append((key, write))
        self._next()

    def _next(self) -> None:
        if self._task is not None or not self._waiting:
            return
        key, write = self._waiting.pop(0)
        self._task = self._runner.call(lambda: (key, _problem(write)))
        self._task.yielded.connect(self._on_written)
        self._task.finished.connect(self._on_finished)
        self._task.start()

    def _on_written(self, answer: tuple[str, str]) -> None:
        key, problem = answer
        if problem:
            self.refused.emit(key, problem)
        else:
            self.changed.emit(key)

    def _on_finished(self) -> None:
        self._task = None
        self._next()


class SettingsFileWatch(QObject):
    """Takes up changes of the settings file that another program has made.

    The file is checked each time the program becomes the active one, and when a turn begins, whose
    requests obey the changes already. A file with an error changes nothing. The folder of notes
    stays the open one.

    The signal `changed` is emitted with the key of each setting whose value has changed.
    """

    changed = Signal(str)

    def __init__(self, assistant: Assistant, runner: TaskRunner, parent: QObject) -> None:
        super().__init__(parent)
        self._store = assistant.settings
        self._looks = LatestOnly(runner, 0, self)
        self._looks.answered.connect(self._on_looked)
        app = QGuiApplication.instance()
        if isinstance(app, QGuiApplication):
            app.applicationStateChanged.connect(self._on_state_changed)

    def look(self) -> None:
        """Check in a background task whether the file has changed."""
        self._looks.ask(self._reload, now=True)

    def _on_state_changed(self, state: Qt.ApplicationState) -> None:
        if state == Qt.ApplicationState.ApplicationActive:
            self.look()

    def _reload(self) -> Sequence[str]:
        self._store.refresh()
        return [key for key in self._store.take_refreshed() if key != "vault.path"]

    def _on_looked(self, keys: Sequence[str]) -> None:
        values = self._store.values
        if not {"ui.keys", "ui.sendKey"}.isdisjoint(keys):
            Keymap.current().apply(values.ui_keys, values.ui_send_key)
        for key in keys:
            self.changed.emit(key)


def _problem(write: Callable[[], object]) -> str:
    try:
        write()
    except Exception as error:  # noqa: BLE001 - the row shows the error
        return _describe(error)
    return ""


def _describe(error: Exception) -> str:
    if isinstance(error, BadSetting) and error.kept and schema()[str(error.key)].is_share:
        kept = format_share(float(error.kept))
        return f"{use_labels(error.reason)} It stays at {kept}."
    return use_labels(describe(error).message)
