"""Parse the expressions of bases and of Dataview queries.

    file.hasTag("book") && note.rating >= 4        contains(file.tags, "#book") AND rating >= 4
    formula.price.toFixed(2) + " €"                date(today) - due < dur(7 days)

Both languages become the same tree. A function `f(a, b)` of Dataview is the method `a.f(b)`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from vault.errors import ViewNotUnderstood
from vault.notes.links import split_link_target
from vault.notes.text.inline import MARKS

__all__ = [
    "Binary",
    "Call",
    "Constant",
    "Dialect",
    "Expression",
    "FieldName",
    "LinkValue",
    "ListOf",
    "Unary",
    "list_inner",
    "parse_expression",
]

Dialect = Literal["base", "dataview", "tasks"]

_MOST_TOKENS: Final = 500
_MOST_DEPTH: Final = 40
_LETTER: Final = rf"[\w{MARKS}]"
_NAME: Final = rf"[^\W\d](?:{_LETTER}|(?<={_LETTER})-(?=\w))*"
_TOKEN: Final = {
    dialect: re.compile(
        r"\s*(?:(?P<number>\d+(?:\.\d+)?)(?!\w)"
        r"|(?P<span>\d+[A-Za-z]+)"  # such as `7d`
        r'|"(?P<double>(?:[^"\\]|\\.)*)"|\'(?P<single>(?:[^\'\\]|\\.)*)\''
        r"|\[\[(?P<link>[^\[\]]*)\]\]"
        rf"|(?P<name>{name})"
        r"|(?P<sign>=>|==|!=|<=|>=|&&|\|\||[-+*/%<>=!().,\[\]]))"
    )
    for dialect, name in (("base", rf"[^\W\d]{_LETTER}*"), ("dataview", _NAME), ("tasks", _NAME))
}
_DAY_FIRST: Final = re.compile(r"\s*(?P<day>\d{4}-\d\d(?:-\d\d(?:T[\d:.]+)?)?)(?![\w-])")
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
# The words that are operators in Dataview.
_WORD_SIGNS: Final = {"and": "&&", "or": "||"}
_LEVELS: Final = (
    ("||",),
    ("&&",),
    ("==", "=", "!=", "<", "<=", ">", ">="),
    ("+", "-"),
    ("*", "/", "%"),
)
_CONSTANTS: Final = {"true": True, "false": False, "null": None}


class LinkValue(NamedTuple):
    """A link to a note.

    Attributes:
        target: the name or path as written, without heading.
        label: the text that is shown, or an empty string.
    """

    target: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Constant:
    """A text, number, link, truth value or nothing, as written."""

    value: str | float | bool | LinkValue | None


@dataclass(frozen=True, slots=True)
class FieldName:
    """A property, or a field of the file, such as `("file", "name")`."""

    parts: tuple[str, ...]

    def __str__(self) -> str:
        """Write the field as in an expression."""
        return ".".join(self.parts)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function or of a method.

    Attributes:
        target: the value whose method is called, or None for a function.
    """

    name: str
    target: "Expression | None"
    arguments: tuple["Expression", ...] = ()


@dataclass(frozen=True, slots=True)
class Unary:
    """A value that is negated: `!` or `-`."""

    sign: str
    value: "Expression"


@dataclass(frozen=True, slots=True)
class Binary:
    """Two values with an operator between them. `=` is written as `==`."""

    sign: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of values, as written in brackets."""

    values: tuple["Expression", ...]


Expression = Constant | FieldName | Call | Unary | Binary | ListOf


class _Token(NamedTuple):
    kind: str
    text: str


def parse_expression(text: str, dialect: Dialect = "base") -> Expression:
    """Parse an expression.

    Raises:
        ViewNotUnderstood: the text is no expression that is understood. The message names it.
    """
    return _Parser(text, dialect).parse()


def list_inner(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all those in it."""
    waiting = [expression]
    while waiting:
        one = waiting.pop()
        yield one
        match one:
            case Call(target=target, arguments=arguments):
                waiting += [*reversed(arguments), *(() if target is None else (target,))]
            case Unary(value=value):
                waiting.append(value)
            case Binary(left=left, right=right):
                waiting += [right, left]
            case ListOf(values=values):
                waiting += reversed(values)


