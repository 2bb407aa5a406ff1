"""Evaluate expressions for one note: its properties, the fields of its file and formulas.

Only what is in the index is read. `Evaluator.check` names what is not understood before any note
is looked at, so that a result never depends on which notes there are.
"""

import math
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import partial
from itertools import chain, islice
from pathlib import Path
from time import thread_time
from typing import Any, Final

from resources.system.calls import read_creation_s
from vault.errors import ViewNotUnderstood, ViewTooLong
from vault.notes.amounts import DecimalMark
from vault.notes.keywords import fold
from vault.notes.kinds import drop_note_suffix
from vault.notes.note import Note, TaskItem
from vault.notes.properties import normalize_name
from vault.notes.tasks import TASK_DAYS, TaskDay
from vault.views.expressions import (
    Binary,
    Call,
    Constant,
    Dialect,
    Expression,
    FieldName,
    LinkValue,
    ListOf,
    Unary,
    list_inner,
)
from vault.views.task_fields import (
    FILE_NAMES,
    TASK_READERS,
    TaskGraph,
    match_pattern,
    measure_urgency,
    read_depended_ids,
    read_id,
)
from vault.views.values import (
    Duration,
    Value,
    add_values,
    are_equal,
    compare_order,
    compute_numbers,
    format_day,
    is_true,
    join_texts,
    parse_day,
    parse_duration,
    read_property,
    sort_key,
    write_value,
)

__all__ = ["TASK_FIELDS", "Evaluator", "NoteRow"]

