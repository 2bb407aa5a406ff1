"""What the reader looks at stays in place, and the cursor is where the next key is meant for."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from chains.cancel import CancelToken
from tests.support.models.model_server import Answer, ModelServer
from tests.support.window.clicks import button_named, click_button
from tests.support.window.waiting import settle
from tests.support.window.window_pages import WindowPage, open_window
from ui.chat.composer.attachment import Attachment
from ui.tasks import TaskRunner
from ui.theme import Theme

LONG = "\n\n".join(f"Paragraph {n} of a long answer about rain." for n in range(30))


@pytest.fixture
def window(scripted: Assistant, runner: TaskRunner, qtbot: QtBot) -> Iterator[WindowPage]:
    """A window with an empty chat that asks a scripted model."""
    page = open_window(scripted, runner, qtbot, mode="chat")
    page.view.activateWindow()
    qtbot.waitUntil(page.view.isActiveWindow)
    yield page
    page.view.close()


def ask(window: WindowPage, server: ModelServer, question: str, answer: str) -> None:
    server.script(Answer(answer))
    window.composer.send(question)
    settle()


def find_offset(window: WindowPage, widget: QWidget) -> int:
    """Return how far a message is below the top of the window, in pixels."""
    return widget.mapTo(window.view, widget.rect().topLeft()).y()


def test_sending_leaves_the_cursor_in_the_message_box(
    window: WindowPage, server: ModelServer
) -> None:
    window.composer.view.setFocus()
    QTest.keyClicks(window.composer.view.input, "Will it rain?")
    QTest.keyClick(window.composer.view.input, Qt.Key.Key_Return)
    assert window.chat.answers()
    assert window.focus_name == "Message"


def test_a_suggested_question_leaves_the_cursor_in_the_message_box(window: WindowPage) -> None:
    window.chat.view.show_empty(3, None, ["Will it rain tomorrow?"])
    (row,) = window.chat.view.empty.questions
    row.setFocus()
    QTest.keyClick(row, Qt.Key.Key_Space)
    assert window.chat.user_messages()[0].text == "Will it rain tomorrow?"
    assert window.focus_name == "Message"


def test_a_suggested_question_leaves_what_was_typed_in_the_message_box(
    window: WindowPage,
) -> None:
    window.chat.view.show_empty(3, None, ["Will it rain tomorrow?"])
    (row,) = window.chat.view.empty.questions
    QTest.keyClicks(window.composer.view.input, "My own words")
    click_button(window.chat.view, row.text())
    settle()
    assert window.chat.user_messages()[0].text == "Will it rain tomorrow?"
    assert window.composer.text == "My own words"
    QTest.keyClicks(window.composer.view.input, "!")
    window.run("new_chat")
    assert window.composer.text == ""  # the words belong to the chat in which they were typed
    window.chat.open("Will it rain tomorrow?")
    assert window.composer.text == "My own words!"


def test_editing_leaves_the_cursor_in_the_message_box(
    window: WindowPage, server: ModelServer
) -> None:
    ask(window, server, "Will it rain?", "Yes.")
    window.chat.edit(window.chat.user_messages()[0], "Will it snow?")
    assert window.focus_name == "Message"


@pytest.mark.parametrize("way", ["button", "Ctrl+R"])
def test_answering_again_leaves_the_cursor_in_the_message_box(
    window: WindowPage, server: ModelServer, way: str
) -> None:
    ask(window, server, "Will it rain?", "Yes.")
    server.script(Answer("Perhaps."))
    if way == "button":
        again = button_named(window.chat.answers()[0], "Answer again")
        again.setFocus()
        QTest.keyClick(again, Qt.Key.Key_Space)
    else:
        window.chat.view.setFocus()
        window.press_keys(way)
    settle()
    assert [answer.text for answer in window.chat.answers()] == ["Perhaps."]
    assert window.focus_name == "Message"


def test_the_current_message_has_an_unbroken_ring_and_shows_its_buttons(
    window: WindowPage, server: ModelServer
) -> None:
    ask(window, server, "Will it rain?", "Yes.")
    window.chat.view.setFocus()
    QTest.keyClick(window.chat.view, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    settle()
    (message,) = window.chat.user_messages()
    shown = message.grab().toImage()
    edit = button_named(message, "Edit message")
    spot = QRect(edit.mapTo(message, QPoint(0, 0)), edit.size())
    ground = shown.pixelColor(spot.topLeft())
    assert any(
        shown.pixelColor(x, y) != ground
        for x in range(spot.left(), spot.right())
        for y in range(spot.top(), spot.bottom())
    )
    row = message.parentWidget()
    assert row is not None
    around, blue = row.grab().toImage(), Theme.current().color("line.focus")
    top = message.y() + 12
    assert all(around.pixelColor(0, y) == blue for y in range(top, row.height() - 12))


def make_versions(window: WindowPage, server: ModelServer) -> None:
    """Make a chat whose second answer has a long and a short version; the short one is shown."""
    ask(window, server, "Will it rain?", LONG)
    ask(window, server, "And tomorrow?", LONG)
    server.script(Answer("No."))
    window.press_keys("Ctrl+R")
    settle()


def test_another_version_stays_at_its_place_with_the_cursor_on_the_switch(
    window: WindowPage, server: ModelServer, qtbot: QtBot
) -> None:
    make_versions(window, server)
    before = window.chat.answers()[-1]
    offset = find_offset(window, before)
    switch = button_named(before, "Previous answer, 1 of 2")
    switch.setFocus()
    QTest.keyClick(switch, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: window.chat.answers()[-1].text == LONG)
    settle()
    assert find_offset(window, window.chat.answers()[-1]) == offset
    assert window.focus_name == "Next answer, 2 of 2"
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
    settle()
    assert window.chat.answers()[-1].text == "No."
    assert window.focus_name == "Previous answer, 1 of 2"


def test_a_click_on_a_version_leaves_the_cursor_in_the_chat(
    window: WindowPage, server: ModelServer
) -> None:
    make_versions(window, server)
    click_button(window.chat.answers()[-1], "Previous answer, 1 of 2")
    settle()
    assert window.chat.answers()[-1].text == LONG
    assert window.focus_name == "Chat"


def test_find_opens_steps_and_closes_without_losing_the_cursor_or_the_place(
    window: WindowPage, server: ModelServer
) -> None:
    ask(window, server, "Will it rain?", LONG)
    ask(window, server, "And tomorrow?", LONG)
    answer = window.chat.answers()[0]
    window.chat.view.scroller.bar.setValue(400)
    settle()
    offset = find_offset(window, answer)
    window.press_keys("Ctrl+F")
    assert window.focus_name == "Find in this chat"
    QTest.keyClicks(QApplication.focusWidget(), "rain")
    settle()
    assert find_offset(window, answer) == offset
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    assert window.focus_name == "Find in this chat"
    settle()
    offset = find_offset(window, answer)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    settle()
    assert window.focus_name == "Message"
    assert find_offset(window, answer) == offset


@pytest.mark.parametrize("keys", ["Ctrl+K", "Ctrl+O"])
def test_the_palette_gives_the_cursor_back(window: WindowPage, keys: str) -> None:
    window.composer.view.setFocus()
    window.press_keys(keys)
    assert window.focus_name != "Message"
    window.press_keys(keys)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    assert window.focus_name == "Message"


def test_tab_into_the_chat_does_not_scroll(window: WindowPage, server: ModelServer) -> None:
    ask(window, server, "Will it rain?", LONG)
    ask(window, server, "And tomorrow?", LONG)
    answer = window.chat.answers()[0]
    window.chat.view.scroller.bar.setValue(300)
    settle()
    offset = find_offset(window, answer)
    window.chat.view.setFocus(Qt.FocusReason.TabFocusReason)
    settle()
    assert find_offset(window, answer) == offset


def test_a_long_message_stays_in_place_when_it_is_unfolded(
    window: WindowPage, server: ModelServer
) -> None:
    ask(window, server, "\n".join(f"Line {n}" for n in range(60)), "Short.")
    (message,) = window.chat.user_messages()
    before = find_offset(window, message)
    click_button(message, "Show all")
    settle()
    assert message.height() > window.chat.view.height()
    assert find_offset(window, message) == before


def test_a_message_that_is_folded_again_is_still_in_view(
    window: WindowPage, server: ModelServer
) -> None:
    ask(window, server, "\n".join(f"Line {n}" for n in range(120)), LONG)
    ask(window, server, "And tomorrow?", LONG)
    message = window.chat.user_messages()[0]
    window.chat.view.scroller.bar.setValue(0)
    click_button(message, "Show all")
    settle()
    bar = window.chat.view.scroller.bar
    bar.setValue(bar.value() + message.more.mapTo(window.chat.view, QPoint()).y() - 400)
    settle()
    click_button(message, "Show less")
    settle()
    assert not message.visibleRegion().isEmpty()


def test_the_cursor_is_where_it_was_when_the_settings_are_closed(
    window: WindowPage, server: ModelServer
) -> None:
    ask(window, server, "Will it rain?", LONG)
    window.press_keys("Ctrl+F")
    before = QApplication.focusWidget()
    assert window.focus_name == "Find in this chat"
    window.run("settings")
    window.settings.view.activateWindow()
    settle()
    window.settings.press("Done")
    window.view.activateWindow()
    settle()
    assert QApplication.focusWidget() is before


def test_a_long_answer_without_a_model_opens_at_its_beginning(
    window: WindowPage, small_vault: Path, qtbot: QtBot
) -> None:
    lines = "\n".join(f"- Apples of row {n} ripen in week {n}." for n in range(1, 60))
    (small_vault / "Apples.md").write_text(
        f"# Apples\n\n## When apples ripen\n\n{lines}\n", "utf-8"
    )
    window.view.resize(1000, 500)
    window.assistant.settings.set("chat.model", "extractive")
    window.assistant.open_vault(small_vault, remember=False)
    list(window.assistant.index(CancelToken()))
    window.view.controllers.session.model = "extractive"
    window.composer.choose_mode("vault")
    scroller = window.chat.view.scroller
    for is_reopened in (False, True):
        if is_reopened:
            session = window.chat.session
            window.chat.new()
            window.chat.reopen(session)
        else:
            window.composer.send("List all rows of apples and when they ripen")
        settle()
        qtbot.waitUntil(lambda: scroller.bar.maximum() > 0)
        settle()
        (asked,) = window.chat.user_messages()
        top = find_offset(window, asked) - find_offset(window, scroller)
        assert 0 <= top < 60
        assert not asked.visibleRegion().isEmpty()


@pytest.mark.parametrize("size", [(1440, 900), (900, 620)])
def test_the_way_to_the_latest_covers_no_button(
    window: WindowPage, server: ModelServer, size: tuple[int, int]
) -> None:
    window.view.resize(*size)
    for question in ("Will it rain?", "And then?"):
        ask(window, server, question, LONG)
    scroller, first = window.chat.view.scroller, window.chat.answers()[0]
    tools = first.tools.mapTo(scroller.feed, QPoint()).y()
    seen = 0
    for step in range(0, 120, 4):
        scroller.bar.setValue(tools - scroller.height() + step)
        QApplication.processEvents()
        jump = area_of(scroller.jump)
        buttons = [one for one in first.findChildren(QAbstractButton) if one.isVisible()]
        seen += any(area_of(one).bottom() > area_of(scroller).bottom() - 60 for one in buttons)
        assert scroller.jump.isVisible()
        assert area_of(scroller).contains(jump)
        assert not any(area_of(one).intersects(jump) for one in buttons)
    assert seen


@pytest.mark.parametrize("step", range(0, 120, 24))
def test_the_way_to_the_latest_covers_no_button_after_attaching_from_a_note(
    window: WindowPage, server: ModelServer, step: int
) -> None:
    for question in ("Will it rain?", "And then?"):
        ask(window, server, question, LONG)
    scroller, first = window.chat.view.scroller, window.chat.answers()[0]
    tools = first.tools.mapTo(scroller.feed, QPoint()).y()
    scroller.bar.setValue(tools - scroller.height() + step)
    QApplication.processEvents()
    window.view.show_note("Watering.md")
    QApplication.processEvents()
    window.view.controllers.composer.attach([Attachment("Watering.md", lines=(1, 1))])
    QApplication.processEvents()
    buttons = [one for one in first.findChildren(QAbstractButton) if one.isVisible()]
    assert buttons
    assert scroller.jump.isVisible()
    assert not any(area_of(one).intersects(area_of(scroller.jump)) for one in buttons)


def test_the_way_to_the_latest_goes_while_a_note_covers_the_chat(
    window: WindowPage, server: ModelServer
) -> None:
    for question in ("Will it rain?", "And then?"):
        ask(window, server, question, LONG)
    scroller = window.chat.view.scroller
    scroller.bar.setValue(0)
    QApplication.processEvents()
    assert scroller.jump.isVisible()
    cover = scroller.parentWidget()
    cover.hide()
    scroller.to_end()
    cover.show()
    assert not scroller.jump.isVisible()


def area_of(widget: QWidget) -> QRect:
    return QRect(widget.mapToGlobal(QPoint()), widget.size())
