"""Merge files whose entries are independent of each other: lines of a text, lists, patterns.

A process that was killed may have merged the same before. So a file that is whole already is
flushed: behind each merge, its result is on the disk.
"""

import json
import logging
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from app.errors import InvalidRequest, storage_errors
from resources.system.files import flush_file, lock_folder, read_file, write_atomically

__all__ = ["LISTS", "change_project", "merge_lines", "merge_list", "merge_project", "read_project"]

_log = logging.getLogger(__name__)

# The list in each file of a folder, and the key of the id in its entries, or None for plain texts.
LISTS: Final[Mapping[str, tuple[str, str | None]]] = {
    "pinned": ("answers", "id"),
    "reviews": ("dismissed", None),
}


def merge_lines(
    place: Path, content: bytes, is_left_out: Callable[[bytes], bool] = lambda _line: False
) -> bool:
    """Add the lines that are missing in a file, and return whether there were any.

    Args:
        place: the file.
        content: the other file.
        is_left_out: returns whether a line of the other file is not added.

    Raises:
        InvalidRequest: the content is no text, which would make the file unreadable.
    """
    try:
        content.decode()
    except UnicodeDecodeError as error:
        raise InvalidRequest("The file is not UTF-8.") from error
    with lock_folder(place.parent):
        own = read_file(place)
        known = {line.strip() for line in own.splitlines()}
        lines = (line for line in content.splitlines() if not is_left_out(line))
        missing = [line for line in lines if line.strip() not in known]
        if missing:
            write_atomically(place, b"\n".join([own.rstrip(b"\n"), *missing]) + b"\n")
        else:
            flush_file(place)
    return bool(missing)


def merge_list(place: Path, content: bytes, name: str, key: str | None) -> bool:
    """Add the entries that are missing in the list of a JSON file.

    Raises:
        InvalidRequest: an entry differs from the one here with the same id, which is kept, or a
            file is damaged.
    """
    with lock_folder(place.parent):
        own, other = _read_list(read_file(place), name), _read_list(content, name)
        if own.get("version") != other.get("version"):
            raise InvalidRequest("The file in the backup is of another version.")
        known = {_name_entry(entry, key) for entry in own[name]}
        missing = [entry for entry in other[name] if _name_entry(entry, key) not in known]
        if missing:
            merged = {**own, name: [*own[name], *missing]}
            text = json.dumps(merged, ensure_ascii=False, indent=1)
            write_atomically(place, text.encode("utf-8", "surrogatepass"))
        else:
            flush_file(place)
    if any(entry not in [*own[name], *missing] for entry in other[name]):
        raise InvalidRequest("An entry in the backup differs from the one here.")
    return bool(missing)


def merge_project(file: Path, content: bytes) -> None:
    """Add the exclude patterns of another settings file of a project. All else stays."""
    other = tomllib.loads(content.decode())
    own = read_project(file).get("exclude", [])
    missing = [one for one in other.get("exclude", []) if one not in own]
    if missing:
        change_project(file, {"exclude": [*own, *missing]})
    else:
        flush_file(file)


def change_project(file: Path, values: Mapping[str, object]) -> None:
    """Change values in the settings file of a project, and keep all else.

    Raises:
        StorageFailed: the file cannot be read or written.
    """
    import tomlkit

    with storage_errors(file), lock_folder(file.parent):
        document = tomlkit.parse(read_file(file).decode())
        document.update(values)
        write_atomically(file, tomlkit.dumps(document).encode("utf-8", "surrogateescape"))


def read_project(file: Path) -> dict[str, Any]:
    """Return the settings of a project as they are stored, or none if they cannot be read."""
    try:
        return tomllib.loads(read_file(file).decode())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        _log.warning("The project file %s cannot be read: %s", file, error)
        return {}


def _read_list(content: bytes, name: str) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest("A file of the backup, or the one here, is damaged.") from error
    if not isinstance(found, dict) or not isinstance(found.get(name), list):
        raise InvalidRequest("A file of the backup, or the one here, is damaged.")
    return found


def _name_entry(entry: Any, key: str | None) -> str:
    """Return what identifies an entry: its id, or the whole entry if it has none."""
    id = entry.get(key) if key is not None and isinstance(entry, dict) else None
    return id if isinstance(id, str) else json.dumps(entry, sort_keys=True)
