"""The window's frame: columns, panels and composer, with their saved sizes and positions.

The frame is painted before the other packages are loaded. Therefore this module must not import
`app`, `chains`, `context` or `vault`, except for type checking.
"""

import base64
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QChildEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QMoveEvent, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QDialog, QMainWindow, QWidget

from app.crashes.recorder import count_crashes
from app.startup import StartupInfo
from resources import sample_vault
from ui.actions import Keymap
from ui.chat.composer.composer import Composer
from ui.chat.middle import Middle
from ui.notify import Notifier
from ui.panels.docks import RightColumn
from ui.panels.index.state import IndexState
from ui.panels.notes.folders import Folders
from ui.panels.sidebar import Rail, Sidebar
from ui.panels.vault_switcher import folder_name
from ui.state import load_state, save_state
from ui.tasks import LatestWriter
from ui.theme import Theme, tokens
from ui.widgets.columns import Columns
from ui.widgets.dialogs import DialogWatch

if TYPE_CHECKING:
    from ui.chat.transcript.transcript import Transcript
    from ui.panels.docks import Docking
    from ui.panels.notes.note_panel import NotePanel

__all__ = ["Navigation", "WindowFrame", "choose_start"]

_HINT_MESSAGES = 10
_CRASHES_IN_A_ROW = 2  # after them, what was open may be the cause
_MOST_RECENT = 8
_SAVED_AFTER_MS = 1_000
# Upper limit for title bar and borders; desktops report their size only for a shown window.
_BORDERS = QSize(16, 48)


@dataclass(frozen=True)
class Navigation:
    """Functions that controllers call to open notes, chats, settings and folders.

    Attributes:
        show_note: opens a note, given its path and the first and last line to highlight. 0 and 0
            highlight no line.
        open_session: opens a chat by its session ID. None starts a new chat.
        open_settings: opens the settings at a page, given its name, or at a setting, given its key.
        open_folder: opens a folder as the vault.
        choose_folder: lets the user choose a folder and opens it as the vault.
        run_command: runs a window command by its name.
        open_project: opens a folder as a project, given by its path relative to the vault or its
            full path.
        set_model: opens the first-run dialog at the model step.
        enter_key: opens the settings at the API key of a provider or server address.
        show_chat: shows the chat again if a note or another page covers it.
    """

    show_note: Callable[[str, int, int], object]
    open_session: Callable[[str | None], object]
    open_settings: Callable[[str], object]
    open_folder: Callable[[Path], object]
    choose_folder: Callable[[], object]
    run_command: Callable[[str], object]
    open_project: Callable[[str], object]
    set_model: Callable[[], object]
    enter_key: Callable[[str], object]
    show_chat: Callable[[], object]


