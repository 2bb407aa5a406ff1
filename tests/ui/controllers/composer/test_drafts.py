"""What is written, attached, commanded and changed, through the window and the real assistant."""

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Qt, QTimer
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from app.assistant import Assistant
from app.errors import NotFound
from app.library.attachments import WebPages
from chains.errors import FetchFailed
from chains.request.ask import Ask
from context.layers import Layer, Segment
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.window.window_pages import WindowPage, open_window
from ui.chat.composer.attachment import Attachment
from ui.chat.composer.attachment_state import ChipState
from ui.controllers import drafts
from ui.controllers.drafts import Draft, DraftStore
from ui.controllers.notes import NoteListing, build_offers
from ui.panels.notes.folders import Folders
from ui.tasks import LatestWriter, Task, TaskRunner
from vault.records import NoteState

WATERING = Attachment("Watering.md")


@pytest.fixture
def talking(scripted: Assistant, small_vault: Path) -> Assistant:
    """The assistant with notes that are open but not indexed, and a model that is scripted."""
    scripted.open_vault(small_vault, remember=False)
    return scripted


@pytest.fixture
def window(talking: Assistant, runner: TaskRunner, qtbot: QtBot) -> WindowPage:
    return open_window(talking, runner, qtbot, mode="chat", is_begun=False)


def said_to_the_model(server: ModelServer, at: int = -1) -> str:
    return str(server.bodies[at]["messages"])


def test_a_chip_has_the_tokens_that_the_panel_counts(window: WindowPage) -> None:
    window.composer.attach(WATERING)
    preview = window.assistant.preview(None, "", "chat", attach=["Watering.md"])
    (segment,) = [part for part in preview["segments"] if part["source"] == "Watering.md"]
    assert window.composer.chips["Watering.md"] == ChipState(tokens=segment["tokens"])
    assert window.composer.view.meter.fraction == preview["fraction"]


def test_an_empty_note_is_not_counted_for_ever(window: WindowPage, small_vault: Path) -> None:
    (small_vault / "Empty.md").write_text("\n")
    window.composer.attach(Attachment("Empty.md"))
    state = window.composer.chips["Empty.md"]
    assert (state.figures, state.is_amber, state.obstacle) == ("empty", True, "")
    (chip,) = window.composer.view.chips.chips()
    assert chip.accessibleName() == (
        "Attached Empty.md, It is empty, so there is nothing of it to send."
    )


@pytest.mark.parametrize(
    "repeats",
    [
        ("Watering.md", "WATERING.md"),
        ("garden/", "garden/Tomatoes.md"),
        ("garden/Tomatoes.md", "garden/"),
        ("#garden", "garden/Tomatoes.md"),
        ("garden/", "garden/Tomatoes.md#4"),
        ("Watering.md", "{vault}/Watering.md"),
        ("{vault}/Watering.md", "Watering.md"),
        ("Watering.md", "{vault}/garden/../Watering.md"),
        ("Watering.md", "Copy.md"),
    ],
)
def test_no_chip_counts_for_ever_what_is_attached_already(
    window: WindowPage, small_vault: Path, repeats: tuple[str, str]
) -> None:
    (small_vault / "Copy.md").write_bytes((small_vault / "Watering.md").read_bytes())
    for name in repeats:
        window.composer.attach(Attachment(name.format(vault=small_vault)))
    chips = window.composer.view.chips.chips()
    assert len(chips) == 2
    for chip in chips:
        assert "…" not in chip.state.figures, chip.accessibleName()


def test_lines_of_an_attached_note_are_sent_once_and_counted_again_alone(
    window: WindowPage,
) -> None:
    window.composer.attach(WATERING, Attachment("Watering.md", (1, 2)))
    whole, lines = window.composer.view.chips.chips()
    assert lines.accessibleName() == "Attached Watering.md, lines 1–2, already attached"
    window.composer.view.chips.removed.emit(whole.attachment)
    (lines,) = window.composer.view.chips.chips()
    assert lines.accessibleName().endswith(" tokens")


