"""A compaction on request: shown before it is made, its summary edited before it is used."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from chains.cancel import CancelToken
from tests.conftest import write_notes
from tests.support.models.model_server import Answer, ModelServer
from tests.support.window.clicks import button_named, click_button
from tests.support.window.note_page import NotePage
from tests.support.window.waiting import settle
from tests.support.window.window_pages import WindowPage, open_window
from ui.chat.message.blocks import SummaryDivider
from ui.tasks import TaskRunner
from ui.widgets.controls import ElidedLabel

SUMMARY = "The barrel holds 210 litres, and the pump runs at night."
# One sentence, since each sentence of an answer is checked against all others.
FILLER = "leaves and stones and " * 240
LEFT_OUT = "Summary left out of the last request"


@pytest.fixture
def window(
    scripted: Assistant, server: ModelServer, runner: TaskRunner, qtbot: QtBot
) -> Iterator[WindowPage]:
    """A window with a chat of three answered questions, whose work is done at once."""
    window = open_window(scripted, runner, qtbot, mode="chat")
    window.view.activateWindow()
    qtbot.waitUntil(window.view.isActiveWindow)
    for question in ("How much does it hold?", "When does the pump run?", "Who built it?"):
        server.script(
            Answer(f"{question} It holds 210 litres, say the notes. In it are {FILLER}water.")
        )
        window.composer.send(question)
    server.script(Answer(SUMMARY))
    yield window
    window.close()


def read_log(window: WindowPage) -> list[dict[str, Any]]:
    """Return the entries on the active path of the open chat."""
    path = window.assistant.sessions.read(window.chat.session).path()
    return [entry.to_dict() for entry in path]


def count_calls(server: ModelServer) -> int:
    return len(server.bodies)


def test_what_would_be_summarised_is_shown_before_a_model_is_called(window, server) -> None:
    before, calls = read_log(window), count_calls(server)
    window.composer.send("/compact the litres")
    page = window.compaction
    assert page.text == "1. How much does it hold?\n2. When does the pump run?"
    assert "Questions to summarise" in page.texts()
    said = " ".join(page.texts())
    assert "4 earlier messages would become a summary." in said
    assert "scripted makes the summary." in said
    assert " → about " in said
    assert page.view.instructions.text() == "the litres"
    assert page.view.text.isReadOnly()
    assert (read_log(window), count_calls(server)) == (before, calls)
    page.press("Cancel")
    assert not page.view.isVisible()
    assert (read_log(window), count_calls(server)) == (before, calls)
    assert window.view.focusWidget() is window.composer.view.input


def test_the_summary_is_edited_before_it_is_used(window, server, qtbot) -> None:
    window.run("compact")
    page = window.compaction
    QTest.keyClicks(page.view.instructions, "the litres")
    page.press("Make the summary")
    assert "the litres" in str(server.bodies[-1]["messages"][-1]["content"])
    assert page.text == SUMMARY
    assert page.view.text.hasFocus()
    QTest.keyClick(page.view.text, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(page.view.text, " Ines built it.")
    assert "Edited. Its tokens are counted when it is used." in page.texts()
    page.press("Use this summary")
    assert not page.view.isVisible()
    (toast,) = window.toasts()
    assert toast.startswith("4 earlier messages summarised · ")
    server.script(Answer("Yes."))
    window.composer.send("Surely?")
    sent = str(server.bodies[-1]["messages"])
    assert f"{SUMMARY} Ines built it." in sent
    assert "When does the pump run?" not in sent
    assert "Who built it?" in sent


def test_cancelling_a_summary_that_was_made_stores_none(window, server) -> None:
    before = read_log(window)
    window.run("compact")
    window.compaction.press("Make the summary")
    QTest.keyClick(window.compaction.view, Qt.Key.Key_Escape)
    assert not window.compaction.view.isVisible()
    assert read_log(window) == before
    server.script(Answer("Yes."))
    window.composer.send("Surely?")
    assert SUMMARY not in str(server.bodies[-1]["messages"])


def test_a_summary_that_is_too_long_is_refused_and_stays_for_editing(window, server) -> None:
    before = read_log(window)
    window.run("compact")
    page = window.compaction
    page.press("Make the summary")
    page.view.text.setPlainText("The barrel holds 210 litres. " * 2_000)
    page.press("Use this summary")
    assert any("tokens; it may have up to" in text for text in page.texts())
    assert page.view.isVisible()
    assert read_log(window) == before
    page.view.text.setPlainText("")
    assert not page.view.use.isEnabled()
    page.view.text.setPlainText("It holds 210 litres.")
    page.press("Use this summary")
    assert not page.view.isVisible()
    assert read_log(window) != before


def test_a_chat_that_went_on_meanwhile_is_not_summarised_by_an_old_summary(
    window, server, assistant
) -> None:
    window.run("compact")
    window.compaction.press("Make the summary")
    assistant.branches.send_message(window.chat.session, "note", "Another program was here.")
    before = read_log(window)
    window.compaction.press("Use this summary")
    said = "The chat went on after this summary was made. Compact again."
    assert said in window.compaction.texts()
    assert read_log(window) == before


def test_without_a_model_the_outline_is_shown_and_used(window, server) -> None:
    window.assistant.settings.set("chat.model", "extractive")
    calls = count_calls(server)
    window.view.controllers.session.model = "extractive"
    window.run("compact")
    assert any("it is an outline" in text for text in window.compaction.texts())
    window.compaction.accept()
    assert window.toasts() == ["4 earlier messages became an outline, made without a model."]
    assert count_calls(server) == calls


def list_summaries(window: WindowPage) -> list[SummaryDivider]:
    """Return the dividers of the chat's summaries."""
    rows = window.chat.view.feed.rows
    return [row.widget for row in rows if isinstance(row.widget, SummaryDivider)]


