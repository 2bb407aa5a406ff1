"""Proposals of tools in the window: the card, its buttons and keys, and their effects."""

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from chains.tools.approval_desk import ApprovalDesk
from tests.conftest import write_notes
from tests.support.models.model_server import Answer, ModelServer
from tests.support.window.clicks import click_button, visible_rows
from tests.support.window.window_pages import WindowPage, open_window

Begin = Callable[..., WindowPage]


def calling(name: str, **arguments: Any) -> Answer:
    return Answer("", calls=(("c1", name, json.dumps(arguments)),))


REMEMBER = calling("remember", text="Answer in German.")


@pytest.fixture
def server(assistant: Assistant, tmp_path: Path) -> Iterator[ModelServer]:
    with ModelServer(REMEMBER, Answer("Done.")) as server:
        assistant.settings.set("chat.apiBase", server.url)
        assistant.settings.set("chat.model", "gpt-4o")
        assistant.open_vault(write_notes(tmp_path / "notes"), remember=False)
        yield server


@pytest.fixture
def window(assistant: Assistant, server: ModelServer, qtbot: QtBot) -> WindowPage:
    """A window in agent mode, with threads of its own."""
    page = open_window(assistant, None, qtbot, mode="agent")
    page.view.activateWindow()
    qtbot.waitUntil(page.view.isActiveWindow)
    return page


def wait_for_card(window: WindowPage, qtbot: QtBot) -> None:
    """Wait until a card takes decisions."""
    qtbot.waitUntil(lambda: any(card.is_armed for card in window.chat.approvals()))


def wait_for_end(window: WindowPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not window.chat.is_running)


def memories(assistant: Assistant) -> tuple[str, ...]:
    return assistant.customization.memories.list_memories()


def statuses(window: WindowPage) -> list[str]:
    (answer,) = window.chat.answers()
    return [step.status for step in answer.steps.steps]


def test_a_card_shows_what_a_tool_wants_and_a_click_approves_it(window, assistant, qtbot) -> None:
    window.composer.send("Remember it.")
    wait_for_card(window, qtbot)
    (card,) = window.chat.approvals()
    assert card.title.text() == "Remember this?"
    assert "Remember in all chats: Answer in German." in card.accessibleName()
    assert "+ - Answer in German." in window.chat.read_diff(card)
    assert window.chat.answers()[0].step.text == "Waiting for you"
    assert memories(assistant) == ()
    window.press("Remember it")
    wait_for_end(window, qtbot)
    assert memories(assistant) == ("Answer in German.",)
    assert (statuses(window), window.chat.approvals()) == (["ok"], [])
    assert window.chat.answers()[0].text == "Done."


def test_a_proposal_behind_a_note_is_told_and_shown(window, assistant, server, qtbot) -> None:
    is_note_open = threading.Event()
    answers = iter((REMEMBER, Answer("Done.")))

    def answer(_body: object) -> Answer:
        assert is_note_open.wait(60)
        return next(answers)

    server.script(answer)
    window.view.resize(900, 700)
    window.composer.send("Remember it.")
    qtbot.waitUntil(lambda: any(assistant.library.vault.notes()))
    window.view.show_note(min(note.path for note in assistant.library.vault.notes()))
    qtbot.waitUntil(lambda: window.view.middle.is_chat_covered)
    is_note_open.set()
    said = "The chat behind this note waits for your decision"
    qtbot.waitUntil(lambda: said in window.toasts())
    window.press("Show the chat")
    (card,) = window.chat.approvals()
    assert card.isVisible()
    assert window.view.focusWidget() is card.refuse
    wait_for_card(window, qtbot)
    window.press("Remember it")
    wait_for_end(window, qtbot)
    assert memories(assistant) == ("Answer in German.",)


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.Key.Key_Space])
def test_the_refusal_has_the_focus_and_its_keys_refuse(window, assistant, qtbot, key) -> None:
    window.composer.send("Remember it.")
    wait_for_card(window, qtbot)
    (card,) = window.chat.approvals()
    assert window.view.focusWidget() is card.refuse
    QTest.keyClick(card.refuse, key)
    wait_for_end(window, qtbot)
    assert (memories(assistant), statuses(window)) == ((), ["denied"])
    assert window.chat.answers()[0].steps.head.text() == "1 not allowed"
    assert window.view.focusWidget() is window.composer.view.input


