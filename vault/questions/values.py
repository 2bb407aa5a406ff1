"""Link the values of properties that a question names, such as "a rating above 3"."""

import re
from collections.abc import Sequence
from typing import Final

from vault.notes.amounts import parse_amount
from vault.questions.days import LIMITS
from vault.questions.links import Links
from vault.questions.naming import is_of_kind, list_own_values
from vault.questions.surroundings import SIGNS, Surroundings
from vault.questions.tokens import Item
from vault.questions.vocabulary import Name, VaultNames
from vault.questions.words import list_same_states
from vault.search.conditions import Comparison, parse_property

__all__ = ["ValueLinker"]

# What is said behind a value, as in "4 or more".
_SIGNS_BEHIND: Final[dict[str, Comparison]] = {"or_more": ">=", "or_less": "<="}
_OPPOSITES: Final[dict[Comparison, Comparison]] = {
    "=": "!=",
    "!=": "=",
    "<": ">=",
    "<=": ">",
    ">": "<=",
    ">=": "<",
}
# What is said before a year, as in "published before 1980".
_SIGNS_OF_YEARS: Final[dict[str, Comparison]] = {
    "before": "<",
    "until": "<=",
    "after": ">",
    "since": ">=",
}
# More than a year, or what only begins with a number, as "1960s", "90er" or "20th century".
_PART_OF_TIME: Final = re.compile(r"\d+\W?[^\W\d].*")
# Roles of words that may stand between the name of a property and its value.
_BEFORE_VALUES: Final = frozenset({"not", "between", *SIGNS, *_SIGNS_OF_YEARS})


