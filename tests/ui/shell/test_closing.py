"""What is typed in the settings is written, also if the window is closed at once."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.support.window.window_pages import WindowPage, find, open_window
from ui.chat.middle import ProjectLabel
from ui.settings.project import ProjectFields
from ui.tasks import TaskRunner


@pytest.fixture
def window(assistant: Assistant, small_vault: Path, qtbot: QtBot) -> Iterator[WindowPage]:
    """A window with threads of its own, as a user has it."""
    assistant.open_vault(small_vault)
    page = open_window(assistant, None, qtbot)
    page.activate(1440, 900, qtbot)
    yield page
    page.close()


def type_in_setting(window: WindowPage, key: str, text: str, qtbot: QtBot) -> None:
    """Open a setting, and type a text in its field. The focus stays in the field."""
    window.view.open_settings(key)
    dialog = window.settings.view
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow)
    control = dialog.find_row(key).control
    field = next(
        one
        for one in (control, *control.findChildren(QWidget))
        if isinstance(one, (QPlainTextEdit, QLineEdit))
    )
    field.setFocus()
    QTest.keySequence(field, "Ctrl+A")
    QTest.keyClicks(field, text)


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("vault.exclude", "drafts/", ["drafts/"]),
        ("mcp.servers", '{"a": {"command": "b"}}', {"a": {"command": "b"}}),
        ("chat.apiBase", "http://127.0.0.1:9", "http://127.0.0.1:9"),
        ("chat.maxSeconds", "77", 77),
    ],
)
def test_a_text_in_a_field_is_written_when_the_window_is_closed(
    window: WindowPage, key: str, text: str, value: object, qtbot: QtBot
) -> None:
    type_in_setting(window, key, text, qtbot)
    window.close()
    assert window.assistant.settings.get(key) == value


def test_the_keys_that_quit_work_in_the_settings_too(window: WindowPage, qtbot: QtBot) -> None:
    type_in_setting(window, "chat.maxSeconds", "78", qtbot)
    focused = window.settings.view.focusWidget()
    assert focused is not None
    QTest.keyClick(focused, Qt.Key.Key_Q, Qt.KeyboardModifier.ControlModifier)
    assert not window.view.isVisible()
    assert window.assistant.settings.get("chat.maxSeconds") == 78


def test_a_setting_that_waits_for_another_one_is_written_when_the_window_is_closed(
    window: WindowPage, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    is_closing = threading.Event()
    close = TaskRunner.close

    def release_and_close(runner: TaskRunner, timeout_s: float = 60.0) -> bool:
        is_closing.set()
        return close(runner, timeout_s)

    monkeypatch.setattr(TaskRunner, "close", release_and_close)
    window.view.open_settings("vault.exclude")
    writer = window.settings.view.writer
    writer.update("chat.model", lambda _model: str(is_closing.wait(60.0)))
    type_in_setting(window, "vault.exclude", "drafts/", qtbot)
    window.close()
    assert window.assistant.settings.get("chat.model") == "True"
    assert window.assistant.settings.get("vault.exclude") == ["drafts/"]


def test_the_patterns_of_a_project_are_written_when_the_window_is_closed(
    window: WindowPage, small_vault: Path, qtbot: QtBot
) -> None:
    projects = window.assistant.projects
    (small_vault / "Thesis").mkdir()
    window.view.open_project(projects.add("Thesis"))
    qtbot.waitUntil(find(window.view.middle, ProjectLabel).isVisible)
    window.view.run_command("project_page")
    fields = find(window.view.middle, ProjectFields)
    QTest.keyClicks(fields.exclude, "Draft.md")
    window.close()
    assert projects.settings("Thesis").exclude == ("Draft.md",)


def test_the_new_title_of_a_chat_is_kept_when_the_window_is_closed(
    window: WindowPage, qtbot: QtBot
) -> None:
    window.assistant.settings.set("chat.titles", False)
    window.composer.choose_mode("chat")
    window.composer.send("Where are the peas?")
    qtbot.waitUntil(lambda: window.sidebar.chats == ["Where are the peas?"])
    window.sidebar.press_on_chat("Where are the peas?", Qt.Key.Key_F2)
    (field,) = window.view.sidebar.chats.findChildren(QLineEdit)
    QTest.keyClicks(field, "Peas")
    window.close()
    assert [chat.title for chat in window.assistant.list_sessions()] == ["Peas"]
