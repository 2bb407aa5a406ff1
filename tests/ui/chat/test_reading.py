"""Reading a chat: following, scrolling, walking it by keys, long messages and long chats."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.sessions.transcript import ChatTranscript as Chat
from app.sessions.transcript import UserItem
from tests.support.window.transcripts import (
    LONG,
    RICH,
    TIME,
    Place,
    answer_item,
    chat,
    spoken,
    widgets,
)
from tests.support.window.waiting import settle
from ui.chat.message import tools
from ui.chat.message.answer import Answer
from ui.chat.message.user import UserMessage
from ui.chat.transcript.feed import MOST_LIVE
from ui.chat.transcript.transcript import Transcript
from ui.theme import Theme


def test_an_answer_is_followed_at_the_end(transcript: Transcript) -> None:
    transcript.load(chat(6))
    transcript.begin_turn("And now?")
    for _ in range(30):
        transcript.live.append(LONG)
        widgets(transcript, Answer)[-1].view.flush()
        settle()
    bar = transcript.scroller.bar
    assert bar.maximum() > 0
    assert bar.value() == bar.maximum()
    assert not transcript.scroller.jump.isVisible()


def test_a_reader_further_up_keeps_the_place(qtbot: QtBot, transcript: Transcript) -> None:
    transcript.load(chat(8))
    settle()
    transcript.begin_turn("And now?")
    settle()
    bar = transcript.scroller.bar
    bar.setValue(bar.maximum() // 2)
    before = bar.value()
    for _ in range(20):
        transcript.live.append(LONG)
        widgets(transcript, Answer)[-1].view.flush()
        settle()
    assert bar.value() == before
    assert transcript.scroller.jump.isVisible()
    qtbot.mouseClick(transcript.scroller.jump, Qt.MouseButton.LeftButton)
    settle()
    assert bar.value() == bar.maximum()


def test_a_new_width_keeps_the_message_at_the_top(place: Place) -> None:
    place.transcript.load(chat(20))
    settle()
    scroller = place.transcript.scroller
    scroller.bar.setValue(scroller.bar.maximum() // 2)
    before = scroller.feed.find_row_at(scroller.bar.value())
    place.resize(520, 700)
    settle()
    assert scroller.feed.find_row_at(scroller.bar.value()) is before


def test_a_long_message_folds(qtbot: QtBot, transcript: Transcript) -> None:
    text = "\n".join(f"line {number}" for number in range(40))
    transcript.load(Chat("x", (UserItem("u", TIME, text),)))
    settle()
    (user,) = widgets(transcript, UserMessage)
    line = Theme.current().line("body")
    assert user.body.height() == 12 * line
    qtbot.mouseClick(user.more, Qt.MouseButton.LeftButton)
    assert user.body.height() == 40 * line


def test_a_question_of_200_000_letters_folds(transcript: Transcript) -> None:
    transcript.begin_turn("x" * 200_000)
    settle()
    (user,) = widgets(transcript, UserMessage)
    assert user.body.height() == 12 * Theme.current().line("body")
    assert len(user.text) == 200_000


def test_a_long_chat_keeps_few_messages_alive(transcript: Transcript) -> None:
    transcript.load(chat(130, "Short."))
    settle()
    assert len(transcript.feed.rows) <= 60
    bar = transcript.scroller.bar
    for _ in range(400):
        bar.setValue(0)
        settle()
        if not transcript.feed.has_older:
            break
    assert transcript.feed.rows[0].widget.accessibleName().startswith("You")
    assert not transcript.feed.has_older
    assert len(transcript.feed.rows) <= MOST_LIVE + 1
    assert transcript.feed.has_newer
    transcript.scroller.to_end()
    settle()
    assert not transcript.feed.has_newer
    assert bar.value() == bar.maximum()


def test_older_messages_come_in_without_a_jump(transcript: Transcript) -> None:
    transcript.load(chat(100))
    settle()
    scroller = transcript.scroller
    scroller.bar.setValue(40)
    row = scroller.feed.find_row_at(scroller.bar.value())
    assert row is not None
    place = row.y() - scroller.bar.value()
    many = len(transcript.feed.rows)
    settle()
    assert len(transcript.feed.rows) > many
    assert row.y() - scroller.bar.value() == place


def test_the_chat_is_one_stop_and_arrows_walk_it(qtbot: QtBot, place: Place) -> None:
    transcript = place.transcript
    transcript.load(Chat("x", (UserItem("u", TIME, "Q?"), answer_item("Rain [1]."))))
    place.composer.set_text("x")
    place.composer.setFocus()
    settle()
    transcript.setFocus(Qt.FocusReason.TabFocusReason)
    first, second = transcript.feed.rows
    assert second.is_current
    qtbot.keyClick(transcript, Qt.Key.Key_Up)
    assert first.is_current
    qtbot.keyClick(transcript, Qt.Key.Key_Down)
    visited = []
    for _ in range(13):
        qtbot.keyClick(QGuiApplication.focusObject(), Qt.Key.Key_Tab)
        visited.append(spoken())
    assert visited == [
        "Answer",
        "Answer",
        "Copy answer",
        "Answer again",
        "Compare with another model's answer",
        "Continue from here in a new chat",
        "Pin answer",
        "Pin to the sidebar",
        "Name this answer",
        "Save answer as a note",
        "What the model saw",
        "Message",
        "Attach",
    ]


def test_a_field_that_is_gone_takes_nothing_of_the_chat_along(qtbot: QtBot, place: Place) -> None:
    """Qt's own walk along the focus chain hands widgets to whatever had the focus."""
    transcript = place.transcript
    transcript.load(Chat("x", (UserItem("u", TIME, "Q?"), answer_item("Rain [1]."))))
    settle()
    (user,) = widgets(transcript, UserMessage)
    (answer,) = widgets(transcript, Answer)
    user.edit()
    assert QGuiApplication.focusObject() is user.editor.field
    field = user.editor.field
    with qtbot.waitSignal(field.destroyed):
        qtbot.keyClick(field, Qt.Key.Key_Escape)
    transcript.grab()
    assert answer.view.toPlainText() == "Rain [1]."


