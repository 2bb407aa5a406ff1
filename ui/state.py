"""The window state saved between runs: sizes, positions, the open chat, font scale, drafts.

`WindowPlaces` restores the state of a window and saves its changes. If the state file is missing or
damaged, the default layout is used.
"""

import base64
import json
import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QByteArray, QObject, QTimer
from PySide6.QtWidgets import QMainWindow

from app.crashes.recorder import count_crashes
from resources.system.files import make_private_folder, write_atomically
from ui.tasks import LatestWriter
from ui.theme import Theme

if TYPE_CHECKING:
    from ui.panels.docks import RightColumn
    from ui.widgets.columns import Columns

__all__ = ["WindowPlaces", "WindowState", "load_drafts", "load_state", "save_drafts", "save_state"]

_CRASHES_IN_A_ROW: Final = 2  # after them, what was open may be the cause
_HINT_MESSAGES: Final = 10
_MOST_RECENT: Final = 8
_SAVED_AFTER_MS: Final = 1_000
_log = logging.getLogger(__name__)


@dataclass
class WindowState:
    """The saved state of the window: sizes, positions, and choices that are not settings.

    Attributes:
        geometry: the result of Qt's `saveGeometry`, in base64.
        docks: the docks' positions as Qt saves them, in base64.
        shares: the relative heights of the dock areas. Each key consists of the names of an area's
            docks, joined with spaces.
        columns: the widths of the sidebar and the right column, in pixels.
        session: the session ID of the open chat, or an empty string for a new chat.
        project: the project of the open chat, or an empty string. A chat in which nothing was asked
            has no file that tells it.
        is_set_up: whether the first-run dialog has been opened automatically, which happens only
            once.
        note_folder: the folder in the vault that is suggested when a chat is saved as a note.
        recent_folders: the paths of recently opened vaults, most recent first.
        sent: the number of messages sent so far. After ten messages, the hint below the composer is
            hidden.
        closed: when the window was closed normally the last time, in seconds since 1970.
    """

    geometry: str = ""
    docks: str = ""
    shares: dict[str, int] = field(default_factory=dict)
    columns: list[int] = field(default_factory=list)
    is_sidebar_open: bool = True
    is_panel_open: bool = True
    font_scale: float = 1.0
    session: str = ""
    project: str = ""
    sent: int = 0
    is_set_up: bool = False
    open_folders: list[str] = field(default_factory=list)
    note_folder: str = "Chats"
    recent_folders: list[str] = field(default_factory=list)
    closed: float = 0.0

    def reset(self) -> "WindowState":
        """Return the state without what could let the window crash again: layout and open chat."""
        return replace(
            WindowState(),
            font_scale=self.font_scale,
            sent=self.sent,
            is_set_up=self.is_set_up,
            note_folder=self.note_folder,
            recent_folders=self.recent_folders,
            closed=self.closed,
        )

    def find_last_chat(self, vault: Path | None) -> str:
        """Return the ID of the chat to reopen at startup, or an empty string for a new chat.

        A chat about the notes of the previous vault is not continued with those of another one.

        Args:
            vault: the vault that is opened, or None if there is none.
        """
        is_other = vault is not None and self.recent_folders[:1] not in ([], [str(vault)])
        return "" if is_other else self.session


