"""The request in full: its forms, looking for words in it, copying it."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.sessions.request_history import ShownRequest
from tests.support.sessions.contexts import make_context
from ui.panels.request_view import RequestView, as_lines, find_places

BODY = {"messages": [{"role": "user", "content": "One <b>bean</b>.\nTwo beans: \\n is no break."}]}
WIRE = {"model": "m", "messages": []}
REQUEST = ShownRequest(make_context(when="last", model="m"), body=BODY, wire=WIRE)


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[RequestView]:
    around = QWidget()
    qtbot.addWidget(around)
    view = RequestView(around)
    view.show_request(REQUEST)
    yield view
    view.close()


def said(view: RequestView) -> list[str]:
    return [label.text() for label in view.findChildren(QLabel)]


def test_texts_keep_their_line_breaks_and_markup_is_text(view: RequestView) -> None:
    lines = view.text.toPlainText().splitlines()
    (first,) = [line for line in lines if "<b>bean</b>" in line]
    assert lines[lines.index(first) + 1].startswith("Two beans: \\\\n is no break.")
    assert "The request that was sent" in said(view)


@pytest.mark.parametrize(
    ("when", "title"),
    [
        ("next", "No model is set: this request would not be sent"),
        ("last", "No model was used: this request was not sent"),
    ],
)
def test_without_a_model_the_title_does_not_say_that_the_request_was_sent(
    view: RequestView, when: str, title: str
) -> None:
    report = replace(REQUEST.report, when=when, model="extractive")
    view.show_request(replace(REQUEST, report=report, wire=None))
    assert title in said(view)


def test_what_is_copied_is_the_exact_json(view: RequestView) -> None:
    view.copy.click()
    assert json.loads(QGuiApplication.clipboard().text()) == BODY
    view.forms.chosen.emit("wire")
    view.forms.set_value("wire")
    view.copy.click()
    assert json.loads(QGuiApplication.clipboard().text()) == WIRE


def test_a_request_that_was_not_sent_says_so_and_copies_nothing(view: RequestView) -> None:
    view.forms.set_value("wire")
    report = make_context(when="next", model="m")
    view.show_request(ShownRequest(report, is_rebuilt=True, body=BODY))
    assert "The request that would be sent next, made anew from the chat" in said(view)
    assert any(text.startswith("It was not sent to a service") for text in said(view))
    assert view.text.toPlainText() == ""
    assert not view.copy.isEnabled()


def test_words_are_found_in_turn_and_round_again(view: RequestView, qtbot: QtBot) -> None:
    qtbot.keyClicks(view.finder.field, "BEAN")
    assert (view.finder.found, view.text.textCursor().selectedText()) == ("1 of 2", "bean")
    for keys, found in (({}, "2 of 2"), ({}, "1 of 2"), ({"modifier": SHIFT}, "2 of 2")):
        qtbot.keyClick(view.finder.field, Qt.Key.Key_Return, **keys)
        assert view.finder.found == found
    assert len(view.text.extraSelections()) == 2
    view.finder.field.setText("elephant")
    assert view.finder.found == "Not found"
    assert not view.finder.following.isEnabled()


def test_escape_in_the_field_closes_the_view(view: RequestView, qtbot: QtBot) -> None:
    with qtbot.waitSignal(view.rejected):
        qtbot.keyClick(view.finder.field, Qt.Key.Key_Escape)
    assert not view.isVisible()


def test_places_are_counted_as_the_field_counts_them() -> None:
    assert find_places("a 🌱 bean, BEAN", "bean") == [(5, 9), (11, 15)]
    assert find_places("bean", "  ") == []


def test_no_line_is_without_end() -> None:
    assert max(map(len, as_lines("x" * 50_000).split("\n"))) == 2_000


SHIFT = Qt.KeyboardModifier.ShiftModifier
