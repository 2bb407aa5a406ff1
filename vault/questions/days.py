"""Read which days a question means: before, after or between dates, or since one."""

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import pairwise
from typing import Final

from vault.notes.date_spans import Span, move_ahead
from vault.notes.dates import is_weekday
from vault.questions.tokens import Item
from vault.questions.words import find_roles, list_date_words, split_words

__all__ = [
    "LIMITS",
    "are_begun_years",
    "find_due_spans",
    "limit_spans",
    "name_weekdays",
    "write_yearly_days",
]

# Roles of words that say on which side of a date the days are.
LIMITS: Final = frozenset({"before", "until", "after", "since"})
_YEAR_DAYS: Final = 365
_MONTH_DAYS: Final = 31
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_BOUNDS: Final = LIMITS | {"between", "to"}
_JOINS: Final = frozenset({"and", "in", "from"})


def limit_spans(items: Sequence[Item], spans: Sequence[Span]) -> list[Span] | None:
    """Return the days that a question asks for, by the words before its dates.

    The result is None if the dates have different limits, as in "before May and after July".

    Args:
        items: the items of the question.
        spans: its dates, as ranges of days.
    """
    bounds = [_find_bound(items, at) for at in _list_starts(items)]
    if len(spans) == len(bounds) == 2 and _is_range(*bounds):
        first, last = sorted(spans)
        return [(first[0], last[0] if "before" in bounds[1] else last[1])]
    bound = bounds[0] if bounds else frozenset[str]()
    if any(each & LIMITS not in (bound & LIMITS, frozenset()) for each in bounds):
        return None
    return [_limit(span, bound) for span in spans]


def are_begun_years(*days: date) -> bool:
    """Return whether all of some days are the first of their years, or the ends of time."""
    return all(day in (date.min, date.max) or (day.month, day.day) == (1, 1) for day in days)


def find_due_spans(text: str, spans: Sequence[Span], today: date) -> tuple[Span, ...]:
    """Return the dates of a question for tasks that are due.

    Weekdays, and dates without a year, are in the future here, unlike in other questions.

    Args:
        text: the question.
        spans: its dates, as ranges of days.
        today: the current date.
    """
    words = {word.folded for word in split_words(text)}
    if words & list_date_words("past") or any(map(_YEAR.fullmatch, words)):
        return tuple(spans)
    is_day = any(map(is_weekday, words))
    return tuple(move_ahead(span, today, is_weekday=is_day) for span in spans)


def name_weekdays(text: str) -> str:
    """Write "on" before a weekday behind a word such as "due" or "until", as in "due Monday"."""
    words = split_words(text)
    shown, end = [], 0
    for before, word in pairwise(words):
        if is_weekday(word.folded) and find_roles(before.text) & (LIMITS | {"due"}):
            at = text.index(word.text, end)
            shown.append(f"{text[end:at]}on ")
            end = at
    return "".join((*shown, text[end:]))


def write_yearly_days(span: Span) -> str:
    """Return a range of days as that of any year in a condition, such as `--12-24..--12-26`.

    A range without a beginning or an end is limited to one year.
    """
    first, after = span
    if (after - first).days >= _YEAR_DAYS and date.min < first and after < date.max:
        return "--01-01..--12-31"
    if first.day == after.day == 1 and (after - first).days <= _MONTH_DAYS:
        return f"--{first:%m}"
    begin = "01-01" if first == date.min else f"{first:%m-%d}"
    end = "12-31" if after == date.max else f"{after - timedelta(days=1):%m-%d}"
    if end == "02-28" and (after - first).days > 1:
        end = "02-29"  # the end of February in each year
    return f"--{begin}" if begin == end else f"--{begin}..--{end}"


def _list_starts(items: Sequence[Item]) -> Iterator[int]:
    """Yield the positions at which dates begin."""
    for at, item in enumerate(items):
        if item.is_date and (at == 0 or not items[at - 1].is_date):
            yield at


def _find_bound(items: Sequence[Item], at: int) -> frozenset[str]:
    """Return the roles of the word before a date that limits it, such as "before"."""
    at -= 1
    while at >= 0 and items[at].is_silent and not items[at].roles & _BOUNDS:
        at -= 1
    return items[at].roles & (_BOUNDS | _JOINS) if at >= 0 else frozenset()


def _is_range(first: frozenset[str], last: frozenset[str]) -> bool:
    """Return whether two dates are the ends of a range, as in "from May to July".

    Those of "between May and July" are, but "from May and July" asks for two months.
    """
    if "and" in last and not first.isdisjoint(("in", "from")):
        return False
    begins = bool(first & {"between", "since", "after"})
    return bool(last & {"to", "until", "before"}) and (begins or bool(last & {"until"}))


def _limit(span: Span, bound: frozenset[str]) -> Span:
    if "before" in bound:
        return date.min, span[0]
    if "until" in bound:
        return date.min, span[1]
    if "after" in bound:
        return span[1], date.max
    return (span[0], date.max) if "since" in bound else span
