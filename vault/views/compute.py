"""Compute views from the index: choose the notes or tasks, sort them, and write their cells."""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import Final

from vault.catalog import Catalog, Row
from vault.notes.kinds import find_kind
from vault.notes.note import Link, Note
from vault.notes.properties import normalize_name
from vault.records import Records
from vault.scope import WHOLE, Scope
from vault.search.conditions import Condition, find_property_mark
from vault.search.filters import find_files, find_matching, list_matching_tasks
from vault.search.passages import KeepCurrent, Passages
from vault.search.query import Query
from vault.views.conditions import Clause, RowTest
from vault.views.evaluate import Evaluator, NoteRow
from vault.views.expressions import FieldName, list_inner
from vault.views.task_fields import TaskGraph, read_depended_ids, read_id
from vault.views.values import Value, is_true, sort_key, write_value
from vault.views.view import ComputedView, View, ViewRow

__all__ = ["ViewComputer", "find_row"]

_MOST_CELL_CHARS: Final = 400
_WITHIN: Final = " › "  # between the names of a group and of one in it
_NO_NAME: Final = "None"
_OF_GRAPH: Final = (FieldName(("isBlocked",)), FieldName(("isBlocking",)))


def find_row(catalog: Catalog, path: str, root: Path) -> NoteRow | None:
    """Return a note as the index has it, or None if it is not indexed.

    Args:
        catalog: the catalog of the index.
        path: the path of the note.
        root: the folder of the vault.
    """
    known = Records(catalog).find_files([path])
    if path not in known or known[path].state != "indexed":
        return None
    rows = catalog.rows("SELECT id FROM files WHERE path = ?", (path,))
    return _read_rows(catalog, [int(row[0]) for row in rows], root).get(int(rows[0][0]))


class ViewComputer:
    """Computes views of the notes in an index.

    Args:
        catalog: the catalog of the index.
        root: the folder of the vault, in which times of creation are read.
        keep_current: yields the given passages that still exist, with current line numbers.
        scope: the part of the vault that is shown.
        this: the note that contains the view, or None.
        now: the time that `now()` and `today()` stand for.
    """

    def __init__(
        self,
        catalog: Catalog,
        root: Path,
        keep_current: KeepCurrent,
        scope: Scope = WHOLE,
        this: NoteRow | None = None,
        now: datetime = datetime.min,
    ) -> None:
        self._catalog, self._root, self._keep_current = catalog, root, keep_current
        self._scope, self._this, self._now = scope, this, now

    def find_notes(self, view: View, evaluator: Evaluator) -> dict[int, NoteRow]:
        """Return the notes that fulfil a view's filter, by the id of their file."""
        plain = view.query
        found = find_files(Query("", clauses=plain.clauses), self._catalog, self._scope)
        rows = _read_rows(self._catalog, found, self._root)
        for clause in view.clauses:
            if any(isinstance(one, RowTest) for one in clause):
                kept = self._find_by_clause(clause, rows, evaluator)
                rows = {number: row for number, row in rows.items() if number in kept}
        return rows

    def compute(
        self,
        view: View,
        filter_allowed: Callable[[Sequence[str]], Collection[str]],
        most: int,
    ) -> ComputedView:
        """Compute a view.

        Args:
            filter_allowed: returns those of some notes, by path, that may be shown now.
            most: the most rows that are returned. The others are only counted.

        Raises:
            ViewTooLong: the view takes too much work.
        """
        evaluator = self._build_evaluator(view)
        found = self.find_notes(view, evaluator)
        allowed = filter_allowed([row.path for row in found.values()])
        notes = {number: row for number, row in found.items() if row.path in allowed}
        rows: Iterable[NoteRow] = notes.values()
        if view.shape == "task":
            rows = self._list_tasks(view, notes, evaluator)
        ordered = _join_groups(view, _sort(view, list(rows), evaluator), evaluator)
        total = len(ordered) if view.limit is None else min(view.limit, len(ordered))
        shown = ordered[: min(total, most)]
        cells = tuple(self._build_row(view, row, evaluator) for row in shown)
        return ComputedView(view, cells, total, view.describe())

    def _build_evaluator(self, view: View) -> Evaluator:
        find_mark = cache(partial(find_property_mark, catalog=self._catalog))
        return Evaluator(view.dialect, view.formulas, self._this, self._now, find_mark)

    def _find_by_clause(
        self, clause: Clause, rows: Mapping[int, NoteRow], evaluator: Evaluator
    ) -> set[int]:
        paths = {number: row.path for number, row in rows.items()}
        conditions = [one for one in clause if isinstance(one, Condition)]
        found = find_matching(conditions, self._catalog, paths)
        for test in clause:
            if isinstance(test, RowTest):
                found |= {
                    number
                    for number, row in rows.items()
                    if is_true(evaluator.evaluate(test.expression, row)) != test.is_negated
                }
        return found

    def _list_tasks(
        self, view: View, notes: Mapping[int, NoteRow], evaluator: Evaluator
    ) -> Iterator[NoteRow]:
        """Yield the tasks in the given notes, by note and line."""
        by_path = {row.path: row for row in notes.values()}
        graph = self._read_graph() if _uses_graph(view) else None
        passages = Passages(self._catalog)
        ids = passages.find_with_tasks() & passages.find_in_files(list(notes)).keys()
        for _, passage in self._keep_current(sorted(passages.details(ids).items())):
            note = by_path[passage.path]
            text = passage.markdown_text
            for task in list_matching_tasks(view.tasks, passage):
                here = replace(task, line=passage.lines[0] + task.line - 1)
                current = replace(note.note, version=passage.version)
                above = text.find_headings(task.line - 1)[-1:] or passage.heading[-1:]
                row = replace(note, note=current, task=here, section="".join(above), graph=graph)
                if all(is_true(evaluator.evaluate(test, row)) for test in view.task_tests):
                    yield row

    def _read_graph(self) -> TaskGraph:
        """Return which open tasks of the notes wait for others."""
        passages, wanted = Passages(self._catalog), Query("", task="any")
        files = find_files(wanted, self._catalog, self._scope)
        ids = passages.find_with_tasks() & passages.find_in_files(list(files)).keys()
        shown = self._keep_current(sorted(passages.details(ids).items()))
        tasks = (task for _, passage in shown for task in list_matching_tasks(wanted, passage))
        open_ids, needed_ids = set[str](), set[str]()
        for task in (task for task in tasks if task.is_of_kind("open")):
            open_ids.add(read_id(task))
            needed_ids.update(read_depended_ids(task))
        return TaskGraph(frozenset(open_ids - {""}), frozenset(needed_ids))

    def _build_row(self, view: View, row: NoteRow, evaluator: Evaluator) -> ViewRow:
        cells = tuple(
            _write_cell(row.link if column.is_link else evaluator.evaluate(column.value, row))
            for column in view.columns
        )
        group = _name_group(view, row, evaluator)
        return ViewRow(row.path, cells, group, row.task, row.note.version)


