"""Looking for words in a chat, also where its messages are put away."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.sessions.transcript import AnswerItem, UserItem
from app.sessions.transcript import ChatTranscript as Chat
from chains.tool import ApprovalRequest, Proposal
from chains.turn_answer import TurnAnswer
from tests.support.window.clicks import click_button
from ui.chat.message.answer import Answer
from ui.chat.transcript.feed import MOST_LIVE
from ui.chat.transcript.finder import Finder
from ui.chat.transcript.transcript import Transcript
from ui.theme import Theme
from ui.widgets.find_bar import FindBar

TIME = "2026-05-14T14:03:00+00:00"


def turn(number: int, text: str) -> list[UserItem | AnswerItem]:
    asked = UserItem(f"u{number}", TIME, f"Question {number}?")
    told = AnswerItem(f"a{number}", TIME, TurnAnswer(text, "m", seconds=1.0))
    return [asked, told]


@pytest.fixture
def transcript(qtbot: QtBot) -> Transcript:
    transcript = Transcript()
    qtbot.addWidget(transcript)
    transcript.resize(900, 700)
    transcript.show()
    return transcript


@pytest.fixture
def bar(qtbot: QtBot, transcript: Transcript) -> FindBar:
    bar = FindBar("Find in this chat")
    qtbot.addWidget(bar)
    bar.finder = Finder(transcript, bar)
    return bar


def marks(transcript: Transcript) -> list[str]:
    answers = [row.widget for row in transcript.feed.rows if isinstance(row.widget, Answer)]
    return [mark.cursor.selectedText() for view in answers for mark in view.view.extraSelections()]


def test_the_first_place_in_view_comes_first_and_all_are_marked(
    transcript: Transcript, bar: FindBar, qtbot: QtBot
) -> None:
    transcript.load(Chat("c", (*turn(1, "A **bean**, two Beans."), *turn(2, "No bean."))))
    bar.finder.open()
    bar.field.setText("bean")
    assert bar.found == "1 of 3"
    qtbot.waitUntil(lambda: marks(transcript) == ["bean", "Bean", "bean"])
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    assert bar.found == "2 of 3"
    qtbot.keyClick(bar.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert bar.found == "1 of 3"


def test_what_is_in_view_does_not_move_if_a_place_is_in_it(
    transcript: Transcript, bar: FindBar, qtbot: QtBot
) -> None:
    turns = [item for n in range(30) for item in turn(n, f"Bean {n}.")]
    transcript.load(Chat("c", tuple(turns)))
    scroll = transcript.scroller.bar
    qtbot.waitUntil(lambda: len(transcript.feed.rows) >= 40 and scroll.value() == scroll.maximum())
    scroll.setValue(scroll.maximum() // 2)
    QApplication.processEvents()
    before = find_top(transcript)
    bar.finder.open()
    for letter in "bean":
        qtbot.keyClicks(bar.field, letter)
        qtbot.waitUntil(lambda: marks(transcript) != [])
    assert find_top(transcript) == before
    qtbot.keyClick(bar.field, Qt.Key.Key_Escape)
    assert find_top(transcript) == before


def test_found_words_stay_marked_when_the_theme_changes(
    transcript: Transcript, bar: FindBar, qtbot: QtBot
) -> None:
    turns = [item for n in range(10) for item in turn(n, f"Bean {n}.")]
    transcript.load(Chat("c", tuple(turns)))
    bar.finder.open()
    qtbot.keyClicks(bar.field, "bean")
    qtbot.waitUntil(lambda: len(marks(transcript)) == 10)
    Theme.current().apply("dark")
    transcript.scroller.bar.setValue(0)  # the answers that were out of view are drawn again too
    names = {Theme.current().css(name) for name in ("accent.base", "diff.mark_bg")}
    qtbot.waitUntil(lambda: list_colors(transcript) == names)
    assert marks(transcript) == ["Bean"] * 10


def list_colors(transcript: Transcript) -> set[str]:
    """Return the background colours of the marks."""
    answers = [row.widget for row in transcript.feed.rows if isinstance(row.widget, Answer)]
    views = [answer.view for answer in answers]
    marked = [mark for view in views for mark in view.extraSelections()]
    return {mark.format.background().color().name() for mark in marked}


def find_top(transcript: Transcript) -> tuple[str, int]:
    """Return the message at the top of the view, and how much of it is above."""
    value = transcript.scroller.bar.value()
    row = transcript.feed.find_row_at(value)
    assert row is not None
    return str(row.widget.text), value - row.y()


def test_messages_that_come_later_are_marked_and_the_place_stays(
    transcript: Transcript, bar: FindBar, qtbot: QtBot
) -> None:
    first = turn(1, "A bean and a bean.")
    transcript.load(Chat("c", tuple(first)))
    bar.finder.open()
    bar.field.setText("bean")
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    assert bar.found == "2 of 2"
    transcript.refresh(Chat("c", (*first, *turn(2, "More beans."))))
    qtbot.waitUntil(lambda: marks(transcript) == ["bean", "bean", "bean"])
    assert bar.found == "2 of 3"


def test_several_words_are_marked_at_the_message_in_which_they_were_found(
    transcript: Transcript, bar: FindBar, qtbot: QtBot
) -> None:
    items = [item for number in range(40) for item in turn(number, f"A bean {number} climbs.")]
    transcript.load(Chat("c", tuple(items)))
    bar.finder.open_at("a7", "climbs bean", ("climbs", "bean"))
    qtbot.waitUntil(lambda: "bean" in marks(transcript) and "climbs" in marks(transcript))
    assert bar.found == "15 of 80"
    answer = next(r for r in transcript.feed.rows if r.widget.text == "A bean 7 climbs.")
    scroll = transcript.scroller.bar
    qtbot.waitUntil(lambda: scroll.value() <= answer.y() < scroll.value() + scroll.pageStep())


def test_closing_takes_the_marks_away(transcript: Transcript, bar: FindBar, qtbot: QtBot) -> None:
    transcript.load(Chat("c", tuple(turn(1, "A bean."))))
    bar.finder.open()
    bar.field.setText("bean")
    qtbot.waitUntil(lambda: marks(transcript) == ["bean"])
    qtbot.keyClick(bar.field, Qt.Key.Key_Escape)
    assert marks(transcript) == []
    assert bar.isHidden()


def test_a_message_that_is_put_away_is_found_and_brought_back(
    transcript: Transcript, bar: FindBar, qtbot: QtBot
) -> None:
    items = [item for number in range(MOST_LIVE) for item in turn(number, "Nothing.")]
    transcript.load(Chat("c", (*turn(999, "The only elephant."), *items)))
    bar.finder.open()
    bar.field.setText("elephant")
    assert bar.found == "1 of 1"
    qtbot.waitUntil(lambda: marks(transcript) == ["elephant"])


def test_nothing_to_look_for_says_nothing(transcript: Transcript, bar: FindBar) -> None:
    transcript.load(Chat("c", tuple(turn(1, "A bean."))))
    bar.finder.open()
    bar.field.setText("  ")
    assert bar.found == ""
    bar.field.setText("elephant")
    assert bar.found == "Not found"


def test_a_running_turn_and_its_card_are_kept_while_a_far_place_is_shown(
    transcript: Transcript, bar: FindBar, qtbot: QtBot
) -> None:
    turns = [item for n in range(60) for item in turn(n, f"Bean {n}.")]
    transcript.load(Chat("c", tuple(turns)))
    transcript.begin_turn("And now?")
    transcript.live.append("It ")
    proposal = Proposal("memory", "Remember.", lambda: "")
    card = transcript.show_approval(ApprovalRequest("a1", "c1", "remember", {}, proposal))
    QApplication.processEvents()
    bar.finder.open()
    bar.field.setText("Bean 3.")
    qtbot.waitUntil(lambda: marks(transcript) == ["Bean 3."])
    assert not card.isVisible()
    transcript.live.append("is May.")
    click_button(transcript, "Jump to latest")
    QApplication.processEvents()
    assert card.isVisible()
    answers = [row.widget for row in transcript.feed.rows if isinstance(row.widget, Answer)]
    assert answers[-1].text == "It is May."
    transcript.remove_approval(card)
    assert not transcript.list_guarded_buttons()[:-1]
