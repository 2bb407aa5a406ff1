"""The Qt item model of lists, tables and trees of two levels, whose rows are plain values.

    set_rows(new rows) ──key of each row──> rows removed, moved, inserted, changed ──> views

The model tells its views only what has changed, so that they keep their selection, their scroll
position and their open rows. A `RowColumn` describes what a row looks like, and only for the rows
that a view draws.
"""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, Generic, Literal, TypeVar

from PySide6.QtCore import QAbstractItemModel, QMimeData, QModelIndex, QObject, Qt, Signal

from ui.widgets.controls import one_line
from ui.widgets.lists import CELL_ROLES, Cell, Index

__all__ = ["Drag", "RowColumn", "RowStep", "RowsModel", "list_steps"]

T = TypeVar("T")
_TOP: Final = 0  # the internal id of a row of the upper level; that of another names the row above
_NOWHERE: Final = QModelIndex()
_USUAL: Final = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
# Each step makes the views lay out their rows, and most changes take one or two.
_MOST_STEPS: Final = 32


@dataclass(frozen=True)
class RowColumn(Generic[T]):
    """A column of a model.

    Attributes:
        describe: builds the cell of a row.
        title: the text of the column's header.
        order: builds the value by which rows are sorted, or None if they cannot be sorted.
        is_number: whether the cells are numbers, which stand below each other at the right edge.
    """

    describe: Callable[[T], Cell]
    title: str = ""
    order: Callable[[T], Any] | None = None
    is_number: bool = False


@dataclass(frozen=True)
class Drag(Generic[T]):
    """What is dragged out of a model, and dropped on it.

    Attributes:
        mime_type: the type of what is dragged.
        pack: builds the text that is dragged with a row, which is empty if nothing is.
        accepts: decides whether a text can be dropped on a row, or between the rows.
    """

    mime_type: str
    pack: Callable[[T], str]
    accepts: Callable[[str, T | None], bool]


@dataclass(frozen=True)
class RowStep:
    """One change of a list of rows.

    Attributes:
        kind: what happens to the rows.
        first: the place of the first of them, before the step or, if they are inserted, after it.
        count: how many rows they are.
        place: where they are moved, counted without them.
    """

    kind: Literal["remove", "move", "insert"]
    first: int
    count: int
    place: int = -1


@dataclass
class _Level(Generic[T]):
    """The rows with one parent, and what names each of them."""

    rows: list[T] = field(default_factory=list)
    keys: list[Hashable] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)

    def take(self, first: int, count: int) -> "_Level[T]":
        """Remove rows, and return them."""
        taken = self.copy(first, first + count)
        for values in (self.rows, self.keys, self.numbers):
            del values[first : first + count]
        return taken

    def put(self, first: int, others: "_Level[T]") -> None:
        """Insert rows."""
        self.rows[first:first] = others.rows
        self.keys[first:first] = others.keys
        self.numbers[first:first] = others.numbers

    def copy(self, first: int, end: int) -> "_Level[T]":
        """Return some of the rows."""
        rows, keys = self.rows[first:end], self.keys[first:end]
        return _Level(rows, keys, self.numbers[first:end])

    def arrange(self, places: Sequence[int]) -> None:
        """Put the rows in another order, which names the place of each before."""
        self.rows = [self.rows[place] for place in places]
        self.keys = [self.keys[place] for place in places]
        self.numbers = [self.numbers[place] for place in places] if self.numbers else []


