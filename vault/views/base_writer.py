"""Write a query of the query language as a base, so that Obsidian shows the same notes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from vault.search.conditions import ANY_VALUE, FILE_FIELDS, Condition
from vault.search.query import Query

__all__ = ["write_base"]

_COLUMNS: Final = ("file.name",)
_PLAIN_NAME: Final = str.isidentifier


def write_base(query: Query, name: str = "", columns: Sequence[str] = _COLUMNS) -> str | None:
    """Write a query as the YAML of a base, or return None if a base cannot say it.

    A base cannot say words, tasks and dates in the text of notes.

    Args:
        name: the name of the view.
        columns: the properties that are shown, such as `file.name` and `rating`.
    """
    if query.words.strip() or query.phrases or query.task_kind or query.days:
        return None
    clauses = [[_write_condition(one) for one in clause] for clause in query.clauses]
    clauses += [[_write_time(">=", query.after)]] if query.after else []
    clauses += [[_write_time("<", query.before)]] if query.before else []
    found = [[text for text in clause if text is not None] for clause in clauses]
    if any(len(texts) < len(clause) for texts, clause in zip(found, clauses, strict=True)):
        return None
    filters: list[Any] = [texts[0] if len(texts) == 1 else {"or": texts} for texts in found]
    view = {"type": "table", "name": name or "Notes", "order": list(columns)}
    base: dict[str, Any] = {"filters": {"and": filters}} if filters else {}
    return _dump({**base, "views": [view]})


def _dump(base: Mapping[str, Any]) -> str:
    import yaml

    return str(yaml.safe_dump(base, allow_unicode=True, sort_keys=False, width=1_000))


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _write_time(sign: str, time: Any) -> str:
    return f'file.mtime {sign} date("{time.astimezone().strftime("%Y-%m-%dT%H:%M:%S")}")'


def _write_condition(condition: Condition) -> str | None:
    write = _WRITERS.get(condition.key)
    text = None if write is None else write(condition)
    if text is None or not condition.is_negated:
        return text
    return f"!({text})" if " " in text else f"!{text}"


def _write_folder(condition: Condition) -> str:
    """Write a folder by its path, or by its name if it may be at any depth."""
    name = condition.value.strip("/")
    text = f"file.inFolder({_quote(name)})"
    if condition.value.startswith("/"):
        return text
    return f"({text} || file.path.contains({_quote(f'/{name}/')}))"


def _write_part(condition: Condition) -> str | None:
    parts = {"tag": "!file.tags.isEmpty()", "link": "!file.links.isEmpty()"}
    return parts.get(condition.value)


def _write_property(condition: Condition) -> str | None:
    name = condition.name
    field = name if name in FILE_FIELDS else f"note[{_quote(name)}]"
    if name not in FILE_FIELDS and _PLAIN_NAME(name):
        field = f"note.{name}"
    limits = [condition] if condition.also is None else [condition, condition.also]
    found = [_write_limit(field, limit) for limit in limits]
    texts = [text for text in found if text is not None]
    return " && ".join(texts) if len(texts) == len(found) else None


def _write_limit(field: str, condition: Condition) -> str | None:
    value = condition.value
    if value == ANY_VALUE:
        return f"!{field}.isEmpty()"
    if condition.comparison == "~":
        return f"{field}.contains({_quote(value)})"
    sign = "==" if condition.comparison == "=" else condition.comparison
    shown = _write_value(value)
    if shown is None and sign in ("==", "!="):
        shown = _quote(value)
    if shown is None:
        return None
    other = f"!{field}.isEmpty() && " if sign == "!=" else ""
    return f"{other}{field} {sign} {shown}"


def _write_value(value: str) -> str | None:
    """Write a number, a day or a truth value, or return None for a text."""
    from vault.views.values import parse_day, read_property, write_value

    found = read_property((value,))
    if isinstance(found, bool | float):
        return write_value(found) if "," in value else value.lower().lstrip("+")
    return None if parse_day(value) is None else f"date({_quote(value)})"


_WRITERS: Final[Mapping[str, Callable[[Condition], str | None]]] = {
    "path": lambda one: f"file.path.contains({_quote(one.value)})",
    "folder": _write_folder,
    "file": lambda one: f"file.name.contains({_quote(one.value)})",
    "tag": lambda one: f"file.hasTag({_quote(one.value)})",
    "link": lambda one: f"file.hasLink({_quote(one.value)})",
    "has": _write_part,
    "property": _write_property,
}
