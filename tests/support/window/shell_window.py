"""The whole window for tests: filled with everything that has a place."""

from collections.abc import Callable

from PySide6.QtWidgets import QLabel

from chains.citations.answer_sources import Source
from tests.support.sessions.contexts import make_context
from ui.panels.index.state import IndexState, NotesByState
from ui.panels.notes.folders import Folders
from ui.window import MainWindow
from vault.records import NoteState
from vault.search.related import RelatedNote

Make = Callable[..., MainWindow]


def fill(window: MainWindow) -> None:
    """Show a chat in full swing, with everything that has a place."""
    notes = [NoteState(f"Folder {n % 7}/Note {n}.md", f"Note {n}", "indexed") for n in range(60)]
    window.sidebar.show_vault("A folder with quite a long name indeed", "/home/me/notes")
    window.sidebar.show_notes(Folders(notes), "")
    window.column.context.show_context(make_context(None, factor=1.1, reused=36_558))
    window.column.sources.show_rows(
        [Source("Tomatoes", "garden/Tomatoes.md", None, 1, is_verified=True)]
    )
    window.column.index.show_state(IndexState("running", 3_000, 12_000, 60, phase="embed"))
    failed = NoteState("A.md", "A", "failed", "It is no text.")
    window.column.index.show_notes(NotesByState([*notes, failed]))
    window.column.related.show_notes("A.md", [RelatedNote("B.md", "B", 0.5, is_linked=True)])
    window.middle.show_chat(True)
    window.middle.set_title("A question that is long enough to be cut in a narrow window " * 3)


def shown_texts(window: MainWindow) -> list[str]:
    return [label.text() for label in window.findChildren(QLabel) if label.isVisible()]
