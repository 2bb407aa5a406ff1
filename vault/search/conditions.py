"""Define the conditions of a query on notes, and find the notes that fulfil them.

    path:garden  folder:"winter garden"  file:seed  tag:recipe/soup  link:Server  [rating:>=4 <=5]
    linked-from:Server  has:open-task  folder:/garden/beds  [author:~smith]  [file.ext:md]

A condition is negated by `-` before it, and conditions joined by `OR` are alternatives. The table
`vault.search.filter_kinds.FILTERS` says which of the functions here finds the notes for a key.
"""

import calendar
import posixpath
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final, Literal, TypeVar, cast
from unicodedata import normalize

from vault.catalog import Catalog
from vault.notes.amounts import (
    DecimalMark,
    find_decimal_mark,
    parse_amount,
    read_number,
    read_numbers,
)
from vault.notes.keywords import fold
from vault.notes.links import fold_link_name
from vault.notes.properties import normalize_name, read_tick
from vault.notes.tasks import TaskKind
from vault.notes.units import can_convert, convert_amount
from vault.records import Records

__all__ = [
    "ANY_DAY",
    "ANY_VALUE",
    "FILE_FIELDS",
    "PARTS",
    "TASK_PARTS",
    "TICKED",
    "Comparison",
    "Condition",
    "FindNotes",
    "compare_values",
    "cut_day",
    "find_by_folder",
    "find_by_link",
    "find_by_name",
    "find_by_part",
    "find_by_path",
    "find_by_property",
    "find_by_tag",
    "find_linked_from",
    "find_property_mark",
    "is_comparable",
    "parse_property",
]

_Ordered = TypeVar("_Ordered", Decimal, str)
Comparison = Literal["=", "!=", "<", "<=", ">", ">=", "~"]

# The value of a condition that a note has a property at all, as in `[rating:*]`.
ANY_VALUE: Final = "*"
# The value of a limit of days that any day fulfils, as in `-due:..`, which has no due date.
ANY_DAY: Final = ".."
# The value that a property of true and false has in notes that "have" it, as in "not read".
TICKED: Final = "true"
_FORMS: Final[tuple[Literal["NFC", "NFD"], ...]] = ("NFC", "NFD")

# What a note may have, by the value of `has:`.
PARTS: Final = {
    "tag": "a tag",
    "link": "a link",
    "property": "a property",
    "task": "a task",
    "open-task": "an open task",
    "done-task": "a done task",
}
TASK_PARTS: Final[Mapping[str, TaskKind]] = {
    "task": "any",
    "open-task": "open",
    "done-task": "done",
}
_TEST: Final = re.compile(
    r"(?P<order><=|>=|<|>)\s*(?P<first>[^<>]+?)\s+(?P<also>(?:<=|>=|<|>)[^<>]+)"
    r"|(?P<sign><=|>=|!=|<|>|=|~)?\s*(?P<value>.+)"
)
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
# A month, a day or a range of days of any year, as in `[birthday:--12]`.
_ANY_YEAR: Final = re.compile(r"--(\d\d)(?:-(\d\d)(?:\.\.--(\d\d)-(\d\d))?)?")
# A rating with the highest one behind it, such as "4/5".
_SCALE: Final = re.compile(r"^(\d+(?:[.,]\d+)?)\s?/\s?(?:5|6|10|20|100)$")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_PLAIN: Final = re.compile(r'[^\s".,;:!?()\[\]]+')
_SIGNS: Final = {
    "=": "",
    "!=": "other than ",
    "<": "below ",
    "<=": "at most ",
    ">": "above ",
    ">=": "at least ",
    "~": "containing ",
}
_SIGNS_OF_DAYS: Final = _SIGNS | {"<": "before ", "<=": "until ", ">": "after ", ">=": "since "}


_MONTHS: Final = tuple(calendar.month_name)

