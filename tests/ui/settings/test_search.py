"""Finding a setting by its words, and the pages that are no settings."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.config.schema import schema
from app.config.settings import SECTIONS
from tests.support.window.clicks import (
    button_named,
    click_button,
    click_row,
    press_keys,
    visible_rows,
)
from tests.support.window.settings_dialog import open_settings
from ui.settings.dialog import SettingsDialog
from ui.tasks import TaskRunner


@pytest.fixture
def dialog(assistant: Assistant, runner: TaskRunner, qtbot: QtBot) -> Iterator[SettingsDialog]:
    with open_settings(assistant, runner, qtbot) as dialog:
        dialog.activateWindow()
        qtbot.waitUntil(dialog.isActiveWindow)
        yield dialog


def pages(dialog: SettingsDialog) -> list[str]:
    QApplication.processEvents()
    return [str(index.data()) for index in visible_rows(dialog.pages)]


def rows(dialog: SettingsDialog) -> list[str]:
    QApplication.processEvents()
    return [key for key in schema() if dialog.find_row(key).isVisible()]


def shown(dialog: SettingsDialog) -> str:
    QApplication.processEvents()
    return "\n".join(text.text() for text in dialog.findChildren(QLabel) if text.isVisible())


def test_words_leave_the_matching_settings_and_their_pages(
    dialog: SettingsDialog, qtbot: QtBot
) -> None:
    press_keys(dialog, "Ctrl+F")
    assert dialog.search.hasFocus()
    qtbot.keyClicks(dialog.search, "rerank")
    assert pages(dialog) == ["Retrieval"]
    assert rows(dialog) == ["retrieval.rerank", "retrieval.rerankModel"]
    qtbot.keyClick(dialog.search, Qt.Key.Key_Escape)
    assert dialog.isVisible()
    assert pages(dialog) == list(SECTIONS)
    assert "retrieval.topK" in rows(dialog)


def test_a_key_of_the_file_finds_its_setting(dialog: SettingsDialog, qtbot: QtBot) -> None:
    qtbot.keyClicks(dialog.search, "chat.apibase")
    assert rows(dialog) == ["chat.apiBase"]


def test_a_search_goes_through_several_pages(dialog: SettingsDialog, qtbot: QtBot) -> None:
    qtbot.keyClicks(dialog.search, "summar")
    found = pages(dialog)
    assert {"Models", "Context"} <= set(found) < set(SECTIONS)
    click_row(dialog.pages, "Models")
    assert rows(dialog) == ["chat.summaryModel"]


def test_the_page_comes_back_after_a_search_that_found_nothing(
    dialog: SettingsDialog, qtbot: QtBot
) -> None:
    click_row(dialog.pages, "Keyboard")
    qtbot.keyClicks(dialog.search, "zzzz")
    qtbot.keyClick(dialog.search, Qt.Key.Key_Escape)
    assert dialog.pages.currentIndex().data() == "Keyboard"
    assert "ui.sendKey" in rows(dialog)


def test_nothing_found_is_said(dialog: SettingsDialog, qtbot: QtBot) -> None:
    qtbot.keyClicks(dialog.search, "zzzz")
    assert pages(dialog) == []
    assert "No setting matches “zzzz”." in shown(dialog)
    dialog.search.clear()
    assert pages(dialog) == list(SECTIONS)


def test_a_page_opens_at_a_setting(dialog: SettingsDialog) -> None:
    dialog.show_page("context.blockAt")
    assert str(dialog.pages.currentIndex().data()) == "Context"
    assert dialog.find_row("context.blockAt").control.hasFocus()


def test_shares_are_typed_in_percent(
    dialog: SettingsDialog, assistant: Assistant, qtbot: QtBot
) -> None:
    dialog.show_page("context.trimAt")
    field = dialog.find_row("context.trimAt").control
    assert field.text() == "80"  # type: ignore[attr-defined]
    field.selectAll()  # type: ignore[attr-defined]
    qtbot.keyClicks(field, "70 %")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert assistant.settings.get("context.trimAt") == 0.7
    field.selectAll()  # type: ignore[attr-defined]
    qtbot.keyClicks(field, "0.8")
    assert "10 to 100\N{NO-BREAK SPACE}%. Default 80\N{NO-BREAK SPACE}%." in shown(dialog)


def test_only_the_title_bar_closes_by_a_cross(dialog: SettingsDialog) -> None:
    with pytest.raises(LookupError):
        click_button(dialog, "Close settings")
    click_button(dialog, "Done")
    assert not dialog.isVisible()


def test_the_users_own_files_are_listed_on_their_pages(
    dialog: SettingsDialog, assistant: Assistant
) -> None:
    paths = assistant.paths
    dialog.show_page("Prompts")
    assert "No command yet. A file named review.md becomes /review." in shown(dialog)
    paths.commands.mkdir(parents=True)
    (paths.commands / "review.md").write_text("Review {activeNote} for errors.", "utf-8")
    paths.hooks.mkdir(parents=True)
    (paths.hooks / "dates.py").write_text("", "utf-8")
    dialog.show_page("Prompts")
    assert "/review · Review {activeNote} for errors." in shown(dialog)
    dialog.show_page("Hooks")
    assert "dates.py" in shown(dialog)


def test_a_folder_is_made_and_opened(
    dialog: SettingsDialog, assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def take(address: QUrl) -> bool:
        opened.append(address.toLocalFile())
        return len(opened) < 2

    monkeypatch.setattr(QDesktopServices, "openUrl", take)
    dialog.show_page("Hooks")
    click_button(dialog, "Open the folder of hooks")
    assert opened == [str(assistant.paths.hooks)]
    assert assistant.paths.hooks.is_dir()
    click_button(dialog, "Open the folder of hooks")
    assert "No program here shows folders." in shown(dialog)


def test_the_search_is_cleared_by_a_click(dialog: SettingsDialog, qtbot: QtBot) -> None:
    qtbot.keyClicks(dialog.search, "rerank")
    clear = button_named(dialog, "Clear the field")
    qtbot.waitUntil(clear.isVisible)
    assert clear.toolTip() == "Clear the field"
    click_button(dialog, "Clear the field")
    assert pages(dialog) == list(SECTIONS)


def test_the_button_for_the_folder_names_what_is_chosen(dialog: SettingsDialog) -> None:
    dialog.show_page("Vault and index")
    assert button_named(dialog, "Choose the folder of notes").isVisible()


def test_down_leads_from_the_search_to_the_pages(dialog: SettingsDialog, qtbot: QtBot) -> None:
    dialog.pages.setFocus()
    dialog.show_page("")
    assert dialog.search.hasFocus()
    qtbot.keyClicks(dialog.search, "summar")
    qtbot.keyClick(dialog.search, Qt.Key.Key_Down)
    assert dialog.pages.hasFocus()
