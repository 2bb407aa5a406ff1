"""The context panel over a request with thousands of items: what a key press may cost.

Rows measured are counted rather than seconds, so that a busy machine makes no difference.
"""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from context.report.report import ContextReport
from tests.support.sessions.contexts import make_context, make_part, make_segment
from ui.panels.context.layer_tree import LayerTree
from ui.panels.context.panel import ContextPanel
from ui.widgets.lists import ROW

MESSAGES, TOOLS, SOURCES = 10_000, 60, 500
T, L4, L3 = 0, 2, 4
LAYERS = 8
MOST_MEASURED = LAYERS * (LAYERS + 1)  # a change of rows fits the tree, and a key makes few


def make_long_request(pinned: str = "") -> ContextReport:
    turns = [make_part(kind="turn", entry=f"e{n}", name=f"t{n}", turns=1) for n in range(MESSAGES)]
    tools = [make_part(name=f"tool_{n}") for n in range(TOOLS)]
    sources = [make_segment(id=f"s{n}", source=f"garden/{n}.md") for n in range(SOURCES)]
    pins = [{"target": pinned, "kind": "passage", "source": "garden/7.md", "tokens": 418}]
    parts = {"T": tools, "L4": turns}
    return make_context(when="last", segments=sources, parts=parts, pins=pins if pinned else [])


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Count the rows that are measured to find the height of the tree."""
    counts, measure = [0], QStyleOptionViewItem

    def count() -> QStyleOptionViewItem:
        counts[0] += 1
        return measure()

    monkeypatch.setattr("ui.widgets.lists.QStyleOptionViewItem", count)
    return counts


@pytest.fixture
def panel(qtbot: QtBot) -> ContextPanel:
    panel = ContextPanel()
    qtbot.addWidget(panel)
    panel.resize(344, 560)
    panel.show()
    panel.show_context(make_long_request())
    return panel


def open_layers(panel: ContextPanel) -> LayerTree:
    tree = panel.findChild(LayerTree)
    for layer in (T, L4, L3):
        tree.expand(tree.model().index(layer, 0))
    return tree


def current_at(tree: LayerTree, layer: int, row: int | None = None) -> QModelIndex:
    index = tree.model().index(layer, 0)
    index = index if row is None else tree.model().index(row, 0, index)
    tree.setCurrentIndex(index)
    return index


@pytest.mark.parametrize(
    "key",
    [
        Qt.Key.Key_Return,
        Qt.Key.Key_Space,
        Qt.Key.Key_Left,
        Qt.Key.Key_Right,
        Qt.Key.Key_Asterisk,
        Qt.Key.Key_Down,
        Qt.Key.Key_End,
        Qt.Key.Key_PageDown,
        Qt.Key.Key_Q,
    ],
)
@pytest.mark.parametrize("layer", [T, L4, L3])
def test_a_key_measures_a_row_for_each_layer_not_each_item(
    panel: ContextPanel, qtbot: QtBot, measured: list[int], key: Qt.Key, layer: int
) -> None:
    tree = open_layers(panel)
    current_at(tree, layer)
    measured[0] = 0
    qtbot.keyClick(tree, key)
    assert measured[0] <= MOST_MEASURED


def test_a_pin_shown_in_open_layers_is_not_measured_for_each_item_inserted(
    panel: ContextPanel, qtbot: QtBot, measured: list[int]
) -> None:
    tree = open_layers(panel)
    tree.pin_chosen.connect(lambda target, _: panel.show_context(make_long_request(target)))
    current_at(tree, L3, 7)
    measured[0] = 0
    qtbot.keyClick(tree, Qt.Key.Key_P)
    shown = tree.model().index(7, 0, tree.model().index(L3, 0))
    assert shown.data(ROW).is_pinned
    assert measured[0] <= MOST_MEASURED


def test_the_height_is_that_of_all_visible_rows(panel: ContextPanel) -> None:
    tree = panel.findChild(LayerTree)
    assert tree.height() == LAYERS * 26
    open_layers(panel)
    assert tree.height() == LAYERS * 26 + (TOOLS + MESSAGES + SOURCES) * 22
    tree.collapse(tree.model().index(L4, 0))
    assert tree.height() == LAYERS * 26 + (TOOLS + SOURCES) * 22
