"""Read the queries of the Tasks plugin: one filter or instruction a line.

    not done
    (due before tomorrow) OR (priority is high)
    path includes Garden
    sort by due reverse
    group by filename
    limit 10

All filters hold together. Instructions that only change how the plugin draws its result, such as
`hide edit button`, do nothing. Presets, the global query and the global filter are those of the
plugin's settings. Of `filter by function`, short expressions are read. A line that needs more is
named.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Final

from vault.errors import ViewNotUnderstood
from vault.notes.dates import find_date_spans
from vault.notes.day_formats import TASKS_SETTINGS, load_settings
from vault.notes.tasks import TASK_PRIORITIES, read_global_filter
from vault.search.query import Query
from vault.views.evaluate import Evaluator, NoteRow
from vault.views.expressions import Binary, Call, Constant, Expression, FieldName, Unary
from vault.views.function import name_choice, read_function
from vault.views.task_fields import check_pattern
from vault.views.values import write_value
from vault.views.view import FILE, MARKDOWN_NOTES, Column, Order, View, read_limit

__all__ = ["TasksSettings", "read_tasks_query", "read_tasks_settings"]

_NO_FILTER: Final = "# It changes only how the result looks."
# The presets that the plugin has at first.
_PRESETS: Final[Mapping[str, str]] = {
    "this_file": "path includes {{query.file.path}}",
    "this_folder": "folder includes {{query.file.folder}}",
    "this_folder_only": "filter by function task.file.folder === query.file.folder",
    "this_root": "root includes {{query.file.root}}",
    "hide_date_fields": _NO_FILTER,
    "hide_non_date_fields": _NO_FILTER,
    "hide_query_elements": _NO_FILTER,
    "hide_everything": _NO_FILTER,
}
_MOST_LINES: Final = 100
_MOST_CHARS: Final = 10_000
_MOST_DEPTH: Final = 20
_MOST_INSERTED: Final = 20
_CONTINUED: Final = re.compile(r"(?<![ \t\\])[ \t]*+\\\n\s*")
_PLACEHOLDER: Final = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
_PRESET: Final = re.compile(r"preset[ .](\w+)", re.IGNORECASE)
_IGNORES_GLOBAL: Final = re.compile(r"^\s*ignore global query\s*$", re.IGNORECASE | re.MULTILINE)
_EXTRA: Final = "tq_extra_instructions"
_LOOK: Final = re.compile(
    r"(?:hide|show|view (?:list|columns))\b.*|(?:short|full)(?: mode)?|explain|ignore global query"
)
_LIMIT: Final = re.compile(r"limit( groups)?(?: to)? (\d+)(?: tasks?)?")
_DAYS: Final[Mapping[str, str]] = {
    "due": "due",
    "scheduled": "scheduled",
    "start": "start",
    "starts": "start",
    "created": "created",
    "done": "completion",
}
_DAY_NAME: Final = "due|scheduled|starts?|created|done|happens"
_HAS_DAY: Final = re.compile(rf"(has|no) ({_DAY_NAME}) date")
_DAY: Final = re.compile(
    rf"({_DAY_NAME}) (?:date )?(?:(on or before|in or before|before|on or after|in or after|after"
    r"|on|in) )?(.+)"
)
_TEXTS: Final[Mapping[str, Expression]] = {
    "description": FieldName(("description",)),
    "path": FieldName(("path",)),
    "folder": FieldName(("folder",)),
    "root": FieldName(("root",)),
    "heading": FieldName(("heading",)),
    "filename": FieldName(("filename",)),
    "recurrence": FieldName(("recurrence",)),
    "id": FieldName(("id",)),
}
_TAGS: Final = FieldName(("tags",))
_HAS: Final = {
    "tags": _TAGS,
    "tag": _TAGS,
    "id": _TEXTS["id"],
    "depends on": FieldName(("dependsOn",)),
}
_GRAPH: Final = {"blocked": FieldName(("isBlocked",)), "blocking": FieldName(("isBlocking",))}
_ORDERS: Final[Mapping[str, Expression]] = {
    "tag": Call("join", _TAGS),
    "tags": Call("join", _TAGS),
    "id": _TEXTS["id"],
    "recurrence": _TEXTS["recurrence"],
    "happens": FieldName(("happens",)),
    "urgency": FieldName(("urgency",)),
    "backlink": FILE,
}
_INCLUDES: Final = re.compile(
    r"(description|path|folder|root|heading|filename|recurrence|tags?|id)"
    r" (includes?|is|(?:does|do) not include) (.+)",
    re.IGNORECASE,
)
_MATCHES: Final = re.compile(
    r"(description|path|folder|root|heading|filename|recurrence|tags?)"
    r" regex (matches|does not match) /(.*)/([a-z]*)",
    re.IGNORECASE,
)
_FUNCTION: Final = re.compile(r"(sort|group|filter) by function(?: (reverse))? (.+)", re.IGNORECASE)
_HAS_FIELD: Final = re.compile(rf"(has|no) ({'|'.join(_HAS)})")
_WAITS: Final = re.compile(rf"is (not )?({'|'.join(_GRAPH)})")
_PRIORITY: Final = re.compile(rf"priority is (not |above |below )?({'|'.join(TASK_PRIORITIES)})")
_STATUS: Final = re.compile(r"status\.type (is not|is) (todo|done|in_progress|cancelled)")
_RECURS: Final = re.compile(r"is (not )?recurring")
_ORDER: Final = re.compile(r"(sort|group) by ([\w.]+)(?: \d+)?( reverse)?")
_BRACKETS: Final = {"(": ")", "[": "]", "{": "}", '"': '"'}
_JOIN: Final = re.compile(r"\s*(AND NOT|OR NOT|AND|OR|XOR)\b", re.IGNORECASE)
_PRECEDENCE: Final = ("XOR", "AND", "OR")
_NOT: Final = re.compile(r"\s*NOT\b", re.IGNORECASE)
_STATUS_FIELD: Final = FieldName(("status",))
_TEXT: Final = FieldName(("text",))  # with the signs, which the description is without
_RANK: Final = FieldName(("priorityNumber",))  # 0 is the most urgent priority
_COMPLETED: Final = FieldName(("completed",))
_CANCELLED: Final = Binary("==", _STATUS_FIELD, Constant("-"))
_UNDER_WAY: Final = Binary("==", _STATUS_FIELD, Constant("/"))


@dataclass(frozen=True, slots=True)
class TasksSettings:
    """What the settings of the Tasks plugin add to its queries.

    Attributes:
        presets: lines of queries by their name.
        query: lines that are part of every query, unless it says no.
        filter: a text that each task has, such as `#task`, or an empty string.
    """

    presets: Mapping[str, str] = field(default_factory=lambda: _PRESETS)
    query: str = ""
    filter: str = ""


def read_tasks_settings(root: Path | None) -> TasksSettings:
    """Read the settings of the Tasks plugin. Missing and bad ones are those that it has at first.

    Args:
        root: the folder of the vault, or None without one.
    """
    loaded = {} if root is None else load_settings(root, TASKS_SETTINGS)
    presets, query = loaded.get("presets"), loaded.get("globalQuery")
    known = presets if isinstance(presets, dict) else {}
    named = {str(name): text for name, text in known.items() if isinstance(text, str)}
    return TasksSettings(
        {**_PRESETS, **named}, query if isinstance(query, str) else "", read_global_filter(loaded)
    )


_NO_SETTINGS: Final = TasksSettings()


def read_tasks_query(
    text: str,
    this: NoteRow | None,
    now: datetime,
    settings: TasksSettings = _NO_SETTINGS,
) -> tuple[View | str, ...]:
    """Read a query. If it cannot be read, return a sentence that names what is not understood.

    Args:
        text: the query.
        this: the note that contains it, or None.
        now: the time from which days such as `tomorrow` are counted.
        settings: what the settings of the plugin add.
    """
    try:
        return (_TasksQuery(this, now, settings).read(text),)
    except ViewNotUnderstood as error:
        return (str(error),)


class _TasksQuery:
    def __init__(self, this: NoteRow | None, now: datetime, settings: TasksSettings) -> None:
        self._this, self._today, self._settings = this, now.date(), settings
        self._evaluator = Evaluator("tasks", {}, this, now)
        self._tests: list[Expression] = []
        self._sort: list[Order] = []
        self._groups: list[Order] = []
        self._limit: int | None = None
        self._group_limit: int | None = None
        self._inserted = self._inserted_chars = 0

    def read(self, text: str) -> View:
        if text.count("\n") >= _MOST_LINES:
            raise ViewNotUnderstood("A query with so many lines")
        if len(text) > _MOST_CHARS:
            raise ViewNotUnderstood("A query that long")
        if self._settings.filter:
            self._tests.append(Call("includes", _TEXT, (Constant(self._settings.filter),)))
        for part in self._list_parts(text):
            for line in self._split(part):
                self._read_line(line)
        for order in (*self._sort, *self._groups):
            self._evaluator.check(order.value, is_of_tasks=True)
        for test in self._tests:
            self._evaluator.check(test, is_of_tasks=True)
        return View(
            "",
            "task",
            "tasks",
            (MARKDOWN_NOTES,),
            Query("", task="any"),
            tuple(self._tests),
            (Column("Task", _TEXT), Column("Note", FILE, is_link=True)),
            (*self._sort, Order(FieldName(("due",))), Order(_RANK)),
            self._limit,
            self._groups[0] if self._groups else None,
            tuple(self._groups[1:]),
            self._group_limit,
        )

    def _list_parts(self, text: str) -> Iterator[str]:
        """Yield the global query, the instructions in the properties of the note, and the query."""
        if not _IGNORES_GLOBAL.search(text):
            yield self._insert(self._settings.query)
        extra = () if self._this is None else self._this.note.properties.get(_EXTRA, ())
        yield from map(self._insert, extra)
        yield text

    def _split(self, text: str) -> Iterator[str]:
        """Yield the lines of a text, with presets and the values of placeholders in them."""
        for line in map(str.strip, _CONTINUED.sub(" ", text).split("\n")):
            if not line or line.startswith("#"):
                continue
            preset = _PRESET.fullmatch(line)
            if preset is None and not _PLACEHOLDER.search(line):
                yield line
                continue
            self._inserted += 1
            if self._inserted > _MOST_INSERTED:
                raise ViewNotUnderstood(line)
            filled = _PLACEHOLDER.sub(self._fill, line)
            yield from self._split(filled if preset is None else self._find_preset(preset))

    def _find_preset(self, found: re.Match[str]) -> str:
        if found[1] not in self._settings.presets:
            raise ViewNotUnderstood(found[0])
        return self._insert(self._settings.presets[found[1]])

    def _insert(self, text: str) -> str:
        """Return a text that becomes part of the query, unless it grows too long.

        A preset that inserts itself several times would otherwise fill the memory.
        """
        self._inserted_chars += len(text)
        if self._inserted_chars > _MOST_CHARS:
            raise ViewNotUnderstood("A query that long")
        return text.encode("utf-8", "replace").decode("utf-8")  # JSON may have half characters

    def _fill(self, found: re.Match[str]) -> str:
        """Return what is inserted in place of a placeholder, such as `{{query.file.path}}`."""
        if preset := _PRESET.fullmatch(found[1]):
            return self._find_preset(preset)
        try:
            expression = read_function(found[1], self._this, self._today)
            self._evaluator.check(expression)
            value, is_known = self._evaluator.evaluate_constant(expression)
        except ViewNotUnderstood as error:
            raise ViewNotUnderstood(found[0]) from error
        if not is_known or value is None:
            raise ViewNotUnderstood(found[0])
        written = map(write_value, value) if type(value) is tuple else (write_value(value),)
        return self._insert("\n".join(written))

    def _read_line(self, line: str) -> None:
        low = " ".join(line.lower().split())
        if _LOOK.fullmatch(low):
            return
        if limit := _LIMIT.fullmatch(low):
            most = read_limit(limit[2], "limit")
            if limit[1]:
                self._group_limit = most
            else:
                self._limit = most
        elif (function := _FUNCTION.fullmatch(line)) and function[1].lower() != "filter":
            self._add_order(function[1], self._read_function(function, line), bool(function[2]))
        elif order := _ORDER.fullmatch(low):
            self._add_order(order[1], _find_order(order[2], line), bool(order[3]))
        else:
            self._tests.append(self._read_choice(line, 0))

    def _add_order(self, kind: str, value: Expression, is_reversed: bool) -> None:
        if kind.lower() == "sort":
            is_reversed ^= value == _ORDERS["urgency"]  # the most urgent task is first
            self._sort.append(Order(value, is_reversed))
        else:
            self._groups.append(Order(value, is_reversed))

    def _read_function(self, found: re.Match[str], line: str) -> Expression:
        try:
            expression = read_function(found[3], self._this, self._today)
            self._evaluator.check(expression, is_of_tasks=True)
        except ViewNotUnderstood as error:
            raise ViewNotUnderstood(line) from error
        return expression

    def _read_choice(self, text: str, depth: int) -> Expression:
        """Read filters in brackets that are joined with AND, OR, NOT and XOR, or one filter."""
        if depth > _MOST_DEPTH:
            raise ViewNotUnderstood(text)
        inner, end = _cut_part(text)
        is_whole = end == len(text.rstrip())
        if not inner or (is_whole and not _NOT.match(text)):
            return self._read_choice(inner, depth + 1) if inner else self._read_filter(text)
        parts, signs, at = [self._read_part(text, inner, depth)], list[str](), end
        while at < len(text.rstrip()):
            sign = _JOIN.match(text, at)
            rest = text[sign.end() :] if sign else ""
            inner, end = _cut_part(rest)
            if sign is None or not inner:
                raise ViewNotUnderstood(text)
            word, _, negation = sign[1].upper().partition(" ")
            part = self._read_part(rest, inner, depth)
            parts.append(Unary("!", part) if negation else part)
            signs.append(word)
            at = sign.end() + end
        return _join_parts(parts, signs)

    def _read_part(self, text: str, inner: str, depth: int) -> Expression:
        found = self._read_choice(inner, depth + 1)
        return Unary("!", found) if _NOT.match(text) else found

    def _read_filter(self, text: str) -> Expression:
        low = " ".join(text.lower().split())
        if low in ("done", "not done"):
            is_done = Binary("||", _COMPLETED, _CANCELLED)
            return is_done if low == "done" else Unary("!", is_done)
        if match := _HAS_DAY.fullmatch(low):
            has = _join_days(match[2], lambda day: day)
            return has if match[1] == "has" else Unary("!", has)
        if match := _PRIORITY.fullmatch(low):
            return _read_priority(match[1] or "", match[2])
        if match := _STATUS.fullmatch(low):
            found = _read_status(match[2])
            return found if match[1] == "is" else Unary("!", found)
        if match := _RECURS.fullmatch(low):
            return Unary("!", _recurs()) if match[1] else _recurs()
        if (named := self._read_text_filter(" ".join(text.split()))) is not None:
            return named
        if match := _DAY.fullmatch(low):
            return self._read_day(match[1], match[2] or "on", match[3], text)
        raise ViewNotUnderstood(text)

    def _read_text_filter(self, text: str) -> Expression | None:
        """Read a filter of texts, ids or functions, or return None for another one."""
        low = text.lower()
        if (match := _FUNCTION.fullmatch(text)) and match[1].lower() == "filter":
            return self._read_function(match, text)
        if match := _WAITS.fullmatch(low):
            return Unary("!", _GRAPH[match[2]]) if match[1] else _GRAPH[match[2]]
        if match := _HAS_FIELD.fullmatch(low):
            empty = Call("isempty", _HAS[match[2]])
            return empty if match[1] == "no" else Unary("!", empty)
        if match := _MATCHES.fullmatch(text):
            field = _TEXTS.get(match[1].lower(), _TAGS)
            check_pattern(match[3], match[4])
            found = Call("matches", field, (Constant(match[3]), Constant(match[4])))
            return Unary("!", found) if "not" in match[2].lower() else found
        if not (match := _INCLUDES.fullmatch(text)):
            return None
        if match[2].lower() == "is":
            is_same = Binary("==", _TEXTS["id"], Constant(match[3]))
            return is_same if match[1].lower() == "id" else None
        holds = _hold(_TEXTS.get(match[1].lower(), _TAGS), match[3])
        return Unary("!", holds) if "not" in match[2].lower() else holds

    def _read_day(self, name: str, sign: str, day_text: str, text: str) -> Expression:
        spans = find_date_spans(day_text, self._today)
        if not spans or len(spans) > 2:
            raise ViewNotUnderstood(text)
        first, after = min(span[0] for span in spans), max(span[1] for span in spans)
        found = _join_days(name, lambda day: _compare_day(day, sign, first, after))
        if name.startswith("start"):  # a task without a day may begin at any time
            return Binary("||", found, Unary("!", FieldName(("start",))))
        return found


def _cut_part(text: str) -> tuple[str, int]:
    """Return what is in the brackets at the start of a text, and the index behind them, or ""."""
    start = match.end() if (match := _NOT.match(text)) else 0
    start += len(text[start:]) - len(text[start:].lstrip())
    opening = text[start : start + 1]
    if opening not in _BRACKETS or not opening:
        return "", 0
    depth = 0
    for at in range(start, len(text)):
        if opening == _BRACKETS[opening]:
            depth = 0 if at > start and text[at] == opening else 1
        else:
            depth += (text[at] == opening) - (text[at] == _BRACKETS[opening])
        if not depth:
            return text[start + 1 : at].strip(), at + 1
    return "", 0


def _join_parts(parts: Sequence[Expression], signs: Sequence[str]) -> Expression:
    """Join filters with the words between them: first those with XOR, then with AND and OR."""
    for word in _PRECEDENCE:
        joined, left = [parts[0]], list[str]()
        for sign, part in zip(signs, parts[1:], strict=True):
            if sign == word:
                joined[-1] = _join(word, joined[-1], part)
            else:
                joined.append(part)
                left.append(sign)
        parts, signs = joined, left
    return parts[0]


def _join(word: str, left: Expression, right: Expression) -> Expression:
    if word == "XOR":
        return Binary("!=", Unary("!", left), Unary("!", right))
    return Binary("&&" if word == "AND" else "||", left, right)


def _hold(field: Expression, wanted: str) -> Expression:
    return Call("contains", field, (Constant(wanted),))


def _recurs() -> Expression:
    return Unary("!", Call("isempty", _TEXTS["recurrence"]))


def _join_days(name: str, make: Callable[[Expression], Expression]) -> Expression:
    """Return a test of a day of a task. `happens` means any of those for which it is planned."""
    if name != "happens":
        return make(FieldName((_DAYS[name],)))
    due, scheduled, start = (make(FieldName((day,))) for day in ("due", "scheduled", "start"))
    return Binary("||", Binary("||", due, scheduled), start)


def _compare_day(day: Expression, sign: str, first: date, after: date) -> Expression:
    """Compare a day of a task with a range of days. `after` is the day behind the range."""
    begin, end = _write_day(first), _write_day(after - timedelta(days=1))
    match sign:
        case "before":
            return Binary("<", day, begin)
        case "after":
            return Binary(">", day, end)
        case "on or before" | "in or before":
            return Binary("<=", day, end)
        case "on or after" | "in or after":
            return Binary(">=", day, begin)
    return Binary("&&", Binary(">=", day, begin), Binary("<=", day, end))


def _write_day(day: date) -> Expression:
    return Call("date", None, (Constant(day.isoformat()),))


def _read_priority(relation: str, name: str) -> Expression:
    known: tuple[str, ...] = TASK_PRIORITIES
    place = known.index(name)
    names = {
        "above ": known[place + 1 :],
        "below ": known[:place],
        "not ": (*known[:place], *known[place + 1 :]),
    }.get(relation, (name,))
    found: Expression = Constant(False)
    for each in names:
        found = Binary("||", found, _match_priority(each))
    return found


def _match_priority(name: str) -> Expression:
    field = FieldName(("priority",))
    return Unary("!", field) if name == "none" else Binary("==", field, Constant(name))


def _read_status(name: str) -> Expression:
    known: dict[str, Expression] = {
        "done": _COMPLETED,
        "cancelled": _CANCELLED,
        "in_progress": _UNDER_WAY,
    }
    if name in known:
        return known[name]
    others = Binary("||", Binary("||", _COMPLETED, _CANCELLED), _UNDER_WAY)
    return Unary("!", others)


def _find_order(name: str, line: str) -> Expression:
    """Return what tasks are sorted or grouped by.

    Raises:
        ViewNotUnderstood: it is not known.
    """
    if (known := _TEXTS.get(name) or _ORDERS.get(name) or _find_status(name)) is not None:
        return known
    if name in _DAYS:
        return FieldName((_DAYS[name],))
    if name == "recurring":
        return name_choice(_recurs(), "Recurring", "Not recurring")
    if name == "priority":
        is_sorted = line.lower().startswith("sort")
        return _RANK if is_sorted else FieldName(("priority",))
    raise ViewNotUnderstood(line)


def _find_status(name: str) -> Expression | None:
    """Return the name of the status of a task as what tasks are sorted or grouped by, or None."""
    under_way = {"status.type": "In progress", "status.name": "In Progress"}
    if name == "status":
        return name_choice(Binary("||", _COMPLETED, _CANCELLED), "Done", "Todo")
    if name not in under_way:
        return None
    still = name_choice(_UNDER_WAY, under_way[name], "Todo")
    closed = Call("choice", None, (_CANCELLED, Constant("Cancelled"), still))
    return Call("choice", None, (_COMPLETED, Constant("Done"), closed))
