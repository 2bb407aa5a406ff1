"""The context panel in the window: what is pinned, previewed and counted reaches it."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.opening import FirstLook
from tests.support.model_server import Answer, ModelServer
from ui.chat.message.answer import Answer as AnswerView
from ui.chat.message.divider import FoldedDivider, SummaryDivider
from ui.chat.message.user import UserMessage
from ui.panels.context.rows import PinList
from ui.tasks import TaskRunner
from ui.window import MainWindow


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def window(
    assistant: Assistant, server: ModelServer, runner: TaskRunner, qtbot: QtBot
) -> MainWindow:
    """A window with one answered question, whose work is done at once."""
    assistant.settings.set("chat.apiBase", server.url)
    assistant.settings.set("chat.model", "scripted")
    window = MainWindow(FirstLook(assistant.paths.state, assistant.vault), runner)
    window.attach(assistant)
    qtbot.addWidget(window, before_close_func=lambda window: window.close())
    window._middle.show_chat(True)
    window.resize(1440, 900)
    window.show()
    window.begin()
    server.script(Answer("The barrel holds 210 litres. " * 300))
    window._composer.submitted.emit("How much does the barrel hold?")
    return window


def shown(window: MainWindow) -> list[str]:
    labels = window._column.context.findChildren(QLabel)
    return [label.text() for label in labels if not label.isHidden()]


def question(window: MainWindow) -> UserMessage:
    return window._transcript.findChild(UserMessage)


def pins(window: MainWindow) -> list[str]:
    rows = window._column.context.findChild(PinList).items
    return [rows.item(at).text() for at in range(rows.rowCount())]


def test_a_message_is_pinned_where_it_stands_and_listed_in_the_panel(
    window: MainWindow, qtbot: QtBot
) -> None:
    qtbot.mouseClick(question(window).tools.pin, Qt.MouseButton.LeftButton)
    assert question(window).tools.pin.accessibleName() == "Unpin message"
    window._presenter.contexts.show("next")
    assert pins(window) == ["“How much does the barrel hold?”"]


def test_a_pin_taken_off_in_the_panel_is_gone_from_the_message(
    window: MainWindow, qtbot: QtBot
) -> None:
    qtbot.mouseClick(question(window).tools.pin, Qt.MouseButton.LeftButton)
    window._presenter.contexts.show("next")
    rows = window._column.context.findChild(PinList)
    rows.setCurrentIndex(rows.model().index(0, 0))
    qtbot.keyClick(rows, Qt.Key.Key_P)
    assert pins(window) == []
    assert question(window).tools.pin.accessibleName() == "Pin message"


def test_a_pin_over_its_bound_is_refused_with_the_figures(window: MainWindow, qtbot: QtBot) -> None:
    window._assistant.settings.set("autoCompactThreshold", 4_000)
    answer = window._transcript.findChild(AnswerView)
    qtbot.mouseClick(answer.tools.pin, Qt.MouseButton.LeftButton)
    (told,) = window._notifier.texts()
    assert "a quarter of the budget is" in told
    assert answer.tools.pin.accessibleName() == "Pin answer"


def test_an_opened_chat_tells_what_the_service_counted_then(window: MainWindow) -> None:
    session = window._talk.session
    window._new_chat()
    window._open_chat(session)
    window._presenter.contexts.show("last")
    assert any("the service counted 100" in text for text in shown(window))


def test_passages_still_to_be_found_make_the_next_request_an_estimate(
    window: MainWindow,
) -> None:
    window._presenter.drafting.set_mode("chat")
    window._composer.set_text("And the second one?")
    window._presenter.contexts.refresh()
    used = window._column.context._used
    assert not used.text().startswith("≈")
    window._assistant.open_vault(window._assistant.paths.data, remember=False)
    window._presenter.drafting.set_mode("vault")
    window._presenter.contexts.refresh()
    assert used.text().startswith("≈")


def test_past_a_mark_the_limit_can_be_raised_from_the_panel(
    window: MainWindow, qtbot: QtBot
) -> None:
    window._assistant.settings.set("autoCompactThreshold", 4_000)
    window._composer.set_text("word " * 2_000)
    window._presenter.contexts.refresh()
    links = window._column.context.findChildren(QPushButton)
    (link,) = [link for link in links if link.text() == "Raise the limit"]
    with qtbot.waitSignal(window._presenter.settings_requested) as asked:
        qtbot.mouseClick(link, Qt.MouseButton.LeftButton)
    assert asked.args == ["Context"]


def test_compacting_from_the_panel_tells_what_it_came_to(
    window: MainWindow, server: ModelServer
) -> None:
    window._assistant.settings.set("chat.model", "extractive")
    window._composer.submitted.emit("And the second one?")
    window._presenter.contexts._on_action("compact", "")
    begun, ended = window._notifier.texts()
    assert begun == "Summarising older messages…"
    assert ended == "2 earlier messages became an outline, made without a model."
    assert window._presenter.contexts._shown["next"].context["compactions"]


def test_a_compaction_has_one_line_in_the_chat(window: MainWindow, server: ModelServer) -> None:
    window._assistant.settings.set("chat.model", "extractive")
    window._composer.submitted.emit("And the second one?")
    window._composer.submitted.emit("/compact")
    (line,) = window._transcript.findChildren(FoldedDivider)
    assert isinstance(line, SummaryDivider)


def test_a_summary_is_shown_at_the_end_of_the_chat(window: MainWindow) -> None:
    window._composer.submitted.emit("And the second one?")
    window._presenter.compacting.start()
    (compaction,) = window._presenter.contexts._shown["next"].context["compactions"]
    window._presenter.contexts._on_action("summary", compaction["entry"])
    assert window._transcript.feed.slots()[-1].kind == "aside"


def test_without_a_turn_before_the_last_there_is_nothing_to_compact(window: MainWindow) -> None:
    window._presenter.compacting.start()
    assert window._notifier.texts()[-1] == (
        "There is nothing to summarise before the last message."
    )


def test_a_chat_goes_on_from_before_a_compaction_as_one_of_its_own(window: MainWindow) -> None:
    window._composer.submitted.emit("And the second one?")
    first = window._talk.session
    window._presenter.compacting.start()
    (compaction,) = window._presenter.contexts._shown["next"].context["compactions"]
    window._presenter.contexts._on_action("before", compaction["entry"])
    assert window._talk.session not in {None, first}
    assert window._presenter.contexts._shown["next"].context["compactions"] == []
    assert list(window._talk.questions.values())[-1] == "And the second one?"
