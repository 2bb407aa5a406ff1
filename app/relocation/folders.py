"""Remember the new paths of folders that were moved, and find a folder by a former path.

Chats and settings keep the path that a folder had. A path may be of another computer with another
system, such as one with a drive letter, so it is compared by the rules of the system that it is of.
"""

import json
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Final

from app.errors import InvalidRequest, storage_errors
from app.paths import Paths
from resources.system.files import lock_folder, make_private_folder, read_file, write_atomically

__all__ = [
    "clean_path",
    "find_inside",
    "find_moved",
    "follow_file",
    "follow_moves",
    "join_inside",
    "merge_moves",
    "record_move",
]

_log = logging.getLogger(__name__)
_MOVES: Final = "moves"
_TIMES: Final = "times"  # when each move was recorded; earlier versions have not stored it
_DAMAGE: Final = (ValueError, TypeError, KeyError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class _Move:
    """Where a folder was moved to, and when this was recorded, if that is known."""

    new: str
    time: datetime | None


_Moves = dict[str, _Move]


def record_move(paths: Paths, old: str, new: Path) -> None:
    """Record that a folder of notes or of a project has another path now.

    Args:
        paths: the folders of Strata.
        old: the former path, which may be of another system.
        new: the present path, which is absolute.

    Raises:
        StorageFailed: the record cannot be written.
    """

    def add(known: _Moves) -> _Moves:
        kept = {one: to for one, to in known.items() if one not in (old, str(new))}
        return {**kept, old: _Move(str(new), datetime.now(UTC))}

    _change(paths.moved_folders, add)


def merge_moves(file: Path, content: bytes) -> bool:
    """Add the moves of another record to one, and return whether there were any.

    Raises:
        InvalidRequest: the content is damaged.
        StorageFailed: the record cannot be written.
    """
    try:
        other = _parse_moves(content)
    except _DAMAGE as error:
        raise InvalidRequest("The list of moved folders is damaged.") from error
    return _change(file, lambda known: {**other, **known})


def _change(file: Path, change: Callable[[_Moves], _Moves]) -> bool:
    """Change the record, and return whether it differs."""
    with storage_errors(file):
        make_private_folder(file.parent)
        with lock_folder(file.parent):
            known = _read_moves(file)
            moves = change(known)
            if moves != known:
                found = {
                    _MOVES: {old: move.new for old, move in moves.items()},
                    _TIMES: {old: one.time.isoformat() for old, one in moves.items() if one.time},
                }
                text = json.dumps(found, ensure_ascii=False, indent=1)
                write_atomically(file, text.encode("utf-8", "surrogatepass"))
    return moves != known


def follow_moves(paths: Paths, stored: str) -> str:
    """Return the present path of a folder, or the stored one if it is there or was not moved.

    Args:
        paths: the folders of Strata.
        stored: the path of a folder, or of a folder inside one that was moved.
    """
    if os.path.isdir(stored):
        return stored
    return _follow(_read_moves(paths.moved_folders), stored) or stored


def find_moved(paths: Paths, stored: str, time: datetime | None) -> str | None:
    """Return where the moves that were recorded after a time lead to, or None.

    Another folder may have the stored path now.

    Args:
        paths: the folders of Strata.
        stored: the path that a folder had at the time.
        time: the time, or None to follow all moves. Earlier versions have recorded none for a move:
            such a move is only followed if time is None, or if nothing has the stored path.
    """
    moves = _read_moves(paths.moved_folders)
    is_there = os.path.isdir(stored)
    later = {
        old: move
        for old, move in moves.items()
        if time is None or (move.time > time if move.time else not is_there)
    }
    return _follow(later, stored)


def _follow(moves: _Moves, stored: str) -> str | None:
    """Return the folder that the moves of a path lead to, or None if there is none."""
    here, seen = _follow_once(moves, stored), {stored}
    while here not in seen and not os.path.isdir(here):
        seen.add(here)
        here = _follow_once(moves, here)
    return here if here != stored and os.path.isdir(here) else None


def follow_file(paths: Paths, stored: str) -> str:
    """Return the present path of a file, or the stored one if its folder was not moved.

    Args:
        paths: the folders of Strata.
        stored: the path of the file, which is returned as it is if it is relative.
    """
    file = _find_path_type(stored)(stored)
    if not file.is_absolute():
        return stored
    folder = str(file.parent)
    here = follow_moves(paths, folder)
    return stored if here == folder else os.path.join(here, file.name)


def find_inside(folder: str, root: str) -> tuple[str, ...] | None:
    """Return the names that lead from a folder to one inside it, or None if it is not inside.

    Args:
        folder: the path of the inner folder.
        root: the path of the outer folder, which decides by which system's rules they are compared.
    """
    path_type = _find_path_type(root)
    inner, outer = path_type(folder), path_type(root)
    return inner.relative_to(outer).parts if inner.is_relative_to(outer) else None


def clean_path(folder: str) -> str:
    """Return a path as it is stored: without a separator at the end."""
    return str(_find_path_type(folder)(folder))


def join_inside(root: str, inside: PurePath) -> str:
    """Return the path of a folder inside another one, by the rules of the system it is of."""
    return str(_find_path_type(root)(root, *inside.parts))


def _follow_once(moves: _Moves, stored: str) -> str:
    """Return where the innermost recorded folder around a path, or at it, was moved to."""
    inside = {move.new: names for old, move in moves.items() if (names := _locate(stored, old))}
    if not inside:
        return stored
    new, names = min(inside.items(), key=lambda one: len(one[1]))
    return os.path.join(new, *names[1:])


def _locate(stored: str, old: str) -> tuple[str, ...]:
    """Return a folder and the names that lead from it to a path; empty if it is not around it."""
    names = find_inside(stored, old)
    return () if names is None else (old, *names)


def _find_path_type(path: str) -> type[PurePath]:
    is_of_windows = bool(PureWindowsPath(path).drive) and not path.startswith("/")
    return PureWindowsPath if is_of_windows else PurePosixPath


def _read_moves(file: Path) -> _Moves:
    try:
        return _parse_moves(read_file(file))
    except FileNotFoundError:
        return {}
    except (OSError, *_DAMAGE) as error:
        _log.warning("The folders that were moved cannot be read from %s: %s", file, error)
        return {}


def _parse_moves(content: bytes) -> _Moves:
    found = json.loads(content)
    moves, times = found[_MOVES], found.get(_TIMES, {})
    return {
        old: _Move(new, _parse_time(times.get(old)))
        for old, new in moves.items()
        if isinstance(new, str)
    }


def _parse_time(text: object) -> datetime | None:
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return time if time.tzinfo else None
