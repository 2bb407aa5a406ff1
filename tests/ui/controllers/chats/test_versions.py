"""Two versions of an answer side by side, and an answer by another model."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.window import widgets
from tests.support.window.clicks import button_named, choose, click_button
from tests.support.window.window_pages import WindowPage, find, open_window
from ui.chat.versions import VersionColumn, VersionsDialog
from ui.tasks import TaskRunner
from ui.theme import Mode, Theme

COMPARE = "Compare with another model's answer"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(models=[{"id": "small"}, {"id": "large"}]) as server:
        yield server


@pytest.fixture
def window(
    assistant: Assistant, server: ModelServer, runner: TaskRunner, qtbot: QtBot
) -> WindowPage:
    assistant.settings.set("chat.apiBase", server.url)
    assistant.settings.set("chat.model", "openai/small")
    window = open_window(assistant, runner, qtbot)
    server.script(Answer("Two barrels."))
    window.composer.send("How many barrels?")
    return window


def open_dialog(window: WindowPage, qtbot: QtBot | None = None) -> VersionsDialog:
    click_button(window.chat.answers()[-1], COMPARE)
    if qtbot is not None:
        qtbot.waitUntil(lambda: window.view.findChild(VersionsDialog) is not None)
        qtbot.waitUntil(find(window.view, VersionsDialog).isVisible)
    dialog = find(window.view, VersionsDialog)
    assert dialog.isVisible()
    return dialog


def items(dialog: VersionsDialog) -> list[str]:
    menu = dialog.menu.menu()
    assert isinstance(menu, QMenu)
    return [action.text().partition("\t")[0] for action in menu.actions()]


def answer_with(dialog: VersionsDialog, name: str) -> None:
    """Choose a model from the dialog's menu."""
    menu = dialog.menu.menu()
    assert isinstance(menu, QMenu)
    (text,) = (a.text() for a in menu.actions() if a.text().startswith(f"Answer with {name}"))
    choose(lambda: click_button(dialog, dialog.menu.accessibleName()), text)
    QApplication.processEvents()


def shown(dialog: VersionsDialog) -> list[str]:
    return [column.answer.text if column.answer else "" for column in (dialog.left, dialog.right)]


def read_labels(column: VersionColumn) -> list[str]:
    return [label.accessibleName() or label.text() for label in column.findChildren(QLabel)]


def test_another_model_answers_beside_the_first_and_the_kept_one_is_in_the_chat(
    window: WindowPage, server: ModelServer
) -> None:
    dialog = open_dialog(window)
    assert shown(dialog) == ["Two barrels.", ""]
    assert not dialog.right.keep.isEnabled()
    server.script(Answer("Three barrels."))
    asked = []
    window.view.controllers.session.turn_begun.connect(lambda _: asked.append(dialog.menu.text()))
    answer_with(dialog, "large")
    assert [word.removeprefix("Answer with ") for word in asked] == ["large"]
    assert server.bodies[-1]["model"] == "large"
    assert shown(dialog) == ["Two barrels.", "Three barrels."]
    click_button(dialog.left, "Keep this answer")
    assert not dialog.isVisible()
    (answer,) = window.chat.answers()
    assert (answer.text, answer.tools.siblings.text) == ("Two barrels.", "1/2")
    server.script(Answer("By the model of the chat."))
    window.composer.send("And now?")
    assert server.bodies[-1]["model"] == "small"


def test_both_versions_are_numbered_as_soon_as_there_are_two(
    window: WindowPage, server: ModelServer
) -> None:
    dialog = open_dialog(window)
    assert "openai/small" in read_labels(dialog.left)
    server.script(Answer("Three barrels."))
    answer_with(dialog, "large")
    assert "Version 1 · openai/small" in read_labels(dialog.left)
    assert dialog.menu.text().startswith("Version 2 ")


def test_the_other_answer_is_kept(window: WindowPage, server: ModelServer) -> None:
    dialog = open_dialog(window)
    server.script(Answer("Three barrels."))
    answer_with(dialog, "large")
    click_button(dialog.right, "Keep this answer")
    (answer,) = window.chat.answers()
    assert (answer.text, answer.tools.siblings.text) == ("Three barrels.", "2/2")


