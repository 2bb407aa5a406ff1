"""Parse queries into words, phrases and filters.

    path:garden  file:"seed list"  tag:recipe/soup  after:2024-03  before:2025  "word for word"
    date:2024-03  date:2024-03-04..2024-03-10  task:open  link:Server  [rating:>=4]
    -tag:draft  tag:soup OR tag:stew

`folder:` names a whole folder, and `path:` any part of a path. `link:` keeps the notes that link to
a note, and a name and a test in square brackets those with such a property. `-` before one of these
filters excludes its notes, and `OR` between two of them keeps the notes of both. `after:` and
`before:` limit the time of a note's last change, and `date:` the dates in its names, headings and
properties. `task:` is `open`, `done` or `any`, and keeps the passages with such a task. With it,
`date:` limits the dates of tasks. A filter's value follows the colon without a space and may be
quoted. Text that only looks like a filter, such as a web address or an invalid date, is searched as
words. If a filter was probably meant, as in `tag: recipe`, the query reports it as a problem.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
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
from vault.search.conditions import (
    CONDITION_KEYS,
    Condition,
    ConditionKey,
    describe_clause,
    parse_property,
    write_clause,
)

__all__ = [
    "Query",
    "TaskFilter",
    "describe_filters",
    "parse_query",
    "write_date_filter",
    "write_query",
]

TaskFilter = TaskKind | Literal[""]

_MAX_FILTERS = 16
_DATES = ("after", "before")
_CHECKED = (*_DATES, "date", "task")
_MAX_SCANNED = 20_000
_PART = re.compile(
    r"(?:(?<=\s)|^)(?:(?P<not>-)?(?:(?P<key>path|folder|file|tag|link|after|before|date|task):"
    r'(?:"(?P<quoted>[^"\n]+)"|(?P<plain>[^\s"]+))'
    r"|\[(?P<name>[^\[\]:\n\"]{1,60}):(?P<test>[^\[\]\n]{1,200})\])"
    r'|"(?P<phrase>[^"\n]+)")(?=[\s.,;:!?)]|$)',
    re.IGNORECASE,
)
_OR = re.compile(r"\s+OR\s+")
# A filter with a space before its value, at the start or end of the text. Elsewhere it is prose.
_NAME = "path|folder|file|tag|link|after|before|date|task"
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
_FILTERS = "path:, folder:, file:, tag:, link:, after:, before:, date: and task:"
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query.

    Attributes:
        words: the words to search for, including those in phrases, without filters.
        phrases: texts that a passage must contain exactly.
        clauses: the conditions on notes. Of each clause, at least one condition must be fulfilled.
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
    clauses: tuple[tuple[Condition, ...], ...] = ()
    after: datetime | None = None
    before: datetime | None = None
    days: tuple[Span, ...] = ()
    task: TaskFilter = ""
    problems: tuple[str, ...] = ()

    @property
    def has_filter(self) -> bool:
        """Whether the query has a filter. Phrases do not count as filters."""
        limits = (self.after, self.before, self.days, self.task)
        return any((self.clauses, *limits))

    def filters(self) -> Mapping[str, Any]:
        """Return the filters as a JSON-serializable dict, as printed by `strata search --json`."""
        named = {
            "path": self._list_values("path", "folder"),
            "file": self._list_values("file"),
            "tag": self._list_values("tag"),
            "link": self._list_values("link"),
            "other": [write_clause(clause) for clause in self.clauses if not _is_plain(clause)],
            "after": None if self.after is None else self.after.date().isoformat(),
            "before": None if self.before is None else self.before.date().isoformat(),
            "date": [write_date_filter(span) for span in self.days],
            "task": self.task,
            "phrase": list(self.phrases),
        }
        return {key: value for key, value in named.items() if value}

    def _list_values(self, *keys: ConditionKey) -> list[str]:
        """Return the values of the plain conditions with the given keys."""
        plain = (clause[0] for clause in self.clauses if _is_plain(clause))
        return [condition.value for condition in plain if condition.key in keys]


@dataclass(slots=True)
class _Filters:
    """The filters that were parsed so far."""

    quoted: list[str] = field(default_factory=list)
    clauses: list[tuple[Condition, ...]] = field(default_factory=list)
    limits: dict[str, datetime] = field(default_factory=dict)
    spans: list[Span] = field(default_factory=list)
    task: TaskFilter = ""

    def add_match(self, found: re.Match[str], *, is_alternative: bool) -> bool:
        """Add a filter, and return whether it is valid.

        Args:
            found: the match of the filter in the query.
            is_alternative: whether `OR` stands between the filter and the one before it.
        """
        is_negated, name = found["not"] is not None, found["name"]
        if name is not None:
            condition = parse_property(name, found["test"], is_negated=is_negated)
            return self._add_condition(condition, is_alternative=is_alternative)
        key, value = found["key"].lower(), found["quoted"] or found["plain"]
        if key not in CONDITION_KEYS:
            return not is_negated and self.add(key, value)
        condition = _build_condition(key, value, is_negated=is_negated)
        return self._add_condition(condition, is_alternative=is_alternative)

    def add(self, key: str, value: str) -> bool:
        """Add a limit for the time of a change, days, or a kind of task.

        Return whether the value is valid.
        """
        if key in _DATES:
            return self._add_limit(key, value)
        if key == "date":
            span = _parse_days(value)
            self.spans += [] if span is None else [span]
            return span is not None
        self.task = _parse_task(value) or self.task
        return _parse_task(value) != ""

    def _add_condition(self, condition: Condition | None, *, is_alternative: bool) -> bool:
        if condition is None:
            return False
        before = self.clauses.pop() if is_alternative and self.clauses else ()
        self.clauses.append((*before, condition))
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
                filters.quoted.append(" ".join(phrase.split()))
            continue
        between = text[end : found.start()]
        joins = bool(filters.clauses) and _OR.fullmatch(between) is not None
        if filters.add_match(found, is_alternative=joins):
            words.append(" " if joins else between)
            end = found.end()
        elif (described := _describe_bad_value(found)) is not None:
            problems.append(described)
    words.append(text[end:])
    return Query(
        words=" ".join("".join(words).split()) if end else text,
        phrases=tuple(filters.quoted),
        clauses=tuple(filters.clauses),
        after=filters.limits.get("after"),
        before=filters.limits.get("before"),
        days=tuple(filters.spans),
        task=filters.task,
        problems=(
            *dict.fromkeys(problems),
            *_find_spaced_filters(text[:_MAX_SCANNED]),
            *_find_unknown_filters(text[:_MAX_SCANNED]),
        ),
    )


def write_query(query: Query) -> str:
    """Write a query as text, so that `parse_query` returns its words and filters again."""
    parts = [f"task:{query.task}"] if query.task else []
    parts += [write_clause(clause) for clause in query.clauses]
    limits = (("after", query.after), ("before", query.before))
    parts += [f"{key}:{limit.date()}" for key, limit in limits if limit is not None]
    parts += [f"date:{write_date_filter(span)}" for span in query.days]
    return " ".join((*parts, query.words)).strip()


def describe_filters(query: Query) -> str:
    """Describe the filters and words of a query for a sentence, or return an empty string.

    An example is "in the folder “House”, with the tag #recipe".
    """
    parts = [describe_clause(clause) for clause in query.clauses]
    if query.after is not None:
        parts.append(f"changed since {query.after.date()}")
    if query.before is not None:
        parts.append(f"changed before {query.before.date()}")
    if query.days:
        dated = "dated " if query.task else "with a date in name, heading or properties: "
        parts.append(dated + " or ".join(map(write_date_filter, query.days)))
    if query.words.strip():
        parts.append(f"containing “{' '.join(query.words.split())}”")
    return ", ".join(parts)


def _is_plain(clause: Sequence[Condition]) -> bool:
    return len(clause) == 1 and clause[0].is_plain


def _build_condition(key: str, value: str, *, is_negated: bool) -> Condition | None:
    value = value.lstrip("#") if key == "tag" else value
    if key == "link":
        value = value.removeprefix("[[").removesuffix("]]")
    if not value or value.startswith("//"):
        return None
    return Condition(cast("ConditionKey", key), value, is_negated=is_negated)


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


def _describe_bad_value(found: re.Match[str]) -> str | None:
    """Return a sentence about a filter with an invalid value, or None if it is searched as words.

    Args:
        found: the match of the filter in the query.
    """
    written, name = found[0], (found["key"] or "").lower()
    if found["not"] and name in _CHECKED:
        return f"{written} cannot be excluded, so it was searched as words."
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
