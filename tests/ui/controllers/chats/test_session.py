"""Asking, failing, stopping and coming back, with a scripted model behind the real client."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.startup import StartupInfo
from chains.cancel import CancelToken
from chains.events import Event, MessageEnded
from chains.request.ask import Ask
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.sessions.contexts import make_context
from tests.support.window.clicks import choose_from_button, visible_rows
from tests.support.window.window_pages import WindowPage, open_window
from ui.markdown.page.view import MarkdownView
from ui.panels.context.left_out_list import LeftOutList
from ui.tasks import TaskRunner
from ui.window import MainWindow


@pytest.fixture
def window(scripted: Assistant, runner: TaskRunner, qtbot: QtBot) -> WindowPage:
    """A window whose work is done at once."""
    return open_window(scripted, runner, qtbot)


@pytest.fixture
def live(scripted: Assistant, qtbot: QtBot) -> WindowPage:
    """A window whose work is done in threads."""
    return open_window(scripted, None, qtbot)


def test_an_answer_is_stored_listed_and_accounted_for(
    window: WindowPage, server: ModelServer
) -> None:
    server.script(Answer("The barrel holds 210 litres.", usage=None))
    window.composer.send("How much does the barrel hold?")
    (chat,) = window.assistant.list_sessions()
    assert window.chat.session == chat.session
    assert window.sidebar.chosen_chat == "How much does the barrel hold?"
    assert window.chat.title == "How much does the barrel hold?"
    assert window.context.which == "last"
    last = window.assistant.history.read_last_context(chat.session)
    assert last is not None
    assert f"{last['used']:,}" in window.context.texts()
    assert not window.chat.is_running


def test_what_the_service_counted_is_told(window: WindowPage, server: ModelServer) -> None:
    window.composer.send("How much does the barrel hold?")
    assert any("The service counted 100" in text for text in window.context.texts())


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Escape])
def test_after_an_edit_the_cursor_is_where_the_next_question_is_written(
    window: WindowPage, key: Qt.Key, qtbot: QtBot
) -> None:
    window.composer.send("How much does the barrel hold?")
    window.view.activateWindow()
    qtbot.waitUntil(window.view.isActiveWindow)
    window.composer.view.setFocus()
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Up)
    (message,) = window.chat.user_messages()
    assert message.editor is not None
    assert message.editor.field.hasFocus()
    qtbot.keyClicks(QApplication.focusWidget(), " And the second one?")
    qtbot.keyClick(QApplication.focusWidget(), key)
    assert window.composer.view.input.hasFocus()


def test_typing_turns_the_panel_to_the_next_request(window: WindowPage) -> None:
    window.composer.send("How much does the barrel hold?")
    window.composer.write("And the second one?")
    assert window.context.which == "next"


def test_a_failure_stands_in_the_chat_and_the_question_is_kept(
    window: WindowPage, server: ModelServer
) -> None:
    server.script(Failure.saying(401, "no such key"))
    window.composer.send("How much does the barrel hold?")
    (chat,) = window.assistant.list_sessions()
    assert window.chat.session == chat.session
    assert not window.chat.is_running
    assert any("key" in text for text in window.chat.texts())


HOOK = """
def fail(event):
    raise ValueError("no such table")

def register(registry):
    registry.on("context", fail, name="tables")
"""


@pytest.fixture
def failing_hook(scripted: Assistant) -> None:
    """A file of the user's whose hook fails at every request."""
    folder = scripted.paths.config / "hooks"
    folder.mkdir(parents=True)
    (folder / "tables.py").write_text(HOOK, "utf-8")
    scripted.settings.set("hooks.enabled", True)


@pytest.mark.usefixtures("failing_hook")
def test_a_hook_that_failed_is_turned_off_where_that_is_said(
    window: WindowPage, server: ModelServer
) -> None:
    window.composer.send("How much does the barrel hold?")
    (turn_off,) = buttons(window, "Turn it off")
    turn_off.click()
    assert not window.assistant.settings.values.hooks_enabled
    assert window.toasts() == ["Your hook files are off."]
    server.script(Answer("210 litres.", usage=None))
    buttons(window, "Try again")[0].click()
    assert "210 litres." in [view.toPlainText() for view in window.view.findChildren(MarkdownView)]
    (undo,) = buttons(window, "Undo")
    undo.click()
    assert window.assistant.settings.values.hooks_enabled