_MOST_DEPTH: Final = 60
# For a view, since formulas can use each other many times. This takes a few seconds.
_MOST_STEPS: Final = 3_000_000
# For a view, since a regular expression may take long in each task.
_MOST_MATCHING_S: Final = 2.0
_CHARS_OF_A_STEP: Final = 32
_CHARS_OF_OTHERS: Final = 8  # of values that are neither texts nor lists
_MOST_TEXT_CHARS: Final = 2_000
_MOST_ITEMS: Final = 2_000
_MOST_DIGITS: Final = 20


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A note as the index has it, or a task in it.

    Attributes:
        note: the note, without its text.
        size: the size of the file in bytes.
        changed: the time of the last change, in local time.
        task: the task, or None for a note.
        section: the heading above the task, or an empty string.
        root: the folder of the vault, or None if no file is read.
        graph: which tasks wait for others, if that is asked for.
    """

    note: Note
    size: int = 0
    changed: datetime = datetime.min
    task: TaskItem | None = None
    section: str = ""
    root: Path | None = None
    graph: TaskGraph | None = None

    @property
    def created(self) -> datetime | None:
        """The time at which the file was created, in local time, or None if it is unknown."""
        seconds = None if self.root is None else read_creation_s(self.root / self.path)
        return None if seconds is None else datetime.fromtimestamp(max(seconds, 0.0))

    @property
    def path(self) -> str:
        """The path of the note."""
        return self.note.path

    @property
    def line(self) -> int:
        """The line of the task, or 0 for a note."""
        return 0 if self.task is None else self.task.line

    @property
    def link(self) -> LinkValue:
        """A link to the note by its path, shown by its name."""
        return LinkValue(self.path, drop_note_suffix(posixpath.basename(self.path)))


def _measure(value: Value) -> int:
    """Return about how many characters a value has."""
    if isinstance(value, tuple):
        return sum(map(_measure, value))
    return len(value) if isinstance(value, str) else _CHARS_OF_OTHERS


def _estimate_work(values: Sequence[Value]) -> int:
    """Return how many characters a function reads at most, which may look for each in the first."""
    if not values:
        return 0
    wanted = sum(len(one) if isinstance(one, tuple) else 1 for one in values[1:])
    return _measure(values[0]) * max(1, wanted)


def _join_words(name: str) -> str:
    """Return the name of a property as Dataview compares it, with `-` for spaces."""
    return "-".join(name.split())


def _check_expression(
    expression: Expression,
    dialect: Dialect,
    formulas: Mapping[str, Expression],
    *,
    is_of_tasks: bool,
) -> None:
    _check_depth(expression, formulas)
    for one in list_inner(expression):
        match one:
            case Call(name=name) if not _is_function(name, dialect):
                raise ViewNotUnderstood(f"The function {name}()")
            case Call(name="date", target=None, arguments=(FieldName(parts=(word,)),)):
                if word.lower() not in _DAYS and dialect == "dataview":
                    _check_field((word,), dialect, formulas, is_of_tasks=is_of_tasks)
            case FieldName(parts=parts):
                _check_field(parts, dialect, formulas, is_of_tasks=is_of_tasks)


def _is_function(name: str, dialect: Dialect) -> bool:
    is_known = name in _METHODS or name in _LAZY
    return is_known and (name not in _PLUGIN_METHODS or dialect == "tasks")


def _check_depth(expression: Expression, formulas: Mapping[str, Expression]) -> None:
    """Check that an expression, with the formulas in it, is not deeper than can be evaluated."""
    depths, waiting = dict[str, int](), [(expression, 1)]
    while waiting:
        one, depth = waiting.pop()
        if depth > _MOST_DEPTH:
            raise ViewNotUnderstood("An expression so deep")
        waiting += [(inner, depth + is_deeper) for inner, is_deeper in _list_below(one)]
        match one:
            case FieldName(parts=("formula", name, *_)) if depths.get(name, 0) < depth:
                depths[name] = depth
                waiting += [(formulas[name], depth + 1)] if name in formulas else []


def _list_below(expression: Expression) -> Iterator[tuple[Expression, bool]]:
    """Yield the parts of an expression, and whether each is evaluated within it.

    The first operands of `a + b + c` are evaluated one after the other.
    """
    match expression:
        case Call(target=target, arguments=arguments):
            yield from ((one, True) for one in (target, *arguments) if one is not None)
        case Unary(value=value):
            yield value, True
        case Binary(left=left, right=right):
            yield left, not isinstance(left, Binary)
            yield right, True
        case ListOf(values=values):
            yield from ((one, True) for one in values)


def _check_field(
    parts: tuple[str, ...],
    dialect: Dialect,
    formulas: Mapping[str, Expression],
    *,
    is_of_tasks: bool,
) -> None:
    own = parts[1:] if parts[0] == "this" and len(parts) > 1 else parts
    match own:
        case ("file", name, *_) if name not in _FILE[dialect]:
            raise ViewNotUnderstood(f"file.{name}")
        case ("formula", *names) if not names or names[0] not in formulas:
            raise ViewNotUnderstood(".".join(parts))
        case (name,) if is_of_tasks and name in _UNKNOWN_OF_TASKS and dialect == "dataview":
            raise ViewNotUnderstood(name)


class Evaluator:
    """Evaluates expressions for notes.

    Args:
        dialect: the language of the expressions.
        formulas: the formulas of a base, by name.
        this: the note that contains the base or query, or None.
        now: the time that `now()` and `today()` stand for, in local time.
        find_mark: returns the decimal mark of the values of a property, by its name.
    """

    def __init__(
        self,
        dialect: Dialect,
        formulas: Mapping[str, Expression],
        this: NoteRow | None,
        now: datetime,
        find_mark: Callable[[str], DecimalMark] = lambda _name: "",
    ) -> None:
        self._find_mark = find_mark
        self._dialect, self._formulas = dialect, formulas
        self._this, self._now = this, now
        self._steps = 0
        self._matching_s = 0.0

    def check(self, expression: Expression, *, is_of_tasks: bool = False) -> None:
        """Check that all functions and fields in an expression are known, and so is `this`.

        Raises:
            ViewNotUnderstood: one of them is not, the expression is too deep, or a formula uses
                itself.
        """
        _check_expression(expression, self._dialect, self._formulas, is_of_tasks=is_of_tasks)
        if self._this is None and self._uses_this(expression):
            raise ViewNotUnderstood('"this" outside of an indexed note')

    def _uses_this(self, expression: Expression) -> bool:
        """Return whether an expression, or a formula in it, names the note around it."""
        waiting, seen = [expression], set[str]()
        while waiting:
            for one in list_inner(waiting.pop()):
                match one:
                    case FieldName(parts=("this", *_)):
                        return True
                    case FieldName(parts=("formula", name, *_)) if name not in seen:
                        seen.add(name)
                        waiting += [self._formulas[name]] if name in self._formulas else []
        return False

    def evaluate(self, expression: Expression, row: NoteRow | None) -> Value:
        """Return the value of an expression for a note, or nothing if it cannot be computed.

        Raises:
            ViewTooLong: all evaluations together have taken too many steps.
        """
        found = self._evaluate(expression, row)
        size = len(found) if isinstance(found, str | tuple) else 0
        self._add_steps(1 + size // _CHARS_OF_A_STEP)
        return found

    def _add_steps(self, steps: int) -> None:
        self._steps += steps
        if self._steps > _MOST_STEPS:
            raise ViewTooLong

    def evaluate_constant(self, expression: Expression) -> tuple[Value, bool]:
        """Return the value of an expression and True if it is the same for all notes."""
        for one in list_inner(expression):
            match one:
                case FieldName(parts=("this", *_)):
                    continue
                case FieldName(parts=(word,)) if word.lower() in _DAYS:
                    continue  # in `date(today)`
                case FieldName() | Call(name="haslink" | "hastag" | "infolder" | "hasproperty"):
                    return None, False
        return self.evaluate(expression, None), True

    def _evaluate(self, expression: Expression, row: NoteRow | None) -> Value:
        match expression:
            case Constant(value=value):
                return value
            case FieldName(parts=parts):
                return self._read(parts, row)
            case ListOf(values=values):
                return tuple(self.evaluate(value, row) for value in values)
            case Unary(sign=sign, value=value):
                inner = self.evaluate(value, row)
                return not is_true(inner) if sign == "!" else compute_numbers("-", 0.0, inner)
            case Binary():
                return self._compute(expression, row)
            case Call():
                return self._call(expression, row)

    def _compute(self, expression: Binary, row: NoteRow | None) -> Value:
        """Compute an operation, of which the left side may be a long row of others."""
        operations = [expression]
        while isinstance(operations[-1].left, Binary):
            operations.append(operations[-1].left)
        found = self.evaluate(operations[-1].left, row)
        for operation in reversed(operations):
            found = self._operate(operation.sign, found, operation.right, row)
            self._add_steps(1)
        return found

    def _operate(self, sign: str, left: Value, other: Expression, row: NoteRow | None) -> Value:
        if sign in ("&&", "||"):
            is_decided = is_true(left) == (sign == "||")
            chosen = left if is_decided else self.evaluate(other, row)
            return chosen if self._dialect == "tasks" else is_true(chosen)
        right = self.evaluate(other, row)
        self._add_steps(min(_measure(left), _measure(right)) // _CHARS_OF_A_STEP)
        match sign:
            case "==":
                return self._are_equal(left, right)
            case "!=":
                return not self._are_equal(left, right)
            case "+":
                return add_values(left, right)
            case "-" | "*" | "/" | "%":
                return compute_numbers(sign, left, right)
        order = compare_order(left, right)
        if order is None:
            return False
        signs = {"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}
        return signs[sign]

    def _are_equal(self, left: Value, right: Value) -> bool:
        """Return whether two values are equal. In JavaScript, the case of texts counts."""
        if self._dialect == "tasks" and isinstance(left, str) and isinstance(right, str):
            return left == right
        return are_equal(left, right)

    def _read(self, parts: tuple[str, ...], row: NoteRow | None) -> Value:
        if parts[0] == "this":
            own = parts[1:] or ("file",)
            return None if self._this is None else self._read(own, self._this)
        if row is None:
            return None
        match parts:
            case ("file",):
                return row.link
            case ("file", name, *rest):
                found = _FILE[self._dialect][name](row) if name in _FILE[self._dialect] else None
            case ("formula", name, *rest):
                formula = self._formulas.get(name)
                found = None if formula is None else self.evaluate(formula, row)
            case ("note", *names) if names:
                found, rest = self._read_within(names, row)
            case (name, *rest):
                found, is_of_task = self._read_of_task(name, row)
                is_of_note = name in _OF_NOTE_TOO and self._dialect == "dataview"
                if not is_of_task or (found is None and is_of_note):
                    found, rest = self._read_within(parts, row)
        for attribute in rest:
            found = _apply(attribute.lower(), [found])
        return found

    def _read_of_task(self, name: str, row: NoteRow) -> tuple[Value, bool]:
        """Return a field of the task of a row, and whether it is one."""
        task, is_plugin = row.task, self._dialect == "tasks"
        if task is not None and name == "urgency" and is_plugin:
            return measure_urgency(task, self._now.date()), True
        fields = _PLUGIN if is_plugin else _TASK
        return (
            (None, False) if task is None or name not in fields else (fields[name](row, task), True)
        )

    def _read_within(self, names: Sequence[str], row: NoteRow) -> tuple[Value, list[str]]:
        """Return the value of the property with the most of the names, and the names left over.

        `project.name` is a property within `project`, or else the attribute `name` of its value.
        """
        for end in range(len(names), 1, -1):
            found = self._read_property(".".join(names[:end]), row)
            if found is not None:
                return found, list(names[end:])
        return self._read_property(names[0], row), list(names[1:])

    def _read_property(self, name: str, row: NoteRow) -> Value:
        name = normalize_name(name)
        texts = row.note.properties.get(name)
        if texts is None and self._dialect == "dataview":
            wanted = _join_words(name)
            same = (each for each in row.note.properties if _join_words(each) == wanted)
            texts = row.note.properties.get(next(same, ""))
        return read_property(texts or (), partial(self._find_mark, name))

    def _call(self, call: Call, row: NoteRow | None) -> Value:
        if call.name in ("if", "choice"):
            others = (*call.arguments[1:], Constant(None), Constant(None))
            is_met = bool(call.arguments) and is_true(self.evaluate(call.arguments[0], row))
            return self.evaluate(others[not is_met], row)
        if call.name in ("today", "now"):
            return self._now.date() if call.name == "today" else self._now
        if call.name == "date" and call.target is None:
            return self._read_date(call, row)
        arguments = [self.evaluate(each, row) for each in call.arguments]
        if call.name in _FILE_METHODS:
            method = _FILE_METHODS[call.name]
            self._add_steps(_measure(tuple(arguments)) // _CHARS_OF_A_STEP)
            return row is not None and _call_safely(method, row, *arguments) is True
        if call.target is not None:
            arguments.insert(0, self.evaluate(call.target, row))
        self._add_steps(_estimate_work(arguments) // _CHARS_OF_A_STEP)
        return self._match(arguments) if call.name == "matches" else _apply(call.name, arguments)

    def _match(self, arguments: Sequence[Value]) -> Value:
        """Search with a regular expression, unless all searches together have taken too long."""
        begin = thread_time()
        found = _apply("matches", arguments)
        self._matching_s += thread_time() - begin
        if self._matching_s > _MOST_MATCHING_S:
            raise ViewTooLong
        return found

    def _read_date(self, call: Call, row: NoteRow | None) -> Value:
        match call.arguments:
            case (FieldName(parts=(word,)),) if word.lower() in _DAYS:
                return _DAYS[word.lower()](self._now)
            case (one, *_):
                value = self.evaluate(one, row)
                text = value.target if isinstance(value, LinkValue) else value
                return parse_day(text) if isinstance(text, str) else text
        return None


def _apply(name: str, arguments: Sequence[Value]) -> Value:
    """Call a method, whose first argument is its target. If they do not fit, return nothing."""
    method = _METHODS.get(name)
    return None if method is None else _call_safely(method, *arguments)


def _call_safely(method: Callable[..., Value], *arguments: Any) -> Value:
    """Call a method, and cut off what it returns, since formulas can use each other's results."""
    try:
        found = method(*arguments)
    except (TypeError, ValueError, OverflowError, AttributeError):
        return None
    if isinstance(found, LinkValue):
        return found
    if isinstance(found, str):
        return found[:_MOST_TEXT_CHARS]
    return found[:_MOST_ITEMS] if isinstance(found, tuple) else found


