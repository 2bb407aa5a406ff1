"""The question whether models are given the AGENTS.md of the notes."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from ui.chat.transcript.instructions_bar import InstructionsBar


@pytest.fixture
def bar(qtbot: QtBot) -> InstructionsBar:
    bar = InstructionsBar()
    qtbot.addWidget(bar)
    bar.resize(800, 400)
    return bar


def test_it_is_not_there_until_there_is_something_to_ask(bar: InstructionsBar) -> None:
    assert bar.isHidden()
    bar.ask("AGENTS.md", "Answer in <b>short</b>.", "d1")
    assert bar.isVisible()
    assert bar.text.toPlainText() == "Answer in <b>short</b>."
    assert any("AGENTS.md" in label.text() for label in bar.findChildren(QLabel))


@pytest.mark.parametrize("answer", ["accept", "refuse"])
def test_the_answer_is_for_the_text_that_was_shown_last(
    bar: InstructionsBar, qtbot: QtBot, answer: str
) -> None:
    bar.ask("AGENTS.md", "One.", "d1")
    bar.ask("AGENTS.md", "Two.", "d2")
    decided = bar.accepted if answer == "accept" else bar.refused
    other = bar.refused if answer == "accept" else bar.accepted
    with qtbot.assertNotEmitted(other), qtbot.waitSignal(decided) as caught:
        qtbot.keyClick(getattr(bar, answer), Qt.Key.Key_Space)
    assert caught.args == ["d2"]
    assert bar.isHidden()


def test_a_long_text_scrolls_in_itself_above_buttons_that_are_always_seen(
    bar: InstructionsBar, qtbot: QtBot
) -> None:
    bar.ask("AGENTS.md", "Never delete a note.\n" * 500, "d1")
    qtbot.waitExposed(bar)
    assert bar.text.verticalScrollBar().maximum() > 400
    for made in (bar.refuse, bar.accept):
        assert bar.rect().contains(made.geometry().translated(made.parentWidget().pos()))


def test_the_text_can_be_read_but_not_changed(bar: InstructionsBar, qtbot: QtBot) -> None:
    bar.ask("AGENTS.md", "One.", "d1")
    qtbot.keyClicks(bar.text, "Two.")
    assert bar.text.toPlainText() == "One."
