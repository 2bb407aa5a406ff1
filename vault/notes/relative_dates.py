"""Find dates that depend on the current date, such as "yesterday" or "in the last two weeks".

English, German, French and Spanish phrases are recognised.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Final, cast

from vault.notes.date_spans import Span, Unit, build_day_span, build_unit_span

__all__ = ["WEEKDAYS", "build_named_day", "find_relative_spans", "remove_relative_dates"]

_DAYS: Final = {
    "today": 0,
    "tonight": 0,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "the day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "the day after tomorrow": 2,
    "tomorrow": 1,
    "heute": 0,
    "vorgestern": -2,
    "gestern": -1,
    "ubermorgen": 2,
    "aujourd'hui": 0,
    "aujourd’hui": 0,
    "avant-hier": -2,
    "apres-demain": 2,
    "demain": 1,
    "hoy": 0,
    "anteayer": -2,
    "ayer": -1,
    "pasado manana": 2,
    "esta manana": 0,
}
# Words that mean a day where they stand alone, and may mean something else in a sentence.
_LONE_DAYS: Final = {"morgen": 1, "manana": 1, "hier": -1}
# "Morgen" is a part of a day too, as in "gestern Morgen".
_TOMORROW: Final = "(?:(?<=gestern und )|(?<=gestern bis )|(?<=heute und )|(?<=heute bis ))morgen"
_UNITS: Final = {
    "day": "day",
    "days": "day",
    "tage": "day",
    "tagen": "day",
    "week": "week",
    "weeks": "week",
    "woche": "week",
    "wochen": "week",
    "month": "month",
    "months": "month",
    "monat": "month",
    "monate": "month",
    "monaten": "month",
    "year": "year",
    "years": "year",
    "jahr": "year",
    "jahre": "year",
    "jahren": "year",
}
_ROMANCE_UNITS: Final = {
    "jour": "day",
    "jours": "day",
    "dia": "day",
    "dias": "day",
    "semaine": "week",
    "semaines": "week",
    "semana": "week",
    "semanas": "week",
    "mois": "month",
    "mes": "month",
    "meses": "month",
    "an": "year",
    "ans": "year",
    "annee": "year",
    "annees": "year",
    "ano": "year",
    "anos": "year",
}
_UNIT: Final = rf"(?P<unit>{'|'.join(sorted(_UNITS, key=len, reverse=True))})"
_ROMANCE_UNIT: Final = rf"(?P<unit>{'|'.join(sorted(_ROMANCE_UNITS, key=len, reverse=True))})"
_NUMBERS: Final = {
    "a": 1,
    "couple of": 2,
    "few": 3,
    "several": 3,
    "paar": 3,
    "einem": 1,
    "einer": 1,
    "une": 1,
    "un": 1,
    "una": 1,
} | {
    word: number
    for words in (
        "one two three four five six seven eight nine ten eleven twelve",
        "ein zwei drei vier funf sechs sieben acht neun zehn elf zwolf",
        "un deux trois quatre cinq six sept huit neuf dix onze douze",
        "uno dos tres cuatro cinco seis siete ocho nueve diez once doce",
    )
    for number, word in enumerate(words.split(), 1)
}
_NUMBER: Final = rf"(?P<number>[1-9]\d{{0,2}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_WEEKDAYS: Final = {
    name: number
    for names in (
        "monday tuesday wednesday thursday friday saturday sunday",
        "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    )
    for number, name in enumerate(names.split())
} | {"sonnabend": 5}
_ROMANCE_WEEKDAYS: Final = {
    name: number
    for names in (
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
        "lunes martes miercoles jueves viernes sabado domingo",
    )
    for number, name in enumerate(names.split())
}
# The number of each weekday, from 0 for Monday, by its names in lower case and without accents.
WEEKDAYS: Final = _WEEKDAYS | _ROMANCE_WEEKDAYS
_WEEKDAY: Final = rf"(?P<weekday>{'|'.join(_WEEKDAYS)})"
_ROMANCE_WEEKDAY: Final = rf"(?P<weekday>{'|'.join(_ROMANCE_WEEKDAYS)})"
_LAST: Final = r"last|past|previous|letzte[mnrs]?|vergangene[mnrs]?|vorige[mnrs]?"
_NEXT: Final = r"next|coming|nachste[mnrs]?|kommende[mnrs]?"
_THIS: Final = r"this|diese[mnrs]?"
# In French and Spanish, these words stand behind or before a unit.
_ROMANCE_LAST: Final = r"(?P<last>derni(?:ers?|eres?)|passee?s?|pasad[oa]s?|ultim[oa]s?)"
_ROMANCE_NEXT: Final = r"(?P<next>prochaine?s?|proxim[oa]s?|que viene)"
_ROMANCE_SIDE: Final = rf"(?:{_ROMANCE_LAST}|{_ROMANCE_NEXT})"
_ROMANCE_THIS: Final = r"(?P<this>cette|cet?|ces|est[ea])(?P<last>(?!))?(?P<next>(?!))?"
_ROMANCE_WEEKEND: Final = r"(?:week-?end|fin de semana)"
# "Hier" is "here" in German, so another French word must be there.
# No word counts that German has too, such as "Notes", "AI" or the "d" of "d. h.".
_FRENCH: Final = re.compile(
    r"\b(?:(?:fait|quoi|que|qu|quelles?|quels?|les|mes|entre|soir|ai-je|n['’]ai)\b|[dj]['’](?=\w))"
)
# The number of days of each unit in a period that ends today, such as the past three weeks.
_UNIT_DAYS: Final = {"day": 1, "week": 7, "month": 30, "year": 365}
_SATURDAY: Final = 5

_Build = Callable[["re.Match[str]", date], Span | None]


def find_relative_spans(text: str, today: date) -> Iterator[Span]:
    """Find the dates in a question that depend on the current date, each as a range of days.

    After "since", a range ends today.

    Args:
        text: the question in lower case and without umlauts.
        today: the current date.
    """
    for form, build in _FORMS:
        for match in form.finditer(text):
            span = build(match, today)
            if span is not None and match["since"] and span[0] <= today:
                span = span[0], build_day_span(today)[1]
            if span is not None:
                yield span
        text = form.sub("|", text)


def build_named_day(text: str, today: date) -> Span | None:
    """Return the day that a text is only a name of, such as the German "morgen", or None.

    Args:
        text: the text in lower case and without umlauts.
        today: the current date.
    """
    days = (_DAYS | _LONE_DAYS).get(text)
    return None if days is None else build_unit_span("day", days, today)


def remove_relative_dates(text: str) -> str:
    """Return a question without the dates that depend on the current date.

    Args:
        text: the question in lower case and without umlauts.
    """
    for form, _ in _FORMS:
        text = form.sub(" ", text)
    return text


def _build_named_day(match: re.Match[str], today: date) -> Span | None:
    return build_unit_span("day", _DAYS[match["word"]], today)


def _build_tomorrow(_match: re.Match[str], today: date) -> Span | None:
    return build_unit_span("day", 1, today)


def _build_yesterday(match: re.Match[str], today: date) -> Span | None:
    is_french = _FRENCH.search(match.string) is not None
    return build_unit_span("day", -1, today) if is_french else None


def _build_unit(match: re.Match[str], today: date) -> Span | None:
    shift = 1 if match["next"] else -1 if match["last"] else 0
    return build_unit_span(_read_unit(match), shift, today)


def _build_past_unit(match: re.Match[str], today: date) -> Span | None:
    return _build_days(_UNIT_DAYS[_read_unit(match)], today)


def _build_several_units(match: re.Match[str], today: date) -> Span | None:
    days = _UNIT_DAYS[_read_unit(match)] * _read_number(match)
    return _build_days(-days if match["next"] else days, today)


def _build_days(days: int, today: date) -> Span | None:
    """Return a number of days up to and including today, or after today if it is negative."""
    try:
        if days < 0:
            return today + timedelta(days=1), today + timedelta(days=1 - days)
        return today - timedelta(days=days - 1), build_day_span(today)[1]
    except OverflowError:
        return None


def _build_ago(match: re.Match[str], today: date) -> Span | None:
    return build_unit_span(_read_unit(match), -_read_number(match), today)


def _build_weekend(match: re.Match[str], today: date) -> Span | None:
    """Return a Saturday and a Sunday.

    "This weekend" and "next weekend" may be the coming one. "On the weekend" is the current or the
    previous one. On a weekend, "last weekend" is the one before.
    """
    saturday = today + timedelta(days=_SATURDAY - today.weekday())
    is_future = saturday > today
    if match["next"]:
        saturday += timedelta(days=0 if is_future else 7)
    elif match["last"] or (is_future and not match["this"]):
        saturday -= timedelta(days=7)
    return saturday, saturday + timedelta(days=2)


def _build_weekday(match: re.Match[str], today: date) -> Span | None:
    """Return the most recent date with a weekday, or after "next", the next such date.

    After "last" and "next", today does not count.
    """
    number = WEEKDAYS[match["weekday"]]
    shift = (today.weekday() - number) % 7
    if match["next"]:
        return build_unit_span("day", 7 - shift, today)
    return build_unit_span("day", -(shift or (7 if match["last"] else 0)), today)


def _read_unit(match: re.Match[str]) -> Unit:
    return cast("Unit", (_UNITS | _ROMANCE_UNITS)[match["unit"]])


def _read_number(match: re.Match[str]) -> int:
    written = match["number"]
    return int(written) if written.isdecimal() else _NUMBERS[written]


def _compile(form: str) -> re.Pattern[str]:
    since = r"(?P<since>(?:since|seit|depuis|desde)\s+)?"
    return re.compile(rf"\b{since}(?:(?:the|de[mnr]|el|l[aeo]s?)\s+|l['’])?(?:{form})\b")


_FORMS: Final[tuple[tuple[re.Pattern[str], _Build], ...]] = (
    (_compile(_TOMORROW), _build_tomorrow),
    (_compile(f"(?P<word>{'|'.join(_DAYS)})"), _build_named_day),
    (
        _compile(rf"(?:(?P<last>{_LAST})|(?P<next>{_NEXT}))\s+{_NUMBER}\s+{_UNIT}"),
        _build_several_units,
    ),
    (_compile(rf"past\s+{_UNIT}"), _build_past_unit),
    (_compile(rf"(?:(?P<last>{_LAST})|(?P<next>{_NEXT})|{_THIS})\s+{_UNIT}"), _build_unit),
    (_compile(rf"{_NUMBER}\s+{_UNIT}\s+ago"), _build_ago),
    (_compile(rf"vor\s+{_NUMBER}\s+{_UNIT}"), _build_ago),
    (
        _compile(
            rf"(?:(?P<last>{_LAST})\s+|(?P<next>{_NEXT})\s+|(?P<this>{_THIS})\s+"
            r"|(?:at|on|over|during)\s+the\s+|am\s+)(?:weekend|wochenende)"
        ),
        _build_weekend,
    ),
    (
        _compile(
            rf"(?:on\s+|am\s+|(?P<last>{_LAST})\s+|(?P<next>{_NEXT})\s+|(?:{_THIS})\s+"
            rf"|(?(since)|(?!))){_WEEKDAY}"
        ),
        _build_weekday,
    ),
    (_compile("hier"), _build_yesterday),
    (_compile(rf"{_NUMBER}\s+{_ROMANCE_SIDE}\s+{_ROMANCE_UNIT}"), _build_several_units),
    (_compile(rf"{_ROMANCE_SIDE}\s+{_NUMBER}\s+{_ROMANCE_UNIT}"), _build_several_units),
    (_compile(rf"{_ROMANCE_THIS}\s+{_ROMANCE_WEEKEND}"), _build_weekend),
    (_compile(rf"(?P<this>(?!))?{_ROMANCE_WEEKEND}\s+{_ROMANCE_SIDE}"), _build_weekend),
    (_compile(rf"{_ROMANCE_THIS}\s+{_ROMANCE_UNIT}"), _build_unit),
    (_compile(rf"{_ROMANCE_UNIT}\s+{_ROMANCE_SIDE}"), _build_unit),
    (_compile(rf"{_ROMANCE_SIDE}\s+{_ROMANCE_UNIT}"), _build_unit),
    (_compile(rf"(?:il\s+y\s+a|hace)\s+{_NUMBER}\s+{_ROMANCE_UNIT}"), _build_ago),
    (_compile(rf"{_ROMANCE_WEEKDAY}\s+{_ROMANCE_SIDE}"), _build_weekday),
    (_compile(rf"{_ROMANCE_SIDE}\s+{_ROMANCE_WEEKDAY}"), _build_weekday),
    (
        _compile(rf"(?:{_ROMANCE_THIS}\s+|el\s+|(?(since)|(?!))){_ROMANCE_WEEKDAY}"),
        _build_weekday,
    ),
)
