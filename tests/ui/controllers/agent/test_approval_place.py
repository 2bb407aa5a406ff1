"""A card that asks for approval moves nothing that is read, and takes no key meant elsewhere."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.conftest import write_notes
from tests.support.models.model_server import Answer, ModelServer
from tests.support.window.waiting import settle
from tests.support.window.widgets import rect_in
from tests.support.window.window_pages import WindowPage, open_window
from ui.widgets.toast import Toast

LONG = "\n\n".join(f"Paragraph {n} of a long answer about rain." for n in range(60))
CALLS = (("c1", "remember", json.dumps({"text": "Answer in German."})),)


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Lets the model propose its tool call."""
    gate = threading.Event()
    yield gate
    gate.set()


@pytest.fixture
def window(
    assistant: Assistant, gate: threading.Event, qtbot: QtBot, tmp_path: Path
) -> Iterator[WindowPage]:
    """A chat with a long answer, and a second question whose answer will propose a tool call."""

    def propose(_body: object) -> Answer:
        assert gate.wait(60)
        return Answer("", calls=CALLS)

    with ModelServer(Answer(LONG), propose, Answer("Done.")) as server:
        assistant.settings.set("chat.apiBase", server.url)
        assistant.settings.set("chat.model", "gpt-4o")
        assistant.open_vault(write_notes(tmp_path / "notes"), remember=False)
        page = open_window(assistant, None, qtbot, mode="agent")
        page.activate(1200, 800, qtbot)
        page.composer.send("Will it rain?")
        qtbot.waitUntil(lambda: bool(page.chat.answers()) and not page.chat.is_running)
        page.composer.send("Remember it.")
        qtbot.waitUntil(lambda: len(server.bodies) == 2)
        settle()
        yield page


def find_offset(window: WindowPage) -> int:
    """Return how far the long answer is below the top of the window, in pixels."""
    answer = window.chat.answers()[0]
    return answer.mapTo(window.view, QPoint()).y()


def read_above(window: WindowPage) -> int:
    """Scroll up to the long answer, and return its place."""
    window.chat.view.scroller.bar.setValue(200)
    window.composer.view.setFocus()
    settle()
    return find_offset(window)


def wait_for_card(window: WindowPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: any(card.is_armed for card in window.chat.approvals()))
    settle()


def is_card_in_view(window: WindowPage) -> bool:
    (card,) = window.chat.approvals()
    return not card.refuse.visibleRegion().isEmpty()


def test_a_card_does_not_move_what_is_read_above_it(
    window: WindowPage, gate: threading.Event, qtbot: QtBot
) -> None:
    offset = read_above(window)
    gate.set()
    wait_for_card(window, qtbot)
    assert find_offset(window) == offset
    assert window.focus_name == "Message"
    assert "The end of this chat waits for your decision" in window.toasts()
    window.press("Show it")
    settle()
    assert is_card_in_view(window)
    assert window.view.focusWidget() is window.chat.approvals()[0].refuse


def test_a_card_out_of_view_is_reached_by_f6(
    window: WindowPage, gate: threading.Event, qtbot: QtBot
) -> None:
    read_above(window)
    gate.set()
    wait_for_card(window, qtbot)
    (card,) = window.chat.approvals()
    for _ in range(8):
        window.press_keys("F6")
        if window.view.focusWidget() is card.refuse:
            break
    settle()
    assert window.view.focusWidget() is card.refuse
    assert is_card_in_view(window)


def test_a_card_at_the_end_is_shown_and_has_the_cursor(
    window: WindowPage, gate: threading.Event, qtbot: QtBot
) -> None:
    gate.set()
    wait_for_card(window, qtbot)
    assert is_card_in_view(window)
    assert window.view.focusWidget() is window.chat.approvals()[0].refuse
    assert window.toasts() == []
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not window.chat.is_running)
    settle()
    scroll = window.chat.view.scroller.bar
    assert scroll.value() == scroll.maximum()


def test_toasts_leave_free_what_a_card_asks_about(
    window: WindowPage, gate: threading.Event, qtbot: QtBot
) -> None:
    gate.set()
    wait_for_card(window, qtbot)
    for text in ("The service counted 100 tokens.", "Three notes have changed."):
        window.view.notifier.toast(text)
    settle()
    (card,) = window.chat.approvals()
    toasts = window.view.findChildren(Toast)
    assert len(toasts) == 2
    for toast in toasts:
        assert not rect_in(window.view, toast).intersects(rect_in(window.view, card))
