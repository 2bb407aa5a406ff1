"""Merge files whose entries are independent of each other: lines of a text, and lists in JSON."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from app.errors import InvalidRequest
from resources.system.files import lock_folder, read_file, write_atomically

__all__ = ["LISTS", "merge_lines", "merge_list"]

# The list in each file of a folder, and the key of the id in its entries, or None for plain texts.
LISTS: Final[Mapping[str, tuple[str, str | None]]] = {
    "pinned": ("answers", "id"),
    "reviews": ("dismissed", None),
}


def merge_lines(place: Path, content: bytes) -> bool:
    """Add the lines that are missing in a file, and return whether there were any.

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
        missing = [line for line in content.splitlines() if line.strip() not in known]
        if missing:
            write_atomically(place, b"\n".join([own.rstrip(b"\n"), *missing]) + b"\n")
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
    if any(entry not in [*own[name], *missing] for entry in other[name]):
        raise InvalidRequest("An entry in the backup differs from the one here.")
    return bool(missing)


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
