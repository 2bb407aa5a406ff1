"""Lines of code with the names of their colours, by Pygments; the colours themselves are tokens."""

from functools import cache

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String, _TokenType
from pygments.util import ClassNotFound

__all__ = ["CHUNK_LINES", "MOST_CHARS", "Line", "color_lines", "plain_lines"]

Line = tuple[tuple[str, str], ...]

# Beyond this a block stays plain: colouring it would hold the interface for more than 50 ms.
MOST_CHARS = 20_000
# How far back an open block is read again when a line arrives.
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
    """Return each line of the code as named runs; a language that is not known is plain."""
    lexer = _lexer(language) if len(code) <= MOST_CHARS else None
    if lexer is None:
        return plain_lines(code)
    lines: list[list[tuple[str, str]]] = [[]]
    # Many lexers know a comment only by the line end that follows it.
    for kind, text in lexer.get_tokens(code + "\n"):
        color = _color(kind)
        first, *rest = text.split("\n")
        _add(lines[-1], color, first)
        for part in rest:
            lines.append([])
            _add(lines[-1], color, part)
    return tuple(tuple(line) for line in lines[: code.count("\n") + 1])


def plain_lines(code: str) -> tuple[Line, ...]:
    """Return each line of the code as one run without a colour of its own."""
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