class _Parser:
    def __init__(self, text: str, dialect: Dialect) -> None:
        self._text, self._dialect = text, dialect
        self._tokens = list(self._split())
        self._at = self._depth = 0

    def parse(self) -> Expression:
        found = self._parse_level(0)
        if self._at < len(self._tokens):
            raise self._fail()
        return found

    def _split(self) -> Iterator[_Token]:
        at, count, end = 0, 0, len(self._text.rstrip())
        while at < end:
            found = _DAY_FIRST.match(self._text, at) or _TOKEN[self._dialect].match(self._text, at)
            count += 1
            if found is None or count > _MOST_TOKENS:
                raise self._fail()
            kind = found.lastgroup or ""
            text = found[kind]
            if kind in ("double", "single"):
                yield _Token("text", _ESCAPE.sub(r"\1", text))
            elif kind == "name" and self._dialect == "dataview" and text.lower() in _WORD_SIGNS:
                yield _Token("sign", _WORD_SIGNS[text.lower()])
            else:
                yield _Token(kind, text)
            at = found.end()

    def _fail(self) -> ViewNotUnderstood:
        return ViewNotUnderstood(" ".join(self._text.split()))

    def _peek(self) -> _Token:
        return self._tokens[self._at] if self._at < len(self._tokens) else _Token("end", "")

    def _take_sign(self, *signs: str) -> str:
        token = self._peek()
        if token.kind != "sign" or token.text not in signs:
            return ""
        self._at += 1
        return token.text

    def _expect(self, sign: str) -> None:
        if not self._take_sign(sign):
            raise self._fail()

    def _parse_level(self, level: int) -> Expression:
        if level == len(_LEVELS):
            return self._parse_unary()
        left = self._parse_level(level + 1)
        while sign := self._take_sign(*_LEVELS[level]):
            right = self._parse_level(level + 1)
            left = Binary("==" if sign == "=" else sign, left, right)
        return left

    def _parse_unary(self) -> Expression:
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise self._fail()
        sign = self._take_sign("!", "-")
        found = Unary(sign, self._parse_unary()) if sign else self._parse_postfix()
        self._depth -= 1
        return found

    def _parse_postfix(self) -> Expression:
        found = self._parse_first()
        while sign := self._take_sign(".", "["):
            if sign == "[":
                found = self._parse_index(found)
                continue
            name = self._peek()
            if name.kind != "name":
                raise self._fail()
            self._at += 1
            if self._take_sign("("):
                found = Call(name.text.lower(), found, self._parse_list(")"))
            elif isinstance(found, FieldName):
                found = FieldName((*found.parts, name.text))
            else:
                found = Call(name.text.lower(), found)
        return found

    def _parse_index(self, found: Expression) -> Expression:
        inner = self._parse_list("]")
        match found, inner:
            case FieldName(parts=parts), (Constant(value=str() as name),):
                return FieldName((*parts, name))
            case _, (one,):
                return Call("[]", found, (one,))
        raise self._fail()

    def _parse_first(self) -> Expression:
        token = self._peek()
        self._at += 1
        match token.kind:
            case "number":
                return Constant(float(token.text))
            case "text" | "day" | "span":
                return Constant(token.text)
            case "link":
                target, _, label = token.text.partition("|")
                return Constant(LinkValue(split_link_target(target)[0].strip(), label.strip()))
            case "name":
                return self._parse_name(token.text)
        self._at -= 1
        if self._take_sign("("):
            inner = self._parse_level(0)
            self._expect(")")
            return inner
        if self._take_sign("["):
            return ListOf(self._parse_list("]"))
        raise self._fail()

    def _parse_name(self, name: str) -> Expression:
        if name.lower() in _CONSTANTS:
            return Constant(_CONSTANTS[name.lower()])
        if not self._take_sign("("):
            return FieldName((name,))
        if name.lower() == "dur":
            return Call("duration", None, (Constant(self._take_raw()),))
        arguments = self._parse_list(")")
        if self._dialect == "dataview" and arguments and name.lower() not in _FUNCTIONS:
            return Call(name.lower(), arguments[0], arguments[1:])
        return Call(name.lower(), None, arguments)

    def _take_raw(self) -> str:
        """Return the tokens up to the closing bracket as text, such as `7 days`."""
        words = []
        while self._peek().kind != "end" and not self._take_sign(")"):
            words.append(self._peek().text)
            self._at += 1
        return " ".join(words)

    def _parse_list(self, closing: str) -> tuple[Expression, ...]:
        found: list[Expression] = []
        if self._take_sign(closing):
            return ()
        while True:
            found.append(self._parse_level(0))
            if self._take_sign(closing):
                return tuple(found)
            self._expect(",")


# The functions of Dataview that are no methods of their first argument.
_FUNCTIONS: Final = frozenset(
    ("date", "link", "choice", "default", "list", "array", "min", "max", "number", "string")
)
