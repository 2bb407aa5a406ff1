"""The window asks before a call passes a spending limit, and shows what was spent."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.spending import LimitQuestion
from chains.errors import SpendingLimitReached
from tests.conftest import write_notes
from tests.support.models.model_server import Answer, ModelServer
from tests.support.models.priced_models import charge_for_calls
from tests.support.window.clicks import click_button, click_row
from tests.support.window.settings_dialog import open_settings
from tests.support.window.window_pages import WindowPage, open_window
from ui.controllers.agent.spending import LimitDialog
from ui.tasks import TaskRunner

TINY = 0.000001


@pytest.fixture
def priced(
    assistant: Assistant, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> ModelServer:
    charge_for_calls(monkeypatch)
    server.script(Answer("The barrel holds 210 litres."))
    assistant.settings.set("chat.apiBase", server.url)
    assistant.settings.set("chat.model", "gpt-4o")
    assistant.settings.set("spending.dayLimit", TINY)
    return server


@pytest.fixture
def window(assistant: Assistant, priced: ModelServer, qtbot: QtBot, tmp_path: Path) -> WindowPage:
    assistant.open_vault(write_notes(tmp_path / "notes"), remember=False)
    page = open_window(assistant, None, qtbot, mode="chat")
    page.activate(1200, 800, qtbot)
    page.composer.send("How many litres does the barrel hold?")
    return page


def wait_for_dialog(qtbot: QtBot) -> LimitDialog:
    qtbot.waitUntil(lambda: isinstance(QApplication.activeModalWidget(), LimitDialog))
    found = QApplication.activeModalWidget()
    assert isinstance(found, LimitDialog)
    return found


def is_answered(window: WindowPage) -> bool:
    return bool(window.chat.answers()) and not window.chat.is_running


def test_a_call_beyond_the_limit_is_sent_once_when_the_user_says_so(
    window: WindowPage, priced: ModelServer, assistant: Assistant, qtbot: QtBot
) -> None:
    dialog = wait_for_dialog(qtbot)
    assert priced.bodies == []
    (text,) = (one.text() for one in dialog.findChildren(QLabel) if "may cost" in one.text())
    assert "were spent today, so it may pass your limit." in text
    click_button(dialog, "Send once")
    qtbot.waitUntil(lambda: is_answered(window))
    assert (len(priced.bodies), assistant.settings.get("spending.dayLimit")) == (1, TINY)


def test_escape_sends_nothing_and_the_error_leads_to_the_limits(
    window: WindowPage, priced: ModelServer, qtbot: QtBot
) -> None:
    QTest.keyClick(wait_for_dialog(qtbot), Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: bool(window.chat.failures()))
    assert priced.bodies == []
    (failure,) = window.chat.failures()
    assert "It was not sent, and your message is kept." in failure.detail.text()
    assert failure.buttons[0].text() == "Change the limit"
    click_button(failure, "Try again")
    click_button(wait_for_dialog(qtbot), "Send once")
    qtbot.waitUntil(lambda: is_answered(window))


def test_raising_the_limit_sends_the_call_and_keeps_the_limit(
    window: WindowPage, priced: ModelServer, assistant: Assistant, qtbot: QtBot
) -> None:
    click_button(wait_for_dialog(qtbot), "Raise to $0.0500")
    qtbot.waitUntil(lambda: is_answered(window))
    assert assistant.settings.get("spending.dayLimit") == 0.05
    assert len(priced.bodies) == 1


def test_no_amount_is_offered_that_the_setting_refuses(qtbot: QtBot) -> None:
    passed = SpendingLimitReached("m", period="day", most=1, spent=100_000, limit=100_000)
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = LimitDialog(parent, LimitQuestion(passed))
    assert [one.text() for one in dialog.findChildren(QPushButton)] == ["Stop", "Send once"]
    dialog.reject()


def test_the_settings_show_what_was_spent(
    assistant: Assistant, runner: TaskRunner, qtbot: QtBot
) -> None:
    assistant.settings.set("spending.dayLimit", 5.0)
    with open_settings(assistant, runner, qtbot) as dialog:
        click_row(dialog.pages, "Spending")
        assert dialog.spending.state.text() == (
            "Today: $0.00 of $5.00, in 0 calls. This month: $0.00, in 0 calls. No limit is set."
        )
