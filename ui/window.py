"""The main window: creates the controllers and connects the commands.

Start-up has two steps. `MainWindow(look)` creates the frame: columns, panels and the composer,
which accepts text at once. When the assistant is ready, `attach` creates the transcript and the
controllers. It imports their modules itself, since that takes longer than the first paint.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QFileDialog, QWidget

from app.startup import StartupInfo
from resources import sample_vault
from ui.actions import ShortcutsDialog, add_actions
from ui.frame import Navigation, WindowFrame
from ui.panels.index.state import IndexState
from ui.state import load_drafts, save_drafts
from ui.tasks import TaskRunner
from ui.theme import Theme

if TYPE_CHECKING:
    from app.assistant import Assistant
    from ui.controllers.agent.approvals import ApprovalController
    from ui.controllers.composer import ComposerController
    from ui.controllers.context import ContextController
    from ui.controllers.drafts import DraftStore
    from ui.controllers.index import IndexController
    from ui.controllers.messages import MessageController
    from ui.controllers.navigation import (
        PaletteController,
        ProjectController,
        SessionListController,
    )
    from ui.controllers.notes import NotesController
    from ui.controllers.session import SessionController
    from ui.controllers.vault import VaultController
    from ui.settings.dialog import SettingsDialog

__all__ = ["Controllers", "MainWindow"]


@dataclass(frozen=True)
class Controllers:
    """The controllers of a main window, created in `MainWindow.attach`."""

    session: "SessionController"
    sessions: "SessionListController"
    drafts: "DraftStore"
    composer: "ComposerController"
    context: "ContextController"
    messages: "MessageController"
    notes: "NotesController"
    index: "IndexController"
    vault: "VaultController"
    palette: "PaletteController"
    projects: "ProjectController"
    approvals: "ApprovalController"


class MainWindow(WindowFrame):
    """The main window: three columns and their controllers.

    `attached` is emitted when the controllers have been created.

    Attributes:
        controllers: the controllers of the views; set by `attach`.
    """

    attached = Signal()
    controllers: Controllers

    def __init__(self, look: StartupInfo, runner: TaskRunner | None = None) -> None:
        super().__init__(look)
        self.runner = runner or TaskRunner(self)
        self._settings: SettingsDialog | None = None
        self._is_attached = False

    def attach(self, assistant: "Assistant") -> None:
        """Create the controllers for an assistant, and connect them."""
        self.assistant = assistant
        self._add_late_views()
        self.navigation = self._make_navigation()
        self.controllers = self._make_controllers()
        self._actions = add_actions(self, self._commands())
        self._connect()
        is_open = assistant.vault is not None
        self.middle.show_chat(is_open)
        if not is_open:
            self.sidebar.show_vault("", "")
        self.sidebar.footer.show_state(IndexState())
        self._is_attached = True
        self.attached.emit()

    def begin(self) -> None:
        """Restore the chat and folders that were open at the last exit, and update the index."""
        controllers = self.controllers
        controllers.composer.load_models()
        controllers.sessions.refresh()
        controllers.projects.refresh()
        controllers.vault.begin(self._state.open_folders)
        typed = self.composer.text()
        if self._state.session:
            controllers.session.open(self._state.session)
        else:
            controllers.composer.open(None)
            controllers.context.refresh()
        if typed.strip():  # typed while the vault was being opened
            self.composer.set_text(f"{self.composer.text()}\n{typed}".strip())
        is_open = self.assistant.vault is not None
        (self.composer if is_open else self.middle.welcome.choose).setFocus()

    def open_folder(self, folder: Path) -> None:
        """Open a folder as the vault and index it."""
        self.controllers.notes.open(folder)

    def open_samples(self) -> None:
        """Open the sample vault that is shipped with Strata."""
        self.open_folder(sample_vault())

    def choose_folder(self) -> None:
        """Let the user choose a folder, and open it as the vault."""
        start = str(self.assistant.vault or Path.home())
        chosen = QFileDialog.getExistingDirectory(self, "Choose a folder of notes", start)
        if chosen:
            self.open_folder(Path(chosen))

    def open_project(self, named: str) -> None:
        """Open a folder as a project, and begin a chat in it."""
        self.controllers.projects.open(named)

    def show_note(self, path: str, first: int = 0, last: int = 0) -> None:
        """Show a note next to the chat, at the given lines; 0 means the whole note."""
        self.controllers.notes.show(path, first, last)

    def open_session(self, session: str | None) -> None:
        """Open a chat by its session id; None starts a new chat."""
        self.columns.close_drawer()
        if session is None or session != self.controllers.session.session:
            self.controllers.session.open(session)
        self.composer.setFocus()

    def run_command(self, name: str) -> None:
        """Run a window command by its name."""
        self._actions[name].trigger()

    def open_settings(self, page: str = "") -> None:
        """Open the settings dialog on a page. An empty name keeps the selected page."""
        from ui.settings.dialog import SettingsDialog

        if self._settings is None:
            self._settings = SettingsDialog(self.assistant, self.runner, self)
            self._settings.changed.connect(self._on_setting_changed)
            self._settings.scale_chosen.connect(self.set_scale)
            self._settings.index_requested.connect(self.controllers.index.start)
            self._settings.finished.connect(self._on_settings_closed)
        self._settings.set_preview(self.controllers.context.preview_call())
        self._settings.show_page(page)
        self._settings.show()
        self._settings.raise_()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Save the window state and end all tasks."""
        self._remember()
        self.runner.close()
        super().closeEvent(event)

    def _add_late_views(self) -> None:
        """Create the views that are not part of the first paint."""
        from ui.chat.transcript.transcript import Transcript
        from ui.panels.docks import Docking
        from ui.panels.index.panel import IndexPanel
        from ui.panels.notes.related import RelatedPanel

        self.column.take_panels(RelatedPanel(), IndexPanel())
        self.docking = Docking(self.columns, self.column, self.sidebar)
        self.transcript = Transcript()
        self.middle.take_transcript(self.transcript)

    def _make_controllers(self) -> Controllers:
        """Create the controllers; each one connects itself to the controllers it receives."""
        from ui.controllers.agent.approvals import ApprovalController
        from ui.controllers.agent.edits import EditsController
        from ui.controllers.attachments import AttachmentPicker
        from ui.controllers.composer import ComposerController
        from ui.controllers.context import ContextController
        from ui.controllers.drafts import DraftStore
        from ui.controllers.error_actions import ErrorActionController
        from ui.controllers.index import IndexController
        from ui.controllers.messages import CompactionController, MessageController
        from ui.controllers.navigation import (
            PaletteController,
            ProjectController,
            SessionListController,
        )
        from ui.controllers.notes import NotesController
        from ui.controllers.related import ReasonController, RelatedController
        from ui.controllers.session import SessionController
        from ui.controllers.vault import InstructionsController, VaultController

        base = (self.assistant, self.runner, self)
        place = self._state_path.with_name("drafts.json")
        drafts = DraftStore(load_drafts(place), partial(save_drafts, place), self)
        session = SessionController(*base)
        sessions = SessionListController(*base, session)
        composer = ComposerController(*base, session, drafts)
        context = ContextController(*base, session, composer)
        messages = MessageController(*base, session, sessions, composer, context)
        CompactionController(*base, session, composer, context)
        EditsController(*base, session)
        errors = ErrorActionController(*base, session)
        AttachmentPicker(self.assistant, self, composer.attach)
        ReasonController(*base, session)
        related = RelatedController(self.assistant, self.runner, self.column)
        notes = NotesController(*base, related)
        index = IndexController(*base, session)
        vault = VaultController(*base, session, composer, index, notes, related)
        instructions = InstructionsController(*base, session, vault)
        for changed in (errors.hooks_switched, instructions.decided, vault.opened, vault.indexed):
            changed.connect(context.refresh)
        projects = ProjectController(*base, session, sessions)
        vault.opened.connect(projects.refresh)
        palette = PaletteController(self, sessions, projects, notes)
        made = (session, sessions, drafts, composer, context, messages, notes, index, vault)
        approvals = ApprovalController(self.assistant, self, session)
        return Controllers(*made, palette, projects, approvals)

    def _make_navigation(self) -> Navigation:
        return Navigation(
            self.show_note,
            self.open_session,
            self.open_settings,
            self.open_folder,
            self.choose_folder,
            self.run_command,
            self.open_project,
        )

    def _commands(self) -> dict[str, Callable[[], object]]:
        """Return the function that runs each command, by command name."""
        controllers = self.controllers
        return {
            "new_chat": lambda: self.open_session(None),
            "find": controllers.palette.find,
            "answer_again": controllers.messages.answer_again,
            "edit_last": self.transcript.edit_last,
            "saw": controllers.context.show_last_request,
            "open_note": controllers.palette.open_notes,
            "attach": lambda: self.composer.completer.begin("@"),
            "attach_note": self.column.note.attach_selection,
            "palette": controllers.palette.open,
            "show_request": self.column.context.request_requested.emit,
            "previous_chat": lambda: self._step_chat(-1),
            "next_chat": lambda: self._step_chat(1),
            "focus_composer": self.composer.setFocus,
            "choose_mode": self.composer.open_modes,
            "choose_model": self.composer.open_models,
            "previous_message": lambda: self.transcript.step_message(-1),
            "next_message": lambda: self.transcript.step_message(1),
            "copy_answer": self.transcript.copy_last_answer,
            "copy_code": self.transcript.copy_last_code,
            "stop": self._stop,
            "toggle_related": self.docking.toggle_related,
            "toggle_index": self.docking.toggle_index,
            "read_again": controllers.index.resume,
            "pause_index": controllers.index.toggle_pause,
            "choose_folder": self.choose_folder,
            "open_project": controllers.projects.choose_folder,
            "toggle_sidebar": self.columns.toggle_sidebar,
            "toggle_panel": self.columns.toggle_right,
            "settings": self.open_settings,
            "larger": lambda: self._zoom(1),
            "smaller": lambda: self._zoom(-1),
            "normal_size": lambda: self._zoom(0),
            "next_region": lambda: self._next_region(1),
            "previous_region": lambda: self._next_region(-1),
            "reset_layout": self.reset_layout,
            "shortcuts": self._show_shortcuts,
            "quit": self.close,
        }

    def _connect(self) -> None:
        middle, welcome = self.middle, self.middle.welcome
        middle.sidebar_requested.connect(self.columns.toggle_sidebar)
        middle.panel_requested.connect(self.columns.toggle_right)
        middle.composer_resized.connect(self.notifier.set_bottom)
        self.column.close_requested.connect(self.columns.toggle_right)
        sidebar, rail = self.sidebar, self.rail
        for column in (sidebar, rail):
            column.new_chat_requested.connect(self._on_new_chat)
        for place in (sidebar, welcome):
            place.folder_requested.connect(self.choose_folder)
            place.samples_requested.connect(self.open_samples)
        for view in (sidebar.footer, rail):
            view.settings_requested.connect(self.open_settings)
        sidebar.chat_chosen.connect(self.open_session)
        rail.open_requested.connect(self.columns.toggle_sidebar)
        rail.index_requested.connect(self.docking.show_index)
        self.controllers.vault.indexed.connect(self._on_indexed)

    def _regions(self) -> list[QWidget]:
        card = self.controllers.approvals.card
        waiting = [] if card is None else [card]
        return [*waiting, self.transcript, *super()._regions()]

    def _remember(self) -> None:
        if self._is_attached:
            self._state.session = self.controllers.session.session or ""
            self._state.open_folders = self.sidebar.notes.open_folders()
            self.controllers.drafts.save()
        self.remember_places()

    def _step_chat(self, step: int) -> None:
        session = self.controllers.sessions.find_neighbour(step)
        if session is not None:
            self.open_session(session)

    def _stop(self) -> None:
        """Close the palette or drawer, refuse what waits for a decision, or stop the turn.

        Only the first of these is done that applies.
        """
        controllers = self.controllers
        steps = (controllers.palette.close, self.columns.close_drawer, controllers.approvals.refuse)
        if not any(step() for step in steps):
            controllers.session.stop()

    def _show_shortcuts(self) -> None:
        ShortcutsDialog(self).exec()

    def _on_new_chat(self) -> None:
        self.open_session(None)

    def _on_indexed(self) -> None:
        if self._settings is not None:
            self._settings.refresh_index()

    def _on_setting_changed(self, key: str) -> None:
        controllers = self.controllers
        if key == "ui.theme":
            Theme.current().apply(self.assistant.settings.values.ui_theme)
        elif key == "vault.exclude" and self.assistant.vault is not None:
            controllers.notes.open(self.assistant.vault, remember=False)
        elif key == "vault.path":
            controllers.vault.show_opened()
        elif key.startswith("chat."):
            controllers.composer.load_models()
        controllers.context.refresh()

    def _on_settings_closed(self) -> None:
        self.composer.setFocus()