class WindowPlaces(QObject):
    """Restores the saved state of a window, and saves its changes.

    Attributes:
        file: the file of the state.
        state: the saved state, with the changes that are not saved yet.
        is_reset: whether the layout and the open chat were not restored, after crashes in a row.

    Args:
        window: the window whose size and position are saved.
        folder: the folder for the program's own data that can be rebuilt.
    """

    def __init__(self, window: QMainWindow, folder: Path) -> None:
        super().__init__(window)
        self.file = folder / "window.json"
        state = load_state(self.file)
        crashes = count_crashes(folder / "crashes", "window", state.closed)
        self.is_reset = crashes >= _CRASHES_IN_A_ROW
        self.state = state.reset() if self.is_reset else state
        self._window = window
        self._is_saved = False
        self._collectors: list[Callable[[WindowState], None]] = []
        self._writer = LatestWriter(partial(save_state, self.file))
        self._saving = QTimer(self, singleShot=True, interval=_SAVED_AFTER_MS)
        self._saving.timeout.connect(self._save)

    @property
    def note_folder(self) -> str:
        """The folder in the vault into which a chat was last saved as a note."""
        return self.state.note_folder

    @note_folder.setter
    def note_folder(self, folder: str) -> None:
        self.state.note_folder = folder

    @property
    def needs_hint(self) -> bool:
        """Whether the hint below the composer is shown: until ten messages were sent."""
        return self.state.sent < _HINT_MESSAGES

    def restore(self, columns: "Columns") -> None:
        """Restore the size and position of the window, and the widths of its columns."""
        state = self.state
        self._window.restoreGeometry(QByteArray(base64.b64decode(state.geometry)))
        columns.set_widths(state.columns)
        columns.wants_sidebar = state.is_sidebar_open
        columns.wants_right = state.is_panel_open
        columns.arrange()
        self.collect_with(partial(_collect_columns, columns))

    def restore_docks(self, column: "RightColumn") -> None:
        """Restore the positions and heights of the docks in the right column."""
        column.restore(QByteArray(base64.b64decode(self.state.docks)))
        column.proportions.set_shares(self.state.shares)
        self.collect_with(partial(_collect_docks, column))

    def collect_with(self, collect: Callable[[WindowState], None]) -> None:
        """Call a function before each saving. It puts what it knows into the state."""
        self._collectors.append(collect)

    def begin(self) -> None:
        """Save changes from now on, because the window has been painted as it was restored."""
        self._is_saved = True

    def remember_folder(self, folder: str) -> list[str]:
        """Put an opened vault at the top of the recent vaults, and return them."""
        others = (known for known in self.state.recent_folders if known != folder)
        self.state.recent_folders = [folder, *others][:_MOST_RECENT]
        self.remember_soon()
        return self.state.recent_folders

    def remember_soon(self) -> None:
        """Save the window state after one second, so that it survives a crash."""
        # The timer is not restarted, because frequent changes could then delay saving for ever.
        if self._is_saved and not self._saving.isActive():
            self._saving.start()

    def remember(self) -> None:
        """Save the window state now, so that a crash within the next second loses nothing."""
        if self._is_saved:
            self._save()

    def remember_closing(self) -> None:
        """Save the state of a window that is being closed. `finish` waits until it is on disk."""
        self.state.closed = time()
        self._save()

    def finish(self) -> None:
        """Wait until the window state has been written to disk."""
        self._writer.flush()

    def _save(self) -> None:
        self._saving.stop()
        state = self.state
        state.geometry = base64.b64encode(self._window.saveGeometry().data()).decode()
        state.font_scale = Theme.current().scale
        for collect in self._collectors:
            collect(state)
        self._writer.put(replace(state))


def _collect_docks(column: "RightColumn", state: WindowState) -> None:
    state.docks = base64.b64encode(column.places().data()).decode()
    state.shares = column.proportions.shares()


def _collect_columns(columns: "Columns", state: WindowState) -> None:
    state.columns = columns.widths()
    state.is_sidebar_open = columns.wants_sidebar
    state.is_panel_open = columns.wants_right


def load_state(path: Path) -> WindowState:
    """Read the window state. Return the default state if the file is missing or damaged."""
    try:
        found: Any = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return WindowState()
    except (OSError, ValueError) as error:
        _log.warning("The window's places cannot be read and are reset: %s", error)
        return WindowState()
    return _read_state(found if isinstance(found, dict) else {})


def save_state(path: Path, state: WindowState) -> bool:
    """Save the window state, and return whether it was saved.

    If the file cannot be written, the error is logged.
    """
    try:
        make_private_folder(path.parent)
        write_atomically(path, json.dumps(asdict(state), indent=1).encode())
    except OSError as error:
        _log.warning("The window's places cannot be kept: %s", error)
        return False
    return True


def load_drafts(path: Path) -> dict[str, dict[str, Any]]:
    """Read the saved drafts, by session ID. Return an empty dict if the file cannot be read."""
    try:
        found: Any = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        _log.warning("The drafts cannot be read: %s", error)
        return {}
    items = found.items() if isinstance(found, dict) else ()
    return {chat: draft for chat, draft in items if isinstance(draft, dict)}


def save_drafts(path: Path, drafts: dict[str, dict[str, object]]) -> bool:
    """Save the drafts, and return whether they were saved.

    If the file cannot be written, the error is logged.

    Args:
        path: the file.
        drafts: the drafts as dicts, by session ID.
    """
    try:
        make_private_folder(path.parent)
        write_atomically(path, json.dumps(drafts, indent=1, ensure_ascii=False).encode())
    except OSError as error:
        _log.warning("The drafts cannot be kept: %s", error)
        return False
    return True


def _read_state(found: dict[str, Any]) -> WindowState:
    state = WindowState()
    for known in fields(state):
        value = found.get(known.name)
        if type(value) is type(getattr(state, known.name)):
            setattr(state, known.name, value)
    if not 0.5 <= state.font_scale <= 3:
        state.font_scale = 1.0
    state.shares = {names: share for names, share in state.shares.items() if _is_share(share)}
    state.columns = [width for width in state.columns if isinstance(width, int)]
    state.open_folders = [name for name in state.open_folders if isinstance(name, str)]
    state.recent_folders = [path for path in state.recent_folders if isinstance(path, str)]
    return state


def _is_share(share: object) -> bool:
    return isinstance(share, int) and 0 < share <= 100_000