def test_enter_does_not_approve_and_tab_walks_the_buttons(window, assistant, qtbot) -> None:
    window.composer.send("Remember it.")
    wait_for_card(window, qtbot)
    (card,) = window.chat.approvals()
    QTest.keyClick(card.refuse, Qt.Key.Key_Tab)
    assert window.view.focusWidget() is card.approve
    QTest.keyClick(card.approve, Qt.Key.Key_Backtab, Qt.KeyboardModifier.ShiftModifier)
    assert window.view.focusWidget() is card.refuse
    QTest.keyClick(card.refuse, Qt.Key.Key_Tab)
    QTest.keyClick(card.approve, Qt.Key.Key_Return)
    wait_for_end(window, qtbot)
    assert memories(assistant) == ()


def test_a_card_that_has_just_appeared_takes_no_decision(window, qtbot, monkeypatch) -> None:
    monkeypatch.setattr("ui.chat.message.approval_card._INERT_MS", 500)
    card = window.chat.show_approval("edit_note", "Change Backups.md, line 3.")
    decided: list[tuple[str, str]] = []
    card.decided.connect(lambda *answer: decided.append(answer))
    QTest.mouseClick(card.approve, Qt.MouseButton.LeftButton)
    assert decided == []
    qtbot.waitUntil(lambda: card.is_armed)
    QTest.mouseClick(card.approve, Qt.MouseButton.LeftButton)
    assert decided == [("a1", "once")]


def test_who_types_keeps_the_focus_and_reaches_the_card_by_f6(window, assistant, qtbot) -> None:
    window.composer.send("Remember it.")
    window.composer.type("And then")
    wait_for_card(window, qtbot)
    (card,) = window.chat.approvals()
    assert window.view.focusWidget() is window.composer.view.input
    for _ in range(8):
        window.press_keys("F6")
        if window.view.focusWidget() is card.refuse:
            break
    assert window.view.focusWidget() is card.refuse
    window.press("Don't remember")
    wait_for_end(window, qtbot)
    assert window.composer.text == "And then"


def test_who_types_elsewhere_keeps_the_focus(window, server, qtbot) -> None:
    is_typing = threading.Event()
    server.script(lambda _body: REMEMBER if is_typing.wait(60) else Answer("Late."))
    window.composer.send("Remember it.")
    search = window.view.sidebar.chat_search
    qtbot.waitUntil(search.isVisible)
    window.press_keys("Ctrl+Shift+F")
    assert window.view.focusWidget() is search
    is_typing.set()
    wait_for_card(window, qtbot)
    QTest.keyClicks(search, "a b")
    assert (window.view.focusWidget(), search.text()) == (search, "a b")
    assert len(window.chat.approvals()) == 1


def test_stopping_takes_the_card_away(window, assistant, qtbot) -> None:
    window.composer.send("Remember it.")
    wait_for_card(window, qtbot)
    window.composer.press_send()
    wait_for_end(window, qtbot)
    assert window.chat.approvals() == []
    assert memories(assistant) == ()


def test_a_proposal_waits_while_another_chat_is_open(window, assistant, qtbot) -> None:
    window.composer.send("Remember it.")
    wait_for_card(window, qtbot)
    session = window.chat.session
    window.chat.new()
    assert window.chat.approvals() == []
    window.chat.reopen(session)
    wait_for_card(window, qtbot)
    window.press("Remember it")
    wait_for_end(window, qtbot)
    assert memories(assistant) == ("Answer in German.",)


