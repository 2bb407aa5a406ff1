"""Write the next task of a recurring task that is ticked, as the Tasks plugin for Obsidian does.

    - [ ] Water the beds 🔁 every week 📅 2026-11-27
    - [ ] Pay the rent 🔁 every month on the 1st when done ⏳ 2026-12-01
    - [ ] Call home [repeat:: every 2 weeks on Monday and Friday] [due:: 2026-11-27]

The next day is counted from the due date, else from the scheduled date, else from the start date,
or from today if the rule ends with "when done". The other dates keep their distance from it. If the
plugin is set to drop the scheduled date, the start date comes before it.

A task with a repeater, as in Logseq and Org mode, stays the same task. Only its date moves:

    - TODO Water the beds
      SCHEDULED: <2026-11-27 Fri .+1w>

`+1w` counts from the date, `++1w` as well, up to the first day after today, `.+1w` from today.

Sources: "Recurring Tasks (Repetition)" in the guide of the Tasks plugin, and "Repeated tasks" in
the manual of Org mode.
"""

import calendar
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from typing import Final, Literal

from vault.edits.completion import TickSettings, place_at_end, write_box, write_day
from vault.errors import EditRefused
from vault.notes.date_spans import build_day
from vault.notes.tasks import (
    TASK_DAYS,
    TaskDay,
    find_recurrence,
    is_task,
    read_tasks,
)
from vault.notes.text.inline import blank_inline_code

__all__ = ["RecurrenceRule", "read_rule", "write_next_task", "write_repeated_task"]

Unit = Literal["day", "week", "month", "year"]
_UNITS: Final[dict[str, Unit]] = {
    **dict.fromkeys(("day", "days"), "day"),
    **dict.fromkeys(("week", "weeks"), "week"),
    **dict.fromkeys(("month", "months"), "month"),
    **dict.fromkeys(("year", "years"), "year"),
}
_WEEKDAYS: Final = tuple(name.lower() for name in calendar.day_name)
_MONTHS: Final = tuple(name.lower() for name in calendar.month_name)
_PLACES: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "last": -1}
_INTERVALS: Final = {"one": 1, "two": 2, "three": 3, "other": 2}
_LINKING: Final = ("on", "the", ",", "and", "or", "in", "of")
_WORKDAYS: Final = (0, 1, 2, 3, 4)
_LONGEST_INTERVAL: Final = 1_000
_MOST_DAYS: Final = 366 * 60
_WORD: Final = re.compile(r"[a-z]+|\d+(?:st|nd|rd|th|\.)?|[^\s\da-z]")
_WHEN_DONE: Final = re.compile(r"(?<!\s)\s++when\s++done\s*+$", re.IGNORECASE)
# What the next task does not have: when the task was done, its id and those it depends on.
_ID: Final = r"[A-Za-z0-9_-]+"
_NOT_KEPT: Final = re.compile(
    r"(?:(?<![ \t])[ \t]++)?(?:[✅❌]\ufe0f?\s*\d{4}-\d\d-\d\d"
    rf"|🆔\ufe0f?\s*{_ID}|⛔\ufe0f?\s*{_ID}(?:\s*,\s*{_ID})*"
    r"|[\[(](?:completion|cancelled|id|dependsOn)::[^\[\]()\n]*[\])])"
)
_SCHEDULED: Final = re.compile(
    r"(?:(?<![ \t])[ \t]++)?(?:[⏳⌛]\ufe0f?\s*\d{4}-\d\d-\d\d|[\[(]scheduled::[^\[\]()\n]*[\])])"
)
_CREATED: Final = re.compile(
    r"(?:(?<![ \t])[ \t]++)?(?:➕\ufe0f?\s*\d{4}-\d\d-\d\d|[\[(]created::[^\[\]()\n]*[\])])"
)
_BLOCK_NAME: Final = re.compile(r"(?<![ \t])[ \t]++\^[A-Za-z0-9-]++[ \t]*+$")
_DAY_NAME: Final = re.compile(r"<(\d{4}-\d\d-\d\d) (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b")
# The time and the name of the day are between the date and the repeater.
_REPEATER: Final = re.compile(
    r"\b(?:SCHEDULED|DEADLINE):[ \t]*+<(?P<day>\d{4}-\d\d-\d\d)(?P<time>[^<>+.\n]*+)"
    r"(?P<sign>\.\+|\+\+|\+)(?P<count>\d{1,4})(?P<unit>[hdwmy])(?P<rest>[^<>\n]*+)>"
)
_REPEATED_UNITS: Final[dict[str, Unit]] = {"d": "day", "w": "week", "m": "month", "y": "year"}
_MOVED_DAYS: Final[tuple[TaskDay, ...]] = ("due", "scheduled", "start")
_NO_SETTINGS: Final = TickSettings()
_DATE_CHARS: Final = len("2026-11-27")


