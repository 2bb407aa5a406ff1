"""The filters of the query language, one row each: how a filter is read, fulfilled and described.

A filter is added with a row in `FILTERS`, and a function that reads its value or finds its notes.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any, Final, Literal, cast, get_args

from vault.notes.date_spans import (
    Span,
    build_day,
    build_day_span,
    build_month_span,
    build_year_span,
    move_ahead,
)
from vault.notes.dates import find_date_spans, find_month, is_weekday, remove_dates
from vault.notes.tasks import TASK_PRIORITIES, TaskKind, TaskPriority
from vault.search.conditions import (
    PARTS,
    FindNotes,
    find_by_folder,
    find_by_link,
    find_by_name,
    find_by_part,
    find_by_path,
    find_by_property,
    find_by_tag,
    find_linked_from,
)

__all__ = [
    "FILTERS",
    "FilterKind",
    "TaskFilter",
    "describe_priority",
    "list_priorities",
    "write_date_filter",
]

TaskFilter = TaskKind | Literal[""]

_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_YEAR = re.compile(r"\d{4}")
_SIGN = re.compile(r"[<>]=?")
_ANY = "*"
_NO_TASK = (
    "names no kind of task, so it was searched as words. Write task:open, task:done or task:any."
)
_NO_PART = (
    "names nothing that a note may have, so it was searched as words. Write "
    + ", ".join(f"has:{part}" for part in PARTS)
    + "."
)
_NO_PRIORITY = (
    "names no priority, so it was searched as words. Write task-priority:high, "
    "task-priority:>=medium, or task-priority:* for any. The priorities are "
    f"{', '.join(TASK_PRIORITIES[:-1])} and {TASK_PRIORITIES[-1]}."
)
_NO_DATE = (
    "names no date, so it was searched as words. Write {0}:2024, {0}:2024-03 or {0}:2024-03-15{1}."
)


@dataclass(frozen=True, slots=True)
class FilterKind:
    """A filter of the query language, such as `tag:`.

    Attributes:
        phrase: how a sentence names the notes that fulfil it, `{}` being the value. It is empty
            if the sentence names something else than notes.
        parse: reads a value, or returns None if the text is no value of this filter.
        listed_as: the field of `Query.filters` that has its values.
        opposite: how a sentence names the notes that do not fulfil it, or an empty string if the
            filter cannot be negated.
        find: finds the notes that fulfil it, or None if it limits times, days or tasks, which
            `vault.search.filters` compares.
        is_repeatable: whether several values of it count, and not only the last one.
        bad_value: what is said of a value that cannot be read. If it is empty, nothing is said.
    """

    phrase: str
    parse: Callable[[str], Any]
    listed_as: str
    opposite: str = ""
    find: FindNotes | None = None
    is_repeatable: bool = True
    bad_value: str = ""


def write_date_filter(span: Span) -> str:
    """Return the value of a `date:` filter for a range of days."""
    first, last = span[0], span[1] - timedelta(days=1)
    start = "" if first == date.min else f"{first}"
    return start if first == last else f"{start}..{'' if span[1] == date.max else last}"


def _parse_text(value: str) -> str | None:
    return None if not value or value.startswith("//") else value


def _parse_tag(value: str) -> str | None:
    return _parse_text(value.lstrip("#"))


def _parse_link(value: str) -> str | None:
    return _parse_text(value.removeprefix("[[").removesuffix("]]"))


def _parse_part(value: str) -> str | None:
    return value.lower() if value.lower() in PARTS else None


def _parse_task(value: str) -> TaskFilter | None:
    known = value.lower()
    return cast("TaskFilter", known) if known in get_args(TaskKind) else None


def _parse_priority(value: str) -> str | None:
    known = value.lower()
    return known if list_priorities(known) else None


def list_priorities(value: str) -> tuple[TaskPriority, ...]:
    """Return the priorities that a value such as `high`, `>=medium` or `*` means, if it means any.

    Those of `*` are all but "none".
    """
    if value == _ANY:
        return tuple(each for each in TASK_PRIORITIES if each != "none")
    sign = _SIGN.match(value)
    named = cast("TaskPriority", value[sign.end() :] if sign else value)
    if named not in TASK_PRIORITIES:
        return ()
    at = TASK_PRIORITIES.index(named)
    if sign is None:
        return (named,)
    ranges = {"<": (0, at), "<=": (0, at + 1), ">": (at + 1, None), ">=": (at, None)}
    first, end = ranges[sign[0]]
    return TASK_PRIORITIES[first:end]


def describe_priority(value: str) -> str:
    """Describe a value such as `>=medium` in a sentence, as "medium priority or above"."""
    found = list_priorities(value)
    if value == _ANY:
        return "a priority"
    if len(found) == len(TASK_PRIORITIES):
        return "any priority or none"
    if len(found) == 1:
        return "no priority" if found == ("none",) else f"{found[0]} priority"
    if value.startswith(">"):
        return "no priority or above" if found[0] == "none" else f"{found[0]} priority or above"
    last = "no" if found[-1] == "none" else found[-1]
    is_with_none = "none" in found[:-1]
    return f"{last} priority, a lower one or none" if is_with_none else f"{last} priority or below"


def _parse_days(value: str) -> Span | None:
    return _read_range(value, _parse_span)


def _parse_due_days(value: str) -> Span | None:
    return _read_range(value, partial(_parse_span, is_ahead=True))


def _read_range(value: str, parse: Callable[[str], Span | None]) -> Span | None:
    """Return a year, month or day as a range of days, or the range between two of them.

    The sides of a range may be left out, as in `..2024-03`, and `<2024-03` ends before the month.
    Return None for any other text.
    """
    if (sign := _SIGN.match(value)) is not None:
        return _limit_days(sign[0], parse(value[sign.end() :]))
    start, dots, end = value.partition("..")
    first = parse(start)
    if not dots:
        return first
    last = parse(end)
    if (start and first is None) or (end and last is None):
        return None
    span = (first[0] if first else date.min), (last[1] if last else date.max)
    return span if span[0] < span[1] else None


def _limit_days(sign: str, span: Span | None) -> Span | None:
    """Return the days before or after a range of days, with the range behind "<=" or ">="."""
    if span is None:
        return None
    if sign[0] == "<":
        return date.min, span[1] if sign == "<=" else span[0]
    return span[0] if sign == ">=" else span[1], date.max


def _parse_span(text: str, *, is_ahead: bool = False) -> Span | None:
    found = _DATE.fullmatch(text)
    if found is None:
        return _parse_named_days(text, date.today(), is_ahead=is_ahead)
    year, month, day = (int(part) if part else None for part in found.groups())
    if year is None or month is None:
        return build_year_span(year or 0)
    if day is None:
        return build_month_span(year, month)
    first = build_day(year, month, day)
    return None if first is None else build_day_span(first)


def _parse_named_days(text: str, today: date, *, is_ahead: bool) -> Span | None:
    """Return days that are named in words, such as `december` or `next week`, or None.

    Args:
        text: the words.
        today: the current date.
        is_ahead: whether a weekday, and a month without its year, is the next one.
    """
    said = (f"{before}{text}" for before in ("", "in ", "on "))
    whole = next((each for each in said if not remove_dates(each).strip()), "")
    spans = find_date_spans(whole, today)
    if len(spans) != 1:
        return None
    words = text.split()
    is_day = len(words) == 1 and is_weekday(text)
    is_month = any(map(find_month, words)) and _YEAR.search(text) is None
    is_open = is_ahead and (is_day or is_month)
    return move_ahead(spans[0], today, is_weekday=is_day) if is_open else spans[0]


def _parse_day(text: str) -> datetime | None:
    """Return the start of a year, month or day in UTC, or None if the text is not such a date."""
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    year, month, day = (int(part or 1) for part in found.groups())
    try:
        return datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None


FILTERS: Final[Mapping[str, FilterKind]] = {
    "path": FilterKind(
        "with “{}” in the path", _parse_text, "path", "without “{}” in the path", find_by_path
    ),
    "folder": FilterKind(
        "in the folder “{}”", _parse_text, "path", "not in the folder “{}”", find_by_folder
    ),
    "file": FilterKind(
        "with “{}” in the name", _parse_text, "file", "without “{}” in the name", find_by_name
    ),
    "tag": FilterKind("with the tag #{}", _parse_tag, "tag", "without the tag #{}", find_by_tag),
    "link": FilterKind(
        "with a link to “{}”", _parse_link, "link", "without a link to “{}”", find_by_link
    ),
    "linked-from": FilterKind(
        "linked from “{}”", _parse_link, "linked-from", "not linked from “{}”", find_linked_from
    ),
    "has": FilterKind(
        "with {}", _parse_part, "has", "without {}", find_by_part, bad_value=_NO_PART
    ),
    "property": FilterKind(  # written in brackets, with a comparison
        "with {}", _parse_text, "other", "without {}", find_by_property
    ),
    "after": FilterKind(
        "changed since {}",
        _parse_day,
        "after",
        is_repeatable=False,
        bad_value=_NO_DATE.format("after", ""),
    ),
    "before": FilterKind(
        "changed before {}",
        _parse_day,
        "before",
        is_repeatable=False,
        bad_value=_NO_DATE.format("before", ""),
    ),
    "date": FilterKind(
        "with a date in name, heading or properties: {}",
        _parse_days,
        "date",
        bad_value=_NO_DATE.format("date", ", or a range such as date:2024-03-01..2024-03-15"),
    ),
    "due": FilterKind(
        "due {}",
        _parse_due_days,
        "due",
        bad_value=_NO_DATE.format("due", ", or a range such as due:2024-03-01..2024-03-15"),
    ),
    "task": FilterKind("", _parse_task, "task", is_repeatable=False, bad_value=_NO_TASK),
    "task-priority": FilterKind(
        "with {}", _parse_priority, "task-priority", bad_value=_NO_PRIORITY
    ),
}
