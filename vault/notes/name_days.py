"""Find the days that the names of notes, their folders and their headings mean.

Programs name daily notes in many ways: `2026_11_19` (Logseq), `20261119`, `19-11-2026`, or
`2026/11/19` with folders. Most names tell their day by themselves. Whether the day or the month
comes first in `03-04-2026` is decided by the other names in the folder, and the format that is set
in Obsidian comes before everything.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import lru_cache
from typing import Final, Literal

from vault.notes.date_spans import Span, build_day, build_day_span
from vault.notes.dates import MONTH_PATTERN, find_written_spans, fold_date_text, parse_month
from vault.notes.day_formats import DayFormat
from vault.notes.relative_dates import WEEKDAYS

__all__ = ["NameDays", "find_name_spans", "find_path_spans"]

_Order = Literal["day", "month"]  # what comes first
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_TIME: Final = r"(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d)?"  # as in the ids of a card index
_YEAR_FIRST: Final = re.compile(
    rf"(?<!\d){_YEAR}(?P<sep>[-_. /])(?P<month>\d\d)(?P=sep)(?P<day>\d\d)(?!\d)"
    rf"|(?<!\d){_YEAR.replace('year', 'year_2')}(?P<month_2>\d\d)(?P<day_2>\d\d)(?:{_TIME})?(?!\d)"
    rf"|(?<!\d){_YEAR.replace('year', 'year_3')}_(?P<month_3>\d\d?)_(?P<day_3>\d\d?)(?!\d)"
)
_YEAR_LAST: Final = re.compile(
    rf"(?<![\d])(?P<a>\d\d?)(?P<sep>[-_. /])(?P<b>\d\d?)(?P=sep){_YEAR}(?!\d)"
    r"|(?<!\d)(?P<a_2>\d\d)(?P<b_2>\d\d)(?P<year_2>(?:19|20)\d\d)(?!\d)"
)
_YEAR_NAME_DAY: Final = re.compile(rf"(?<!\w){_YEAR}\s+{MONTH_PATTERN}\s+(?P<day>\d\d?)(?!\w)")
_NAME_DAY_YEAR: Final = re.compile(
    rf"(?<![^\W_]){MONTH_PATTERN}[-_.]+(?P<day>\d\d?)[-_.]+{_YEAR}(?!\d)"
)
# In `19-Nov-2026`, unlike in `2026-W47`, the marks are in the place of spaces.
_JOINED: Final = re.compile(r"(?<=\d)[-_.]+(?=[^\W\d_]{3})|(?<=[^\W\d_]{3})[-_.]+\s*(?=\d)")
_FOLDERS: Final = re.compile(
    rf"(?:^|/){_YEAR}(?:/(?:(?P=year)[-_. ]?)?|[-_.])"
    rf"(?:(?P<number>\d\d?)(?:[-_. ][^/]*)?|{MONTH_PATTERN}[^/]*)/"
    r"(?:(?P=number)[-_. ])?(?P<day>\d\d?)(?:st|nd|rd|th)?(?:[-_. ,][^/]*)?(?=/|$)"
    r"|(?:^|/)(?P<year_2>(?:19|20)\d\d)/(?P<number_2>\d\d)[-_.](?P<day_2>\d\d)$"
)
_WORD: Final = re.compile(r"[^\W\d_]+")
_DATE_WORDS: Final = frozenset(
    {*WEEKDAYS, *(name[:size] for name in WEEKDAYS for size in (2, 3))}
    | {"st", "nd", "rd", "th", "de"}
)
_SUFFIX: Final = re.compile(r"\.[^\W\d_]\w{0,9}$")


def find_name_spans(name: str) -> tuple[Span, ...]:
    """Find the dates in a title or heading that are certain by themselves."""
    text = fold_date_text(name)
    if not any(char.isdigit() for char in text):
        return ()
    found: list[Span] = []
    for pattern, read in (
        (_NAME_DAY_YEAR, _read_day),
        (_YEAR_FIRST, _read_day),
        (_YEAR_LAST, _read_certain),
        (_YEAR_NAME_DAY, _read_day),
    ):
        days = [(match, read(match)) for match in pattern.finditer(text)]
        found += [build_day_span(day) for _, day in days if day is not None]
        for match, day in reversed(days):
            if day is not None:
                text = f"{text[: match.start()]}|{text[match.end() :]}"
        text = _JOINED.sub(" ", text)
    return tuple(dict.fromkeys((*found, *find_written_spans(text))))


@lru_cache(maxsize=65_536)
def find_path_spans(path: str) -> tuple[Span, ...]:
    """Find the dates in the path of a note that are certain by themselves.

    They are in the name of the file, such as `2026_11_19.md`, or else in the folders and the name
    together, such as `2026/11/19.md`, or else in a folder of one day. A folder of a month or a year
    does not date its notes.
    """
    if not any(char.isdigit() for char in path):
        return ()
    bare = _SUFFIX.sub("", path)
    *folders, stem = bare.split("/")
    if spans := find_name_spans(stem):
        return spans
    if found := _read_folders(bare):
        return found
    spans = tuple(span for folder in folders for span in find_name_spans(folder))
    return tuple(span for span in spans if (span[1] - span[0]).days == 1)[-1:]


class NameDays:
    """The days that the paths of notes mean, decided by all names of a vault together."""

    def __init__(self, paths: Iterable[str], formats: Sequence[DayFormat] = ()) -> None:
        """Decide for each folder whether the day or the month comes first in its names.

        Args:
            paths: the paths of all notes.
            formats: the formats of daily notes that are set in Obsidian.
        """
        self._formats = tuple(formats)
        named: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
        for path in paths:
            folder, _, name = path.rpartition("/")
            named[folder].extend(_list_year_last(name))
        orders = {folder: _decide_order(names) for folder, names in named.items()}
        self._orders = {folder: order for folder, order in orders.items() if order is not None}
        of_vault = _decide_order([name for names in named.values() for name in names])
        self._order: _Order = of_vault or "day"

    def find_spans(self, path: str) -> tuple[Span, ...]:
        """Return the dates in the path of a note, each as a range of days."""
        spans = (each.find_span(path) for each in self._formats)
        if (span := next((span for span in spans if span is not None), None)) is not None:
            return (span,)
        folder, _, name = path.rpartition("/")
        order = self._orders.get(folder, self._order)
        days = {_build_ordered(*numbers, order) for numbers in _list_year_last(name)}
        return tuple(build_day_span(day) for day in days if day) or find_path_spans(path)

    def is_daily(self, path: str) -> bool:
        """Return whether a note is one of a day: its name is a date, and nothing else."""
        if any(each.find_span(path) for each in self._formats):
            return bool(self.find_days(path))
        name = path.rpartition("/")[2]
        words = _WORD.findall(fold_date_text(_SUFFIX.sub("", name)))
        return all(map(_is_date_word, words)) and bool(self.find_days(path))

    def find_days(self, path: str) -> list[str]:
        """Return the single days in the path of a note as sorted ISO 8601 strings."""
        spans = self.find_spans(path)
        return sorted(first.isoformat() for first, after in spans if (after - first).days == 1)


def _is_date_word(word: str) -> bool:
    """Return whether a word of a note's name is a part of a date, such as "friday" or "3rd"."""
    return word in _DATE_WORDS or bool(parse_month(word))


