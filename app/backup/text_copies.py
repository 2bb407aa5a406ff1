"""Merge the copies of settings and memories that a sync program made.

A program makes a copy if two machines wrote to one file. Memories get the lines of both, but for
those that the user has taken out. Settings that only one file has are taken from it, and where both
have one, that of the file which was changed last, or the stricter one if it protects the user.
Values that no setting takes are left out. The other file is put aside, so nothing is lost. Copies
of chats are merged by `app.sessions.store`.
"""

import logging
import os
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from app.backup.contents import SETTINGS
from app.backup.merge import add_settings, put_file_aside
from app.config.schema import schema
from app.config.settings import SHARES
from app.config.settings_file import BYTE_ORDER_MARK, SettingsStore, remove_setting
from app.errors import AppError, BadSetting, InvalidRequest
from app.library.forgotten import ForgottenLines
from app.paths import Paths
from app.relocation.merge import merge_lines
from resources.system.copies import find_copies, take_file
from resources.system.files import create_file, lock_folder, read_file, write_atomically

__all__ = ["NOT_TAKEN", "merge_text_copies"]

_log = logging.getLogger(__name__)
# Hooks are code of the user. The user switches them on again.
NOT_TAKEN: Final = "hooks.enabled"


def merge_text_copies(paths: Paths, settings: SettingsStore) -> list[str]:
    """Merge the copies of settings and memories, and remove them.

    A copy that cannot be read is put aside. Other failures are only logged.

    Returns:
        Sentences that tell the user what became of settings, and what was put aside.
    """
    sentences: list[str] = []
    of_projects = (folder / "memory.md" for folder in sorted(paths.projects.glob("*/")))
    for place in (paths.memories, *of_projects):  # also if all was taken out of one
        forgotten = ForgottenLines(place, paths.computer)
        try:
            forgotten.apply()
        except OSError as error:
            _log.warning("What was forgotten elsewhere is still in %s: %s", place, error)
        _merge_copies(paths, place, partial(_merge_memories, place, forgotten), sentences)
    merge = partial(_merge_settings, paths, settings)
    _merge_copies(paths, paths.settings_file, merge, sentences)
    return sentences


def _merge_copies(
    paths: Paths, place: Path, merge: Callable[[Path, bytes], str], sentences: list[str]
) -> None:
    """Merge the copies of a file.

    Args:
        paths: the folders of Strata.
        place: the file.
        merge: merges a copy with a content, and returns what the user is told.
        sentences: gets what the user is told.
    """

    def use(copy: Path, content: bytes) -> None:
        try:
            sentence = merge(copy, content)
        except InvalidRequest as error:
            _log.warning("%s was not merged into %s: %s", copy, place.name, error)
            aside = put_file_aside(paths, _name_copy(paths, copy), content)
            sentence = (
                f"{copy.name}, a copy of a sync program, cannot be read. It is kept as {aside}."
            )
        sentences.extend(filter(None, [sentence]))

    for copy in find_copies(place):
        try:
            take_file(copy, partial(use, copy))
        except (AppError, OSError, ValueError) as error:
            _log.warning("%s was not merged into %s: %s", copy, place.name, error)


def _name_copy(paths: Paths, copy: Path) -> str:
    """Return the name of a copy in an archive."""
    is_of_project = copy.is_relative_to(paths.projects)
    return f"projects/{copy.relative_to(paths.projects).as_posix()}" if is_of_project else copy.name


def _merge_memories(place: Path, forgotten: ForgottenLines, _copy: Path, content: bytes) -> str:
    merge_lines(place, content, forgotten.is_forgotten)
    return ""


def _merge_settings(paths: Paths, settings: SettingsStore, copy: Path, content: bytes) -> str:
    """Merge a copy of the settings. The merged file replaces the former one at once."""
    other = _read_settings(content)
    place = Path(os.path.realpath(paths.settings_file))  # it may be a symbolic link
    sentence = f"{copy.name}, a copy of your settings by a sync program, was merged."
    with lock_folder(place.parent):
        own = read_file(place).decode()
        if own == other:
            return ""
        is_copy_newer = copy.stat().st_mtime_ns > place.stat().st_mtime_ns
        newer, older = (other, own) if is_copy_newer else (own, other)
        sound, wrong = _remove_wrong_values(newer)
        merged, is_whole = _add_settings(sound, older, own)
        if wrong:
            aside = put_file_aside(paths, SETTINGS, newer.encode())
            sentence += (
                f" Values that cannot be used were left out of the newer file: {', '.join(wrong)}. "
                f"That file is kept as {aside}."
            )
        if not is_whole:
            aside = put_file_aside(paths, SETTINGS, older.encode())
            sentence += f" The newer file counts where they differ. The other is kept as {aside}."
        if merged != own:
            write_atomically(place, merged.encode())
    settings.reload()
    return sentence


def _read_settings(content: bytes) -> str:
    try:
        text = content.decode()
        tomllib.loads(text.removeprefix(BYTE_ORDER_MARK))
    except (ValueError, RecursionError) as error:
        raise InvalidRequest("The copy of the settings is damaged.") from error
    return text


def _remove_wrong_values(text: str) -> tuple[str, list[str]]:
    """Return the text of a settings file without values that no setting takes, and their keys.

    Of thresholds that are out of order, those are removed that stand against the others.
    """
    wrong: list[str] = []
    while found := next(_find_wrong_values(text), None):
        text = remove_setting(text, found)
        wrong.append(found)
    return text, wrong


def _find_wrong_values(text: str) -> Iterator[str]:
    """Yield the keys of the values in the text of a settings file that cannot be used."""
    with tempfile.TemporaryDirectory(prefix="strata-") as folder:
        store = _write_store(Path(folder, SETTINGS), text)
    wrong = [error.key for error in store.problems if isinstance(error, BadSetting) and error.key]
    sections = {key.partition(".")[0] for key in schema() if "." in key}
    wrong += filter(sections.__contains__, store.unknown)
    if set(SHARES) & set(wrong):  # one that is in order with the defaults may stand against it
        wrong += SHARES
    yield from (key for key in wrong if remove_setting(text, key) != text)


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
        is_whole = add_settings(result, added)
        if NOT_TAKEN in used.list_written():
            result.set(NOT_TAKEN, used.get(NOT_TAKEN))
        return read_file(result.path).decode(), is_whole


def _write_store(file: Path, text: str) -> SettingsStore:
    create_file(file, text.encode())
    return SettingsStore(file)
