"""Asking again without some of what the model saw, in the dialog of the panel."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.window.widgets import cut_buttons
from tests.support.window.window_pages import WindowPage, open_window
from ui.panels.rehearsal.dialog import RehearsalDialog
from ui.tasks import TaskRunner
from ui.widgets.dialogs import QuestionDialog

BARREL = "The barrel behind the shed holds 210 litres."
BEDS = "The barrel waters the north bed of beans."


def say(body: dict[str, Any]) -> Answer:
    said = str(body["messages"][-1])
    return Answer(" ".join(fact for fact in (BARREL, BEDS) if fact in said) or "Nothing.")


@pytest.fixture
def model(assistant: Assistant) -> Iterator[ModelServer]:
    with ModelServer(say) as server:
        assistant.settings.set("chat.apiBase", server.url)
        assistant.settings.set("chat.model", "gpt-4o")
        assistant.settings.set("chat.titles", False)
        yield server


@pytest.fixture
def garden(tmp_path: Path) -> Path:
    """A folder with two notes."""
    vault = tmp_path / "notes"
    vault.mkdir()
    (vault / "Barrel.md").write_text(f"# Barrel\n{BARREL}\n")
    (vault / "Beds.md").write_text(f"# Beds\n{BEDS}\n")
    return vault


@pytest.fixture
def window(
    assistant: Assistant, model: ModelServer, garden: Path, runner: TaskRunner, qtbot: QtBot
) -> WindowPage:
    """A window with an answer from two notes."""
    assistant.open_vault(garden, remember=False)
    window = open_window(assistant, runner, qtbot)
    window.composer.send("What of the barrel?")
    return window


@pytest.fixture
def waiting_window(
    assistant: Assistant, model: ModelServer, garden: Path, qtbot: QtBot
) -> WindowPage:
    """A window with an answer, whose tasks run in threads."""
    assistant.open_vault(garden, remember=False)
    window = open_window(assistant, None, qtbot)
    window.composer.send("What of the barrel?")
    qtbot.waitUntil(lambda: not window.view.controllers.session.is_running)
    return window


def open_dialog(window: WindowPage) -> RehearsalDialog:
    window.context.press("Ask again without…")
    return window.view.controllers.rehearsal.dialog


def find_key(dialog: RehearsalDialog, name: str) -> str:
    switches = dialog.parts.switches.items()
    return next(key for key, one in switches if name in one.accessibleName())


def press(button: QPushButton, qtbot: QtBot) -> None:
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_what_will_be_shown_is_told_in_whole_sentences_until_then(
    window: WindowPage, qtbot: QtBot
) -> None:
    dialog = open_dialog(window)
    outcome = dialog.outcome
    assert outcome.toPlainText().endswith("you see which one carried which sentence.")
    assert cut_buttons(dialog) == []
    assert outcome.document().size().height() <= outcome.viewport().height()
    press(dialog.ask, qtbot)
    assert "you see which one" not in outcome.toPlainText()


def test_a_source_is_turned_off_and_both_answers_stand_side_by_side(
    window: WindowPage, model: ModelServer, qtbot: QtBot
) -> None:
    dialog = open_dialog(window)
    assert dialog.price.text().startswith("1 call of gpt-4o (this computer)")
    key = find_key(dialog, "Beds.md")
    dialog.parts.switches[key].setFocus()
    qtbot.keyClick(dialog.parts.switches[key], Qt.Key.Key_Space)
    assert dialog.parts.left_out == [key]
    seen = len(model.bodies)
    press(dialog.ask, qtbot)
    assert len(model.bodies) == seen + 1
    assert dialog.state.text() == "1 sentence fell or changed, 0 new, 1 the same."
    text = dialog.outcome.toPlainText()
    assert text.strip().split("\n") == [
        "The answer in the chat",
        f"Without {key}",
        f"{BARREL} {BEDS}",
        BARREL,
    ]
    qtbot.keyClick(dialog, Qt.Key.Key_F7)
    start = dialog.outcome.textCursor().position()
    assert text[start:].startswith(BEDS)
    assert dialog.price.text() == "Asked before with the same request: nothing is sent."
    assert not dialog.stop.isVisible()
    press(dialog.ask, qtbot)
    assert len(model.bodies) == seen + 1
    assert dialog.state.text().startswith("Asked before")
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    (answer,) = window.chat.answers()
    assert "north bed of beans" in answer.text


def test_the_sentence_that_differs_is_lit_though_it_stands_in_another(
    window: WindowPage, model: ModelServer, qtbot: QtBot
) -> None:
    rain = "litres of rain fell behind the old wooden shed yesterday"
    model.script(lambda _body: Answer(f"Soil is oily.\n\n- oil\n- beds\n- twenty {rain}"))
    window.composer.send("What of the soil?")
    model.script(lambda _body: Answer(f"Soil is oily.\n\n- beds\n- thirty {rain}"))
    dialog = open_dialog(window)
    press(dialog.ask, qtbot)
    assert dialog.state.text() == (
        "1 sentence fell or changed, 0 new, 1 worded differently, 2 the same."
    )
    text = dialog.outcome.toPlainText()
    lit = [text[at:].split("\n")[0] for at in dialog.outcome.differences]
    assert lit == ["oil", f"twenty {rain}", f"thirty {rain}"]
    assert [text[at - 2] for at in dialog.outcome.differences] == ["-"] * 3
    dialog.close()


def test_the_switch_of_a_layer_takes_those_in_it(window: WindowPage, qtbot: QtBot) -> None:
    dialog = open_dialog(window)
    key = find_key(dialog, "Barrel.md")
    dialog.parts.switches["L3"].click()
    assert dialog.parts.left_out == ["L3"]
    assert not dialog.parts.switches[key].isEnabled()
    dialog.parts.switches["L3"].click()
    assert dialog.parts.left_out == []
    assert dialog.parts.switches[key].isEnabled()
    dialog.close()


def test_each_source_is_left_out_after_the_price_was_agreed_to(
    window: WindowPage, model: ModelServer, qtbot: QtBot
) -> None:
    dialog = open_dialog(window)
    seen = len(model.bodies)
    press(dialog.each, qtbot)
    (question,) = [w for w in QApplication.topLevelWidgets() if isinstance(w, QuestionDialog)]
    assert len(model.bodies) == seen
    question.accept()
    assert len(model.bodies) == seen + 4
    assert dialog.state.text() == "4 answers of gpt-4o, 4 of them asked now."
    lines = dialog.outcome.toPlainText().split("\n")
    assert lines[0] == "Asked twice unchanged, all 2 sentences were the same."
    assert any(line.startswith("1. ") and "1 sentence" in line for line in lines)
    assert BARREL in lines[lines.index("Which source carried which sentence") :]
    dialog.close()


def test_an_answer_that_cannot_be_asked_again_and_a_failure_are_said(
    window: WindowPage, model: ModelServer, qtbot: QtBot
) -> None:
    model.script(Failure.saying(400, "no such thing"))
    dialog = open_dialog(window)
    press(dialog.ask, qtbot)
    assert "no such thing" in dialog.state.text()
    assert dialog.ask.isEnabled()
    dialog.close()
    for file in window.assistant.paths.sent.glob("*.sent"):
        file.unlink()
    dialog = open_dialog(window)
    assert "not kept" in dialog.state.text()
    assert not dialog.ask.isEnabled()
    dialog.close()


def test_a_rehearsal_that_is_stopped_says_so_and_goes_on_from_there(
    waiting_window: WindowPage, model: ModelServer, qtbot: QtBot
) -> None:
    window = waiting_window
    go_on = threading.Event()

    def wait_at_third(body: dict[str, Any]) -> Answer:
        if len(model.bodies) == 4:  # that of the chat, and three now
            go_on.wait(60)
        return say(body)

    model.script(wait_at_third)
    dialog = open_dialog(window)
    qtbot.waitUntil(dialog.each.isEnabled)
    dialog.each_requested.emit()
    qtbot.waitUntil(lambda: dialog.state.text().startswith("Asking 3 of up to 5, without"))
    assert dialog.stop.isVisible()
    press(dialog.stop, qtbot)
    kept = "The whole answers before are kept, and are not asked again."
    said = f"Stopped before anything arrived. {kept}"
    qtbot.waitUntil(lambda: dialog.state.text() == said)
    go_on.set()
    qtbot.waitUntil(dialog.each.isEnabled)
    assert not dialog.stop.isVisible()
    dialog.each_requested.emit()
    qtbot.waitUntil(lambda: dialog.state.text() == "4 answers of gpt-4o, 2 of them asked now.")
    dialog.close()


LONG = "The barrel is full. " * 20


@pytest.mark.parametrize("is_each", [False, True])
def test_an_answer_is_shown_as_it_arrives_and_what_arrived_stays_when_it_is_stopped(
    waiting_window: WindowPage, model: ModelServer, qtbot: QtBot, is_each: bool
) -> None:
    model.script(*([say] if is_each else []), Answer(LONG, chunk_chars=10, stall_after=9))
    dialog = open_dialog(waiting_window)
    qtbot.waitUntil(dialog.ask.isEnabled)
    (dialog.each_requested.emit if is_each else dialog.ask.click)()
    arrived = LONG[:80]
    qtbot.waitUntil(lambda: arrived in dialog.outcome.toPlainText())
    assert "unchanged: arriving…" in dialog.outcome.toPlainText()
    assert f"{BARREL} {BEDS}" in dialog.outcome.toPlainText()
    press(dialog.stop, qtbot)
    qtbot.waitUntil(dialog.ask.isEnabled)
    said = "Stopped. What had arrived of this answer is shown, and is not kept."
    kept = " The whole answers before are kept, and are not asked again."
    assert dialog.state.text() == f"{said}{kept if is_each else ''}"
    text = dialog.outcome.toPlainText()
    assert "unchanged: stopped" in text
    assert arrived in text
    assert not dialog.stop.isVisible()
    dialog.close()


def test_an_answer_that_breaks_off_stays_and_says_so(
    waiting_window: WindowPage, model: ModelServer, qtbot: QtBot
) -> None:
    model.script(Answer(LONG, chunk_chars=10, break_after=9))
    dialog = open_dialog(waiting_window)
    qtbot.waitUntil(dialog.ask.isEnabled)
    dialog.ask.click()
    qtbot.waitUntil(lambda: "unchanged: broke off" in dialog.outcome.toPlainText())
    assert LONG[:60] in dialog.outcome.toPlainText()
    dialog.close()
