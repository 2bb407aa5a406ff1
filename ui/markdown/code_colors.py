"""Syntax highlighting with Pygments: lines of code with the names of their colours."""

from collections.abc import Iterator
from functools import cache
from itertools import islice

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String, _TokenType
from pygments.util import ClassNotFound

__all__ = [
    "AT_ONCE_CHARS",
    "CHUNK_LINES",
    "MOST_CHARS",
    "Line",
    "color_lines",
    "each_line",
    "list_plain_lines",
]

Line = tuple[tuple[str, str], ...]

# Longer code is not highlighted.
MOST_CHARS = 60_000
# Longer code would take noticeable time, so it is highlighted in steps.
AT_ONCE_CHARS = 4_000
# Highlighting of an open code block restarts at a multiple of this number of lines.
CHUNK_LINES = 8

_COLORS = {
    Comment: "comment",
    String: "string",
    Number: "number",
    Keyword: "keyword",
    Keyword.Type: "type",
    Keyword.Constant: "number",
    Operator.Word: "keyword",
    Name.Function: "function",
    Name.Builtin: "function",
    Name.Tag: "keyword",
    Name.Attribute: "function",
    Name.Decorator: "function",
    Name.Class: "type",
    Name.Namespace: "type",
    Name.Exception: "type",
    Name.Constant: "number",
    Name.Variable: "type",
    Generic.Inserted: "string",
    Generic.Deleted: "keyword",
    Generic.Heading: "function",
    Generic.Subheading: "function",
}


def color_lines(code: str, language: str) -> tuple[Line, ...]:
    """Return each line of code as pairs of colour name and text.

    Code in an unknown language, and very long code, has only the colour name "plain".
    """
    return tuple(each_line(code, language))


def each_line(code: str, language: str) -> Iterator[Line]:
    """Yield the lines that `color_lines` returns, one by one.

    A line is only highlighted when it is requested, so the work can be divided into steps.
    """
    lexer = _lexer(language) if len(code) <= MOST_CHARS else None
    if lexer is None:
        return iter(list_plain_lines(code))
    return islice(_lex(lexer, code), code.count("\n") + 1)


def _lex(lexer: Lexer, code: str) -> Iterator[Line]:
    line: list[tuple[str, str]] = []
    # Many lexers recognise a comment only by the line end after it.
    for kind, text in lexer.get_tokens(code + "\n"):
        color = _color(kind)
        first, *rest = text.split("\n")
        _add(line, color, first)
        for part in rest:
            yield tuple(line)
            line = []
            _add(line, color, part)
    yield tuple(line)


def list_plain_lines(code: str) -> tuple[Line, ...]:
    """Return the lines of the code without highlighting, all in the colour named "plain"."""
    return tuple((("plain", line),) if line else () for line in code.split("\n"))


def _add(line: list[tuple[str, str]], color: str, text: str) -> None:
    if not text:
        return
    if line and line[-1][0] == color:
        line[-1] = (color, line[-1][1] + text)
    else:
        line.append((color, text))


@cache
def _color(kind: _TokenType) -> str:
    for known in reversed(kind.split()):
        if known in _COLORS:
            return _COLORS[known]
    return "plain"


@cache
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False) if language else None
    except ClassNotFound:
        return None
