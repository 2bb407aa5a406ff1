"""Merge two versions of one session log, so that no entry of either is lost.

Both versions begin with the same lines and were continued apart: on two machines, or before and
after a backup. Entries are compared by id, so the result is one tree with the branches of both.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from context.log.parse import Line, rename_references
from context.messages import compact_json

__all__ = ["merge_logs"]

_SESSION: Final = "session"
_LEAF: Final = "leaf"


def merge_logs(own: Sequence[Line], other: Iterable[Line], leaf: str | None) -> list[Line]:
    """Return the lines to append to a log, so that it has the entries of another version too.

    The active leaf stays what it is: if entries are added, a `leaf` entry that names it follows
    them. The leaf entries of the other version say what was active there, so they are left out.
    Merging the same version again adds nothing.

    Args:
        own: the JSON objects of the log, one for each line.
        other: those of the other version.
        leaf: the id of the log's active leaf, or None if it has no entry of the tree.
    """
    known = {line["id"]: line for line in own if isinstance(line.get("id"), str)}
    bare = {compact_json(line) for line in own if not isinstance(line.get("id"), str)}
    renamed: dict[str, str] = {}
    added: list[Line] = []
    for line in other:
        if line.get("type") in (_SESSION, _LEAF):
            continue
        missing = _find_missing(line, known, bare, renamed)
        if missing is not None:
            added.append(missing)
    if not added or leaf is None:
        return added
    return [*added, _make_leaf(leaf, added)]


def _find_missing(
    line: Line, known: dict[object, Line], bare: set[str], renamed: dict[str, str]
) -> Line | None:
    """Return a line as it is added to the log, or None if the log has it.

    Args:
        line: a line of the other version.
        known: the lines of the log by id, to which a missing line is added.
        bare: the lines of the log without an id, as JSON.
        renamed: the new ids of the other version's entries whose ids the log uses for other ones.
    """
    line = rename_references(line, renamed)
    name = line.get("id")
    if not isinstance(name, str):
        return None if compact_json(line) in bare else line
    if known.get(name) == line:
        return None
    if name in known:
        line = {**line, "id": _make_id(line, known)}
        renamed[name] = str(line["id"])
        if known.get(line["id"]) == line:
            return None
    known[line["id"]] = line
    return line


def _make_id(line: Line, known: Mapping[object, Line]) -> str:
    """Return a free id for a line whose own id is taken, or the one that the line got before."""
    seed = compact_json(line)
    while True:
        name = hashlib.sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        if name not in known or known[name] == {**line, "id": name}:
            return name
        seed += "+"


def _make_leaf(leaf: str, added: Sequence[Line]) -> Line:
    """Return a `leaf` entry. Its id depends on the added lines, so equal merges are equal."""
    seed = compact_json([leaf, *(line.get("id") for line in added)])
    times = [str(line["timestamp"]) for line in added if "timestamp" in line]
    return {
        "type": _LEAF,
        "id": hashlib.sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()[:8],
        "parentId": leaf,
        "timestamp": max(times, default=""),
        "target": leaf,
    }
