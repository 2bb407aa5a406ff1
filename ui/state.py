"""The state of the window between two starts: places, sizes, the open chat, text size, drafts.

A state file that is missing or damaged means the default layout.
"""

import json
import logging
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from app.durable import write_atomically
from app.paths import make_private_folder

__all__ = ["WindowState", "load_drafts", "load_state", "save_drafts", "save_state"]

_log = logging.getLogger(__name__)


@dataclass
class WindowState:
    """Places and choices that are not settings.

    Attributes:
        geometry: the place of the window as Qt packs it, in base64; `docks` likewise.
        shares: the heights of the docks, by the names of those in one place.
        columns: the widths of sidebar, middle and right column.
        session: the id of the chat that was open.
        sent: the number of sent messages; after ten the hint below the composer is hidden.
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
    open_folders: list[str] = field(default_factory=list)


def load_state(path: Path) -> WindowState:
    """Read the state of the window; return the default state where there is none."""
    try:
        found: Any = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return WindowState()
    except (OSError, ValueError) as error:
        _log.warning("The window's places cannot be read and are reset: %s", error)
        return WindowState()
    return _read_state(found if isinstance(found, dict) else {})


def save_state(path: Path, state: WindowState) -> None:
    """Save the state; a disk error is only logged."""
    try:
        make_private_folder(path.parent)
        write_atomically(path, json.dumps(asdict(state), indent=1).encode())
    except OSError as error:
        _log.warning("The window's places cannot be kept: %s", error)


def load_drafts(path: Path) -> dict[str, dict[str, Any]]:
    """Read the drafts by session; return none where the file cannot be read."""
    try:
        found: Any = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        _log.warning("The drafts cannot be read: %s", error)
        return {}
    items = found.items() if isinstance(found, dict) else ()
    return {chat: draft for chat, draft in items if isinstance(draft, dict)}


def save_drafts(path: Path, drafts: dict[str, dict[str, object]]) -> None:
    """Save the drafts, so that they survive a crash."""
    try:
        make_private_folder(path.parent)
        write_atomically(path, json.dumps(drafts, indent=1, ensure_ascii=False).encode())
    except OSError as error:
        _log.warning("The drafts cannot be kept: %s", error)


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
    return state


def _is_share(share: object) -> bool:
    return isinstance(share, int) and 0 < share <= 100_000
