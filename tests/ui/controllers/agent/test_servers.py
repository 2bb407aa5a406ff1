"""MCP servers and web pages in the window: asked about, used, and refused."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.conftest import write_notes
from tests.support.models.model_server import Answer, ModelServer
from tests.support.servers.mcp_server import count_starts, settings_entry
from tests.support.window.window_pages import WindowPage, open_window
from ui.chat.composer.attachment import Attachment

SUM = Answer("", calls=(("c1", "leaves__add", json.dumps({"a": 20, "b": 22})),))


@pytest.fixture
def window(assistant: Assistant, tmp_path: Path, qtbot: QtBot) -> Iterator[WindowPage]:
    """A window in agent mode, with an MCP server that was never started."""
    with ModelServer(SUM, Answer("It is 42."), SUM, Answer("Still 42.")) as server:
        assistant.settings.set("chat.apiBase", server.url)
        assistant.settings.set("chat.model", "gpt-4o")
        assistant.settings.set("mcp.servers", {"leaves": settings_entry(tmp_path)})
        assistant.open_vault(write_notes(tmp_path / "notes"), remember=False)
        yield open_window(assistant, None, qtbot, mode="agent")


def wait_for_card(window: WindowPage, qtbot: QtBot, title: str) -> None:
    """Wait until the card with a title takes decisions."""

    def is_armed() -> bool:
        cards = window.chat.approvals()
        return any(card.is_armed and card.title.text() == title for card in cards)

    qtbot.waitUntil(is_armed)


def wait_for_end(window: WindowPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not window.chat.is_running)


def test_a_server_is_shown_before_its_first_start_and_then_its_tools_ask(
    window: WindowPage, tmp_path: Path, qtbot: QtBot
) -> None:
    window.composer.send("Add them.")
    wait_for_card(window, qtbot, "Use an MCP server?")
    (card,) = window.chat.approvals()
    assert "-m tests.support.servers.mcp_server" in card.accessibleName()
    assert count_starts(tmp_path) == 0
    window.press("Use the server")
    wait_for_card(window, qtbot, "Use a tool of leaves?")
    assert count_starts(tmp_path) == 1
    window.press("Use it in this chat")
    wait_for_end(window, qtbot)
    assert window.chat.answers()[0].text == "It is 42."
    window.composer.send("And again.")
    qtbot.waitUntil(lambda: window.chat.answers()[-1].text == "Still 42.")
    wait_for_end(window, qtbot)
    assert (window.chat.approvals(), count_starts(tmp_path)) == ([], 1)


def test_a_server_that_is_refused_is_left_out_and_the_turn_goes_on(
    window: WindowPage, tmp_path: Path, qtbot: QtBot
) -> None:
    window.composer.send("Add them.")
    wait_for_card(window, qtbot, "Use an MCP server?")
    window.press("Don't use")
    wait_for_end(window, qtbot)
    assert window.chat.answers()[0].text == "It is 42."
    assert [step.status for step in window.chat.answers()[0].steps.steps] == ["error"]
    assert count_starts(tmp_path) == 0


def test_the_chip_of_a_page_that_may_not_be_fetched_says_why(
    window: WindowPage, qtbot: QtBot
) -> None:
    page = Attachment("http://127.0.0.1:9/secret")
    window.composer.attach(page)
    qtbot.waitUntil(lambda: bool(window.composer.chips[page.target].problem))
    assert "private network" in window.composer.chips[page.target].problem


def test_a_web_page_that_was_a_source_opens_in_the_browser(
    window: WindowPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def take(url: QUrl) -> bool:
        opened.append(url.toString())
        return True

    monkeypatch.setattr("ui.notify.QDesktopServices.openUrl", take)
    window.view.controllers.reading.show("https://example.org/oak", 1, 3)
    assert opened == ["https://example.org/oak"]
