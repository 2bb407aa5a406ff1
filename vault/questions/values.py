"""Link the values of properties that a question names, such as "a rating above 3"."""

from collections.abc import Sequence
from typing import Final

from vault.questions.days import LIMITS
from vault.questions.links import Links
from vault.questions.surroundings import SIGNS, Surroundings
from vault.questions.tokens import Item
from vault.search.conditions import Comparison, parse_property

__all__ = ["ValueLinker"]

# What is said behind a value, as in "4 or more".
_SIGNS_BEHIND: Final[dict[str, Comparison]] = {"or_more": ">=", "or_less": "<="}


class ValueLinker:
    """Links the values of properties, before or behind their names."""

    def __init__(self, items: Sequence[Item], around: Surroundings, links: Links):
        self._items = items
        self._around = around
        self._links = links
        self._sign: Comparison = "="

    def take(self, at: int) -> int:
        """Link the item at a position if it is a value, and return how many items were used."""
        if self._links.properties and (used := self._take_value(at)):
            return used
        return self._take_measure(at) or self._take_value_before(at)

    def _take_value(self, at: int) -> int:
        """Link a value of the property that was named last. Return 0 if the item is none."""
        item, names = self._items[at], self._links.properties[-1]
        for role, sign in SIGNS.items():
            if role in item.roles:
                if self._is_before_date(at):  # which is limited by words such as "before"
                    return int(not item.roles.isdisjoint(LIMITS))
                self._sign = sign
                return 1
        known = [each for each in item.list_names("value") if each.property in names]
        having = tuple(dict.fromkeys(each.property for each in known))
        if item.text[0].isdecimal():
            number, used = self._read_number(at)
            return self._add(at, names, known[0].value if known else number, used)
        return self._add(at, having, known[0].value, 1) if known else 0

    def _is_before_date(self, at: int) -> bool:
        after = self._around.find_behind(at)
        return after is not None and after.is_date

    def _take_measure(self, at: int) -> int:
        """Link a number before its property, as in "more than 4 servings". Return 0 if not so."""
        signs = [sign for role, sign in SIGNS.items() if role in self._items[at].roles]
        number = at + 1 if signs else at
        behind = number + 1
        while behind < len(self._items) and self._items[behind].is_silent:
            behind += 1
        if behind >= len(self._items) or not self._items[number].text[0].isdecimal():
            return 0
        item = self._items[behind]
        is_thing = bool(item.list_names("tag") or item.list_names("folder"))
        if self._items[number].is_date or is_thing or not (named := item.list_names("property")):
            return 0
        self._sign = signs[0] if signs else "="
        names = tuple(name.value for name in named)
        self._links.properties.append(names)
        return behind + self._add(number, names, self._items[number].text, 1) - at

    def _take_value_before(self, at: int) -> int:
        """Link a value before its property, as in "with active status". Return 0 if not so."""
        after = self._around.find_behind(at)
        named = after.list_names("property") if after is not None else ()
        for value in self._items[at].list_names("value"):
            if any(name.value == value.property for name in named):
                self._links.properties.append((value.property,))
                return 1 + self._add(at, (value.property,), value.value, 1)
        return 0

    def _read_number(self, at: int) -> tuple[str, int]:
        """Return a number with the unit behind it, and how many items they are."""
        item, after = self._items[at], self._around.find_behind(at)
        has_unit = after is not None and not (after.roles or after.names or after.is_date)
        return (f"{item.text} {after.text}", 2) if has_unit and after else (item.text, 1)

    def _add(self, at: int, names: Sequence[str], value: str, used: int) -> int:
        """Add a condition on properties, with "or more" behind the value, and return its length.

        Args:
            at: the position of the value.
            names: the properties, of which any may have the value.
            value: the value.
            used: how many items the value has.
        """
        after = self._around.list_roles(at + used)
        for role, sign in _SIGNS_BEHIND.items():
            if role in after:
                self._sign, used = sign, used + 1
        read = [parse_property(name, f"{self._sign}{value}") for name in names]
        self._links.properties.pop()
        self._sign = "="
        if conditions := [condition for condition in read if condition is not None]:
            self._links.add(*conditions)
        return used
