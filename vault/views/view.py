"""A computed view: which notes it shows, in which columns and order.

The views of a base and the queries of Dataview become the same value.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from vault.errors import ViewNotUnderstood
from vault.notes.tasks import TaskItem
from vault.search.conditions import Condition
from vault.search.query import Query, describe_filters
from vault.views.conditions import Clause, RowTest
from vault.views.expressions import Dialect, Expression, FieldName

__all__ = [
    "FILE",
    "MARKDOWN_NOTES",
    "MOST_COLUMNS",
    "NO_TASKS",
    "Column",
    "ComputedView",
    "Order",
    "Shape",
    "View",
    "ViewRow",
    "name_field",
    "read_limit",
]

Shape = Literal["table", "list", "task"]

# What Dataview shows without being asked.
MARKDOWN_NOTES: Final = (Condition("property", "md", "file.ext"),)
NO_TASKS: Final = Query("")
# The column with the link to the note.
FILE: Final = FieldName(("file",))
MOST_COLUMNS: Final = 50
_MOST_LIMIT_DIGITS: Final = 9

_NAMES: Final = {
    "file": "Note",
    "file.file": "Note",
    "file.link": "Note",
    "file.name": "Name",
    "file.basename": "Name",
    "file.path": "Path",
    "file.folder": "Folder",
    "file.ext": "Extension",
    "file.size": "Size",
    "file.mtime": "Changed",
    "file.mday": "Changed",
    "file.ctime": "Created",
    "file.cday": "Created",
    "file.tags": "Tags",
    "file.etags": "Tags",
    "file.links": "Links",
    "file.outlinks": "Links",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a view.

    Attributes:
        name: the name that is shown.
        value: what is computed for each note.
        is_link: whether the value is shown as a link to the note.
    """

    name: str
    value: Expression
    is_link: bool = False


@dataclass(frozen=True, slots=True)
class Order:
    """What the notes are sorted or grouped by."""

    value: Expression
    is_descending: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """A view of notes or tasks, as a base or a query describes it.

    Attributes:
        name: the name of the view, or an empty string.
        shape: how it is shown. Cards are shown as a table.
        dialect: the language of its expressions.
        clauses: what a note must fulfil.
        tasks: the kind of tasks, if tasks are shown.
        task_tests: what a task must fulfil besides.
        limit: the most notes or tasks that are shown, or None for all.
        group: what the notes are grouped by, or None.
        inner_groups: what those of a group are grouped by besides.
        group_limit: the most notes or tasks of a group that are shown, or None for all.
        formulas: the formulas of a base, by name.
        problems: what of the view is not shown, each as a sentence.
    """

    name: str
    shape: Shape = "table"
    dialect: Dialect = "base"
    clauses: tuple[Clause, ...] = ()
    tasks: Query = NO_TASKS
    task_tests: tuple[Expression, ...] = ()
    columns: tuple[Column, ...] = ()
    sort: tuple[Order, ...] = ()
    limit: int | None = None
    group: Order | None = None
    inner_groups: tuple[Order, ...] = ()
    group_limit: int | None = None
    formulas: Mapping[str, Expression] = field(default_factory=dict, hash=False)
    problems: tuple[str, ...] = ()

    @property
    def groups(self) -> tuple[Order, ...]:
        """All that the notes or tasks are grouped by."""
        return () if self.group is None else (self.group, *self.inner_groups)

    @property
    def query(self) -> Query:
        """The filter as a query, without the tests that no query can say."""
        clauses = tuple(
            tuple(one for one in clause if isinstance(one, Condition))
            for clause in self.clauses
            if not any(isinstance(one, RowTest) for one in clause)
        )
        return Query("", clauses=clauses, task=self.tasks.task)

    @property
    def is_query(self) -> bool:
        """Whether the query language can say the whole filter."""
        tests = (one for clause in self.clauses for one in clause if isinstance(one, RowTest))
        return not self.task_tests and next(tests, None) is None

    def describe(self) -> str:
        """Describe the filter for a sentence, such as "with the tag #book"."""
        clauses = tuple(clause for clause in self.query.clauses if clause != MARKDOWN_NOTES)
        description = describe_filters(replace(self.query, clauses=clauses))
        return (
            description if self.is_query else ", ".join(filter(None, (description, "by a formula")))
        )


@dataclass(frozen=True, slots=True)
class ViewRow:
    """A note or task of a computed view.

    Attributes:
        path: the note.
        cells: the text of each column, as Markdown.
        group: the text of the group, or an empty string.
        task: the task, or None for a note.
        version: the SHA-256 of the content that was indexed, and that the line of the task is in.
    """

    path: str
    cells: tuple[str, ...]
    group: str = ""
    task: TaskItem | None = None
    version: str = ""


@dataclass(frozen=True, slots=True)
class ComputedView:
    """The result of a view.

    Attributes:
        view: the view.
        rows: the notes or tasks, at most as many as were asked for.
        total: the number of notes or tasks, with those that are not among the rows.
        filter: describes the filter, or an empty string.
    """

    view: View
    rows: tuple[ViewRow, ...]
    total: int
    filter: str = ""

    json_shape = (
        "name = view.name",
        "shape = view.shape",
        "columns = column_names",
        "rows = named_rows",
        "total",
        "filter",
        "problems = view.problems",
    )

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.view.columns]

    @property
    def named_rows(self) -> list[dict[str, object]]:
        """The path and the cells of each row, with its group and its task if there is one."""
        return [
            {"path": row.path, "cells": row.cells}
            | ({"group": row.group} if self.view.group is not None else {})
            | ({"line": row.task.line, "status": row.task.status} if row.task else {})
            for row in self.rows
        ]

    @property
    def more(self) -> int:
        """The number of notes or tasks that are not among the rows."""
        return self.total - len(self.rows)


def name_field(text: str) -> str:
    """Return the name of a column that shows a field, such as `note.age` or `file.name`."""
    if text in _NAMES:
        return _NAMES[text]
    for start in ("note.", "formula.", "file."):
        text = text.removeprefix(start)
    return text


def read_limit(text: str, word: str) -> int:
    """Return the most rows of a view.

    Args:
        text: the number as written.
        word: what is written before it, such as `LIMIT`.

    Raises:
        ViewNotUnderstood: the text is no number, or one with too many digits.
    """
    if not text.isdecimal() or len(text) > _MOST_LIMIT_DIGITS:
        raise ViewNotUnderstood(f"{word} {text}")
    return int(text)