def find_summary(window: WindowPage) -> SummaryDivider:
    """Return the divider of the chat's summary, with its text open."""
    (line,) = list_summaries(window)
    if line.view is None:
        line.more.click()
    return line


def leave_summary_out(window: WindowPage, server: ModelServer) -> None:
    """Send a message that leaves room for the last turn, but not for the summary before it."""
    window.assistant.settings.set("context.autoCompact", False)  # no new summary after the answer
    window.assistant.settings.set("autoCompactThreshold", 4_000)
    for words in range(1_500, 2_200, 25):
        text = "word " * words
        preview = window.assistant.preview(window.chat.session, text, "chat")
        if "summary" in [one["reason"] for one in preview["dropped"]]:
            break
    server.script(Answer("Short."))
    window.composer.send(text)
    assert SUMMARY not in str(server.bodies[-1]["messages"])


def bring_summary_back(window: WindowPage, server: ModelServer) -> None:
    """Raise the limit and ask, so that there is room for the summary."""
    window.assistant.settings.set("autoCompactThreshold", 16_000)
    server.script(Answer("Yes."))
    window.composer.send("Surely?")
    assert SUMMARY in str(server.bodies[-1]["messages"])


def test_a_summary_that_was_left_out_is_named_in_the_chat_until_it_is_back(window, server) -> None:
    window.run("compact")
    window.compaction.accept()
    leave_summary_out(window, server)
    line = find_summary(window)
    assert line.text.startswith(f"{LEFT_OUT} · ")
    window.chat.reopen(window.chat.session)
    assert find_summary(window).text == line.text
    bring_summary_back(window, server)
    assert find_summary(window).text.startswith("Earlier messages summarised · ")


@pytest.mark.parametrize("way", ["mouse", "keys"])
def test_a_summary_that_was_left_out_opens_and_stays_open_when_it_is_back(
    window: WindowPage, server: ModelServer, qtbot: QtBot, way: str
) -> None:
    window.run("compact")
    window.compaction.accept()
    leave_summary_out(window, server)
    window.activate(1440, 900, qtbot)
    (line,) = list_summaries(window)
    if way == "mouse":
        window.chat.view.scroller.bar.setValue(line.mapTo(window.chat.view.feed, QPoint()).y())
        settle()
        click_button(line, "Show summary")
    else:
        walk_to(window, line)
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        assert QApplication.focusWidget() is button_named(line, "Show summary")
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
        assert QApplication.focusWidget() is button_named(line, "Hide summary")
    assert line.view.isVisible()
    assert line.view.toPlainText() == SUMMARY
    bring_summary_back(window, server)
    assert list_summaries(window) == [line]
    assert line.text.startswith("Earlier messages summarised · ")
    assert not line.view.isHidden()


