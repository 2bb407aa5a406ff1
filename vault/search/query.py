"""Parse queries into words, phrases and filters.

    path:garden  file:"seed list"  tag:recipe/soup  after:2024-03  before:2025  "word for word"
    date:2024-03  date:2024-03-04..2024-03-10  task:open

`folder:` is another name for `path:`. `after:` and `before:` limit the time of a note's last
change, and `date:` the dates in its names, headings and properties. `task:` is `open`, `done` or
`any`, and keeps the passages with such a task. With it, `date:` limits the dates of tasks. A
filter's value follows the colon without a space and may be quoted. Text that only looks like a
filter, such as a web address or an invalid date, is searched as words. If a filter was probably
meant, as in `tag: recipe`, the query reports it as a problem.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal, cast, get_args

from vault.notes.date_spans import (
    Span,
    build_day,
    build_day_span,
    build_month_span,
    build_year_span,
)
from vault.notes.tasks import TaskKind

__all__ = ["Query", "TaskFilter", "parse_query", "write_date_filter"]

TaskFilter = TaskKind | Literal[""]

_MAX_FILTERS = 16
_DATES = ("after", "before")
_CHECKED = (*_DATES, "date", "task")
_MAX_SCANNED = 20_000
_PART = re.compile(
    r"(?:(?<=\s)|^)(?:(?P<key>path|folder|file|tag|after|before|date|task):"
    r'(?:"(?P<quoted>[^"\n]+)"|(?P<plain>[^\s"]+))'
    r'|"(?P<phrase>[^"\n]+)")(?=[\s.,;:!?)]|$)',
    re.IGNORECASE,
)
# A filter with a space before its value, at the start or end of the text. Elsewhere it is prose.
_NAME = "path|folder|file|tag|after|before|date|task"
_VALUE = r'"[^"\n]+"|[^\s"]+'
_SPACED = re.compile(
    rf"^[ \t]*(?P<first>{_NAME}):[ \t]+(?P<value>{_VALUE})"
    rf"|(?<=\s)(?P<last>{_NAME}):[ \t]+(?P<end>{_VALUE})\s*$",
    re.IGNORECASE,
)
_OTHER = re.compile(r'(?:(?<=\s)|^)(?P<key>[A-Za-z]{2,20}):(?:"[^"\n]+"|(?!//)[^\s":]+)(?=\s|$)')
# Filter names of other programs, and misspellings of ours. Other words with a colon are searched.
_UNKNOWN = frozenset(
    [
        "author",
        "block",
        "content",
        "created",
        "ext",
        "filename",
        "filetype",
        "folders",
        "from",
        "heading",
        "in",
        "is",
        "kind",
        "line",
        "modified",
        "name",
        "newer",
        "note",
        "older",
        "paths",
        "pth",
        "section",
        "since",
        "tags",
        "title",
        "type",
        "until",
        "updated",
    ]
)
_FILTERS = "path:, folder:, file:, tag:, after:, before:, date: and task:"
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query.

    Attributes:
        words: the words to search for, including those in phrases, without filters.
        phrases: texts that a passage must contain exactly.
        paths, files, tags: texts that the path, file name or tags must match.
        after, before: limits for the time of the note's last change, or None. The time must not be
            earlier than `after`, and must be earlier than `before`.
        days: ranges of days. The names, headings or properties of the note must contain a date in
            one of them. If there is a filter for tasks, the dates of the tasks count instead.
        task: the kind of task that a passage must contain, or an empty string. `any` includes
            cancelled tasks.
        problems: sentences about filters that are unknown, invalid or written with a space.
    """

    words: str
    phrases: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    after: datetime | None = None
    before: datetime | None = None
    days: tuple[Span, ...] = ()
    task: TaskFilter = ""
    problems: tuple[str, ...] = ()

    @property
    def has_filter(self) -> bool:
        """Whether the query has a filter. Phrases do not count as filters."""
        limits = (self.after, self.before, self.days, self.task)
        return any((self.paths, self.files, self.tags, *limits))

    def filters(self) -> Mapping[str, Any]:
        """Return the filters as a JSON-serializable dict, as printed by `strata search --json`."""
        named = {
            "path": list(self.paths),
            "file": list(self.files),
            "tag": list(self.tags),
            "after": None if self.after is None else self.after.date().isoformat(),
            "before": None if self.before is None else self.before.date().isoformat(),
            "date": [write_date_filter(span) for span in self.days],
            "task": self.task,
            "phrase": list(self.phrases),
        }
        return {key: value for key, value in named.items() if value}


