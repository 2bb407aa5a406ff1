"""Carry what is stored for a folder of notes over to the names that belong to its new path.

Pinned answers, dismissed findings, and the settings and kept pages of projects lie in files whose
names are hashes of paths. They are copied, unless the folder itself surely was renamed: a folder
that is away may come back, with its drive, and has then lost nothing. Each step can be repeated, so
what was killed is finished by the next call.
"""

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from app.errors import AppError, storage_errors
from app.paths import Paths, hash_stored_path
from app.relocation.folders import find_inside, join_inside, record_move
from app.relocation.merge import (
    LISTS,
    change_project,
    merge_lines,
    merge_list,
    merge_project,
    read_project,
)
from resources.system.calls import remove_folder, rename_path, sync_folder
from resources.system.files import (
    create_file,
    flush_file,
    make_private_folder,
    read_file,
    remove_synced,
)

__all__ = ["carry_stored", "is_stored"]

_log = logging.getLogger(__name__)
_PROJECT: Final = "project.toml"
_Merge = Callable[[Path, bytes], object]


def carry_stored(
    paths: Paths, old: str, new: Path, *, moves: bool = False, named: Iterable[str] = ()
) -> None:
    """Store what is stored for a folder, and for all folders in it, for its present path too.

    Record that the folder has this path now. What cannot be carried over is only logged.

    Args:
        paths: the folders of Strata.
        old: the former path of the folder, which may be of another system.
        new: the present path.
        moves: whether nothing is kept for the former path. Only right for a folder that surely was
            renamed: a folder that comes back there would have lost it all.
        named: the paths of folders that may be in the folder, as they are stored.

    Raises:
        StorageFailed: the move cannot be recorded, or what was carried over may be lost again.
    """
    new = new.resolve()
    if old == str(new):
        return
    carry = partial(_carry_file, moves=moves)
    for former, here in _find_folders(paths, old, new, named).items():
        names = hash_stored_path(former), hash_stored_path(str(here))
        for folder, kind in ((paths.pinned, "pinned"), (paths.reviews, "reviews")):
            source, target = (folder / f"{name}.json" for name in names)
            carry(source, target, partial(_merge_list, kind))
        _carry_folder(paths.kept_pages, *names, carry)
        _carry_folder(paths.projects, *names, carry)
        _name_folder(paths.projects / names[1] / _PROJECT, here)
    for folder in (paths.pinned, paths.reviews):
        _flush(folder)
    record_move(paths, old, new)


def is_stored(paths: Paths, folder: str) -> bool:
    """Return whether pinned answers, dismissed findings or settings are stored for a folder."""
    name = hash_stored_path(folder)
    places = (paths.pinned / f"{name}.json", paths.reviews / f"{name}.json", paths.projects / name)
    return any(place.exists() for place in places)


def _merge_list(name: str, place: Path, content: bytes) -> None:
    merge_list(place, content, *LISTS[name])


def _find_folders(paths: Paths, old: str, new: Path, named: Iterable[str]) -> Mapping[str, Path]:
    """Return the present paths of a folder and of those in it, by their former paths.

    The settings of projects name their folders. Vaults, and projects of which only instructions,
    memories or pages are stored, are found by the names of all folders that are there now.
    """
    projects = (read_project(file).get("folder") for file in paths.projects.glob(f"*/{_PROJECT}"))
    found = {old: new}
    for former in (*named, *projects):
        inside = find_inside(former, old) if isinstance(former, str) else None
        if inside:
            found[str(former)] = new.joinpath(*inside)
    places = (paths.projects, paths.kept_pages, paths.pinned, paths.reviews)
    stored = {path.stem for folder in places for path in _list(folder)}
    if stored - {hash_stored_path(one) for one in found}:
        for here in _walk_folders(new):
            former = join_inside(old, here.relative_to(new))
            if hash_stored_path(former) in stored:
                found.setdefault(former, here)
    return found


def _walk_folders(root: Path) -> Iterator[Path]:
    for folder, names, _ in os.walk(root):
        names[:] = [name for name in names if not name.startswith(".")]
        yield Path(folder)


def _list(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _carry_folder(
    parent: Path, former: str, name: str, carry: Callable[[Path, Path, _Merge | None], None]
) -> None:
    """Carry the files in a folder of a project over to the one with the project's new name."""
    for source in _list(parent / former):
        merges: Mapping[str, _Merge] = {_PROJECT: merge_project, "memory.md": merge_lines}
        carry(source, parent / name / source.name, merges.get(source.name))
    for changed in (name, former):
        _flush(parent / changed)
    with suppress(OSError):
        remove_folder(parent / former)  # unless something stays in it


def _carry_file(source: Path, target: Path, merge: _Merge | None, *, moves: bool) -> None:
    """Copy or move a file, or merge it into the one that has its new name already.

    If both exist and they cannot be merged, both stay.
    """
    try:
        with storage_errors(source):
            content = read_file(source)
            make_private_folder(target.parent)
            if not os.path.lexists(target):
                rename_path(source, target) if moves else create_file(target, content)
                return
            if read_file(target) != content:
                if merge is None:
                    return
                merge(target, content)
            else:
                flush_file(target)  # a move that was killed may have put it there
            if moves:
                remove_synced(source)
    except (AppError, ValueError) as error:
        if not isinstance(error.__cause__, FileNotFoundError):
            _log.warning("%s was not carried over to %s: %s", source, target, error)


def _flush(folder: Path) -> None:
    """Flush the names in a folder, since the process that wrote them may have been killed before.

    Raises:
        StorageFailed: the folder could not be flushed.
    """
    if folder.is_dir():
        with storage_errors(folder):
            sync_folder(folder)


def _name_folder(file: Path, folder: Path) -> None:
    """Write the present path of a project into its settings."""
    try:
        known = read_project(file)
        if known and known.get("folder") != str(folder):
            change_project(file, {"folder": str(folder)})
    except AppError as error:
        _log.warning("%s still names another folder: %s", file, error)
