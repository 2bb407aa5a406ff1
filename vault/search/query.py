"""Parse queries into words, phrases and filters.

    path:garden  file:"seed list"  tag:recipe/soup  after:2024-03  before:2025  "word for word"
    date:2024-03  date:2024-03-04..2024-03-10  task:open  due:..2024-03  link:Server  [rating:>=4]
    task-priority:>=high  linked-from:Server  has:open-task
    -tag:draft  tag:soup OR tag:stew  has:"open-task due:2024-03 task-priority:>=high"

`folder:` names a whole folder, or with `/` before it the path of one, and `path:` any part of a
path. `link:` keeps the notes that link to a note, and `linked-from:` those that a note links to.
`has:` keeps the notes with a `tag`, `link`, `property`, `task`, `open-task` or `done-task`, and a
name and a test in square brackets those with such a property. Behind a kind of task, the limits of
tasks below may stand. The test `*` is passed by every value, `!=5` by every other one, `>=2 <=4` by
those between, and `~word` by those that contain it. The fields of a file count as properties, as in
`[file.ext:pdf]`. `after:` and `before:` limit the time of a note's last change, and `date:` the
dates in its names, headings and properties. `task:` is `open`, `done` or `any`, and keeps the
passages with such a task. With it, `date:` limits the dates of tasks, `due:` their due dates alone,
and `task-priority:` their priority, which is `lowest`, `low`, `none`, `medium`, `high` or
`highest`, or `*` for any mark.

`-` before a filter excludes its notes, and `OR` between two filters keeps the notes of both, or the
tasks if only tasks are chosen. A note then fulfils a limit of tasks with any task that does. A
filter's value follows the colon without a space and may be quoted. Text that only looks like a
filter, such as a web address or an invalid date, is searched as words. If a filter was probably
meant, as in `tag: recipe`, the query reports it as a problem.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from vault.notes.date_spans import Span
from vault.search.conditions import Condition, parse_property
from vault.search.filter_kinds import (
    FILTERS,
    TaskFilter,
    write_date_filter,
)

__all__ = ["Query", "describe_filters", "parse_query", "split_filter", "write_query"]

_MAX_FILTERS = 16
_MAX_SCANNED = 20_000
_KEYS = [key for key in FILTERS if key != "property"]
_END = r"(?=[\s.,;:!?)]|$)"
# A value without quotation marks. Of a parenthesis at its end, it has the beginning too.
_PLAIN = rf'[^\s"]*\([^\s"()]*\){_END}|[^\s"]*[^\s".,;:!?)](?:\.\.)?|\.\.'
_PART = re.compile(
    rf"(?:(?<=\s)|^)(?:(?P<not>-)?(?:(?P<key>{'|'.join(_KEYS)}):"
    rf'(?:"(?P<quoted>[^"\n]+)"|(?P<plain>{_PLAIN}))'
    r"|\[(?P<name>[^\[\]:\n\"]{1,60}):(?P<test>[^\[\]\n]{1,200})\])"
    rf'|"(?P<phrase>[^"\n]+)"){_END}',
    re.IGNORECASE,
)
_OF_TASKS = frozenset({"task", "due", "task-priority"})
_DATED = "dated {}"  # how a sentence names the tasks, and not the notes, of a day
_OR = re.compile(r"\s+OR\s+")
_GROUP = re.compile(rf'(?:(?<=\s)|^)-?\(-?(?:(?:{"|".join(_KEYS)}):[^\s")]|\[[^\s\[\]:]+:)')
_JOINED_PHRASE = re.compile(
    r'(?:(?<=\s)|^)-"[^"\n]+"(?=\s|$)|\bOR\s+"[^"\n]+"(?=\s|$)|(?:(?<=\s)|^)"[^"\n]+"\s+OR\b'
)
# A filter with a space before its value, at the start or end of the text. Elsewhere it is prose.
_VALUE = r'"[^"\n]+"|[^\s"]+'
_SPACED = re.compile(
    rf"^[ \t]*(?P<first>{'|'.join(_KEYS)}):[ \t]+(?P<value>{_VALUE})"
    rf"|(?<=\s)(?P<last>{'|'.join(_KEYS)}):[ \t]+(?P<end>{_VALUE})\s*$",
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
        due: ranges of days, in one of which the tasks must be due.
        priorities: values such as `>=high`, of which the tasks must have one of the priorities.
        problems: sentences about filters that are unknown, invalid or written with a space.
    """

    words: str
    phrases: tuple[str, ...] = ()
    clauses: tuple[tuple[Condition, ...], ...] = ()
    after: datetime | None = None
    before: datetime | None = None
    days: tuple[Span, ...] = ()
    task: TaskFilter = ""
    due: tuple[Span, ...] = ()
    priorities: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def has_filter(self) -> bool:
        """Whether the query has a filter. Phrases do not count as filters."""
        limits = (self.after, self.before, self.days, self.task_kind)
        return any((self.clauses, *limits))

    @property
    def task_kind(self) -> TaskFilter:
        """The kind of task that is chosen, which is any if only days or priorities are limited.

        Tasks are also chosen by alternatives such as `due:2024-03 OR task-priority:high`.
        """
        is_of_tasks = any(
            all(each.key in _OF_TASKS for each in clause)
            and not all(each.is_negated for each in clause)
            for clause in self.clauses
        )
        return self.task or ("any" if self.due or self.priorities or is_of_tasks else "")

    def list_limits(self) -> Mapping[str, Sequence[str]]:
        """Return the values of the filters that are no conditions, by key, as they are written."""
        return {
            "task": [self.task] if self.task else [],
            "after": [] if self.after is None else [self.after.date().isoformat()],
            "before": [] if self.before is None else [self.before.date().isoformat()],
            "date": [write_date_filter(span) for span in self.days],
            "due": [write_date_filter(span) for span in self.due],
            "task-priority": list(self.priorities),
        }

    def filters(self) -> Mapping[str, Any]:
        """Return the filters as a JSON-serializable dict, as printed by `strata search --json`."""
        limits = self.list_limits()
        named: dict[str, Any] = {kind.listed_as: [] for kind in FILTERS.values()}
        for clause in self.clauses:
            if len(clause) == 1 and clause[0].is_plain:
                named[FILTERS[clause[0].key].listed_as].append(clause[0].value)
            else:
                named["other"].append(_write_clause(clause))
        for key, values in limits.items():
            named[key] = values if FILTERS[key].is_repeatable else "".join(values)
        named["phrase"] = list(self.phrases)
        return {key: value for key, value in named.items() if value}


