"""Add up the values of a property, or of a column of tables, for an answer that quotes them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from chains.retrieval.listing import ListPage, build_told_page, find_property_line
from vault.coverage import name_count
from vault.errors import VaultError
from vault.notes.amounts import Amount, add_amounts, average_amounts, parse_amount
from vault.notes.note import Note
from vault.notes.text.lines import TABLE_ROW, TABLE_RULE
from vault.search.hits import Hit
from vault.search.query import describe_filters, parse_query

if TYPE_CHECKING:
    from context.layers import Segment
    from vault.questions.reader import Reading
    from vault.vault import Vault

__all__ = ["tell_total"]

# Of more notes, no total is told.
_MOST_NOTES: Final = 300
_BETWEEN_CELLS: Final = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class _Row:
    """A line with its values."""

    line: Hit
    values: tuple[str, ...]


def tell_total(
    vault: "Vault", reading: "Reading", attached: "Sequence[Segment]"
) -> ListPage | None:
    """Build the page that tells a sum or mean with the lines that it is made of.

    Args:
        vault: the vault.
        reading: a question for the `sum` or `mean` of a property.
        attached: the segments that are attached already, which have numbers.

    Returns:
        The page, or None if no note has such a property or column, or if there are too many.
    """
    found = vault.list_notes(reading.query, _MOST_NOTES, rebuilds=True)
    if (found.total or 0) > len(found.hits) or found.is_partial:
        return None
    notes = list(_read_notes(vault, found.hits))
    for name in reading.names:
        rows = [row for hit, note in notes for row in _find_property(hit, note, name)]
        if not rows:
            rows = [row for hit, note in notes for row in _find_column(hit, note, name)]
        if rows:
            text = _write_sentence(reading, name, rows, len(notes))
            return build_told_page(text, [row.line for row in rows], attached)
    return None


def _read_notes(vault: "Vault", hits: Sequence[Hit]) -> Iterator[tuple[Hit, Note]]:
    for hit in hits:
        try:
            yield hit, vault.read_allowed(hit.path)
        except VaultError:  # it is gone, or hidden by now
            continue


def _find_property(hit: Hit, note: Note, name: str) -> Iterator[_Row]:
    """Yield the line of a note that holds a property, if it has the property."""
    values = note.properties.get(name, ())
    whole = replace(hit, text=note.text, lines=(1, note.text.count("\n") + 1), version=note.version)
    line = find_property_line([whole], name) if values else None
    if line is not None:
        yield _Row(line, values)


def _find_column(hit: Hit, note: Note, name: str) -> Iterator[_Row]:
    """Yield the rows of a note's tables with a value in a column, but for those of a total."""
    from vault.questions.words import are_alike, find_roles  # only for questions of a person

    column: int | None = None
    lines = note.text.split("\n")
    for at, kind in enumerate(note.kinds):
        cells = _split_cells(lines[at]) if kind == TABLE_ROW else []
        if kind == TABLE_RULE:
            continue
        if not cells:
            column = None
        elif note.kinds[at + 1 : at + 2] == TABLE_RULE:
            column = next((n for n, cell in enumerate(cells) if are_alike(cell, name)), None)
        elif column is not None and "".join(cells[column : column + 1]):
            if any(find_roles(cell) & {"total", "mean"} for cell in cells):
                continue
            line = replace(hit, text=lines[at], lines=(at + 1, at + 1), version=note.version)
            yield _Row(line, (cells[column],))


def _split_cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    inner = inner if inner.endswith("\\|") else inner.removesuffix("|")
    return [cell.strip(" \t*_`") for cell in _BETWEEN_CELLS.split(inner)]


def _write_sentence(reading: "Reading", name: str, rows: Sequence[_Row], notes: int) -> str:
    """Write what is told above the lines. Values without a common unit are not added."""
    values = [value for row in rows for value in row.values]
    amounts = [amount for value in values if (amount := parse_amount(value)) is not None]
    total = _combine(reading, amounts) if len(amounts) == len(values) else None
    kind = "mean" if reading.operation == "mean" else "sum"
    having = len({row.line.path for row in rows})
    rest = f", of which {having:,} {'has' if having == 1 else 'have'} it" if having < notes else ""
    place = _name_place(reading, rows, notes)
    if total is None:
        reason = "they are not all numbers with the same unit"
        return f"The values of {name} have no {kind}: {reason}. Searched {place}{rest}."
    count = name_count(len(values), "value")
    return f"The {kind} of {name} is {total}, of {count} in {place}{rest}."


def _name_place(reading: "Reading", rows: Sequence[_Row], notes: int) -> str:
    """Name the notes that were searched, as "3 notes with the tag #book"."""
    query = parse_query(reading.query)
    if notes == 1 and any(each.key == "path" for clause in query.clauses for each in clause):
        return f"“{rows[0].line.title}”"
    filters = describe_filters(query)
    return f"{name_count(notes, 'note')}{f' {filters}' if filters else ''}"


def _combine(reading: "Reading", amounts: Sequence[Amount]) -> Amount | None:
    return average_amounts(amounts) if reading.operation == "mean" else add_amounts(amounts)