def _start_month(day: date, months: int = 0) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, 1)


_DAYS: Final[Mapping[str, Callable[[datetime], Value]]] = {
    "today": lambda now: now.date(),
    "now": lambda now: now,
    "tomorrow": lambda now: now.date() + timedelta(days=1),
    "yesterday": lambda now: now.date() - timedelta(days=1),
    "sow": lambda now: now.date() - timedelta(days=now.weekday()),
    "eow": lambda now: now.date() + timedelta(days=6 - now.weekday()),
    "som": _start_month,
    "eom": lambda now: _start_month(now, 1) - timedelta(days=1),
    "soy": lambda now: date(now.year, 1, 1),
    "eoy": lambda now: date(now.year, 12, 31),
}


def _list_targets(row: NoteRow) -> Sequence[str]:
    return list(dict.fromkeys(link.target for link in row.note.links))


def _list_tags(row: NoteRow) -> Value:
    return tuple(f"#{tag}" for tag in row.note.tags)


_FOR_ALL: Final[Mapping[str, Callable[[NoteRow], Value]]] = {
    "path": lambda row: row.path,
    "folder": lambda row: posixpath.dirname(row.path),
    "ext": lambda row: posixpath.splitext(row.path)[1].removeprefix("."),
    "size": lambda row: float(row.size),
    "mtime": lambda row: row.changed,
    "ctime": lambda row: row.created,
    "tags": _list_tags,
}
_FILE: Final[Mapping[Dialect, Mapping[str, Callable[[NoteRow], Value]]]] = {
    "base": {
        **_FOR_ALL,
        "folder": lambda row: posixpath.dirname(row.path) or "/",
        "name": lambda row: posixpath.basename(row.path),
        "basename": lambda row: posixpath.splitext(posixpath.basename(row.path))[0],
        "file": lambda row: row.link,
        "links": lambda row: tuple(map(LinkValue, _list_targets(row))),
    },
    "dataview": {
        **_FOR_ALL,
        "name": lambda row: posixpath.splitext(posixpath.basename(row.path))[0],
        "link": lambda row: row.link,
        "mday": lambda row: row.changed.date(),
        "cday": lambda row: None if row.created is None else row.created.date(),
        "etags": _list_tags,
        "outlinks": lambda row: tuple(map(LinkValue, _list_targets(row))),
        "aliases": lambda row: row.note.properties.get("aliases", ()),
    },
    "tasks": {
        **_FOR_ALL,
        "name": lambda row: posixpath.basename(row.path),
        "links": lambda row: tuple(map(LinkValue, _list_targets(row))),
    },
}