def test_what_is_attached_is_sent_and_shown_with_the_question(
    window: WindowPage, server: ModelServer
) -> None:
    lines = Attachment("garden/Tomatoes.md", (3, 4))
    window.composer.attach(WATERING, lines)
    window.composer.send("How much does the barrel hold?")
    assert "The barrel behind the shed" in said_to_the_model(server)
    assert "| Variety | Sown | Harvest |" in said_to_the_model(server)
    assert window.composer.chips == {}
    (message,) = window.chat.user_messages()
    assert message.attached == (WATERING, lines)


def test_what_a_chat_was_sent_is_shown_again_when_it_is_opened(window: WindowPage) -> None:
    window.composer.attach(WATERING)
    window.composer.send("How much does the barrel hold?")
    session = window.chat.session
    window.chat.new()
    window.chat.reopen(session)
    (message,) = window.chat.user_messages()
    assert message.attached == (WATERING,)


def test_what_may_not_be_sent_says_so_and_holds_the_message_back(
    window: WindowPage, server: ModelServer, small_vault: Path
) -> None:
    (small_vault / "Secret.md").write_text("---\nprivate: true\n---\nNobody reads this.\n")
    window.composer.attach(Attachment("Secret.md"), WATERING)
    assert "not given to a model" in window.composer.chips["Secret.md"].problem
    assert window.composer.chips["Watering.md"].tokens
    window.composer.write("What is in it?")
    window.composer.press_send()
    assert server.bodies == []
    assert "Nothing was sent." in window.composer.error
    window.press("Remove Secret.md")
    window.composer.press_send()
    assert "Nobody reads this" not in said_to_the_model(server)


