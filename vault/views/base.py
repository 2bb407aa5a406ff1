"""Read bases: files with the suffix `.base`, and the blocks ```` ```base ```` in notes.

    filters:
      and:
        - file.hasTag("book")
        - or: [rating >= 4, 'file.inFolder("Old")']
    views:
      - type: table
        name: Books
        order: [file.name, rating]
        sort: [{property: rating, direction: DESC}]
        limit: 20

A view of another type, such as cards, is shown as a table. Each view is read by itself: what is not
understood in one leaves the others as they are.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from vault.errors import ViewNotUnderstood
from vault.notes.properties import load_properties
from vault.views.conditions import Clause, expand_formulas, read_conditions
from vault.views.evaluate import Evaluator, NoteRow
from vault.views.expressions import Binary, Constant, Expression, FieldName, Unary, parse_expression
from vault.views.view import FILE, MOST_COLUMNS, Column, Order, Shape, View, name_field, read_limit

__all__ = ["read_base"]

_MOST_VIEWS: Final = 50
_KEYS: Final = frozenset(("filters", "formulas", "properties", "summaries", "views", "display"))
_SHAPES: Final[Mapping[str, Shape]] = {"table": "table", "cards": "table", "list": "list"}
_NAMES: Final = (("file", "name"), ("file", "basename"), ("file", "file"))
# Parts of a view that only change how Obsidian draws it.
_LOOKS: Final = frozenset(
    ("type", "name", "filters", "order", "sort", "limit", "groupBy", "columnSize", "rowHeight")
) | {
    "cardSize",
    "image",
    "imageFit",
    "imageAspectRatio",
    "markers",
    "separator",
    "indentProperties",
}


def read_base(text: str, this: NoteRow | None, now: datetime) -> tuple[View | str, ...]:
    """Read the views of a base. What cannot be read is a sentence in place of its view.

    Args:
        text: the YAML of the base.
        this: the note that contains the base, or None.
        now: the time that `now()` and `today()` stand for.
    """
    loaded = load_properties(text)
    if not loaded and text.strip():
        return ("This base is no valid YAML.",)
    try:
        return tuple(_Base(loaded, this, now).read_views())
    except ViewNotUnderstood as error:
        return (str(error),)


class _Base:
    def __init__(self, loaded: Mapping[str, Any], this: NoteRow | None, now: datetime) -> None:
        for key in loaded:
            if key not in _KEYS:
                raise ViewNotUnderstood(f"{key}:")
        self._loaded = loaded
        formulas = _as_mapping(loaded.get("formulas"), "formulas")
        self._formulas = {name: parse_expression(str(text)) for name, text in formulas.items()}
        self._evaluator = Evaluator("base", self._formulas, this, now)
        self._filter = loaded.get("filters")
        self._properties = _as_mapping(loaded.get("properties"), "properties")

    def read_views(self) -> Iterator[View | str]:
        views = self._loaded.get("views") or [{"type": "table"}]
        if not isinstance(views, list) or len(views) > _MOST_VIEWS:
            raise ViewNotUnderstood("views:")
        for view in views:
            name = str(view.get("name", "")) if isinstance(view, dict) else ""
            try:
                yield self._read_view(_as_mapping(view, "views"), name)
            except ViewNotUnderstood as error:
                yield f"{name}: {error}" if name else str(error)

    def _read_view(self, view: Mapping[str, Any], name: str) -> View:
        kind = str(view.get("type", "table"))
        columns = _as_list(view.get("order"))[:MOST_COLUMNS]
        group, limit = view.get("groupBy"), view.get("limit")
        return View(
            name,
            _SHAPES.get(kind, "table"),
            "base",
            (*self._read_filter(self._filter), *self._read_filter(view.get("filters"))),
            columns=tuple(map(self._read_column, columns)) or (Column("Name", FILE, is_link=True),),
            sort=tuple(map(self._read_order, _as_list(view.get("sort"))[:MOST_COLUMNS])),
            limit=None if limit in (None, "") else read_limit(str(limit), "limit:"),
            group=None if not group else self._read_order(group),
            formulas=self._formulas,
            problems=tuple(_list_problems(view, kind)),
        )

    def _read_filter(self, filter_: Any) -> tuple[Clause, ...]:
        if not filter_:
            return ()
        expression = _read_filter(filter_)
        self._evaluator.check(expression)
        expanded = expand_formulas(expression, self._formulas)
        self._evaluator.check(expanded)
        return read_conditions(expanded, "base", self._evaluator)

    def _read_column(self, field: Any) -> Column:
        expression = self._read_field(field)
        is_name = isinstance(expression, FieldName) and expression.parts in _NAMES
        settings = self._properties.get(str(field)) or self._properties.get(f"note.{field}") or {}
        shown = settings.get("displayName") if isinstance(settings, dict) else None
        value = FILE if is_name else expression
        return Column(str(shown or name_field(str(field))), value, is_link=is_name)

    def _read_order(self, order: Any) -> Order:
        if isinstance(order, str):
            return Order(self._read_field(order))
        parts = _as_mapping(order, "sort")
        field = parts.get("property", parts.get("column"))
        is_descending = str(parts.get("direction", "ASC")).upper() == "DESC"
        return Order(self._read_field(field), is_descending)

    def _read_field(self, text: Any) -> Expression:
        """Read the name of a property, which may have spaces, as in `note.due date`."""
        if not isinstance(text, str) or not text.strip():
            raise ViewNotUnderstood(f"The property {text}")
        kind, dot, name = text.partition(".")
        is_kind = dot and kind in ("file", "note", "formula")
        found = FieldName((kind, name) if is_kind else ("note", text))
        self._evaluator.check(found)
        if kind == "formula" and is_kind:
            self._evaluator.check(self._formulas[name])
        return found


def _read_filter(filter_: Any) -> Expression:
    match filter_:
        case str():
            return parse_expression(filter_)
        case {"and": list() as parts, **rest} if not rest:
            return _combine("&&", [_read_filter(part) for part in parts])
        case {"or": list() as parts, **rest} if not rest:
            return _combine("||", [_read_filter(part) for part in parts])
        case {"not": parts, **rest} if not rest:
            inner = parts if isinstance(parts, list) else [parts]
            return Unary("!", _combine("||", [_read_filter(part) for part in inner]))
        case list():
            return _combine("&&", [_read_filter(part) for part in filter_])
    raise ViewNotUnderstood(f"The filter {filter_}")


def _combine(sign: str, parts: list[Expression]) -> Expression:
    """Join parts as a tree that is as flat as possible, since its depth is limited."""
    if len(parts) < 2:
        return parts[0] if parts else Constant(sign == "&&")
    middle = len(parts) // 2
    return Binary(sign, _combine(sign, parts[:middle]), _combine(sign, parts[middle:]))


def _list_problems(view: Mapping[str, Any], kind: str) -> Iterator[str]:
    if kind not in _SHAPES:
        yield f"A view of the type {kind} is shown as a table."
    for key in view:
        if key not in _LOOKS:
            yield f"{key} is not shown."


def _as_mapping(value: Any, name: str) -> Mapping[str, Any]:
    if value in (None, ""):
        return {}
    if not isinstance(value, dict):
        raise ViewNotUnderstood(f"{name}:")
    return value


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value in (None, "") else [value]