@dataclass(slots=True)
class _Filters:
    """The filters that were parsed so far.

    Attributes:
        clauses: the conditions on notes.
        limits: the values of the other filters, by key.
        last: the limits that were parsed last, as alternative conditions, unless a condition
            followed them.
    """

    clauses: list[tuple[Condition, ...]] = field(default_factory=list)
    limits: dict[str, list[Any]] = field(default_factory=dict)
    last: tuple[Condition, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether no filter was parsed that another one could be joined with."""
        return not (self.clauses or self.last)

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
        key = found["key"].lower()
        value = FILTERS[key].parse(found["quoted"] or found["plain"])
        if value is None:
            return False
        if FILTERS[key].find is not None:
            condition = Condition(key, value, is_negated=is_negated)
            return self._add_condition(condition, is_alternative=is_alternative)
        written = (found["quoted"] or found["plain"]).lower()
        limit = Condition(key, written, is_negated=is_negated)
        is_same = FILTERS[key].is_repeatable and any(each.key == key for each in self.last)
        if is_negated or (is_alternative and not is_same):
            return self._add_condition(limit, is_alternative=is_alternative)
        self.limits.setdefault(key, []).append(value)
        self.last = (*self.last, limit) if is_alternative else (limit,)
        return True

    def find_last(self, key: str) -> Any:
        """Return the last value of a filter that counts once, or None."""
        return self.limits[key][-1] if key in self.limits else None

    def _add_condition(self, condition: Condition | None, *, is_alternative: bool) -> bool:
        if condition is None:
            return False
        before = self._take_last() if is_alternative else ()
        self.clauses.append((*before, condition))
        self.last = ()
        return True

    def _take_last(self) -> tuple[Condition, ...]:
        """Remove what was parsed last, and return it as alternative conditions."""
        if not self.last:
            return self.clauses.pop() if self.clauses else ()
        key = self.last[0].key
        if not (left := self.limits.pop(key)[: -len(self.last)]):
            return self.last
        self.limits[key] = left
        return self.last


def parse_query(text: str) -> Query:
    """Parse the text of a query. Every text is a valid query."""
    filters, phrases = _Filters(), list[str]()
    words, problems, end = [], list[str](), 0
    for count, found in enumerate(_PART.finditer(text[:_MAX_SCANNED])):
        if count == _MAX_FILTERS:
            break
        if (phrase := found["phrase"]) is not None:
            if phrase.strip():
                phrases.append(" ".join(phrase.split()))
            continue
        between = text[end : found.start()]
        joins = _OR.fullmatch(between) is not None and not filters.is_empty
        if filters.add_match(found, is_alternative=joins):
            words.append(" " if joins else between)
            end = found.end()
        elif (described := _describe_bad_value(found)) is not None:
            problems.append(described)
    words.append(text[end:])
    return Query(
        words=" ".join("".join(words).split()) if end else text,
        phrases=tuple(phrases),
        clauses=tuple(filters.clauses),
        after=filters.find_last("after"),
        before=filters.find_last("before"),
        days=tuple(filters.limits.get("date", ())),
        task=filters.find_last("task") or "",
        due=tuple(filters.limits.get("due", ())),
        priorities=tuple(filters.limits.get("task-priority", ())),
        problems=(
            *dict.fromkeys(problems),
            *_find_spaced_filters(text[:_MAX_SCANNED]),
            *_find_unknown_filters(text[:_MAX_SCANNED]),
            *_find_unread_signs(text[:_MAX_SCANNED]),
        ),
    )


def write_query(query: Query) -> str:
    """Write a query as text, so that `parse_query` returns its words and filters again."""
    limits = [f"{key}:{value}" for key, values in query.list_limits().items() for value in values]
    first = 1 if query.task else 0  # `task:`, before the conditions
    clauses = map(_write_clause, query.clauses)
    return " ".join((*limits[:first], *clauses, *limits[first:], query.words)).strip()


def describe_filters(query: Query) -> str:
    """Describe the filters and words of a query for a sentence, or return an empty string.

    An example is "in the folder “House”, with the tag #recipe".
    """
    return ", ".join(text for text, _ in split_filter(query))


def split_filter(query: Query) -> Iterator[tuple[str, Query]]:
    """Yield each part of a query's filter in words, with the query without it."""
    for clause in query.clauses:
        others = tuple(other for other in query.clauses if other is not clause)
        descriptions = (_describe(each, is_of_tasks=bool(query.task_kind)) for each in clause)
        yield " or ".join(descriptions), replace(query, clauses=others)
    for key, values in query.list_limits().items():
        kind = FILTERS[key]
        phrase = _DATED if query.task_kind and key == "date" else kind.phrase
        if values and phrase:
            text = phrase.format(" or ".join(map(kind.describe or str, values)))
            yield text, _drop_limit(query, key)
    if query.words.strip():
        text = f"containing “{' '.join(query.words.split())}”"
        yield text, replace(query, words="", phrases=())


def _drop_limit(query: Query, key: str) -> Query:
    """Return a query without the limit of a key, such as `after` or `due`."""
    if key == "task-priority":
        return replace(query, priorities=())
    if key == "date":
        return replace(query, days=())
    if key == "due":
        return replace(query, due=())
    return replace(query, after=None) if key == "after" else replace(query, before=None)


def _describe(condition: Condition, *, is_of_tasks: bool) -> str:
    kind, value = FILTERS[condition.key], condition.shown_value
    phrase = kind.opposite if condition.is_negated else kind.phrase or "with {}"
    if is_of_tasks and condition.key == "date":
        phrase = f"not {_DATED}" if condition.is_negated else _DATED
    return phrase.format(value if kind.describe is None else kind.describe(value))


def _write_clause(clause: Sequence[Condition]) -> str:
    return " OR ".join(map(str, clause))


def _find_spaced_filters(text: str) -> Iterator[str]:
    """Yield a sentence about each filter that has a space between its name and value."""
    for found in _SPACED.finditer(text):
        name = (found["first"] or found["last"]).lower()
        value = found["value"] or found["end"]
        kind = FILTERS[name]
        if kind.find is not None or kind.parse(value.strip('"')) is not None:
            yield (
                f"There is a space after {name}: so it was searched as words. Write {name}:{value} "
                "to filter."
            )


def _find_unknown_filters(text: str) -> Iterator[str]:
    """Yield a sentence about each word that looks like a filter with an unknown name."""
    names = dict.fromkeys(found["key"].lower() for found in _OTHER.finditer(text))
    known = f"{', '.join(f'{key}:' for key in _KEYS[:-1])} and {_KEYS[-1]}:"
    for name in names:
        if name in _UNKNOWN:
            yield f"There is no filter {name}: so it was searched as words. Filters are {known}."


def _find_unread_signs(text: str) -> Iterator[str]:
    """Yield a sentence about signs that do not do what they seem to."""
    if _GROUP.search(text) is not None:
        yield (
            "A filter behind an opening parenthesis was searched as words. OR joins the filters "
            "beside it, without parentheses."
        )
    if (found := _JOINED_PHRASE.search(text)) is not None:
        yield (
            "A minus and OR work with filters, and not with words in quotation marks, so "
            f"{found[0]} was searched as words."
        )


def _describe_bad_value(found: re.Match[str]) -> str | None:
    """Return a sentence about a filter with an invalid value, or None if it is searched as words.

    Args:
        found: the match of the filter in the query.
    """
    kind = FILTERS.get((found["key"] or "").lower())
    if kind is None or not kind.bad_value:
        return None
    return f"{found[0]} {kind.bad_value}"
