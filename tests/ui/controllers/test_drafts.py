"""What is written, attached, commanded and changed, through the window and the real assistant."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.opening import FirstLook
from tests.support.model_server import Answer, Failure, ModelServer
from ui.chat.composer.attachment import Attachment
from ui.chat.composer.chips import ChipState
from ui.chat.message.action import Wish
from ui.chat.message.answer import Answer as AnswerWidget
from ui.chat.message.aside import Aside
from ui.chat.message.failure import Failure as FailureCard
from ui.chat.message.user import UserMessage
from ui.controllers.notes import Listing
from ui.controllers.offers import offers_of
from ui.panels.notes.folders import Folders
from ui.tasks import TaskRunner
from ui.window import MainWindow
from vault.index import NoteState

WATERING = Attachment("Watering.md")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def talking(assistant: Assistant, server: ModelServer, small_vault: Path) -> Assistant:
    """The assistant with notes that are open but not indexed, and a model that is scripted."""
    assistant.settings.set("chat.apiBase", server.url)
    assistant.settings.set("chat.model", "scripted")
    assistant.open_vault(small_vault, remember=False)
    return assistant


def open_window(assistant: Assistant, runner: TaskRunner | None, qtbot: QtBot) -> MainWindow:
    window = MainWindow(FirstLook(assistant.paths.state, assistant.vault), runner)
    window.attach(assistant)
    qtbot.addWidget(window, before_close_func=lambda window: window.close())
    window._talk.mode = "chat"  # nothing is searched, so no index has to be made
    window._composer.set_mode("chat")
    window.resize(1440, 900)
    window.show()
    window._presenter.drafting.open(window._talk.session)
    return window


@pytest.fixture
def window(talking: Assistant, runner: TaskRunner, qtbot: QtBot) -> MainWindow:
    return open_window(talking, runner, qtbot)


def ask(window: MainWindow, text: str) -> None:
    window._composer.set_text(text)
    window._composer.submitted.emit(text)


def shown(window: MainWindow, kind: type) -> list:
    rows = window._transcript.feed.rows
    return [row.widget for row in rows if isinstance(row.widget, kind)]


def chips(window: MainWindow) -> dict[str, ChipState]:
    return {chip.attachment.target: chip.state for chip in window._composer.chips.chips()}


def press(window: MainWindow, words: str) -> None:
    next(b for b in window.findChildren(QPushButton) if b.text() == words).click()


def said_to_the_model(server: ModelServer, at: int = -1) -> str:
    return str(server.bodies[at]["messages"])


def test_a_chip_has_the_tokens_that_the_panel_counts(window: MainWindow) -> None:
    window._presenter.drafting.attach([WATERING])
    preview = window._assistant.preview(None, "", "chat", attach=["Watering.md"])
    (segment,) = [part for part in preview["segments"] if part["source"] == "Watering.md"]
    assert chips(window)["Watering.md"] == ChipState(tokens=segment["tokens"])
    assert window._composer.meter.fraction == preview["fraction"]


def test_what_is_attached_is_sent_and_shown_with_the_question(
    window: MainWindow, server: ModelServer
) -> None:
    lines = Attachment("garden/Tomatoes.md", (3, 4))
    window._presenter.drafting.attach([WATERING, lines])
    ask(window, "How much does the barrel hold?")
    assert "The barrel behind the shed" in said_to_the_model(server)
    assert "| Variety | Sown | Harvest |" in said_to_the_model(server)
    assert chips(window) == {}
    (message,) = shown(window, UserMessage)
    assert message.attached == (WATERING, lines)


def test_what_a_chat_was_sent_is_shown_again_when_it_is_opened(window: MainWindow) -> None:
    window._presenter.drafting.attach([WATERING])
    ask(window, "How much does the barrel hold?")
    session = window._talk.session
    window._new_chat()
    window._open_chat(session)
    (message,) = shown(window, UserMessage)
    assert message.attached == (WATERING,)


def test_what_may_not_be_sent_says_so_and_holds_the_message_back(
    window: MainWindow, server: ModelServer, small_vault: Path
) -> None:
    (small_vault / "Secret.md").write_text("---\nprivate: true\n---\nNobody reads this.\n")
    window._presenter.drafting.attach([Attachment("Secret.md"), WATERING])
    assert "not given to a model" in chips(window)["Secret.md"].problem
    assert chips(window)["Watering.md"].tokens
    window._composer.set_text("What is in it?")
    window._composer.send.click()
    assert server.bodies == []
    assert "Nothing was sent." in window._composer.error()
    press(window, "Remove Secret.md")
    window._composer.send.click()
    assert "Nobody reads this" not in said_to_the_model(server)


def test_what_is_too_large_says_how_much_of_it_goes(window: MainWindow, small_vault: Path) -> None:
    window._assistant.settings.set("autoCompactThreshold", 4_000)
    (small_vault / "Log.md").write_text("A line of the log that says nothing new.\n" * 2_000)
    window._presenter.drafting.attach([Attachment("Log.md")])
    state = chips(window)["Log.md"]
    assert state.sent is not None
    assert state.tokens is not None
    assert state.sent < state.tokens
    assert state.is_amber is False
    assert state.figures == "2,000 lines, searched within"


def test_a_folder_is_one_chip_with_its_notes(window: MainWindow) -> None:
    window._presenter.drafting.attach([Attachment("garden/")])
    assert chips(window)["garden/"].notes == 2


def test_nothing_is_attached_twice(window: MainWindow) -> None:
    for _ in range(2):
        window._presenter.drafting.attach([WATERING])
    assert list(chips(window)) == ["Watering.md"]


def test_a_draft_stays_with_its_chat(window: MainWindow) -> None:
    ask(window, "The first question?")
    first = window._talk.session
    window._composer.set_text("Half a thought")
    window._presenter.drafting.attach([WATERING])
    window._new_chat()
    assert (window._composer.text(), chips(window)) == ("", {})
    window._composer.set_text("Another thought")
    window._open_chat(first)
    assert window._composer.text() == "Half a thought"
    assert list(chips(window)) == ["Watering.md"]
    window._new_chat()
    assert window._composer.text() == "Another thought"


def test_drafts_come_back_after_the_window_was_closed(
    window: MainWindow, runner: TaskRunner, qtbot: QtBot
) -> None:
    window._composer.set_text("Half a thought")
    window._presenter.drafting.attach([WATERING, Attachment("garden/Tomatoes.md", (3, 4))])
    window.close()
    again = open_window(window._assistant, runner, qtbot)
    assert again._composer.text() == "Half a thought"
    assert list(chips(again)) == ["Watering.md", "garden/Tomatoes.md"]


def test_what_was_not_sent_comes_back_with_its_attachments(
    window: MainWindow, server: ModelServer
) -> None:
    window._assistant.settings.set("autoCompactThreshold", 4_000)
    window._presenter.drafting.attach([WATERING])
    ask(window, "word " * 40_000)
    assert server.bodies == []
    assert window._composer.text().strip() == ("word " * 40_000).strip()
    assert list(chips(window)) == ["Watering.md"]
    assert "are free for it. Nothing was sent." in window._composer.error()


def test_a_question_that_is_stored_does_not_come_back(
    window: MainWindow, server: ModelServer
) -> None:
    server.script(Failure.saying(401, "no such key"))
    ask(window, "How much does the barrel hold?")
    assert window._composer.text() == ""
    assert len(shown(window, FailureCard)) == 1
    server.script(Answer("210 litres.", usage=None))
    next(b for b in shown(window, FailureCard)[0].buttons if b.text() == "Try again").click()
    assert [a.text for a in shown(window, AnswerWidget)] == ["210 litres."]
    assert len(shown(window, UserMessage)) == 1


def test_a_command_is_not_sent_and_what_it_shows_is_not_stored(
    window: MainWindow, server: ModelServer
) -> None:
    ask(window, "/context")
    (aside,) = shown(window, Aside)
    assert "Context Usage" in aside.view.toPlainText()
    assert window._composer.text() == ""
    assert server.bodies == []
    assert window._assistant.list_sessions() == []


def test_a_command_that_does_not_exist_is_named_and_can_be_sent_as_text(
    window: MainWindow, server: ModelServer
) -> None:
    ask(window, "/home")
    assert window._composer.error() == "There is no command /home. /help lists the commands."
    assert window._composer.text() == "/home"
    assert server.bodies == []
    press(window, "Send as text")
    assert "/home" in said_to_the_model(server)


@pytest.mark.parametrize("text", ["/home/me is full", "// why is this here?"])
def test_a_path_and_a_comment_are_sent(window: MainWindow, server: ModelServer, text: str) -> None:
    ask(window, text)
    assert text in said_to_the_model(server)


def test_the_command_new_begins_a_chat(window: MainWindow) -> None:
    ask(window, "One?")
    ask(window, "/new")
    assert window._talk.session is None
    assert window._composer.text() == ""


def test_the_command_compact_sums_the_chat_up(window: MainWindow, server: ModelServer) -> None:
    server.script(Answer("The barrel stands behind the shed. " * 30, usage=None))
    for number in range(3):
        ask(window, f"Question {number}?")
    server.script(Answer("Barrel: behind the shed.", usage=None))
    ask(window, "/compact keep the barrel")
    assert "keep the barrel" in said_to_the_model(server)
    assert window._composer.text() == ""
    ask(window, "And now?")
    assert "Barrel: behind the shed." in str(server.bodies[-1]["messages"])


def test_compacting_asks_the_model_that_is_set_and_nobody_else(
    window: MainWindow, server: ModelServer, assistant: Assistant
) -> None:
    server.script(Answer("The barrel stands behind the shed. " * 30, usage=None))
    for number in range(3):
        ask(window, f"Question {number}?")
    assistant.settings.set("chat.model", "extractive")
    before = len(server.received)
    ask(window, "/compact")
    assert len(server.received) == before
    ask(window, "And now?")
    server.script(Answer("Barrel: behind the shed.", usage=None))
    window._composer.model_changed.emit("gpt-4o")
    ask(window, "/compact")
    assert "Write down what has to be remembered" in said_to_the_model(server)


def test_other_words_stand_beside_the_first_ones(window: MainWindow, server: ModelServer) -> None:
    server.script(Answer("In the shed.", usage=None), Answer("Behind it.", usage=None))
    ask(window, "Where is the barrel?")
    (message,) = shown(window, UserMessage)
    window._presenter._on_wished(Wish("edit", message.entry, "Where exactly is it?"))
    (message,) = shown(window, UserMessage)
    assert message.text == "Where exactly is it?"
    assert message.tools.siblings.text == "2/2"
    assert [a.text for a in shown(window, AnswerWidget)] == ["Behind it."]
    message.tools.siblings.previous.click()
    assert [m.text for m in shown(window, UserMessage)] == ["Where is the barrel?"]
    assert [a.text for a in shown(window, AnswerWidget)] == ["In the shed."]


def test_a_summary_of_a_long_version_that_is_left_is_offered(
    window: MainWindow, server: ModelServer
) -> None:
    for text in ("Where is the barrel?", "And the hose?", "And the wagon?"):
        ask(window, text)
    first = shown(window, UserMessage)[0]
    window._presenter._on_wished(Wish("edit", first.entry, "Where is the plough?"))
    (message,) = shown(window, UserMessage)
    message.tools.siblings.previous.click()
    assert len(shown(window, UserMessage)) == 3
    shown(window, UserMessage)[0].tools.siblings.following.click()
    server.script(Answer("All of it is in the shed.", usage=None))
    press(window, "Summarise them")
    assert "And the wagon?" in str(server.bodies[-1]["messages"])
    (aside,) = shown(window, Aside)
    assert "All of it is in the shed." in aside.view.toPlainText()


def test_a_second_answer_stands_beside_the_first(window: MainWindow, server: ModelServer) -> None:
    server.script(Answer("In the shed.", usage=None), Answer("Behind it.", usage=None))
    ask(window, "Where is the barrel?")
    window._actions["answer_again"].trigger()
    (answer,) = shown(window, AnswerWidget)
    assert (answer.text, answer.tools.siblings.text) == ("Behind it.", "2/2")
    answer.tools.siblings.previous.click()
    (answer,) = shown(window, AnswerWidget)
    assert (answer.text, answer.tools.siblings.text) == ("In the shed.", "1/2")
    assert len(window._assistant.list_sessions()) == 1


def test_what_was_attached_goes_along_with_other_words(
    window: MainWindow, server: ModelServer
) -> None:
    window._presenter.drafting.attach([WATERING])
    ask(window, "How much does it hold?")
    (message,) = shown(window, UserMessage)
    window._presenter._on_wished(Wish("edit", message.entry, "How many litres?"))
    assert "The barrel behind the shed" in said_to_the_model(server)
    (message,) = shown(window, UserMessage)
    assert message.attached == (WATERING,)


def test_other_words_that_do_not_fit_are_still_there(
    window: MainWindow, server: ModelServer
) -> None:
    window._assistant.settings.set("autoCompactThreshold", 4_000)
    ask(window, "Where is the barrel?")
    (message,) = shown(window, UserMessage)
    window._presenter._on_wished(Wish("edit", message.entry, "word " * 40_000))
    (message,) = shown(window, UserMessage)
    assert message.text == "Where is the barrel?"
    assert message.editor is not None
    assert message.editor.text.startswith("word word")
    assert len(server.bodies) == 1


def test_a_chat_is_continued_apart_from_any_message(window: MainWindow) -> None:
    ask(window, "One?")
    ask(window, "Two?")
    first = window._talk.session
    answer = shown(window, AnswerWidget)[0]
    answer.tools.branch.click()
    assert window._talk.session not in {None, first}
    assert [m.text for m in shown(window, UserMessage)] == ["One?"]
    window._open_chat(first)
    assert [m.text for m in shown(window, UserMessage)] == ["One?", "Two?"]


def test_a_name_is_shown_and_kept(window: MainWindow) -> None:
    ask(window, "One?")
    (answer,) = shown(window, AnswerWidget)
    window._presenter._on_wished(Wish("label", answer.entry, "to check"))
    (answer,) = shown(window, AnswerWidget)
    assert answer.tools.label.text == "to check"
    session = window._talk.session
    window._new_chat()
    window._open_chat(session)
    assert shown(window, AnswerWidget)[0].tools.label.text == "to check"


def test_what_the_model_saw_is_told_of_any_answer(window: MainWindow) -> None:
    ask(window, "The first question of all?")
    ask(window, "And the second one?")
    first, last = shown(window, AnswerWidget)
    panel = window._column.context
    first.tools.saw.click()
    assert panel.which == "chosen"
    requests = []
    window._presenter.contexts.request_shown.connect(requests.append)
    panel.request_requested.emit()
    assert "And the second one?" not in str(requests[-1]["request_body"])
    assert "The first question of all?" in str(requests[-1]["request_body"])
    last.tools.saw.click()
    assert panel.which == "last"


def test_the_mode_of_a_chat_comes_back_with_it(window: MainWindow) -> None:
    ask(window, "One?")
    first = window._talk.session
    window._new_chat()
    window._presenter.drafting.set_mode("vault")
    window._open_chat(first)
    assert (window._composer.mode(), window._talk.mode) == ("chat", "chat")


def test_without_a_model_the_agent_says_what_it_needs(window: MainWindow) -> None:
    window._assistant.settings.set("chat.model", "extractive")
    window._presenter.load_models()
    window._presenter.drafting.set_mode("agent")
    window._composer.set_text("What is backed up?")
    assert "no model is set" in window._composer.send.toolTip()
    assert not window._composer.send.isEnabled()
    press(window, "Ask in Vault mode")
    assert window._composer.mode() == "vault"
    assert window._composer.send.isEnabled()


def work(body: dict) -> Answer:
    """Read a note, then answer."""
    if any(message["role"] == "tool" for message in body["messages"]):
        return Answer("210 litres [1].", usage=None)
    call = ("c1", "read_note", '{"path": "Watering.md"}')
    return Answer("", usage=None, calls=(call,), finish="tool_calls")


def test_the_steps_of_an_agent_open_to_what_they_found(
    window: MainWindow, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window._assistant._notes, "freshen", lambda *_: iter(()))
    server.script(work)
    window._presenter.drafting.set_mode("agent")
    ask(window, "How much does the barrel hold?")
    (answer,) = shown(window, AnswerWidget)
    assert answer.steps.head.text() == "Read 1 note"
    (step,) = answer.steps.steps
    assert "The barrel behind the shed" in step.text
    assert [row.path for row in window._column.sources.rows()] == ["Watering.md"]


def test_a_source_marks_its_citation_and_the_other_way_round(window: MainWindow) -> None:
    window._presenter.drafting.attach([WATERING])
    ask(window, "How much does the barrel hold?")
    (answer,) = shown(window, AnswerWidget)
    window._column.sources.hovered.emit(1)
    assert answer.view._ink.marked == 1
    window._column.sources.hovered.emit(0)
    assert answer.view._ink.marked == 0
    answer.view.point_at("cite:1")
    assert window._column.sources._delegate.marked == 1
    answer.view.point_at("")
    assert window._column.sources._delegate.marked == 0


def test_lines_selected_in_a_note_are_attached(window: MainWindow, qtbot: QtBot) -> None:
    window.show_note("Watering.md")
    panel = window._column.note
    assert panel.attach.accessibleName() == "Attach the note"
    text = panel.text
    cursor = text.textCursor()
    cursor.setPosition(text.document().findBlockByNumber(2).position())
    cursor.setPosition(text.document().findBlockByNumber(5).position(), cursor.MoveMode.KeepAnchor)
    text.setTextCursor(cursor)
    assert panel.attach.accessibleName() == "Attach lines 3–5"
    panel.attach.click()
    assert list(window._presenter.drafting.attaching.attached) == [
        Attachment("Watering.md", (3, 5))
    ]


def test_a_note_is_attached_from_the_list(window: MainWindow) -> None:
    notes = [NoteState("Watering.md", "Watering", "indexed"), NoteState("P.md", "P", "excluded")]
    window._sidebar.show_notes(Folders(notes), "")
    tree = window._sidebar.notes
    enabled = {}
    for place in range(2):
        menu = tree.menu_of(tree.model().index(place, 0))
        action, _reason = menu.actions()
        enabled[tree.model().index(place, 0).data()] = action.isEnabled()
        if action.isEnabled():
            action.trigger()
    assert enabled == {"P.md": False, "Watering.md": True}
    assert window._presenter.drafting.attaching.attached == (WATERING,)


def test_notes_folders_and_tags_are_offered_once_they_are_known(
    window: MainWindow, qtbot: QtBot
) -> None:
    notes = (
        NoteState("garden/Tomatoes.md", "Tomatoes", "indexed"),
        NoteState("Secret.md", "Secret", "excluded"),
    )
    offers = offers_of(notes, {"start": ["Welcome.md"]})
    window._librarian.listed.emit(Listing(notes, (), offers))
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window._composer.setFocus()
    qtbot.keyClicks(window._composer.input, "@")
    popup = window._composer.completer.popup
    assert [m.choice.value for m in popup.view.matches] == ["garden/Tomatoes.md", "garden/"]
    qtbot.keyClick(window._composer.input, Qt.Key.Key_Return)
    assert list(chips(window)) == ["garden/Tomatoes.md"]
    qtbot.keyClicks(window._composer.input, "/")
    assert [m.choice.text for m in popup.view.matches] == [
        "/context",
        "/compact",
        "/new",
        "/help",
    ]