def test_versions_that_exist_are_compared_without_a_call(
    window: WindowPage, server: ModelServer
) -> None:
    server.script(Answer("Three barrels."))
    window.press("Answer again")
    calls = len(server.bodies)
    dialog = open_dialog(window)
    assert shown(dialog) == ["Three barrels.", "Two barrels."]
    assert items(dialog)[0].startswith("Version 1 · ")
    assert any(label.text().startswith("Version 2 · ") for label in dialog.findChildren(QLabel))
    click_button(dialog.right, "Keep this answer")
    assert window.chat.answers()[0].text == "Two barrels."
    assert len(server.bodies) == calls


def test_a_failure_is_told_in_the_dialog_and_escape_changes_nothing(
    window: WindowPage, server: ModelServer
) -> None:
    dialog = open_dialog(window)
    server.script(Failure.saying(400, "no such model"))
    answer_with(dialog, "large")
    assert "no such model" in dialog.right.say.text()
    assert not dialog.right.keep.isEnabled()
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_the_command_opens_the_dialog_for_the_last_answer(window: WindowPage) -> None:
    window.run("compare")
    dialog = find(window.view, VersionsDialog)
    assert shown(dialog) == ["Two barrels.", ""]
    for _ in range(3):
        QApplication.processEvents()
    assert widgets.find_faults(dialog) == []
    assert widgets.overlapping_siblings(dialog) == []
    assert widgets.unnamed(dialog) == []
    assert button_named(dialog.left, "Keep this answer").isEnabled()


