"""The model of rows: what it tells its views of random changes, and what views keep."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import (
    QAbstractItemModel,
    QCoreApplication,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
)
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QListView, QTreeView
from pytestqt.qtbot import QtBot

from tests.support.window.waiting import settle
from ui.widgets.lists import ROW, Cell
from ui.widgets.rows_model import Drag, RowColumn, RowsModel, RowStep, list_steps

MODES = list(QAbstractItemModelTester.FailureReportingMode)
MANY = 1_000


@dataclass(frozen=True)
class Plant:
    """A row: what names it, what else is shown of it, and the rows below it."""

    name: int
    text: str = ""
    below: "tuple[Plant, ...]" = ()


NAMES = st.lists(st.integers(0, 12), max_size=14)
LEAVES = st.builds(Plant, st.integers(20, 26), st.sampled_from("ab"))
PLANTS = st.builds(
    Plant, st.integers(0, 12), st.sampled_from("ab"), st.lists(LEAVES, max_size=4).map(tuple)
)
CHANGES = st.lists(st.lists(PLANTS, max_size=10), min_size=1, max_size=5)


def describe(plant: Plant) -> Cell:
    return Cell(f"{plant.name} {plant.text}", f"Plant {plant.name}", drawn=plant)


def make_model(parent: QObject, *, is_tree: bool = False, page: int = 0) -> RowsModel[Plant]:
    columns = [
        RowColumn(describe, "Plant", order=lambda plant: plant.name),
        RowColumn[Plant](lambda plant: Cell(plant.text), "Text", order=lambda plant: plant.text),
    ]
    below = (lambda plant: plant.below) if is_tree else None
    return RowsModel(columns, lambda plant: plant.name, parent, below=below, page=page)


def read(model: QAbstractItemModel, parent: QModelIndex | None = None) -> list[object]:
    """Return the rows as a view reads them, each with those below it."""
    above = QModelIndex() if parent is None else parent
    indexes = [model.index(row, 0, above) for row in range(model.rowCount(above))]
    return [(index.data(ROW), read(model, index)) for index in indexes]


def nest(plants: Sequence[Plant], *, is_tree: bool = True) -> list[object]:
    return [(plant, nest(plant.below) if is_tree else []) for plant in plants]


def hold(model: RowsModel[Plant]) -> dict[int, QPersistentModelIndex]:
    """Return an index of each row whose name no other row at the top has."""
    names = [plant.name for plant in model.rows[: model.rowCount()]]
    places = {name: place for place, name in enumerate(names) if names.count(name) == 1}
    return {name: QPersistentModelIndex(model.index(at, 1)) for name, at in places.items()}


@pytest.mark.parametrize("mode", MODES)
@settings(deadline=None, max_examples=40)
@given(
    shape=st.sampled_from([(False, 0), (True, 0), (False, 3)]),
    changes=CHANGES,
    sorted_by=st.sampled_from([None, 0, 1]),
    most_steps=st.sampled_from([0, 2, 32]),
    uses_fetch=st.booleans(),
)
def test_random_changes_are_announced_as_qt_demands_and_indexes_follow_their_rows(
    qapp: QCoreApplication,
    mode: QAbstractItemModelTester.FailureReportingMode,
    shape: tuple[bool, int],
    changes: list[list[Plant]],
    sorted_by: int | None,
    most_steps: int,
    uses_fetch: bool,
) -> None:
    owner, (is_tree, page) = QObject(), shape
    model, copy = make_model(owner, is_tree=is_tree, page=page), QSortFilterProxyModel(owner)
    copy.setSourceModel(model)
    testers = [QAbstractItemModelTester(one, mode, owner) for one in (model, copy)]
    for tester in testers:
        tester.setUseFetchMore(uses_fetch)
    resets: list[int] = []
    model.modelReset.connect(lambda: resets.append(1))
    if sorted_by is not None and not page:
        model.sort(sorted_by, Qt.SortOrder.DescendingOrder)
    for plants in changes:
        held = hold(model)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("ui.widgets.rows_model._MOST_STEPS", most_steps)
            model.set_rows(plants)
        wanted = list(plants)
        if sorted_by is not None and not page:
            wanted.sort(key=[lambda p: p.name, lambda p: p.text][sorted_by], reverse=True)
        assert read(model) == nest(wanted[: model.rowCount()], is_tree=is_tree)
        assert read(copy) == read(model)
        names = [plant.name for plant in wanted[: model.rowCount()]]
        for name, index in held.items():
            if names.count(name) == 1:
                assert index.row() == names.index(name)
                assert index.column() == 1
    assert resets == []


@given(old=NAMES, new=NAMES)
def test_the_steps_are_the_fewest_that_lead_from_one_list_to_the_other(
    old: list[int], new: list[int]
) -> None:
    before, after = list(dict.fromkeys(old)), list(dict.fromkeys(new))
    steps = list_steps(before, after, 100)
    assert steps is not None
    rows = list(before)
    for step in steps:
        taken = rows[step.first : step.first + step.count]
        if step.kind == "insert":
            rows[step.first : step.first] = after[step.first : step.first + step.count]
            continue
        del rows[step.first : step.first + step.count]
        if step.kind == "move":
            rows[step.place : step.place] = taken
    assert rows == after
    assert sum(step.kind == "move" for step in steps) == count_fewest_moves(before, after)
    assert list_steps(before, after, len(steps)) == steps
    if steps:
        assert list_steps(before, after, len(steps) - 1) is None


def count_fewest_moves(before: list[int], after: list[int]) -> int:
    """Count the rows that must move: all except the most that are in order already."""
    kept = [after.index(name) for name in before if name in after]
    orders = (some for size in range(len(kept), -1, -1) for some in combinations(kept, size))
    return len(kept) - len(next(some for some in orders if sorted(some) == list(some)))


def test_a_row_that_moves_is_one_step_whichever_way_it_goes() -> None:
    assert list_steps("abcd", "bcda", 9) == [RowStep("move", 0, 1, 3)]
    assert list_steps("abcd", "dabc", 9) == [RowStep("move", 3, 1, 0)]
    assert list_steps("abcd", "axyd", 9) == [RowStep("remove", 1, 2), RowStep("insert", 1, 2)]


def test_a_list_keeps_its_current_row_and_its_place_when_rows_come_and_go(qtbot: QtBot) -> None:
    view = QListView()
    qtbot.addWidget(view)
    model = make_model(view)
    view.setModel(model)
    model.set_rows([Plant(number) for number in range(MANY)])
    view.resize(200, 300)
    view.show()
    view.setCurrentIndex(model.find(500))
    settle()
    at = view.verticalScrollBar().value()
    kept = [Plant(number) for number in range(MANY) if number % 3 != 1 or number == 500]
    for rows in ([Plant(-1), *kept], kept[::-1], [Plant(p.name, "new") for p in kept]):
        model.set_rows(rows)
        settle()
        assert view.currentIndex().data(ROW).name == 500
        assert view.selectedIndexes() == [view.currentIndex()]
        assert view.verticalScrollBar().value() == at > 0


def test_a_tree_keeps_its_open_and_its_current_row(qtbot: QtBot) -> None:
    view = QTreeView()
    qtbot.addWidget(view)
    model = make_model(view, is_tree=True)
    view.setModel(model)
    trees = [Plant(n, "", (Plant(20 + n), Plant(40 + n))) for n in range(3)]
    model.set_rows(trees)
    view.expand(model.find(1))
    view.setCurrentIndex(model.find(41))
    model.set_rows([trees[2], Plant(1, "old", (Plant(41, "ripe"), Plant(60))), trees[0]])
    assert [view.isExpanded(model.index(row, 0)) for row in range(3)] == [False, True, False]
    assert view.currentIndex().data() == "41 ripe"
    assert view.currentIndex().parent().data() == "1 old"


def test_only_rows_that_changed_are_drawn_again(qtbot: QtBot) -> None:
    owner = QObject()
    model = make_model(owner)
    model.set_rows([Plant(n) for n in range(6)])
    drawn: list[tuple[int, int]] = []
    model.dataChanged.connect(lambda first, last: drawn.append((first.row(), last.row())))
    with qtbot.assertNotEmitted(model.layoutChanged):
        model.set_rows([Plant(n, "new" if n in {1, 2, 5} else "") for n in range(6)])
    assert drawn == [(1, 2), (5, 5)]


def test_rows_are_described_only_when_they_are_drawn(qtbot: QtBot) -> None:
    view, described = QListView(), list[int]()
    qtbot.addWidget(view)

    def note(plant: Plant) -> Cell:
        described.append(plant.name)
        return describe(plant)

    model = RowsModel([RowColumn(note)], lambda plant: plant.name, view)
    view.setUniformItemSizes(True)
    view.setModel(model)
    view.resize(200, 300)
    view.show()
    model.set_rows([Plant(number) for number in range(MANY)])
    settle()
    assert 0 < len(set(described)) < 100


def test_a_text_is_edited_and_dropped_only_where_that_is_allowed(qtbot: QtBot) -> None:
    owner = QObject()
    usual = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def find_flags(plant: Plant | None) -> Qt.ItemFlag:
        is_free = plant is not None and plant.name > 0
        return usual | Qt.ItemFlag.ItemIsEditable if is_free else usual

    drag = Drag[Plant]("text/plant", lambda p: p.text, lambda text, plant: plant is None)
    model = RowsModel(
        [RowColumn(describe)], lambda plant: plant.name, owner, flags=find_flags, drag=drag
    )
    model.set_rows([Plant(0), Plant(1, "oak")])
    with qtbot.assertNotEmitted(model.edited):
        assert not model.setData(model.index(0, 0), "ash")
        assert not model.setData(QModelIndex(), "ash")
        assert model.setData(model.index(1, 0), " 1 oak ")
    with qtbot.waitSignal(model.edited) as edited:
        model.setData(model.index(1, 0), "an\noak")
    assert edited.args == [Plant(1, "oak"), "an oak"]
    packed = model.mimeData([model.index(0, 0), model.index(1, 0)])
    assert bytes(packed.data("text/plant").data()) == b"oak"
    move = Qt.DropAction.MoveAction
    assert not model.dropMimeData(packed, move, -1, -1, model.index(0, 0))
    with qtbot.waitSignal(model.dropped) as dropped:
        assert model.dropMimeData(packed, move, -1, -1, QModelIndex())
    assert dropped.args == ["oak", None]
