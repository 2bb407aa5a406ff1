"""Find the table rows that have a value in a given column, and leave out totals."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from chains.retrieval.listing_query import list_kinds
from vault.errors import VaultError
from vault.notes.amounts import Amount, DecimalMark, add_amounts, average_amounts, parse_amount
from vault.notes.keywords import fold
from vault.notes.note import Note
from vault.notes.text.lines import TABLE_ROW, TABLE_RULE
from vault.search.conditions import Condition, compare_values
from vault.search.hits import Hit
from vault.search.query import Query

if TYPE_CHECKING:
    from vault.vault import Vault

__all__ = ["FittingRows", "TableRow", "drop_totals", "find_fitting_rows", "find_tables"]

# Of so many notes, the tables are read for each name of a column.
_MOST_NOTES: Final = 300

_BETWEEN_CELLS: Final = re.compile(r"(?<!\\)\|")
_IN_BRACKETS: Final = re.compile(r"\s*(?:\([^()]*\)|\[[^\[\]]*\])\s*$")
# A value of fewer rows above is no sum by itself, since two rows may cost the same.
_FEWEST_ABOVE: Final = 2


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table with a value.

    Attributes:
        line: the line of the note.
        value: the cell in the column.
        others: the other cells that hold something.
        columns: the names of all columns.
    """

    line: Hit
    value: str
    others: tuple[str, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FittingRows:
    """The rows of tables that fulfil conditions on properties.

    Attributes:
        clauses: the conditions. A row fulfils a clause if a cell fulfils one of its conditions.
        lines: the rows that fulfil all clauses.
        is_any: whether a row fulfils at least one clause.
        is_whole: whether all notes that name the columns were read.
    """

    clauses: tuple[tuple[Condition, ...], ...]
    lines: tuple[Hit, ...]
    is_any: bool
    is_whole: bool


def find_tables(hit: Hit, note: Note, names: Collection[str]) -> Iterator[tuple[TableRow, ...]]:
    """Yield the rows with a value in a column, for each table of a note that has the column.

    Args:
        hit: a passage of the note.
        names: the names that the column may have.
    """
    column: int | None = None
    columns: tuple[str, ...] = ()
    rows: list[TableRow] = []
    lines = note.text.split("\n")
    for at, kind in enumerate(note.kinds):
        if kind == TABLE_RULE:
            continue
        cells = _split_cells(lines[at]) if kind == TABLE_ROW else []
        is_header = bool(cells) and note.kinds[at + 1 : at + 2] == TABLE_RULE
        if (is_header or not cells) and rows:
            yield tuple(rows)
            rows = []
        if is_header:
            columns = tuple(cells)
            column = next((n for n, cell in enumerate(cells) if _is_named(cell, names)), None)
        elif not cells:
            column = None
        elif column is not None and "".join(cells[column : column + 1]):
            line = replace(hit, text=lines[at], lines=(at + 1, at + 1), version=note.version)
            others = tuple(cell for n, cell in enumerate(cells) if cell and n != column)
            rows.append(TableRow(line, cells[column], others, columns))
    if rows:
        yield tuple(rows)


def find_fitting_rows(vault: "Vault", query: Query) -> FittingRows:
    """Find the rows of tables that fulfil the conditions of a query on properties.

    The column may have the name of the property in another language. Conditions that are negated,
    or on something else, are ignored.
    """
    clauses = tuple(each for each in query.clauses if _is_on_properties(each))
    found = dict[tuple[str, int], TableRow]()
    counts = Counter[tuple[str, int]]()
    is_whole = True
    for clause in clauses:
        fitting = dict[tuple[str, int], TableRow]()
        for condition in clause:
            rows, is_all = _list_rows(vault, condition.name)
            is_whole = is_whole and is_all
            fits = (row for row in rows if compare_values(row.value, condition))
            fitting.update({(row.line.path, row.line.lines[0]): row for row in fits})
        found.update(fitting)
        counts.update(fitting.keys())
    whole = [found[place] for place, fulfilled in counts.items() if fulfilled == len(clauses)]
    lines = tuple(row.line for row in _leave_out_other_kinds(whole, list_kinds(query)))
    return FittingRows(clauses, lines, bool(counts), is_whole)


def _leave_out_other_kinds(rows: Sequence[TableRow], kinds: Sequence[str]) -> list[TableRow]:
    """Return the rows without those of tables that name only other things than what is asked for.

    Asked for recipes, the rows of a table of films are left out. A table of dishes, or one that
    names no kind of things, may have recipes, and so may one in a note or folder "Recipes".
    """
    from vault.questions.words import are_same_things, names_thing  # only for questions of a person

    def is_of_kind(row: TableRow) -> bool:
        names = (*row.columns, row.line.title, *PurePosixPath(row.line.path).parent.parts)
        return any(are_same_things(name, kind) for name in names for kind in kinds)

    def is_of_other(row: TableRow) -> bool:
        return any(map(names_thing, row.columns)) and not is_of_kind(row)

    return [row for row in rows if not kinds or not is_of_other(row)]


def _is_on_properties(clause: Sequence[Condition]) -> bool:
    return all(each.name and not each.is_negated for each in clause)


def _list_rows(vault: "Vault", name: str) -> tuple[list[TableRow], bool]:
    """Return the rows with a value in a column, and whether all notes that name it were read.

    The notes are listed and not searched for, so that no row depends on how notes are ranked.
    """
    from vault.questions.words import list_synonyms  # only for questions of a person

    names = sorted({name, *list_synonyms(fold(name))})
    listed = [vault.list_notes(f'"{each}"', _MOST_NOTES) for each in names]
    is_whole = all((each.total or 0) <= len(each.hits) for each in listed)
    hits = {hit.path: hit for each in listed for hit in each.hits}
    rows = list[TableRow]()
    for hit in hits.values():
        try:
            note = vault.read_allowed(hit.path)
        except VaultError:  # it is gone, or hidden by now
            continue
        rows += chain.from_iterable(find_tables(hit, note, names))
    return rows, is_whole


def drop_totals(
    rows: Sequence[TableRow], mark: DecimalMark
) -> tuple[list[TableRow], TableRow | None]:
    """Return the rows of a table before the first doubtful one, without totals, and that row.

    A row is a total if its words say so and its value is the sum or mean of other rows, or if it is
    the sum of rows with other cells and has none itself. A row with one of these signs only is
    doubtful. None is returned in its place if there is none.

    Args:
        rows: the rows of the table.
        mark: the decimal mark of the column.
    """
    from vault.questions.words import names_total  # only for questions of a person

    read = [(row, parse_amount(row.value, mark), any(map(names_total, row.others))) for row in rows]
    whole = [amount for _, amount, is_named in read if amount is not None and not is_named]
    kept: list[TableRow] = []
    above: list[Amount] = []
    section: list[Amount] = []
    for row, amount, is_named in read:
        groups = (above, section, whole) if is_named else (above, section)
        is_made = amount is not None and any(
            _is_made_of(amount, group, is_named=is_named) for group in groups
        )
        is_like_above = bool(row.others) or not any(each.others for each in kept)
        if is_named != is_made and (is_named or is_like_above):
            return kept, row
        if is_made:
            section = []
            continue
        kept.append(row)
        if amount is not None:
            above.append(amount)
            section.append(amount)
    return kept, None


def _is_made_of(amount: Amount, group: Sequence[Amount], *, is_named: bool) -> bool:
    """Return whether an amount is the sum of others, or their mean if its row is named so."""
    if not is_named and (len(group) < _FEWEST_ABOVE or not amount.number):
        return False
    total = add_amounts(group)
    if total is None or fold(total.unit) != fold(amount.unit):
        return False
    mean = average_amounts(group) if is_named else None
    return amount.number == total.number or (
        mean is not None and round(mean.number, amount.decimals) == amount.number
    )


def _is_named(header: str, names: Collection[str]) -> bool:
    """Return whether a column has one of several names, maybe with a unit, as "Price (€)"."""
    from vault.questions.words import are_alike  # only for questions of a person

    name = _IN_BRACKETS.sub("", header)
    return any(are_alike(name, each) for each in names)


def _split_cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    inner = inner if inner.endswith("\\|") else inner.removesuffix("|")
    return [cell.strip(" \t*_`") for cell in _BETWEEN_CELLS.split(inner)]