def _list_year_last(name: str) -> Iterator[tuple[int, int, int]]:
    """Yield the two first numbers and the year of each date in a file name with the year last."""
    if not any(char.isdigit() for char in name):
        return
    for match in _YEAR_LAST.finditer(_YEAR_FIRST.sub(_hide_valid, name)):
        yield int(_get(match, "a")), int(_get(match, "b")), int(_get(match, "year"))


def _hide_valid(match: re.Match[str]) -> str:
    return match[0] if _read_day(match) is None else "|"


def _decide_order(names: Sequence[tuple[int, int, int]]) -> _Order | None:
    """Decide whether the day or the month comes first, or return None if nothing tells.

    A number above 12 is a day. Without any, the order is the one in which the days are closer
    together, because a diary has many days of few months.
    """
    votes = Counter("day" if a > 12 else "month" for a, b, _ in names if (a > 12) != (b > 12))
    if votes["day"] != votes["month"]:
        return "day" if votes["day"] > votes["month"] else "month"
    by_day, by_month = len({(b, y) for _, b, y in names}), len({(a, y) for a, _, y in names})
    if by_day == by_month:
        return None
    return "day" if by_day < by_month else "month"


def _build_ordered(a: int, b: int, year: int, order: _Order) -> date | None:
    """Build a date in an order, or in the other one if there is no such date."""
    by_day, by_month = build_day(year, b, a), build_day(year, a, b)
    return by_day or by_month if order == "day" else by_month or by_day


def _get(match: re.Match[str], name: str) -> str:
    """Return what a group of a pattern, or its copy in another alternative, has matched."""
    groups = match.groupdict()
    return next((groups[key] for key in (name, f"{name}_2", f"{name}_3") if groups.get(key)), "")


def _read_day(match: re.Match[str]) -> date | None:
    return build_day(
        int(_get(match, "year")), parse_month(_get(match, "month")), int(_get(match, "day"))
    )


def _read_certain(match: re.Match[str]) -> date | None:
    """Read a date with the year last, or return None if the day could also be the month."""
    a, b, year = int(_get(match, "a")), int(_get(match, "b")), int(_get(match, "year"))
    return None if a <= 12 and b <= 12 and a != b else build_day(year, *sorted((a, b)))


def _read_folders(bare: str) -> tuple[Span, ...]:
    """Read a date that folders and the name of a file make together, such as `2026/11/19`."""
    match = _FOLDERS.search(fold_date_text(bare))
    if match is None:
        return ()
    month = parse_month(_get(match, "number") or _get(match, "month"))
    day = build_day(int(_get(match, "year")), month, int(_get(match, "day")))
    return () if day is None else (build_day_span(day),)