def test_tab_passes_a_chat_from_behind_in_one_step(qtbot: QtBot, place: Place) -> None:
    place.transcript.load(chat(3))
    settle()
    place.composer.setFocus()
    qtbot.keyClick(place.composer.input, Qt.Key.Key_Backtab)
    assert QGuiApplication.focusObject() is place.transcript


def list_squeezed(transcript: Transcript) -> list[tuple[str, int, int]]:
    """Return the messages that are lower than their content: kind, height, needed height."""
    heights = [
        (type(row.widget).__name__, row.height(), row.layout().minimumSize().height())
        for row in transcript.feed.rows
    ]
    return [one for one in heights if one[1] < one[2]]


def test_messages_are_never_squeezed_while_older_ones_come_in(transcript: Transcript) -> None:
    transcript.load(chat(6, RICH))
    assert not list_squeezed(transcript), "before any event was processed"
    while transcript.feed.has_older:
        QApplication.processEvents()
        assert not list_squeezed(transcript)
        assert transcript.feed.height() >= transcript.feed.rows[-1].geometry().bottom()


def test_a_new_message_squeezes_no_other(transcript: Transcript) -> None:
    transcript.load(chat(3, RICH))
    settle()
    transcript.show_aside("/context", RICH)
    assert not list_squeezed(transcript)
    transcript.begin_turn("A question?")
    assert not list_squeezed(transcript)
    assert transcript.scroller.bar.value() == transcript.scroller.bar.maximum()


def test_the_tools_of_messages_are_not_measured_again_at_each_width(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.transcript.load(chat(4))
    settle()
    measured = []
    real = tools._least_width
    monkeypatch.setattr(tools, "_least_width", lambda group: measured.append(1) or real(group))
    for width in range(620, 900, 20):
        place.resize(width, 700)
        settle()
    assert not measured
    (answer, *_others) = widgets(place.transcript, Answer)
    answer.set_entry("a0", ["a0", "a9"], "a label")
    settle()
    assert len(measured) in range(2, 20)
