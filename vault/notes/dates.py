"""Find the days, months and years that a text names, as spans of days.

Questions name dates in many forms. The dates of a note are recognised only in ISO 8601 form, in its
name, its headings or its front matter.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from typing import Final

__all__ = ["Span", "find_date_spans", "find_iso_days", "list_property_days"]

Span = tuple[date, date]  # the first day, and the first day after it

_MAX_CHARS: Final = 400
_MONTHS: Final = "janfebmaraprmayjunjulaugsepoctnovdec"
_MONTH: Final = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_ISO_DAY: Final = re.compile(r"(?<!\d)(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?!\d)")
_NAMED: Final = tuple(
    re.compile(rf"(?<![\w-])(?:{form})(?![\w-])")
    for form in (
        rf"{_YEAR}-(?P<month>\d\d?)(?:-(?P<day>\d\d?))?",
        rf"(?P<day>\d\d?)\.\s?(?P<month>\d\d?)\.\s?{_YEAR}",
        rf"{_DAY}\.?(?:\s+of)?\s+{_MONTH}(?:,?\s+{_YEAR})?",
        rf"{_MONTH}\s+{_DAY}(?:,?\s+{_YEAR})?",
        rf"{_MONTH},?\s+{_YEAR}",
        rf"(?:in|since|during|from|of|year)\s+{_YEAR}",
    )
)
_RELATIVE: Final = re.compile(r"\b(?:(today|yesterday)|(this|last)\s+(week|month|year))\b")


def find_date_spans(text: str, today: date) -> tuple[Span, ...]:
    """Return the spans of the dates, months, years or words such as "last week" in a question.

    Args:
        text: the question; only the first 400 characters are searched.
        today: the date that "yesterday" refers to; a day without a year means the most recent one.
    """
    said = text[:_MAX_CHARS].lower()
    found: list[Span | None] = [
        _build_relative_span(match, today) for match in _RELATIVE.finditer(said)
    ]
    for form in _NAMED:
        found += [_build_span(match, today) for match in form.finditer(said)]
        said = form.sub("|", said)  # in "5 March 2024" no March 2024 is named
    return tuple(dict.fromkeys(span for span in found if span is not None))


def find_iso_days(text: str) -> Iterator[date]:
    """Yield the days in a text that are written in ISO 8601 form, such as 2024-03-05."""
    for match in _ISO_DAY.finditer(text):
        day = _build_day(*map(int, match.groups()))
        if day is not None:
            yield day


def list_property_days(properties: Iterable[Iterable[str]]) -> list[str]:
    """Return the distinct days among the values of properties, sorted, in ISO 8601."""
    values = (value for texts in properties for value in texts)
    days = (day for value in values if _ISO_DAY.match(value) for day in find_iso_days(value[:10]))
    return sorted({day.isoformat() for day in days})


def _build_span(match: re.Match[str], today: date) -> Span | None:
    named = match.groupdict()
    month = _parse_month(named.get("month"))
    day = int(named["day"]) if named.get("day") else None
    year = int(named["year"]) if named.get("year") else None
    if month is None:
        first = _build_day(year or 0, 1, 1)
        return None if first is None else _build_until(first, _next_year)
    if day is None:
        first = _build_day(year or 0, month, 1)
        return None if first is None else _build_until(first, _next_month)
    first = _build_day(year or today.year, month, day)
    if first is not None and year is None and first > today:
        first = _build_day(today.year - 1, month, day)
    return None if first is None else _build_until(first, _next_day)


def _build_relative_span(match: re.Match[str], today: date) -> Span:
    word, which, unit = match.groups()
    if word is not None:
        return _build_until(today - timedelta(days=word == "yesterday"), _next_day)
    if unit == "week":
        monday = today - timedelta(days=today.weekday() + (7 if which == "last" else 0))
        return monday, monday + timedelta(days=7)
    first = today.replace(day=1) if unit == "month" else today.replace(month=1, day=1)
    if which == "last":
        before = first - timedelta(days=1)
        first = before.replace(day=1) if unit == "month" else before.replace(month=1, day=1)
    return _build_until(first, _next_month if unit == "month" else _next_year)


def _parse_month(named: str | None) -> int | None:
    if not named:
        return None
    return int(named) if named.isdecimal() else _MONTHS.index(named[:3]) // 3 + 1


def _build_day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:  # such as the thirtieth of February
        return None


def _build_until(first: date, following: Callable[[date], date]) -> Span:
    try:
        return first, following(first)
    except (ValueError, OverflowError):  # the last year supported by `date`
        return first, date.max


def _next_day(day: date) -> date:
    return day + timedelta(days=1)


def _next_month(first: date) -> date:
    return (first + timedelta(days=31)).replace(day=1)


def _next_year(first: date) -> date:
    return first.replace(year=first.year + 1)
