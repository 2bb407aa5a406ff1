"""Notes in the window: opened, gone, and folders that are opened or refused."""

from pathlib import Path

from app.assistant import Assistant
from tests.support.window.shell_window import Make, shown_texts
from ui.controllers.notes import NoteListing
from vault.notes.links import LinkResolver
from vault.notes.note import Note
from vault.records import NoteState


def test_a_note_opens_at_its_lines_beside_the_conversation(
    make: Make, assistant: Assistant, small_vault: Path
) -> None:
    assistant.open_vault(small_vault, remember=False)
    window = make(1440, is_begun=False)
    window.show_note("garden/Tomatoes.md", 3, 6)
    assert window.note.isVisible()
    assert window.note.path == "garden/Tomatoes.md"
    assert window.note.find_marked_lines() == (3, 6)
    assert not window.composer.isVisible()
    window.resize(1920, 900)
    assert window.note.isVisible()
    assert window.composer.isVisible()
    assert not window.column.sources_dock._head.is_folded


def test_closing_a_panel_gives_the_sources_their_header_back(
    make: Make, assistant: Assistant, small_vault: Path
) -> None:
    assistant.open_vault(small_vault, remember=False)
    window = make(1440, is_begun=False)
    window.run_command("toggle_related")
    assert window.column.sources_dock._head.is_folded
    window.run_command("toggle_related")
    assert not window.column.sources_dock._head.is_folded


def test_a_link_in_an_answer_opens_the_note_at_its_heading(
    make: Make, assistant: Assistant, small_vault: Path
) -> None:
    assistant.open_vault(small_vault, remember=False)
    window = make(1440, is_begun=False)
    notes = (NoteState("Watering.md", "Watering", "indexed"),)
    links = LinkResolver((note.path, ()) for note in notes)
    window.controllers.notes.listing = NoteListing(notes, links=links)
    window.controllers.reading.follow_link("note:Watering#In winter")
    assert window.note.find_marked_lines() == (7, 7)
    window.controllers.reading.follow_link("note:Nothing")
    assert window.notifier.texts() == ["There is no note named Nothing."]


def test_a_note_that_is_gone_says_so_in_its_place(
    make: Make, assistant: Assistant, small_vault: Path
) -> None:
    assistant.open_vault(small_vault, remember=False)
    window = make(1440, is_begun=False)
    window.show_note("gone.md")
    assert window.note.isVisible()
    assert not window.note.page.isVisible()


def test_a_folder_that_is_gone_is_named_where_the_notes_would_be(
    make: Make, assistant: Assistant, tmp_path: Path
) -> None:
    lost = str(tmp_path / "gone")
    assistant.settings.set("vault.path", lost)
    texts = shown_texts(make())
    assert f"The folder {lost} cannot be reached." in texts
    assert "Nothing was deleted." in texts


def test_a_folder_that_cannot_be_opened_leaves_the_open_one(
    make: Make, assistant: Assistant, small_vault: Path
) -> None:
    assistant.open_vault(small_vault, remember=False)
    window = make(is_begun=False)
    window.open_folder(small_vault / "nowhere")
    assert assistant.vault == small_vault.resolve()
    assert any("nowhere" in text for text in shown_texts(window))


def test_very_large_notes_are_read_without_holding_the_window(make: Make) -> None:
    window = make()
    text = "\n".join("word " * 20 for _ in range(60_000))
    window.note.show_note(Note("big.md", "big", text, "v"), 59_000, 59_001)
    assert len(window.note.page.views()) <= 12
    window.note.toggle_source()
    assert window.note.source.blockCount() <= 4_000
