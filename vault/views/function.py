"""Read the functions in queries of the Tasks plugin: short expressions of JavaScript.

    task.file.folder === query.file.folder        task.due.format("YYYY-MM", "no day")
    task.tags.includes("#a") && !task.isDone      task.heading ?? "none"

Each becomes an expression as in bases. Statements, arrow functions and templates are not read.
"""

import re
from collections.abc import Mapping
from datetime import date
from typing import Final

from vault.errors import ViewNotUnderstood
from vault.views.evaluate import NoteRow
from vault.views.expressions import (
    Binary,
    Call,
    Constant,
    Expression,
    FieldName,
    ListOf,
    Unary,
    parse_expression,
)
from vault.views.task_fields import FILE_NAMES

__all__ = ["name_choice", "read_function"]

_STRINGS: Final = r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\""
_SIGNS: Final = re.compile(rf"(?P<text>{_STRINGS})|===|!==|\?\.")
_PART: Final = re.compile(rf"{_STRINGS}|\?\?|[?:()\[\]]")
_REPLACED: Final = {"===": "==", "!==": "!=", "?.": "."}
_OPENING: Final = "(["
# The methods of JavaScript that are read, each with the least and the most arguments it has.
_METHODS: Final[Mapping[str, tuple[str, int, int]]] = {
    "[]": ("[]", 1, 1),
    "includes": ("includes", 1, 1),
    "join": ("join", 0, 1),
    "length": ("length", 0, 0),
    "replace": ("replacefirst", 2, 2),
    "replaceall": ("replace", 2, 2),
    "reverse": ("reverse", 0, 0),
    "slice": ("slice", 0, 2),
    "split": ("split", 1, 1),
    "substring": ("substring", 1, 2),
    "tofixed": ("tofixed", 0, 1),
    "tolocalelowercase": ("lower", 0, 0),
    "tolocaleuppercase": ("upper", 0, 0),
    "tolowercase": ("lower", 0, 0),
    "tostring": ("tostring", 0, 0),
    "touppercase": ("upper", 0, 0),
    "trim": ("trim", 0, 0),
}
_DAYS: Final = {
    "due": FieldName(("due",)),
    "scheduled": FieldName(("scheduled",)),
    "start": FieldName(("start",)),
    "created": FieldName(("created",)),
    "done": FieldName(("completion",)),
    "happens": FieldName(("happens",)),
}
_FORMATS: Final = {"formatasdate": "YYYY-MM-DD", "formatasdateandtime": "YYYY-MM-DD HH:mm"}
_MOST_DEPTH: Final = 20


def name_choice(test: Expression, yes: str, no: str) -> Expression:
    """Return an expression that is one of two texts."""
    return Call("choice", None, (test, Constant(yes), Constant(no)))


def read_function(text: str, this: NoteRow | None, today: date) -> Expression:
    """Read a function as an expression.

    Args:
        text: the function, with or without `return`.
        this: the note that contains the query, or None.
        today: the present day.

    Raises:
        ViewNotUnderstood: the text is more than one expression, or something in it is not known.
    """
    bare = text.strip().removesuffix(";").strip()
    bare = bare.removeprefix("return ").strip()
    return _Function(this, today).read(bare, 0)