@dataclass(slots=True)
class _Filters:
    """The filters that were parsed so far."""

    named: dict[str, list[str]] = field(
        default_factory=lambda: {"path": [], "file": [], "tag": [], "phrase": []}
    )
    limits: dict[str, datetime] = field(default_factory=dict)
    days: list[Span] = field(default_factory=list)
    task: TaskFilter = ""

    def add(self, key: str, value: str) -> bool:
        """Add a filter, and return whether it is valid.

        Args:
            key: the name of the filter in lower case.
            value: the value as written in the query.
        """
        if key in _DATES:
            return self._add_limit(key, value)
        if key == "date":
            span = _parse_days(value)
            self.days += [] if span is None else [span]
            return span is not None
        if key == "task":
            self.task = _parse_task(value) or self.task
            return _parse_task(value) != ""
        value = value.lstrip("#") if key == "tag" else value
        if not value or value.startswith("//"):
            return False
        self.named["path" if key == "folder" else key].append(value)
        return True

    def _add_limit(self, key: str, value: str) -> bool:
        day = _parse_day(value)
        if day is not None:
            self.limits[key] = day
        return day is not None


def parse_query(text: str) -> Query:
    """Parse the text of a query. Every text is a valid query."""
    filters = _Filters()
    words, problems, end = [], list[str](), 0
    for count, found in enumerate(_PART.finditer(text[:_MAX_SCANNED])):
        if count == _MAX_FILTERS:
            break
        if (phrase := found["phrase"]) is not None:
            if phrase.strip():
                filters.named["phrase"].append(" ".join(phrase.split()))
            continue
        if filters.add(found["key"].lower(), found["quoted"] or found["plain"]):
            words.append(text[end : found.start()])
            end = found.end()
        elif (described := _describe_bad_value(found[0])) is not None:
            problems.append(described)
    words.append(text[end:])
    named = filters.named
    return Query(
        words=" ".join("".join(words).split()) if end else text,
        phrases=tuple(named["phrase"]),
        paths=tuple(named["path"]),
        files=tuple(named["file"]),
        tags=tuple(named["tag"]),
        after=filters.limits.get("after"),
        before=filters.limits.get("before"),
        days=tuple(filters.days),
        task=filters.task,
        problems=(
            *dict.fromkeys(problems),
            *_find_spaced_filters(text[:_MAX_SCANNED]),
            *_find_unknown_filters(text[:_MAX_SCANNED]),
        ),
    )


def write_date_filter(span: Span) -> str:
    """Return the value of a `date:` filter for a range of days."""
    first, last = span[0], span[1] - timedelta(days=1)
    start = "" if first == date.min else f"{first}"
    return start if first == last else f"{start}..{'' if span[1] == date.max else last}"


def _find_spaced_filters(text: str) -> Iterator[str]:
    """Yield a sentence about each filter that has a space between its name and value."""
    for found in _SPACED.finditer(text):
        name = (found["first"] or found["last"]).lower()
        value = found["value"] or found["end"]
        if name not in _CHECKED or _Filters().add(name, value.strip('"')):
            yield (
                f"There is a space after {name}: so it was searched as words. Write {name}:{value} "
                "to filter."
            )


def _find_unknown_filters(text: str) -> Iterator[str]:
    """Yield a sentence about each word that looks like a filter with an unknown name."""
    names = dict.fromkeys(found["key"].lower() for found in _OTHER.finditer(text))
    for name in names:
        if name in _UNKNOWN:
            yield (
                f"There is no filter {name}: so it was searched as words. Filters are {_FILTERS}."
            )


def _describe_bad_value(written: str) -> str | None:
    """Return a sentence about a filter with an invalid value, or None if it is searched as words.

    Args:
        written: the filter as written in the query.
    """
    name = written.partition(":")[0].lower()
    if name == "task":
        return (
            f"{written} names no kind of task, so it was searched as words. Write task:open, "
            "task:done or task:any."
        )
    if name not in _CHECKED:
        return None
    more = ", or a range such as date:2024-03-01..2024-03-15" if name == "date" else ""
    return (
        f"{written} names no date, so it was searched as words. Write {name}:2024, "
        f"{name}:2024-03 or {name}:2024-03-15{more}."
    )


def _parse_task(value: str) -> TaskFilter:
    known = value.lower()
    return cast("TaskFilter", known) if known in get_args(TaskKind) else ""


def _parse_days(value: str) -> Span | None:
    """Return a year, month or day as a range of days, or the range between two of them.

    The sides of a range may be left out, as in `..2024-03`. Return None for any other text.
    """
    start, dots, end = value.partition("..")
    first = _parse_span(start)
    if not dots:
        return first
    last = _parse_span(end)
    if (start and first is None) or (end and last is None):
        return None
    span = (first[0] if first else date.min), (last[1] if last else date.max)
    return span if span[0] < span[1] else None


def _parse_span(text: str) -> Span | None:
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    year, month, day = (int(part) if part else None for part in found.groups())
    if year is None or month is None:
        return build_year_span(year or 0)
    if day is None:
        return build_month_span(year, month)
    first = build_day(year, month, day)
    return None if first is None else build_day_span(first)


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
