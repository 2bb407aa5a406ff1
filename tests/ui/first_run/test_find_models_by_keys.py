"""*Find its models* by keys: the focus after a success, after a refusal, after a closed port."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.config.models import FoundServer
from tests.support.models.model_server import ModelServer
from tests.support.window.first_run_page import FirstRunPage
from tests.support.window.window_pages import open_window
from ui.first_run.connection import ConnectionForm
from ui.tasks import TaskRunner

ENTER, SPACE, TAB = Qt.Key.Key_Return, Qt.Key.Key_Space, Qt.Key.Key_Tab
ONE, TWO = [{"id": "small"}], [{"id": "small"}, {"id": "big"}]


@pytest.fixture
def form(assistant: Assistant, runner: TaskRunner, qtbot: QtBot) -> Iterator[ConnectionForm]:
    """The form for another server, with the focus in its empty address."""
    window = open_window(assistant, runner, qtbot)
    window.view.offer_first_run()
    page = FirstRunPage(window.view)
    page.press("Skip")
    page.press("A service with a key, or another server")
    page.choose("Service: Anthropic", "Another server")
    page.view.activateWindow()
    qtbot.waitUntil(page.view.isActiveWindow)
    form = page.view.model.form
    assert QApplication.focusWidget() is form.address
    yield form
    window.view.close()


def focus() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


def press(*keys: Qt.Key) -> None:
    for key in keys:
        QTest.keyClick(focus(), key)


def type_text(text: str) -> None:
    QTest.keyClicks(focus(), text)


def find_by_tabs(form: ConnectionForm, key: Qt.Key = SPACE) -> None:
    """Go to the button by Tab, and press it."""
    for _ in range(6):
        if focus() is form.look:
            break
        press(TAB)
    assert focus() is form.look
    press(key)


@pytest.mark.parametrize("key", [SPACE, ENTER])
@pytest.mark.parametrize(("models", "then"), [(ONE, "test"), (TWO, "models")])
def test_after_a_success_the_focus_is_at_the_next_step(
    form: ConnectionForm, key: Qt.Key, models: list[dict[str, str]], then: str
) -> None:
    with ModelServer(models=models) as server:
        type_text(server.root)
        find_by_tabs(form, key)
        assert form.model.text() == "small"
        assert focus() is getattr(form, then)
        assert focus().isEnabled()


def test_enter_in_the_address_does_the_same(form: ConnectionForm) -> None:
    with ModelServer(models=ONE) as server:
        type_text(server.root)
        press(ENTER)
        assert focus() is form.test


def test_after_a_refusal_the_key_is_typed_at_once(form: ConnectionForm) -> None:
    with ModelServer(key="right", models=ONE) as server:
        type_text(server.root)
        find_by_tabs(form)
        assert focus() is form.key
        type_text("wrong")
        press(ENTER)
        assert "refused the key" in form.state.text()
        assert focus() is form.key
        form.key.selectAll()
        type_text("right")
        press(ENTER)
        assert form.model.text() == "small"
        assert focus() is form.test


def test_after_a_closed_port_the_same_key_asks_again(form: ConnectionForm) -> None:
    with ModelServer(models=ONE) as server:
        address = server.root
    type_text(address)
    find_by_tabs(form)
    assert "does not answer" in form.state.text()
    assert focus() is form.look
    press(ENTER)
    assert "does not answer" in form.state.text()
    assert focus() is form.look


def test_after_an_address_that_is_none_the_address_is_corrected(form: ConnectionForm) -> None:
    type_text("http://[half")
    find_by_tabs(form)
    assert form.state.text()
    assert focus() is form.address


def test_a_model_that_was_typed_stays_and_the_button_still_asks(form: ConnectionForm) -> None:
    with ModelServer(models=TWO) as server:
        type_text(server.root)
        press(TAB, TAB)
        type_text("mine")
        find_by_tabs(form, ENTER)
        assert form.model.text() == "mine"
        assert server.received
        assert focus() is form.models


def test_who_went_elsewhere_meanwhile_stays_there(
    form: ConnectionForm, assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = assistant.model_setup
    find = setup.find_server

    def find_slowly(address: str, key: str) -> FoundServer:
        form.key.setFocus()  # as the user does while the server takes its time
        return find(address, key)

    monkeypatch.setattr(setup, "find_server", find_slowly)
    with ModelServer(models=ONE) as server:
        type_text(server.root)
        find_by_tabs(form)
        assert form.model.text() == "small"
        assert focus() is form.key
