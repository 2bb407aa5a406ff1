"""Every note judged by a question, in the dialog by mouse and keys: price, run, table, note."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QStyle, QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from chains.cancel import CancelToken
from tests.conftest import write_notes
from tests.support.models.model_server import Answer, Body, Failure, ModelServer
from tests.support.models.note_judge import PLANTED, judge_by_words, list_shown
from tests.support.window.clicks import click_button
from tests.support.window.window_pages import WindowPage, open_window
from ui.panels.judge_view import JudgeView
from ui.widgets.dialogs import QuestionDialog

QUESTION = "What did I promise to my sister?"
NOTES = {
    **{f"Day {n:02}.md": f"# Day {n:02}\n\nNothing, part {n}.\n" for n in range(14)},
    "Yes.md": f"# Yes\n\nA line.\n\n{PLANTED} a chair.\n",
    "Empty.md": "",
}
CLICK = Qt.MouseButton.LeftButton
PATIENCE_MS = 30_000


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(judge_by_words) as server:
        yield server


@pytest.fixture
def window(assistant: Assistant, server: ModelServer, tmp_path: Path, qtbot: QtBot) -> WindowPage:
    assistant.settings.set("chat.apiBase", server.url)
    assistant.settings.set("chat.model", "gpt-4o")
    assistant.open_vault(write_notes(tmp_path / "vault", NOTES), remember=False)
    list(assistant.index(CancelToken()))
    return open_window(assistant, None, qtbot)


@pytest.fixture
def view(window: WindowPage, qtbot: QtBot) -> Iterator[JudgeView]:
    """The dialog with the price of the question in the message box."""
    window.view.composer.set_text(QUESTION)
    window.view.run_command("judge_notes")
    view = window.view.controllers.judging.view
    assert view is not None
    assert view.question.text() == QUESTION
    qtbot.mouseClick(view.price, CLICK)
    qtbot.waitUntil(view.all.isVisible, timeout=PATIENCE_MS)
    yield view
    view.close()


def cells(view: JudgeView) -> list[tuple[str, ...]]:
    model = view.model
    return [
        tuple(model.index(row, column).data() for column in range(3))
        for row in range(model.rowCount())
    ]


def find_question(view: JudgeView) -> QuestionDialog:
    (question,) = (one for one in view.findChildren(QuestionDialog) if one.isVisible())
    return question


def test_the_price_is_shown_then_some_notes_are_judged_then_all(
    view: JudgeView, server: ModelServer, window: WindowPage, qtbot: QtBot
) -> None:
    assert "15 notes for the model: about 2 calls" in view.state.text()
    assert server.bodies == []
    qtbot.mouseClick(view.first, CLICK)
    qtbot.waitUntil(lambda: "11 of 16 judged so far" in view.state.text(), timeout=PATIENCE_MS)
    assert sum(len(list_shown(body)) for body in server.bodies) == 10
    qtbot.mouseClick(view.all, CLICK)
    qtbot.waitUntil(
        lambda: (
            view.state.text() == "16 of 16 judged: 1 by rule, 15 by gpt-4o; 1 yes, 1 cannot tell."
        ),
        timeout=PATIENCE_MS,
    )
    assert cells(view) == [
        ("Yes", "yes", f"“{PLANTED} a chair”"),
        ("Empty", "cannot tell", "the note has no text"),
    ]
    assert not view.all.isVisible()
    view.table.selectRow(0)
    qtbot.keyClick(view.table, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.view.note.path == "Yes.md", timeout=PATIENCE_MS)
    qtbot.mouseClick(view.save, CLICK)
    saved = "What did I promise to my sister.md"
    qtbot.waitUntil(lambda: window.view.note.path == saved, timeout=PATIENCE_MS)
    qtbot.mouseClick(view.save, CLICK)
    qtbot.waitUntil(lambda: "already" in " ".join(window.toasts()), timeout=PATIENCE_MS)
    assert (view.table.isVisible(), len(cells(view))) == (True, 2)


def test_a_price_is_not_shown_under_another_question(
    view: JudgeView, server: ModelServer, qtbot: QtBot
) -> None:
    view.question.setText("What did I promise?")
    qtbot.mouseClick(view.price, CLICK)
    view.question.setText("What did I lose?")
    view.price.setFocus()
    qtbot.keyClick(view.price, Qt.Key.Key_Space)
    qtbot.waitUntil(view.all.isVisible, timeout=PATIENCE_MS)
    assert view.focusWidget() is view.all
    qtbot.keyClick(view.all, Qt.Key.Key_Space)
    assert view.focusWidget() is view.stop
    qtbot.waitUntil(lambda: "16 of 16 judged" in view.state.text(), timeout=PATIENCE_MS)
    assert view.focusWidget() is view.table
    assert [index.row() for index in view.table.selectionModel().selectedRows()] == [0]
    assert all("What did I lose?" in str(body["messages"]) for body in server.bodies)


def test_a_run_is_paused_and_stopped_and_a_failure_is_said(
    view: JudgeView, server: ModelServer, qtbot: QtBot
) -> None:
    may_answer = threading.Event()

    def wait_and_judge(body: Body) -> Answer:
        may_answer.wait(60)
        return judge_by_words(body)

    server.script(wait_and_judge)
    qtbot.mouseClick(view.all, CLICK)
    assert view.pause.isVisible()
    assert view.question.isReadOnly()
    qtbot.mouseClick(view.pause, CLICK)
    assert view.pause.text() == "Go on"
    qtbot.mouseClick(view.stop, CLICK)
    qtbot.waitUntil(view.all.isVisible, timeout=PATIENCE_MS)
    may_answer.set()
    server.script(Failure.saying(401, "No such key."))
    qtbot.mouseClick(view.all, CLICK)
    qtbot.waitUntil(lambda: "key" in view.state.text(), timeout=PATIENCE_MS)
    assert view.all.isVisible()
    view.scope.setText("no filter")
    assert not view.all.isVisible()
    qtbot.keyClick(view.scope, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "is not a filter" in view.state.text(), timeout=PATIENCE_MS)
    QApplication.processEvents()


def test_stored_verdicts_are_deleted_after_a_question(
    view: JudgeView, server: ModelServer, window: WindowPage, qtbot: QtBot
) -> None:
    assert not view.delete.isVisible()
    qtbot.mouseClick(view.all, CLICK)
    qtbot.waitUntil(lambda: "16 of 16 judged" in view.state.text(), timeout=PATIENCE_MS)
    qtbot.mouseClick(view.delete, CLICK)
    qtbot.keyClick(find_question(view), Qt.Key.Key_Escape)
    assert view.delete.isVisible()
    qtbot.mouseClick(view.delete, CLICK)
    click_button(find_question(view), "Delete")
    qtbot.waitUntil(lambda: "15 notes for the model" in view.state.text(), timeout=PATIENCE_MS)
    assert (view.all.isVisible(), view.delete.isVisible()) == (True, False)


def test_a_second_model_judges_a_sample_by_keys_once_its_price_was_shown(
    window: WindowPage, view: JudgeView, server: ModelServer, qtbot: QtBot
) -> None:
    assert view.sample_model.accessibleName() == "Second model: No second model"
    assert (view.sample.isVisible(), view.sampled) == (False, 100)
    qtbot.keyClick(view.all, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: "16 of 16 judged" in view.state.text())
    seen = len(server.bodies)
    view.show_models([("gpt-4", "gpt-4", "")])
    menu = view.sample_model.menu()
    assert [action.text() for action in menu.actions()] == ["No second model", "gpt-4"]
    menu.actions()[1].trigger()
    qtbot.waitUntil(view.all.isVisible)
    assert view.sample.isVisible()
    assert view.sample.accessibleName() == "Notes in the sample"
    view.sample.setFocus()
    view.sample.selectAll()
    qtbot.keyClicks(view.sample, "6")
    assert not view.all.isVisible()
    qtbot.keyClick(view.sample, Qt.Key.Key_Return)
    qtbot.waitUntil(view.all.isVisible)
    assert "6 notes of a sample for gpt-4 to judge again. 6 notes for the" in view.state.text()
    assert (view.all.text(), view.first.isVisible()) == ("Judge the sample", False)
    assert len(server.bodies) == seen
    qtbot.keyClick(view.all, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: "gpt-4 judged 6 of the 15" in view.state.text())
    assert "with 95 % confidence" in view.state.text()
    asked = server.bodies[seen:]
    assert {body["model"] for body in asked} == {"gpt-4"}
    assert sum(len(list_shown(body)) for body in asked) == 6
    menu.actions()[0].trigger()
    qtbot.waitUntil(lambda: "16 of 16 judged" in view.state.text())
    assert "gpt-4 judged" not in view.state.text()


@pytest.mark.parametrize("typed", ["1,", "1,000", "+", "0"])
def test_the_size_of_a_sample_is_only_digits(view: JudgeView, qtbot: QtBot, typed: str) -> None:
    view.show_models([("gpt-4", "gpt-4", "")])
    view.sample_model.menu().actions()[1].trigger()
    view.sample.clear()
    qtbot.keyClicks(view.sample, typed)
    digits = typed.lstrip("0+").replace(",", "")
    assert (view.sample.text(), view.sampled) == (digits, int(digits or 100))


def test_the_dialog_closes_by_its_button_by_esc_and_with_its_window(
    view: JudgeView, window: WindowPage, qtbot: QtBot
) -> None:
    closers = (
        lambda: qtbot.mouseClick(view.close_button, CLICK),
        lambda: qtbot.keyClick(view, Qt.Key.Key_Escape),
        view.close,
    )
    for close in closers:
        window.view.run_command("judge_notes")
        assert view.isVisible()
        with qtbot.waitSignal(view.stop_requested):
            close()
        assert view.isHidden()


def test_no_cell_has_a_frame_of_its_own(view: JudgeView) -> None:
    option = QStyleOptionViewItem()
    option.state |= QStyle.StateFlag.State_HasFocus
    view.table.itemDelegate().initStyleOption(option, view.model.index(0, 0))
    assert not option.state & QStyle.StateFlag.State_HasFocus