@dataclass(frozen=True, slots=True)
class RecurrenceRule:
    """The days on which a task recurs.

    Attributes:
        unit: what the interval counts.
        interval: a task recurs in every such day, week, month or year.
        weekdays: the days of the week, of which Monday is 0.
        days: the days of the month. Those below 0 count from its end.
        places: days such as the second Friday of a month, as `(2, 4)`. The last one is -1.
        months: the months, of which January is 1.
        is_from_today: whether the next day is counted from the day on which the task is done.
    """

    unit: Unit
    interval: int = 1
    weekdays: tuple[int, ...] = ()
    days: tuple[int, ...] = ()
    places: tuple[tuple[int, int], ...] = ()
    months: tuple[int, ...] = ()
    is_from_today: bool = False

    def find_next(self, start: date) -> date | None:
        """Return the first day of the rule after a day, or None if there is none for decades."""
        for shift in range(1, min(_MOST_DAYS, (date.max - start).days)):
            day = start + timedelta(shift)
            if self._is_in_step(day, start) and self._is_chosen(day, start):
                return day
        return None

    def _is_in_step(self, day: date, start: date) -> bool:
        """Return whether a day is in a day, week, month or year that the interval chooses."""
        match self.unit:
            case "day":
                steps = (day - start).days
            case "week":
                steps = (day.toordinal() - 1) // 7 - (start.toordinal() - 1) // 7
            case "month":
                steps = (day.year - start.year) * 12 + day.month - start.month
            case "year":
                steps = day.year - start.year
        return steps % self.interval == 0

    def _is_chosen(self, day: date, start: date) -> bool:
        """Return whether a day is one that the rule names, or else one like the start."""
        if self.months and day.month not in self.months:
            return False
        length = calendar.monthrange(day.year, day.month)[1]
        if self.days and not {day.day, day.day - length - 1} & set(self.days):
            return False
        if self.weekdays or self.places:
            week, week_from_end = (day.day + 6) // 7, -((length - day.day) // 7 + 1)
            named = {(week, day.weekday()), (week_from_end, day.weekday())}
            return day.weekday() in self.weekdays or bool(named & set(self.places))
        return bool(self.days) or self._is_like(day, start, length)

    def _is_like(self, day: date, start: date, length: int) -> bool:
        """Return whether a day has the place of the start. The 31st is the last of any month."""
        if self.unit == "week":
            return day.weekday() == start.weekday()
        is_in_month = self.unit == "month" or bool(self.months) or day.month == start.month
        return self.unit == "day" or (is_in_month and day.day == min(start.day, length))


def read_rule(text: str) -> RecurrenceRule | None:
    """Read a rule such as "every 2 weeks on Monday", or return None if it is not understood."""
    when_done = _WHEN_DONE.search(text)
    words = _WORD.findall((text[: when_done.start()] if when_done else text).lower())
    if words[:1] != ["every"] or not words[1:]:
        return None
    interval, is_counted = _read_interval(words[1])
    rest = words[1 + is_counted :]
    unit = _UNITS.get(rest[0]) if rest else None
    named = _read_named(rest[1:] if unit else rest)
    if not 0 < interval <= _LONGEST_INTERVAL or named is None or not rest:
        return None
    if unit is None:  # as in "every Monday", "every weekday" and "every January on the 15th"
        unit = "year" if named.months and not _is_weekday(rest[0]) else "week"
    rule = replace(named, unit=unit, interval=interval, is_from_today=bool(when_done))
    return rule if _is_supported(rule) else None


