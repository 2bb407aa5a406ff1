"""The filter of a list below its answer, and lists again without one of its parts."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from chains.cancel import CancelToken
from chains.models import EXTRACTIVE
from chains.request.ask import Ask
from tests.support.window.window_pages import WindowPage, open_window
from ui.tasks import TaskRunner

QUESTION = "Which notes in House have the tag recipe?"
FOLDER, TAG = "in the folder “House”", "with the tag #recipe"


@pytest.fixture
def window(assistant: Assistant, tmp_path: Path, runner: TaskRunner, qtbot: QtBot) -> WindowPage:
    notes = tmp_path / "notes"
    for path, text in {
        "House/Oven.md": "Runs hot. #recipe\n",
        "House/Roof.md": "Leaks.\n",
        "Soup.md": "With lentils. #recipe\n",
    }.items():
        (notes / path).parent.mkdir(parents=True, exist_ok=True)
        (notes / path).write_text(text, "utf-8")
    assistant.open_vault(notes, remember=False)
    list(assistant.index(CancelToken()))
    assistant.settings.set("chat.model", EXTRACTIVE)
    list(assistant.ask(Ask(QUESTION, "vault"), CancelToken()))
    (chat,) = assistant.list_sessions()
    page = open_window(assistant, runner, qtbot, mode="vault", is_begun=False)
    page.view.controllers.session.open(chat.session)
    return page


def list_chips(window: WindowPage, at: int = -1) -> list[QPushButton]:
    row = window.chat.answers()[at].filter
    assert row is not None
    return [chip for chip in row.shown() if isinstance(chip, QPushButton)]


def wait_for_answers(window: WindowPage, qtbot: QtBot, count: int) -> None:
    def is_finished() -> bool:
        answers = window.chat.answers()
        return (
            len(answers) == count and answers[-1].filter is not None and not window.chat.is_running
        )

    qtbot.waitUntil(is_finished)


def test_a_reopened_list_shows_its_filter_part_by_part(window: WindowPage) -> None:
    chips = list_chips(window)
    assert [chip.text() for chip in chips] == [f"{FOLDER}  ×", f"{TAG}  ×"]
    assert [chip.accessibleName() for chip in chips] == [
        f"Remove the filter: {FOLDER}",
        f"Remove the filter: {TAG}",
    ]
    assert {chip.toolTip() for chip in chips} == {"List again without this (Delete)"}


def test_a_click_on_a_part_lists_again_without_it(window: WindowPage, qtbot: QtBot) -> None:
    window.composer.write("a draft")
    QTest.mouseClick(list_chips(window)[0], Qt.MouseButton.LeftButton)
    wait_for_answers(window, qtbot, 2)
    assert window.chat.user_messages()[-1].text == "List all notes tag:recipe"
    assert "2 notes with the tag #recipe" in window.chat.answers()[-1].text
    assert [chip.text() for chip in list_chips(window)] == [f"{TAG}  ×"]
    assert window.composer.view.text() == "a draft"


def test_the_last_part_lists_everything(window: WindowPage, qtbot: QtBot) -> None:
    QTest.mouseClick(list_chips(window)[1], Qt.MouseButton.LeftButton)
    wait_for_answers(window, qtbot, 2)
    (chip,) = list_chips(window)
    assert chip.toolTip() == "List everything, without this (Delete)"
    QTest.keyClick(chip, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: len(window.chat.answers()) == 3 and not window.chat.is_running)
    assert "3 notes match" in window.chat.answers()[-1].text
    assert window.chat.answers()[-1].filter is None


def test_the_arrow_keys_move_between_the_parts(window: WindowPage, qtbot: QtBot) -> None:
    first, second = list_chips(window)
    first.setFocus()
    qtbot.waitUntil(first.hasFocus)
    QTest.keyClick(first, Qt.Key.Key_Right)
    assert second.hasFocus()
    QTest.keyClick(second, Qt.Key.Key_Left)
    assert first.hasFocus()
    QTest.keyClick(first, Qt.Key.Key_Return)
    wait_for_answers(window, qtbot, 2)
    assert window.chat.user_messages()[-1].text == "List all notes tag:recipe"
