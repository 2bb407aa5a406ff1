"""Find dates in a text: days, months and years, each as a range of days.

Questions may name dates in many forms, including relative ones such as "last week". In the names of
notes and in headings, only dates with a year are recognised. In properties, only ISO 8601 days are
recognised.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from typing import Final

__all__ = [
    "Span",
    "find_date_spans",
    "find_iso_days",
    "find_written_spans",
    "list_property_days",
    "remove_dates",
    "write_date_forms",
]

Span = tuple[date, date]  # the first day, and the first day after it

_MAX_CHARS: Final = 400
_MOST_DAYS_WRITTEN: Final = 14
_MOST_MONTHS_WRITTEN: Final = 6
_ENGLISH: Final = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_OTHERS: Final = """
    januar februar marz april mai juni juli august september oktober november dezember
    janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
"""
_FOLDED: Final = str.maketrans("äéû", "aeu")
_MONTH_NUMBERS: Final = {
    name: number % 12 + 1 for number, name in enumerate(" ".join(_OTHERS.split()).split())
} | {name: number for number, name in enumerate(_ENGLISH, 1)}
_SHORT: Final = r"(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b"
_MONTH: Final = rf"(?P<month>{'|'.join(sorted(_MONTH_NUMBERS, key=len, reverse=True))}|{_SHORT})"
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_SEASON: Final = rf"(?P<season>{'|'.join(_SEASONS)})"
_WEEKDAYS: Final = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_ISO_DAY: Final = re.compile(r"(?<!\d)(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?!\d)")


def _compile(*forms: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(rf"(?<![\w-])(?:{form})(?![\w-])") for form in forms)


_WRITTEN: Final = _compile(
    rf"{_YEAR}-w(?P<week>\d\d)",
    rf"{_YEAR}-(?P<month>\d\d?)(?:-(?P<day>\d\d?))?",
    rf"(?P<day>\d\d?)\.\s?(?P<month>\d\d?)\.\s?{_YEAR}",
    rf"{_DAY}\.?(?:\s+(?:of|de))?\s+{_MONTH}(?:,?\s+(?:de\s+)?{_YEAR})",
    rf"{_MONTH}\s+{_DAY}(?:,?\s+{_YEAR})",
    rf"{_MONTH},?\s+(?:of\s+|de\s+)?{_YEAR}",
    rf"q(?P<quarter>[1-4])[\s/-]?{_YEAR}",
    rf"{_YEAR}-?q(?P<quarter>[1-4])",
    rf"{_SEASON}(?:\s+of)?\s+{_YEAR}",
)
_ASKED: Final = _compile(
    rf"{_DAY}\.?(?:\s+of)?\s+{_MONTH}",
    rf"{_MONTH}\s+{_DAY}",
    rf"(?:in|since|during|from|of|year|im jahr|en)\s+{_YEAR}",
    rf"(?P<which>in|last|this|since|during|im)\s+{_MONTH}",
    rf"(?P<which>last|this)\s+{_SEASON}",
)
_DAYS_BACK: Final = {
    "today": 0,
    "yesterday": 1,
    "heute": 0,
    "gestern": 1,
    "vorgestern": 2,
    "hoy": 0,
    "ayer": 1,
}
_UNITS: Final = {
    "week": "week",
    "month": "month",
    "year": "year",
    "woche": "week",
    "monat": "month",
    "jahr": "year",
}
_RELATIVE: Final = re.compile(
    rf"\b(?:({'|'.join(_DAYS_BACK)})"
    rf"|(this|last|diese[mnrs]?|letzte[mnrs]?)\s+({'|'.join(_UNITS)}))\b"
)
_WEEKDAY: Final = re.compile(rf"\b(?:on|last|this|since)\s+({'|'.join(_WEEKDAYS)})\b")
_NUMBERS: Final = [
    "a",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
]
_AGO: Final = re.compile(rf"\b(\d{{1,3}}|{'|'.join(_NUMBERS)})\s+(day|week|month|year)s?\s+ago\b")


def find_date_spans(text: str, today: date) -> tuple[Span, ...]:
    """Find the dates in a question, such as "5 March", "2024" or "last week".

    Args:
        text: the question. Only the first 400 characters are searched.
        today: the current date. Dates without a year refer to the most recent such date.
    """
    said = text[:_MAX_CHARS].lower().translate(_FOLDED)
    found: list[Span | None] = [
        *(_build_relative_span(match, today) for match in _RELATIVE.finditer(said)),
        *(_build_weekday_span(match, today) for match in _WEEKDAY.finditer(said)),
        *(_build_past_span(match, today) for match in _AGO.finditer(said)),
    ]
    for form in (*_WRITTEN, *_ASKED):
        found += [_build_span(match, today) for match in form.finditer(said)]
        said = form.sub("|", said)  # in "5 March 2024" no March 2024 is named
    return tuple(dict.fromkeys(span for span in found if span is not None))


def remove_dates(text: str) -> str:
    """Return the first 400 characters of a question, in lower case and without dates."""
    said = text[:_MAX_CHARS].lower().translate(_FOLDED)
    for form in (_RELATIVE, _WEEKDAY, _AGO, *_WRITTEN, *_ASKED):
        said = form.sub(" ", said)
    return said


def find_written_spans(text: str) -> tuple[Span, ...]:
    """Find the dates with a year in the name of a note or in a heading."""
    said = text[:_MAX_CHARS].lower().translate(_FOLDED)
    if not any(char.isdigit() for char in said):
        return ()
    found: list[Span | None] = [(day, _next_day(day)) for day in find_iso_days(said)]
    said = _ISO_DAY.sub("|", said)
    for form in _WRITTEN:
        found += [_build_span(match, date.max) for match in form.finditer(said)]
        said = form.sub("|", said)
    return tuple(dict.fromkeys(span for span in found if span is not None))


def find_iso_days(text: str) -> Iterator[date]:
    """Yield the ISO 8601 days in a text, such as 2024-03-05."""
    for match in _ISO_DAY.finditer(text):
        day = _build_day(*map(int, match.groups()))
        if day is not None:
            yield day


def list_property_days(properties: Iterable[Iterable[str]]) -> list[str]:
    """Return the distinct days in the values of properties, as sorted ISO 8601 strings.

    Args:
        properties: the values of each property of a note.
    """
    values = (value for texts in properties for value in texts)
    days = (day for value in values if _ISO_DAY.match(value) for day in find_iso_days(value[:10]))
    return sorted({day.isoformat() for day in days})


def write_date_forms(span: Span) -> list[str]:
    """Return the ways in which a date range may be written in notes.

    A day is written as "2024-03-05", "5 March 2024" or "March 5 2024", a month as "2024-03" or
    "March 2024", and a year as "2024". Other ranges are written as their days, but the result is
    empty if they have more than 14 days.
    """
    first, after = span
    if (first.month, first.day, after.month, after.day) == (1, 1, 1, 1):
        return [str(year) for year in range(first.year, after.year)][:_MOST_MONTHS_WRITTEN]
    if first.day == after.day == 1:
        return [form for month in _list_months(span) for form in _write_month(month)]
    days = [first + timedelta(number) for number in range((after - first).days)]
    if len(days) > _MOST_DAYS_WRITTEN:
        return []
    return [form for day in days for form in _write_day(day)]


def _list_months(span: Span) -> Iterator[date]:
    month, after = span
    for _ in range(_MOST_MONTHS_WRITTEN):
        if month >= after:
            return
        yield month
        month = _next_month(month)


def _write_month(month: date) -> list[str]:
    return [f"{month:%Y-%m}", f"{_ENGLISH[month.month - 1]} {month.year}"]


def _write_day(day: date) -> list[str]:
    name = _ENGLISH[day.month - 1]
    return [day.isoformat(), f"{day.day} {name} {day.year}", f"{name} {day.day} {day.year}"]


def _build_span(match: re.Match[str], today: date) -> Span | None:
    named = {name: value for name, value in match.groupdict().items() if value}
    year = int(named["year"]) if "year" in named else None
    if "week" in named:
        return _build_week(year or 0, int(named["week"]))
    if "quarter" in named:
        return _build_months(year or 0, 3 * int(named["quarter"]) - 2, 3)
    if "season" in named:
        month, length = _SEASONS[named["season"]], 3
    elif "month" in named:
        month, length = _parse_month(named["month"]), 1
    else:
        first = _build_day(year or 0, 1, 1)
        return None if first is None else _build_until(first, _next_year)
    if "day" not in named:
        is_past = named.get("which") == "last"
        return _build_months(year or _guess_year(month, today, is_past=is_past), month, length)
    return _build_named_day(year, month, int(named["day"]), today)


def _build_named_day(year: int | None, month: int, day: int, today: date) -> Span | None:
    first = _build_day(year or today.year, month, day)
    if first is not None and year is None and first > today:
        first = _build_day(today.year - 1, month, day)
    return None if first is None else _build_until(first, _next_day)


def _guess_year(month: int, today: date, *, is_past: bool) -> int:
    """Return the year in which a month most recently occurred.

    Args:
        month: the number of the month, from 1.
        today: the current date.
        is_past: whether the current month does not count, as in "last May".
    """
    is_over = month < today.month or (month == today.month and not is_past)
    return today.year if is_over else today.year - 1


def _build_months(year: int, month: int, length: int) -> Span | None:
    first = _build_day(year, month, 1)
    if first is None:
        return None
    after = first
    for _ in range(length):
        _, after = _build_until(after, _next_month)
    return first, after


def _build_week(year: int, week: int) -> Span | None:
    try:
        return _build_until(date.fromisocalendar(year, week, 1), _next_week)
    except ValueError:  # there is no such week
        return None


def _build_relative_span(match: re.Match[str], today: date) -> Span | None:
    word, which, unit = match.groups()
    if word is not None:
        return _build_unit_span("day", _DAYS_BACK[word], today)
    return _build_unit_span(_UNITS[unit], int(which.startswith("l")), today)


def _build_past_span(match: re.Match[str], today: date) -> Span | None:
    written, unit = match.groups()
    number = int(written) if written.isdecimal() else max(1, _NUMBERS.index(written))
    return _build_unit_span(unit, number, today)


def _build_unit_span(unit: str, back: int, today: date) -> Span | None:
    """Return a past day, week, month or year as a range of days.

    Args:
        unit: "day", "week", "month" or "year".
        back: how many units before the current one.
        today: the current date.
    """
    try:
        if unit == "day":
            return _build_until(today - timedelta(days=back), _next_day)
        if unit == "week":
            return _build_until(today - timedelta(days=today.weekday() + 7 * back), _next_week)
        if unit == "year":
            return _build_until(date(today.year - back, 1, 1), _next_year)
        year, month = divmod(today.year * 12 + today.month - 1 - back, 12)
        return _build_until(date(year, month + 1, 1), _next_month)
    except (ValueError, OverflowError):  # before the first year supported by `date`
        return None


def _build_weekday_span(match: re.Match[str], today: date) -> Span | None:
    """Return the most recent day on the weekday in a phrase such as "on Monday".

    After "last", today does not count.
    """
    back = (today.weekday() - _WEEKDAYS.index(match[1])) % 7
    if back == 0 and match[0].startswith("last"):
        back = 7
    return _build_unit_span("day", back, today)


def _parse_month(named: str) -> int:
    if named.isdecimal():
        return int(named)
    if (number := _MONTH_NUMBERS.get(named)) is not None:
        return number
    return next(at for at, name in enumerate(_ENGLISH, 1) if name.startswith(named[:3]))


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


def _next_week(monday: date) -> date:
    return monday + timedelta(days=7)


def _next_month(first: date) -> date:
    return (first + timedelta(days=31)).replace(day=1)


def _next_year(first: date) -> date:
    return first.replace(year=first.year + 1)
