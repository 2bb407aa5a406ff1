"""Read the queries of the Tasks plugin: one filter or instruction a line.

    not done
    (due before tomorrow) OR (priority is high)
    path includes Garden
    sort by due reverse
    group by filename
    limit 10

All filters hold together. Instructions that only change how the plugin draws its result, such as
`hide edit button`, do nothing. A line that needs more, such as `filter by function`, is named.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from typing import Final

from vault.errors import ViewNotUnderstood
from vault.notes.dates import find_date_spans
from vault.notes.tasks import TASK_PRIORITIES
from vault.search.query import Query
from vault.views.evaluate import Evaluator, NoteRow
from vault.views.expressions import Binary, Call, Constant, Expression, FieldName, Unary
from vault.views.view import FILE, MARKDOWN_NOTES, Column, Order, View, read_limit

__all__ = ["read_tasks_query"]

_MOST_LINES: Final = 100
_MOST_CHARS: Final = 10_000
_MOST_DEPTH: Final = 20
_FILE_NAMES: Final[Mapping[str, Callable[[str], str]]] = {
    "path": lambda path: path,
    "pathwithoutextension": lambda path: path.rpartition(".")[0],
    "filename": lambda path: path.rpartition("/")[2],
    "filenamewithoutextension": lambda path: path.rpartition("/")[2].rpartition(".")[0],
    "folder": lambda path: f"{path.rpartition('/')[0]}/",
    "root": lambda path: f"{path.partition('/')[0]}/" if "/" in path else "/",
}
_PLACEHOLDER: Final = re.compile(r"\{\{(?:\s*query\.file\.(\w+)\s*|[^{}]*)\}\}")
_LOOK: Final = re.compile(r"(?:hide|show)\b.*|(?:short|full)(?: mode)?|explain|ignore global query")
_LIMIT: Final = re.compile(r"limit(?: to)? (\d+)(?: tasks?)?")
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
    "description": FieldName(("text",)),
    "path": FieldName(("path",)),
    "folder": Binary("+", FieldName(("file", "folder")), Constant("/")),
    "heading": Call("subpath", FieldName(("section",))),
    "filename": FieldName(("file", "name")),
}
_INCLUDES: Final = re.compile(
    r"(description|path|folder|heading|filename|tags?) (includes?|(?:does|do) not include) (.+)",
    re.IGNORECASE,
)
_PRIORITY: Final = re.compile(rf"priority is (not |above |below )?({'|'.join(TASK_PRIORITIES)})")
_STATUS: Final = re.compile(r"status\.type (is not|is) (todo|done|in_progress|cancelled)")
_RECURS: Final = re.compile(r"is (not )?recurring")
_ORDER: Final = re.compile(r"(sort|group) by ([\w.]+)( reverse)?")
_JOIN: Final = re.compile(r"\s*(AND NOT|OR NOT|AND|OR|XOR)\b", re.IGNORECASE)
_NOT: Final = re.compile(r"\s*NOT\b", re.IGNORECASE)
_STATUS_FIELD: Final = FieldName(("status",))
_TEXT: Final = _TEXTS["description"]
_COMPLETED: Final = FieldName(("completed",))
_CANCELLED: Final = Binary("==", _STATUS_FIELD, Constant("-"))
_UNDER_WAY: Final = Binary("==", _STATUS_FIELD, Constant("/"))


def read_tasks_query(text: str, this: NoteRow | None, now: datetime) -> tuple[View | str, ...]:
    """Read a query. If it cannot be read, return a sentence that names what is not understood.

    Args:
        text: the query.
        this: the note that contains it, or None.
        now: the time from which days such as `tomorrow` are counted.
    """
    try:
        return (_TasksQuery(this, now).read(text),)
    except ViewNotUnderstood as error:
        return (str(error),)


class _TasksQuery:
    def __init__(self, this: NoteRow | None, now: datetime) -> None:
        self._this, self._today = this, now.date()
        self._evaluator = Evaluator("tasks", {}, this, now)
        self._tests: list[Expression] = []
        self._sort: list[Order] = []
        self._groups: list[Order] = []
        self._limit: int | None = None

    def read(self, text: str) -> View:
        if text.count("\n") >= _MOST_LINES:
            raise ViewNotUnderstood("A query with so many lines")
        if len(text) > _MOST_CHARS:
            raise ViewNotUnderstood("A query that long")
        lines = re.sub(r"\\\n\s*", "", text).split("\n")
        for line in map(str.strip, lines):
            if line and not line.startswith("#"):
                self._read_line(self._fill(line))
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
            (*self._sort, Order(FieldName(("due",))), Order(_rank_priority())),
            self._limit,
            self._groups[0] if self._groups else None,
            problems=("Only the first of its groups is shown.",) if self._groups[1:] else (),
        )

    def _fill(self, line: str) -> str:
        """Return a line with the names of the note that contains the query."""

        def name(match: re.Match[str]) -> str:
            if self._this is None or (match[1] or "").lower() not in _FILE_NAMES:
                raise ViewNotUnderstood(match[0])
            return _FILE_NAMES[match[1].lower()](self._this.path)

        return _PLACEHOLDER.sub(name, line)

    def _read_line(self, line: str) -> None:
        low = " ".join(line.lower().split())
        if _LOOK.fullmatch(low):
            return
        if limit := _LIMIT.fullmatch(low):
            self._limit = read_limit(limit[1], "limit")
        elif order := _ORDER.fullmatch(low):
            kind, name, is_reversed = order[1], order[2], bool(order[3])
            orders = self._sort if kind == "sort" else self._groups
            orders.append(Order(_find_order(name, line), is_reversed))
        else:
            self._tests.append(self._read_choice(line, 0))

    def _read_choice(self, text: str, depth: int) -> Expression:
        """Read filters in brackets that are joined with AND, OR, NOT and XOR, or one filter."""
        if depth > _MOST_DEPTH:
            raise ViewNotUnderstood(text)
        inner, end = _cut_part(text)
        is_whole = end == len(text.rstrip())
        if not inner or (is_whole and not _NOT.match(text)):
            return self._read_choice(inner, depth + 1) if inner else self._read_filter(text)
        found, at = self._read_part(text, inner, depth), end
        while at < len(text.rstrip()):
            sign = _JOIN.match(text, at)
            rest = text[sign.end() :] if sign else ""
            inner, end = _cut_part(rest)
            if sign is None or not inner:
                raise ViewNotUnderstood(text)
            found = _join(sign[1].upper(), found, self._read_part(rest, inner, depth))
            at = sign.end() + end
        return found

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
            recurs = Binary("||", _hold(_TEXT, "🔁"), _hold(_TEXT, "[repeat::"))
            return Unary("!", recurs) if match[1] else recurs
        if match := _INCLUDES.fullmatch(" ".join(text.split())):
            field = _TEXTS.get(match[1].lower(), _TEXT)
            is_tag = match[1].lower().startswith("tag")
            wanted = f"#{match[3].lstrip('#')}" if is_tag else match[3]
            holds = _hold(field, wanted)
            return Unary("!", holds) if "not" in match[2].lower() else holds
        if match := _DAY.fullmatch(low):
            return self._read_day(match[1], match[2] or "on", match[3], text)
        raise ViewNotUnderstood(text)

    def _read_day(self, name: str, sign: str, said: str, text: str) -> Expression:
        spans = find_date_spans(said, self._today)
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
    if not text.startswith("(", start):
        return "", 0
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if not depth:
            return text[start + 1 : at].strip(), at + 1
    return "", 0


def _join(sign: str, left: Expression, right: Expression) -> Expression:
    word, _, negation = sign.partition(" ")
    other = Unary("!", right) if negation else right
    if word == "XOR":
        return Binary("!=", Unary("!", left), Unary("!", other))
    return Binary("&&" if word == "AND" else "||", left, other)


def _hold(field: Expression, wanted: str) -> Expression:
    return Call("contains", field, (Constant(wanted),))


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


def _rank_priority() -> Expression:
    """Return what sorts the most urgent tasks first."""
    found: Expression = Constant(None)
    for rank, name in enumerate(TASK_PRIORITIES):
        last = float(len(TASK_PRIORITIES) - rank)
        found = Call("choice", None, (_match_priority(name), Constant(last), found))
    return found


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
    if name in _TEXTS:
        return _TEXTS[name]
    if name in _DAYS:
        return FieldName((_DAYS[name],))
    match name:
        case "backlink":
            return FILE
        case "priority" if line.lower().startswith("sort"):
            return _rank_priority()
        case "priority":
            return FieldName(("priority",))
        case "status":
            return _name_choice(Binary("||", _COMPLETED, _CANCELLED), "Done", "Todo")
        case "status.type":
            open_ = _name_choice(_UNDER_WAY, "In progress", "Todo")
            closed = Call("choice", None, (_CANCELLED, Constant("Cancelled"), open_))
            return Call("choice", None, (_COMPLETED, Constant("Done"), closed))
    raise ViewNotUnderstood(line)


def _name_choice(test: Expression, yes: str, no: str) -> Expression:
    return Call("choice", None, (test, Constant(yes), Constant(no)))