def test_a_chat_that_is_opened_again_shows_the_running_turn(window, server, listed, qtbot) -> None:
    click_button(window.chat.approvals()[0], "Make change 2 of 2")
    session = window.chat.session
    window.chat.new()
    window.chat.reopen(session)
    wait_for_card(window, qtbot)
    (answer,) = window.chat.answers()
    assert answer.step.text == "Waiting for you"
    assert answer.step.isVisible()
    assert answer.ending == ""
    assert [step.name for step in answer.steps.steps] == ["edit_note"]
    window.press("Make 1 of 2 changes")
    wait_for_end(window, qtbot)
    assert listed.read_text("utf-8") == OLD.replace("line 1\n", "LINE 1\n")
    assert [answer.text for answer in window.chat.answers()] == ["Done."]


def test_a_chat_that_is_not_open_says_that_it_waits(window, assistant, qtbot) -> None:
    window.composer.send("Remember it.")
    window.chat.new()
    qtbot.waitUntil(lambda: "“Remember it.” waits for your decision" in window.toasts())

    def check_rows() -> None:
        assert "Remember it., 1 question, waits for you" in list_rows(window)

    qtbot.waitUntil(check_rows)
    window.press("Open the chat")
    wait_for_card(window, qtbot)
    window.press("Don't remember")
    wait_for_end(window, qtbot)
    assert memories(assistant) == ()


def list_rows(window: WindowPage) -> list[str]:
    """Return the names of the chats in the sidebar, as a screen reader says them."""
    rows = visible_rows(window.sidebar.view.chats)
    return [str(row.data(Qt.ItemDataRole.AccessibleTextRole)) for row in rows]


def test_what_changed_meanwhile_is_asked_again(window, assistant, qtbot) -> None:
    window.composer.send("Remember it.")
    wait_for_card(window, qtbot)
    (first,) = window.chat.approvals()
    assistant.customization.memories.propose("My garden is in Ulm.").apply()
    window.press("Remember it")
    qtbot.waitUntil(
        lambda: any(card is not first and card.is_armed for card in window.chat.approvals()),
    )
    window.press("Remember it")
    wait_for_end(window, qtbot)
    assert memories(assistant) == ("My garden is in Ulm.", "Answer in German.")


def test_buttons_name_the_act_and_the_scope(window) -> None:
    card = window.chat.show_approval(
        "fetch_url",
        "Open https://example.org/a?b=1",
        scope="example.org",
        arguments={"url": "https://example.org/a?b=1"},
        warnings=("The address has a query.",),
    )
    assert card.title.text() == "Open a web page?"
    assert card.approve_all is not None
    assert [card.refuse.text(), card.approve.text(), card.approve_all.text()] == [
        "Don't open",
        "Open the page",
        "Open example.org in this chat",
    ]
    assert "https://example.org/a?b=1" in window.chat.texts_in(card)
    assert "The address has a query." in window.chat.texts_in(card)
    assert "The address is sent to example.org." in window.chat.texts_in(card)
    other = window.chat.show_approval("files__write", "Write.", arguments={"a": [1], "b": "c"})
    assert other.title.text() == "Use a tool of files?"
    assert other.approve_all is None
    assert '"a": [\n  1\n ]' in "\n".join(window.chat.texts_in(other))


def test_a_long_argument_keeps_the_buttons_in_sight(window, qtbot) -> None:
    card = window.chat.show_approval(
        "files__write", "Write.", arguments={"text": "line\n" * 200_000}
    )
    assert card.approve.isVisible()
    assert card.height() < window.chat.view.height()
    qtbot.waitUntil(lambda: card.is_armed)
    diff = "--- a.md\n+++ a.md\n@@ -1 +1,60 @@\n-old word\n+new word\n" + "+more\n" * 59
    change = window.chat.show_approval("edit_note", "Change a.md.", diff=diff)
    assert "more lines below · Show all" in " ".join(window.chat.texts_in(change))
    assert change.height() < window.chat.view.height()


LINES = [f"line {number}" for number in range(12)]
OLD = "\n".join(LINES)
NEW = OLD.replace("line 1\n", "LINE 1\n").replace("line 6", "LINE 6")