@pytest.mark.usefixtures("failing_hook")
def test_a_hook_that_the_setting_does_not_rule_is_not_said_to_be_off(window: WindowPage) -> None:
    window.composer.send("How much does the barrel hold?")
    window.assistant.settings.set("hooks.enabled", False)
    (turn_off,) = buttons(window, "Turn it off")
    turn_off.click()
    assert "part of an installed package" in window.toasts()[0]


def buttons(window: WindowPage, word: str) -> list[QPushButton]:
    return [made for made in window.view.findChildren(QPushButton) if made.text() == word]


def test_a_question_that_does_not_fit_comes_back_and_nothing_is_sent(
    window: WindowPage, server: ModelServer
) -> None:
    window.assistant.settings.set("autoCompactThreshold", 4_000)
    question = "word " * 40_000
    window.composer.send_uncounted(question)
    assert window.composer.text.strip() == question.strip()
    assert server.bodies == []
    (kept,) = window.assistant.list_sessions()
    assert (kept.session, kept.turns) == (window.chat.session, 0)
    assert "Your message does not fit" in window.context.texts()


def test_a_new_chat_does_not_take_what_another_is_answered(
    live: WindowPage, server: ModelServer, qtbot: QtBot
) -> None:
    server.script(Answer("A long answer that stops in its middle.", stall_after=1))
    live.composer.send("How much does the barrel hold?")
    qtbot.waitUntil(lambda: live.chat.session is not None)
    first = live.chat.session
    live.chat.new()
    assert live.chat.session is None
    assert not live.chat.is_running
    live.chat.reopen(first)
    assert live.chat.is_running
    with qtbot.waitSignal(live.view.controllers.session.turn_ended):
        live.run("stop")
    assert not live.chat.is_running