def _build_day_reader(kind: TaskDay) -> Callable[[NoteRow, TaskItem], Value]:
    return lambda _row, task: task.find_day(kind)


_TASK: Final[Mapping[str, Callable[[NoteRow, TaskItem], Value]]] = {
    "text": lambda _row, task: task.text,
    "status": lambda _row, task: task.status,
    "completed": lambda _row, task: task.is_of_kind("done"),
    "fullyCompleted": lambda _row, task: task.is_of_kind("done"),
    "checked": lambda _row, task: task.status != " ",
    "line": lambda _row, task: float(task.line),
    "path": lambda row, _task: row.path,
    "link": lambda row, _task: row.link,
    "section": lambda row, _task: LinkValue(row.section),
    "task": lambda _row, _task: True,
    "priority": lambda _row, task: None if task.priority == "none" else task.priority,
    **{kind: _build_day_reader(kind) for kind in TASK_DAYS},
}
TASK_FIELDS: Final = frozenset(_TASK)


def _read_with(read: Callable[[TaskItem], Value]) -> Callable[[NoteRow, TaskItem], Value]:
    return lambda _row, task: read(task)


def _read_path(read: Callable[[str], str]) -> Callable[[NoteRow, TaskItem], Value]:
    return lambda row, _task: read(row.path)


