"""The filters of the query language, one row each: how a filter is read, fulfilled and described.

A filter is added with a row in `FILTERS`, and a function that reads its value or finds its notes.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any, Final, Literal, cast, get_args

from vault.catalog import Catalog
from vault.notes.date_spans import (
    Span,
    build_day,
    build_day_span,
    build_month_span,
    build_year_span,
    is_in_ranges,
    move_ahead,
)
from vault.notes.dates import (
    find_date_spans,
    find_month,
    find_named_day,
    is_weekday,
    remove_dates,
)
from vault.notes.tasks import TASK_PRIORITIES, TaskItem, TaskKind, TaskPriority, find_tasks
from vault.search.conditions import (
    PARTS,
    TASK_PARTS,
    Condition,
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
from vault.search.metadata import MetadataReader
from vault.search.passages import Passages

__all__ = [
    "FILTERS",
    "FilterKind",
    "TaskFilter",
    "TaskTest",
    "describe_priority",
    "list_priorities",
    "read_task_test",
    "write_date_filter",
]

TaskFilter = TaskKind | Literal[""]

_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_YEAR = re.compile(r"\d{4}")
_SIGN = re.compile(r"[<>]=?")
_SIGNS_IN_WORDS = {"<": "before", "<=": "until", ">": "after", ">=": "since"}
_ANY = "*"
# The limits of tasks within `has:`, with the word before their values in a sentence.
_LIMITS_OF_TASKS = {"due": "due", "date": "dated", "task-priority": "with"}
_NO_TASK = (
    "names no kind of task, so it was searched as words. Write task:open, task:done or task:any."
)
_NO_PART = (
    "names nothing that a note may have, so it was searched as words. Write "
    + ", ".join(f"has:{part}" for part in PARTS)
    + ', or what a task has besides, as in has:"open-task due:2024-03 task-priority:>=high".'
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
            if the sentence names something else than notes, unless it is one of alternatives.
        parse: reads a value, or returns None if the text is no value of this filter.
        listed_as: the field of `Query.filters` that has its values.
        opposite: how a sentence names the notes that do not fulfil it.
        find: finds the notes that fulfil it, or None if it limits times, days or tasks, which
            `vault.search.filters` compares.
        is_repeatable: whether several values of it count, and not only the last one.
        bad_value: what is said of a value that cannot be read. If it is empty, nothing is said.
        describe: how a sentence names a value, or None if it names it as it is written.
        find_other: finds the notes for a limit of times, days or tasks that is negated, or joined
            with another filter by `OR`.
    """

    phrase: str
    parse: Callable[[str], Any]
    listed_as: str
    opposite: str
    find: FindNotes | None = None
    is_repeatable: bool = True
    bad_value: str = ""
    describe: Callable[[str], str] | None = None
    find_other: FindNotes | None = None


@dataclass(frozen=True, slots=True)
class TaskTest:
    """What a task must fulfil, besides conditions on its note.

    Attributes:
        kind: its kind.
        days: ranges of days, in one of which it must be dated.
        due: ranges of days, in one of which it must be due.
        priorities: values such as `>=high`, of which it must have one of the priorities.
    """

    kind: TaskFilter
    days: Sequence[Span] = ()
    due: Sequence[Span] = ()
    priorities: Sequence[str] = ()

    def is_met(self, task: TaskItem) -> bool:
        """Return whether a task fulfils all of this."""
        if not self.kind or not task.is_of_kind(self.kind):
            return False
        wanted = [each for value in self.priorities for each in list_priorities(value)]
        if wanted and task.priority not in wanted:
            return False
        dated = ((self.days, task.list_days), (self.due, task.list_due_days))
        return all(
            not days or any(is_in_ranges(span, days) for span in list_spans())
            for days, list_spans in dated
        )


def find_with_task(test: TaskTest, catalog: Catalog, paths: Mapping[int, str]) -> set[int]:
    """Find the notes that have a task which fulfils a test."""
    passages = Passages(catalog)
    texts = passages.details(passages.find_with_tasks())
    found = {
        passage.path
        for passage in texts.values()
        if any(map(test.is_met, find_tasks(passage.markdown_text)))
    }
    return {number for number, path in paths.items() if path in found}


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
    part, *limits = value.lower().split() or [""]
    is_known = part in TASK_PARTS if limits else part in PARTS
    return " ".join((part, *limits)) if is_known and all(map(_parse_limit, limits)) else None


def _parse_limit(limit: str) -> object:
    """Return what a limit of tasks within `has:` means, such as `due:2024-03`, or None."""
    key, _, value = limit.partition(":")
    return FILTERS[key].parse(value) if key in _LIMITS_OF_TASKS else None


def _describe_part(value: str) -> str:
    """Describe what a note has, as "an open task with high priority or low priority"."""
    part, *limits = value.split()
    descriptions = (
        f"{before} " + " or ".join(_describe_limit(key, each) for each in values)
        for key, before in _LIMITS_OF_TASKS.items()
        if (values := _list_limits(limits, key))
    )
    return " ".join((PARTS[part], *descriptions))


def _list_limits(limits: Sequence[str], key: str) -> Sequence[str]:
    """Return the values of the limits of a key within `has:`, of which one must be fulfilled."""
    return [limit.removeprefix(f"{key}:") for limit in limits if limit.startswith(f"{key}:")]


def _describe_limit(key: str, value: str) -> str:
    describe = FILTERS[key].describe
    return value if describe is None else describe(value)


