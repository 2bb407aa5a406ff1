"""A note that takes long to read: it is named meanwhile."""

import threading
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.support.window.clicks import click_row
from tests.support.window.note_page import NotePage
from tests.support.window.window_pages import open_window
from ui.tasks import Task
from vault.notes.note import Note


def test_a_note_that_takes_long_to_read_is_named(
    assistant: Assistant, small_vault: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_read, read = threading.Event(), assistant.read_note

    def read_late(path: str, *_arguments: object, **_options: object) -> Note:
        assert may_read.wait(60)
        return read(path)

    assistant.open_vault(small_vault, remember=False)
    window = open_window(assistant, None, qtbot)
    monkeypatch.setattr(assistant, "read_note", read_late)
    window.view.controllers.reading.slow_timer.setInterval(0)
    tree = window.view.sidebar.notes
    qtbot.waitUntil(lambda: tree.isVisible() and tree.model().rowCount() > 1)
    click_row(tree, "Watering.md")
    qtbot.waitUntil(lambda: window.toasts() == ["Opening Watering.md…"])
    may_read.set()
    qtbot.waitUntil(lambda: NotePage(window.view).path == "Watering.md")


def test_a_note_of_the_vault_before_is_not_shown(
    assistant: Assistant,
    small_vault: Path,
    tmp_path: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    may_read, read = threading.Event(), assistant.read_note

    def read_late(path: str, *_arguments: object, **_options: object) -> Note:
        note = read(path)
        assert may_read.wait(60)
        return note

    assistant.open_vault(small_vault, remember=False)
    window = open_window(assistant, None, qtbot)
    monkeypatch.setattr(assistant, "read_note", read_late)
    tree, reading = window.view.sidebar.notes, window.view.controllers.reading
    qtbot.waitUntil(lambda: tree.isVisible() and tree.model().rowCount() > 1)
    reading.slow_timer.setInterval(60_000)
    click_row(tree, "Watering.md")
    assert reading.slow_timer.isActive()
    (tmp_path / "other").mkdir()
    with qtbot.waitSignal(window.view.controllers.vault.opened):
        window.view.open_folder(tmp_path / "other")
    assert not reading.slow_timer.isActive()
    may_read.set()
    qtbot.waitUntil(lambda: not window.view.runner.findChildren(Task))
    assert not window.view.middle.is_reading
