"""Tell a property of a note or a table, or add up those of several notes or of a column.

The answer quotes the lines with the values.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from chains.retrieval.listing import ListPage, build_told_page, find_property_line
from chains.retrieval.table_rows import FittingRows, TableRow, drop_totals, find_tables
from vault.coverage import name_count
from vault.errors import VaultError
from vault.notes.amounts import (
    Amount,
    DecimalMark,
    add_amounts,
    average_amounts,
    find_decimal_mark,
    has_two_readings,
    parse_amount,
)
from vault.notes.note import Note
from vault.options import SearchOptions
from vault.search.hits import Hit
from vault.search.query import Query, describe_filters, parse_query

if TYPE_CHECKING:
    from context.layers import Segment
    from vault.questions.reader import Reading
    from vault.vault import Vault

__all__ = ["tell_rows", "tell_total", "tell_value"]

# Of more notes, no total is told.
_MOST_NOTES: Final = 300
_MOST_PASSAGES: Final = 500


@dataclass(frozen=True, slots=True)
class _Row:
    """A line with its values."""

    line: Hit
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """The lines with all values of a property or column.

    Attributes:
        mark: the decimal mark of the values, if it is known.
        doubt: why they cannot be added, or an empty string.
    """

    rows: tuple[_Row, ...]
    mark: DecimalMark
    doubt: str


def tell_total(
    vault: "Vault", reading: "Reading", attached: "Sequence[Segment]"
) -> ListPage | None:
    """Build the page that tells a sum or mean with the lines that it is made of.

    Args:
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
        values = _find_values(notes, name)
        if values.rows:
            text = _write_sentence(reading, name, values, len(notes))
            return build_told_page(text, [row.line for row in values.rows], attached)
    return None


def tell_value(
    vault: "Vault",
    reading: "Reading",
    attached: "Sequence[Segment]",
    on_wait: Callable[[], None] = lambda: None,
) -> ListPage | None:
    """Build the page that tells a property of a note.

    Args:
        reading: a question for the `value` of a property.
        attached: the segments that are attached already, which have numbers.
        on_wait: called during a long search. It can raise an exception to stop.

    Returns:
        The page, or None if the note has no line with the property.
    """
    options = SearchOptions(rebuilds=True, on_wait=on_wait)
    result = vault.search(reading.query, _MOST_PASSAGES, options)
    hits = [hit for hit in result.hits if reading.property in hit.text.lower()]
    property_line = find_property_line(hits, reading.property)
    if property_line is None:
        return None
    return build_told_page(
        f"“{property_line.title}” has this as {reading.property}:", [property_line], attached
    )


def tell_rows(fitting: FittingRows, total: str, attached: "Sequence[Segment]") -> ListPage:
    """Build the page that tells the rows of tables with properties that no note has.

    Args:
        fitting: the rows.
        total: the sentence that says that no note has the properties.
        attached: the segments that are attached already, which have numbers.
    """
    lines = fitting.lines[:_MOST_PASSAGES]
    count = name_count(len(fitting.lines), "row")
    count = count if fitting.is_whole else f"At least {count}"
    shown = count if len(lines) == len(fitting.lines) else f"{count} (of which {len(lines)} follow)"
    asked = describe_filters(Query("", clauses=fitting.clauses))
    return build_told_page(f"{shown} of tables {asked}. {total}", lines, attached)


def _read_notes(vault: "Vault", hits: Sequence[Hit]) -> Iterator[tuple[Hit, Note]]:
    for hit in hits:
        try:
            yield hit, vault.read_allowed(hit.path)
        except VaultError:  # it is gone, or hidden by now
            continue


def _find_values(notes: Sequence[tuple[Hit, Note]], name: str) -> _Found:
    """Return the lines that hold a property, or else the rows of tables with such a column."""
    having = [(hit, note) for hit, note in notes if any(note.properties.get(name, ()))]
    rows = [row for hit, note in having for row in _find_property(hit, note, name)]
    if having:
        found = Counter(row.line.path for row in rows for _ in row.values)
        lost = [hit for hit, note in having if found[hit.path] != _count_values(note, name)]
        doubt = f"{_name_lost(lost[0])} could not be found" if lost else ""
        return _Found(tuple(rows), _find_mark(rows), doubt)
    tables = [table for hit, note in notes for table in find_tables(hit, note, (name,))]
    mark = find_decimal_mark(row.value for table in tables for row in table)
    kept, doubt = list[_Row](), ""
    for table in tables:
        items, doubtful = drop_totals(table, mark)
        if doubtful is not None:
            items, doubt = list(table), doubt or _explain_doubt(doubtful)
        kept += [_Row(row.line, (row.value,)) for row in items]
    return _Found(tuple(kept), mark, doubt)


def _count_values(note: Note, name: str) -> int:
    """Return how many values of a property a note has, without empty ones as in a template."""
    return sum(map(bool, note.properties[name]))


def _find_mark(rows: Sequence[_Row]) -> DecimalMark:
    return find_decimal_mark(value for row in rows for value in row.values)


def _explain_doubt(row: TableRow) -> str:
    place = f"line {row.line.lines[0]:,} of “{row.line.title}”"
    return f"{place} may be a total of other lines, and is not certain to be"


def _name_lost(hit: Hit) -> str:
    return f"the line of a value in “{hit.title}”"


def _find_property(hit: Hit, note: Note, name: str) -> Iterator[_Row]:
    """Yield each line of a note that holds a property: in the front matter, and inline fields."""
    lines = note.text.split("\n")
    inline: dict[int, tuple[str, ...]] = {}
    for number, field, value in note.fields:
        if field == name:
            inline[number] = (*inline.get(number, ()), value)
    values = note.properties[name]
    above = tuple(filter(None, values[: len(values) - sum(map(len, inline.values()))]))
    front = replace(hit, text="\n".join(lines[: note.body_line - 1]), lines=(1, note.body_line - 1))
    line = (find_property_line([front], name) or _find_mention(front, name)) if above else None
    if line is not None:
        yield _Row(replace(line, version=note.version), above)
    for number, written in inline.items():
        line = replace(hit, text=lines[number - 1], lines=(number, number), version=note.version)
        if filled := tuple(filter(None, written)):
            yield _Row(line, filled)


def _find_mention(front: Hit, name: str) -> Hit | None:
    """Return the line of the front matter that names a property in another way, as in braces."""
    mention = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
    for number, line in enumerate(front.text.split("\n"), start=1):
        if mention.search(line):
            return replace(front, text=line, lines=(number, number))
    return None


def _write_sentence(reading: "Reading", name: str, found: _Found, notes: int) -> str:
    """Write what is told above the lines. If it is not certain what they sum up to, say why."""
    values = [value for row in found.rows for value in row.values]
    amounts = [parse_amount(value, found.mark) for value in values]
    known = [amount for amount in amounts if amount is not None]
    kind = "mean" if reading.operation == "mean" else "sum"
    having = len({row.line.path for row in found.rows})
    rest = f", of which {having:,} {'has' if having == 1 else 'have'} it" if having < notes else ""
    place = _name_place(reading, found.rows, notes)
    total, reason = _combine(reading, known), found.doubt
    unsure = next((value for value in values if has_two_readings(value, found.mark)), None)
    if not reason and len(known) < len(values):
        reason = "they could not all be read as numbers"
    elif not reason and unsure is not None:
        reason = f"“{unsure}” can be read in two ways"
    elif not reason and total is None:
        reason = "they do not all have the same unit"
    if reason or total is None:
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
