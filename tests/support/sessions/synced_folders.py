"""A sync program between two folders, as Syncthing, Dropbox, OneDrive and iCloud work."""

import os
import time
from collections.abc import Callable
from pathlib import Path

# How programs name the copy of a file, of which both machines have changed the same version.
COPY_NAMES: dict[str, Callable[[str, str], str]] = {
    "Syncthing": lambda stem, end: f"{stem}.sync-conflict-20261127-184500-ABCDEFG{end}",
    "Dropbox": lambda stem, end: f"{stem} (Ada's conflicted copy 2026-11-27){end}",
    "Nextcloud": lambda stem, end: f"{stem} (conflicted copy 2026-11-27 184500){end}",
    "OneDrive": lambda stem, end: f"{stem}-DESKTOP-7Q2F{end}",
    "iCloud": lambda stem, end: f"{stem} 2{end}",
}
_PRIVATE = (".strata-checked",)


def make_old(copy: Path) -> None:
    """Give a copy a time at which its sync program has surely finished it."""
    os.utime(copy, (time.time() - 3600,) * 2)


class SyncedFolders:
    """Two folders that are kept alike. Where both were changed, the loser becomes a copy in both.

    Args:
        one: a folder.
        two: the other folder.
        program: a key of `COPY_NAMES`.
    """

    def __init__(self, one: Path, two: Path, program: str) -> None:
        self._folders = one, two
        self._name_copy = COPY_NAMES[program]
        self._synced: dict[str, bytes] = {}
        self._copies = 0

    def sync(self, winner: int) -> bool:
        """Make both folders alike, and return whether anything was changed.

        Args:
            winner: the folder, 0 or 1, whose version keeps its name where both were changed.
        """
        states = [_read(folder) for folder in self._folders]
        changed = False
        for name in sorted(set(states[0]) | set(states[1])):
            found = [state.get(name) for state in states]
            if found[0] != found[1]:
                changed = True
                self._settle(name, found, winner)
        self._synced = _read(self._folders[0])
        return changed

    def _settle(self, name: str, found: list[bytes | None], winner: int) -> None:
        base = self._synced.get(name)
        is_new = [one != base for one in found]
        if not all(is_new):
            self._put(name, found[is_new.index(True)])
        elif None in found:  # deleted here and changed there
            self._put(name, next(one for one in found if one is not None))
        else:
            self._put(name, found[winner])
            copy = self._choose_name(name)
            self._put(copy, found[1 - winner])
            for folder in self._folders:
                make_old(folder / copy)

    def _choose_name(self, name: str) -> str:
        stem, end = os.path.splitext(name)
        while any((folder / self._name_copy(stem, end)).exists() for folder in self._folders):
            stem = self._name_copy(stem, "")
        return self._name_copy(stem, end)

    def _put(self, name: str, content: bytes | None) -> None:
        for folder in self._folders:
            path = folder / name
            if content is None:
                path.unlink(missing_ok=True)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)


def _read(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name not in _PRIVATE)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