def _uses_graph(view: View) -> bool:
    """Return whether a view asks which tasks wait for others."""
    orders = (order.value for order in (*view.groups, *view.sort))
    return any(one in _OF_GRAPH for test in (*view.task_tests, *orders) for one in list_inner(test))


def _name_group(view: View, row: NoteRow, evaluator: Evaluator) -> str:
    names = (write_value(evaluator.evaluate(order.value, row)) for order in view.groups)
    return _WITHIN.join(name or _NO_NAME for name in names) if view.inner_groups else "".join(names)


def _join_groups(view: View, rows: list[NoteRow], evaluator: Evaluator) -> list[NoteRow]:
    """Put the rows of each group together, since "Work" and "work" are sorted as one text."""
    groups = defaultdict[str, list[NoteRow]](list)
    for row in rows:
        groups[_name_group(view, row, evaluator)].append(row)
    return [row for group in groups.values() for row in group[: view.group_limit]]


def _write_cell(value: Value) -> str:
    text = write_value(value)
    return text if len(text) <= _MOST_CELL_CHARS else f"{text[:_MOST_CELL_CHARS].rstrip()}…"


def _sort(view: View, rows: list[NoteRow], evaluator: Evaluator) -> list[NoteRow]:
    """Sort notes by their group, then as the view says, then by path. What is empty is last."""
    rows.sort(key=lambda row: (row.path.casefold(), row.path, row.line))
    orders = [*view.groups, *view.sort]
    for order in reversed(orders):
        values = {id(row): evaluator.evaluate(order.value, row) for row in rows}
        filled = [row for row in rows if values[id(row)] not in (None, "", ())]
        empty = [row for row in rows if values[id(row)] in (None, "", ())]
        keys = {id(row): sort_key(values[id(row)]) for row in filled}
        filled.sort(key=lambda row: keys[id(row)], reverse=order.is_descending)
        rows = filled + empty
    return rows


_FILES: Final = """
SELECT id, path, size, mtime_ns, version, title FROM files JOIN notes ON notes.file_id = files.id
WHERE state = 'indexed' AND id IN (SELECT value FROM json_each(?))
"""


def _read_rows(catalog: Catalog, ids: Collection[int], root: Path) -> dict[int, NoteRow]:
    wanted = (json.dumps(sorted(ids)),)
    properties: dict[int, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for file, written, value in _read_table(catalog, "properties", "name, value", wanted):
        name = normalize_name(written)
        properties[file][name] = (*properties[file].get(name, ()), value)
    tags, links = defaultdict[int, list[str]](list), defaultdict[int, list[Link]](list)
    for file, tag in _read_table(catalog, "tags", "tag", wanted):
        tags[file].append(tag)
    for file, target in _read_table(catalog, "links", "target", wanted):
        links[file].append(Link(target))
    rows = {}
    for number, path, size, time_ns, version, title in catalog.rows(_FILES, wanted):
        note = Note(
            path,
            title,
            "",
            version,
            find_kind(path),
            tags=tuple(dict.fromkeys(tags[number])),
            links=tuple(links[number]),
            properties=properties[number],
        )
        changed = datetime.fromtimestamp(max(time_ns, 0) / 1e9)
        rows[int(number)] = NoteRow(note, int(size), changed, root=root)
    return rows


def _read_table(catalog: Catalog, table: str, columns: str, wanted: tuple[str]) -> Sequence[Row]:
    return catalog.rows(
        f"SELECT file_id, {columns} FROM {table}"  # noqa: S608 - names of ours
        " WHERE file_id IN (SELECT value FROM json_each(?)) ORDER BY rowid",
        wanted,
    )
