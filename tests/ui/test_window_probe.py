"""The probe that journeys load into the program tells where words are, in every script."""

import pytest
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit
from pytestqt.qtbot import QtBot

from tests.support.window.window_probe import _answer


@pytest.mark.parametrize("before", ["", "beds ", "🌱 ", "👩‍🌾 and 🌱\n🌱 𠮷 "])
def test_words_are_found_where_they_are_shown(qtbot: QtBot, before: str) -> None:
    field = QPlainTextEdit(f"{before}mulch 🌱 mulch")
    field.setAccessibleName("Answer")
    qtbot.addWidget(field)
    field.resize(400, 200)
    with qtbot.waitExposed(field):
        field.show()
    found = _answer({"ask": "words", "words": "mulch", "under": "Answer"})["rects"]
    shown = []
    place = field.document().find("mulch")
    while place.hasSelection():
        start, end = QTextCursor(place), QTextCursor(place)
        start.setPosition(place.selectionStart())
        left = field.viewport().mapToGlobal(field.cursorRect(start).center()).x()
        right = field.viewport().mapToGlobal(field.cursorRect(end).center()).x()
        shown.append((left, right))
        place = field.document().find("mulch", place)
    assert len(found) == len(shown) == 2
    for (x, _, width, _), (left, right) in zip(found, shown, strict=True):
        assert x == pytest.approx(left, abs=3)
        assert x + width == pytest.approx(right, abs=3)