class ValueLinker:
    """Links the values of properties, before or behind their names."""

    def __init__(
        self, items: Sequence[Item], around: Surroundings, links: Links, vocabulary: VaultNames
    ):
        self._items = items
        self._vocabulary = vocabulary
        self._around = around
        self._links = links
        self._sign: Comparison = "="
        self._is_negated = False
        self._last: tuple[Sequence[str], int] = ((), -1)
        self._last_sign: Comparison | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether a comparison waits for its value, as "other than" before the name of a note."""
        return self._sign != "=" or self._is_negated

    def take(self, at: int) -> int:
        """Link the item at a position if it is a value, and return how many items were used."""
        if used := self._take_measure(at):
            return used
        if self._links.properties and (used := self._take_value(at)):
            return used
        return self._take_second(at) or self._take_another(at) or self._take_value_before(at)

    def is_awaited(self, at: int, names: Sequence[str]) -> bool:
        """Return whether a value follows the name of a property, as in "a rating above 3".

        Args:
            at: the position of the name.
            names: the properties that it may name.
        """
        behind = at + 1
        while behind < len(self._items):
            item = self._items[behind]
            if self._around.is_place(behind):
                return False
            if self._is_value(behind, names):
                return True
            if not (item.is_silent or item.roles & _BEFORE_VALUES):
                return False
            behind += 1
        return False

    def _take_value(self, at: int) -> int:
        """Link a value of the property that was named last. Return 0 if the item is none."""
        item, names = self._items[at], self._links.properties[-1]
        for role, sign in SIGNS.items():
            if role in item.roles:
                if self._is_before_date(at):  # which is limited by words such as "before"
                    return int(not item.roles.isdisjoint(LIMITS))
                self._sign = sign
                return 1
        if limit := self._find_limit_of_year(at, names):
            self._sign = limit
            return 1
        if self._around.is_not(at) and self.is_awaited(at, names):
            self._is_negated = not self._is_negated
            return 1
        known = self._list_known(item, names)
        known = [each for each in known if _has_minus(each.value) == _has_minus(item.text)]
        having = tuple(dict.fromkeys(each.property for each in known))
        if item.is_number:
            if used := self._take_range(at, names):
                return used
            number, used = self._read_number(at)
            return self._add(at, names, known[0].value if known else number, used)
        if not known:
            return 0
        if len({each.value for each in known}) > len(having):
            self._links.is_unclear = True  # as one name of two people
        return self._add(at, having, known[0].value, 1)

    def _find_limit_of_year(self, at: int, names: Sequence[str]) -> Comparison | None:
        """Return how an item such as "before" limits the year behind it, or None."""
        behind = at + 1
        while behind < len(self._items) and self._around.is_plain_silent(behind):
            behind += 1
        if not self._is_number(behind) or not self._vocabulary.years.issuperset(names):
            return None
        roles = self._items[at].roles
        return next((sign for role, sign in _SIGNS_OF_YEARS.items() if role in roles), None)

    def _list_known(self, item: Item, names: Sequence[str]) -> list[Name]:
        """Return the values that an item names of some properties, also by a part of a name."""
        known = [each for each in item.list_names("value") if each.property in names]
        known = known or self._list_translated(item, names)
        if known or item.is_given or not item.text[:1].isupper():
            return known
        return [
            Name("value", value, name)
            for name in names
            for value in self._vocabulary.find_values_with(item.text, name)
        ]

    def _list_translated(self, item: Item, names: Sequence[str]) -> list[Name]:
        """Return the values of the notes asked for that say the same as an item in other words."""
        if item.is_number or item.is_date:
            return []
        same = list_same_states(item.text, self._around.languages)
        if not same:
            return []
        kinds = [clause for clause in self._links.clauses if is_of_kind(clause)]
        own = list_own_values(kinds, self._vocabulary)
        found = (name for words in sorted(same) for name in self._vocabulary.find(words))
        values = (
            name
            for name in found
            if name.kind == "value"
            if name.property in names
            if name.value in own.get(name.property, ())
        )
        return list(dict.fromkeys(values))

    def _is_before_date(self, at: int) -> bool:
        after = self._around.find_behind(at)
        return after is not None and after.is_date

    def _take_second(self, at: int) -> int:
        """Take another comparison of the last property, as "and below 5" in "> 2 and below 5"."""
        names, end = self._last
        has_and = "and" in self._around.list_roles(at)
        compared = at + 1 if has_and else at
        signs = self._list_signs(compared)
        if at != end or not signs or not self._is_number(compared + 1):
            return 0
        if self._find_named_behind(compared + 1)[1]:
            return 0
        self._links.properties.append(tuple(names))
        self._sign = signs[0]
        return compared + 1 - at

    def _take_another(self, at: int) -> int:
        """Take another value of the last property, as "and 8" in "other than 3 and 8".

        It is excluded too, or an alternative. Of another number nothing can be claimed.
        """
        names, end = self._last
        item, joins = self._items[at], self._around.list_roles(at) & {"and", "or"}
        value = at + 1 if joins else at
        if at != end or not self._is_value(value, names) or self._find_named_behind(value)[1]:
            return 0
        is_joined = bool(joins) or item.is_apart
        is_excluded = self._last_sign == "!=" and is_joined
        if not is_excluded and (self._last_sign != "=" or joins != {"or"}):
            self._links.is_unclear = self._links.is_unclear or self._is_number(value)
            return value + 1 - at if self._is_number(value) else 0
        is_negated = self._links.clauses[-1][-1].is_negated
        self._links.is_negated = is_negated
        self._links.is_alternative = not is_excluded and not is_negated
        self._links.properties.append(tuple(names))
        self._sign = "!=" if is_excluded else "="
        return value - at or self._take_value(at)

    def _is_value(self, at: int, names: Sequence[str]) -> bool:
        if self._is_number(at) or at >= len(self._items):
            return self._is_number(at)
        return bool(self._list_known(self._items[at], names))

    def _list_signs(self, at: int) -> list[Comparison]:
        return [sign for role, sign in SIGNS.items() if role in self._around.list_roles(at)]

    def _take_range(self, at: int, names: Sequence[str]) -> int:
        """Link two numbers that are the ends of a range, and return how many items they are."""
        end = self._find_range_end(at)
        if not end or self._is_negated:
            return 0
        (first, length), (last, used) = self._read_number(at), self._read_number(end)
        amounts = parse_amount(first), parse_amount(last)
        if amounts[0] and amounts[1] and not amounts[0].unit:  # as in "between 1 and 5 kg"
            first = f"{first} {amounts[1].unit}".strip()
        self._sign = ">="
        self._add(at, names, first, length)
        self._links.properties.append(tuple(names))
        self._sign = "<="
        used = end - at + self._add(end, names, last, used)
        self._last_sign = None
        return used

    def _find_range_end(self, at: int) -> int:
        """Return where the second number of a range is, as in "3 to 5", or 0 if there is none.

        The word "and" joins two numbers to a range only behind one such as "between".
        """
        join = at + self._read_number(at)[1]
        joins, before = self._around.list_roles(join), self._around.list_roles(at - 1)
        is_between = "between" in before and before.isdisjoint({"in", "from"})
        is_joined = "to" in joins and ("and" not in joins or is_between)
        return join + 1 if is_joined and self._is_number(join + 1) else 0

    def _is_number(self, at: int) -> bool:
        is_there = 0 <= at < len(self._items)
        return is_there and self._items[at].is_number

    def _find_named_behind(self, at: int) -> tuple[int, tuple[str, ...]]:
        """Return the properties that are named behind a number, as in "4 servings", with the place.

        No properties are returned if the item names something else.
        """
        behind = at + 1
        while behind < len(self._items) and self._around.is_plain_silent(behind):
            behind += 1
        if behind >= len(self._items):
            return behind, ()
        item = self._items[behind]
        is_thing = bool(item.list_names("tag") or item.list_names("folder"))
        names = () if is_thing else tuple(each.value for each in item.list_names("property"))
        return behind, names

    def _take_measure(self, at: int) -> int:
        """Link a number before its property, as in "more than 4 servings". Return 0 if not so."""
        signs = self._list_signs(at)
        is_between = "between" in self._items[at].roles
        number = at + 1 if signs or is_between else at
        if not self._is_number(number):
            return 0
        end = self._find_range_end(number)
        if is_between and not end:
            return 0
        behind, names = self._find_named_behind(end or number)
        measured = self._items[end or number].measured
        is_rating, waiting = self._items[number].is_rating, self._links.properties[-1:]
        is_free = all(is_rating and {*measured}.isdisjoint(each) for each in waiting)
        if not names and measured and (signs or end or is_rating) and is_free:
            self._links.heads += self._around.is_head(at)  # as in "4 star books"
            behind, names = end or number, measured  # as in "under 20 €"
        elif not names or self.is_awaited(behind, names):  # which has a value of its own
            return 0
        self._links.properties.append(names)
        if end:
            self._take_range(number, names)
        else:
            self._sign = signs[0] if signs else "="
            behind += self._add(number, names, self._items[number].text, 1) - 1
        return behind + 1 - at

    def _take_value_before(self, at: int) -> int:
        """Link a value before its property, as in "with active status". Return 0 if not so."""
        after = self._around.find_telling(at)  # as in "paid the fee"
        named = after.list_names("property") if after is not None else ()
        names = tuple(name.value for name in named)
        for value in self._list_known(self._items[at], names) if names else ():
            if any(name.value == value.property for name in named):
                self._links.properties.append((value.property,))
                behind = self._items.index(after, at + 1) - at if after is not None else 1
                return behind + self._add(at, (value.property,), value.value, 1)
        return 0

    def _read_number(self, at: int) -> tuple[str, int]:
        """Return a number with the unit behind it, and how many items they are."""
        item, after = self._items[at], self._around.find_behind(at)
        if after is None or after.roles or after.names or after.is_date:
            return item.text, 1
        is_unit = not (after.is_number or after.is_apart or " " in item.text)
        return (f"{item.text} {after.text}", 2) if is_unit else (item.text, 1)

    def _add(self, at: int, names: Sequence[str], value: str, used: int) -> int:
        """Add a condition on properties, with "or more" behind the value, and return its length.

        Args:
            at: the position of the value.
            names: the properties, of which any may have the value.
            used: how many items the value has.
        """
        after = self._around.list_roles(at + used)
        for role, sign in _SIGNS_BEHIND.items():
            if role in after and not self._is_number(at + used + 1):
                self._sign, used = sign, used + 1
        days = self._vocabulary.dated | self._vocabulary.years
        if days.issuperset(names) and _PART_OF_TIME.fullmatch(value):
            self._links.is_unclear = True
        sign = _OPPOSITES[self._sign] if self._is_negated else self._sign
        read = [parse_property(name, f"{sign}{value}") for name in names]
        self._links.properties.pop()
        self._sign, self._is_negated, self._last = "=", False, (names, at + used)
        self._last_sign = sign
        if conditions := [condition for condition in read if condition is not None]:
            self._links.add(*conditions)
        return used


def _has_minus(text: str) -> bool:
    return text.lstrip()[:1] in ("-", "−")
