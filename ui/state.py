"""The window state saved between runs: sizes, positions, the open chat, font scale, drafts.

If the state file is missing or damaged, the default layout is used.
"""

import json
import logging
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from resources.system.files import make_private_folder, write_atomically

__all__ = ["WindowState", "load_drafts", "load_state", "save_drafts", "save_state"]

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