def test_a_web_page_that_was_not_reached_is_fetched_again_and_then_sent(
    window: WindowPage, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, fetches = "https://example.org/well", list[str]()

    def read(_pages: WebPages, url: str) -> Segment:
        fetches.append(url)
        if len(fetches) < 3:
            raise FetchFailed(f"{url} was not reached.")
        text = "The well is 12 m deep."
        return Segment.build(id="w", layer=Layer.L3, kind="url", source=url, text=text, version="1")

    monkeypatch.setattr(WebPages, "read", read)
    window.composer.attach(Attachment(address))
    window.composer.send("How deep is the well?")
    assert window.composer.error == f"{address} was not reached. Nothing was sent."
    window.press("Try again")
    assert window.composer.error == f"{address} was not reached. Nothing was sent."
    assert (len(fetches), server.bodies) == (2, [])
    window.press("Try again")
    assert "The well is 12 m deep." in said_to_the_model(server)
    assert window.composer.error == ""
    assert window.composer.attached == ()


def test_the_password_of_an_address_is_stored_and_sent_nowhere(
    window: WindowPage,
    server: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    fetches = list[str]()

    def read(_pages: WebPages, url: str) -> Segment:
        fetches.append(url)
        text = "The well is 12 m deep."
        return Segment.build(id="w", layer=Layer.L3, kind="url", source=url, text=text, version="1")

    monkeypatch.setattr(WebPages, "read", read)
    window.composer.attach(Attachment("https://me:hushhush@example.org/well"))
    window.composer.send("How deep is the well?")
    assert "contained a user name or password" in window.composer.error
    assert (fetches, server.bodies) == ([], [])
    window.press("Try again")
    assert set(fetches) == {"https://example.org/well"}
    assert "The well is 12 m deep." in said_to_the_model(server)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if b"hushhush" in path.read_bytes()]


def test_a_note_that_is_deleted_meanwhile_says_so_on_its_chip(
    window: WindowPage, small_vault: Path
) -> None:
    window.composer.attach(WATERING)
    before = window.composer.chips
    changed = window.view.controllers.vault.notes_changed
    changed.emit()
    assert window.composer.chips == before  # with the tokens that are known already
    text = (small_vault / "Watering.md").read_text("utf-8")
    (small_vault / "Watering.md").unlink()
    changed.emit()
    (state,) = window.composer.chips.values()
    assert state.problem == "There is no note, folder or file Watering.md."
    (small_vault / "Watering.md").write_text(text, "utf-8")
    changed.emit()
    assert window.composer.chips == before


def test_an_older_read_of_an_attachment_does_not_replace_a_newer_one(
    talking: Assistant, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, gate, reads = talking.read_attachments, threading.Event(), []

    def read_late(*given: object) -> object:
        reads.append(given)
        if len(reads) > 1:
            return read(*given)
        assert gate.wait(60)
        raise NotFound("There is no such note.")

    monkeypatch.setattr(talking, "read_attachments", read_late)
    page = open_window(talking, None, qtbot, mode="chat", is_begun=False)
    page.composer.attach(WATERING)
    qtbot.waitUntil(lambda: len(reads) == 1)
    page.view.controllers.vault.notes_changed.emit()
    qtbot.waitUntil(lambda: bool(page.composer.chips["Watering.md"].tokens))
    gate.set()
    tasks = page.view.runner.findChildren(Task)
    qtbot.waitUntil(lambda: not any(isValid(task) and task.is_running for task in tasks))
    assert page.composer.chips["Watering.md"].problem == ""


def test_the_preview_in_the_settings_leaves_out_what_is_still_read(
    talking: Assistant, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, gate = talking.read_attachments, threading.Event()

    def read_late(paths: Sequence[str], *rest: object) -> object:
        assert "Watering.md" not in paths or gate.wait(60)
        return read(paths, *rest)

    monkeypatch.setattr(talking, "read_attachments", read_late)
    page = open_window(talking, None, qtbot, mode="chat", is_begun=False)
    page.composer.attach(WATERING, Attachment("garden/Tomatoes.md"))
    attachments = page.view.controllers.composer.attachments
    qtbot.waitUntil(lambda: len(attachments.loaded) == 1)
    report = page.view.controllers.context.preview_call()({})
    sources = [use.segment.source for use in report.segments if use.segment.layer == "L3"]
    gate.set()
    qtbot.waitUntil(lambda: len(attachments.loaded) == 2)
    assert sources == ["garden/Tomatoes.md"]


def test_the_title_of_a_question_that_was_not_stored_goes(
    window: WindowPage, small_vault: Path
) -> None:
    window.composer.attach(WATERING)
    (small_vault / "Watering.md").unlink()
    window.composer.send("How much?")
    (failure,) = window.chat.failures()
    assert failure.title.text() == "There is no note, folder or file Watering.md"
    assert failure.detail.text() == ""
    assert window.chat.title == "New chat"


def test_the_error_of_an_unsent_message_goes_once_the_message_is_sent(
    window: WindowPage, small_vault: Path
) -> None:
    window.composer.attach(WATERING)
    (small_vault / "Watering.md").unlink()
    window.composer.send("How much?")
    assert len(window.chat.failures()) == 1
    window.composer.press_send()  # now the chip knows that the note is gone
    window.press("Remove Watering.md")
    window.composer.press_send()
    assert (len(window.chat.answers()), window.chat.failures()) == (1, [])


def test_what_is_too_large_says_how_much_of_it_goes(window: WindowPage, small_vault: Path) -> None:
    window.assistant.settings.set("autoCompactThreshold", 4_000)
    (small_vault / "Log.md").write_text("A line of the log that says nothing new.\n" * 2_000)
    window.composer.attach(Attachment("Log.md"))
    state = window.composer.chips["Log.md"]
    assert state.sent is not None
    assert state.tokens is not None
    assert state.sent < state.tokens
    assert state.is_amber is False
    assert state.figures == "2,000 lines, searched within"


def test_a_folder_is_one_chip_with_its_notes(window: WindowPage) -> None:
    window.composer.attach(Attachment("garden/"))
    assert window.composer.chips["garden/"].notes == 2


def test_nothing_is_attached_twice(window: WindowPage) -> None:
    for _ in range(2):
        window.composer.attach(WATERING)
    assert list(window.composer.chips) == ["Watering.md"]


def test_a_draft_stays_with_its_chat(window: WindowPage) -> None:
    window.composer.send("The first question?")
    first = window.chat.session
    window.composer.write("Half a thought")
    window.composer.attach(WATERING)
    window.chat.new()
    assert (window.composer.text, window.composer.chips) == ("", {})
    window.composer.write("Another thought")
    window.chat.reopen(first)
    assert window.composer.text == "Half a thought"
    assert list(window.composer.chips) == ["Watering.md"]
    window.chat.new()
    assert window.composer.text == "Another thought"


def test_drafts_come_back_after_the_window_was_closed(
    window: WindowPage, runner: TaskRunner, qtbot: QtBot
) -> None:
    window.composer.write("Half a thought")
    window.composer.attach(WATERING, Attachment("garden/Tomatoes.md", (3, 4)))
    window.close()
    again = open_window(window.assistant, runner, qtbot, mode="chat", is_begun=False)
    assert again.composer.text == "Half a thought"
    assert list(again.composer.chips) == ["Watering.md", "garden/Tomatoes.md"]


def test_a_draft_is_saved_while_the_user_types(
    tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafts, "_SAVED_AFTER_MS", 200)
    saved: list[dict[str, dict[str, object]]] = []
    writer = LatestWriter(lambda kept: not saved.append(kept))
    parent = QObject()
    store = DraftStore({}, writer, parent)
    store.open("a")
    typing = QTimer(parent, interval=20)  # never a pause in which to save
    typed: list[str] = []

    def type_letter() -> None:
        typed.append("x")
        store.keep(Draft(Ask("".join(typed))))

    typing.timeout.connect(type_letter)
    typing.start()
    qtbot.waitUntil(lambda: bool(saved))
    typing.stop()
    store.forget("a")
    store.finish()
    assert saved[-1] == {}


def test_what_was_not_sent_comes_back_with_its_attachments(
    window: WindowPage, server: ModelServer
) -> None:
    window.assistant.settings.set("autoCompactThreshold", 4_000)
    window.composer.attach(WATERING)
    window.composer.send_uncounted("word " * 40_000)
    assert server.bodies == []
    assert window.composer.text.strip() == ("word " * 40_000).strip()
    assert list(window.composer.chips) == ["Watering.md"]
    assert "are free for it. Nothing was sent." in window.composer.error


def test_a_question_that_is_stored_does_not_come_back(
    window: WindowPage, server: ModelServer
) -> None:
    server.script(Failure.saying(401, "no such key"))
    window.composer.send("How much does the barrel hold?")
    assert window.composer.text == ""
    assert len(window.chat.failures()) == 1
    server.script(Answer("210 litres.", usage=None))
    next(b for b in window.chat.failures()[0].buttons if b.text() == "Try again").click()
    assert [a.text for a in window.chat.answers()] == ["210 litres."]
    assert len(window.chat.user_messages()) == 1


def test_a_command_is_not_sent_and_what_it_shows_is_not_stored(
    window: WindowPage, server: ModelServer
) -> None:
    window.composer.send("/context")
    (aside,) = window.chat.asides()
    assert "Context Usage" in aside.view.toPlainText()
    assert window.composer.text == ""
    assert server.bodies == []
    assert window.assistant.list_sessions() == []


def test_a_command_that_does_not_exist_is_named_and_can_be_sent_as_text(
    window: WindowPage, server: ModelServer
) -> None:
    window.composer.send("/home")
    assert window.composer.error == "There is no command /home. /help lists the commands."
    assert window.composer.text == "/home"
    assert server.bodies == []
    window.press("Send as text")
    assert "/home" in said_to_the_model(server)


@pytest.mark.parametrize("text", ["/home/me is full", "// why is this here?"])
def test_a_path_and_a_comment_are_sent(window: WindowPage, server: ModelServer, text: str) -> None:
    window.composer.send(text)
    assert text in said_to_the_model(server)


def test_the_command_new_begins_a_chat(window: WindowPage) -> None:
    window.composer.send("One?")
    window.composer.send("/new")
    assert window.chat.session is None
    assert window.composer.text == ""


def test_the_command_compact_sums_the_chat_up(window: WindowPage, server: ModelServer) -> None:
    server.script(Answer("The barrel stands behind the shed. " * 30, usage=None))
    for number in range(3):
        window.composer.send(f"Question {number}?")
    server.script(Answer("Barrel: behind the shed.", usage=None))
    window.composer.send("/compact keep the barrel")
    window.compaction.press("Make the summary")
    assert "keep the barrel" in said_to_the_model(server)
    window.compaction.press("Use this summary")
    assert window.composer.text == ""
    window.composer.send("And now?")
    assert "Barrel: behind the shed." in str(server.bodies[-1]["messages"])


def test_compacting_asks_the_model_that_is_set_and_nobody_else(
    window: WindowPage, server: ModelServer, assistant: Assistant
) -> None:
    server.script(Answer("The barrel stands behind the shed. " * 30, usage=None))
    for number in range(3):
        window.composer.send(f"Question {number}?")
    assistant.settings.set("chat.model", "extractive")
    before = len(server.received)
    window.composer.send("/compact")
    window.compaction.press("Make the summary")
    window.compaction.press("Use this summary")
    assert len(server.received) == before
    window.composer.send("And now?")
    server.script(Answer("Barrel: behind the shed.", usage=None))
    window.composer.choose_model("gpt-4o")
    window.composer.send("/compact")
    window.compaction.press("Make the summary")
    assert "Write down what has to be remembered" in said_to_the_model(server)


def test_other_words_stand_beside_the_first_ones(window: WindowPage, server: ModelServer) -> None:
    server.script(Answer("In the shed.", usage=None), Answer("Behind it.", usage=None))
    window.composer.send("Where is the barrel?")
    (message,) = window.chat.user_messages()
    window.chat.edit(message, "Where exactly is it?")
    (message,) = window.chat.user_messages()
    assert message.text == "Where exactly is it?"
    assert message.tools.siblings.text == "2/2"
    assert [a.text for a in window.chat.answers()] == ["Behind it."]
    message.tools.siblings.previous.click()
    assert [m.text for m in window.chat.user_messages()] == ["Where is the barrel?"]
    assert [a.text for a in window.chat.answers()] == ["In the shed."]


def test_the_same_words_are_asked_again(window: WindowPage, server: ModelServer) -> None:
    server.script(Answer("In the shed.", usage=None), Answer("Behind it.", usage=None))
    window.composer.send("Where is the barrel?")
    window.chat.edit(window.chat.user_messages()[0], "Where is the barrel?")
    (answer,) = window.chat.answers()
    assert (answer.text, answer.tools.siblings.text) == ("Behind it.", "2/2")


def test_a_summary_of_a_long_version_that_is_left_is_offered(
    window: WindowPage, server: ModelServer
) -> None:
    for text in ("Where is the barrel?", "And the hose?", "And the wagon?"):
        window.composer.send(text)
    first = window.chat.user_messages()[0]
    window.chat.edit(first, "Where is the plough?")
    (message,) = window.chat.user_messages()
    message.tools.siblings.previous.click()
    assert len(window.chat.user_messages()) == 3
    window.chat.user_messages()[0].tools.siblings.following.click()
    server.script(Answer("All of it is in the shed.", usage=None))
    window.press("Summarise them")
    assert "And the wagon?" in str(server.bodies[-1]["messages"])
    (aside,) = window.chat.asides()
    assert "All of it is in the shed." in aside.view.toPlainText()


def test_a_second_answer_stands_beside_the_first(window: WindowPage, server: ModelServer) -> None:
    server.script(Answer("In the shed.", usage=None), Answer("Behind it.", usage=None))
    window.composer.send("Where is the barrel?")
    window.run("answer_again")
    (answer,) = window.chat.answers()
    assert (answer.text, answer.tools.siblings.text) == ("Behind it.", "2/2")
    answer.tools.siblings.previous.click()
    (answer,) = window.chat.answers()
    assert (answer.text, answer.tools.siblings.text) == ("In the shed.", "1/2")
    assert len(window.assistant.list_sessions()) == 1


def test_what_was_attached_goes_along_with_other_words(
    window: WindowPage, server: ModelServer
) -> None:
    window.composer.attach(WATERING)
    window.composer.send("How much does it hold?")
    (message,) = window.chat.user_messages()
    window.chat.edit(message, "How many litres?")
    assert "The barrel behind the shed" in said_to_the_model(server)
    (message,) = window.chat.user_messages()
    assert message.attached == (WATERING,)


def test_other_words_that_do_not_fit_are_still_there(
    window: WindowPage, server: ModelServer
) -> None:
    window.assistant.settings.set("autoCompactThreshold", 4_000)
    window.composer.send("Where is the barrel?")
    (message,) = window.chat.user_messages()
    window.chat.edit(message, "word " * 40_000)
    (message,) = window.chat.user_messages()
    assert message.text == "Where is the barrel?"
    assert message.editor is not None
    assert message.editor.text.startswith("word word")
    assert len(server.bodies) == 1


def test_a_chat_is_continued_apart_from_any_message(window: WindowPage) -> None:
    window.composer.send("One?")
    window.composer.send("Two?")
    first = window.chat.session
    answer = window.chat.answers()[0]
    answer.tools.branch.click()
    assert window.chat.session not in {None, first}
    assert [m.text for m in window.chat.user_messages()] == ["One?"]
    window.chat.reopen(first)
    assert [m.text for m in window.chat.user_messages()] == ["One?", "Two?"]


def test_a_name_is_shown_and_kept(window: WindowPage) -> None:
    window.composer.send("One?")
    (answer,) = window.chat.answers()
    window.chat.name(answer, "to check")
    (answer,) = window.chat.answers()
    assert answer.tools.label.text == "to check"
    session = window.chat.session
    window.chat.new()
    window.chat.reopen(session)
    assert window.chat.answers()[0].tools.label.text == "to check"


def test_what_the_model_saw_is_told_of_any_answer(window: WindowPage) -> None:
    window.composer.send("The first question of all?")
    window.composer.send("And the second one?")
    first, last = window.chat.answers()
    first.tools.saw.click()
    assert window.context.which == "chosen"
    request = window.context.read_request()
    assert "And the second one?" not in request
    assert "The first question of all?" in request
    last.tools.saw.click()
    assert window.context.which == "last"


def test_the_mode_of_a_chat_comes_back_with_it(window: WindowPage) -> None:
    window.composer.send("One?")
    first = window.chat.session
    window.chat.new()
    window.composer.choose_mode("vault")
    window.chat.reopen(first)
    assert window.composer.mode == "chat"


def test_without_a_model_the_agent_says_what_it_needs(window: WindowPage) -> None:
    window.assistant.settings.set("chat.model", "extractive")
    window.view.controllers.composer.load_models()
    window.composer.choose_mode("agent")
    window.composer.write("What is backed up?")
    assert "no model is set" in window.composer.view.send.toolTip()
    assert not window.composer.view.send.isEnabled()
    window.press("Ask in Vault mode")
    assert window.composer.mode == "vault"
    assert window.composer.view.send.isEnabled()


def work(body: dict) -> Answer:
    """Read a note, then answer."""
    if any(message["role"] == "tool" for message in body["messages"]):
        return Answer("210 litres [1].", usage=None)
    call = ("c1", "read_note", '{"path": "Watering.md"}')
    return Answer("", usage=None, calls=(call,), finish="tool_calls")


def test_the_steps_of_an_agent_open_to_what_they_found(
    window: WindowPage, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window.assistant.library, "freshen", lambda *_: iter(()))
    server.script(work)
    window.composer.choose_mode("agent")
    window.composer.send("How much does the barrel hold?")
    (answer,) = window.chat.answers()
    assert answer.steps.head.text() == "Read 1 note"
    (step,) = answer.steps.steps
    assert "The barrel behind the shed" in step.text
    assert [row.path for row in window.view.column.sources.rows()] == ["Watering.md"]


def test_a_source_marks_its_citation_and_the_other_way_round(window: WindowPage) -> None:
    window.composer.attach(WATERING)
    window.composer.send("How much does the barrel hold?")
    (answer,) = window.chat.answers()
    window.view.column.sources.hovered.emit(1)
    assert answer.view._decoration_painter.marked == 1
    window.view.column.sources.hovered.emit(0)
    assert answer.view._decoration_painter.marked == 0
    answer.view.point_at("cite:1")
    assert window.view.column.sources._delegate.marked == 1
    answer.view.point_at("")
    assert window.view.column.sources._delegate.marked == 0


def test_lines_selected_in_a_note_are_attached(window: WindowPage, qtbot: QtBot) -> None:
    window.view.show_note("Watering.md")
    panel = window.view.note
    assert panel.head.attach.accessibleName() == "Attach this note"
    panel.show_source(True)
    text = panel.source
    cursor = text.textCursor()
    cursor.setPosition(text.document().findBlockByNumber(2).position())
    cursor.setPosition(text.document().findBlockByNumber(5).position(), cursor.MoveMode.KeepAnchor)
    text.setTextCursor(cursor)
    assert panel.head.attach.accessibleName() == "Attach lines 3–5"
    panel.head.attach.click()
    assert list(window.composer.attached) == [Attachment("Watering.md", (3, 5))]


def test_a_note_is_attached_from_the_list(window: WindowPage) -> None:
    notes = [NoteState("Watering.md", "Watering", "indexed"), NoteState("P.md", "P", "excluded")]
    window.view.sidebar.show_notes(Folders(notes), "")
    tree = window.view.sidebar.notes
    enabled = {}
    for place in range(2):
        menu = tree.build_menu(tree.model().index(place, 0))
        action, _reason = menu.actions()
        enabled[tree.model().index(place, 0).data()] = action.isEnabled()
        if action.isEnabled():
            action.trigger()
    assert enabled == {"P.md": False, "Watering.md": True}
    assert window.composer.attached == (WATERING,)


def test_notes_folders_and_tags_are_offered_once_they_are_known(
    window: WindowPage, qtbot: QtBot
) -> None:
    notes = (
        NoteState("garden/Tomatoes.md", "Tomatoes", "indexed"),
        NoteState("Secret.md", "Secret", "excluded"),
    )
    offers = build_offers(notes, {"start": ["Welcome.md"]})
    window.view.controllers.notes.listed.emit(NoteListing(notes, (), offers))
    window.view.activateWindow()
    qtbot.waitUntil(window.view.isActiveWindow)
    window.composer.view.setFocus()
    qtbot.keyClicks(window.composer.view.input, "@")
    popup = window.composer.view.completer.popup
    assert [m.choice.value for m in popup.view.matches] == ["garden/Tomatoes.md", "garden/"]
    qtbot.keyClick(window.composer.view.input, Qt.Key.Key_Return)
    assert list(window.composer.chips) == ["garden/Tomatoes.md"]
    qtbot.keyClicks(window.composer.view.input, "/")
    assert [m.choice.text for m in popup.view.matches] == [
        "/context",
        "/compact",
        "/undo",
        "/model",
        "/mode",
        "/export",
        "/project",
        "/new",
        "/help",
    ]
