"""What controllers know of the main window: its views, and functions to open things in it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtWidgets import QMainWindow

from ui.chat.composer.composer import Composer
from ui.chat.middle import Middle
from ui.chat.transcript.transcript import Transcript
from ui.early import EarlyActions
from ui.notify import Notifier
from ui.panels.docks import Docking, RightColumn
from ui.panels.notes.note_panel import NotePanel
from ui.panels.sidebar import Rail, Sidebar
from ui.state import WindowPlaces
from ui.widgets.columns import Columns
from ui.widgets.dialogs import DialogWatch

__all__ = ["Navigation", "WindowFrame"]


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
        come_to_front: raises the window above all others.
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
    come_to_front: Callable[[], object]


@dataclass(frozen=True)
class WindowFrame:
    """The views of a main window, which its controllers fill.

    Attributes:
        window: the window itself, the parent of dialogs and controllers.
        columns: the columns, which adapt to the width of the window.
        sidebar: the left column.
        rail: the bar of icons that replaces the sidebar in a narrow window.
        middle: the column of the chat.
        composer: the box in which messages are typed.
        transcript: the messages of the open chat.
        note: the panel that shows a note.
        column: the right column.
        docking: shows the panels of the right column.
        notifier: shows toasts.
        dialogs: knows which dialogs are open.
        places: the saved state of the window.
        early: what the user did before the vault was open.
        navigation: functions that open notes, chats, settings and folders.
    """

    window: QMainWindow
    columns: Columns
    sidebar: Sidebar
    rail: Rail
    middle: Middle
    composer: Composer
    transcript: Transcript
    note: NotePanel
    column: RightColumn
    docking: Docking
    notifier: Notifier
    dialogs: DialogWatch
    places: WindowPlaces
    early: EarlyActions
    navigation: Navigation

    def remember_folder(self, folder: str) -> None:
        """Put an opened vault at the top of the list of recent vaults."""
        self.sidebar.switcher.show_recent(self.places.remember_folder(folder))

    def count_sent_message(self) -> None:
        """Count a sent message. After ten messages, hide the hint below the composer."""
        self.places.state.sent += 1
        self.composer.set_hint_visible(self.places.needs_hint)