class _Function:
    def __init__(self, this: NoteRow | None, today: date) -> None:
        self._this, self._today = this, today

    def read(self, text: str, depth: int) -> Expression:
        if depth > _MOST_DEPTH:
            raise ViewNotUnderstood(text)
        if (place := _find_sign(text, "?")) >= 0:
            colon = _find_sign(text[place + 1 :], ":")
            if colon < 0:
                raise ViewNotUnderstood(text)
            rest = text[place + 1 :]
            parts = (text[:place], rest[:colon], rest[colon + 1 :])
            return Call("choice", None, tuple(self.read(part, depth + 1) for part in parts))
        if (place := _find_sign(text, "??")) >= 0:
            other = self.read(text[place + 2 :], depth + 1)
            return Call("default", self.read(text[:place], depth + 1), (other,))
        return self._translate(parse_expression(_SIGNS.sub(_replace_sign, text)))

    def _translate(self, one: Expression) -> Expression:
        match one:
            case Constant():
                return one
            case FieldName(parts=parts):
                return self._find_field(parts)
            case Unary(sign=sign, value=value):
                return Unary(sign, self._translate(value))
            case Binary(sign=sign, left=left, right=right):
                return Binary(sign, self._translate(left), self._translate(right))
            case ListOf(values=values):
                return ListOf(tuple(map(self._translate, values)))
            case Call(name=name, target=target, arguments=arguments) if target is not None:
                return self._translate_call(name, target, arguments)
        raise ViewNotUnderstood(str(one))

    def _translate_call(
        self, name: str, target: Expression, arguments: tuple[Expression, ...]
    ) -> Expression:
        match target:
            case FieldName(parts=("task" | "query" as owner, "file")):
                return self._read_property(owner, name, arguments)
            case FieldName(parts=("task", day)) if day in _DAYS:
                return self._format_day(_DAYS[day], name, arguments)
        return _call_method(self._translate(target), name, tuple(map(self._translate, arguments)))

    def _read_property(
        self, owner: str, name: str, arguments: tuple[Expression, ...]
    ) -> Expression:
        """Return the property of the file of a task, or of the one that contains the query."""
        match name, arguments:
            case "property", (Constant(value=str() as key),):
                return FieldName(("this", key) if owner == "query" else ("note", key))
            case "hasproperty", (Constant(value=str() as key),):
                if owner == "task":
                    return Call("hasproperty", None, arguments)
                return Binary("!=", FieldName(("this", key)), Constant(None))
        raise ViewNotUnderstood(f"{owner}.file.{name}()")

    def _format_day(
        self, day: FieldName, name: str, arguments: tuple[Expression, ...]
    ) -> Expression:
        pattern: Expression | None = Constant(_FORMATS[name]) if name in _FORMATS else None
        rest = arguments
        if name == "format" and arguments:
            pattern, rest = arguments[0], arguments[1:]
        if pattern is None:
            raise ViewNotUnderstood(f"{day}.{name}()")
        other = rest[0] if rest else Constant("")
        return Call("choice", None, (day, Call("format", day, (pattern,)), other))

    def _find_field(self, parts: tuple[str, ...]) -> Expression:
        *owner, last = parts
        if last == "length" and owner:
            return Call("length", self._find_field(tuple(owner)))
        match parts:
            case ("query", "file", name) if name.lower() in FILE_NAMES and self._this is not None:
                return Constant(FILE_NAMES[name.lower()](self._this.path))
            case ("task", "file", name) if name.lower() in FILE_NAMES:
                return FieldName((name.lower(),))
            case ("task", day, "moment") if day in _DAYS:
                return _DAYS[day]
            case ("task", day, "category", "groupText") if day in _DAYS:
                return self._name_category(_DAYS[day])
            case ("task", *names) if ".".join(names) in _FIELDS:
                return _FIELDS[".".join(names)]
        raise ViewNotUnderstood(".".join(parts))

    def _name_category(self, day: FieldName) -> Expression:
        today = Call("date", None, (Constant(self._today.isoformat()),))
        later = name_choice(Binary("==", day, today), "Today", "Future")
        known = Call("choice", None, (Binary("<", day, today), Constant("Overdue"), later))
        return Call("choice", None, (day, known, Constant("Undated")))


def _call_method(target: Expression, name: str, arguments: tuple[Expression, ...]) -> Expression:
    """Return the call of a method of JavaScript.

    Raises:
        ViewNotUnderstood: it is not known, or not with such arguments.
    """
    match name, arguments:
        case "startswith" | "endswith", (Constant(value=str() as text),) if text:
            ends = (0.0, float(len(text))) if name == "startswith" else (-float(len(text)),)
            return Binary("==", Call("slice", target, tuple(map(Constant, ends))), arguments[0])
        case "join", ():
            arguments = (Constant(","),)
    method, least, most = _METHODS.get(name, ("", 1, 0))
    if not least <= len(arguments) <= most:
        raise ViewNotUnderstood(f"{name}()")
    return Call(method, target, arguments)


_STATUS: Final = FieldName(("status",))
_COMPLETED: Final = FieldName(("completed",))
_CANCELLED: Final = Binary("==", _STATUS, Constant("-"))


def _name_status(done: str, cancelled: str, under_way: str, open_: str) -> Expression:
    still = name_choice(Binary("==", _STATUS, Constant("/")), under_way, open_)
    closed = Call("choice", None, (_CANCELLED, Constant(cancelled), still))
    return Call("choice", None, (_COMPLETED, Constant(done), closed))


_FIELDS: Final[Mapping[str, Expression]] = {
    **{
        name: FieldName((name,))
        for name in ("description", "descriptionWithoutTags", "tags", "id", "dependsOn", "heading")
    },
    **{name: FieldName((name,)) for name in ("lineNumber", "urgency", "priorityNumber")},
    "file.tags": FieldName(("file", "tags")),
    "file.outlinks": FieldName(("file", "links")),
    "hasHeading": Binary("!=", FieldName(("heading",)), Constant(None)),
    "isDone": Binary("||", _COMPLETED, _CANCELLED),
    "isRecurring": Binary("!=", FieldName(("recurrence",)), Constant("")),
    "recurrenceRule": FieldName(("recurrence",)),
    "outlinks": FieldName(("outlinks",)),
    "priorityName": FieldName(("priorityName",)),
    "status.symbol": _STATUS,
    "status.name": _name_status("Done", "Cancelled", "In Progress", "Todo"),
    "status.type": _name_status("DONE", "CANCELLED", "IN_PROGRESS", "TODO"),
    "status.nextSymbol": name_choice(Binary("||", _COMPLETED, _CANCELLED), " ", "x"),
}


def _replace_sign(found: re.Match[str]) -> str:
    return found[0] if found["text"] is not None else _REPLACED[found[0]]


def _find_sign(text: str, sign: str) -> int:
    """Return where a sign is outside of brackets and strings, or -1. A `?` within is skipped."""
    depth = inner = 0
    for found in _PART.finditer(text):
        part = found[0]
        depth += (part in _OPENING) - (part in ")]") if len(part) == 1 else 0
        if depth:
            continue
        is_optional = part == "?" and text.startswith("?.", found.start())
        if part == sign and not inner and not is_optional:
            return found.start()
        if sign == ":":
            inner += (part == "?" and not is_optional) - (part == ":")
    return -1
