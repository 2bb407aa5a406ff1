"""Find dates in a text: days, months and years, each as a range of days.

Questions may name dates in many forms, including relative ones such as "last week". In the names of
notes and in headings, only dates with a year are recognised. In properties, only ISO 8601 days are
recognised. Text after the first 400 characters is ignored.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import Final, NamedTuple

from vault.notes.amounts import CURRENCIES
from vault.notes.date_spans import (
    Span,
    build_day,
    build_day_span,
    build_month_span,
    build_week_span,
    build_year_span,
    next_month,
)
from vault.notes.relative_dates import (
    WEEKDAYS,
    build_named_day,
    find_relative_spans,
    remove_relative_dates,
)
from vault.notes.short_dates import write_dates_in_full

__all__ = [
    "MONTH_PATTERN",
    "YEARLESS",
    "LocatedDate",
    "find_date_spans",
    "find_iso_days",
    "find_month",
    "find_named_day",
    "find_weekday",
    "find_written_spans",
    "fold_date_text",
    "is_weekday",
    "list_property_days",
    "locate_dates",
    "parse_month",
    "remove_dates",
    "write_date_forms",
]

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
_FOLDED: Final = str.maketrans("äéûüöñèêàâáíîóôúç", "aeuuoneeaaaiioouc")
_MONTH_NUMBERS: Final = {
    name: number % 12 + 1 for number, name in enumerate(" ".join(_OTHERS.split()).split())
} | {name: number for number, name in enumerate(_ENGLISH, 1)}
_SHORT: Final = r"(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b"
# Matches the name of a month in a text from `fold_date_text`.
MONTH_PATTERN: Final = (
    rf"(?P<month>{'|'.join(sorted(_MONTH_NUMBERS, key=len, reverse=True))}|{_SHORT})"
)
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er)?"
# The number behind a month is an amount, as in "June 7 €", "Mai 2.50" or the German "im Juni 7".
_NO_AMOUNT: Final = (
    rf"(?!(?:\s?(?:-|–|to|bis|a)\s?\d+)?\s?(?:[{CURRENCIES}%°²]|(?:eur|usd|gbp|chf|euros?|dollars?|francs?|franken|pounds?"
    r"|[mk]?g|[cmk]m|[cmdh]?l|k?wh?|liter|litres?|liters?|litros?|kilos?|prozent|percent)"
    r"(?!\w))|[.,]\d)"
)
_NO_IN: Final = r"(?<!\bim\s)(?<!\ben\s)"
_LAST_DAY: Final = r"\s*(?:-|–|to|and|until|bis)\s*(?P<last_day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_SEASON: Final = rf"(?P<season>{'|'.join(_SEASONS)})"
_ISO_DAY: Final = re.compile(r"(?<!\d)(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?!\d)")


class LocatedDate(NamedTuple):
    """A date in a text, with its place there.

    Attributes:
        span: the days that it names. Without a year, they are those of `YEARLESS`.
        start: the offset of its first character.
        end: the offset behind its last character.
        has_year: whether the year is written.
    """

    span: Span
    start: int
    end: int
    has_year: bool


# The year that stands for any, in dates without one. It is a leap year.
YEARLESS: Final = 2000
_RELATIVE: Final = frozenset({"last", "this"})


def _compile(*forms: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(rf"(?<![\w-])(?:{form})(?![\w-])") for form in forms)


_WRITTEN: Final = (
    *_compile(
        rf"{_DAY}\.?{_LAST_DAY}\.?(?:\s+of)?\s+{MONTH_PATTERN}(?:[.,]?\s+{_YEAR})",
        rf"{MONTH_PATTERN}\.?\s+{_DAY}{_LAST_DAY}(?:,?\s+{_YEAR})",
        rf"{_YEAR}-w(?P<week>\d\d)",
        rf"{_YEAR}-(?P<month>\d\d?)(?:-(?P<day>\d\d?))?",
        rf"(?P<day>\d\d?)\.\s?(?P<month>\d\d?)\.\s?{_YEAR}",
        rf"{_DAY}\.?(?:\s+(?:of|de))?\s+{MONTH_PATTERN}(?:[.,]?\s+(?:de\s+)?{_YEAR})",
        rf"{MONTH_PATTERN}\.?\s+{_DAY}(?:,?\s+{_YEAR})",
        rf"{MONTH_PATTERN}[.,]?\s+(?:of\s+|de\s+)?{_YEAR}",
        rf"q(?P<quarter>[1-4])[\s/-]?{_YEAR}",
        rf"{_YEAR}-?q(?P<quarter>[1-4])",
        rf"{_SEASON}(?:\s+of)?\s+{_YEAR}",
    ),
    # In Chinese, Japanese and Korean, there are no spaces around dates.
    re.compile(
        rf"(?<!\d){_YEAR}\s?[年년]\s?(?P<month>\d\d?)\s?[月월]\s?(?P<day>\d\d?)\s?[日号號일]"
    ),
    re.compile(rf"(?<!\d){_YEAR}\s?[年년]\s?(?P<month>\d\d?)\s?[月월]"),
)
_ASKED: Final = _compile(
    rf"{_DAY}\.?{_LAST_DAY}\.?(?:\s+of)?\s+{MONTH_PATTERN}",
    rf"{_NO_IN}{MONTH_PATTERN}\s+{_DAY}{_LAST_DAY}{_NO_AMOUNT}",
    rf"{_DAY}\.?(?:\s+(?:of|de))?\s+{MONTH_PATTERN}",
    rf"{_NO_IN}{MONTH_PATTERN}\s+{_DAY}{_NO_AMOUNT}",
    rf"(?:in|since|during|from|of|year|im jahr|en|depuis|desde)\s+{_YEAR}",
    rf"(?P<which>in|last|this|since|during|im|en|depuis|desde)\s+{MONTH_PATTERN}",
    rf"(?P<which>last|this)\s+{_SEASON}",
)
# What each date has that is not relative, which spares most sentences from being searched.
_MAY_NAME_DATE: Final = re.compile(rf"\d|(?<!\w){MONTH_PATTERN}")
_HAS_MONTH: Final = re.compile(MONTH_PATTERN)
_HAS_YEAR: Final = re.compile(_YEAR)
# Each form of a date, and whether it has a month in words and a year. A text without one of these
# is not searched for the form.
_FORMS: Final = tuple(
    (form, MONTH_PATTERN in form.pattern, _YEAR in form.pattern) for form in (*_WRITTEN, *_ASKED)
)
_SINCE: Final = re.compile(r"(?:since|seit|depuis|desde)\s+(?:the\s+|dem\s+|l[ae]\s+|el\s+)?$")
# A filter of a query, such as `after:2024-03` or `date:2024-03-04..2024-03-10`.
_FILTER: Final = re.compile(r"(?<!\S)(?:after|before|date):[\d.-]+")


def fold_date_text(text: str) -> str:
    """Return the first 400 characters of a text in lower case, without umlauts and some accents."""
    return text[:_MAX_CHARS].lower().translate(_FOLDED)


def find_date_spans(text: str, today: date) -> tuple[Span, ...]:
    """Find the dates in a question, such as "5 March", "2024" or "last week".

    The filters of a query, such as `after:2024-03`, are skipped.

    Args:
        text: the question. Only the first 400 characters are searched.
        today: the current date. Dates without a year refer to the most recent such date.
    """
    folded_text = write_dates_in_full(_FILTER.sub("|", fold_date_text(text)), MONTH_PATTERN)
    found: list[Span | None] = [*find_relative_spans(folded_text, today)]
    folded_text = remove_relative_dates(folded_text)
    for form in (*_WRITTEN, *_ASKED):
        found += [_build_asked_span(match, today) for match in form.finditer(folded_text)]
        folded_text = form.sub("|", folded_text)  # in "5 March 2024" no March 2024 is named
    return tuple(dict.fromkeys(span for span in found if span is not None))


def find_named_day(text: str, today: date) -> Span | None:
    """Return the day that a text is only a name of, such as "tomorrow" or "mañana", or None."""
    return build_named_day(fold_date_text(text), today)


def find_month(word: str) -> int | None:
    """Return the number of the month that a word names in one of several languages, or None."""
    return _MONTH_NUMBERS.get(word.lower().translate(_FOLDED))


def is_weekday(word: str) -> bool:
    """Return whether a word is the name of a day of the week in one of several languages."""
    return word.lower().translate(_FOLDED) in WEEKDAYS


def find_weekday(word: str) -> int | None:
    """Return the number of the weekday that a word names, maybe in the plural, or None.

    Monday is 0.
    """
    folded = word.lower().translate(_FOLDED)
    return WEEKDAYS.get(folded, WEEKDAYS.get(folded.removesuffix("s")))


def remove_dates(text: str) -> str:
    """Return the first 400 characters of a question, in lower case and without dates.

    Umlauts and a few other accents are removed. Filters, such as `after:2024-03`, are moved to the
    end.
    """
    folded_text = fold_date_text(text)
    filters = _FILTER.findall(folded_text)
    folded_text = remove_relative_dates(_FILTER.sub(" ", folded_text))
    folded_text = write_dates_in_full(folded_text, MONTH_PATTERN)
    for form in (*_WRITTEN, *_ASKED):
        folded_text = form.sub(" ", folded_text)
    return " ".join((folded_text, *filters))


def find_written_spans(text: str) -> tuple[Span, ...]:
    """Find the dates with a year in the name of a note or in a heading."""
    folded_text = fold_date_text(text)
    if not any(char.isdigit() for char in folded_text):
        return ()
    found: list[Span | None] = [build_day_span(day) for day in find_iso_days(folded_text)]
    folded_text = _ISO_DAY.sub("|", folded_text)
    for form in _WRITTEN:
        found += [_build_span(match, date.max) for match in form.finditer(folded_text)]
        folded_text = form.sub("|", folded_text)
    return tuple(dict.fromkeys(span for span in found if span is not None))


def locate_dates(text: str) -> list[LocatedDate]:
    """Find the dates that a text names with their places, but not relative ones such as "today".

    Args:
        text: the text, of any length.
    """
    folded_text = text.lower().translate(_FOLDED)
    if len(folded_text) != len(text):  # a letter whose lower case is longer
        folded_text = "".join(low if len(low := char.lower()) == 1 else char for char in text)
        folded_text = folded_text.translate(_FOLDED)
    found: list[LocatedDate] = []
    if not _MAY_NAME_DATE.search(folded_text):
        return found
    has_month, has_year = bool(_HAS_MONTH.search(folded_text)), bool(_HAS_YEAR.search(folded_text))
    for form, needs_month, needs_year in _FORMS:
        if needs_month > has_month or needs_year > has_year:
            continue
        matches = list(form.finditer(folded_text))
        for match in matches:
            named = match.groupdict()
            span = _build_span(match, date(YEARLESS, 12, 31))
            if span is not None and named.get("which") not in _RELATIVE:
                found.append(LocatedDate(span, *match.span(), bool(named.get("year"))))
        if matches:
            folded_text = form.sub(lambda match: "|" * len(match[0]), folded_text)
    return sorted(found, key=lambda each: each.start)


def find_iso_days(text: str) -> Iterator[date]:
    """Yield the ISO 8601 days in a text, such as 2024-03-05."""
    for match in _ISO_DAY.finditer(text):
        day = build_day(*map(int, match.groups()))
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
    "March 2024", and a year as "2024". Of a range of whole months or years, the first six are
    written. Other ranges are written as their days, but the result is empty if they have more than
    14 days.
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
        month = next_month(month)


def _write_month(month: date) -> list[str]:
    return [f"{month:%Y-%m}", f"{_ENGLISH[month.month - 1]} {month.year}"]


def _write_day(day: date) -> list[str]:
    name = _ENGLISH[day.month - 1]
    return [day.isoformat(), f"{day.day} {name} {day.year}", f"{name} {day.day} {day.year}"]


def _build_asked_span(match: re.Match[str], today: date) -> Span | None:
    """Return the span of a date in a question. After "since", it ends today."""
    span = _build_span(match, today)
    is_since = match[0].startswith("since") or _SINCE.search(match.string, 0, match.start())
    if span is not None and is_since and span[0] <= today:
        return span[0], build_day_span(today)[1]
    return span


def _build_span(match: re.Match[str], today: date) -> Span | None:
    named = {name: value for name, value in match.groupdict().items() if value}
    year = int(named["year"]) if "year" in named else None
    if "week" in named:
        return build_week_span(year or 0, int(named["week"]))
    if "quarter" in named:
        return build_month_span(year or 0, 3 * int(named["quarter"]) - 2, 3)
    if "season" in named:
        month, length = _SEASONS[named["season"]], 3
    elif "month" in named:
        month, length = parse_month(named["month"]), 1
    else:
        return build_year_span(year or 0)
    if "day" not in named:
        is_past = named.get("which") == "last"
        return build_month_span(year or _guess_year(month, today, is_past=is_past), month, length)
    first = _build_named_day(year, month, int(named["day"]), today)
    if first is None or "last_day" not in named:
        return first
    last = build_day(first[0].year, month, int(named["last_day"]))
    return None if last is None or last < first[0] else (first[0], build_day_span(last)[1])


def _build_named_day(year: int | None, month: int, day: int, today: date) -> Span | None:
    first = build_day(year or today.year, month, day)
    if first is not None and year is None and first > today:
        first = build_day(today.year - 1, month, day)
    return None if first is None else build_day_span(first)


def _guess_year(month: int, today: date, *, is_past: bool) -> int:
    """Return the year in which a month most recently occurred.

    Args:
        month: the number of the month, from 1.
        today: the current date.
        is_past: whether the current month does not count, as in "last May".
    """
    is_over = month < today.month or (month == today.month and not is_past)
    return today.year if is_over else today.year - 1


def parse_month(named: str) -> int:
    """Return the number of a month from its number, name or short name, or 0 if there is none.

    Args:
        named: the name as `fold_date_text` writes it.
    """
    if named.isdecimal():
        return int(named)
    if not named:
        return 0
    if (number := _MONTH_NUMBERS.get(named)) is not None:
        return number
    names = {**dict.fromkeys(_ENGLISH, 0), **_MONTH_NUMBERS}  # English names come first
    return next((number for name, number in names.items() if name.startswith(named[:3])), 0)
