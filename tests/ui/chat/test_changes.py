"""Notes that have changed since an answer cited them, as the chat shows them."""

from pathlib import Path

from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from chains.cancel import CancelToken
from chains.request.ask import Ask
from tests.support.models.model_server import Answer, ModelServer
from tests.support.window.window_pages import open_window
from ui.tasks import TaskRunner
from ui.widgets.diff import DiffView


def test_a_reopened_chat_shows_the_change_of_a_cited_note(
    assistant: Assistant, small_vault: Path, runner: TaskRunner, qtbot: QtBot
) -> None:
    assistant.open_vault(small_vault, remember=False)
    with ModelServer(Answer("The barrel holds 210 litres [1].")) as server:
        assistant.settings.set("chat.apiBase", server.url)
        assistant.settings.set("chat.model", "scripted")
        request = Ask("How much?", "vault", attach=("Watering.md",))
        list(assistant.ask(request, CancelToken()))
        note = small_vault / "Watering.md"
        note.write_text(note.read_text("utf-8").replace("210 litres", "300 litres"), "utf-8")
        (chat,) = assistant.list_sessions()
        window = open_window(assistant, runner, qtbot, mode="chat", is_begun=False)
        window.view.controllers.session.open(chat.session)
        (answer,) = window.chat.answers()
        sentence = "Watering.md has changed since this answer."
        assert answer.doubts is not None
        assert answer.doubts.sentences == (sentence,)
        (view,) = answer.findChildren(DiffView)
        assert "300 litres" in view.text.toPlainText()
