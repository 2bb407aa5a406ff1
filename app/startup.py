"""Start the program in two steps, so that the window is painted early.

`Startup.look` reads only what the first paint needs, using the standard library. `Startup.open`
then loads everything else in a background thread, and raises an exception if the settings or the
vault cannot be used.
"""

import logging
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from app.errors import StorageFailed, VaultNotChosen
from app.paths import Paths
from resources.system.files import read_file
from vault.errors import VaultError
from vault.paths import check_folder, locate_note

if TYPE_CHECKING:
    from app.assistant import Assistant
    from vault.records import NoteState

__all__ = ["Startup", "StartupInfo"]

Theme = Literal["system", "light", "dark"]

_THEMES: Mapping[str, Theme] = {"light": "light", "dark": "dark"}

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class StartupInfo:
    """The values needed for the first paint.

    Attributes:
        state: the folder for the program's own data that can be rebuilt.
        vault: the vault to open, or None if there is none or it does not exist.
        theme: the setting `ui.theme`.
        keys: the setting `ui.keys`.
        send_key: the setting `ui.sendKey`.
    """

    state: Path
    vault: Path | None = None
    theme: Theme = "system"
    keys: Mapping[str, Sequence[str]] = field(default_factory=dict)
    send_key: str = "Enter"


class Startup:
    """Opens the assistant at startup, and closes it at the end."""

    def __init__(
        self,
        paths: Paths,
        overrides: Mapping[str, object] | None = None,
        folder: str | None = None,
        path: str = "",
    ) -> None:
        """Store the options of this run. Nothing is opened yet.

        Args:
            paths: the folders and files of Strata itself.
            overrides: settings for this run only, by key.
            folder: the vault from the command line, or None for the one in the settings.
            path: the folder or file that the desktop asks to open, or an empty string. A folder is
                opened as the vault.
        """
        self._paths = paths
        self._overrides = dict(overrides or {})
        self._folder, self._path = folder, path
        self._note = ""
        if path:
            self._locate(Path(path))
        self._assistant: Assistant | None = None

    def refuse_early(self) -> None:
        """Check the command-line options before a window is shown.

        Raises:
            BadSetting: a setting is unknown or out of range.
            VaultNotChosen: the folder of the vault is blank.
            VaultError: the vault cannot be opened.
        """
        if self._overrides:
            self._build()
        if self._folder is not None:
            if not self._folder.strip():
                raise VaultNotChosen
            check_folder(Path(self._folder))

    @property
    def asked(self) -> str | None:
        """The folder or file that the user asked to open, or None."""
        return self._path or self._folder

    @property
    def note(self) -> str:
        """The path of the note to show, or an empty string."""
        return self._note

    @property
    def log_file(self) -> Path:
        """The log file of this run."""
        return self._paths.log_file

    @property
    def look(self) -> StartupInfo:
        """The values needed for the first paint of the window. Invalid settings are ignored."""
        settings = self._read_values()
        folder = self._folder or settings.get("vault.path")
        vault = Path(folder).expanduser() if isinstance(folder, str) and folder else None
        return StartupInfo(
            self._paths.state,
            vault if vault is not None and vault.is_dir() else None,
            _THEMES.get(str(settings.get("ui.theme")), "system"),
            _read_keys(settings.get("ui.keys")),
            str(settings.get("ui.sendKey")),
        )

    def list_files(self) -> "tuple[tuple[NoteState, ...], tuple[str, ...]]":
        """List the notes and the images of the vault that will be opened, as they are on disk.

        Raises:
            VaultError: the folder cannot be read.
            OSError: the folder cannot be read.
        """
        from app.library.images import list_attachable_images
        from vault.access import list_names

        folder, excluded = self.look.vault, self._read_values().get("vault.exclude")
        patterns = [str(one) for one in excluded] if isinstance(excluded, list) else []
        if folder is None:
            return (), ()
        return list_names(folder, patterns), list_attachable_images(folder, patterns)

    def open(self) -> "Assistant":
        """Load the program, open the vault, and return the assistant.

        If the vault in the settings cannot be opened, the error is logged and no vault is open.

        Raises:
            BadSetting: a setting is unknown or out of range.
            VaultError: the vault from the command line cannot be opened.
            StorageFailed: the index of that vault cannot be written.
        """
        from app.wiring import open_vault

        assistant = self._build()
        try:
            open_vault(assistant, self._folder)
        except (VaultError, StorageFailed) as error:
            if self._folder is not None:
                raise
            _log.warning("The folder of the last time was not opened: %s", error)
        _load_components(assistant)
        return assistant

    def close(self) -> None:
        """Close the assistant, if it was opened."""
        if self._assistant is not None:
            self._assistant.close()

    def _locate(self, path: Path) -> None:
        """Find out which vault to open for a path, and which note to show."""
        if not path.is_file():
            self._folder = str(path)
            return
        own = self._folder or self._read_values().get("vault.path")
        vault, self._note = locate_note(path, Path(own) if isinstance(own, str) and own else None)
        self._folder = self._folder if vault is None else str(vault)

    def _read_values(self) -> dict[str, Any]:
        """Return the settings of this run by key, without validating them."""
        return {**_read_settings(self._paths.settings_file), **self._overrides}

    def _build(self) -> "Assistant":
        from app.wiring import build

        if self._assistant is None:
            self._assistant = build(self._paths, self._overrides)
        return self._assistant


def _load_components(assistant: "Assistant") -> None:
    """Load what the assistant loads on first use, because that would make the window wait."""
    _ = assistant.titles, assistant.branches, assistant.compaction, assistant.history
    _ = assistant.model_setup, assistant.long_texts, assistant.agents.mcp


def sweep_files(assistant: "Assistant") -> tuple[str, ...]:
    """Remove expired chats, unused pasted texts and images, and old entries of the edit journal.

    Returns:
        The ids of the chats that were removed.
    """
    gone = assistant.sessions.bin.remove_expired()
    drafts = assistant.paths.state.glob("*.json")
    try:
        files = _list_chat_files(assistant)
        assistant.edits.prune({file.name.partition(".")[0] for file in files})
    except (VaultError, StorageFailed) as error:  # only edits and undo need the journal
        _log.warning("The journal of edits was not pruned: %s", error)
    try:
        assistant.long_texts.sweep(chain(_list_chat_files(assistant), drafts))
    except StorageFailed as error:
        _log.warning("Unused texts and images were not removed: %s", error)
    return gone


def _list_chat_files(assistant: "Assistant") -> Iterator[Path]:
    """Yield the files of all chats and of those in the bin, and what was cut off from them.

    The bin is listed twice, because a chat may be moved there or back meanwhile.
    """
    binned, chats = assistant.sessions.bin, assistant.paths.sessions
    yield from binned.list_all_files()
    yield from chats.glob("*.jsonl*")
    yield from binned.list_all_files()


def _read_keys(value: object) -> dict[str, list[str]]:
    """Return the valid entries of the setting `ui.keys`."""
    rows = value.items() if isinstance(value, dict) else ()
    return {name: [str(key) for key in keys] for name, keys in rows if isinstance(keys, list)}


def _read_settings(file: Path) -> dict[str, Any]:
    """Return the settings in a file, by key (`section.name`).

    Return an empty mapping if the file cannot be read.
    """
    found: dict[str, Any] = {}
    with suppress(OSError, ValueError, RecursionError):  # reported when the schema is loaded
        for key, value in tomllib.loads(read_file(file).decode("utf-8-sig")).items():
            inner = value.items() if isinstance(value, dict) else ()
            found |= {f"{key}.{name}": below for name, below in inner}
    return found
