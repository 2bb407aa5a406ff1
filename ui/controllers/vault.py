"""Between the open folder and what is seen of it: sidebar, footer, welcome, note panel."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.assistant import Assistant
from app.config.schema import use_labels
from app.errors import ErrorInfo, describe
from ui.chat.column import Middle
from ui.controllers.index import Indexing
from ui.controllers.index_panel import Tending
from ui.controllers.notes import Listing, Notes
from ui.controllers.related import Relating
from ui.controllers.watcher import Watching
from ui.notify import Notifier, announce
from ui.panels.index import IndexState
from ui.panels.rail import Rail
from ui.panels.right_column import RightColumn
from ui.panels.sidebar import Sidebar, folder_name
from ui.tasks import TaskRunner
from vault.errors import IndexBusy, VaultError
from vault.indexing.indexer import IndexProgress, IndexReport
from vault.notes.note import Note

__all__ = ["Librarian", "Shelves"]

_EMPTY = "No notes in this folder yet. Add Markdown files, or choose another folder."


@dataclass(frozen=True)
class Shelves:
    """What shows the notes."""

    sidebar: Sidebar
    rail: Rail
    middle: Middle
    column: RightColumn
    notifier: Notifier


class Librarian(QObject):
    """Keeps the views, the open folder and its index in step.

    `opened` is emitted when another folder is open, `indexed` when a run has ended, `note_shown`
    when the note panel has something to show, `offer_changed` with the count of notes, when they
    were indexed and what can be asked of them, `listed` with all that is in the folder.
    """

    opened = Signal()
    indexed = Signal()
    note_shown = Signal()
    offer_changed = Signal(int, object, object)
    listed = Signal(object)
    folder_requested = Signal()

    def __init__(
        self, assistant: Assistant, runner: TaskRunner, views: Shelves, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._assistant = assistant
        self._views = views
        self._folders_to_open: Sequence[str] = ()
        self.indexing = Indexing(assistant, runner, self)
        self.notes = Notes(assistant, runner, self)
        self.relating = Relating(assistant, runner, views.column.related, self)
        self._tending = Tending(assistant, runner, self.indexing, views.column.index)
        self._watching = Watching(runner, self)
        self._connect()
        self._connect_watching()

    def begin(self, open_folders: Sequence[str]) -> None:
        """Show the folder of the last time, or why it is not there."""
        self._folders_to_open = open_folders
        lost = self._assistant.settings.values.vault_path
        if self._assistant.vault is not None:
            self.show_opened()
        elif lost:
            message = f"The folder {lost} cannot be reached."
            self._views.middle.welcome.show_problem(message, "Nothing was deleted.")
        self._show_settings_problem()

    def show_opened(self) -> None:
        """Show the folder that the assistant has open, and bring its index up to date."""
        folder = self._assistant.vault
        if folder is None:
            return
        self._views.middle.welcome.clear_problem()
        self._views.middle.clear_notice()
        self._views.middle.show_chat(True)
        self._views.sidebar.show_vault(folder_name(folder), str(folder))
        self._views.column.note.clear()
        self.relating.forget()
        self.indexing.forget()
        self.indexing.start(is_background=True)
        self._watch()
        self.notes.list()
        self.opened.emit()

    def follow(self, link: str) -> None:
        """Show the note that a link in an answer names."""
        if not self.notes.follow(link):
            self._views.notifier.toast(f"There is no note named {link}.")

    def look_again(self) -> None:
        """Try the folder of the settings once more."""
        path = self._assistant.settings.values.vault_path
        if path:
            self.notes.open(Path(path))
        else:
            self._views.middle.welcome.clear_problem()

    def _connect(self) -> None:
        self.notes.opened.connect(self.show_opened)
        self.notes.open_failed.connect(self._on_open_failed)
        self.notes.listed.connect(self._on_listed)
        self.notes.read.connect(self._on_read)
        self.notes.read_failed.connect(self._on_read_failed)
        self.indexing.state_changed.connect(self._on_state)
        self.indexing.phase_changed.connect(self.notes.list)
        self.indexing.finished.connect(self._on_indexed)
        sidebar, footer = self._views.sidebar, self._views.sidebar.footer
        sidebar.note_chosen.connect(self.notes.show)
        sidebar.index_requested.connect(self.indexing.resume)
        footer.cancel_requested.connect(self.indexing.cancel)
        footer.pause_requested.connect(self.indexing.pause)
        footer.continue_requested.connect(self.indexing.resume)
        column = self._views.column
        column.note.closed.connect(self._on_note_closed)
        for panel in (column.related, column.index.lists):
            panel.note_chosen.connect(self.notes.show)
        self._views.middle.welcome.again_requested.connect(self.look_again)

    def _connect_watching(self) -> None:
        self._watching.progressed.connect(self._on_progressed)
        self._watching.looked.connect(self._on_looked)
        self._watching.changed.connect(self._on_changed)
        self._watching.failed.connect(self._on_watching_failed)
        self.notes.changed.connect(self._views.column.note.show_changed)
        self.notes.lost.connect(self._views.column.note.show_lost)

    def _watch(self) -> None:
        if self._assistant.library is not None:
            self._watching.start(self._assistant.library)

    def _on_progressed(self, progress: IndexProgress) -> None:
        if not self.indexing.is_running:
            self.indexing.show_progress(progress)

    def _on_looked(self) -> None:
        self.indexing.settle()
        self.notes.look_again()

    def _on_changed(self, _report: IndexReport) -> None:
        if self.indexing.state.kind == "failed":
            self.indexing.start(is_background=True)  # what failed then may be done now
        self._refresh()

    def _on_watching_failed(self, error: VaultError) -> None:
        if isinstance(error, IndexBusy):
            self.notes.list_soon()  # the other Strata has the change in hand
        elif not self.indexing.is_running:
            self.indexing.show_failure(error)

    def _refresh(self) -> None:
        """Show what the index holds now, in whatever shows it."""
        self.notes.list()
        self.relating.refresh()
        self._tending.refresh()
        self.indexed.emit()

    def _on_open_failed(self, _folder: Path | None, info: ErrorInfo) -> None:
        middle = self._views.middle
        announce(middle, info.message, is_urgent=True)
        if self._assistant.vault is None:
            middle.welcome.show_problem(info.message, info.hint or "Nothing was deleted.")
        else:
            self._note(info, ("Choose a folder", self.folder_requested.emit))

    def _show_settings_problem(self) -> None:
        problems = self._assistant.settings.problems
        if problems:
            self._note(describe(problems[0]))

    def _note(self, info: ErrorInfo, *actions: tuple[str, Callable[[], object]]) -> None:
        middle = self._views.middle
        dismiss = ("Dismiss", middle.clear_notice)
        said, hint = use_labels(info.message), use_labels(info.hint or "")
        middle.show_notice("amber", said, hint, *actions, dismiss)

    def _on_listed(self, listing: Listing) -> None:
        sidebar = self._views.sidebar
        sidebar.show_notes(listing.folders, "" if self.indexing.is_running else _EMPTY)
        sidebar.notes.open_folders_again(self._folders_to_open)
        self._folders_to_open = ()
        count, failed = (len(listing.by_state.of(state)) for state in ("indexed", "failed"))
        self.indexing.show_counts(count, failed)
        self._views.column.index.show_notes(listing.by_state)
        self.offer_changed.emit(count, listing.indexed_at, listing.questions)
        self.listed.emit(listing)

    def _on_state(self, state: IndexState) -> None:
        self._views.sidebar.footer.show_state(state)
        self._views.rail.show_state(state)

    def _on_indexed(self, _report: object) -> None:
        announce(self._views.sidebar, self.indexing.state.text)
        self._watch()  # it ends with the folder, and the folder is there
        self._refresh()

    def _on_note_closed(self) -> None:
        self.notes.put_away()
        self.relating.show_read("")

    def _on_read(self, note: Note, first: int, last: int) -> None:
        self._views.column.note.show_note(note, first, last)
        self.relating.show_read(note.path)
        self._views.sidebar.notes.select(note.path)
        self.note_shown.emit()

    def _on_read_failed(self, path: str, info: ErrorInfo) -> None:
        self._views.column.note.show_error(path, info.message, info.hint or "")
        self.note_shown.emit()