def test_a_chat_opened_before_its_question_is_told_shows_the_question_once(
    live: WindowPage, server: ModelServer, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script(Answer("One."), Answer("A long answer that stalls.", stall_after=3))
    live.composer.send("First?")
    qtbot.waitUntil(lambda: bool(live.chat.answers()) and not live.chat.is_running)
    session, ask = live.chat.session, live.assistant.ask
    stored, told = threading.Event(), threading.Event()

    def ask_late(request: Ask, cancel: CancelToken) -> Iterator[Event]:
        """Tell the window only later that the question is stored."""
        for event in ask(request, cancel):
            if isinstance(event, MessageEnded) and event.role == "user":
                stored.set()
                assert told.wait(60)
            yield event

    monkeypatch.setattr(live.assistant, "ask", ask_late)
    live.composer.send("Second?")
    qtbot.waitUntil(stored.is_set)
    live.chat.new()
    live.chat.reopen(session)
    qtbot.waitUntil(lambda: len(live.chat.answers()) == 2)
    assert [said.text for said in live.chat.user_messages()] == ["First?", "Second?"]
    told.set()
    qtbot.waitUntil(lambda: live.chat.answers()[-1].text != "")
    assert [said.text for said in live.chat.user_messages()] == ["First?", "Second?"]
    with qtbot.waitSignal(live.view.controllers.session.turn_ended):
        live.run("stop")


def test_stopping_keeps_what_has_arrived(
    live: WindowPage, server: ModelServer, qtbot: QtBot
) -> None:
    server.script(Answer("Twelve chars and many more of them.", stall_after=2))
    live.composer.send("How much does the barrel hold?")
    qtbot.waitUntil(lambda: any(live.chat.answers()) and live.chat.answers()[0].text != "")
    with qtbot.waitSignal(live.view.controllers.session.turn_ended):
        live.run("stop")
    session = live.chat.session
    assert session is not None
    answer = live.assistant.history.transcript(session).items[-1]
    assert answer.text.startswith("Twelve char")  # type: ignore[union-attr]


def test_the_chat_of_the_last_time_is_open_again(
    window: WindowPage, runner: TaskRunner, qtbot: QtBot
) -> None:
    window.composer.send("How much does the barrel hold?")
    session = window.chat.session
    window.close()
    again = open_window(window.assistant, runner, qtbot)
    assert again.chat.session == session
    assert again.chat.title == "How much does the barrel hold?"
    assert again.context.which == "next"


def test_an_answer_on_its_way_is_shown_when_its_chat_is_opened_again(
    live: WindowPage, server: ModelServer, qtbot: QtBot
) -> None:
    live.composer.choose_mode("chat")
    server.script(Answer("Twelve chars and twelve more.", stall_after=3))
    live.composer.send("How much?")
    qtbot.waitUntil(lambda: read_answers(live) == ["Twelve chars and twelve "])
    session = live.chat.session
    live.chat.new()
    assert live.chat.answers() == []
    live.chat.reopen(session)
    qtbot.waitUntil(lambda: read_answers(live) == ["Twelve chars and twelve "])
    assert [message.text for message in live.chat.user_messages()] == ["How much?"]
    assert live.chat.answers()[0].step.text == "Writing…"
    live.run("stop")
    qtbot.waitUntil(lambda: not live.chat.is_running)
    assert read_answers(live) == ["Twelve chars and twelve "]


@pytest.mark.parametrize("way", ["next question", "again"])
def test_a_chat_is_marked_while_it_answers_again(
    way: str, live: WindowPage, server: ModelServer, qtbot: QtBot
) -> None:
    live.composer.choose_mode("chat")
    server.script(Answer("First."), Answer("Twelve chars and more.", stall_after=1))
    live.composer.send("How much?")
    qtbot.waitUntil(lambda: not live.chat.is_running and read_answers(live) == ["First."])
    qtbot.waitUntil(lambda: not is_marked(live))
    if way == "again":
        live.run("answer_again")
    else:
        live.composer.send("And now?")
    qtbot.waitUntil(lambda: is_marked(live))
    live.run("stop")
    qtbot.waitUntil(lambda: not is_marked(live))


def is_marked(window: WindowPage) -> bool:
    """Return whether a chat in the sidebar says that it is being answered."""
    rows = visible_rows(window.sidebar.view.chats)
    return any("answering" in str(row.data(Qt.ItemDataRole.AccessibleTextRole)) for row in rows)


def read_answers(window: WindowPage) -> list[str]:
    return [answer.text for answer in window.chat.answers()]


def test_a_mode_that_is_chosen_during_the_start_is_used(
    scripted: Assistant, server: ModelServer, runner: TaskRunner, qtbot: QtBot, small_vault: Path
) -> None:
    scripted.open_vault(small_vault, remember=False)
    view = MainWindow(StartupInfo(scripted.paths.state, scripted.vault), runner)
    qtbot.addWidget(view, before_close_func=lambda window: window.close())
    view.show()
    choose_from_button(view, "Mode: Vault", "Chat\tThe model alone")
    view.attach(scripted)
    view.begin()
    window = WindowPage(view)
    window.composer.send("How much does the barrel hold?")
    assert window.composer.mode == "chat"
    assert "200 litres" not in str(server.bodies[-1]["messages"])
    assert view.controllers.session.mode == "chat"


def test_turns_that_were_left_out_are_named_in_the_panel(
    window: WindowPage, server: ModelServer
) -> None:
    window.composer.send("Question number 0?")
    entry = window.chat.user_messages()[0].entry
    left_out = {"layer": "L4", "entries": [entry], "turns": 1, "tokens": 900, "reason": "room"}
    window.view.controllers.context.show_sent(make_context(dropped=[left_out]))
    rows = window.view.column.findChild(LeftOutList).model()
    shown = rows.index(0, 0, rows.index(0, 0))
    assert shown.data(Qt.ItemDataRole.AccessibleTextRole) == "“Question number 0?”"
    assert "Left out of this request" in window.context.texts()


def test_after_ten_questions_the_hint_is_gone_for_good(
    window: WindowPage, runner: TaskRunner, qtbot: QtBot
) -> None:
    window.view.places.state.sent = 9
    assert window.composer.has_hint
    window.composer.send("How much does the barrel hold?")
    window.close()
    again = open_window(window.assistant, runner, qtbot)
    assert not again.composer.has_hint


@pytest.mark.parametrize("is_same", [True, False])
def test_a_chat_is_reopened_only_with_the_vault_that_it_is_about(
    scripted: Assistant,
    runner: TaskRunner,
    qtbot: QtBot,
    small_vault: Path,
    tmp_path: Path,
    is_same: bool,
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    scripted.open_vault(small_vault, remember=False)
    before = open_window(scripted, runner, qtbot)
    before.composer.send("How much does the barrel hold?")
    session = before.chat.session
    before.view.close()
    scripted.open_vault(small_vault if is_same else other, remember=False)
    after = open_window(scripted, runner, qtbot)
    assert (after.chat.session, len(after.chat.answers())) == (
        (session, 1) if is_same else (None, 0)
    )
