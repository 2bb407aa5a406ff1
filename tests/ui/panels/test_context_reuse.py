"""What the context panel says is reused, with a scripted model behind the real client."""

import pytest
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.window.window_pages import WindowPage, open_window
from ui.panels.context.words import describe_reuse
from ui.tasks import TaskRunner

HEAD = "Reused from before"


@pytest.fixture
def window(scripted: Assistant, runner: TaskRunner, qtbot: QtBot) -> WindowPage:
    return open_window(scripted, runner, qtbot, mode="chat")


def is_reuse_shown(window: WindowPage) -> bool:
    (box,) = (b for b in window.context.view.findChildren(object) if _name(b) == HEAD)
    return box.isVisibleTo(window.context.view)


def _name(widget: object) -> str:
    return widget.accessibleName() if hasattr(widget, "accessibleName") else ""


def test_a_second_question_reuses_what_the_server_has_read(window: WindowPage) -> None:
    window.composer.send("How much does the barrel hold?")
    assert not is_reuse_shown(window)
    window.composer.send("And the second one?")
    assert is_reuse_shown(window)
    assert "The rest is new." in window.context.texts()


def test_nothing_is_reused_after_a_change_of_the_model(window: WindowPage) -> None:
    window.composer.send("How much does the barrel hold?")
    window.composer.choose_model("another")
    window.composer.send("And the second one?")
    assert not is_reuse_shown(window)


def test_nothing_is_reused_where_the_server_gave_no_answer(
    window: WindowPage, server: ModelServer
) -> None:
    server.script(Failure.saying(400, "no such model"), Answer("210 litres."))
    window.composer.send("How much does the barrel hold?")
    window.composer.send("And the second one?")
    assert not is_reuse_shown(window)


def test_nothing_is_reused_where_no_model_is_called(window: WindowPage) -> None:
    window.assistant.settings.set("chat.model", "extractive")
    window.composer.send("How much does the barrel hold?")
    window.composer.send("And the second one?")
    assert not is_reuse_shown(window)


@pytest.mark.parametrize(
    ("reused", "used", "said"), [(0, 90, ""), (40, 90, "The rest is new."), (90, 90, "")]
)
def test_a_rest_is_named_only_where_there_is_one(reused: int, used: int, said: str) -> None:
    assert describe_reuse(reused, used, ()) == said
