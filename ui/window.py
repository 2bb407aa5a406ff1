"""The main window: opens chats, notes, settings and folders, and runs commands.

The window starts in three steps. `MainWindow(look)` creates what is painted first: the columns, and
the composer, which accepts text at once. `fill_column` then creates the panels of the right column.
When the assistant is ready, `attach` creates the transcript and the controllers. It imports their
modules only then, because importing them takes longer than the first paint. Therefore this module
must not import `chains`, `context` or `vault`, and of `app` only `app.startup`, except for type
checking.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from PySide6.QtCore import QChildEvent, QCoreApplication, QEvent, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QMoveEvent, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QDialog, QMainWindow, QTextEdit, QWidget

from app.startup import StartupInfo
from resources import sample_vault
from ui.actions import COMMANDS, Keymap
from ui.chat.composer.composer import Composer
from ui.chat.middle import Middle
from ui.early import EarlyActions
from ui.notify import DesktopNotifier, Notifier, open_file
from ui.panels.docks import RightColumn
from ui.panels.index.state import OPENING, IndexState
from ui.panels.notes.folders import Folders
from ui.panels.sidebar import Rail, Sidebar
from ui.panels.vault_switcher import folder_name
from ui.shortcuts import ShortcutsDialog, WindowActions
from ui.state import WindowPlaces, WindowState
from ui.tasks import TaskRunner
from ui.theme import Theme, tokens
from ui.widgets.columns import Columns
from ui.widgets.dialogs import DialogWatch, choose_folder
from ui.widgets.formatting import plural
from ui.widgets.menus import show_dialog
from vault.paths import locate_note

if TYPE_CHECKING:
    from app.assistant import Assistant
    from ui.chat.transcript.transcript import Transcript
    from ui.controllers.turns import ChatTurn
    from ui.frame import Navigation, WindowFrame
    from ui.panels.docks import Docking
    from ui.panels.notes.note_panel import NotePanel
    from ui.settings.dialog import SettingsDialog
    from ui.wiring import Controllers
    from vault.indexing.progress import IndexReport

__all__ = ["MainWindow", "choose_start"]

_LONG_S = 10
# Upper limit for title bar and borders; desktops report their size only for a shown window.
_BORDERS = QSize(16, 48)


class MainWindow(QMainWindow):
    """The main window: three columns and their controllers.

    Signals:
        first_painted: emitted once, when the window has been drawn for the first time.
        attached: emitted when the controllers have been created.

    Attributes:
        places: the saved state of the window.
        early: what the user did before the vault was open.
        transcript: the messages of the open chat, set by `attach`.
        note: the panel that shows a note, set by `attach`.
        docking: shows the panels of the right column, set by `attach`.
        frame: the views, for the controllers, set by `attach`.
        controllers: the controllers of the views, set by `attach`.
    """

    first_painted = Signal()
    attached = Signal()
    transcript: "Transcript"
    note: "NotePanel"
    docking: "Docking"
    frame: "WindowFrame"
    controllers: "Controllers"

    def __init__(self, look: StartupInfo, runner: TaskRunner | None = None) -> None:
        super().__init__()
        self._is_painted = self._is_attached = False
        self._settings: SettingsDialog | None = None
        self.places = WindowPlaces(self, look.state)
        self.dialogs = DialogWatch(self)
        self._make_views()
        self.early = EarlyActions(self.sidebar, self.rail, self.composer)
        self._restore(look)
        self.runner = runner or TaskRunner(self)
        self.desktop = DesktopNotifier(self)
        self.desktop.clicked.connect(self.come_to_front)

    def _make_views(self) -> None:
        self.columns = Columns(self)
        self.setCentralWidget(self.columns)
        # The order of creation is that of the Tab key.
        self.rail, self.sidebar = Rail(self.columns), Sidebar(self.columns.splitter)
        self.composer = Composer()
        self.middle = Middle(self.composer, self.columns.splitter)
        self.column = RightColumn(self.columns.splitter)
        self.notifier = Notifier(self.middle)
        self.columns.take(self.sidebar, self.rail, self.middle, self.column)
        self.columns.changed.connect(self._on_columns_changed)
        self.setWindowTitle("Strata")
        layout = tokens()["layout"]
        self.setMinimumSize(*layout["window_min"])
        room = self.screen().availableSize() - _BORDERS
        self.resize(QSize(*layout["window_default"]).boundedTo(room))

    def _restore(self, look: StartupInfo) -> None:
        Keymap.current().apply(look.keys, look.send_key)
        self.places.restore(self.columns)
        self.composer.set_hint_visible(self.places.needs_hint)
        self.sidebar.switcher.show_recent(self.places.state.recent_folders)
        self.middle.show_chat(look.vault is not None)
        name = folder_name(look.vault) if look.vault else ""
        self.sidebar.show_vault(name, str(look.vault or ""))
        if look.vault:  # it is opened after the first paint
            self.sidebar.footer.show_state(IndexState(message="Loading…"))
            self.composer.setFocus()

    def fill_column(self) -> None:
        """Create what would delay the first paint: the right column's panels, and the shortcuts."""
        if not self.column.is_filled:
            self.column.fill()
            self.places.restore_docks(self.column)
            self._actions = WindowActions(self, self._early_commands())

    def attach(self, assistant: "Assistant") -> None:
        """Create the controllers for an assistant and connect them to the window."""
        from ui.wiring import make_controllers

        self.assistant = assistant
        self._add_late_views()
        self.early.attach()
        self.frame = self._make_frame()
        drafts = self.places.file.with_name("drafts.json")
        self.controllers = make_controllers(assistant, self.runner, self.frame, drafts)
        self._add_actions()
        self._connect_columns()
        self._connect_controllers()
        self.places.collect_with(self._collect_chat)
        self._show_vault_state()
        self._is_attached = True
        self.attached.emit()

    def _add_late_views(self) -> None:
        """Create the views that are not visible when the window is painted for the first time."""
        from ui.chat.transcript.transcript import Transcript
        from ui.panels.docks import Docking
        from ui.panels.notes.note_panel import NotePanel

        self.fill_column()
        self.column.add_late_panels()
        self.docking = Docking(self.columns, self.column, self.sidebar)
        self.transcript = Transcript()
        self.middle.take_transcript(self.transcript)
        self.note = NotePanel()
        self.middle.take_note(self.note)

    def _make_frame(self) -> "WindowFrame":
        from ui.frame import WindowFrame

        return WindowFrame(
            window=self,
            columns=self.columns,
            sidebar=self.sidebar,
            rail=self.rail,
            middle=self.middle,
            composer=self.composer,
            transcript=self.transcript,
            note=self.note,
            column=self.column,
            docking=self.docking,
            notifier=self.notifier,
            dialogs=self.dialogs,
            places=self.places,
            early=self.early,
            navigation=self._make_navigation(),
        )

    def _make_navigation(self) -> "Navigation":
        from ui.frame import Navigation

        return Navigation(
            show_note=self.show_note,
            open_session=self.open_session,
            open_settings=self.open_settings,
            open_folder=self.open_folder,
            choose_folder=self.choose_folder,
            run_command=self.run_command,
            open_project=self.open_project,
            set_model=self.set_model,
            enter_key=self.enter_key,
            show_chat=self.show_chat,
            come_to_front=self.come_to_front,
        )

    def _add_actions(self) -> None:
        values = self.assistant.settings.values
        Keymap.current().apply(values.ui_keys, values.ui_send_key)
        self._actions.set_slots(self._commands())

    def _show_vault_state(self) -> None:
        is_open = self.assistant.vault is not None
        self.middle.show_chat(is_open)
        if not is_open:
            self.sidebar.show_vault("", "")
        self.sidebar.footer.show_state(OPENING if is_open else IndexState())

    def _collect_chat(self, state: WindowState) -> None:
        state.session = self.controllers.session.session or ""
        state.project = self.controllers.session.project or ""
        state.open_folders = self.sidebar.notes.open_folders()

    def begin(self) -> None:
        """Reopen the last chat and the open folders of the note tree, and update the index."""
        with self.controllers.context.hold_previews():
            self._open_last()

    def run_early_command(self) -> None:
        """Run the command that the user gave while the vault was opening, if there is one.

        It is not run below a dialog that was opened meanwhile, such as that of the first run.
        """
        command = self.early.take_command()
        if command and QApplication.activeModalWidget() is None:
            self.run_command(command)
            self.early.repeat_typing()

    def _open_last(self) -> None:
        controllers = self.controllers
        state, early = self.places.state, self.early
        last_chat = "" if early.wants_new_chat else state.find_last_chat(self.assistant.vault)
        if last_chat and not self.assistant.sessions.has(last_chat):
            lost, last_chat = last_chat, controllers.projects.begin_again(state.project)
            controllers.composer.move_draft(lost, last_chat)
        controllers.composer.load_models()
        controllers.sessions.refresh()
        controllers.projects.refresh()
        controllers.vault.begin(state.open_folders)
        typed = self.composer.text()
        if last_chat:
            controllers.session.open(last_chat)
        else:
            controllers.composer.open(None)
            controllers.context.refresh()
        for message in early.take_sent():
            controllers.composer.send_early(message)
        early.repeat_attaching()
        early.restore_typed(typed)
        if note := early.take_note():
            self.show_note(note)
        (self.middle.welcome.choose if self.assistant.vault is None else self.composer).setFocus()

    def show_names(self, folders: Folders) -> None:
        """List the notes before the vault is open. A note that the user clicks is opened later."""
        self.early.show_names(folders, self.places.state.open_folders)

    def open_on_screen(self) -> None:
        """Show the window, at its saved position if there is one.

        If no position is saved and the window does not fit on the screen, it is maximized.
        """
        room = self.screen().availableSize()
        # The height must be smaller, because the title bar needs space.
        fits = self.width() <= room.width() and self.height() < room.height()
        if fits or self.places.state.geometry:
            self.show()
        else:
            self.resize(self.size().boundedTo(room * 0.9))
            self.showMaximized()
        self.activateWindow()  # without a window manager, nothing else does, and no shortcut works

    def come_to_front(self) -> None:
        """Raise the window above all others, even if it is minimized."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()
        QApplication.alert(self)  # in case the desktop does not let the window come to the front

    def open_folder(self, folder: Path) -> None:
        """Open a folder as the vault and index it."""
        self.controllers.notes.open(folder)

    def open_path(self, path: Path) -> None:
        """Open a folder as the vault, or a note in the vault that holds it.

        Nothing happens if the folder is the open vault.
        """
        if not path.is_file():
            return None if path.resolve() == self.assistant.vault else self.open_folder(path)
        folder, note = locate_note(path, self.assistant.vault)
        if folder is None or folder == self.assistant.vault:
            return self.show_note(note)
        return self.controllers.notes.open(folder, note=note)

    def open_samples(self) -> None:
        """Open the sample vault that comes with Strata."""
        self.open_folder(sample_vault())

    def choose_folder(self) -> None:
        """Let the user choose a folder and open it as the vault."""
        start = choose_start(self.assistant.vault)
        chosen = choose_folder(self, "Choose a folder of notes", start)
        if chosen:
            self.open_folder(Path(chosen))

    def open_project(self, named: str) -> None:
        """Open a folder as a project and start a chat in it."""
        self.controllers.projects.open(named)

    def show_note(self, path: str, first: int = 0, last: int = 0) -> None:
        """Open a note and highlight the given lines. If `first` is 0, no line is highlighted."""
        self.controllers.reading.show(path, first, last)

    def open_session(self, session: str | None) -> None:
        """Open a chat by its session ID. None starts a new chat."""
        self.columns.close_drawer()
        self.show_chat()
        if session is None or session != self.controllers.session.session:
            with self.controllers.context.hold_previews():
                self.controllers.session.open(session)
        self.composer.setFocus()

    def show_chat(self) -> None:
        """Show the chat if a note or another page covers it, by closing that."""
        self.controllers.reading.show_chat()
        self.middle.close_page()

    def run_command(self, name: str) -> None:
        """Run a window command by its name."""
        self._actions.trigger(name)

    def offer_first_run(self) -> None:
        """Open the first-run dialog if it is needed and was not opened automatically before."""
        self.controllers.first_run.offer(self.places.state)

    def open_settings(self, page: str = "") -> None:
        """Open the settings dialog at a page, given its name, or at a setting, given its key.

        An empty name keeps the selected page.
        """
        self._show_settings().show_page(page)

    def set_model(self) -> None:
        """Open the first-run dialog at the model step."""
        self.controllers.first_run.open_step("Model")

    def enter_key(self, owner: str) -> None:
        """Open the settings at the API key of a provider or address. "" selects the model's key."""
        self._show_settings().show_key(owner)

    def _show_settings(self) -> "SettingsDialog":
        from ui.settings.dialog import SettingsDialog

        if self._settings is None:
            self._settings = SettingsDialog(self.assistant, self.runner, self)
            self._settings.changed.connect(self._on_setting_changed)
            self._settings.scale_chosen.connect(self.set_scale)
            self._settings.index_requested.connect(self.controllers.index.start)
            self._settings.setup_requested.connect(self.controllers.first_run.open_step)
            self._settings.file_requested.connect(partial(open_file, self.notifier))
            self._settings.restored.connect(self._on_restored)
            self.controllers.settings_file.changed.connect(self._settings.show_change)
        self._settings.set_preview(self.controllers.context.preview_call())
        self._settings.show()
        self._settings.raise_()
        return self._settings

    def _on_restored(self) -> None:
        """Show the chats and the settings that were restored from a backup."""
        self.controllers.sessions.refresh()
        for key in self.assistant.settings.list_written():
            self._on_setting_changed(key)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the window. Emit `first_painted` the first time."""
        super().paintEvent(event)
        if not self._is_painted:
            self._is_painted = True
            self.places.begin()
            self.first_painted.emit()

    def childEvent(self, event: QChildEvent) -> None:
        """Watch each dialog of the window from the time at which it is first shown."""
        super().childEvent(event)
        if event.polished():
            self.dialogs.watch_child(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Save the window's new size after a short delay."""
        super().resizeEvent(event)
        self.places.remember_soon()

    def moveEvent(self, event: QMoveEvent) -> None:
        """Save the window's new position after a short delay."""
        super().moveEvent(event)
        self.places.remember_soon()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Save the window state and what is typed in the fields, and end all tasks."""
        self.places.remember_closing()
        self._leave_fields()
        if self._is_attached:
            self.controllers.quick_ask.close()
            self.controllers.drafts.finish()
        self.runner.close()
        if self._settings is not None:
            self._settings.writer.finish()
        self.places.finish()
        super().closeEvent(event)

    def _leave_fields(self) -> None:
        """Take the focus from each field, which then saves its text, and close the dialogs."""
        dialogs = self.findChildren(QDialog)
        for window in (self, *dialogs):
            focused = window.focusWidget()
            if focused is not None:
                focused.clearFocus()
        for dialog in dialogs:
            dialog.close()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.MetaCall)  # a title comes by a queue

    def _early_commands(self) -> dict[str, Callable[[], object]]:
        """Return the commands before the vault is open. Most of them run only when it is open."""
        early = self.early
        return {
            **{one.name: partial(early.keep_command, one.name) for one in COMMANDS},
            "new_chat": early.want_new_chat,
            "stop": early.forget_command,
            "focus_composer": self.composer.setFocus,
            "choose_mode": self.composer.open_modes,
            "toggle_sidebar": self.columns.toggle_sidebar,
            "toggle_panel": self.columns.toggle_right,
            "reset_layout": self.reset_layout,
            "larger": lambda: self._zoom(1),
            "smaller": lambda: self._zoom(-1),
            "normal_size": lambda: self._zoom(0),
            "quit": self.close,
        }

    def _commands(self) -> dict[str, Callable[[], object]]:
        controllers = self.controllers
        return {
            "open_note": controllers.palette.open_notes,
            "attach": lambda: self.composer.completer.begin("@"),
            "palette": controllers.palette.open,
            "undo": self.notifier.press_undo,
            "show_request": self.column.context.request_requested.emit,
            "then_and_today": self.column.context.past_requested.emit,
            "rehearse": self.column.context.rehearsal_requested.emit,
            "toggle_related": self.docking.toggle_related,
            "toggle_index": self.docking.toggle_index,
            "look_after": self.docking.toggle_review,
            "judge_notes": controllers.judging.open,
            "pin_question": controllers.pinned.pin_question,
            "read_again": controllers.index.resume,
            "pause_index": controllers.index.toggle_pause,
            "choose_folder": self.choose_folder,
            "open_project": controllers.projects.choose_folder,
            "project_page": controllers.projects.show_page,
            "toggle_sidebar": self.columns.toggle_sidebar,
            "toggle_panel": self.columns.toggle_right,
            "settings": self.open_settings,
            "back_up": lambda: self.open_settings("Backup"),
            "first_run": controllers.first_run.open,
            "larger": lambda: self._zoom(1),
            "smaller": lambda: self._zoom(-1),
            "normal_size": lambda: self._zoom(0),
            "next_region": lambda: self._next_region(1),
            "previous_region": lambda: self._next_region(-1),
            "reset_layout": self.reset_layout,
            "look_for_update": controllers.updates.look,
            "shortcuts": self._show_shortcuts,
            "quit": self.close,
            **self._chat_commands(),
            **controllers.reading.list_commands(),
            **controllers.links.list_commands(),
        }

    def _chat_commands(self) -> dict[str, Callable[[], object]]:
        controllers = self.controllers
        return {
            "new_chat": lambda: self.open_session(None),
            "find": self._find,
            "search_chats": controllers.chats.begin_search,
            "rename_chat": controllers.chats.rename_open,
            "pin_chat": lambda: controllers.chats.mark_open("pinned"),
            "move_chat": controllers.palette.open_moves,
            "archive_chat": lambda: controllers.chats.mark_open("archived"),
            "save_note": controllers.saving.save_open_chat,
            "delete_chat": controllers.bin.delete_open,
            "empty_bin": controllers.bin.empty,
            "compact": controllers.compaction.compact,
            "answer_again": controllers.messages.answer_again,
            "continue_answer": controllers.messages.continue_answer,
            "quick_ask": controllers.quick_ask.open,
            "compare": controllers.versions.open_last,
            "edit_last": self.transcript.edit_last,
            "saw": controllers.context.show_last_request,
            "previous_chat": lambda: self._step_chat(-1),
            "next_chat": lambda: self._step_chat(1),
            "focus_composer": self._focus_composer,
            "choose_mode": self.composer.open_modes,
            "choose_model": self.composer.open_models,
            "previous_message": lambda: self._step_message(-1),
            "next_message": lambda: self._step_message(1),
            **self._list_copies(),
            "stop": self._stop,
        }

    def _connect_columns(self) -> None:
        middle, welcome = self.middle, self.middle.welcome
        self.dialogs.closed.connect(self._on_dialog_closed)
        for header in (middle, self.note.head):
            header.sidebar_requested.connect(self.columns.toggle_sidebar)
            header.panel_requested.connect(self.columns.toggle_right)
        middle.find_requested.connect(self._find)
        middle.columns_changed.connect(self.note.head.show_columns)
        middle.composer_resized.connect(self.notifier.set_bottom)
        self.notifier.set_guard(self.transcript.list_guarded_buttons)
        self.notifier.set_drawers(self.columns.list_drawers)
        self.columns.changed.connect(self.notifier.arrange)
        scroller = self.transcript.scroller
        for moved in (scroller.jump_moved, scroller.bar.valueChanged, scroller.bar.rangeChanged):
            moved.connect(self.notifier.arrange)
        self.column.close_requested.connect(self.columns.toggle_right)
        sidebar, rail = self.sidebar, self.rail
        for column in (sidebar, rail):
            column.new_chat_requested.connect(lambda: self.open_session(None))
        for place in (sidebar, welcome):
            place.folder_requested.connect(self.choose_folder)
            place.samples_requested.connect(self.open_samples)
        for view in (sidebar.footer, rail):
            view.settings_requested.connect(self.open_settings)
        sidebar.chat_chosen.connect(self.open_session)
        sidebar.recent_chosen.connect(lambda path: self.open_folder(Path(path)))
        rail.open_requested.connect(self.columns.toggle_sidebar)
        rail.index_requested.connect(self.docking.show_index)
        rail.search_requested.connect(self.controllers.chats.begin_search)

    def _connect_controllers(self) -> None:
        controllers = self.controllers
        controllers.vault.indexed.connect(self._on_indexed)
        controllers.bin.deleted.connect(controllers.drafts.forget)
        controllers.session.session_changed.connect(self.places.remember)
        # Its project is known only then.
        controllers.session.loaded.connect(lambda *_: self.places.remember_soon())
        controllers.session.turn_ended.connect(self._on_turn_ended)
        controllers.index.finished.connect(self._on_index_finished)
        changed = partial(self._on_setting_changed, "chat.model")
        controllers.first_run.model_set.connect(changed)
        controllers.settings_file.changed.connect(self._on_setting_changed)
        controllers.session.turn_begun.connect(self._on_turn_begun)

    def _regions(self) -> list[QWidget]:
        card = self.controllers.approvals.card
        waiting = [] if card is None else [card]
        pages = [] if self.middle.page is None else [self.middle.page]
        toasts = self.notifier.list_regions()
        columns = (self.column, self.sidebar, self.rail)
        return [*waiting, *pages, self.transcript, self.note, self.composer, *toasts, *columns]

    def _on_columns_changed(self) -> None:
        columns = self.columns
        self.middle.set_columns(
            has_sidebar=columns.is_sidebar_shown,
            has_rail=not columns.is_sidebar_docked,
            has_panel=columns.is_right_shown,
        )
        self.places.remember_soon()

    def _zoom(self, step: int) -> None:
        steps = tokens()["font"]["scale_steps"]
        scale = Theme.current().scale
        at = min(range(len(steps)), key=lambda place: abs(steps[place] - scale))
        self.set_scale(steps[max(0, min(len(steps) - 1, at + step))] if step else 1.0)

    def set_scale(self, scale: float) -> None:
        """Set the font scale of the whole window. 1.0 is the normal text size."""
        Theme.current().apply(scale=scale)
        self.columns.arrange()
        self.places.remember_soon()

    def _next_region(self, step: int) -> None:
        shown = [region for region in self._regions() if region.isVisible()]
        focus = QApplication.focusWidget()
        at = [n for n, region in enumerate(shown) if focus and region.isAncestorOf(focus)]
        target = shown[((at[0] if at else 0) + step) % len(shown)]
        _focus_first(target)

    def reset_layout(self) -> None:
        """Show all columns and panels at their default sizes and positions."""
        self.columns.wants_sidebar = self.columns.wants_right = True
        self.columns.set_widths([])
        self.column.reset()
        self.columns.arrange()

    def _step_chat(self, step: int) -> None:
        session = self.controllers.sessions.find_neighbour(step)
        if session is not None:
            self.open_session(session)

    def _step_message(self, step: int) -> None:
        self.show_chat()
        self.transcript.step_message(step)

    def _focus_composer(self) -> None:
        self.show_chat()
        self.composer.setFocus()

    def _stop(self) -> None:
        """Handle Esc: close what is open, reject a proposed change, or stop the turn.

        Only the first possible action is performed.
        """
        controllers = self.controllers
        close, refuse = self.columns.close_drawer, controllers.approvals.refuse
        links, reading = controllers.links, controllers.reading
        search = controllers.chats.end_search
        note, fix = reading.close_focused, controllers.fixes.refuse
        steps = (close, search, links.refuse, fix, note, self.middle.close_page, refuse)
        if not controllers.palette.close() and not any(step() for step in steps):
            controllers.session.stop()

    def _list_copies(self) -> dict[str, Callable[[], object]]:
        transcript = self.transcript
        return {"copy_answer": transcript.copy_last_answer, "copy_code": transcript.copy_last_code}

    def _find(self) -> None:
        """Search in the note if it has the focus or covers the chat, otherwise in the chat."""
        if not self.controllers.reading.find():
            self.controllers.palette.find()

    def _show_shortcuts(self) -> None:
        show_dialog(ShortcutsDialog(self))

    def _on_turn_ended(self, turn: "ChatTurn") -> None:
        """Show a desktop notification if the answer took long and the window is not active."""
        is_stopped = turn.error is not None and turn.error.code == "cancelled"
        if monotonic() - turn.started_s >= _LONG_S and not is_stopped:
            what = "The answer failed" if turn.result is None else "The answer is complete"
            self.desktop.tell(f"{what}: {turn.ask.question[:80]}")

    def _on_index_finished(self, report: "IndexReport") -> None:
        if report.seconds >= _LONG_S and report.is_complete:
            self.desktop.tell(f"The index is up to date: {plural(report.notes, 'note')}")

    def _on_turn_begun(self, _turn: object) -> None:
        self.controllers.settings_file.look()
        self.show_chat()

    def _on_indexed(self) -> None:
        if self._settings is not None:
            self._settings.index.refresh()

    def _on_setting_changed(self, key: str) -> None:
        controllers = self.controllers
        if key == "ui.theme":
            Theme.current().apply(self.assistant.settings.values.ui_theme)
        elif key == "ui.quickAsk":
            controllers.quick_ask.apply_setting()
        elif key == "vault.exclude" and self.assistant.vault is not None:
            controllers.notes.open(self.assistant.vault, remember=False)
        elif key == "vault.path":
            controllers.vault.show_opened()
        elif key.startswith(("chat.", "privacy.")):
            controllers.composer.load_models()
            chosen = controllers.session.model
            self.runner.call(partial(self.assistant.stop_other_models, chosen)).start()
        controllers.context.refresh()

    def _on_dialog_closed(self) -> None:
        """Return the focus to where it was, except to messages, in which nothing can be typed.

        The buttons of a message have the focus only if they were pressed by key, and get it back.
        """
        before = self.focusWidget()
        is_text = isinstance(before, QTextEdit) and self.transcript.isAncestorOf(before)
        if before is None or not before.isVisible() or is_text or before is self.transcript:
            self.composer.setFocus()


def choose_start(vault: Path | None) -> str:
    """Return the folder in which the dialog for choosing a vault starts.

    Args:
        vault: the open vault, or None if no vault is open.

    Returns:
        The parent folder of the vault, or the home folder if no vault or the sample vault is open.
    """
    is_own = vault is not None and vault != sample_vault().resolve()
    return str(vault.parent if vault is not None and is_own else Path.home())


def _focus_first(region: QWidget) -> None:
    """Focus a region of the window, or the first visible widget in it that accepts the focus."""
    if region.focusPolicy() & Qt.FocusPolicy.TabFocus or region.focusProxy() is not None:
        region.setFocus(Qt.FocusReason.TabFocusReason)
        return
    for widget in region.findChildren(QWidget):
        if widget.isVisible() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            widget.setFocus(Qt.FocusReason.TabFocusReason)
            return