@pytest.fixture
def listed(window, server, tmp_path, qtbot) -> Path:
    """A note for which a change of two hunks is proposed."""
    file = tmp_path / "notes" / "List.md"
    file.write_text(OLD, "utf-8")
    server.script(calling("edit_note", path="List.md", old=OLD, new=NEW), Answer("Done."))
    window.composer.send("Shout.")
    wait_for_card(window, qtbot)
    return file


def test_a_hunk_is_switched_off_by_a_click_and_not_written(window, server, listed, qtbot) -> None:
    (card,) = window.chat.approvals()
    click_button(card, "Make change 2 of 2")
    assert "Change 2 of 2, left out" in window.chat.texts_in(card)
    window.press("Make 1 of 2 changes")
    wait_for_end(window, qtbot)
    assert listed.read_text("utf-8") == OLD.replace("line 1\n", "LINE 1\n")
    told = server.bodies[-1]["messages"][-1]["content"]
    assert "accepted 1 of 2 parts" in told
    assert "+LINE 6" in told
    window.press("Undo")
    qtbot.waitUntil(lambda: bool(window.chat.edits()[-1].state))
    assert listed.read_text("utf-8") == OLD


def test_hunks_are_switched_by_keys_and_at_least_one_is_needed(window, listed, qtbot) -> None:
    (card,) = window.chat.approvals()
    first, second = card.hunks.switches
    QTest.keyClick(card.refuse, Qt.Key.Key_Backtab, Qt.KeyboardModifier.ShiftModifier)
    assert window.view.focusWidget() is second
    QTest.keyClick(second, Qt.Key.Key_Space)
    QTest.keyClick(second, Qt.Key.Key_Backtab, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(first, Qt.Key.Key_Space)
    assert not card.approve.isEnabled()
    QTest.keyClick(first, Qt.Key.Key_Space)
    assert card.approve.text() == "Make 1 of 2 changes"
    QTest.keyClick(second, Qt.Key.Key_Space)
    assert card.approve.text() == "Change the note"
    window.press("Change the note")
    wait_for_end(window, qtbot)
    assert listed.read_text("utf-8") == NEW


def test_refusing_writes_no_hunk(window, listed, qtbot) -> None:
    window.press("Don't change")
    wait_for_end(window, qtbot)
    assert listed.read_text("utf-8") == OLD


def test_the_time_for_a_decision_is_no_part_of_a_duration(window, qtbot) -> None:
    begun_s = monotonic()
    window.composer.send("Remember it.")
    wait_for_card(window, qtbot)
    asked_s = monotonic()
    (answer,) = window.chat.answers()
    shown = {label.text() for label in answer.step.findChildren(QLabel)}
    qtbot.waitUntil(lambda: monotonic() - asked_s > 0.5)
    assert {label.text() for label in answer.step.findChildren(QLabel)} == shown
    decided_s = monotonic()
    window.press("Remember it")
    wait_for_end(window, qtbot)
    worked_s = monotonic() - begun_s - (decided_s - asked_s)
    assert answer.seconds <= worked_s + 0.001
    window.chat.reopen(window.chat.session)
    qtbot.waitUntil(lambda: bool(window.chat.answers()))
    assert window.chat.answers()[0].seconds <= worked_s + 0.001


def test_an_approved_call_no_longer_waits_for_the_user(
    window, assistant, qtbot, monkeypatch
) -> None:
    answer, held = ApprovalDesk.answer, []
    monkeypatch.setattr(ApprovalDesk, "answer", lambda *given: held.append(given))
    window.composer.send("Remember it.")
    wait_for_card(window, qtbot)
    assert window.chat.answers()[0].step.text == "Waiting for you"
    window.press("Remember it")
    assert window.chat.answers()[0].step.text != "Waiting for you"
    assert not any("waits for you" in row for row in list_rows(window))
    session = window.chat.session
    window.chat.new()
    window.chat.reopen(session)
    qtbot.waitUntil(lambda: len(window.chat.answers()) == 1)
    assert window.chat.answers()[0].step.text != "Waiting for you"
    answer(*held[0])
    wait_for_end(window, qtbot)
    assert memories(assistant) == ("Answer in German.",)
