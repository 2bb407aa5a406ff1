"""The names of the notes are shown before any note has been read for the index."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from chains.cancel import CancelToken
from tests.support.window.clicks import click_row
from tests.support.window.note_page import NotePage
from tests.support.window.window_pages import WindowPage, open_window
from ui.tasks import TaskRunner


@pytest.fixture
def window(assistant: Assistant, small_vault: Path, runner: TaskRunner, qtbot: QtBot) -> WindowPage:
    """A window over notes that were never indexed; nothing indexes them."""
    (small_vault / "Films.canvas").write_text("{}", "utf-8")
    (small_vault / "picture.png").write_bytes(b"")
    (small_vault / "backup.zip").write_bytes(b"")
    assistant.open_vault(small_vault, remember=False)
    window = open_window(assistant, runner, qtbot, is_begun=False)
    window.view.controllers.notes.list()
    return window


def test_the_tree_is_there_before_the_index(window: WindowPage) -> None:
    assert window.assistant.notes() == ()
    model = window.sidebar.view.notes.model()
    for path in ("garden/Tomatoes.md", "Watering.md", "Films.canvas", "picture.png"):
        assert model.find(path).isValid()
    assert not model.find("backup.zip").isValid()


def test_a_note_is_read_and_its_links_are_followed_before_the_index(
    window: WindowPage, small_vault: Path
) -> None:
    (small_vault / "Welcome.md").write_text("See [[Watering]].\n", "utf-8")
    note = NotePage(window.view)
    click_row(window.sidebar.view.notes, "Welcome.md")
    assert note.path == "Welcome.md"
    note.click_link("Watering")
    assert note.path == "Watering.md"


def test_nothing_is_said_of_notes_that_are_not_read_yet(window: WindowPage) -> None:
    listing = window.view.controllers.notes.listing
    assert listing.by_state.of("indexed") == ()
    assert listing.offers.notes == []


def test_after_the_index_the_states_are_those_of_the_index(window: WindowPage) -> None:
    for _ in window.assistant.index(CancelToken()):
        pass
    window.view.controllers.notes.list()
    notes = window.view.controllers.notes.listing.folders.notes
    assert notes == window.assistant.notes()
    assert "waiting" not in {note.state for note in notes}


def test_names_for_links_come_with_a_list_and_are_made_anew_only_for_other_notes(
    window: WindowPage, small_vault: Path
) -> None:
    notes = window.view.controllers.notes
    before = notes.listing.names
    assert {"watering", "tomatoes", "films.canvas"} <= before
    for _ in window.assistant.index(CancelToken()):
        pass
    notes.list()
    assert notes.listing.names is before
    assert not notes.listing.is_missing("Watering", "Welcome.md")
    assert notes.listing.is_missing("Frost", "Welcome.md")
    (small_vault / "Frost.md").write_text("# Frost", "utf-8")
    for _ in window.assistant.index(CancelToken()):
        pass
    notes.list()
    assert not notes.listing.is_missing("Frost", "Welcome.md")


def test_a_rule_excludes_a_name_before_the_index_too(
    assistant: Assistant, small_vault: Path
) -> None:
    assistant.settings.set("vault.exclude", ["garden/"])
    assistant.open_vault(small_vault, remember=False)
    assert assistant.library is not None
    names = {note.path: note.state for note in assistant.library.vault.list_names()}
    assert names["Watering.md"] == "waiting"
    assert all(state == "excluded" for path, state in names.items() if path.startswith("garden"))
