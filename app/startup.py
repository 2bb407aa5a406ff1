"""Start the program in two steps, so that the window is painted before the rest is loaded.

`Startup.look` reads the three facts that the first paint needs with the standard library only:
importing the settings schema, chains and the index would take longer than opening the window.
`Startup.open` then loads and opens everything, in a thread of the window; errors in the settings or
the notes are raised there, with the messages of the modules that check them.
"""

import logging
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from app.errors import StorageFailed
from app.paths import Paths
from vault.errors import VaultError
from vault.paths import check_folder

if TYPE_CHECKING:
    from app.assistant import Assistant

__all__ = ["Startup", "StartupInfo"]

Theme = Literal["system", "light", "dark"]

_THEMES: Mapping[str, Theme] = {"light": "light", "dark": "dark"}

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class StartupInfo:
    """The data that the window needs before anything is open.

    Attributes:
        state: the folder for data that can be rebuilt.
        vault: the folder of notes to open; None if none is chosen or it does not exist.
        theme: the setting `ui.theme`.
    """

    state: Path
    vault: Path | None = None
    theme: Theme = "system"


class Startup:
    """The assistant of this run, from its early start to its end."""

    def __init__(
        self,
        paths: Paths,
        overrides: Mapping[str, object] | None = None,
        folder: str | None = None,
    ) -> None:
        """Store the options of this run; nothing is opened yet.

        Args:
            paths: the folders and files of Strata itself.
            overrides: settings for this run only, by key.
            folder: the folder of notes from the command line; None means the one in the settings.
        """
        self._paths = paths
        self._overrides = dict(overrides or {})
        self._folder = folder
        self._assistant: Assistant | None = None

    def refuse_early(self) -> None:
        """Check the options of the command line before a window is shown.

        Raises:
            BadSetting: an override names no setting or is out of its range.
            VaultError: the named folder cannot be opened.
        """
        if self._overrides:
            self._build()
        if self._folder is not None:
            check_folder(Path(self._folder))

    @property
    def log_file(self) -> Path:
        """The log file of this run."""
        return self._paths.log_file

    @property
    def look(self) -> StartupInfo:
        """The data for the first paint; settings that are not valid are ignored."""
        settings = {**_read_settings(self._paths.settings_file), **self._overrides}
        folder = self._folder or settings.get("vault.path")
        vault = Path(folder).expanduser() if isinstance(folder, str) and folder else None
        return StartupInfo(
            self._paths.state,
            vault if vault is not None and vault.is_dir() else None,
            _THEMES.get(str(settings.get("ui.theme")), "system"),
        )

    def open(self) -> "Assistant":
        """Load the program, open the notes and return the assistant.

        If the folder from the settings cannot be opened, that is logged, and no vault is open.

        Raises:
            BadSetting: an override names no setting or is out of its range.
            VaultError: the named folder cannot be opened.
            StorageFailed: the index of the named folder cannot be written.
        """
        from app.wiring import open_vault

        assistant = self._build()
        try:
            open_vault(assistant, self._folder)
        except (VaultError, StorageFailed) as error:
            if self._folder is not None:
                raise
            _log.warning("The folder of the last time was not opened: %s", error)
        sweep_texts(assistant)
        return assistant

    def close(self) -> None:
        """Close everything that was opened."""
        if self._assistant is not None:
            self._assistant.close()

    def _build(self) -> "Assistant":
        from app.wiring import build

        if self._assistant is None:
            self._assistant = build(self._paths, self._overrides)
        return self._assistant


def sweep_texts(assistant: "Assistant") -> None:
    """Remove the files of long pasted texts that no chat and no draft uses any more."""
    paths = assistant.paths
    chats, drafts = paths.sessions.glob("*.jsonl*"), paths.state.glob("*.json")
    assistant.long_texts.sweep((*chats, *drafts))


def _read_settings(file: Path) -> dict[str, Any]:
    """Read the settings file as far as it is readable; keys have the form `section.name`."""
    found: dict[str, Any] = {}
    with suppress(OSError, ValueError):  # the schema reports the error when it is loaded
        for key, value in tomllib.loads(file.read_text("utf-8")).items():
            inner = value.items() if isinstance(value, dict) else ()
            found |= {f"{key}.{name}": below for name, below in inner}
    return found