class WindowFrame(QMainWindow):
    """The main window's three columns, restored to their saved sizes and positions.

    The signal `first_painted` is emitted once, when the window has been drawn for the first time.
    `MainWindow.attach` sets all attributes except `is_reset` and `early_names`.

    Attributes:
        transcript: the messages of the open chat.
        note: the panel that shows a note.
        docking: shows the panels of the right column.
        is_reset: whether the layout and the open chat were not restored, after crashes in a row.
        early_names: the tree of notes that is listed until the vault is open.
        navigation: functions that controllers call to open notes, chats, settings and folders.
    """

    first_painted = Signal()
    transcript: "Transcript"
    note: "NotePanel"
    docking: "Docking"
    navigation: Navigation

    def __init__(self, look: StartupInfo) -> None:
        super().__init__()
        self._state_path = look.state / "window.json"
        self._state = load_state(self._state_path)
        crashes = count_crashes(look.state / "crashes", "window", self._state.closed)
        self.is_reset = crashes >= _CRASHES_IN_A_ROW
        if self.is_reset:
            self._state = self._state.reset()
        self._writer = LatestWriter(partial(save_state, self._state_path))
        self._is_painted = self._is_sent_early = self._is_begun = self._wants_new_chat = False
        self._early_note = ""
        self.early_names = Folders()
        self._saving = QTimer(self, singleShot=True, interval=_SAVED_AFTER_MS)
        self._saving.timeout.connect(self._remember)
        self.dialogs = DialogWatch(self)
        self._make_views()
        self._restore(look)

    @property
    def font_scale(self) -> float:
        """The saved font scale. 1.0 is the normal text size."""
        return self._state.font_scale

    @property
    def note_folder(self) -> str:
        """The folder in the vault into which a chat was last saved as a note."""
        return self._state.note_folder

    @note_folder.setter
    def note_folder(self, folder: str) -> None:
        self._state.note_folder = folder

    def show_names(self, folders: Folders) -> None:
        """List the notes before the vault is open. A note that the user clicks is opened later."""
        if not self._is_begun:
            self.early_names = folders
            self.sidebar.show_notes(folders, "")
            self.sidebar.notes.open_folders_again(self._state.open_folders)

    def take_early_note(self) -> str:
        """Return the note that was clicked before the vault was open, or an empty string."""
        self._is_begun = True
        return self._early_note

    def _on_note_chosen(self, path: str) -> None:
        if not self._is_begun:
            self._early_note = path

    def find_last_chat(self, vault: Path | None) -> str:
        """Return the ID of the chat to reopen, or "" if the user already asked for a new one."""
        return "" if self._wants_new_chat else self._state.find_last_chat(vault)

    def _on_new_chat(self) -> None:
        self._wants_new_chat = not self._is_begun

    def restore_typed(self, typed: str) -> None:
        """Add text that the user typed while the vault was opening to the end of the draft.

        If the user has already pressed Send and there is no draft, the text is also sent.

        Args:
            typed: the text.
        """
        draft = self.composer.text()
        if not typed.strip():
            return
        self.composer.set_text(f"{draft}\n{typed}".strip())
        if self._is_sent_early and not draft.strip():
            self.composer.submitted.emit(typed)
        self._is_sent_early = False

    def remember_folder(self, folder: str) -> None:
        """Put an opened vault at the top of the list of recent vaults."""
        state = self._state
        others = (known for known in state.recent_folders if known != folder)
        state.recent_folders = [folder, *others][:_MOST_RECENT]
        self.sidebar.switcher.show_recent(state.recent_folders)
        self.remember_soon()

    def open_on_screen(self) -> None:
        """Show the window, at its saved position if there is one.

        If no position is saved and the window does not fit on the screen, it is maximized.
        """
        room = self.screen().availableSize()
        # The height must be smaller, because the title bar needs space.
        fits = self.width() <= room.width() and self.height() < room.height()
        if fits or self._state.geometry:
            self.show()
        else:
            self.resize(self.size().boundedTo(room * 0.9))
            self.showMaximized()

    def come_to_front(self) -> None:
        """Raise the window above all others, even if it is minimized."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()
        QApplication.alert(self)  # in case the desktop does not let the window come to the front

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the window. Emit `first_painted` the first time."""
        super().paintEvent(event)
        if not self._is_painted:
            self._is_painted = True
            self.first_painted.emit()

    def childEvent(self, event: QChildEvent) -> None:
        """Watch each dialog of the window from the time at which it is first shown."""
        super().childEvent(event)
        if event.polished() and isinstance(dialog := event.child(), QDialog):
            self.dialogs.watch(dialog)

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
        self.composer.submitted.connect(self._on_submitted)
        self.sidebar.note_chosen.connect(self._on_note_chosen)
        for column in (self.sidebar, self.rail):
            column.new_chat_requested.connect(self._on_new_chat)
        self.setWindowTitle("Strata")
        layout = tokens()["layout"]
        self.setMinimumSize(*layout["window_min"])
        room = self.screen().availableSize() - _BORDERS
        self.resize(QSize(*layout["window_default"]).boundedTo(room))

    def _restore(self, look: StartupInfo) -> None:
        Keymap.current().apply(look.keys, look.send_key)
        state = self._state
        self.restoreGeometry(QByteArray(base64.b64decode(state.geometry)))
        self.column.restore(QByteArray(base64.b64decode(state.docks)))
        self.column.proportions.set_shares(state.shares)
        self.columns.set_widths(state.columns)
        self.columns.wants_sidebar = state.is_sidebar_open
        self.columns.wants_right = state.is_panel_open
        self.columns.arrange()
        self._show_sent_hint()
        self.sidebar.switcher.show_recent(state.recent_folders)
        self.middle.show_chat(look.vault is not None)
        name = folder_name(look.vault) if look.vault else ""
        self.sidebar.show_vault(name, str(look.vault or ""))
        if look.vault:  # it is opened after the first paint
            self.sidebar.footer.show_state(IndexState(message="Loading…"))
            self.composer.setFocus()

    def remember_soon(self) -> None:
        """Save the window state after one second, so that it survives a crash."""
        # The timer is not restarted, because frequent changes could then delay saving for ever.
        if self._is_painted and not self._saving.isActive():
            self._saving.start()

    def remember(self) -> None:
        """Save the window state now, so that a crash within the next second loses nothing."""
        if self._is_painted:
            self._remember()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Save the window's new size after a short delay."""
        super().resizeEvent(event)
        self.remember_soon()

    def moveEvent(self, event: QMoveEvent) -> None:
        """Save the window's new position after a short delay."""
        super().moveEvent(event)
        self.remember_soon()

    def _remember(self) -> None:
        self._saving.stop()
        self.remember_places()

    def remember_places(self) -> None:
        """Save the window's size and position, its columns and docks, and the font scale."""
        state = self._state
        state.geometry = base64.b64encode(self.saveGeometry().data()).decode()
        state.docks = base64.b64encode(self.column.places().data()).decode()
        state.shares = self.column.proportions.shares()
        state.columns = self.columns.widths()
        state.is_sidebar_open = self.columns.wants_sidebar
        state.is_panel_open = self.columns.wants_right
        state.font_scale = Theme.current().scale
        self._writer.put(replace(state))

    def finish_saving(self) -> None:
        """Wait until the window state has been written to disk."""
        self._writer.flush()

    def count_sent_message(self) -> None:
        """Count a sent message. After ten messages, hide the hint below the composer."""
        self._state.sent += 1
        self._show_sent_hint()

    def _show_sent_hint(self) -> None:
        self.composer.set_hint_visible(self._state.sent < _HINT_MESSAGES)

    def _on_submitted(self, _text: str) -> None:
        """Remember whether the user pressed Send before the vault was open."""
        self._is_sent_early = not hasattr(self, "navigation")

    def _on_columns_changed(self) -> None:
        columns = self.columns
        self.middle.set_columns(
            has_sidebar=columns.is_sidebar_shown,
            has_rail=not columns.is_sidebar_docked,
            has_panel=columns.is_right_shown,
        )
        self.remember_soon()

    def _zoom(self, step: int) -> None:
        steps = tokens()["font"]["scale_steps"]
        scale = Theme.current().scale
        at = min(range(len(steps)), key=lambda place: abs(steps[place] - scale))
        self.set_scale(steps[max(0, min(len(steps) - 1, at + step))] if step else 1.0)

    def set_scale(self, scale: float) -> None:
        """Set the font scale of the whole window. 1.0 is the normal text size."""
        Theme.current().apply(scale=scale)
        self.columns.arrange()
        self.remember_soon()

    def _next_region(self, step: int) -> None:
        shown = [region for region in self._regions() if region.isVisible()]
        focus = QApplication.focusWidget()
        at = [n for n, region in enumerate(shown) if focus and region.isAncestorOf(focus)]
        target = shown[((at[0] if at else 0) + step) % len(shown)]
        _focus_first(target)

    def _regions(self) -> list[QWidget]:
        return [
            self.composer,
            *self.notifier.list_regions(),
            self.column,
            self.sidebar,
            self.rail,
        ]

    def reset_layout(self) -> None:
        """Show all columns and panels at their default sizes and positions."""
        self.columns.wants_sidebar = self.columns.wants_right = True
        self.columns.set_widths([])
        self.column.reset()
        self.columns.arrange()


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
