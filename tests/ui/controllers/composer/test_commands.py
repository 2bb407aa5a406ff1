"""Commands typed into the composer: what they choose, and the messages that they make."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.support.models.model_server import ModelServer
from tests.support.window.window_pages import WindowPage, open_window
from ui.actions import Keymap
from ui.chat.composer.attachment import Attachment
from ui.chat.composer.completion import Offers
from ui.chat.composer.text import ComposerText
from ui.controllers import commands
from ui.tasks import TaskRunner


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(models=[{"id": "scripted", "max_model_len": 32_768}]) as server:
        yield server


@pytest.fixture
def window(
    assistant: Assistant, server: ModelServer, small_vault: Path, runner: TaskRunner, qtbot: QtBot
) -> WindowPage:
    """A window on the notes, with a scripted model and a command of the user's own."""
    assistant.settings.set("chat.apiBase", server.url)
    assistant.settings.set("chat.model", "scripted")
    assistant.open_vault(small_vault, remember=False)
    folder = assistant.paths.commands
    folder.mkdir(parents=True)
    (folder / "sum.md").write_text("Sum up {activeNote} in one line.\n")
    return open_window(assistant, runner, qtbot, mode="chat", is_begun=False)


def test_a_command_of_ones_own_sends_its_message_with_the_open_note(
    window: WindowPage, server: ModelServer
) -> None:
    window.composer.send("/sum")
    assert "needs an open note" in window.composer.view.error()
    assert server.bodies == []
    window.view.show_note("Watering.md")
    window.composer.send("/sum")
    (message,) = window.chat.user_messages()
    assert message.text == "Sum up Watering.md in one line."
    assert "The barrel behind the shed" in str(server.bodies[-1]["messages"])


@pytest.fixture
def field(window: WindowPage, qtbot: QtBot) -> ComposerText:
    """The composer's field in a window that is active and offers the commands."""
    window.view.controllers.composer.set_offers(Offers())
    window.activate(1280, 800, qtbot)
    return window.composer.view.input


def test_enter_runs_a_command_that_is_typed_in_full(
    window: WindowPage, field: ComposerText
) -> None:
    popup = window.composer.view.completer.popup
    for typed in ("/help", "/mode"):
        window.composer.view.setFocus()
        QTest.keyClicks(field, typed)
        assert popup.isVisible()
        QTest.keyClick(field, Qt.Key.Key_Return)
        assert window.composer.text == ""
        assert popup.isHidden()
    commands, mode = window.chat.asides()
    assert "/undo" in commands.view.toPlainText()
    assert "mode" in mode.view.toPlainText()


def test_enter_completes_a_command_that_is_not_typed_in_full(
    window: WindowPage, field: ComposerText
) -> None:
    window.composer.view.setFocus()
    QTest.keyClicks(field, "/mode")
    QTest.keyClick(field, Qt.Key.Key_Down)  # to /model
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert field.toPlainText() == "/model "
    field.clear()
    QTest.keyClicks(field, "/hel")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert field.toPlainText() == "/help "
    assert window.chat.asides() == []


def test_enter_completes_a_command_where_it_does_not_send(
    window: WindowPage, field: ComposerText
) -> None:
    Keymap.current().apply({}, "Ctrl+Enter")
    window.composer.view.setFocus()
    QTest.keyClicks(field, "/help")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert field.toPlainText() == "/help "
    QTest.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert len(window.chat.asides()) == 1


def test_a_mode_and_a_model_are_chosen_for_the_next_message(
    window: WindowPage, server: ModelServer
) -> None:
    window.composer.send("/model openai/another")
    assert window.composer.view.models.value == "openai/another"
    window.composer.send("/mode chat")
    window.composer.send("Hello?")
    assert server.bodies[-1]["model"] == "another"


def test_the_list_of_models_shows_their_properties_and_offers_to_set_one(
    window: WindowPage,
) -> None:
    window.view.controllers.composer.load_models()
    shown = [action.text() for action in window.composer.view.models.menu().actions()]
    assert "scripted\t32,768 tokens · this computer" in shown
    assert not any("Set a model" in text for text in shown)
    window.assistant.settings.set("chat.model", "extractive")
    window.view.controllers.composer.load_models()
    last = window.composer.view.models.menu().actions()[-1]
    assert last.text() == "Set a model…"
    opened: list[str] = []
    window.composer.view.model_wanted.connect(lambda: opened.append("settings"))
    last.trigger()
    assert opened == ["settings"]


def test_a_command_runs_beside_an_attachment_that_cannot_be_sent_and_keeps_it(
    window: WindowPage, server: ModelServer, tmp_path: Path
) -> None:
    window.composer.attach(Attachment(str(tmp_path / "gone.docx")), Attachment("Watering.md"))
    assert any(state and state.obstacle for state in window.composer.chips.values())
    window.composer.send("/mode vault")
    assert (window.composer.mode, window.composer.view.text()) == ("vault", "")
    assert window.composer.view.error() == ""
    assert [one.target for one in window.composer.attached][1:] == ["Watering.md"]
    window.composer.send("How much does the barrel hold?")
    assert "Nothing was sent." in window.composer.view.error()
    assert server.bodies == []


def test_a_command_of_ones_own_sends_what_is_attached(
    window: WindowPage, server: ModelServer
) -> None:
    window.view.show_note("garden/Kompost.md")
    window.composer.attach(Attachment("Watering.md"))
    window.composer.send("/sum")
    assert "The barrel behind the shed" in str(server.bodies[-1]["messages"])
    assert window.composer.attached == ()


@pytest.mark.parametrize("command", ["/help", "/sum"])
def test_what_is_typed_while_a_command_runs_stays(
    assistant: Assistant,
    window: WindowPage,
    server: ModelServer,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
) -> None:
    window.view.close()
    begun, go_on = threading.Event(), threading.Event()
    run = commands.run

    def wait(*args: Any) -> commands.CommandResult:
        begun.set()
        assert go_on.wait(60)
        return run(*args)

    monkeypatch.setattr(commands, "run", wait)
    page = open_window(assistant, None, qtbot, mode="chat", is_begun=False)
    page.activate(1280, 800, qtbot)
    page.view.show_note("Watering.md")
    qtbot.waitUntil(lambda: page.view.note.path == "Watering.md")
    page.composer.write(command)
    page.composer.press_send()
    qtbot.waitUntil(begun.is_set)
    page.composer.view.setFocus()
    QTest.keyClicks(page.composer.view.input, " and what next?")
    go_on.set()
    qtbot.waitUntil(lambda: page.composer.text == "and what next?")
    if command == "/sum":
        qtbot.waitUntil(lambda: bool(page.chat.answers()) and not page.chat.is_running)
    assert page.composer.text == "and what next?"
    page.view.close()
