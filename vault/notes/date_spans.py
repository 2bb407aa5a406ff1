"""Build date spans: a day, a week, a month or a year as a range of days.

A span that would end after the last year that `date` supports ends on the last day of that year.
"""

from collections.abc import Callable, Iterable
from datetime import date, timedelta
from typing import Final, Literal

__all__ = [
    "Span",
    "Unit",
    "build_day",
    "build_day_span",
    "build_month_span",
    "build_unit_span",
    "build_week_span",
    "build_year_span",
    "do_overlap",
    "is_in_ranges",
    "move_ahead",
    "next_month",
]

Span = tuple[date, date]  # the first day, and the first day after it
Unit = Literal["day", "week", "month", "year"]
_WEEK: Final = timedelta(days=7)


def build_day(year: int, month: int, day: int) -> date | None:
    """Return a date, or None if there is no such date, such as 30 February."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def build_day_span(day: date) -> Span:
    """Return a day as a range of days."""
    return _build_until(day, lambda first: first + timedelta(days=1))


def build_week_span(year: int, week: int) -> Span | None:
    """Return an ISO 8601 week as a range of days, or None if there is no such week."""
    try:
        monday = date.fromisocalendar(year, week, 1)
    except ValueError:
        return None
    return _build_until(monday, lambda first: first + timedelta(days=7))


def build_month_span(year: int, month: int, length: int = 1) -> Span | None:
    """Return several months as a range of days, or None if there is no such month.

    Args:
        year: the year of the first month.
        month: the number of the first month, from 1.
        length: the number of months.
    """
    first = build_day(year, month, 1)
    if first is None:
        return None
    after = first
    for _ in range(length):
        _, after = _build_until(after, next_month)
    return first, after


def build_year_span(year: int) -> Span | None:
    """Return a year as a range of days, or None if there is no such year."""
    first = build_day(year, 1, 1)
    return None if first is None else _build_until(first, lambda day: day.replace(year=year + 1))


def build_unit_span(unit: Unit, shift: int, today: date) -> Span | None:
    """Return the current day, week, month or year, or one before or after it.

    Args:
        shift: how many units after the current one, or before it if negative.
        today: the current date.

    Returns:
        The unit as a range of days, or None if `date` does not support its year.
    """
    try:
        if unit == "day":
            return build_day_span(today + timedelta(days=shift))
        if unit == "week":
            year, week, _ = (today + timedelta(days=7 * shift)).isocalendar()
            return build_week_span(year, week)
        if unit == "year":
            return build_year_span(today.year + shift)
        year, month = divmod(today.year * 12 + today.month - 1 + shift, 12)
        return build_month_span(year, month + 1)
    except (ValueError, OverflowError):
        return None


def is_in_ranges(span: Span, ranges: Iterable[Span]) -> bool:
    """Return whether a span, such as a day or a month, lies at least partly in any of the ranges.

    A span that is longer than a week and longer than the range does not count: a note about a month
    is not about each day of it.
    """
    length = span[1] - span[0]
    return any(
        do_overlap(span, asked) and length <= max(asked[1] - asked[0], _WEEK) for asked in ranges
    )


def do_overlap(span: Span, other: Span) -> bool:
    """Return whether two ranges of days have a day in common."""
    return span[0] < other[1] and other[0] < span[1]


def next_month(first: date) -> date:
    """Return the first day of the next month.

    Args:
        first: the first day of a month.
    """
    return (first + timedelta(days=31)).replace(day=1)


def move_ahead(span: Span, today: date, *, is_weekday: bool) -> Span:
    """Return the next such weekday, or the same days of the next year, if a date is past.

    Args:
        span: the days of a date that was named without its year.
        today: the current date.
        is_weekday: whether the date is a weekday, such as Friday.
    """
    first, after = span
    if after > today:
        return span
    if is_weekday:
        return first + _WEEK, after + _WEEK
    try:
        return first.replace(year=first.year + 1), after.replace(year=after.year + 1)
    except ValueError:  # 29 February
        return span


def _build_until(first: date, following: Callable[[date], date]) -> Span:
    try:
        return first, following(first)
    except (ValueError, OverflowError):
        return first, date.max
