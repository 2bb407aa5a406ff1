"""Merge what two programs have changed in a setting since both read it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Any, Final

__all__ = ["merge_changes"]

_MISSING: Final = object()
# An entry of a list as text, and how often the same entry stands before it.
_Key = tuple[str, int]


def merge_changes(known: Any, ours: Any, theirs: Any) -> Any:
    """Return a new value with what another program has changed meanwhile, entry by entry.

    What only one of both has changed is kept, at any depth of tables and lists. Where both have
    changed the same entry of a table or the same value, ours counts.

    The order of a list has a meaning. If only theirs changes the order of the known entries, it
    counts, otherwise ours does. An entry that both have replaced becomes ours, once. If both are
    tables or lists, they are merged. An entry that one has removed and the other replaced stays as
    it was replaced, and who empties a list removes only what it knew: what the other has added
    stays.

    Args:
        known: the value that both began with.
        ours: the new value.
        theirs: the value that the other program has stored.
    """
    if theirs in (known, ours):
        return ours
    if known == ours:
        return theirs
    if all(isinstance(each, list) for each in (known, ours, theirs)):
        return _merge_lists(known, ours, theirs)
    if all(isinstance(each, dict) for each in (known, ours, theirs)):
        return _merge_tables(known, ours, theirs)
    return ours


def _merge_tables(
    known: Mapping[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any]
) -> dict[str, Any]:
    merged = {
        name: merge_changes(*(table.get(name, _MISSING) for table in (known, ours, theirs)))
        for name in dict.fromkeys((*theirs, *ours))
    }
    return {name: value for name, value in merged.items() if value is not _MISSING}


@dataclass(frozen=True)
class _Version:
    """A list that was made from a known one.

    Attributes:
        known: the keys of the known list.
        values: the entries by their keys, in order.
    """

    known: Sequence[_Key]
    values: Mapping[_Key, Any]

    @cached_property
    def replaced(self) -> Mapping[_Key, _Key]:
        """The new entry by the known one in whose place it stands."""
        keys = list(self.values)
        blocks = SequenceMatcher(None, self.known, keys, autojunk=False).get_opcodes()
        return {
            before: after
            for kind, start, end, new_start, new_end in blocks
            if kind == "replace"
            for before, after in zip(self.known[start:end], keys[new_start:new_end], strict=False)
            if before not in self.values and after not in self.known
        }

    @property
    def keeps_order(self) -> bool:
        """Whether the known entries that are left stand in their known order."""
        left = [key for key in self.values if key in self.known]
        return left == [key for key in self.known if key in self.values]


def _merge_lists(known: Sequence[Any], ours: Sequence[Any], theirs: Sequence[Any]) -> list[Any]:
    keys = list(_index(known))
    own, other = _Version(keys, _index(ours)), _Version(keys, _index(theirs))
    is_theirs = own.keeps_order and not other.keeps_order
    ordered, changed = (other, own) if is_theirs else (own, other)
    both = {
        after: own.replaced[before]
        for before, after in other.replaced.items()
        if before in own.replaced and after not in own.values
    }
    values = {**other.values, **own.values}
    for before, mine in own.replaced.items():
        if (yours := other.replaced.get(before)) in both:
            values[mine] = merge_changes(known[keys.index(before)], values[mine], values[yours])
    placed = _keep(ordered, changed, both)
    new = set() if is_theirs else {key for key in own.values if key not in keys}
    _add(placed, changed, {*keys, *both}, new)
    return [values[key] for key in dict.fromkeys(placed)]


def _keep(ordered: _Version, changed: _Version, both: Mapping[_Key, _Key]) -> list[_Key]:
    """Return the entries of one list, with what the other has removed or replaced of them."""
    kept: list[_Key] = []
    for key in ordered.values:
        if key in both:
            kept.append(both[key])
        elif key not in ordered.known or key in changed.values:
            kept.append(key)
        elif key in changed.replaced:
            kept.append(changed.replaced[key])
    return kept


def _add(placed: list[_Key], changed: _Version, known: set[_Key], ours: set[_Key]) -> None:
    """Add the new entries of a list, each behind the entry that it follows there.

    Args:
        placed: the merged list so far.
        changed: the list whose entries are added.
        known: the entries that are not new.
        ours: the new entries behind which the others stand that follow the same entry.
    """
    place = 0
    for key in changed.values:
        if key not in placed:
            if key in known:
                continue
            while place < len(placed) and placed[place] in ours:
                place += 1
            placed.insert(place, key)
        place = placed.index(key) + 1


def _index(values: Sequence[Any]) -> dict[_Key, Any]:
    """Return the entries of a list by keys that differ also for equal entries."""
    found: dict[_Key, Any] = {}
    for value in values:
        text, number = json.dumps(value, sort_keys=True, default=repr), 0
        while (text, number) in found:
            number += 1
        found[text, number] = value
    return found