def _find_by_part(condition: Condition, catalog: Catalog, paths: Mapping[int, str]) -> set[int]:
    """Find the notes that have a part, such as a link, or an open task with high priority."""
    part, *limits = condition.value.split()
    if part not in TASK_PARTS:
        return find_by_part(condition, catalog, paths)
    read = {
        key: [FILTERS[key].parse(value) for value in _list_limits(limits, key)]
        for key in _LIMITS_OF_TASKS
    }
    test = TaskTest(TASK_PARTS[part], read["date"], read["due"], read["task-priority"])
    return find_with_task(test, catalog, paths)


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
        return first if first is None or first[0] < first[1] else None
    last = parse(end)
    if (start and first is None) or (end and last is None):
        return None
    span = (first[0] if first else date.min), (last[1] if last else date.max)
    return span if span[0] < span[1] else None


def _limit_days(sign: str, span: Span | None) -> Span | None:
    """Return the days before or after a range of days, with the range behind "<=" or ">=".

    Return None if there are none, as before the first day.
    """
    if span is None:
        return None
    if sign[0] == "<":
        limits = date.min, span[1] if sign == "<=" else span[0]
    else:
        limits = span[0] if sign == ">=" else span[1], date.max
    return limits if limits[0] < limits[1] else None


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
    if (day := find_named_day(text, today)) is not None:
        return day
    candidates = (f"{before}{text}" for before in ("", "in ", "on "))
    whole = next((each for each in candidates if not remove_dates(each).strip()), "")
    spans = find_date_spans(whole, today)
    if len(spans) != 1:
        return None
    words = text.split()
    is_day = len(words) == 1 and is_weekday(text)
    is_month = any(map(find_month, words)) and _YEAR.search(text) is None
    is_open = is_ahead and (is_day or is_month)
    return move_ahead(spans[0], today, is_weekday=is_day) if is_open else spans[0]


def _describe_days(value: str) -> str:
    """Describe a value, with a range of days such as `2024-03..2024-05` in words."""
    if (sign := _SIGN.match(value)) is not None:
        return f"{_SIGNS_IN_WORDS[sign[0]]} {value[sign.end() :]}"
    first, dots, last = value.partition("..")
    if not dots:
        return value
    if not first:
        return f"until {last}" if last else "on any day"
    return f"from {first} to {last}" if last else f"from {first} on"


def _describe_task(value: str) -> str:
    return PARTS["task" if value == "any" else f"{value}-task"]


def read_task_test(condition: Condition) -> TaskTest | None:
    """Return what a task must fulfil by a condition such as `due:2024-03`, or None for others."""
    value, any_kind = FILTERS[condition.key].parse(condition.value), TASK_PARTS["task"]
    tests = {
        "task": lambda: TaskTest(value),
        "due": lambda: TaskTest(any_kind, due=[value]),
        "date": lambda: TaskTest(any_kind, days=[value]),
        "task-priority": lambda: TaskTest(any_kind, priorities=[value]),
    }
    return tests[condition.key]() if condition.key in tests else None


def _find_by_task(condition: Condition, catalog: Catalog, paths: Mapping[int, str]) -> set[int]:
    """Find the notes with a task that fulfils a limit."""
    test = read_task_test(condition)
    return set() if test is None else find_with_task(test, catalog, paths)


def _find_by_day(condition: Condition, catalog: Catalog, _paths: Mapping[int, str]) -> set[int]:
    """Find the notes with a date in their names, headings or properties."""
    found = MetadataReader(catalog).find_by_day([FILTERS[condition.key].parse(condition.value)])
    rows = catalog.rows(
        "SELECT DISTINCT file_id FROM chunks WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(found)),),
    )
    return {int(number) for (number,) in rows}


def _find_by_change(condition: Condition, catalog: Catalog, _paths: Mapping[int, str]) -> set[int]:
    """Find the notes that were changed since a day, or before it."""
    limit = FILTERS[condition.key].parse(condition.value).timestamp()
    rows = catalog.rows("SELECT id, mtime_ns FROM files WHERE state = 'indexed'")
    is_after = condition.key == "after"
    return {int(number) for number, time_ns in rows if (time_ns / 1e9 >= limit) == is_after}


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
        "with {}",
        _parse_part,
        "has",
        "without {}",
        _find_by_part,
        bad_value=_NO_PART,
        describe=_describe_part,
    ),
    "property": FilterKind(  # written in brackets, with a comparison
        "with {}", _parse_text, "other", "without {}", find_by_property
    ),
    "after": FilterKind(
        "changed since {}",
        _parse_day,
        "after",
        "not changed since {}",
        is_repeatable=False,
        bad_value=_NO_DATE.format("after", ""),
        find_other=_find_by_change,
    ),
    "before": FilterKind(
        "changed before {}",
        _parse_day,
        "before",
        "not changed before {}",
        is_repeatable=False,
        bad_value=_NO_DATE.format("before", ""),
        find_other=_find_by_change,
    ),
    "date": FilterKind(
        "with a date in name, heading or properties: {}",
        _parse_days,
        "date",
        "without a date in name, heading or properties: {}",
        bad_value=_NO_DATE.format("date", ", or a range such as date:2024-03-01..2024-03-15"),
        describe=_describe_days,
        find_other=_find_by_day,
    ),
    "due": FilterKind(
        "due {}",
        _parse_due_days,
        "due",
        "not due {}",
        bad_value=_NO_DATE.format("due", ", or a range such as due:2024-03-01..2024-03-15"),
        describe=_describe_days,
        find_other=_find_by_task,
    ),
    "task": FilterKind(
        "",
        _parse_task,
        "task",
        "without {}",
        is_repeatable=False,
        bad_value=_NO_TASK,
        describe=_describe_task,
        find_other=_find_by_task,
    ),
    "task-priority": FilterKind(
        "with {}",
        _parse_priority,
        "task-priority",
        "without {}",
        bad_value=_NO_PRIORITY,
        describe=describe_priority,
        find_other=_find_by_task,
    ),
}
