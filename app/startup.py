"""Start in two steps, so that the window is painted before the program behind it is loaded.

The first look needs three facts, and reads them with the standard library alone: a settings schema,
chains and an index would take longer to import than the window takes to appear. `Startup.open` then
loads and opens everything, in a thread of the window; whatever is wrong with the settings or the
notes is said there, in the words of those who know them.
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
    """What a window shows and remembers before anything is open.

    Attributes:
        state: the folder of what can be made again.
        vault: the folder of notes that is about to be opened.
        theme: the setting `ui.theme`.
    """

    state: Path
    vault: Path | None = None
    theme: Theme = "system"


class Startup:
    """The assistant of this run, from its first look to its end."""

    def __init__(
        self,
        paths: Paths,
        overrides: Mapping[str, object] | None = None,
        folder: str | None = None,
    ) -> None:
        """Open nothing yet.

        Args:
            paths: where Strata's own files lie.
            overrides: settings for this run alone, by key.
            folder: the notes that were named for this run; None for those of the settings.
        """
        self._paths = paths
        self._overrides = dict(overrides or {})
        self._folder = folder
        self._assistant: Assistant | None = None

    def refuse_early(self) -> None:
        """Refuse what the command line names wrongly, before a window is there.

        Raises:
            BadSetting: an override names no setting or is out of its range.
            VaultError: the folder that was named cannot be opened.
        """
        if self._overrides:
            self._build()
        if self._folder is not None:
            check_folder(Path(self._folder))

    @property
    def log_file(self) -> Path:
        """The log of this run."""
        return self._paths.log_file

    @property
    def look(self) -> StartupInfo:
        """What is known at once; a setting that is not valid counts as not set."""
        settings = {**_read_settings(self._paths.settings_file), **self._overrides}
        folder = self._folder or settings.get("vault.path")
        vault = Path(folder).expanduser() if isinstance(folder, str) and folder else None
        return StartupInfo(
            self._paths.state,
            vault if vault is not None and vault.is_dir() else None,
            _THEMES.get(str(settings.get("ui.theme")), "system"),
        )

    def open(self) -> "Assistant":
        """Load the program and open the notes; what was open the last time may be gone by now.

        Raises:
            BadSetting: an override names no setting or is out of its range.
            VaultError: the folder that was named cannot be opened.
            StorageFailed: its index cannot be written.
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
        """Let go of everything that was opened."""
        if self._assistant is not None:
            self._assistant.close()

    def _build(self) -> "Assistant":
        from app.wiring import build

        if self._assistant is None:
            self._assistant = build(self._paths, self._overrides)
        return self._assistant


def sweep_texts(assistant: "Assistant") -> None:
    """Remove the long texts that were attached to chats which are gone by now."""
    paths = assistant.paths
    chats, drafts = paths.sessions.glob("*.jsonl*"), paths.state.glob("*.json")
    assistant.long_texts.sweep((*chats, *drafts))


def _read_settings(file: Path) -> dict[str, Any]:
    """Read two levels of the settings, as far as they can be read."""
    found: dict[str, Any] = {}
    with suppress(OSError, ValueError):  # the schema says what is wrong, when it is loaded
        for key, value in tomllib.loads(file.read_text("utf-8")).items():
            inner = value.items() if isinstance(value, dict) else ()
            found |= {f"{key}.{name}": below for name, below in inner}
    return found