class RowsModel(QAbstractItemModel, Generic[T]):
    """A Qt item model of rows of a type, which may have rows of the same type below them.

    Signals:
        edited: emitted with a row and the text that the user typed for it. The receiver must change
            the row.
        dropped: emitted with a text that was dropped, and the row on which it was dropped or None.

    Args:
        columns: the columns, of which a list or tree has one.
        key: builds what names a row, also after it has changed. Rows may share a key.
        below: returns the rows below one of the upper level, or None for a list or a table.
        flags: returns the flags of a row, or of the space below the rows for None.
        drag: what can be dragged, or None.
        page: how many rows are added at once, as a view needs them, or 0 for all. A view lays out
            all rows of its model at once, which takes too long for many thousands.
        parent: the Qt parent.
    """

    edited = Signal(object, str)
    dropped = Signal(str, object)

    def __init__(
        self,
        columns: Sequence[RowColumn[T]],
        key: Callable[[T], Hashable],
        parent: QObject,
        *,
        below: Callable[[T], Sequence[T]] | None = None,
        flags: Callable[[T | None], Qt.ItemFlag] | None = None,
        drag: Drag[T] | None = None,
        page: int = 0,
    ) -> None:
        super().__init__(parent)
        self._columns, self._key, self._below = columns, key, below
        self._find_flags, self._drag, self._page = flags, drag, page
        self._all: Sequence[T] = ()
        self._top: _Level[T] = _Level()
        self._inner: dict[int, _Level[T]] = {}
        self._places: dict[int, int] = {}
        self._numbered = _TOP
        self._open: set[Hashable] = set()
        self._sorted: tuple[Callable[[T], Any], bool] | None = None
        self._has_more = False

    @property
    def rows(self) -> Sequence[T]:
        """The rows of the upper level, in order, with those that no view has needed yet."""
        return self._top.rows if self._sorted is not None else self._all

    def set_rows(self, rows: Sequence[T]) -> None:
        """Replace all rows, unless they are the same sequence as before."""
        if rows is not self._all:
            self._all = rows
            self._show(self._sort(rows))

    def find_row(self, index: Index) -> T | None:
        """Return the row at an index, or None if the index is invalid."""
        if not index.isValid():
            return None
        return self._level(index.internalId()).rows[index.row()]

    def find(self, key: Hashable) -> QModelIndex:
        """Return the index of a row by its key, or an invalid index if no level has it."""
        if key in self._top.keys:
            return self.createIndex(self._top.keys.index(key), 0, _TOP)
        for number, level in self._inner.items():
            if key in level.keys:
                return self.createIndex(level.keys.index(key), 0, number)
        return QModelIndex()

    def redraw(self, index: Index) -> None:
        """Let the views draw a row again, because it is described differently now."""
        if index.isValid():
            end = self.index(index.row(), len(self._columns) - 1, self.parent(index))
            self.dataChanged.emit(index, end)

    def set_open(self, index: Index, is_open: bool) -> None:
        """Set whether a row is drawn as open."""
        if (row := self.find_row(index)) is not None:
            (self._open.add if is_open else self._open.discard)(self._key(row))
            self.redraw(index)

    def is_open(self, row: T) -> bool:
        """Return whether a row is drawn as open."""
        return self._key(row) in self._open

    def list_open(self) -> list[QModelIndex]:
        """Return the indexes of the rows of the upper level that are drawn as open."""
        keys = enumerate(self._top.keys)
        return [self.createIndex(row, 0, _TOP) for row, key in keys if key in self._open]

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort the rows by a column. Rows that are set later are sorted by it too."""
        key = self._columns[column].order if 0 <= column < len(self._columns) else None
        if key is not None:
            self._sorted = key, order == Qt.SortOrder.DescendingOrder
            self._show(self._sort(self._all))

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        """Return the number of rows at the top, or below a row."""
        if not parent.isValid():
            return len(self._top.rows)
        if parent.internalId() != _TOP or parent.column() > 0 or self._below is None:
            return 0
        return len(self._inner[self._top.numbers[parent.row()]].rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        """Return the number of columns."""
        return len(self._columns)

    def index(self, row: int, column: int, parent: Index = _NOWHERE) -> QModelIndex:
        """Return the index of a cell, or an invalid index if there is no such cell."""
        if not (0 <= row < self.rowCount(parent) and 0 <= column < len(self._columns)):
            return QModelIndex()
        number = self._top.numbers[parent.row()] if parent.isValid() else _TOP
        return self.createIndex(row, column, number)

    def parent(self, child: Index = _NOWHERE) -> QModelIndex:  # type: ignore[override]
        """Return the index of the row above, or an invalid index for a row at the top."""
        if not child.isValid() or child.internalId() == _TOP:
            return QModelIndex()
        return self.createIndex(self._places[child.internalId()], 0, _TOP)

    def canFetchMore(self, parent: Index) -> bool:
        """Return whether there are rows that no view has needed yet."""
        return self._has_more and not parent.isValid()

    def fetchMore(self, parent: Index) -> None:
        """Add the next rows."""
        if self.canFetchMore(parent):
            first, end = len(self._top.rows), len(self._top.rows) + self._page
            added = self._make_level(self._all[:end]).copy(first, end)
            self._has_more = False  # a view must not ask for others while these are added
            self._insert(_NOWHERE, self._top, first, added)
            self._has_more = len(self._top.rows) < len(self._all)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        """Return the title of a column, and how it is aligned."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        column = self._columns[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _find_alignment(column)
        return column.title if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return what a row is for a Qt item role."""
        if role == Qt.ItemDataRole.TextAlignmentRole and index.isValid():
            return _find_alignment(self._columns[index.column()])
        if role not in CELL_ROLES or (row := self.find_row(index)) is None:
            return None
        return self._columns[index.column()].describe(row).data(role)

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Emit `edited` if the user has typed another text for a row."""
        row, text = self.find_row(index), one_line(str(value)).strip()
        if role != Qt.ItemDataRole.EditRole or row is None:
            return False
        if not self.flags(index) & Qt.ItemFlag.ItemIsEditable:
            return False
        if text != index.data(Qt.ItemDataRole.EditRole):
            self.edited.emit(row, text)
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return the flags of a row, or of the space below the rows."""
        row = self.find_row(index)
        if self._find_flags is not None:
            found = self._find_flags(row)
        else:
            found = Qt.ItemFlag.NoItemFlags if row is None else _USUAL
        if row is not None and (self._below is None or index.internalId() != _TOP):
            found |= Qt.ItemFlag.ItemNeverHasChildren
        return found

    def supportedDropActions(self) -> Qt.DropAction:
        """Return that a row is moved by dropping it."""
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:
        """Return the type of what is dragged."""
        return [] if self._drag is None else [self._drag.mime_type]

    def mimeData(self, indexes: Sequence[Index]) -> QMimeData:
        """Return what is dragged with the first row that can be."""
        packed, rows = QMimeData(), filter(None, map(self.find_row, indexes))
        if self._drag is not None:
            text = next(filter(None, map(self._drag.pack, rows)), "")
            if text:
                packed.setData(self._drag.mime_type, text.encode())
        return packed

    def dropMimeData(
        self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index
    ) -> bool:
        """Emit `dropped` if a text can be dropped here."""
        if self._drag is None:
            return False
        text, target = bytes(data.data(self._drag.mime_type).data()).decode(), self.find_row(parent)
        if not text or not self._drag.accepts(text, target):
            return False
        self.dropped.emit(text, target)
        return True

    def _sort(self, rows: Sequence[T]) -> Sequence[T]:
        if self._sorted is None:
            return rows
        key, is_falling = self._sorted
        return sorted(rows, key=key, reverse=is_falling)

    def _level(self, number: int) -> _Level[T]:
        return self._top if number == _TOP else self._inner[number]

    def _show(self, rows: Sequence[T]) -> None:
        """Change the rows to others, those below them included."""
        self._has_more = False
        if self._page:
            rows = rows[: max(self._page, len(self._top.rows))]
        self._change(_NOWHERE, self._top, rows)
        if self._below is not None:
            for place, (row, number) in enumerate(zip(rows, self._top.numbers, strict=True)):
                above = self.createIndex(place, 0, _TOP)
                self._change(above, self._inner[number], self._below(row))
        self._has_more = len(self._top.rows) < len(self._all)

    def _change(self, parent: QModelIndex, level: _Level[T], rows: Sequence[T]) -> None:
        """Change the rows with one parent to others."""
        keys = self._list_keys(rows)
        if keys != level.keys:
            steps = list_steps(level.keys, keys, _MOST_STEPS)
            if steps is None:
                self._exchange(parent, level, rows, keys)
            else:
                self._take_steps(parent, level, steps, self._make_level(rows, keys))
        self._replace_changed(parent, level, rows)

    def _take_steps(
        self, parent: QModelIndex, level: _Level[T], steps: Iterable[RowStep], new: _Level[T]
    ) -> None:
        for step in steps:
            if step.kind == "remove":
                self._remove(parent, level, step.first, step.count)
            elif step.kind == "insert":
                end = step.first + step.count
                self._insert(parent, level, step.first, new.copy(step.first, end))
            else:
                self._move(parent, level, step)

    def _exchange(
        self, parent: QModelIndex, level: _Level[T], rows: Sequence[T], keys: list[Hashable]
    ) -> None:
        """Change many rows with few signals.

        The rows that stay come first, the others are removed, the new ones are added, and then all
        of them are put in order.
        """
        places = {key: place for place, key in enumerate(keys)}
        end = len(keys)
        self._arrange(parent, level, lambda key: places.get(key, end))
        kept = sum(key in places for key in level.keys)
        if kept < len(level.keys):
            self._remove(parent, level, kept, len(level.keys) - kept)
        known = set(level.keys)
        new = [place for place, key in enumerate(keys) if key not in known]
        if new:
            added = self._make_level([rows[place] for place in new], [keys[at] for at in new])
            self._insert(parent, level, kept, added)
        self._arrange(parent, level, places.__getitem__)

    def _arrange(
        self, parent: QModelIndex, level: _Level[T], order: Callable[[Hashable], int]
    ) -> None:
        """Put the rows with one parent in another order."""
        places = sorted(range(len(level.keys)), key=lambda place: order(level.keys[place]))
        if all(first < second for first, second in pairwise(places)):
            return
        self.layoutAboutToBeChanged.emit()
        indexes = [one for one in self.persistentIndexList() if one.parent() == parent]
        level.arrange(places)
        self._renumber(level)
        after = {before: place for place, before in enumerate(places)}
        moved = [
            self.createIndex(after[one.row()], one.column(), one.internalId()) for one in indexes
        ]
        self.changePersistentIndexList(indexes, moved)
        self.layoutChanged.emit()

    def _replace_changed(self, parent: QModelIndex, level: _Level[T], rows: Sequence[T]) -> None:
        """Replace the rows whose values differ although their keys are the same."""
        pairs = enumerate(zip(level.rows, rows, strict=True))
        changed = [place for place, (old, new) in pairs if old is not new and old != new]
        level.rows = list(rows)
        for first, last in _list_ranges(changed):
            corner = self.index(last, len(self._columns) - 1, parent)
            self.dataChanged.emit(self.index(first, 0, parent), corner)

    def _remove(self, parent: QModelIndex, level: _Level[T], first: int, count: int) -> None:
        self.beginRemoveRows(parent, first, first + count - 1)
        for number in level.take(first, count).numbers:
            self._inner.pop(number, None)
            self._places.pop(number, None)
        self._renumber(level)
        self.endRemoveRows()

    def _insert(self, parent: QModelIndex, level: _Level[T], first: int, added: _Level[T]) -> None:
        self.beginInsertRows(parent, first, first + len(added.rows) - 1)
        if level is self._top and self._below is not None:
            for row in added.rows:
                self._numbered += 1
                added.numbers.append(self._numbered)
                self._inner[self._numbered] = self._make_level(self._below(row))
        level.put(first, added)
        self._renumber(level)
        self.endInsertRows()

    def _move(self, parent: QModelIndex, level: _Level[T], step: RowStep) -> None:
        first, last = step.first, step.first + step.count - 1
        # Qt counts the place to which rows are moved with them in their old place.
        target = step.place if step.place < first else step.place + step.count
        self.beginMoveRows(parent, first, last, parent, target)
        level.put(step.place, level.take(first, step.count))
        self._renumber(level)
        self.endMoveRows()

    def _renumber(self, level: _Level[T]) -> None:
        """Remember the places of the rows that may have others below them."""
        if level is self._top:
            self._places = {number: place for place, number in enumerate(level.numbers)}

    def _make_level(self, rows: Sequence[T], keys: list[Hashable] | None = None) -> _Level[T]:
        return _Level(list(rows), self._list_keys(rows) if keys is None else keys)

    def _list_keys(self, rows: Sequence[T]) -> list[Hashable]:
        """Return a name for each row. If rows share a key, all but the first are counted."""
        keys = list(map(self._key, rows))
        if len(set(keys)) == len(keys):
            return keys
        counts: dict[Hashable, int] = {}
        for place, key in enumerate(keys):
            counts[key] = number = counts.get(key, 0) + 1
            if number > 1:
                keys[place] = (key, number)
        return keys


def _find_alignment(column: RowColumn[Any]) -> Qt.AlignmentFlag | None:
    right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    return right if column.is_number else None


def list_steps(old: Sequence[Hashable], new: Sequence[Hashable], most: int) -> list[RowStep] | None:
    """Return the fewest steps that change a list into another, or None if they are too many.

    Args:
        old: the names of the rows, each different.
        new: the names of the rows afterwards, each different.
        most: the maximum number of steps.
    """
    places = {key: place for place, key in enumerate(new)}
    known = set(old)
    gone = list(_list_ranges(place for place, key in enumerate(old) if key not in places))
    added = list(_list_ranges(place for place, key in enumerate(new) if key not in known))
    kept = [key for key in old if key in places]
    left = most - len(gone) - len(added)
    moves = None if left < 0 else _list_moves(kept, places, left)
    if moves is None:
        return None
    removals = [RowStep("remove", first, last - first + 1) for first, last in reversed(gone)]
    inserts = [RowStep("insert", first, last - first + 1) for first, last in added]
    return [*removals, *moves, *inserts]


def _list_moves(
    kept: list[Hashable], places: dict[Hashable, int], most: int
) -> list[RowStep] | None:
    """Return the moves of single rows that put rows in order, or None if they are too many."""
    order = [places[key] for key in kept]
    staying = _find_longest_rise(order)
    if len(order) - len(staying) > most:
        return None
    wanted, steps = sorted(order), list[RowStep]()
    moved = [place for place in wanted if place not in staying]
    for place in moved:
        first, before = order.index(place), bisect_left(wanted, place)
        order.pop(first)
        target = order.index(wanted[before - 1]) + 1 if before else 0
        order.insert(target, place)
        steps.append(RowStep("move", first, 1, target))
    return steps


def _find_longest_rise(values: Sequence[int]) -> set[int]:
    """Return the longest rising subsequence of different numbers."""
    ends: list[int] = []  # the smallest last number of a rise of each length
    before: dict[int, int | None] = {}
    for value in values:
        length = bisect_left(ends, value)
        before[value] = ends[length - 1] if length else None
        ends[length : length + 1] = [value]
    rise = set[int]()
    last = ends[-1] if ends else None
    while last is not None:
        rise.add(last)
        last = before[last]
    return rise


def _list_ranges(places: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last number of each run of consecutive numbers."""
    first = last = -2
    for place in places:
        if place != last + 1:
            if last >= 0:
                yield first, last
            first = place
        last = place
    if last >= 0:
        yield first, last
