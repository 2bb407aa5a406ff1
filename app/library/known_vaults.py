"""The vaults that Obsidian knows on this computer, read from its own list.

Obsidian keeps the list in `obsidian.json`, in a folder that depends on the system and on how it was
installed. The file is only read. What cannot be read, or names a folder that does not exist, is
left out.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from resources.system.calls import SYSTEM, System
from resources.system.files import read_file

__all__ = ["KnownVault", "find_known_vaults", "list_obsidian_files", "list_vaults"]

MOST_VAULTS: Final = 20
MOST_BYTES: Final = 1_000_000
_FILE: Final = "obsidian.json"


@dataclass(frozen=True)
class KnownVault:
    """A vault that Obsidian knows.

    Attributes:
        folder: the folder of the vault.
        opened: when Obsidian last opened it, in milliseconds since 1970, or 0.
    """

    folder: Path
    opened: int = 0


def list_obsidian_files(
    environ: Mapping[str, str] = os.environ, home: Path | None = None, system: System = SYSTEM
) -> tuple[Path, ...]:
    """Return where Obsidian may keep its list of vaults.

    Args:
        environ: the environment variables.
        home: the home folder of the user, or None for the current user's.
        system: the operating system.
    """
    home = home or Path.home()
    if system == "windows":
        folders = [Path(environ.get("APPDATA") or home / "AppData" / "Roaming")]
    elif system == "macos":
        folders = [home / "Library" / "Application Support"]
    else:
        folders = [
            Path(environ.get("XDG_CONFIG_HOME") or home / ".config"),
            home / ".var" / "app" / "md.obsidian.Obsidian" / "config",
            home / "snap" / "obsidian" / "current" / ".config",
        ]
    return tuple(folder / "obsidian" / _FILE for folder in folders)


def find_known_vaults(files: tuple[Path, ...] | None = None) -> tuple[KnownVault, ...]:
    """Return the vaults that Obsidian knows and that exist, the one opened last first.

    Args:
        files: the lists of Obsidian, or None for those of the current user.
    """
    found: dict[Path, KnownVault] = {}
    for file in list_obsidian_files() if files is None else files:
        for vault in _read_list(file):
            found.setdefault(vault.folder, vault)
    newest_first = sorted(found.values(), key=lambda vault: -vault.opened)
    return tuple(newest_first[:MOST_VAULTS])


def list_vaults(path: str) -> list[dict[str, Any]]:
    """Return the vault in the settings and those that Obsidian knows, as dicts for JSON.

    Args:
        path: the setting `vault.path`.
    """
    folders = [str(vault.folder) for vault in find_known_vaults()]
    paths = dict.fromkeys([path, *folders] if path else folders)
    return [
        {"path": one, "name": Path(one).name, "open": one == path, "obsidian": one in folders}
        for one in paths
    ]


def _read_list(file: Path) -> Iterator[KnownVault]:
    vaults: Any = None
    with suppress(OSError, ValueError, RecursionError, AttributeError):
        vaults = json.loads(read_file(file, MOST_BYTES)).get("vaults")
    for entry in vaults.values() if isinstance(vaults, dict) else ():
        vault = _read_entry(entry)
        if vault is not None:
            yield vault


def _read_entry(entry: object) -> KnownVault | None:
    """Return the vault of an entry, or None if the entry is damaged or its folder is missing."""
    path, opened = (entry.get("path"), entry.get("ts")) if isinstance(entry, dict) else (None, 0)
    if not isinstance(path, str) or "\0" in path or not os.path.isabs(path):
        return None
    with suppress(OSError, ValueError):
        if os.path.isdir(path):
            return KnownVault(Path(path), opened if isinstance(opened, int) else 0)
    return None