def _is_blocked(row: NoteRow, task: TaskItem) -> bool:
    """Return whether an open task waits for another open one."""
    ids = row.graph.open_ids if row.graph is not None and task.is_of_kind("open") else ()
    return any(one in ids for one in read_depended_ids(task))


def _is_blocking(row: NoteRow, task: TaskItem) -> bool:
    """Return whether another open task waits for an open one."""
    ids = row.graph.needed_ids if row.graph is not None and task.is_of_kind("open") else ()
    return read_id(task) in ids


# The fields of tasks in queries of the Tasks plugin.
_PLUGIN: Final[Mapping[str, Callable[[NoteRow, TaskItem], Value]]] = {
    **_TASK,
    **{name: _read_with(read) for name, read in TASK_READERS.items()},
    **{name: _read_path(read) for name, read in FILE_NAMES.items()},
    "heading": lambda row, _task: row.section or None,
    "isBlocked": _is_blocked,
    "isBlocking": _is_blocking,
}
# As in Dataview, a day or priority that a task does not have is that of its note.
_OF_NOTE_TOO: Final = frozenset(("priority", *TASK_DAYS))
_UNKNOWN_OF_TASKS: Final = frozenset(("children", "parent", "visual", "tags", "outlinks"))


def _as_list(value: Value) -> tuple[Any, ...]:
    if isinstance(value, tuple) and not isinstance(value, LinkValue):
        return value
    return () if value is None else (value,)


