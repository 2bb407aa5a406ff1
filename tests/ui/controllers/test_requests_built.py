"""How many requests a window builds for a prompt: one to send, and one as the next preview."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.customize.commands import MessageDraft
from chains.model import warm_up
from chains.request import draft
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.window.waiting import LONGEST_MS
from tests.support.window.window_pages import WindowPage, open_window
from ui.tasks import Task, TaskRunner

Built = list[str]


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> Built:
    """Collect `send` or `preview` for each request that is built."""
    found: Built = []
    prepare = draft.prepare

    def count(request: Any, mode: str = "send") -> Any:
        found.append(mode)
        return prepare(request, mode)  # type: ignore[arg-type]

    monkeypatch.setattr(draft, "prepare", count)
    return found


@pytest.fixture
def window(scripted: Assistant, qtbot: QtBot) -> Iterator[WindowPage]:
    """A window with threads of its own, in which nothing runs."""
    page = open_window(scripted, None, qtbot, mode="chat")
    page.view.activateWindow()
    qtbot.waitUntil(page.view.isActiveWindow)
    rest(page, qtbot)
    yield page
    page.view.close()


def rest(page: WindowPage, qtbot: QtBot) -> None:
    """Wait until no task runs, and no preview waits for the user to stop typing."""
    previews = page.view.controllers.context._previews
    qtbot.waitUntil(
        lambda: not page.view.runner.findChildren(Task) and not previews._timer.isActive()
    )


def send_at_once(page: WindowPage, text: str) -> None:
    """Write a message and press Enter before its preview begins, however busy the computer is."""
    page.view.controllers.context._previews._timer.setInterval(LONGEST_MS)
    page.composer.send(text)


def type_message(page: WindowPage, text: str, qtbot: QtBot) -> None:
    """Type a message, and wait for its preview."""
    page.composer.type(text)
    rest(page, qtbot)


def press_enter(page: WindowPage) -> None:
    QTest.keyClick(page.composer.view.input, Qt.Key.Key_Return)


def test_what_calls_models_is_loaded_before_a_window_waits_for_an_answer(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[object] = []
    monkeypatch.setattr("chains.model.start_call", started.append)
    warm_up()
    assert started == []


def test_the_start_and_another_chat_preview_one_request_each(
    assistant: Assistant, runner: TaskRunner, small_vault: Path, built: Built, qtbot: QtBot
) -> None:
    assistant.open_vault(small_vault, remember=False)
    page = open_window(assistant, runner, qtbot, is_begun=False)
    built.clear()
    page.view.begin()
    assert built == ["preview"]
    built.clear()
    page.view.open_session(None)
    assert built == ["preview"]


def test_a_prompt_builds_the_request_and_the_next_preview(
    window: WindowPage, server: ModelServer, built: Built, qtbot: QtBot
) -> None:
    for number in (1, 2):
        server.script(Answer(f"Answer {number}."))
        type_message(window, f"Question {number}?", qtbot)
        built.clear()
        press_enter(window)
        assert window.composer.text == ""
        qtbot.waitUntil(lambda number=number: len(window.chat.answers()) == number)  # type: ignore[misc]
        rest(window, qtbot)
        assert built == ["send", "preview"]
    assert window.context.which == "last"


def test_a_prompt_that_is_sent_before_its_preview_builds_none_for_its_text(
    window: WindowPage, server: ModelServer, built: Built, qtbot: QtBot
) -> None:
    server.script(Answer("Yes."))
    built.clear()
    send_at_once(window, "Is it?")
    rest(window, qtbot)
    assert built == ["send", "preview"]


def test_a_regenerated_an_edited_and_a_chosen_question_build_two(
    window: WindowPage, server: ModelServer, built: Built, qtbot: QtBot
) -> None:
    session = window.view.controllers.session

    def choose() -> None:
        window.chat.view.question_chosen.emit("What is due?")

    def regenerate() -> None:
        session.regenerate(window.chat.answers()[-1].entry)

    def edit() -> None:
        window.chat.edit(window.chat.user_messages()[-1], "What is due today?")

    acts: tuple[Callable[[], None], ...] = (choose, regenerate, edit)
    for act in acts:
        server.script(Answer("The bill."))
        built.clear()
        act()
        rest(window, qtbot)
        assert built == ["send", "preview"], act.__name__


def test_a_queued_prompt_builds_its_request_and_one_preview_at_the_end(
    window: WindowPage, server: ModelServer, built: Built, qtbot: QtBot
) -> None:
    gate = threading.Event()

    def answer_late(_body: object) -> Answer:
        gate.wait(60)
        return Answer("One.")

    server.script(answer_late, Answer("Two."))
    type_message(window, "First?", qtbot)
    built.clear()
    press_enter(window)
    qtbot.waitUntil(lambda: window.chat.session is not None)
    send_at_once(window, "Second?")
    assert window.composer.waiting == "Sent after this answer: Second?"
    gate.set()
    qtbot.waitUntil(lambda: len(window.chat.answers()) == 2)
    rest(window, qtbot)
    assert built == ["send", "send", "preview"]


def test_a_prompt_that_fails_and_comes_back_is_previewed_once_more(
    window: WindowPage, server: ModelServer, built: Built, qtbot: QtBot
) -> None:
    server.script(Failure(401))
    type_message(window, "Is it?", qtbot)
    built.clear()
    press_enter(window)
    rest(window, qtbot)
    assert built == ["send", "preview"]


def test_a_command_of_the_users_own_with_attachments_builds_two(
    window: WindowPage, server: ModelServer, built: Built, tmp_path: Path, qtbot: QtBot
) -> None:
    file = tmp_path / "Bills.md"
    file.write_text("The bill is due on Monday.\n", "utf-8")
    server.script(Answer("On Monday."))
    built.clear()
    window.view.controllers.composer.commands.message_made.emit(
        MessageDraft("When is the bill due?", attach=(str(file),))
    )
    qtbot.waitUntil(lambda: len(window.chat.answers()) == 1)
    rest(window, qtbot)
    assert built == ["send", "preview"]
    assert "due on Monday" in str(server.bodies[0]["messages"])


def test_text_that_the_user_deletes_is_previewed(
    window: WindowPage, built: Built, qtbot: QtBot
) -> None:
    type_message(window, "Is it?", qtbot)
    built.clear()
    QTest.keyClick(window.composer.view.input, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(window.composer.view.input, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: built == ["preview"])
    rest(window, qtbot)
    assert built == ["preview"]
