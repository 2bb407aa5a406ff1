"""The settings dialog in a window of its own, with a real assistant."""

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from context.report.reader import read_report
from ui.settings.dialog import SettingsDialog
from ui.tasks import TaskRunner


@contextmanager
def open_settings(
    assistant: Assistant, runner: TaskRunner, qtbot: QtBot
) -> Iterator[SettingsDialog]:
    """Open the settings dialog, previewing an empty chat; close it after the test."""
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = SettingsDialog(assistant, runner, parent)
    dialog.set_preview(
        lambda changes: read_report(assistant.preview(None, "hello", "chat", None, changes))
    )
    dialog.show()
    try:
        yield dialog
    finally:
        dialog.close()