def _join_lists(*values: Value) -> tuple[Any, ...]:
    return tuple(islice(chain.from_iterable(map(_as_list, values)), _MOST_ITEMS))


def _contains(value: Value, *wanted: Value) -> bool:
    return bool(wanted) and all(_holds(value, each) for each in wanted)


def _holds(value: Value, wanted: Value) -> bool:
    if isinstance(value, tuple) and not isinstance(value, LinkValue):
        return any(are_equal(each, wanted) or _holds_text(each, wanted) for each in value)
    return are_equal(value, wanted) or _holds_text(value, wanted)


def _holds_text(value: Value, wanted: Value) -> bool:
    is_text = isinstance(value, str | LinkValue) and wanted not in (None, "")
    return is_text and fold(_to_text(wanted)) in fold(_to_text(value))


def _to_text(value: Value) -> str:
    text = value.target if isinstance(value, LinkValue) else write_value(value)
    return text[:_MOST_TEXT_CHARS]


def _measure_length(value: Value) -> float:
    if isinstance(value, tuple) and not isinstance(value, LinkValue):
        return float(len(value))
    return float(len(_to_text(value)))


def _round(value: Any, digits: float = 0) -> float:
    scale = 10.0 ** _limit_digits(digits)  # a text or list is not repeated by it
    return float(math.floor(value * scale + 0.5) / scale)


