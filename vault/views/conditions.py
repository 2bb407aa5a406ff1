"""Read the filter of a base or query as conditions of the query language.

    file.hasTag("book") && (rating >= 4 || file.inFolder("Old"))
    →  tag:book  [rating:>=4] OR folder:/Old

The filter becomes clauses that all hold, of which each is a choice of conditions, as in a `Query`.
What the query language cannot say, such as a formula, becomes a `RowTest`, which is evaluated for
each note.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from math import isfinite
from typing import Final

from vault.errors import ViewNotUnderstood
from vault.notes.properties import normalize_name
from vault.search.conditions import ANY_VALUE, Comparison, Condition
from vault.search.query import parse_query
from vault.views.evaluate import Evaluator
from vault.views.expressions import (
    Binary,
    Call,
    Constant,
    Dialect,
    Expression,
    FieldName,
    LinkValue,
    Unary,
)
from vault.views.values import Value, write_value

__all__ = ["Clause", "RowTest", "choose_clauses", "expand_formulas", "read_conditions"]

_MOST_CLAUSES: Final = 200
_MOST_EXPANDED: Final = 2_000
_SIGNS: Final[dict[str, Comparison]] = {
    "==": "=",
    "!=": "!=",
    "<": "<",
    "<=": "<=",
    ">": ">",
    ">=": ">=",
}
# The comparisons when the sides are exchanged.
_MIRRORED: Final[dict[str, Comparison]] = {
    "==": "=",
    "!=": "!=",
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
}
_TAGS: Final = (("file", "tags"), ("file", "etags"), ("tags",), ("note", "tags"))
_LINKS: Final = (("file", "links"), ("file", "outlinks"))
# The fields of files that conditions know, by what each language calls them.
_FILE_FIELDS: Final = {
    "base": ("path", "name", "basename", "folder", "ext", "size", "mtime"),
    "dataview": ("path", "name", "folder", "ext", "size", "mtime"),
    "tasks": (),
}


@dataclass(frozen=True, slots=True)
class RowTest:
    """A test that only the evaluation of an expression can decide.

    Attributes:
        expression: what a note must fulfil.
        is_negated: whether it must not fulfil it.
    """

    expression: Expression
    is_negated: bool = False


Literal_ = Condition | RowTest
Clause = tuple[Literal_, ...]


def read_conditions(
    expression: Expression, dialect: Dialect, evaluator: Evaluator
) -> tuple[Clause, ...]:
    """Read a filter as clauses, of which each is fulfilled by one of its conditions.

    Args:
        expression: the filter, with formulas expanded.
        dialect: the language of the filter.
        evaluator: computes what is the same for all notes, such as `today()`.

    Raises:
        ViewNotUnderstood: the filter has too many alternatives.
    """
    return tuple(dict.fromkeys(_Reader(dialect, evaluator).read(expression, is_negated=False)))


def expand_formulas(expression: Expression, formulas: dict[str, Expression]) -> Expression:
    """Return a filter in which a formula that is compared is replaced with what it computes.

    Raises:
        ViewNotUnderstood: the formulas use each other too often.
    """
    return _Formulas(formulas).expand(expression, frozenset())


class _Formulas:
    def __init__(self, formulas: dict[str, Expression]) -> None:
        self._formulas = formulas
        self._left = _MOST_EXPANDED

    def expand(self, expression: Expression, used: frozenset[str]) -> Expression:
        self._left -= 1
        if self._left < 0:
            raise ViewNotUnderstood("A formula that uses others so often")
        match expression:
            case FieldName(parts=("formula", name)) if name in self._formulas and name not in used:
                return self.expand(self._formulas[name], used | {name})
            case Unary(sign=sign, value=value):
                return Unary(sign, self.expand(value, used))
            case Binary(sign=sign, left=left, right=right):
                return Binary(sign, self.expand(left, used), self.expand(right, used))
            case Call(name=name, target=target, arguments=arguments):
                inner = tuple(self.expand(one, used) for one in arguments)
                own = None if target is None else self.expand(target, used)
                return Call(name, own, inner)
        return expression


class _Reader:
    def __init__(self, dialect: Dialect, evaluator: Evaluator) -> None:
        self._dialect, self._evaluator = dialect, evaluator

    def read(self, expression: Expression, *, is_negated: bool) -> list[Clause]:
        match expression:
            case Unary(sign="!", value=value):
                return self.read(value, is_negated=not is_negated)
            case Binary(sign="&&" | "||" as sign, left=left, right=right):
                ours = self.read(left, is_negated=is_negated)
                theirs = self.read(right, is_negated=is_negated)
                is_all = (sign == "&&") != is_negated
                return [*ours, *theirs] if is_all else choose_clauses(ours, theirs)
        found = self._read_atom(expression, is_negated=is_negated)
        if found is None or not all(map(_can_write, found)):
            return [(RowTest(expression, is_negated),)]
        return found

    def _read_atom(self, expression: Expression, *, is_negated: bool) -> list[Clause] | None:
        match expression:
            case Constant(value=bool() as value):
                return [] if value != is_negated else [()]
            case Call():
                return self._read_call(expression, is_negated=is_negated)
            case FieldName(parts=parts):
                return self._read_truth(parts, is_negated=is_negated)
            case Binary(sign=sign, left=left, right=right) if sign in _MIRRORED:
                return self._read_comparison(sign, left, right, is_negated=is_negated)
        return None

    def _read_truth(self, parts: tuple[str, ...], *, is_negated: bool) -> list[Clause] | None:
        name = self._name_property(parts)
        if name is None or name.startswith("file."):
            return None
        present = Condition("property", ANY_VALUE, name, is_negated=is_negated)
        untrue = Condition("property", "false", name, is_negated=not is_negated)
        return [(present, untrue)] if is_negated else [(present,), (untrue,)]

    def _read_call(self, call: Call, *, is_negated: bool) -> list[Clause] | None:
        values = [self._compute(each) for each in call.arguments]
        if any(value is None for value in values):
            return None
        texts = [_write(value) for value in values if value is not None]
        match call.name:
            case "hastag" | "haslink" | "infolder" | "hasproperty" if texts:
                conditions = [self._read_file_method(call.name, text) for text in texts]
                return _join(conditions, is_all=False, is_negated=is_negated)
            case "contains" | "icontains" | "econtains" | "containsany" | "containsall":
                return self._read_contains(call, texts, is_negated=is_negated)
            case "isempty":
                name = self._name_property(_get_parts(call.target))
                if name is not None and not name.startswith("file."):
                    present = Condition("property", ANY_VALUE, name, is_negated=not is_negated)
                    return [(present,)]
        return None

    def _read_file_method(self, method: str, text: str) -> Condition:
        match method:
            case "hastag":
                return Condition("tag", text.lstrip("#"))
            case "haslink":
                return Condition("link", text)
            case "infolder":
                return Condition("folder", f"/{text.strip('/')}")
        return Condition("property", ANY_VALUE, normalize_name(text))

    def _read_contains(
        self, call: Call, texts: Sequence[str], *, is_negated: bool
    ) -> list[Clause] | None:
        parts = _get_parts(_strip_case(call.target))
        flat = [
            one
            for text, value in zip(texts, call.arguments, strict=True)
            for one in (_list_texts(self._compute(value)) or [text])
        ]
        if not parts or not flat:
            return None
        conditions = []
        for text in flat:
            condition = self._read_holding(call.name, parts, text)
            if condition is None:
                return None
            conditions.append(condition)
        is_all = call.name != "containsany"
        return _join(conditions, is_all=is_all, is_negated=is_negated)

    def _read_holding(self, method: str, parts: tuple[str, ...], text: str) -> Condition | None:
        if parts in _TAGS:
            return Condition("tag", text.lstrip("#"))
        if parts in _LINKS:
            return Condition("link", text)
        name = self._name_property(parts)
        if name is None or text == ANY_VALUE:
            return None
        return Condition("property", text, name, "=" if method == "econtains" else "~")

    def _read_comparison(
        self, sign: str, left: Expression, right: Expression, *, is_negated: bool
    ) -> list[Clause] | None:
        name, is_mirrored = self._name_property(_get_parts(_strip_case(left))), False
        found = self._evaluator.evaluate_constant(right)
        if name is None or not found[1]:
            name, is_mirrored = self._name_property(_get_parts(_strip_case(right))), True
            found = self._evaluator.evaluate_constant(left)
        if name is None or not found[1]:
            return None
        comparison = (_MIRRORED if is_mirrored else _SIGNS)[sign]
        condition = _compare(name, comparison, found[0])
        if condition is None:
            return None
        is_other = (comparison == "!=") != is_negated
        return [(_negate(condition),)] if is_other else [(condition,)]

    def _name_property(self, parts: tuple[str, ...]) -> str | None:
        """Return the name of a property or field in the query language, or None if it has none."""
        match parts:
            case ("file", name) if name in _FILE_FIELDS[self._dialect]:
                is_short = self._dialect == "dataview" and name == "name"
                return "file.basename" if is_short else f"file.{name}"
            case ("file" | "formula" | "this", *_):
                return None
            case ("note", name) | (name,):
                return normalize_name(name)
        return None

    def _compute(self, expression: Expression) -> Value:
        value, is_constant = self._evaluator.evaluate_constant(expression)
        return value if is_constant else None


def _compare(name: str, comparison: Comparison, value: Value) -> Condition | None:
    """Return a condition that is fulfilled by equal values for "other than", to be negated."""
    if value in (None, ""):
        if comparison not in ("=", "!="):
            return None
        if name.startswith("file."):
            return None
        return Condition("property", ANY_VALUE, name, is_negated=True)
    if isinstance(value, float) and not isfinite(value):
        return None
    if comparison in ("=", "!="):
        text = _write(value)
        return None if text == ANY_VALUE else Condition("property", text, name)
    if isinstance(value, bool) or not isinstance(value, float | int | date):
        return None  # texts have no order in the query language
    if isinstance(value, date) and not isinstance(value, datetime) and name == "file.mtime":
        value = datetime(value.year, value.month, value.day)
    return Condition("property", _write(value), name, comparison)


def _write(value: Value) -> str:
    match value:
        case LinkValue():
            return value.target
        case datetime():
            return value.strftime("%Y-%m-%dT%H:%M")
    return write_value(value).removeprefix("[[").removesuffix("]]")


def _list_texts(value: Value) -> list[str]:
    if isinstance(value, tuple) and not isinstance(value, LinkValue):
        return [_write(one) for one in value]
    return []


def _get_parts(expression: Expression | None) -> tuple[str, ...]:
    return expression.parts if isinstance(expression, FieldName) else ()


def _strip_case(expression: Expression | None) -> Expression | None:
    """Return what is converted to lower case, since conditions ignore case."""
    match expression:
        case Call(name="lower" | "tostring" | "string", target=target, arguments=()):
            return target
    return expression


def _negate(condition: Condition) -> Condition:
    return Condition(
        condition.key,
        condition.value,
        condition.name,
        condition.comparison,
        not condition.is_negated,
        condition.also,
    )


def _join(conditions: Sequence[Condition], *, is_all: bool, is_negated: bool) -> list[Clause]:
    if is_negated:
        conditions = [_negate(condition) for condition in conditions]
    return [(one,) for one in conditions] if is_all != is_negated else [tuple(conditions)]


def choose_clauses(ours: Sequence[Clause], theirs: Sequence[Clause]) -> list[Clause]:
    """Return the clauses that hold if all of ours or all of theirs do.

    Raises:
        ViewNotUnderstood: they are too many.
    """
    if len(ours) * len(theirs) > _MOST_CLAUSES:
        raise ViewNotUnderstood("A filter with so many alternatives")
    return [tuple(dict.fromkeys((*left, *right))) for left in ours for right in theirs]


def _can_write(clause: Clause) -> bool:
    """Return whether each condition is the same when it is written in a query and read again."""
    return all(
        isinstance(one, RowTest) or parse_query(str(one)).clauses == ((one,),) for one in clause
    )
