"""The small window for a quick question, and its icon in the tray."""

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QSystemTrayIcon
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.conftest import write_notes
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.window import widgets
from tests.support.window.clicks import button_named, click_button
from tests.support.window.window_pages import WindowPage, open_window
from ui.chat.quick_ask import QuickAskWindow
from ui.tasks import TaskRunner
from ui.theme import Mode, Theme
from ui.widgets.buttons import Switch


@pytest.fixture
def page(assistant: Assistant, server: ModelServer, runner: TaskRunner, qtbot: QtBot) -> WindowPage:
    assistant.settings.set("chat.apiBase", server.url)
    assistant.settings.set("chat.model", "openai/scripted")
    page = open_window(assistant, runner, qtbot)
    page.view.activateWindow()
    QTest.qWaitForWindowActive(page.view)
    return page


@pytest.fixture
def quick(page: WindowPage) -> QuickAskWindow:
    """The small window, opened from the palette."""
    page.palette.choose("quick ask", "Quick ask, in a small window")
    return small_window()


def small_window() -> QuickAskWindow:
    (found,) = (w for w in QApplication.topLevelWidgets() if isinstance(w, QuickAskWindow))
    return found


def ask(quick: QuickAskWindow, text: str) -> None:
    QTest.keyClicks(quick.field, text)
    QTest.keyClick(quick.field, Qt.Key.Key_Return)


def test_a_question_is_answered_there_and_its_chat_opens_in_the_window(
    page: WindowPage, quick: QuickAskWindow, server: ModelServer
) -> None:
    assert quick.isVisible()
    assert not quick.open.isEnabled()
    server.script(Answer("Two barrels."))
    ask(quick, "How many barrels?")
    assert quick.answer is not None
    assert quick.answer.text == "Two barrels."
    assert (quick.question.text(), quick.field.toPlainText()) == ("How many barrels?", "")
    assert page.chat.session is None
    assert page.sidebar.chats == ["How many barrels?"]
    server.script(Answer("210 litres."))
    ask(quick, "How large?")
    assert "How many barrels?" in str(server.bodies[-1]["messages"])
    click_button(quick, "Open in Strata")
    assert not quick.isVisible()
    assert [answer.text for answer in page.chat.answers()] == ["Two barrels.", "210 litres."]


def test_stop_is_a_plain_button_and_ask_a_primary_one(quick: QuickAskWindow) -> None:
    assert quick.send.property("role") == "primary"
    quick.set_running(True)
    assert (quick.send.text(), quick.send.property("role")) == ("Stop", "")
    assert widgets.undressed(quick) == []
    quick.set_running(False)
    assert (quick.send.text(), quick.send.property("role")) == ("Ask", "primary")


def test_each_window_begins_a_chat_of_its_own(
    page: WindowPage, quick: QuickAskWindow, server: ModelServer
) -> None:
    server.script(Answer("Two barrels."))
    ask(quick, "How many barrels?")
    QTest.keyClick(quick.field, Qt.Key.Key_Escape)
    assert not quick.isVisible()
    page.run("quick_ask")
    assert (quick.field.toPlainText(), quick.answer) == ("", None)
    server.script(Answer("Oak."))
    ask(quick, "Which wood?")
    assert "barrels" not in str(server.bodies[-1]["messages"])
    assert sorted(page.sidebar.chats) == ["How many barrels?", "Which wood?"]


def test_a_failure_keeps_the_question(quick: QuickAskWindow, server: ModelServer) -> None:
    server.script(Failure.saying(400, "no such model"))
    ask(quick, "How many barrels?")
    assert "no such model" in quick.state.text()
    assert quick.field.toPlainText() == "How many barrels?"
    assert button_named(quick, "Ask").isEnabled()


def test_it_searches_the_open_notes_without_a_model(
    assistant: Assistant, runner: TaskRunner, qtbot: QtBot, tmp_path: Path
) -> None:
    assistant.open_vault(write_notes(tmp_path / "notes"))
    page = open_window(assistant, runner, qtbot)
    page.run("quick_ask")
    quick = small_window()
    ask(quick, "What is in these notes?")
    assert quick.answer is not None
    assert quick.answer.text
    assert quick.state.text() == ""


