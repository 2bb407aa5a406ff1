"""Backup and restore in the settings: busy, done, refused, merged and stopped."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.backup import archive
from resources.system.files import read_file
from tests.support.window.clicks import click_button, click_row
from tests.support.window.settings_dialog import open_settings
from ui.settings import backup
from ui.settings.dialog import SettingsDialog
from ui.tasks import TaskRunner


@pytest.fixture
def dialog(assistant: Assistant, runner: TaskRunner, qtbot: QtBot) -> Iterator[SettingsDialog]:
    with open_settings(assistant, runner, qtbot) as dialog:
        click_row(dialog.pages, "Backup")
        yield dialog


@pytest.fixture
def chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that the user chooses."""
    path = tmp_path / "b.zip"
    for name in ("choose_new_file", "choose_file"):
        monkeypatch.setattr(backup, name, lambda *_: str(path))
    return path


def press(dialog: SettingsDialog, name: str, qtbot: QtBot) -> str:
    """Press a button, wait until its task has ended, and return what is said then."""
    section = dialog.backup
    click_button(section, name)
    qtbot.waitUntil(lambda: section.back_up.isEnabled() and not section.stop.isVisible())
    return section.state.text()


def test_a_backup_is_made_refused_and_merged(
    dialog: SettingsDialog, assistant: Assistant, chosen: Path, qtbot: QtBot
) -> None:
    section, restored = dialog.backup, list[None]()
    dialog.restored.connect(lambda: restored.append(None))
    assistant.settings.set("retrieval.topK", 9)
    assert press(dialog, "Restore…", qtbot).startswith(f"There is no file {chosen}.")
    said = press(dialog, "Back up…", qtbot)
    assert said.startswith(f"{chosen}: 2 files, 0 chats, ")
    assert "overwrites nothing" in press(dialog, "Back up…", qtbot)
    assistant.settings.set("retrieval.topK", 5)
    assert press(dialog, "Restore…", qtbot) == ""
    assert section.question.isVisible()
    assert press(dialog, "Cancel", qtbot) == "Nothing was changed."
    assert not section.question.isVisible()
    press(dialog, "Restore…", qtbot)
    said = press(dialog, "Merge them", qtbot)
    assert said.startswith("0 files restored, 0 merged with what was here")
    assert "Put aside" in said
    assert assistant.settings.get("retrieval.topK") == 5
    assert restored


def test_a_backup_can_be_stopped(
    dialog: SettingsDialog,
    assistant: Assistant,
    chosen: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assistant.paths.prompts.mkdir(parents=True)
    (assistant.paths.prompts / "mine.md").write_text("Be brief.")
    section, seen = dialog.backup, list[object]()

    def read_and_stop(path: Path) -> bytes:
        seen.append((section.state.text(), section.back_up.isEnabled(), section.stop.isVisible()))
        click_button(section, "Stop")
        return read_file(path)

    monkeypatch.setattr(archive, "read_file", read_and_stop)
    assert press(dialog, "Back up…", qtbot) == "Stopped. No file was written."
    assert seen == [("Backing up…", False, True)]
    assert not section.stop.isVisible()
    assert not chosen.exists()