def walk_to(window: WindowPage, line: SummaryDivider) -> None:
    """Go up with Alt+Up until the divider is the current row of the chat."""
    for _ in window.chat.view.feed.slots():
        window.press_keys("Alt+Up")
        if any(row.is_current and row.widget is line for row in window.chat.view.feed.rows):
            return
    raise AssertionError("the divider was not reached")


def test_a_summary_in_use_is_edited_and_the_next_request_holds_the_edit(window, server) -> None:
    window.run("compact")
    window.compaction.accept()
    line = find_summary(window)
    assert "edited" not in line.text
    (edit,) = (b for b in line.findChildren(QPushButton) if b.text() == "Edit the summary")
    QTest.mouseClick(edit, Qt.MouseButton.LeftButton)
    page = window.compaction
    assert (page.view.windowTitle(), page.text) == ("Edit the summary", SUMMARY)
    QTest.keyClick(page.view.text, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(page.view.text, " Ines built it.")
    page.press("Use this summary")
    assert not page.view.isVisible()
    assert window.toasts()[-1] == "The summary was edited."
    line = find_summary(window)
    assert line.text.endswith("tokens · edited")
    assert line.view.toPlainText() == f"{SUMMARY} Ines built it."
    forked = window.chat.session
    window.chat.view.scroller.to_end()
    settle()
    click_button(window.chat.answers()[-1], "Continue from here in a new chat")
    assert window.chat.session != forked, window.toasts()
    assert find_summary(window).view.toPlainText() == f"{SUMMARY} Ines built it."
    server.script(Answer("Yes."))
    window.composer.send("Surely?")
    window.context.switch("Last request")
    assert any("edited by you" in text for text in window.context.texts())
    sent = str(server.bodies[-1]["messages"])
    assert f"{SUMMARY} Ines built it." in sent
    assert sent.count(SUMMARY) == 1


def test_ctrl_enter_makes_and_uses_a_summary(window: WindowPage, server: ModelServer) -> None:
    ctrl = Qt.KeyboardModifier.ControlModifier
    window.run("compact")
    page = window.compaction
    QTest.keyClick(page.view.instructions, Qt.Key.Key_Return, ctrl)
    assert page.text == SUMMARY
    QTest.keyClick(page.view.text, Qt.Key.Key_End, ctrl)
    QTest.keyClicks(page.view.text, " Ines built it.")
    QTest.keyClick(page.view.text, Qt.Key.Key_Return, ctrl)
    assert not page.view.isVisible()
    line = find_summary(window)
    assert line.text.endswith("tokens · edited")
    (edit,) = (b for b in line.findChildren(QPushButton) if b.text() == "Edit the summary")
    QTest.mouseClick(edit, Qt.MouseButton.LeftButton)
    QTest.keyClick(page.view.text, Qt.Key.Key_Enter, ctrl | Qt.KeyboardModifier.KeypadModifier)
    assert not page.view.isVisible()


def test_an_edit_that_is_too_long_or_cancelled_changes_nothing(window, server) -> None:
    window.run("compact")
    window.compaction.accept()
    before, line = read_log(window), find_summary(window)
    (edit,) = (b for b in line.findChildren(QPushButton) if b.text() == "Edit the summary")
    QTest.mouseClick(edit, Qt.MouseButton.LeftButton)
    page = window.compaction
    page.view.text.setPlainText("The barrel holds 210 litres. " * 2_000)
    page.press("Use this summary")
    assert any("tokens; it may have up to" in text for text in page.texts())
    page.press("Cancel")
    assert read_log(window) == before
    QTest.mouseClick(edit, Qt.MouseButton.LeftButton)
    page.press("Use this summary")  # the same text
    assert read_log(window) == before


def summarise_answer(window, server, answer: str) -> SummaryDivider:
    """Let a model give a long answer, replace it by a summary, and return the summary's divider."""
    server.script(Answer(answer))
    window.composer.send("How much do they hold?")
    server.script(Answer("Well."))
    window.composer.send("And the cans?")
    server.script(Answer(SUMMARY))
    window.composer.send("/compact")
    window.compaction.press("Make the summary")
    window.compaction.press("Use this summary")
    (divider,) = window.view.findChildren(SummaryDivider)
    return divider


def test_what_a_summary_lost_is_searched_for_in_the_notes_when_it_is_shown(
    window, server, scripted: Assistant, tmp_path: Path
) -> None:
    barrels = " ".join(f"Barrel no. {n} holds {n}.5 litres." for n in range(2_000, 2_100))
    notes = write_notes(tmp_path / "barrels", {"Barrels.md": f"# Barrels\n\n{barrels}\n"})
    scripted.open_vault(notes, remember=False)
    list(scripted.index(CancelToken()))
    window.composer.choose_mode("vault")
    divider = summarise_answer(window, server, barrels)
    stored = divider.item.compaction.exam
    assert (stored.gone_count, stored.findable) == (0, 0)
    shown = divider.facts
    assert shown.accessibleName() != stored.describe()
    told = shown.accessibleName()
    assert f"{stored.not_checked} not checked" not in told
    QTest.mouseClick(shown.head, Qt.MouseButton.LeftButton)
    said = [label.whole for label in shown.findChildren(ElidedLabel)]
    assert any(line.startswith("Findable: ") and "Barrels.md, line 3" in line for line in said)


@pytest.mark.parametrize("way", ["click", "enter", "space"])
def test_a_findable_fact_opens_its_note_at_the_line_by_mouse_and_keys(
    window, server, scripted: Assistant, qtbot: QtBot, tmp_path: Path, way: str
) -> None:
    barrels = [f"Barrel no. {n} holds {n}.5 litres." for n in range(2_000, 2_100)]
    text = "\n".join(("# Barrels", "", *barrels, ""))
    notes = write_notes(tmp_path / "barrels", {"Barrels.md": text})
    scripted.open_vault(notes, remember=False)
    list(scripted.index(CancelToken()))
    window.composer.choose_mode("vault")
    facts = summarise_answer(window, server, " ".join(barrels)).facts
    QTest.mouseClick(facts.head, Qt.MouseButton.LeftButton)
    row = next(one for one in facts.findChildren(QAbstractButton) if "Findable: " in one.text())
    line = int(re.search(r"Barrels\.md, line (\d+)", row.text())[1])
    assert barrels[line - 3][len("Barrel no. ") :][:4] in row.text()
    assert row.accessibleName().endswith("Open the note.")
    opened = []
    window.view.transcript.maker.citation_activated.connect(lambda *place: opened.append(place))
    if way == "click":
        QTest.mouseClick(row, Qt.MouseButton.LeftButton)
    else:
        focus_by_tab(window, facts.head, row)
        QTest.keyClick(row, Qt.Key.Key_Return if way == "enter" else Qt.Key.Key_Space)
    assert opened == [("Barrels.md", line, line)]
    note = NotePage(window.view)
    assert (note.is_open, note.path) == (True, "Barrels.md")
    qtbot.waitUntil(lambda: note.count_lit_rows() > 0)


def focus_by_tab(window, start: QWidget, target: QWidget) -> None:
    """Press Tab from one widget until another one has the focus."""
    start.setFocus()
    for _ in range(200):
        if window.view.focusWidget() is target:
            return
        QTest.keyClick(window.view.focusWidget(), Qt.Key.Key_Tab)
    raise LookupError("Tab does not lead there")


def test_a_fact_that_a_summary_lost_is_kept_by_one_click_and_given_up_again(window, server) -> None:
    barrels = " ".join(f"Barrel no. {n} holds {n}.5 litres." for n in range(2_000, 2_300))
    divider = summarise_answer(window, server, barrels)
    exam = divider.item.compaction.exam
    assert divider.facts.accessibleName() == exam.describe()
    QTest.mouseClick(divider.facts.head, Qt.MouseButton.LeftButton)
    click_button(divider.facts, f"Keep: {exam.gone[0].text}")
    assert read_log(window)[-1]["transformerName"] == "summary_edit"
    assert exam.gone[0].line in read_log(window)[-1]["patch"][0]["parts"]
    (divider,) = window.view.findChildren(SummaryDivider)
    assert divider.item.compaction.exam.gone_count == exam.gone_count - 1
    click_button(window.view, "Undo")
    assert exam.gone[0].line not in read_log(window)[-1]["patch"][0]["parts"]
