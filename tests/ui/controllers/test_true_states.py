"""Small truths of the window: another folder, an empty one, menus that closed, places of rows."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QCursor, QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from chains.events import Step
from chains.request.ask import Ask
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.window import widgets
from tests.support.window.clicks import button_named, click_button, open_menu
from tests.support.window.window_pages import WindowPage, clipboard, open_window
from ui.chat.message.answer_status import StepLine
from ui.controllers.turns import ChatTurn
from ui.panels.context.layer_tree import shorten_place
from ui.panels.context.panel import ContextPanel
from ui.tasks import TaskRunner
from ui.widgets.buttons import ButtonText
from ui.widgets.menus import MenuButton

SEND_AS_TEXT = ButtonText("Send as text", "Send it as a message")
SHOW_FOLDER = ButtonText("Show folder", "Show the file")
QUESTION = "How much does the barrel hold?"


@pytest.fixture
def window(scripted: Assistant, runner: TaskRunner, qtbot: QtBot, small_vault: Path) -> WindowPage:
    scripted.open_vault(small_vault)
    return open_window(scripted, runner, qtbot, mode="chat")


def shown(window: WindowPage) -> list[str]:
    QApplication.processEvents()
    return [text.text() for text in window.view.findChildren(QLabel) if text.isVisible()]


def test_another_folder_begins_a_new_chat(window: WindowPage, tmp_path: Path) -> None:
    window.composer.send(QUESTION)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "Note.md").write_text("# Note\n", "utf-8")
    before = window.chat.session
    window.view.open_folder(tmp_path / "other")
    assert before is not None
    assert window.chat.session is None
    assert window.chat.answers() == []


def test_the_same_folder_keeps_the_chat(window: WindowPage, small_vault: Path) -> None:
    window.composer.send(QUESTION)
    before = window.chat.session
    window.view.open_folder(small_vault)
    assert window.chat.session == before


def test_an_empty_folder_is_said_to_be_empty(window: WindowPage, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    window.view.open_folder(tmp_path / "empty")
    assert "No notes in this folder yet." in shown(window)
    assert "Add Markdown files, or choose another folder." in shown(window)
    assert "Ask your notes" not in shown(window)


def test_an_empty_note_is_no_subject_of_a_question(window: WindowPage, tmp_path: Path) -> None:
    notes = {
        "Arrivals.md": "",
        "Bulbs.md": "# Bulbs\n\n## Tulips\n",
        "Crates.md": "---\ntags: [shed]\n---\n",
        "Drains.md": "# Drains\n\nThe drains are cleaned in autumn.\n",
        "Eaves.md": "Swallows nest below the eaves.\n",
    }
    (tmp_path / "other").mkdir()
    for name, text in notes.items():
        (tmp_path / "other" / name).write_text(text, "utf-8")
    window.view.open_folder(tmp_path / "other")
    assert [row.question for row in window.chat.view.empty.questions] == [
        "What is in “Drains”?",
        "What is in “Eaves”?",
    ]


def test_a_server_that_takes_less_offers_to_lower_the_limit(
    window: WindowPage, server: ModelServer
) -> None:
    server.script(Failure.saying(400, "maximum context length is 2048 tokens"))
    window.composer.send(QUESTION)
    (failure,) = window.chat.failures()
    with pytest.raises(LookupError):
        button_named(failure, "Raise the limit")
    click_button(failure, "Lower the limit")
    assert window.settings.page == "Context"


def test_a_server_that_counts_too_little_is_named_once_for_each_model(
    window: WindowPage, server: ModelServer
) -> None:
    counted = {"prompt_tokens": 1_000, "completion_tokens": 1, "total_tokens": 1_001}
    server.script(*(Answer("210 litres.", usage=counted) for _ in range(3)))

    def count_warnings() -> int:
        return sum("cut the beginning off" in text for text in window.toasts())

    window.composer.send(f"{QUESTION} {'rain ' * 6_000}")
    assert count_warnings() == 1
    click_button(window.view, "Dismiss")
    window.composer.send(QUESTION)
    assert count_warnings() == 0
    window.composer.choose_model("openai/another")
    window.composer.send(QUESTION)
    assert count_warnings() == 1


def test_a_button_is_not_lit_after_its_menu_has_closed(window: WindowPage, qtbot: QtBot) -> None:
    button = next(b for b in window.composer.view.findChildren(MenuButton) if b.isVisible())
    place = button.mapTo(window.view, button.rect().center())
    QTest.mouseMove(window.view.windowHandle(), place)
    qtbot.waitUntil(button.underMouse)

    def close() -> None:
        QCursor.setPos(window.view.mapToGlobal(QPoint(5, 5)))
        open_menu().close()

    QTest.qWait(0)
    _open_and(button, close)
    qtbot.waitUntil(lambda: not button.underMouse())


def _open_and(button: QWidget, act: object) -> None:
    from PySide6.QtCore import QTimer

    QTimer.singleShot(0, act)  # type: ignore[arg-type]
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def test_versions_stand_at_the_edge_beside_no_gap(window: WindowPage, server: ModelServer) -> None:
    server.script(Answer("210 litres."))
    window.composer.send(QUESTION)
    window.chat.edit(window.chat.user_messages()[0], "How much does the second barrel hold?")
    tools = window.chat.user_messages()[0].tools
    QApplication.processEvents()
    assert tools.siblings.text == "2/2"
    others = (tools.edit, tools.copy, tools.branch, tools.pin, tools.name)
    assert all(tools.siblings.geometry().left() > other.geometry().left() for other in others)


@pytest.mark.parametrize(
    ("room", "said"),
    [
        (60, "Garden/A very long name of a note.md, lines 12–31"),
        (44, "A very long name of a note.md, lines 12–31"),
        (30, "A very l… note.md, lines 12–31"),
        (12, "A…, lines 12–31"),
    ],
)
def test_a_long_name_is_shortened_before_its_lines(room: int, said: str) -> None:
    text = "Garden/A very long name of a note.md, lines 12–31"
    assert shorten_place(text, len, room) == said


def test_a_summary_is_shown_without_its_mark(window: WindowPage, server: ModelServer) -> None:
    for number in range(3):
        server.script(Answer(f"Answer {number}. " * 40))
        window.composer.send(f"Question {number}?")
    server.script(Answer("The barrel holds 210 litres."))
    window.run("compact")
    window.compaction.press("Make the summary")
    window.compaction.press("Use this summary")
    session = window.chat.session
    assert session is not None
    window.view.controllers.session.load(is_new=True)
    click_button(window.chat.view, "Show summary")
    QApplication.processEvents()
    (item,) = [
        one
        for one in window.assistant.history.transcript(session).items
        if type(one).__name__ == "SummaryItem"
    ]
    assert "[Summary of" not in item.summary
    assert item.summary


def test_a_summary_shown_from_the_panel_is_not_called_unsent(
    window: WindowPage, server: ModelServer
) -> None:
    for number in range(3):
        server.script(Answer(f"Answer {number}. " * 40))
        window.composer.send(f"Question {number}?")
    server.script(Answer("The barrel holds 210 litres."), Answer("Yes."))
    window.run("compact")
    window.compaction.press("Make the summary")
    window.compaction.press("Use this summary")
    window.composer.send("Is that so?")
    click_button(window.view.findChild(ContextPanel), "Show summary")
    (block,) = window.chat.asides()
    assert (
        block.accessibleName() == "Older messages, as a summary · sent to the model in their place"
    )


def test_no_model_saw_what_was_only_quoted(window: WindowPage, server: ModelServer) -> None:
    window.composer.send(QUESTION)
    click_button(window.chat.answers()[0], "What the model saw")
    window.assistant.settings.set("chat.model", "extractive")
    window.composer.send("And the second one?")
    QApplication.processEvents()
    with pytest.raises(LookupError):
        button_named(window.chat.answers()[-1], "What the model saw")
    assert not server.bodies[1:]


def test_the_step_says_writing_as_soon_as_text_arrives(
    window: WindowPage, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    live = window.view.transcript.live
    monkeypatch.setattr(live, "show_step", lambda text, *_, **__: steps.append(text))
    server.script(Answer("Two barrels. " * 20, chunk_chars=20))
    window.composer.send(QUESTION)
    told = list(dict.fromkeys(steps))
    assert told[-2:] == ["Waiting for scripted…", "Writing…"]


@pytest.mark.parametrize(
    "answer",
    [
        Answer("Two barrels.", reasoning="The user asks for the barrels."),
        Answer("<think>The user asks for the barrels.</think>Two barrels.", chunk_chars=4),
    ],
    ids=["own-field", "in-text"],
)
def test_the_step_does_not_wait_for_a_model_that_thinks(
    window: WindowPage, server: ModelServer, monkeypatch: pytest.MonkeyPatch, answer: Answer
) -> None:
    steps: list[str] = []
    live = window.view.transcript.live
    monkeypatch.setattr(live, "show_step", lambda text, *_, **__: steps.append(text))
    server.script(answer)
    window.composer.send(QUESTION)
    told = list(dict.fromkeys(steps))
    assert told[-3:] == ["Waiting for scripted…", "Thinking…", "Writing…"]


def test_the_step_does_not_wait_for_a_model_that_writes_a_tool_call(
    window: WindowPage, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    live = window.view.transcript.live
    monkeypatch.setattr(live, "show_step", lambda text, *_, **__: steps.append(text))
    window.composer.choose_mode("agent")
    server.script(Answer("", calls=(("c1", "list_tags", "{}"),)), Answer("No tags."))
    window.composer.send(QUESTION)
    told = list(dict.fromkeys(steps))
    after = told[told.index("Waiting for scripted…") + 1 :]
    assert after[0] == "Writing a tool call…"


def test_the_step_names_a_model_of_llama_cpp_without_its_folders(
    window: WindowPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    monkeypatch.setattr(
        window.view.transcript.live, "show_step", lambda text, *_, **__: steps.append(text)
    )
    window.assistant.settings.set("chat.model", "/srv/models/small-q4.gguf")
    window.composer.send(QUESTION)
    assert "Waiting for small-q4…" in steps


def test_a_step_counts_its_seconds_by_itself(qtbot: QtBot) -> None:
    line = StepLine()
    qtbot.addWidget(line)
    line.show()
    line.show_step("Waiting for a model…", 3.0)
    (seconds,) = (label for label in line.findChildren(QLabel) if label.text().endswith(" s"))
    assert seconds.text() == "3.0 s"
    qtbot.waitUntil(lambda: float(seconds.text().removesuffix(" s")) >= 3.2)


def test_what_is_said_in_the_composer_names_settings_by_their_labels(window: WindowPage) -> None:
    said = "Raise autoCompactThreshold, or shorten the question."
    window.composer.view.show_error(said, [(SEND_AS_TEXT, lambda: None)])
    assert 'Raise "Context limit", or shorten the question.' in shown(window)
    assert widgets.undressed(window.composer.view) == []


def test_the_time_until_a_retry_counts_down(
    window: WindowPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("ui.controllers.turns.monotonic", lambda: now[0])
    task = window.view.runner.call(lambda: None)
    turn = ChatTurn(Ask(QUESTION), 0, task, window.view)
    turn.record(Step("wait", "Retrying in 12 s (busy)", 12))
    assert turn.count_down("Retrying in 12 s (busy)") == "Retrying in 12 s (busy)"
    now[0] = 104.5
    assert turn.count_down("Retrying in 12 s (busy)") == "Retrying in 8 s (busy)"
    now[0] = 200.0
    assert turn.count_down("Retrying in 12 s (busy)") == "Retrying in 0 s (busy)"
    assert turn.count_down("Waiting for a model…") == "Waiting for a model…"


def test_a_link_says_where_no_program_opens_it(
    window: WindowPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda _address: False)
    window.chat.view.maker.link_activated.emit("https://example.org/page")
    assert window.toasts() == ["No program on this computer opens https://example.org/page"]
    window.press("Copy the address")
    assert clipboard() == "https://example.org/page"


@pytest.mark.parametrize("size", [(1440, 900), (900, 620)])
def test_a_toast_covers_no_button_of_a_card_or_of_the_composer(
    window: WindowPage, size: tuple[int, int]
) -> None:
    window.view.resize(*size)
    window.composer.send(QUESTION)
    window.view.notifier.toast("The chat was exported.", (SHOW_FOLDER, lambda: None))
    card = window.chat.show_approval("create_note", "Create Note.md", diff="+a\n" * 30)
    window.view.notifier.toast("The answer to another question failed.")
    for _ in range(3):
        QApplication.processEvents()
    middle = window.view.middle
    toasts = [area_in(middle, toast) for toast in middle.children() if _is_toast(toast)]
    assert len(toasts) == 2
    kept = [
        *card.findChildren(QAbstractButton),
        *window.composer.view.findChildren(QAbstractButton),
    ]
    for button in kept:
        if button.isVisible():
            assert not any(toast.intersects(area_in(middle, button)) for toast in toasts)


def _is_toast(widget: object) -> bool:
    return type(widget).__name__ == "Toast"


def area_in(place: QWidget, widget: QWidget) -> QRect:
    return QRect(widget.mapTo(place, QPoint()), widget.size())


def test_an_answer_says_where_it_was_made_also_after_the_address_has_changed(
    window: WindowPage, server: ModelServer
) -> None:
    server.script(Answer("210 litres."))
    window.composer.send(QUESTION)
    session = window.chat.session

    def places() -> list[str]:
        QApplication.processEvents()
        return [answer.tools.about.whole.rpartition(" · ")[0] for answer in window.chat.answers()]

    assert places() == ["scripted, on this computer"]
    window.assistant.settings.set("chat.apiBase", "https://models.example.org/v1")
    window.view.controllers.composer.load_models()
    assert places() == ["scripted, on this computer"]
    window.chat.new()
    window.chat.reopen(session)
    assert places() == ["scripted, on this computer"]
