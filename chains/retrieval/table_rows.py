"""Find the table rows that have a value in a given column, and leave out totals."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Final

from vault.errors import VaultError
from vault.notes.amounts import Amount, DecimalMark, add_amounts, average_amounts, parse_amount
from vault.notes.keywords import fold
from vault.notes.note import Note
from vault.notes.text.lines import TABLE_ROW, TABLE_RULE
from vault.search.conditions import Condition, compare_values
from vault.search.hits import Hit

if TYPE_CHECKING:
    from vault.vault import Vault

__all__ = ["TableRow", "drop_totals", "find_tables", "has_fitting_row"]

_MOST_NOTES: Final = 20

_BETWEEN_CELLS: Final = re.compile(r"(?<!\\)\|")
# A value of fewer rows above is no sum by itself, since two rows may cost the same.
_FEWEST_ABOVE: Final = 2


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table with a value.

    Attributes:
        line: the line of the note.
        value: the cell in the column.
        others: the other cells that hold something.
    """

    line: Hit
    value: str
    others: tuple[str, ...]


def find_tables(hit: Hit, note: Note, name: str) -> Iterator[tuple[TableRow, ...]]:
    """Yield the rows with a value in a column, for each table of a note that has the column."""
    from vault.questions.words import are_alike  # only for questions of a person

    column: int | None = None
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
            column = next((n for n, cell in enumerate(cells) if are_alike(cell, name)), None)
        elif not cells:
            column = None
        elif column is not None and "".join(cells[column : column + 1]):
            line = replace(hit, text=lines[at], lines=(at + 1, at + 1), version=note.version)
            others = tuple(cell for n, cell in enumerate(cells) if cell and n != column)
            rows.append(TableRow(line, cells[column], others))
    if rows:
        yield tuple(rows)


def has_fitting_row(vault: "Vault", conditions: Sequence[Condition]) -> bool:
    """Return whether a table has a row that fulfils a condition on a property, in some column.

    Args:
        vault: the vault.
        conditions: the conditions. Those that are negated, or on something else, are ignored.
    """
    compared = [each for each in conditions if each.name and not each.is_negated]
    return any(
        compare_values(row.value, condition)
        for condition in compared
        for row in _list_rows(vault, condition.name)
    )


def _list_rows(vault: "Vault", name: str) -> Iterator[TableRow]:
    """Yield the rows with a value in a column of the notes that say the most of its name."""
    hits = {hit.path: hit for hit in vault.search(name, _MOST_NOTES).hits}
    for hit in hits.values():
        try:
            note = vault.read_allowed(hit.path)
        except VaultError:  # it is gone, or hidden by now
            continue
        yield from chain.from_iterable(find_tables(hit, note, name))


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


def _split_cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    inner = inner if inner.endswith("\\|") else inner.removesuffix("|")
    return [cell.strip(" \t*_`") for cell in _BETWEEN_CELLS.split(inner)]
