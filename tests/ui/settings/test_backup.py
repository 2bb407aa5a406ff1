"""Backup and restore in the settings: busy, done, refused, merged and stopped."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.backup import archive
from context.log.entries import MessageEntry
from context.messages import Message
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


def test_the_window_asks_where_a_folder_of_notes_is_now(
    dialog: SettingsDialog,
    assistant: Assistant,
    chosen: Path,
    tmp_path: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    section, pinned = dialog.backup, assistant.paths.pinned
    vaults = [tmp_path / "Work", tmp_path / "Notes"]
    for vault in vaults:
        vault.mkdir()
        with assistant.sessions.create(str(vault)) as chat:
            place = chat.new_id(), None, chat.now()
            chat.append([MessageEntry(*place, Message("user", "?"), "t")])
    pinned.mkdir(parents=True)
    stored = assistant.paths.index_folder(vaults[1]).name
    (pinned / f"{stored}.json").write_text('{"version": 1, "answers": []}')
    press(dialog, "Back up…", qtbot)
    (tmp_path / "here").mkdir()
    for vault in vaults:
        vault.rmdir()
    assert "not on this computer" in press(dialog, "Restore…", qtbot)
    assert f"Where is {vaults[1]} now?" in section.question.accessibleName()
    answers = ["", str(tmp_path / "here")]
    monkeypatch.setattr(backup, "choose_folder", lambda *_: answers.pop(0))
    press(dialog, "Choose the folder…", qtbot)  # nothing is chosen, so the question stays
    said = press(dialog, "Choose the folder…", qtbot)
    assert said == f"What is stored for {vaults[1]} belongs to {tmp_path / 'here'} now."
    moved = assistant.paths.index_folder(tmp_path / "here").name
    assert moved in {file.stem for file in pinned.iterdir()}
    assert f"Where is {vaults[0]} now?" in section.question.accessibleName()
    press(dialog, "Not now", qtbot)
    assert not section.question.isVisible()
    folders = {chat.vault for chat in assistant.list_sessions()}
    assert folders == {str(vaults[0]), str(tmp_path / "here")}


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
