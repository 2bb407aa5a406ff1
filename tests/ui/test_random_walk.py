"""The walk: whatever is seen is pressed, and nothing goes wrong unseen. `make soak` walks on."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect
from pytestqt.qtbot import QtBot

from tests.support.window.random_walk_window import walk
from tests.support.window.transcripts import Place, chat
from tests.support.window.waiting import settle
from tests.support.window.window_truths import find_untruths
from ui.chat.message.answer import Answer
from ui.theme import Mode
from vault.embedder import Embedder

PRESSES, PAUSES = 100, 8


@pytest.mark.parametrize(("seed", "mode"), [(11, "light"), (12, "dark"), (13, "light")])
def test_a_walk_through_the_window_meets_no_fault(
    qtbot: QtBot, tmp_path: Path, seed: int, mode: Mode, embedder: Embedder
) -> None:
    walked, faults = walk(tmp_path, seed, mode, PRESSES, embedder, pauses=PAUSES)
    assert len(walked.pressed) >= PRESSES
    assert walked.fired_timers >= PAUSES
    assert faults.report() == ""


def test_the_walk_sees_a_covered_button(place: Place) -> None:
    transcript = place.transcript
    transcript.load(chat(6))
    settle()
    assert list(find_untruths(place)) == []
    answer = place.findChildren(Answer)[-1]
    jump, copy = transcript.scroller.jump, answer.tools.copy
    jump.show()
    jump.setGeometry(QRect(copy.mapTo(transcript.scroller, QPoint()), jump.sizeHint()))
    found = list(find_untruths(place))
    assert any("is covered by Jump to latest" in text for text in found)