def _replace(value: Value, old: Value, new: Value) -> str:
    shown = _to_text(new)
    return _to_text(value).replace(_to_text(old), shown, _MOST_TEXT_CHARS // max(1, len(shown)))


def _limit_digits(digits: float) -> int:
    return max(0, min(int(digits), _MOST_DIGITS))


def _format(value: Value, pattern: str = "") -> str:
    return format_day(value, pattern) if isinstance(value, date) else write_value(value)


def _slice(value: Any, start: float = 0, end: float | None = None) -> Value:
    found = value[int(start) : None if end is None else int(end)]
    return found if isinstance(found, str | tuple) else None


def _cut_out(value: Any, start: float, end: float | None = None) -> Value:
    """Return the text between two places, as in JavaScript, where those may be in any order."""
    last = len(value) if end is None else max(0, int(end))
    return _slice(value, *sorted((max(0, int(start)), last)))


def _read_number(value: Value) -> Value:
    found = read_property((value,)) if isinstance(value, str) else value
    return float(found) if isinstance(found, bool | int | float) else None


def _read_duration(value: Value) -> Duration | None:
    return parse_duration(value) if isinstance(value, str) else None


def _make_link(target: Value, label: Value = None) -> LinkValue:
    known = target if isinstance(target, LinkValue) else LinkValue(write_value(target))
    return known if label is None else LinkValue(known.target, write_value(label))


def _get(value: Any, index: Any) -> Value:
    place = int(index)
    return value[place] if 0 <= place < len(value) else None


def _choose(pick: Callable[..., Any], values: tuple[Value, ...]) -> Value:
    numbers = [each for value in values for each in _as_list(value) if isinstance(each, float)]
    return pick(numbers) if numbers else None


_METHODS: Final[Mapping[str, Callable[..., Value]]] = {
    "contains": _contains,
    "icontains": _contains,
    "econtains": lambda value, wanted: any(are_equal(one, wanted) for one in _as_list(value)),
    "containsall": _contains,
    "containsany": lambda value, *wanted: any(_holds(value, each) for each in wanted),
    "startswith": lambda value, start: fold(_to_text(value)).startswith(fold(_to_text(start))),
    "endswith": lambda value, end: fold(_to_text(value)).endswith(fold(_to_text(end))),
    "includes": lambda value, wanted: value is not None and wanted in value,
    "matches": match_pattern,
    "replacefirst": lambda value, old, new: _to_text(value).replace(
        _to_text(old), _to_text(new), 1
    ),
    "sort": lambda value: tuple(sorted(_as_list(value), key=sort_key)),
    "isempty": lambda value: value in (None, "", ()),
    "istruthy": is_true,
    "lower": lambda value: _to_text(value).lower(),
    "upper": lambda value: _to_text(value).upper(),
    "title": lambda value: _to_text(value).title(),
    "trim": lambda value: _to_text(value).strip(),
    "replace": _replace,
    "split": lambda value, mark: tuple(_to_text(value).split(_to_text(mark))),
    "slice": _slice,
    "substring": _cut_out,
    "length": _measure_length,
    "tostring": write_value,
    "string": write_value,
    "join": lambda value, mark=", ": join_texts(_as_list(value), _to_text(mark)),
    "unique": lambda value: tuple(dict.fromkeys(_as_list(value))),
    "reverse": lambda value: value[::-1] if isinstance(value, str) else _as_list(value)[::-1],
    "list": _join_lists,
    "array": _join_lists,
    "[]": _get,
    "tofixed": lambda value, digits=0: f"{_round(value, digits):.{_limit_digits(digits)}f}",
    "round": _round,
    "floor": lambda value: float(math.floor(value)),
    "ceil": lambda value: float(math.ceil(value)),
    "abs": abs,
    "number": _read_number,
    "min": lambda *values: _choose(min, values),
    "max": lambda *values: _choose(max, values),
    "sum": lambda *values: _choose(sum, values),
    "average": lambda *values: _choose(lambda found: sum(found) / len(found), values),
    "default": lambda value, other: other if value is None else value,
    "duration": _read_duration,
    "format": _format,
    "dateformat": _format,
    "date": lambda value: value.date() if isinstance(value, datetime) else value,
    "time": lambda value: value.strftime("%H:%M:%S"),
    "year": lambda value: float(value.year),
    "month": lambda value: float(value.month),
    "day": lambda value: float(value.day),
    "hour": lambda value: float(value.hour),
    "minute": lambda value: float(value.minute),
    "days": lambda value: value.seconds / 86_400,
    "link": _make_link,
    "meta": lambda value: value if isinstance(value, LinkValue) else None,
    "subpath": lambda value: value.target,
    "aslink": lambda value, label=None: _make_link(value, label),
}


def _has_link(row: NoteRow, wanted: Value) -> bool:
    name = fold(drop_note_suffix(_to_text(wanted)))
    short = name.rpartition("/")[2]
    return any(fold(drop_note_suffix(each)) in (name, short) for each in _list_targets(row))


def _has_tag(row: NoteRow, *wanted: Value) -> bool:
    starts = [f"{fold(_to_text(each)).lstrip('#')}/" for each in wanted]
    return any(f"{fold(tag)}/".startswith(start) for tag in row.note.tags for start in starts)


def _is_in_folder(row: NoteRow, folder: Value) -> bool:
    start = fold(_to_text(folder)).strip("/")
    return not start or fold(row.path).startswith(f"{start}/")


_FILE_METHODS: Final[Mapping[str, Callable[..., Value]]] = {
    "hastag": _has_tag,
    "infolder": _is_in_folder,
    "haslink": _has_link,
    "hasproperty": lambda row, name: normalize_name(_to_text(name)) in row.note.properties,
}
# The functions that only queries of the Tasks plugin have.
_PLUGIN_METHODS: Final = frozenset(("includes", "matches", "replacefirst"))
_LAZY: Final = frozenset((*_FILE_METHODS, "if", "choice", "today", "now", "date"))
