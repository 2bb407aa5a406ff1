"""Move what is stored for a folder of notes to the names that belong to its new path.

Pinned answers, dismissed findings, and the settings and kept pages of projects lie in files whose
names are hashes of paths. Each step can be repeated, so a move that was killed is finished by the
next one.
"""

import logging
import os
from collections.abc import Callable, Iterator, Mapping
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
from resources.system.calls import remove_folder, rename_path
from resources.system.files import (
    make_private_folder,
    read_file,
    remove_synced,
)

__all__ = ["is_stored", "move_stored"]

_log = logging.getLogger(__name__)
_PROJECT: Final = "project.toml"
_Merge = Callable[[Path, bytes], object]


def move_stored(paths: Paths, old: str, new: Path) -> None:
    """Move what is stored for a folder, and for the projects in it, and record the move.

    What cannot be moved stays where it is, and is only logged.

    Args:
        paths: the folders of Strata.
        old: the former path of the folder, which may be of another system.
        new: the present path.

    Raises:
        StorageFailed: the move cannot be recorded.
    """
    new = new.resolve()
    if old == str(new):
        return
    for folder, name in ((paths.pinned, "pinned"), (paths.reviews, "reviews")):
        source, target = (folder / f"{hash_stored_path(one)}.json" for one in (old, str(new)))
        _move_file(source, target, partial(_merge_list, name))
    for former, here in _list_projects(paths, old, new).items():
        names = hash_stored_path(former), hash_stored_path(str(here))
        _move_folder(paths.kept_pages, *names)
        _move_folder(paths.projects, *names)
        _name_folder(paths.projects / names[1] / _PROJECT, here)
    record_move(paths, old, new)


def is_stored(paths: Paths, folder: str) -> bool:
    """Return whether pinned answers, dismissed findings or settings are stored for a folder."""
    name = hash_stored_path(folder)
    places = (paths.pinned / f"{name}.json", paths.reviews / f"{name}.json", paths.projects / name)
    return any(place.exists() for place in places)


def _merge_list(name: str, place: Path, content: bytes) -> None:
    merge_list(place, content, *LISTS[name])


def _list_projects(paths: Paths, old: str, new: Path) -> Mapping[str, Path]:
    """Return the present folders of the projects in a folder, by their former paths.

    Their settings name the folders. Those of which only instructions, memories or pages are stored
    are found by the names of all folders that are there now.
    """
    found = {}
    for file in sorted(paths.projects.glob(f"*/{_PROJECT}")):
        former = read_project(file).get("folder")
        inside = find_inside(former, old) if isinstance(former, str) else None
        if inside is not None:
            found[str(former)] = new.joinpath(*inside)
    stored = {path.name for folder in (paths.projects, paths.kept_pages) for path in _list(folder)}
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


def _move_folder(parent: Path, former: str, name: str) -> None:
    """Move the files in a folder of a project to the one with the project's new name."""
    for source in _list(parent / former):
        merges: Mapping[str, _Merge] = {_PROJECT: merge_project, "memory.md": merge_lines}
        _move_file(source, parent / name / source.name, merges.get(source.name))
    with suppress(OSError):
        remove_folder(parent / former)  # unless something stays in it


def _move_file(source: Path, target: Path, merge: _Merge | None) -> None:
    """Move a file, or merge it into the one that has its new name already.

    If both exist and they cannot be merged, both stay.
    """
    try:
        with storage_errors(source):
            content = read_file(source)
            make_private_folder(target.parent)
            if not os.path.lexists(target):
                rename_path(source, target)
            elif read_file(target) == content:
                remove_synced(source)
            elif merge is not None:
                merge(target, content)
                remove_synced(source)
    except (AppError, ValueError) as error:
        if not isinstance(error.__cause__, FileNotFoundError):
            _log.warning("%s was not moved to %s: %s", source, target, error)


def _name_folder(file: Path, folder: Path) -> None:
    """Write the present path of a project into its settings."""
    try:
        known = read_project(file)
        if known and known.get("folder") != str(folder):
            change_project(file, {"folder": str(folder)})
    except AppError as error:
        _log.warning("%s still names another folder: %s", file, error)