def _is_supported(rule: RecurrenceRule) -> bool:
    """Return whether the parts of a rule fit: a place and a day are those of a month."""
    has_month = rule.unit == "month" or bool(rule.months)
    return has_month or not (rule.places or rule.days)


def _is_weekday(word: str) -> bool:
    return _find_name(word, _WEEKDAYS) is not None or word in ("weekday", "weekdays")


def _read_interval(word: str) -> tuple[int, bool]:
    """Return the interval that a word is, and whether it is one. Without one, it is 1."""
    if word.isdecimal():
        return int(word[:6]), True
    return _INTERVALS.get(word, 1), word in _INTERVALS


def _find_name(word: str, names: Sequence[str]) -> int | None:
    """Return the index of a name, of which the first three letters are enough, or None."""
    is_name = (n for n, name in enumerate(names) if name and word in (name, name[:3], f"{name}s"))
    return next(is_name, None)


def _read_named(words: Sequence[str]) -> RecurrenceRule | None:
    """Read the days and months of a rule, or return None if a word is none of them."""
    weekdays, days, places, months = list[int](), list[int](), list[tuple[int, int]](), list[int]()
    place = 0
    for word in (word for word in words if word not in _LINKING):
        if number := _read_place(word):
            is_from_end = place > 0 and number == -1  # as in "the 2nd last Friday"
            days += [place] if place and not is_from_end else []
            place = -place if is_from_end else number
        elif (weekday := _find_name(word, _WEEKDAYS)) is not None:
            places += [(place, weekday)] if place else []
            weekdays += [] if place else [weekday]
            place = 0
        elif place and word in ("day", "days"):
            days, place = [*days, place], 0
        elif not place and word in ("weekday", "weekdays"):
            weekdays += _WORKDAYS
        elif not place and (month := _find_name(word, _MONTHS)) is not None:
            months.append(month)
        else:
            return None
    days += [place] if place else []
    return RecurrenceRule("day", 1, tuple(weekdays), tuple(days), tuple(places), tuple(months))


def _read_place(word: str) -> int:
    """Return the number that a word such as "2nd" or "last" means, or 0."""
    digits = word.rstrip("stndrh.")
    number = int(digits) if digits.isdecimal() and digits != word and len(digits) < 3 else 0
    return number if 0 < number <= 31 else _PLACES.get(word, 0)


def write_next_task(
    lines: Sequence[str], today: date, settings: TickSettings = _NO_SETTINGS
) -> tuple[str, date | None] | None:
    """Write the task that follows when a recurring task is done, and return it with its next day.

    Args:
        lines: the line of the task, and those below it that have its dates.
        today: the day on which the task is done.
        settings: what the Tasks plugin is set to.

    Returns:
        The lines of the next task and its day, which is None if the task has no dates, or None if
        the task does not recur.

    Raises:
        EditRefused: the rule is not understood, it names no day for decades, or another date of
            the task cannot be moved as far.
    """
    text = find_recurrence(lines[0], settings.written_as) if is_task(lines[0]) else ""
    if not text:
        return None
    rule = read_rule(text)
    days = _find_days(lines, settings)
    start = today if rule is not None and rule.is_from_today else days[0] if days else None
    next_day = rule.find_next(start) if rule is not None and start is not None else None
    if rule is None or (start is not None and next_day is None):
        raise _refuse(text)
    shift = (next_day - days[0]) if next_day is not None and days else timedelta()
    try:
        following = "\n".join(_write_lines(lines, shift, today, settings))
    except OverflowError as error:  # a date would be after the year 9999, or before the year 1
        raise _refuse(text) from error
    return following, next_day if days else None


def _refuse(rule: str) -> EditRefused:
    reason = f"This task recurs “{rule}”, and Strata cannot tell its next day."
    return EditRefused(f"{reason} Tick it in Obsidian.")


def _find_days(lines: Sequence[str], settings: TickSettings) -> list[date]:
    """Return the dates of a task that move, as far as it has them, the most important one first."""
    task = next(read_tasks(enumerate(lines, 1)))
    kinds = sorted(
        _MOVED_DAYS, key=lambda kind: settings.drops_scheduled_day and kind == "scheduled"
    )
    return [day for kind in kinds if (day := task.find_day(kind)) is not None]


