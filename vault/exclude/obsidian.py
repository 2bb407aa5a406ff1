"""What `.obsidian/app.json` says about a vault: read, never written."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from vault.errors import NoteUnreadable, UnsafePath
from vault.notes.note import read_bytes

SETTINGS_PATH: Final = ".obsidian/app.json"
MAX_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class ObsidianSettings:
    """What is honoured of Obsidian's settings.

    Attributes:
        ignore_filters: "Excluded files": the beginning of a path, or `/a regular expression/`.
        attachment_folder: where attachments lie: below the vault, or with `./` below the note.
        problem: why the file could not be read, in a few words; empty where it could.
    """

    ignore_filters: tuple[str, ...] = ()
    attachment_folder: str = "/"
    problem: str = ""


def read_settings(root: Path) -> ObsidianSettings:
    """Read the settings of a vault; one that Obsidian never opened has the usual ones."""
    try:
        data = read_bytes(root, SETTINGS_PATH) if (root / SETTINGS_PATH).exists() else b"{}"
    except NoteUnreadable as error:
        return ObsidianSettings(problem=error.reason)
    except (OSError, UnsafePath):
        return ObsidianSettings(problem="it is not inside the vault, or cannot be looked at")
    if len(data) > MAX_BYTES:
        return ObsidianSettings(problem="it is too large to be Obsidian's settings")
    try:
        loaded = json.loads(data)
    except (ValueError, RecursionError):
        return ObsidianSettings(problem="its JSON cannot be read, so its filters are not used")
    return _settings(loaded if isinstance(loaded, dict) else {})


def _settings(loaded: dict[str, Any]) -> ObsidianSettings:
    filters = loaded.get("userIgnoreFilters")
    folder = loaded.get("attachmentFolderPath")
    return ObsidianSettings(
        tuple(text for text in filters if isinstance(text, str) and text.strip())
        if isinstance(filters, list)
        else (),
        folder if isinstance(folder, str) and folder else "/",
    )
