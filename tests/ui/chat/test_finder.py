"""Looking for words in a chat, also where its messages are put away."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.sessions.transcript import AnswerItem, UserItem
from app.sessions.transcript import ChatTranscript as Chat
from ui.chat.message.answer import Answer
from ui.chat.transcript.feed import MOST_LIVE
from ui.chat.transcript.finder import Finder
from ui.chat.transcript.transcript import Transcript
from ui.widgets.find_bar import FindBar

TIME = "2026-05-14T14:03:00+00:00"


def turn(number: int, text: str) -> list[UserItem | AnswerItem]:
    asked = UserItem(f"u{number}", f"Question {number}?", TIME)
    told = AnswerItem(f"a{number}", text, TIME, "m", "complete", (), (), (), 1.0)
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


def test_the_last_place_comes_first_and_all_are_marked(
    transcript: Transcript, bar: FindBar, qtbot: QtBot
) -> None:
    transcript.load(Chat("c", (*turn(1, "A **bean**, two Beans."), *turn(2, "No bean."))))
    bar.finder.open()
    bar.field.setText("bean")
    assert bar.found == "3 of 3"
    qtbot.waitUntil(lambda: marks(transcript) == ["bean", "Bean", "bean"])
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    assert bar.found == "1 of 3"
    qtbot.keyClick(bar.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert bar.found == "3 of 3"


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
