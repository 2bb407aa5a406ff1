"""Link the dates of a question: to a property that holds days, or to the notes of these days."""

import posixpath
import re
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import chain
from typing import Final

from vault.notes.date_spans import Span, is_in_ranges
from vault.notes.dates import find_month, find_written_spans
from vault.notes.keywords import fold
from vault.questions.days import LIMITS, are_begun_years, limit_spans, write_yearly_days
from vault.questions.links import Links
from vault.questions.naming import is_of_kind, list_own_values
from vault.questions.surroundings import Surroundings
from vault.questions.tokens import Item
from vault.questions.vocabulary import VaultNames
from vault.questions.words import are_alike, find_roles, list_date_words, list_property_names
from vault.search.conditions import cut_day, parse_property

__all__ = ["DateLinker"]

# Roles that say what was done on a day, which a property of a note may hold.
_EVENTS: Final = ("created", "done")
_YEAR: Final = re.compile(r"\d{4}")
_MONTH_DAYS: Final = 31
_MONTH: Final = timedelta(days=_MONTH_DAYS)


class DateLinker:
    """Links the dates of a question whose other items are linked."""

    def __init__(
        self,
        items: Sequence[Item],
        spans: Sequence[Span],
        around: Surroundings,
        links: Links,
        vocabulary: VaultNames,
    ):
        """Create the linker of one question.

        Args:
            items: the items of the question.
            spans: its dates, as ranges of days.
            around: what stands around each item.
            links: what the other items are linked to. It gets what the dates are linked to.
            vocabulary: the names in the vault.
        """
        self._items = items
        self._spans = spans
        self._around = around
        self._links = links
        self._vocabulary = vocabulary

    def link(self) -> None:
        """Link the dates: to a property that holds days, or to the notes."""
        links, spans = self._links, limit_spans(self._items, self._spans)
        links.is_unclear = links.is_unclear or spans is None or self._around.is_half_range()
        spans = spans or []
        if self._choose_dated_notes(spans):
            return
        names = self._list_dated() or self._list_years_of_heads(spans)
        if len(spans) != 1 or not names:
            links.spans = spans
            links.is_unclear |= bool(spans) and self._may_be_of_years()
            return
        links.properties.clear()
        ((first, after),) = spans
        is_of_years = self._vocabulary.years.issuperset(names)
        links.is_unclear |= is_of_years and not are_begun_years(first, after)
        tests = [f">={first.year if is_of_years else first}"] if first != date.min else []
        tests += [f"<{after.year if is_of_years else after}"] if after != date.max else []
        is_limited = spans != list(self._spans)
        if not is_limited and (yearly := self._find_yearly(names)):
            tests = [yearly]
        elif self._is_birthday(names) and not self._names_year():  # as "next week", "before June"
            is_birth = not self._asks_for_birthday(names)
            links.is_unclear |= is_birth and is_limited
            if not (is_birth and (self._has_day(names) or after - first > _MONTH)):
                tests = [write_yearly_days((first, after))]
        links.is_dated = True
        links.asks_for_day = any(item.asked and item.list_names("property") for item in self._items)
        for test in tests:
            read = (parse_property(name, test) for name in names)
            links.clauses.append(tuple(each for each in read if each is not None))
        links.roles -= LIMITS

    def _list_years_of_heads(self, spans: Sequence[Span]) -> list[str]:
        """Return the only property of years that the notes asked for have, if they have no day.

        It is meant by "films since 2019".
        """
        links = self._links
        if len(spans) != 1 or not are_begun_years(*spans[0]) or links.roles & {"changed", "tasks"}:
            return []
        if links.properties or not self._may_be_of_years():
            return []
        kinds = [clause for clause in links.clauses if is_of_kind(clause)]
        own = list_own_values(kinds, self._vocabulary).keys()
        found = own & self._vocabulary.years
        return [*found] if len(found) == 1 and own.isdisjoint(self._vocabulary.dated) else []

    def _may_be_of_years(self) -> bool:
        """Return whether notes that are asked for have a property of years, and no other day."""
        names, conditions = self._vocabulary, chain.from_iterable(self._links.clauses)
        tags = {each.value for each in conditions if each.key == "tag" and not each.is_negated}
        return bool(self._links.heads) and any(
            not tags.isdisjoint(names.tags[path])
            and not names.years.isdisjoint(properties)
            and names.dated.isdisjoint(properties)
            for path, properties in names.properties.items()
        )

    def _choose_dated_notes(self, spans: Sequence[Span]) -> bool:
        """Keep the named notes with the day in their names, if a property of one is asked for.

        An example is "Who attended the board meeting on 20 November?". Return whether one is found.
        """
        links = self._links
        named = [(name, find_written_spans(posixpath.basename(name.value))) for name in links.notes]
        dated = [name for name, days in named if any(is_in_ranges(day, spans) for day in days)]
        if not dated or not (links.properties or links.asked):
            return False
        links.notes = dated
        return True

    def _find_yearly(self, names: Sequence[str]) -> str:
        """Return the month or day that is asked for, of any year, or an empty string.

        In "Who has a birthday in December", the values are mostly of earlier years. Of a property
        that is no birthday, one may be of the year that a date without a year usually means. Then
        that year is meant.

        Args:
            names: the properties that hold the day.
        """
        ((first, after),) = self._spans
        texts = [item.text for item in self._items if item.is_date]
        is_month_named = any(map(find_month, texts)) and list_date_words("past").isdisjoint(
            map(fold, texts)
        )
        is_yearly = is_month_named and not self._has_day(names)
        if self._is_birthday(names):
            is_yearly = is_month_named or self._asks_for_birthday(names)
        if not is_yearly or self._names_year():
            return ""
        if (after - first).days == 1:
            return f"--{first:%m-%d}"
        is_month = first.day == after.day == 1 and (after - first).days <= _MONTH_DAYS
        return f"--{first:%m}" if is_month else ""

    def _names_year(self) -> bool:
        """Return whether the date has a year, as "June 1985"."""
        return any(_YEAR.fullmatch(item.text) for item in self._items if item.is_date)

    def _has_day(self, names: Sequence[str]) -> bool:
        """Return whether a value of some properties is within the dates of the question."""
        ((first, after),) = self._spans
        days = (cut_day(each) for name in names for each in self._vocabulary.list_values(name))
        return any(str(first) <= day < str(after) for day in days)

    def _is_birthday(self, names: Sequence[str]) -> bool:
        """Return whether a property holds a day that is celebrated each year."""
        return not list_property_names(["birthday"]).isdisjoint(map(fold, names))

    def _asks_for_birthday(self, names: Sequence[str]) -> bool:
        """Return whether a birthday is meant, as in "a birthday today", and not a birth."""
        is_named = any(are_alike(item.text, name) for item in self._items for name in names)
        return is_named or "having" in self._links.roles

    def _list_dated(self) -> list[str]:
        """Return the properties that hold the day that is asked for, of which any may be meant.

        That is a property that is named, or one for what was done, as "finished" in "Which books
        did I finish in 2026".
        """
        links = self._links
        if links.properties:
            named = links.properties[0] if len(links.properties) == 1 else ()
            return [name for name in named if self._vocabulary.holds_days(name)]
        for event in _EVENTS:
            if event in links.roles and (event == "created" or self._is_of_heads()):
                dated = sorted(self._vocabulary.dated)
                names = [name for name in dated if event in find_roles(name)]
                if names and self._spans and event == "done":
                    links.roles.discard(event)
                    links.states.clear()
                return names[:1] if event == "created" else names
        return []

    def _is_of_heads(self) -> bool:
        return bool(self._links.heads) and "tasks" not in self._around.roles