@pytest.mark.parametrize(("width", "scale"), [(1280, 1.0), (900, 1.0), (900, 1.5), (720, 2.0)])
def test_the_dialog_fits_the_window(
    window: WindowPage, server: ModelServer, width: int, scale: float
) -> None:
    window.view.set_scale(scale)
    window.view.resize(width, 700)
    server.script(Answer("A barrel for each of the beds, and one for the greenhouse. " * 40))
    window.press("Answer again")
    dialog = open_dialog(window)
    for _ in range(3):
        QApplication.processEvents()
    assert dialog.width() <= window.view.width()
    assert dialog.height() <= window.view.height()
    assert widgets.find_faults(dialog) == []
    assert widgets.overlapping_siblings(dialog) == []
    for wide in (1280, width):
        window.view.resize(wide, 700)
        for _ in range(3):
            QApplication.processEvents()
        assert dialog.width() <= wide
    for column in (dialog.left, dialog.right):
        keep = widgets.rect_in(dialog, column.keep)
        assert dialog.rect().contains(keep)
        assert column.width() >= 400 * scale or column.width() >= dialog.width() - 2
    click_button(dialog.right, "Keep this answer")
    assert window.chat.answers()[0].text == "Two barrels."


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_title_stands_on_the_ground_of_the_answers(window: WindowPage, mode: Mode) -> None:
    Theme.current().apply(mode)
    dialog = open_dialog(window)
    image = dialog.grab().toImage()
    title, page = image.pixelColor(4, 4), image.pixelColor(4, image.height() // 2)
    assert title.name() == page.name()


def compare_while_arriving(window: WindowPage, server: ModelServer, qtbot: QtBot) -> VersionsDialog:
    """Ask, and open the comparison in which the answer of another model is still arriving."""
    server.script(Answer("Two barrels."))
    window.composer.send("How many barrels?")
    qtbot.waitUntil(lambda: bool(window.view.transcript.last_answer_entry))
    dialog = open_dialog(window, qtbot)
    qtbot.waitUntil(lambda: any("large" in item for item in items(dialog)))
    server.script(Answer("Three barrels, at least.", stall_after=2))
    answer_with(dialog, "large")
    qtbot.waitUntil(lambda: shown(dialog)[1].startswith("Three"))
    return dialog


def test_an_answer_is_kept_while_the_other_one_still_arrives(
    assistant: Assistant, server: ModelServer, qtbot: QtBot
) -> None:
    assistant.settings.set("chat.apiBase", server.url)
    assistant.settings.set("chat.model", "openai/small")
    window = open_window(assistant, None, qtbot, mode="chat")
    dialog = compare_while_arriving(window, server, qtbot)
    click_button(dialog.left, "Keep this answer")
    qtbot.waitUntil(lambda: not window.chat.is_running)
    qtbot.waitUntil(lambda: read_answers(window) == [("Two barrels.", "1/2")])


def test_a_version_that_broke_off_says_so_and_offers_nothing_that_does_nothing(
    window: WindowPage, server: ModelServer
) -> None:
    dialog = open_dialog(window)
    server.script(Answer("Three barrels and a half.", chunk_chars=6, break_after=3))
    answer_with(dialog, "large")
    shown_on_right = [
        label.text() for label in dialog.right.findChildren(QLabel) if label.isVisible()
    ]
    assert any("broke off" in text for text in shown_on_right), shown_on_right
    buttons = [b.text() for b in dialog.right.findChildren(QPushButton) if b.isVisible()]
    assert buttons == ["Keep this answer"]


def test_the_menu_has_the_focus_when_its_choices_arrive(
    assistant: Assistant, server: ModelServer, qtbot: QtBot
) -> None:
    assistant.settings.set("chat.apiBase", server.url)
    assistant.settings.set("chat.model", "openai/small")
    window = open_window(assistant, None, qtbot, mode="chat")
    server.script(Answer("Two barrels."))
    window.composer.send("How many barrels?")
    qtbot.waitUntil(lambda: bool(window.view.transcript.last_answer_entry))
    dialog = open_dialog(window, qtbot)
    qtbot.waitUntil(dialog.isActiveWindow)
    qtbot.waitUntil(lambda: dialog.menu.isEnabled() and dialog.menu.hasFocus())


def test_nothing_is_said_when_the_other_answer_ends_in_a_chat_that_is_not_open(
    window: WindowPage, server: ModelServer
) -> None:
    dialog = open_dialog(window)
    session = window.view.controllers.session
    session.turn_begun.connect(lambda _turn: (dialog.reject(), window.chat.new()))
    server.script(Answer("Three barrels."))
    answer_with(dialog, "large")
    assert window.toasts() == []


def test_an_answer_is_kept_in_its_chat_when_another_chat_is_opened_meanwhile(
    assistant: Assistant, server: ModelServer, qtbot: QtBot
) -> None:
    assistant.settings.set("chat.apiBase", server.url)
    assistant.settings.set("chat.model", "openai/small")
    window = open_window(assistant, None, qtbot, mode="chat")
    dialog = compare_while_arriving(window, server, qtbot)
    session = window.chat.session
    controller = window.view.controllers.session
    with qtbot.waitSignal(controller.turn_ended):
        click_button(dialog.left, "Keep this answer")
        window.view.open_session(None)
        assert window.chat.is_running is False
    window.chat.reopen(session)
    qtbot.waitUntil(lambda: not window.chat.is_running)
    qtbot.waitUntil(lambda: read_answers(window) == [("Two barrels.", "1/2")])
    assert window.toasts() == []


def read_answers(window: WindowPage) -> list[tuple[str, str]]:
    """Return the text of each answer in the chat, with the number of its version."""
    return [(answer.text, answer.tools.siblings.text) for answer in window.chat.answers()]


def test_without_an_answer_it_is_said(
    assistant: Assistant, runner: TaskRunner, qtbot: QtBot
) -> None:
    window = open_window(assistant, runner, qtbot)
    window.run("compare")
    assert window.toasts() == ["There is no answer in this chat yet."]


@pytest.mark.parametrize("way", ["again", "edit"])
def test_a_new_version_in_the_middle_says_that_later_questions_stay_with_the_other(
    window: WindowPage, server: ModelServer, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    announced: list[str] = []
    monkeypatch.setattr("ui.notify.announce", lambda _place, text: announced.append(text))
    for question in ("And of oak?", "And now?"):
        server.script(Answer(question))
        window.composer.send(question)
    before = [message.text for message in window.chat.user_messages()]
    server.script(Answer("Three barrels."))
    if way == "again":
        click_button(window.chat.answers()[0], "Answer again")
    else:
        window.chat.edit(window.chat.user_messages()[0], "How many barrels are there?")
    assert len(window.chat.user_messages()) == 1
    said = "2 later questions stayed with the version before."
    assert announced == [said, said]  # at once, and when the version is complete
    assert window.toasts() == [said]
    window.press("Show them")
    assert [message.text for message in window.chat.user_messages()] == before
    server.script(Answer("Later."))
    click_button(window.chat.answers()[-1], "Answer again")
    assert not any("stayed with" in said for said in window.toasts())
