"""The main window: puts the parts together and carries commands between them.

It comes in two steps. `MainWindow(look)` is the frame: columns, panels and the composer, painted
and typed into at once. `attach` brings it to life when the notes are open; what it needs for that
(the transcript with its Markdown, the flows, the program below) is imported there and nowhere
above, since importing it takes longer than the window takes to appear.
"""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QFileDialog, QWidget

from app.opening import FirstLook
from resources import sample_vault
from ui.actions import ShortcutsDialog, add_actions
from ui.frame import Frame
from ui.panels.index import IndexState
from ui.state import load_drafts, save_drafts
from ui.tasks import TaskRunner
from ui.theme import Theme

if TYPE_CHECKING:
    from app.assistant import Assistant
    from ui.controllers.notes import Listing
    from ui.controllers.turns import Turn
    from ui.settings.dialog import SettingsDialog

__all__ = ["MainWindow"]


class MainWindow(Frame):
    """Three columns and the flows behind them; `attached` is emitted when they work."""

    attached = Signal()

    def __init__(self, look: FirstLook, runner: TaskRunner | None = None) -> None:
        super().__init__(look)
        self.runner = runner or TaskRunner(self)
        self._settings: SettingsDialog | None = None
        self._is_attached = False

    def attach(self, assistant: "Assistant") -> None:
        """Make what works on open notes, and connect it; the first step is over."""
        self._assistant = assistant
        self._make_flows()
        self._connect()
        is_open = assistant.vault is not None
        self._middle.show_chat(is_open)
        if not is_open:
            self._sidebar.show_vault("", "")
        self._sidebar.footer.show_state(IndexState())
        self._bringing.take_drops(self._middle, self._composer)
        self._is_attached = True
        self.attached.emit()

    def begin(self) -> None:
        """Show what the last time left open, and bring its index up to date."""
        self._presenter.load_models()
        self._chats.refresh()
        self._librarian.begin(self._state.open_folders)
        typed = self._composer.text()
        if self._state.session:
            self._talk.open(self._state.session)
        else:
            self._presenter.drafting.open(None)
            self._presenter.contexts.refresh()
        if typed.strip():  # while the notes were being opened
            self._composer.set_text(f"{self._composer.text()}\n{typed}".strip())
        is_open = self._assistant.vault is not None
        (self._composer if is_open else self._middle.welcome.choose).setFocus()

    def open_folder(self, folder: Path) -> None:
        """Open a folder of notes and index it."""
        self._librarian.notes.open(folder)

    def open_samples(self) -> None:
        """Open the notes that come with the program."""
        self._librarian.notes.open(sample_vault())

    def choose_folder(self) -> None:
        """Ask for a folder of notes and open it."""
        start = str(self._assistant.vault or Path.home())
        chosen = QFileDialog.getExistingDirectory(self, "Choose a folder of notes", start)
        if chosen:
            self.open_folder(Path(chosen))

    def show_note(self, path: str, first: int = 0, last: int = 0) -> None:
        """Open a note beside the conversation, at its lines."""
        self._librarian.notes.show(path, first, last)

    def open_settings(self, page: str = "") -> None:
        """Show the settings, at a page."""
        from ui.settings.dialog import SettingsDialog

        if self._settings is None:
            self._settings = SettingsDialog(self._assistant, self.runner, self)
            self._settings.changed.connect(self._on_setting_changed)
            self._settings.scale_chosen.connect(self._set_scale)
            self._settings.index_requested.connect(self._librarian.indexing.start)
            self._settings.finished.connect(self._on_settings_closed)
        self._settings.set_preview(self._presenter.contexts.preview_call())
        self._settings.show_page(page)
        self._settings.show()
        self._settings.raise_()

    def closeEvent(self, event: QCloseEvent) -> None:
        """End all work, and remember the places."""
        self._remember()
        self.runner.close()
        super().closeEvent(event)

    def _make_flows(self) -> None:
        from ui.chat.transcript.instructions_bar import InstructionsBar
        from ui.chat.transcript.transcript import Transcript
        from ui.controllers.chats import Chats
        from ui.controllers.drafts import Drafts
        from ui.controllers.drops import Bringing
        from ui.controllers.instructions import Instructing
        from ui.controllers.presenter import Presenter, Views
        from ui.controllers.search import Searching
        from ui.controllers.session import Conversation
        from ui.controllers.vault import Librarian, Shelves
        from ui.palette import Palette
        from ui.panels.index.panel import IndexPanel
        from ui.panels.notes.related import RelatedPanel
        from ui.panels.request_view import RequestView
        from ui.panels.reveal import Docking

        self._column.take_panels(RelatedPanel(), IndexPanel())
        self._docking = Docking(self._columns, self._column, self._sidebar)
        self._transcript = Transcript()
        self._middle.take_transcript(self._transcript)
        self._talk = Conversation(self._assistant, self.runner, self)
        views = Views(self._composer, self._transcript, self._column, self._notifier)
        place = self._state_path.with_name("drafts.json")
        self._drafts = Drafts(load_drafts(place), partial(save_drafts, place), self)
        self._presenter = Presenter(self._assistant, self.runner, self._talk, views, self._drafts)
        shelves = Shelves(self._sidebar, self._rail, self._middle, self._column, self._notifier)
        self._librarian = Librarian(self._assistant, self.runner, shelves, self)
        self._chats = Chats(self._assistant, self.runner, self._talk, self._sidebar)
        self._searching = Searching(
            Palette(self), self._middle, self._transcript, self._chats, self._librarian.notes
        )
        self._bringing = Bringing(self._assistant, self._presenter.drafting, self, self._notifier)
        bar = InstructionsBar()
        self._middle.add_bar(bar)
        self._instructing = Instructing(self._assistant, self.runner, bar)
        self._request = RequestView(self)
        self._add_actions()

    def _add_actions(self) -> None:
        self._actions = add_actions(
            self,
            {
                "new_chat": self._new_chat,
                "find": self._searching.find,
                "answer_again": self._presenter.answer_again,
                "edit_last": self._transcript.edit_last,
                "saw": self._presenter.show_last_request,
                "open_note": self._searching.open_notes,
                "attach": lambda: self._composer.completer.begin("@"),
                "attach_note": self._column.note.attach_selection,
                "palette": self._searching.open_palette,
                "show_request": self._column.context.request_requested.emit,
                "previous_chat": lambda: self._step_chat(-1),
                "next_chat": lambda: self._step_chat(1),
                "focus_composer": self._composer.setFocus,
                "choose_mode": self._composer.open_modes,
                "choose_model": self._composer.open_models,
                "previous_message": lambda: self._transcript.step_message(-1),
                "next_message": lambda: self._transcript.step_message(1),
                "copy_answer": self._transcript.copy_last_answer,
                "copy_code": self._transcript.copy_last_code,
                "stop": self._stop,
                "toggle_related": self._docking.toggle_related,
                "toggle_index": self._docking.toggle_index,
                "read_again": self._librarian.indexing.resume,
                "pause_index": self._librarian.indexing.toggle_pause,
                "choose_folder": self.choose_folder,
                "toggle_sidebar": self._columns.toggle_sidebar,
                "toggle_panel": self._columns.toggle_right,
                "settings": self.open_settings,
                "larger": lambda: self._zoom(1),
                "smaller": lambda: self._zoom(-1),
                "normal_size": lambda: self._zoom(0),
                "next_region": lambda: self._next_region(1),
                "previous_region": lambda: self._next_region(-1),
                "reset_layout": self._reset_layout,
                "shortcuts": self._show_shortcuts,
                "quit": self.close,
            },
        )

    def _connect(self) -> None:
        self._connect_sidebar()
        middle, welcome = self._middle, self._middle.welcome
        middle.sidebar_requested.connect(self._columns.toggle_sidebar)
        middle.panel_requested.connect(self._columns.toggle_right)
        middle.composer_resized.connect(self._notifier.set_bottom)
        welcome.folder_requested.connect(self.choose_folder)
        welcome.samples_requested.connect(self.open_samples)
        self._column.close_requested.connect(self._columns.toggle_right)
        self._column.note.attach_requested.connect(self._bringing.attach_note)
        self._column.related.attach_requested.connect(self._bringing.attach_note)
        self._column.sources.cited.connect(self._librarian.relating.show_cited)
        self._composer.file_requested.connect(self._bringing.choose_files)
        self._bringing.folder_dropped.connect(self.open_folder)
        librarian = self._librarian
        librarian.opened.connect(self._on_opened)
        librarian.indexed.connect(self._on_indexed)
        librarian.note_shown.connect(self._docking.show_note)
        librarian.offer_changed.connect(self._presenter.set_empty)
        librarian.listed.connect(self._on_listed)
        librarian.folder_requested.connect(self.choose_folder)
        self._talk.index_progressed.connect(librarian.indexing.show_progress)
        self._talk.turn_ended.connect(librarian.indexing.settle)
        self._talk.turn_begun.connect(self._on_turn_begun)
        self._talk.session_changed.connect(self._on_session_changed)
        self._talk.loaded.connect(self._on_chat_loaded)
        presenter = self._presenter
        presenter.place_chosen.connect(self.show_note)
        presenter.link_chosen.connect(librarian.follow)
        presenter.settings_requested.connect(self.open_settings)
        presenter.folder_requested.connect(self.choose_folder)
        presenter.panel_requested.connect(self._columns.show_right)
        presenter.explaining.told.connect(self._docking.show_sources)
        presenter.chats_changed.connect(self._chats.refresh)
        presenter.contexts.request_shown.connect(self._request.show_request)
        presenter.chat_requested.connect(self._on_chat_requested)
        presenter.drafting.asked.connect(self._on_asked)
        self._chats.titled.connect(self._middle.set_title)
        self._chats.failed.connect(self._notifier.toast)
        self._instructing.decided.connect(presenter.contexts.refresh)
        self._instructing.failed.connect(self._notifier.toast)
        self._searching.command_chosen.connect(self._run_command)
        self._searching.chat_chosen.connect(self._open_chat)
        self._searching.note_chosen.connect(self.show_note)

    def _connect_sidebar(self) -> None:
        sidebar, footer, rail = self._sidebar, self._sidebar.footer, self._rail
        sidebar.new_chat_requested.connect(self._new_chat)
        sidebar.chat_chosen.connect(self._open_chat)
        sidebar.notes.attach_requested.connect(self._bringing.attach_note)
        sidebar.notes.reason_requested.connect(self._presenter.explaining.explain)
        sidebar.folder_requested.connect(self.choose_folder)
        sidebar.samples_requested.connect(self.open_samples)
        footer.settings_requested.connect(self.open_settings)
        rail.open_requested.connect(self._columns.toggle_sidebar)
        rail.new_chat_requested.connect(self._new_chat)
        rail.settings_requested.connect(self.open_settings)
        rail.index_requested.connect(self._docking.show_index)

    def _regions(self) -> list[QWidget]:
        return [self._transcript, *super()._regions()]

    def _remember(self) -> None:
        if self._is_attached:
            self._state.session = self._talk.session or ""
            self._state.open_folders = self._sidebar.notes.open_folders()
            self._drafts.save()
        self._remember_places()

    def _on_opened(self) -> None:
        self._presenter.drafting.check()
        self._instructing.look()
        self._presenter.contexts.refresh()
        self._composer.setFocus()

    def _on_indexed(self) -> None:
        self._instructing.look()
        self._presenter.contexts.refresh()
        if self._settings is not None:
            self._settings.refresh_index()

    def _run_command(self, name: str) -> None:
        self._actions[name].trigger()

    def _on_listed(self, listing: "Listing") -> None:
        self._presenter.drafting.set_offers(listing.offers)

    def _new_chat(self) -> None:
        self._columns.close_drawer()
        self._talk.open(None)
        self._composer.setFocus()

    def _open_chat(self, session: str) -> None:
        self._columns.close_drawer()
        if session != self._talk.session:
            self._talk.open(session)
        self._composer.setFocus()

    def _on_chat_requested(self, session: str | None) -> None:
        if session is None:
            self._new_chat()
        else:
            self._open_chat(session)

    def _step_chat(self, step: int) -> None:
        session = self._chats.neighbour(step)
        if session is not None:
            self._open_chat(session)

    def _on_turn_begun(self, turn: "Turn") -> None:
        if turn.session is None:
            self._middle.set_title(turn.question)

    def _on_session_changed(self, session: str | None) -> None:
        self._sidebar.chats.select(session)
        if session is None:
            self._middle.set_title("")

    def _on_chat_loaded(self, transcript: object) -> None:
        self._middle.set_title(getattr(transcript, "title", ""))

    def _on_asked(self) -> None:
        self._state.sent += 1
        self._show_sent_hint()

    def _stop(self) -> None:
        if not self._searching.close() and not self._columns.close_drawer():
            self._talk.stop()

    def _show_shortcuts(self) -> None:
        ShortcutsDialog(self).exec()

    def _on_setting_changed(self, key: str) -> None:
        if key == "ui.theme":
            Theme.current().apply(self._assistant.settings.values.ui_theme)
        elif key == "vault.exclude" and self._assistant.vault is not None:
            self._librarian.notes.open(self._assistant.vault, remember=False)
        elif key == "vault.path":
            self._librarian.show_opened()
        elif key.startswith("chat."):
            self._presenter.load_models()
        self._presenter.contexts.refresh()

    def _on_settings_closed(self) -> None:
        self._composer.setFocus()
