"""Read the queries of Dataview: LIST, TABLE and TASK with FROM, WHERE, SORT and LIMIT.

    TABLE WITHOUT ID file.link AS "Book", rating
    FROM #book AND -"Archive"
    WHERE rating >= 4
    SORT rating DESC
    LIMIT 10

Tasks may be grouped with GROUP BY. Each day of a task, such as `due`, is the one with its own mark,
and never a property of the note. Only Markdown notes are shown, as in Dataview. A comparison with a
property that a note does not have is never fulfilled.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from vault.errors import ViewNotUnderstood
from vault.notes.links import split_link_target
from vault.search.conditions import Condition
from vault.search.filter_kinds import TaskFilter
from vault.search.query import Query
from vault.views.conditions import Clause, choose_clauses, read_conditions
from vault.views.evaluate import TASK_FIELDS, Evaluator, NoteRow
from vault.views.expressions import (
    Binary,
    Constant,
    Expression,
    FieldName,
    Unary,
    list_inner,
    parse_expression,
)
from vault.views.view import (
    FILE,
    MARKDOWN_NOTES,
    MOST_COLUMNS,
    NO_TASKS,
    Column,
    Order,
    Shape,
    View,
    name_field,
    read_limit,
)

__all__ = ["read_dataview"]

_SHAPES: Final[dict[str, Shape]] = {"list": "list", "table": "table", "task": "task"}
_COMMANDS: Final = ("from", "where", "sort", "limit", "group by", "flatten")
# A quoted text or a link, in which commands and commas are only text, or another character. A
# quoted text that is not closed goes to the end, so that it is not looked through again.
_PIECE: Final = re.compile(
    r'"(?:[^"\\]|\\.)*+"?|\[\[[^\[\]]*\]\]|[(\[]|[)\]]|,'
    r"|(?<![\w.#/-])(?:from|where|sort|limit|group\s+by|flatten)(?![\w.(-])|\s+|\w+|.",
    re.IGNORECASE | re.DOTALL,
)
_COMMENT: Final = re.compile(r"^[ \t]*//.*$", re.MULTILINE)
_FIRST: Final = re.compile(r"\s*([A-Za-z]+)(\s+WITHOUT\s+ID\b)?", re.IGNORECASE)
_AS: Final = re.compile(r'(?<!\s)\s+AS\s+(?:"([^"]*)"|([^\s"]+))\Z', re.IGNORECASE)
_DIRECTIONS: Final = {"asc": False, "ascending": False, "desc": True, "descending": True}
_SOURCE: Final = re.compile(
    r'\s*(?:(?P<tag>#[^\s()"]+)|"(?P<path>[^"]*)"|\[\[(?P<link>[^\[\]]*)\]\]'
    r"|(?P<out>outgoing\s*\(\s*\[\[(?P<from>[^\[\]]*)\]\]\s*\))"
    r"|(?P<sign>\(|\)|-|!|&&|\|\||and\b|or\b))",
    re.IGNORECASE,
)
_MOST_COMMANDS: Final = 50
_MOST_SOURCE_TOKENS: Final = 500
_MOST_SOURCE_DEPTH: Final = 40
_OR: Final = ("or", "||")
_AND: Final = ("and", "&&")


def read_dataview(text: str, this: NoteRow | None, now: datetime) -> tuple[View | str, ...]:
    """Read a query. If it cannot be read, return a sentence that names what is not understood.

    Args:
        text: the query.
        this: the note that contains it, or None.
        now: the time that `date(now)` stands for.
    """
    try:
        return (_Query(_COMMENT.sub("", text), this, now).read(),)
    except ViewNotUnderstood as error:
        return (str(error),)


class _Query:
    def __init__(self, text: str, this: NoteRow | None, now: datetime) -> None:
        first = _FIRST.match(text)
        if first is None or first[1].lower() not in _SHAPES:
            raise ViewNotUnderstood(text.split(maxsplit=1)[0] if text.strip() else "An empty query")
        self._shape = _SHAPES[first[1].lower()]
        self._has_link = not first[2]
        self._head, *self._commands = _split_commands(text[first.end() :])
        if len(self._commands) > _MOST_COMMANDS:
            raise ViewNotUnderstood("A query with so many commands")
        self._this = this
        self._evaluator = Evaluator("dataview", {}, this, now)

    def read(self) -> View:
        clauses: list[Clause] = [MARKDOWN_NOTES]
        sort: list[Order] = []
        group: Order | None = None
        limit, tests, tasks = None, list[Expression](), Query("", task="any")
        for name, text in self._commands:
            match name:
                case "from":
                    clauses += _Sources(text, self._this).read()
                case "where":
                    where = self._read(text)
                    if self._shape == "task":
                        tasks, where, tests = _split_tasks(where, tasks, tests)
                    clauses += read_conditions(where, "dataview", self._evaluator)
                case "sort":
                    sort += map(self._read_order, _split_commas(text))
                case "limit":
                    limit = read_limit(text, "LIMIT")
                case "group by" if self._shape == "task" and group is None:
                    group = self._read_order(text)
                case _:
                    raise ViewNotUnderstood(f"{name.upper()} {text}")
        return View(
            "",
            self._shape,
            "dataview",
            tuple(dict.fromkeys(clauses)),
            tasks if self._shape == "task" else NO_TASKS,
            tuple(tests),
            tuple(self._read_columns()),
            tuple(sort),
            limit,
            group,
        )

    def _read(self, text: str) -> Expression:
        found = parse_expression(text, "dataview")
        self._evaluator.check(found, is_of_tasks=self._shape == "task")
        return found

    def _read_columns(self) -> Iterator[Column]:
        parts = [part for part in _split_commas(self._head[1]) if part.strip()]
        if self._shape == "task":
            if parts:
                raise ViewNotUnderstood(f"TASK {self._head[1].strip()}")
            yield Column("Task", FieldName(("text",)))
            yield Column("Note", FILE, is_link=True)
            return
        if self._has_link or not parts:
            yield Column("Note", FILE, is_link=True)
        for part in parts:
            named = _AS.search(part)
            text = part[: named.start()] if named else part
            name = (named[1] or named[2]) if named else name_field(text)
            yield Column(name, self._read(text), is_link=text == "file.link")

    def _read_order(self, text: str) -> Order:
        words = text.rsplit(maxsplit=1)
        is_descending = _DIRECTIONS.get(words[1].lower()) if len(words) > 1 else None
        return Order(self._read(text if is_descending is None else words[0]), bool(is_descending))


def _split_commands(text: str) -> Iterator[tuple[str, str]]:
    """Yield the text before the first command, and then each command with its text."""
    name, found, depth = "", list[str](), 0
    for piece in _PIECE.findall(text):
        depth += (piece in ("(", "[")) - (piece in (")", "]"))
        command = " ".join(piece.lower().split())
        if depth == 0 and command in _COMMANDS:
            yield name, "".join(found).strip()
            name, found = command, []
        else:
            found.append(piece)
    yield name, "".join(found).strip()


def _split_commas(text: str) -> Iterator[str]:
    found, depth, left = list[str](), 0, MOST_COLUMNS
    for piece in _PIECE.findall(text):
        depth += (piece in ("(", "[")) - (piece in (")", "]"))
        if piece == "," and depth == 0:
            yield "".join(found).strip()
            found, left = [], left - 1
            if not left:
                raise ViewNotUnderstood(text)
        else:
            found.append(piece)
    yield "".join(found).strip()


class _Sources:
    """Reads the sources after FROM: tags, folders, notes and links."""

    def __init__(self, text: str, this: NoteRow | None) -> None:
        self._text, self._this = text, this
        self._tokens: list[re.Match[str]] = []
        at, end = 0, len(text.rstrip())
        while at < end:
            found = _SOURCE.match(text, at)
            if found is None or len(self._tokens) == _MOST_SOURCE_TOKENS:
                raise self._fail()
            self._tokens.append(found)
            at = found.end()
        self._at = self._depth = 0

    def read(self) -> list[Clause]:
        found = self._read_choice(is_negated=False)
        if self._at < len(self._tokens):
            raise self._fail()
        return found

    def _fail(self) -> ViewNotUnderstood:
        return ViewNotUnderstood(f"FROM {self._text}")

    def _take(self, *signs: str) -> bool:
        here = self._tokens[self._at] if self._at < len(self._tokens) else None
        if here is None or (here["sign"] or "").lower() not in signs:
            return False
        self._at += 1
        return True

    def _read_choice(self, *, is_negated: bool) -> list[Clause]:
        found = self._read_all(is_negated=is_negated)
        while self._take(*_OR):
            other = self._read_all(is_negated=is_negated)
            found = [*found, *other] if is_negated else choose_clauses(found, other)
        return found

    def _read_all(self, *, is_negated: bool) -> list[Clause]:
        found = self._read_one(is_negated=is_negated)
        while self._take(*_AND):
            other = self._read_one(is_negated=is_negated)
            found = choose_clauses(found, other) if is_negated else [*found, *other]
        return found

    def _read_one(self, *, is_negated: bool) -> list[Clause]:
        while self._take("-", "!"):
            is_negated = not is_negated
        if self._take("("):
            self._depth += 1
            if self._depth > _MOST_SOURCE_DEPTH:
                raise self._fail()
            found = self._read_choice(is_negated=is_negated)
            if not self._take(")"):
                raise self._fail()
            self._depth -= 1
            return found
        if self._at == len(self._tokens) or self._tokens[self._at]["sign"]:
            raise self._fail()
        token = self._tokens[self._at]
        self._at += 1
        conditions = [
            Condition(key, value, name, is_negated=is_negated)
            for key, value, name in self._read_source(token)
        ]
        return [(one,) for one in conditions] if is_negated else [tuple(conditions)]

    def _read_source(self, token: re.Match[str]) -> Iterator[tuple[str, str, str]]:
        if token["tag"]:
            yield "tag", token["tag"].lstrip("#"), ""
        elif token["out"]:
            yield "linked-from", self._name_note(token["from"]), ""
        elif token["path"] is None:
            yield "link", self._name_note(token["link"]), ""
        elif path := token["path"].strip("/"):
            yield "folder", f"/{path}", ""
            yield "property", path if path.endswith(".md") else f"{path}.md", "file.path"
        else:
            yield "folder", "/", ""

    def _name_note(self, link: str) -> str:
        name = split_link_target(link.partition("|")[0])[0].strip()
        if name:
            return name
        if self._this is None:
            raise self._fail()
        return self._this.path


def _split_tasks(
    where: Expression, tasks: Query, tests: list[Expression]
) -> tuple[Query, Expression, list[Expression]]:
    """Take what is said about tasks out of a WHERE.

    Returns:
        The kind of tasks, what is said about notes, and the tests for tasks.
    """
    notes: Expression = Constant(True)
    tests = list(tests)
    for part in _list_parts(where):
        if (kind := _find_kind(part)) and tasks.task in ("any", kind):
            tasks = Query("", task=kind)
        elif _is_of_tasks(part):
            tests.append(part)
        else:
            notes = Binary("&&", notes, part)
    return tasks, notes, tests


def _list_parts(expression: Expression) -> Iterator[Expression]:
    match expression:
        case Binary(sign="&&", left=left, right=right):
            yield from _list_parts(left)
            yield from _list_parts(right)
        case _:
            yield expression


def _find_kind(part: Expression) -> TaskFilter:
    match part:
        case FieldName(parts=("completed" | "fullyCompleted",)):
            return "done"
        case Unary(sign="!", value=FieldName(parts=("completed" | "fullyCompleted",))):
            return "open"
        case Binary(sign="==", left=FieldName(parts=("completed",)), right=Constant(value=value)):
            return "done" if value is True else "open"
    return ""


def _is_of_tasks(part: Expression) -> bool:
    fields = (one for one in list_inner(part) if isinstance(one, FieldName))
    return any(one.parts[0] in TASK_FIELDS for one in fields)
