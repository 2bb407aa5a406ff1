"""Merge two versions of one session log, so that no entry of either is lost.

Both versions begin with the same lines and were continued apart: on two machines, or before and
after a backup. Entries are compared by id, so the result is one tree with the branches of both.
Where only the last entry of a kind counts, such as the title, the newest of both versions counts.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from context.log.entries import PATH_TYPES
from context.log.parse import Line, rename_references
from context.messages import compact_json

__all__ = ["merge_logs"]

_SESSION: Final = "session"
_LEAF: Final = "leaf"
_CUSTOM: Final = "custom"
_LABEL: Final = "label"
_Key = tuple[str, str]


def merge_logs(
    own: Sequence[Line],
    other: Iterable[Line],
    leaf: str | None,
    last_counts: Mapping[str, bool] | None = None,
) -> list[Line]:
    """Return the lines to append to a log, so that it has the entries of another version too.

    The active leaf is that of the version whose branch was chosen or continued last, and that of
    the log if both are equally old. Labels and the entries of `last_counts` are decided likewise:
    if the newest one would not be the last, it is repeated. Merging the same version again adds
    nothing, and the added lines depend on nothing but both versions.

    Args:
        own: the JSON objects of the log, one for each line.
        other: those of the other version.
        leaf: the id of the log's active leaf, or None if it has no entry of the tree.
        last_counts: the types of custom entries of which only the last one counts. The value says
            whether a later question cancels what the entry says.
    """
    known = {line["id"]: line for line in own if isinstance(line.get("id"), str)}
    bare = {compact_json(line) for line in own if not isinstance(line.get("id"), str)}
    renamed: dict[str, str] = {}
    added, theirs = list[Line](), list[Line]()
    for line in other:
        if line.get("type") == _SESSION:
            continue
        theirs.append(line := rename_references(line, renamed))
        if line.get("type") == _LEAF:
            continue
        missing = _find_missing(line, known, bare, renamed)
        if missing is not None:
            theirs[-1] = missing
            added.append(missing)
    reader = _ChoiceReader(last_counts or {})
    added += reader.repeat_newest(own, theirs, added, known)
    chosen = _choose_leaf(own, theirs, leaf)
    if chosen is None or (not added and chosen.is_own):
        return added
    return [*added, _make_leaf(chosen, added, known)]


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


@dataclass(frozen=True)
class _Choice:
    """What the last line of a kind says.

    Attributes:
        value: what counts.
        time: the timestamp of the line.
        line: the line that says it, or would say it again.
        is_own: whether the log says it already.
    """

    value: object
    time: str
    line: Line
    is_own: bool = False

    @property
    def rank(self) -> tuple[str, str]:
        """The order of choices: the newest last, and equally old ones by their values."""
        return self.time, compact_json(self.value)


@dataclass(frozen=True)
class _ChoiceReader:
    """Reads what lines say where only the last one of a kind counts."""

    last_counts: Mapping[str, bool]

    def repeat_newest(
        self,
        own: Sequence[Line],
        theirs: Sequence[Line],
        added: Sequence[Line],
        known: dict[object, Line],
    ) -> list[Line]:
        """Return the newest lines again that would not be the last ones of their kinds."""
        ours, others = self._read(own), self._read(theirs)
        last = {**ours, **self._read(added)}
        repeated = list[Line]()
        for key in sorted(last):
            found = (choices[key] for choices in (ours, others) if key in choices)
            newest = max(found, key=lambda choice: choice.rank)
            if newest.value != last[key].value:
                line = {**newest.line, "id": _make_free_id(newest.line, known)}
                known[line["id"]] = line
                repeated.append(line)
        return repeated

    def _read(self, lines: Iterable[Line]) -> dict[_Key, _Choice]:
        found: dict[_Key, _Choice] = {}
        for line in lines:
            time, kind = str(line.get("timestamp", "")), line.get("customType")
            if line.get("type") == _CUSTOM and isinstance(kind, str) and kind in self.last_counts:
                found[_CUSTOM, kind] = _Choice(line.get("content"), time, line)
            elif line.get("type") == _LABEL:
                key = _LABEL, str(line.get("target"))
                found[key] = _Choice(line.get("label"), time, line)
            elif line.get("type") == "message" and line.get("role") == "user":
                for name in (name for name, ends in self.last_counts.items() if ends):
                    off = {"customType": name, "content": False}
                    place = {"type": _CUSTOM, "id": "", "parentId": line.get("id")}
                    cancel = {**place, "timestamp": line.get("timestamp", ""), **off}
                    found[_CUSTOM, name] = _Choice(False, time, cancel)
        return found


def _choose_leaf(own: Sequence[Line], theirs: Sequence[Line], leaf: str | None) -> _Choice | None:
    """Return the leaf that was chosen last, or None if neither version has one."""
    ours, others = _find_leaf(own), _find_leaf(theirs)
    if ours is not None:
        ours = _Choice(leaf, ours.time, ours.line, is_own=True)
    if ours is None or leaf is None or (others is not None and others.time > ours.time):
        return others
    return ours


def _find_leaf(lines: Sequence[Line]) -> _Choice | None:
    for line in reversed(lines):
        is_leaf = line.get("type") == _LEAF
        if is_leaf or line.get("type") in PATH_TYPES:
            value = line.get("target") if is_leaf else line.get("id")
            return _Choice(value, str(line.get("timestamp", "")), line)
    return None


def _make_id(line: Line, known: Mapping[object, Line]) -> str:
    """Return a free id for a line whose own id is taken, or the one that the line got before."""
    names = _make_ids(line)
    return next(n for n in names if n not in known or known[n] == {**line, "id": n})


def _make_free_id(line: Line, known: Mapping[object, Line]) -> str:
    return next(name for name in _make_ids(line) if name not in known)


def _make_ids(line: Line) -> Iterator[str]:
    """Yield ids that depend on a line alone, so that equal merges are equal."""
    seed = compact_json(line)
    while True:
        yield hashlib.sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        seed += "+"


def _make_leaf(chosen: _Choice, added: Sequence[Line], known: Mapping[object, Line]) -> Line:
    """Return a `leaf` entry."""
    value = chosen.value if chosen.value in known else None
    place = {"type": _LEAF, "parentId": value, "timestamp": chosen.time, "target": value}
    id = _make_free_id({**place, "after": [line.get("id") for line in added]}, known)
    return {"type": _LEAF, "id": id, **place}