def test_nothing_is_cut_before_and_after_an_answer(
    quick: QuickAskWindow, server: ModelServer, qtbot: QtBot
) -> None:
    server.script(Answer("| a | b |\n|---|---|\n| 1 | 2 |\n\n" + "Long. " * 200))
    for text in ("", "How many barrels?"):
        if text:
            ask(quick, text)
        qtbot.waitUntil(lambda: widgets.overlapping_siblings(quick) == [])
        assert widgets.find_faults(quick) == []
        assert widgets.outside_their_parents(quick) == []
        assert widgets.unnamed(quick) == []


def test_closing_the_window_closes_the_small_one(page: WindowPage, quick: QuickAskWindow) -> None:
    page.close()
    assert not quick.isVisible()


@pytest.mark.qt_log_ignore("systemTrayWindowChanged", extend=True)  # of the offscreen platform
def test_the_setting_shows_an_icon_in_the_tray_whose_menu_opens_it(
    page: WindowPage, monkeypatch: pytest.MonkeyPatch, server: ModelServer
) -> None:
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: True)
    icons = page.view.findChildren(QSystemTrayIcon)
    assert icons == []
    switch_quick_ask(page)
    (tray,) = page.view.findChildren(QSystemTrayIcon)
    assert tray.isVisible()
    menu = tray.contextMenu()
    assert [action.text() for action in menu.actions()] == ["Quick ask", "Show Strata", "Quit"]
    menu.actions()[0].trigger()
    assert small_window().isVisible()
    small_window().hide()
    tray.activated.emit(QSystemTrayIcon.ActivationReason.Trigger)
    assert small_window().isVisible()
    switch_quick_ask(page)
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert page.view.findChildren(QSystemTrayIcon) == []


def switch_quick_ask(page: WindowPage) -> None:
    """Click the switch on the page "Appearance" of the settings, and close them."""
    page.run("settings")
    page.settings.open_page("Appearance")
    dialog = page.settings.view
    (switch,) = (
        one
        for one in dialog.findChildren(Switch)
        if one.accessibleName() == "Quick ask in the tray" and one.isVisible()
    )
    QTest.mouseClick(switch, Qt.MouseButton.LeftButton)
    dialog.close()


def test_a_line_sets_the_window_off_from_the_one_below_it(quick: QuickAskWindow) -> None:
    shown, line = quick.grab().toImage(), Theme.current().color("line.strong")
    right, bottom = shown.width() - 1, shown.height() - 1
    edges = ((0, 40), (right, 40), (40, 0), (40, bottom))
    assert [shown.pixelColor(*spot) for spot in edges] == [line] * 4


def test_the_answer_is_not_below_the_edge_of_the_screen(
    quick: QuickAskWindow, server: ModelServer
) -> None:
    server.script(Answer("Two barrels."))
    room = quick.screen().availableGeometry()
    quick.move(0, room.bottom() - quick.height())
    ask(quick, "How many barrels?")
    assert quick.answer is not None
    assert room.contains(quick.geometry())


def test_a_desktop_without_a_tray_is_named(
    page: WindowPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: False)
    page.run("settings")
    page.settings.press("Quick ask in the tray")
    assert page.toasts()[-1].startswith("This desktop has no tray.")


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_code_is_set_off_from_the_ground(
    quick: QuickAskWindow, server: ModelServer, mode: Mode
) -> None:
    Theme.current().apply(mode)
    server.script(Answer("Run this:\n\n```\nstrata index\n```"))
    ask(quick, "How do I index?")
    image, code = quick.grab().toImage(), Theme.current().color("bg.raised")
    row = next(y for y in range(image.height()) if image.pixelColor(image.width() // 2, y) == code)
    assert image.pixelColor(4, row) != code