# Finds the notes that fulfil a condition. The notes to choose from are keyed by file id.
FindNotes = Callable[["Condition", Catalog, Mapping[int, str]], set[int]]


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that a note fulfils or not.

    Attributes:
        key: the filter, which is a row of `vault.search.filter_kinds.FILTERS`.
        value: the text to compare with.
        name: the name of the property, or an empty string for other conditions.
        comparison: how the value of the property is compared.
        is_negated: whether the notes are wanted that do not fulfil the condition.
        also: another limit of the same value, as in "between 3 and 5", or None.
    """

    key: str
    value: str
    name: str = ""
    comparison: Comparison = "="
    is_negated: bool = False
    also: "Condition | None" = None

    @property
    def is_plain(self) -> bool:
        """Whether the condition is neither negated nor about a property."""
        return not (self.is_negated or self.name)

    @property
    def shown_value(self) -> str:
        """The value in a sentence, such as "rating: at least 4" for a property."""
        if self.name and self.value == ANY_VALUE:
            return f"the property {self.name}"
        return f"{self.name}: {self._show_limits()}" if self.name else self.value

    def _show_limits(self) -> str:
        if (yearly := _ANY_YEAR.fullmatch(self.value)) is not None:
            return f"{_SIGNS[self.comparison]}{_describe_yearly(yearly)} of any year"
        signs = _SIGNS_OF_DAYS if _DAY.match(self.value) else _SIGNS
        also = f" and {self.also._show_limits()}" if self.also else ""
        return f"{signs[self.comparison]}{self.value}{also}"

    def _write_limits(self) -> str:
        is_written = self.comparison != "=" or self.value.startswith(tuple(_SIGNS))
        comparison = self.comparison if is_written else ""
        also = f" {self.also._write_limits()}" if self.also else ""
        return f"{comparison}{self.value}{also}"

    def __str__(self) -> str:
        """Write the condition as it is written in a query."""
        sign = "-" if self.is_negated else ""
        if self.name:
            return f"{sign}[{self.name}:{self._write_limits()}]"
        is_plain = _PLAIN.fullmatch(self.value) is not None
        return f"{sign}{self.key}:" + (self.value if is_plain else f'"{self.value}"')


def parse_property(name: str, test: str, *, is_negated: bool = False) -> Condition | None:
    """Parse a condition on a property, such as `rating` and `>=4`, or `>=4 <5`.

    Return None if it has no value, as a sign alone.
    """
    found = _TEST.fullmatch(test.strip().strip('"').strip())
    if found is None or not name.strip():
        return None
    sign = cast("Comparison", found["order"] or found["sign"] or "=")
    value = (found["first"] or found["value"]).strip().strip('"').strip()
    also = parse_property(name, found["also"]) if found["also"] else None
    if not value or value in _SIGNS or (found["also"] and also is None):
        return None
    return Condition("property", value, normalize_name(name), sign, is_negated, also)


def compare_values(value: str, condition: Condition, mark: DecimalMark = "") -> bool:
    """Return whether a value of a property fulfils a condition.

    Days are compared as days, and values that begin with a number by it. Amounts with a unit are
    converted to the one that is asked for, and fulfil no condition if they measure something else.
    Other values are equal if they differ only in case and accents. A unit may be left out, and one
    that is not known is ignored. A number that can be read in two ways fulfils the condition if one
    of them does, or both if the condition is negated, so that no note is missed.

    Args:
        mark: the decimal mark of the values of the property, if it is known.
    """
    outcomes = _list_outcomes(value, condition, mark)
    return outcomes == {True} if condition.is_negated else True in outcomes


def _list_outcomes(value: str, condition: Condition, mark: DecimalMark) -> set[bool]:
    """Return whether a value fulfils a condition, for each number that it may mean."""
    numbers = read_numbers(value, mark) or (None,)
    return {_is_within(value, number, condition, mark) for number in numbers}


def _is_within(value: str, number: Decimal | None, condition: Condition, mark: DecimalMark) -> bool:
    """Return whether a value fulfils a condition if it means a number, or none."""
    wanted, also = condition.value, condition.also
    value = value if "/" in wanted else _SCALE.sub(r"\1", value)  # "4/5" is 4
    if also is not None and not _is_within(value, number, also, mark):
        return False
    if condition.comparison == "~":
        return _simplify(wanted) in fold(value)
    if (yearly := _ANY_YEAR.fullmatch(wanted)) is not None:
        return _is_then(cut_day(value), yearly) == (condition.comparison != "!=")
    if condition.comparison in ("=", "!="):
        return _is_equal(value, number, wanted, mark) == (condition.comparison == "=")
    value = value.lstrip("[") if cut_day(value) else value
    if _DAY.match(value) and _DAY.match(wanted):
        return _is_in_order(*_cut_times(value, wanted), condition.comparison)
    limit = read_number(wanted, mark)
    converted = None if number is None else _convert_number(number, value, wanted)
    if limit is None or converted is None:
        return False
    return _is_in_order(converted, limit, condition.comparison)


def _describe_yearly(yearly: re.Match[str]) -> str:
    """Describe a month, a day or a range of days of any year, such as "on 3 December"."""
    first = f"{int(yearly[2])} {_name_month(yearly[1])}" if yearly[2] else ""
    if yearly[3]:
        return f"from {first} to {int(yearly[4])} {_name_month(yearly[3])}"
    return f"on {first}" if first else f"in {_name_month(yearly[1])}"


def _name_month(number: str) -> str:
    return _MONTHS[min(int(number), len(_MONTHS) - 1)]


def _is_then(day: str, yearly: re.Match[str]) -> bool:
    """Return whether a day is in a month, on a day or in a range of days of any year.

    A range may end in the next year, as that of the last week of December.
    """
    if not yearly[3] or not day:
        return day[4:].startswith(yearly[0][1:])
    of_year, first, last = day[5:], f"{yearly[1]}-{yearly[2]}", f"{yearly[3]}-{yearly[4]}"
    if first <= last:
        return first <= of_year <= last
    return of_year >= first or of_year <= last


def cut_day(value: str) -> str:
    """Return the day that a value begins with, such as 2024-03-05, or an empty string.

    In Logseq, it is a link.
    """
    found = _DAY.match(value.lstrip('[" '))
    return found[0] if found else ""


def _cut_times(value: str, wanted: str) -> tuple[str, str]:
    """Return the days of two values, with their times if both have one."""
    chars = 16 if _TIME.match(value) and _TIME.match(wanted) else 10
    return value[:chars].replace(" ", "T"), wanted[:chars].replace(" ", "T")


def _convert_number(number: Decimal, value: str, wanted: str) -> Decimal | None:
    """Convert the number of a value to the unit that is asked for, if both have a unit.

    Return None if they measure different things.
    """
    amount, other = parse_amount(value), parse_amount(wanted)
    if amount is None or other is None or not (amount.unit and other.unit):
        return number
    return convert_amount(number, amount.unit, other.unit)


def is_comparable(condition: Condition, values: Collection[str]) -> bool:
    """Return whether it is certain which of some values fulfil a condition.

    It is not if the unit of a value cannot be converted to that of the limit, or if a number can be
    read in two ways of which only one fulfils the condition. If a limit has no unit, the values
    must not differ in theirs.
    """
    mark = find_decimal_mark(values)
    limits = [condition] if condition.also is None else [condition, condition.also]
    return all(_has_fitting_units(limit, values) for limit in limits) and all(
        len(_list_outcomes(value, condition, mark)) == 1 for value in values
    )


def _has_fitting_units(condition: Condition, values: Collection[str]) -> bool:
    """Return whether the limit of a condition can be compared with the units of some values."""
    if _ANY_YEAR.fullmatch(condition.value):  # "May 7, 1985" has no day that can be compared
        return all(cut_day(each) or not any(map(str.isdecimal, each)) for each in values)
    if condition.comparison == "~" or _DAY.match(condition.value):
        return True
    limit = parse_amount(condition.value)
    numbers = [each for each in values if read_numbers(each) and not _DAY.match(each)]
    amounts = [parse_amount(each) for each in numbers]
    units = {amount.unit for amount in amounts if amount is not None and amount.unit}
    one = Decimal(1)
    if condition.comparison in ("=", "!="):  # what measures something else is not equal
        return (
            limit is None
            or not limit.unit
            or all(
                can_convert(unit, limit.unit) or convert_amount(one, unit, limit.unit) is None
                for unit in units
            )
        )
    if limit is None or not limit.unit:
        return all(
            can_convert(unit, other) and convert_amount(one, unit, other) == one
            for unit in units
            for other in units
        )
    return None not in amounts and all(can_convert(unit, limit.unit) for unit in units)


def find_by_path(condition: Condition, _catalog: Catalog, paths: Mapping[int, str]) -> set[int]:
    """Find the notes with this text in the path."""
    wanted = fold(condition.value)
    return {number for number, path in paths.items() if wanted in fold(path)}


def find_by_folder(condition: Condition, catalog: Catalog, paths: Mapping[int, str]) -> set[int]:
    """Find the notes in a folder of this name, or with this text in the path if there is none.

    A name that begins with `/` is the path of one folder of the vault.
    """
    wanted = f"/{fold(condition.value).strip('/')}/"
    if condition.value.startswith("/"):
        is_top = wanted == "//"
        return {
            number
            for number, path in paths.items()
            if is_top or f"/{fold(path)}".startswith(wanted)
        }
    found = {
        number for number, path in paths.items() if wanted in f"/{fold(path).rpartition('/')[0]}/"
    }
    return found or find_by_path(condition, catalog, paths)


def find_by_name(condition: Condition, _catalog: Catalog, paths: Mapping[int, str]) -> set[int]:
    """Find the notes with this text in the name."""
    wanted = fold(condition.value)
    return {
        number for number, path in paths.items() if wanted in fold(path).rsplit("/", maxsplit=1)[-1]
    }


def find_by_tag(condition: Condition, catalog: Catalog, _paths: Mapping[int, str]) -> set[int]:
    """Find the notes with this tag, or with a tag under it."""
    wanted = fold(condition.value)
    rows = catalog.rows("SELECT file_id, tag FROM tags")
    return {int(row[0]) for row in rows if f"{fold(row[1])}/".startswith(f"{wanted}/")}


def find_by_link(condition: Condition, catalog: Catalog, paths: Mapping[int, str]) -> set[int]:
    """Find the notes that link to a note, or that use this name if there is no such note."""
    records = Records(catalog)
    own = fold_link_name(condition.value)
    links = catalog.rows("SELECT file_id, target FROM links")
    folded = {target: fold_link_name(target) for _, target in links}
    resolver = records.resolve_links_among({own}, "/")
    wanted = resolver.resolve(condition.value)
    names = {own} if wanted is None else {own, *records.list_names(wanted)}
    among = records.resolve_links_among(names, "/")
    return {
        int(number)
        for number, target in links
        if folded[target] in names
        and (wanted is None or among.resolve(target, paths.get(number, "")) == wanted)
    }


def find_linked_from(condition: Condition, catalog: Catalog, paths: Mapping[int, str]) -> set[int]:
    """Find the notes that a note links to. A note that is not there links to none."""
    records = Records(catalog)
    name = condition.value
    source = records.resolve_links_among({fold_link_name(name)}, "/").resolve(name)
    rows = catalog.rows(
        "SELECT target FROM links JOIN files ON files.id = file_id WHERE path = ?", (source,)
    )
    targets = {str(target) for (target,) in rows}
    among = records.resolve_links_among(set(map(fold_link_name, targets)), "/")
    linked = {among.resolve(target, source or "") for target in targets}
    return {number for number, path in paths.items() if path in linked and path != source}


def find_by_part(condition: Condition, catalog: Catalog, _paths: Mapping[int, str]) -> set[int]:
    """Find the notes that have a part that is in a table of its own, such as a link."""
    table = {"tag": "tags", "link": "links", "property": "properties"}[condition.value]
    rows = catalog.rows(f"SELECT DISTINCT file_id FROM {table}")  # noqa: S608 - a name of ours
    return {int(number) for (number,) in rows}


def find_by_property(condition: Condition, catalog: Catalog, _paths: Mapping[int, str]) -> set[int]:
    """Find the notes with a value of this property that fulfils the condition.

    A note fulfils "other than" if it has the property, and none of its values is the given one.
    """
    rows = _read_values(condition.name, catalog)
    if condition.value == ANY_VALUE:
        return {number for number, _ in rows} | _find_with_inner(condition.name, catalog)
    mark = find_decimal_mark(value for _, value in rows)
    fulfilled = {int(number) for number, value in rows if compare_values(value, condition, mark)}
    if condition.comparison != "!=":
        return fulfilled
    return fulfilled - {
        int(number) for number, value in rows if not compare_values(value, condition, mark)
    }


def _find_with_inner(name: str, catalog: Catalog) -> set[int]:
    """Find the notes that have properties within one of this name, such as `project.state`."""
    rows = (
        catalog.rows(
            "SELECT DISTINCT file_id FROM properties WHERE substr(name, 1, ?) = ?",
            (len(form) + 1, f"{form}."),
        )
        for form in _list_forms(name)
    )
    return {int(number) for found in rows for (number,) in found}


def find_property_mark(name: str, catalog: Catalog) -> DecimalMark:
    """Return the decimal mark of the values of a property in all notes, if they show it."""
    return find_decimal_mark(value for _, value in _read_values(name, catalog))


def _read_values(name: str, catalog: Catalog) -> Sequence[tuple[int, str]]:
    """Read the values of a property of all notes, or of a field of their files."""
    if (field := FILE_FIELDS.get(name)) is not None:
        files = catalog.rows("SELECT id, path, size, mtime_ns FROM files WHERE state = 'indexed'")
        return [(int(row[0]), field(str(row[1]), int(row[2]), int(row[3]))) for row in files]
    rows = catalog.rows(
        "SELECT file_id, value FROM properties WHERE name IN (?, ?, ?, ?)", _list_forms(name)
    )
    return [(int(row[0]), str(row[1])) for row in rows]


def _list_forms(name: str) -> tuple[str, ...]:
    """Return how a name may be written in notes: its accents in two forms, and `-` for spaces.

    `due-date` is also the name of `due date`, as in Dataview.
    """
    names = (name, name.replace("-", " "))
    return tuple(normalize(form, each) for form in _FORMS for each in names)


def _write_time(time_ns: int) -> str:
    return datetime.fromtimestamp(time_ns / 1e9).astimezone().strftime("%Y-%m-%dT%H:%M:%S")


# Reads a field of a file, as a property has it, from its path, size and time of change.
FILE_FIELDS: Final[Mapping[str, Callable[[str, int, int], str]]] = {
    "file.path": lambda path, _size, _time: path,
    "file.name": lambda path, _size, _time: posixpath.basename(path),
    "file.basename": lambda path, _size, _time: posixpath.splitext(posixpath.basename(path))[0],
    "file.folder": lambda path, _size, _time: posixpath.dirname(path) or "/",
    "file.ext": lambda path, _size, _time: posixpath.splitext(path)[1].removeprefix("."),
    "file.size": lambda _path, size, _time: str(size),
    "file.mtime": lambda _path, _size, time: _write_time(time),
}


def _simplify(value: str) -> str:
    text = " ".join(fold(value).strip().removeprefix("[[").removesuffix("]]").split())
    return text.rpartition("|")[0] or text


def _is_equal(value: str, number: Decimal | None, wanted: str, mark: DecimalMark) -> bool:
    """Return whether two values are the same text or quantity. A unit may be left out.

    "Yes" and "on" are true, and "no" and "off" are false.
    """
    if _simplify(value) == _simplify(wanted):
        return True
    if (tick := read_tick(value)) is not None and tick == read_tick(wanted):
        return True
    if number is None or parse_amount(value) is None or parse_amount(wanted) is None:
        return False
    return _convert_number(number, value, wanted) == read_number(wanted, mark)


def _is_in_order(value: _Ordered, limit: _Ordered, comparison: Comparison) -> bool:
    match comparison:
        case "<":
            return value < limit
        case "<=":
            return value <= limit
        case ">":
            return value > limit
        case ">=":
            return value >= limit
    return value == limit
