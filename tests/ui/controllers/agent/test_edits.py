"""Three tasks of an agent in the window: each change is approved by a click, and all is undone."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.conftest import write_notes
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.window.clicks import click_button
from tests.support.window.window_pages import WindowPage, open_window
from ui.widgets.controls import ElidedLabel

TOMATOES, KOMPOST = "garden/Tomatoes.md", "garden/Kompost.md"
SUMMARY = "# Garden\n\nMatina ripens in July. The compost needs air.\n"
MATINA = "Matina is the earliest of our tomatoes and ripens in July.\n"
LUFT = "Alle sechs Wochen wird er umgesetzt.\n"


def calling(*calls: tuple[str, dict[str, Any]]) -> Answer:
    written = ((f"c{at}", name, json.dumps(given)) for at, (name, given) in enumerate(calls))
    return Answer("", calls=tuple(written))


def edit(path: str, old: str, new: str) -> tuple[str, dict[str, Any]]:
    return "edit_note", {"path": path, "old": old, "new": new}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return write_notes(tmp_path / "notes")


@pytest.fixture
def server(assistant: Assistant, notes: Path) -> Iterator[ModelServer]:
    with ModelServer() as server:
        assistant.settings.set("chat.apiBase", server.url)
        assistant.settings.set("chat.model", "gpt-4o")
        assistant.open_vault(notes, remember=False)
        yield server


@pytest.fixture
def window(assistant: Assistant, server: ModelServer, qtbot: QtBot) -> WindowPage:
    return open_window(assistant, None, qtbot, mode="agent")


def read_all(notes: Path) -> dict[str, str]:
    files = (file for file in notes.rglob("*") if file.is_file())
    return {file.relative_to(notes).as_posix(): file.read_text("utf-8") for file in files}


def approve_all(window: WindowPage, qtbot: QtBot) -> list[str]:
    """Approve each card by a click until the turn ends; return what the cards asked."""
    asked: list[str] = []

    def is_over() -> bool:
        for card in window.chat.approvals():
            if card.is_armed:
                asked.append(card.title.text())
                QTest.mouseClick(card.approve, Qt.MouseButton.LeftButton)
        return not window.chat.is_running

    qtbot.waitUntil(is_over)
    return asked


def undo(window: WindowPage, qtbot: QtBot, word: str) -> None:
    window.press(word)
    qtbot.waitUntil(lambda: bool(window.chat.edits()[-1].state))


def test_a_folder_is_summarised_into_a_new_note(window, server, notes, qtbot) -> None:
    before = read_all(notes)
    server.script(
        calling(("list_folder", {"path": "garden"})),
        calling(("read_note", {"path": TOMATOES}), ("read_note", {"path": KOMPOST})),
        calling(("create_note", {"path": "Garden summary.md", "text": SUMMARY})),
        Answer("The summary is in Garden summary."),
    )
    window.composer.send("Summarise the folder garden into a new note.")
    assert approve_all(window, qtbot) == ["Create a note?"]
    assert read_all(notes) == before | {"Garden summary.md": SUMMARY}
    (answer,) = window.chat.answers()
    assert answer.steps.head.text() == "Listed 1 folder, read 2 notes, created 1 note"
    (card,) = window.chat.edits()
    assert card.text == "Garden summary.md created"
    window.press("Show the changes")
    assert "+ # Garden" in window.chat.read_diff(card)
    undo(window, qtbot, "Undo")
    assert (card.text, card.state) == (
        "Garden summary.md removed again",
        "Undone. The new note is gone.",
    )
    assert read_all(notes) == before


def test_related_notes_are_linked(window, server, notes, qtbot) -> None:
    before = read_all(notes)
    server.script(
        calling(
            edit(TOMATOES, MATINA, f"{MATINA}\nSee [[Kompost]].\n"),
            edit(KOMPOST, LUFT, f"{LUFT}\nSiehe [[Tomatoes]].\n"),
        ),
        Answer("Linked."),
    )
    window.composer.send("Link the notes about the garden.")
    assert approve_all(window, qtbot) == ["Change a note?"] * 2
    assert "See [[Kompost]]." in read_all(notes)[TOMATOES]
    (card,) = window.chat.edits()
    assert card.text == "2 notes changed"
    undo(window, qtbot, "Undo all")
    assert (card.text, card.state) == (
        "2 notes changed back",
        "Undone. Both notes are as before.",
    )
    assert card.accessibleName() == f"{card.text}. {card.state}"
    assert read_all(notes) == before


def test_a_tag_is_renamed_across_notes(window, assistant, server, notes, qtbot) -> None:
    for name in (TOMATOES, KOMPOST):
        with (notes / name).open("a", encoding="utf-8") as file:
            file.write("\n#beet\n")
    before = read_all(notes)
    server.script(
        calling(("grep_notes", {"pattern": "#beet"})),
        calling(*(edit(name, "#beet", "#garden/bed") for name in (TOMATOES, KOMPOST))),
        Answer("Renamed."),
    )
    window.composer.send("Rename the tag #beet to #garden/bed.")
    assert approve_all(window, qtbot) == ["Change a note?"] * 2
    assert all("#garden/bed" in read_all(notes)[name] for name in (TOMATOES, KOMPOST))
    session = window.chat.session
    window.chat.new()
    window.chat.reopen(session)
    qtbot.waitUntil(lambda: bool(window.chat.edits()))
    undo(window, qtbot, "Undo all")
    assert read_all(notes) == before


@pytest.mark.parametrize("number", [1, 2])
def test_a_changed_note_opens_from_its_card(window, server, notes, qtbot, number) -> None:
    edits = [edit(TOMATOES, MATINA, "Matina is early.\n"), edit(KOMPOST, LUFT, "Luft.\n")]
    server.script(calling(*edits[:number]), Answer("Done."))
    window.composer.send("Shorten them.")
    approve_all(window, qtbot)
    (card,) = window.chat.edits()
    window.press("Show the changes")
    labels = [label.whole for label in card.findChildren(ElidedLabel) if label.isVisible()]
    assert labels.count(f"{TOMATOES} changed") == 1
    click_button(card, f"Open {TOMATOES}")
    qtbot.waitUntil(lambda: window.view.note.path == TOMATOES)
    window.view.show_chat()
    undo(window, qtbot, "Undo" if number == 1 else "Undo all")
    assert not [b for b in card.findChildren(QPushButton) if b.isVisible() and "Open" in b.text()]


def test_the_limit_of_steps_is_told_at_once_and_later(window, server, qtbot) -> None:
    window.assistant.settings.set("agent.maxSteps", 1)
    look = ("list_folder", {"path": "garden"})
    server.script(calling(look, ("list_tags", {})), Answer("A garden."))
    window.composer.send("What is there?")
    qtbot.waitUntil(lambda: not window.chat.is_running)
    said = "Stopped after 2 steps. This is the answer from what was found."
    (answer,) = window.chat.answers()
    assert answer.ending == said
    session = window.chat.session
    window.chat.new()
    window.chat.reopen(session)
    qtbot.waitUntil(lambda: bool(window.chat.answers()))
    assert window.chat.answers()[0].ending == said


def test_a_note_that_changed_since_is_not_undone(window, server, notes, qtbot) -> None:
    server.script(calling(edit(TOMATOES, MATINA, "Matina is early.\n")), Answer("Done."))
    window.composer.send("Shorten it.")
    approve_all(window, qtbot)
    (notes / TOMATOES).write_text("All new.\n", "utf-8")
    undo(window, qtbot, "Undo")
    (card,) = window.chat.edits()
    assert card.state.startswith("Nothing was undone:")
    assert TOMATOES in card.state
    assert card.undo.isEnabled()
    assert (notes / TOMATOES).read_text("utf-8") == "All new.\n"


def test_a_chat_that_is_opened_again_meanwhile_lists_all_changes_at_the_end(
    window, server, notes, qtbot
) -> None:
    paths = sorted(path for path in read_all(notes) if path.endswith(".md"))[:2]
    calls = [(f"c{n}", "append_to_note", {"path": p, "text": "More."}) for n, p in enumerate(paths)]
    server.script(
        Answer("", calls=tuple((id, name, json.dumps(given)) for id, name, given in calls)),
        Answer("Done."),
    )
    window.composer.send("Add to both.")
    wait_for_card(window, qtbot)
    QTest.mouseClick(window.chat.approvals()[0].approve, Qt.MouseButton.LeftButton)
    wait_for_card(window, qtbot)
    session = window.chat.session
    window.chat.new()
    window.chat.reopen(session)
    wait_for_card(window, qtbot)
    assert window.chat.edits() == []
    approve_all(window, qtbot)
    (card,) = window.chat.edits()
    assert card.text.startswith("2 notes changed")


def wait_for_card(window: WindowPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: any(card.is_armed for card in window.chat.approvals()))


def test_changes_before_a_failure_can_be_undone_and_the_failure_is_told_once(
    window, server, notes, qtbot
) -> None:
    before = read_all(notes)
    server.script(
        calling(("create_note", {"path": "Garden summary.md", "text": SUMMARY})),
        Failure.saying(400, "no more of this"),
    )
    window.composer.send("Summarise the folder garden into a new note.")
    assert approve_all(window, qtbot) == ["Create a note?"]
    qtbot.waitUntil(lambda: bool(window.chat.edits()))
    (failure,), (card,) = window.chat.failures(), window.chat.edits()
    assert "no more of this" in failure.title.text()
    kept = ["What had arrived is kept."]
    qtbot.waitUntil(lambda: [answer.ending for answer in window.chat.answers()] == kept)
    assert card.text == "Garden summary.md created"
    undo(window, qtbot, "Undo")
    assert read_all(notes) == before
    server.script(Answer("Well."))
    window.composer.send("And now?")
    qtbot.waitUntil(lambda: not window.chat.is_running)
    session = window.chat.session
    window.chat.new()
    window.chat.reopen(session)
    qtbot.waitUntil(lambda: len(window.chat.answers()) == 2)
    assert "no more of this" in window.chat.answers()[0].ending
    window.composer.send("And then?")
    qtbot.waitUntil(lambda: len(window.chat.answers()) == 3 and not window.chat.is_running)
    assert "no more of this" in window.chat.answers()[0].ending


def test_a_move_that_changes_no_text_says_so(window, server, notes, qtbot) -> None:
    server.script(
        calling(
            ("create_note", {"path": "Empty.md", "text": ""}),
            ("move_note", {"path": "Empty.md", "to": "garden/Empty.md"}),
        ),
        Answer("Moved."),
    )
    window.composer.send("Make an empty note in the folder garden.")
    shown: list[list[str]] = []
    for _ in range(2):
        qtbot.waitUntil(lambda: any(card.is_armed for card in window.chat.approvals()))
        (card,) = window.chat.approvals()
        shown.append([line.strip() for line in window.chat.read_diff(card)])
        QTest.mouseClick(card.approve, Qt.MouseButton.LeftButton)
    assert shown == [["The note is empty."], ["The text stays as it is."]]
    qtbot.waitUntil(lambda: not window.chat.is_running)
