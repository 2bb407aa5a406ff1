"""Merge a file of an archive, or of another machine, into the one that is here.

What is merged has entries that are independent of each other: lines of memories, edits of the
journal, calls of the ledger, pinned answers, dismissed findings, moved folders, settings. Nothing
that is here is lost, and merging the same file again changes nothing.
"""

import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any, Final

from app.config.settings_file import SettingsStore
from app.errors import BadSetting, InvalidRequest, StorageFailed
from app.line_file import LineFile
from app.paths import Paths
from app.relocation.folders import merge_moves
from app.relocation.merge import LISTS, merge_lines, merge_list
from resources.system.files import create_file, flush_file, make_private_folder, read_file
from resources.system.line_chain import CHAIN
from vault.edits.journal import EditJournal, parse_journal
from vault.errors import VaultError

__all__ = ["JOURNAL", "add_settings", "find_merge", "put_file_aside"]

_log = logging.getLogger(__name__)
JOURNAL: Final = "edits/journal.jsonl"
_ASIDE: Final = "restored"
_LEDGER: Final = "ledger.log"
_MOVED: Final = "moved_folders.json"


def _unite_patterns(own: list[str], other: list[str]) -> list[str]:
    """Return the patterns of both. One that includes notes again must be in both."""
    shared = {pattern for pattern in own if pattern in other}
    both = dict.fromkeys([*own, *other])
    return [one for one in both if one in shared or not one.startswith("!")]


def _choose_limit(own: float, other: float) -> float:
    return min(filter(None, (own, other)), default=0.0)  # 0 is no limit


def _is_either(own: bool, other: bool) -> bool:
    return own or other


# The settings that protect the user. Of two files, the stricter value counts, so that a merge never
# takes a protection away. The functions return that value.
_PROTECTING: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "vault.exclude": _unite_patterns,
    "privacy.offline": _is_either,
    "spending.dayLimit": _choose_limit,
    "spending.monthLimit": _choose_limit,
    "spending.holdUnpriced": _is_either,
}
Merge = Callable[[Path, bytes], bool]


def find_merge(name: str) -> Merge | None:
    """Return a function that merges a file, or None if a file of this name cannot be merged.

    The function takes the path of the file that is here and the content of the other one. It
    returns whether anything was added, and raises `InvalidRequest` if the content is damaged.

    Args:
        name: the name of the file in an archive.
    """
    first, _, rest = name.partition("/")
    if name == "memories.md" or (first == "projects" and rest.endswith("/memory.md")):
        return merge_lines
    if name == JOURNAL:
        return _merge_journal
    if name == _LEDGER:
        return _merge_ledger
    if name == _MOVED:
        return merge_moves
    if first in LISTS and rest.endswith(".json") and "/" not in rest:
        return lambda place, content: merge_list(place, content, *LISTS[first])
    return None


def put_file_aside(paths: Paths, name: str, content: bytes) -> Path:
    """Write a file below the folder `restored`, where nothing reads it, and return its path.

    Args:
        paths: the folders of Strata.
        name: the name of the file in an archive.
        content: the content of the file.
    """
    places = _list_places_aside(paths, name)
    place = next(path for path in places if not os.path.lexists(path) or _has(path, content))
    if place.exists():
        flush_file(place)  # a process that was killed may have put it there
    else:
        make_private_folder(place.parent)
        create_file(place, content)
    return place


def _list_places_aside(paths: Paths, name: str) -> Iterator[Path]:
    day = datetime.now().astimezone().date().isoformat()
    for number in count(1):
        yield paths.data / _ASIDE / (day if number == 1 else f"{day}-{number}") / name


def _has(path: Path, content: bytes) -> bool:
    return path.is_file() and read_file(path) == content


def add_settings(store: SettingsStore, other: SettingsStore) -> bool:
    """Add the settings of another file to a store, and return whether that is all of it.

    What the store has set counts, but of settings that protect the user, the stricter value does.
    """
    own = SettingsStore(store.path)  # without the values of this run
    written, theirs = own.list_written(), other.list_written()
    is_whole = not (other.problems or other.unknown)
    for key in theirs:
        own_value, other_value = own.get(key), other.get(key)
        stricter = _PROTECTING.get(key)
        if stricter:
            value = stricter(own_value, other_value)
        else:
            value = own_value if key in written else other_value
        try:
            if value != own_value or key not in written:
                store.set(key, value)
        except BadSetting as error:  # it does not agree with what is set here
            _log.warning("The setting %s was not taken over: %s", key, error)
            is_whole = False
        is_whole &= value == other_value or stricter is _unite_patterns
    return is_whole


def _merge_journal(place: Path, content: bytes) -> bool:
    steps = parse_journal(content)
    if content.strip() and not steps:
        raise InvalidRequest("The journal of edits in the backup is damaged.")
    try:
        return EditJournal(place.parent).merge(steps)
    except VaultError as error:
        raise StorageFailed(str(error)) from error


def _merge_ledger(place: Path, content: bytes) -> bool:
    """Add the calls that are missing in a ledger, in the order of their times."""
    file, calls = LineFile(place), _read_objects(content)
    with file.hold_lock():
        own = file.read()
        missing = [line for line in calls if line not in own]
        if missing:
            file.replace(_sort_by_time([*own, *missing]))
    return bool(missing)


def _sort_by_time(lines: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort the lines of calls by the time of the call. Its result follows it."""
    calls: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        calls.setdefault(line["id"], []).append(line)
    for found in calls.values():
        found.sort(key=lambda line: "at" not in line)
    ordered = sorted(calls.values(), key=lambda found: str(found[0].get("at", "")))
    return [line for found in ordered for line in found]


def _read_objects(content: bytes) -> list[dict[str, Any]]:
    found = []
    for line in content.splitlines():
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue  # cut off by a crash
        if isinstance(value, dict) and isinstance(value.get("id"), str):
            value.pop(CHAIN, None)  # it gets another place
            found.append(value)
    if content.strip() and not found:
        raise InvalidRequest("The list of calls in the backup is damaged.")
    return found
