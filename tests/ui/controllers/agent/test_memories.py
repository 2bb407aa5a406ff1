"""A memory whose message is edited away: the window asks whether to remove it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from chains.cancel import CancelToken
from tests.conftest import write_notes
from tests.support.models.model_server import Answer, ModelServer
from tests.support.window.window_pages import WindowPage, open_window

GERMAN = "Answer in German."
ASKED = f"Remove this memory? “{GERMAN}” was remembered in a message that was edited away."


@pytest.fixture
def server(assistant: Assistant, tmp_path: Path) -> Iterator[ModelServer]:
    call = Answer("", calls=(("c1", "remember", json.dumps({"text": GERMAN})),))
    with ModelServer(call, Answer("Done."), Answer("Understood.")) as server:
        assistant.settings.set("chat.apiBase", server.url)
        assistant.settings.set("chat.model", "gpt-4o")
        assistant.open_vault(write_notes(tmp_path / "notes"), remember=False)
        list(assistant.index(CancelToken()))  # so that no wait includes it
        yield server


@pytest.fixture
def window(assistant: Assistant, server: ModelServer, qtbot: QtBot) -> WindowPage:
    """A window in agent mode, in whose chat the user approved a memory."""
    page = open_window(assistant, None, qtbot, mode="agent")
    page.view.activateWindow()
    qtbot.waitUntil(page.view.isActiveWindow)  # a card is armed only in an active window
    page.composer.send("Remember it.")
    qtbot.waitUntil(lambda: any(card.is_armed for card in page.chat.approvals()))
    page.press("Remember it")
    wait_for_end(page, qtbot)
    assert memories(assistant) == (GERMAN,)
    return page


def wait_for_end(window: WindowPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not window.chat.is_running)


def memories(assistant: Assistant) -> tuple[str, ...]:
    return assistant.customization.memories.list_memories()


def test_an_edit_asks_whether_to_remove_the_memory_of_the_message(
    window: WindowPage, assistant: Assistant, qtbot: QtBot
) -> None:
    assert ASKED not in window.toasts()
    window.chat.edit(window.chat.user_messages()[0], "Remember nothing.")
    qtbot.waitUntil(lambda: ASKED in window.toasts())
    assert not any("strata " in toast for toast in window.toasts())
    window.press("Remove this memory")
    qtbot.waitUntil(lambda: memories(assistant) == ())
    qtbot.waitUntil(lambda: "Removed 1 memory." in window.toasts())


def test_a_later_message_asks_nothing(
    window: WindowPage, assistant: Assistant, qtbot: QtBot
) -> None:
    window.composer.send("And now?")
    wait_for_end(window, qtbot)
    window.chat.edit(window.chat.user_messages()[1], "And then?")
    wait_for_end(window, qtbot)
    assert window.toasts() == []
    assert memories(assistant) == (GERMAN,)
