"""Merge the copies of settings and memories that a sync program made.

A program makes a copy if two machines wrote to one file. Memories get the lines of both. Settings
that only one file has are taken from it, and where both have one, that of the file which was
changed last. The other file is put aside, so nothing is lost. Copies of chats are merged by
`app.sessions.store`.
"""

import logging
import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from app.backup.contents import SETTINGS
from app.backup.merge import merge_lines, put_file_aside
from app.config.settings_file import SettingsStore, remove_setting
from app.errors import AppError, BadSetting
from app.paths import Paths
from resources.system.copies import find_copies, take_file
from resources.system.files import create_file, lock_folder, read_file, write_atomically

__all__ = ["NOT_TAKEN", "merge_text_copies"]

_log = logging.getLogger(__name__)
# Hooks are code of the user. The user switches them on again.
NOT_TAKEN: Final = "hooks.enabled"


def merge_text_copies(paths: Paths, settings: SettingsStore) -> None:
    """Merge the copies of settings and memories, and remove them. Failures are only logged."""
    for place in (paths.memories, *sorted(paths.projects.glob("*/memory.md"))):
        _merge_copies(place, _merge_memories)
    _merge_copies(paths.settings_file, partial(_merge_settings, paths, settings))


def _merge_copies(place: Path, merge: Callable[[Path, Path, bytes], object]) -> None:
    for copy in find_copies(place):
        try:
            take_file(copy, partial(merge, place, copy))
        except (AppError, OSError, ValueError) as error:
            _log.warning("%s was not merged into %s: %s", copy, place.name, error)


def _merge_memories(place: Path, _copy: Path, content: bytes) -> None:
    merge_lines(place, content)


def _merge_settings(
    paths: Paths, settings: SettingsStore, _place: Path, copy: Path, content: bytes
) -> None:
    """Merge a copy of the settings. The merged file replaces the former one at once."""
    place = Path(os.path.realpath(paths.settings_file))  # it may be a symbolic link
    with lock_folder(place.parent):
        own, other = read_file(place).decode(), content.decode()
        is_copy_newer = copy.stat().st_mtime_ns > place.stat().st_mtime_ns
        newer, older = (other, own) if is_copy_newer else (own, other)
        merged, is_whole = _add_settings(newer, older, own)
        if not is_whole:
            put_file_aside(paths, SETTINGS, older.encode())
        if merged != own:
            write_atomically(place, merged.encode())
    settings.reload()


def _add_settings(newer: str, older: str, own: str) -> tuple[str, bool]:
    """Return a settings file with what another one has beside it, and whether that is all of it.

    Args:
        newer: the text of the file whose settings count.
        older: the text of the other file.
        own: the text of the file that is in use, which alone decides whether hooks run.
    """
    with tempfile.TemporaryDirectory(prefix="strata-") as folder:
        result = _write_store(Path(folder, "newer.toml"), remove_setting(newer, NOT_TAKEN))
        added = _write_store(Path(folder, "older.toml"), remove_setting(older, NOT_TAKEN))
        used = _write_store(Path(folder, "own.toml"), own)
        taken = set(result.list_written())
        is_whole = not (added.problems or added.unknown)
        for key in added.list_written():
            try:
                if key not in taken:
                    result.set(key, added.get(key))
            except BadSetting as error:  # it does not agree with the newer ones
                _log.warning("The setting %s of a copy is put aside: %s", key, error)
            is_whole &= result.get(key) == added.get(key)
        if NOT_TAKEN in used.list_written():
            result.set(NOT_TAKEN, used.get(NOT_TAKEN))
        return read_file(result.path).decode(), is_whole


def _write_store(file: Path, text: str) -> SettingsStore:
    create_file(file, text.encode())
    return SettingsStore(file)