def _write_first_line(lines: Sequence[str], today: date, settings: TickSettings) -> str:
    """Return the first line of the next task, open, before its dates are moved."""
    first = write_box(lines[0], " ")
    assert first is not None
    dropped = [_NOT_KEPT]
    if settings.drops_scheduled_day and len(_find_days(lines, settings)) > 1:
        dropped.append(_SCHEDULED)
    if settings.writes_created_day is not None:
        dropped.append(_CREATED)
    first = _BLOCK_NAME.sub("", first)
    for pattern in dropped:
        first = _replace_outside_code(pattern, lambda _found: "", first)
    is_new = settings.writes_created_day
    return place_at_end(first, write_day("created", today, lines[0], settings)) if is_new else first


def _write_lines(
    lines: Sequence[str], shift: timedelta, today: date, settings: TickSettings
) -> Iterator[str]:
    """Yield the lines of the next task, open and with its dates."""
    for line in (_write_first_line(lines, today, settings), *lines[1:]):
        text = TASK_DAYS["created"].sub(partial(_write_day, today), line)
        for kind in _MOVED_DAYS:
            text = TASK_DAYS[kind].sub(partial(_move_day, shift), text)
        yield _DAY_NAME.sub(_name_day, text)


def _name_day(found: re.Match[str]) -> str:
    day = build_day(*map(int, found[1].split("-")))
    return found[0] if day is None else f"<{found[1]} {calendar.day_abbr[day.weekday()]}"


def _move_day(shift: timedelta, found: re.Match[str]) -> str:
    text = found[0][-_DATE_CHARS:]
    day = build_day(*map(int, text.split("-")))
    return found[0] if day is None else _write_day(day + shift, found)


def _write_day(day: date, found: re.Match[str]) -> str:
    return f"{found[0][:-_DATE_CHARS]}{day.isoformat()}"


def write_repeated_task(lines: Sequence[str], today: date) -> tuple[list[str], date] | None:
    """Write the lines of a task whose repeater moves its dates when it is done.

    Args:
        lines: the line of the task, and those below it that have its dates.
        today: the day on which the task is done.

    Returns:
        The lines with their new dates, and the first of these, or None if there is no repeater.

    Raises:
        EditRefused: the repeater counts hours, or names no day for decades.
    """
    days = list[date]()

    def move(found: re.Match[str]) -> str:
        days.append(_find_repeated(found, today))
        start, end = (place - found.start() for place in found.span("day"))
        text = f"{found[0][:start]}{days[-1].isoformat()}{found[0][end:]}"
        return _DAY_NAME.sub(_name_day, text)

    moved = [_replace_outside_code(_REPEATER, move, line) for line in lines]
    return (moved, min(days)) if days else None


def _replace_outside_code(
    pattern: re.Pattern[str], replace_with: Callable[[re.Match[str]], str], line: str
) -> str:
    """Return a line in which each match of a pattern is replaced, unless it is in inline code."""
    pieces, at = list[str](), 0
    for found in pattern.finditer(blank_inline_code(line)):
        pieces += (line[at : found.start()], replace_with(found))
        at = found.end()
    return "".join([*pieces, line[at:]])


def _find_repeated(found: re.Match[str], today: date) -> date:
    """Return the day to which a repeater moves a date."""
    day, count = build_day(*map(int, found["day"].split("-"))), int(found["count"])
    unit = _REPEATED_UNITS.get(found["unit"])
    if day is None or unit is None or not 0 < count <= _LONGEST_INTERVAL:
        raise _refuse(found[0])
    rule = RecurrenceRule(unit, count)
    following = rule.find_next(today if found["sign"] == ".+" else day)
    while following is not None and found["sign"] == "++" and following <= today:
        following = rule.find_next(_skip_past(following, today, rule))
    if following is None:
        raise _refuse(found[0])
    return following


def _skip_past(day: date, today: date, rule: RecurrenceRule) -> date:
    """Return the last day of a rule of days or weeks until today, so that few are tried."""
    step = {"day": 1, "week": 7}.get(rule.unit, 0) * rule.interval
    return day + timedelta((today - day).days // step * step) if step else day
