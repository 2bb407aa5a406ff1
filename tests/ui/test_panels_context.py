"""The context panel: figures as in the report, parts as wide as they are large, rows that stay."""

import itertools
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QProgressBar
from pytestqt.qtbot import QtBot

from tests.support.contexts import make_context, make_segment
from ui.kit.lists import ROW
from ui.panels.context import ContextPanel, window_sentence
from ui.panels.context_bar import ContextBar, bar_parts, slots
from ui.panels.context_rows import LayerTree, layer_rows, part_rows
from ui.panels.left_out import left_out_rows
from ui.theme import Theme, tokens

WIDTHS = (272, 312, 488)
CHATS: tuple[dict[str, int] | None, ...] = (
    None,
    {"L1": 120, "L5": 8},
    {"L1": 3_000, "L4": 110_000, "L3": 9_000, "L5": 1},
    {"T": 1, "L1": 1, "L4": 1, "L2": 1, "L3": 1, "E": 1, "L5": 1, "W": 1},
)


@pytest.fixture
def panel(qtbot: QtBot) -> ContextPanel:
    panel = ContextPanel()
    qtbot.addWidget(panel)
    panel.resize(344, 560)
    panel.show()
    return panel


def texts(panel: ContextPanel) -> list[str]:
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("layers", CHATS)
def test_the_bar_is_filled_from_edge_to_edge_without_holes(
    width: int, layers: dict[str, int] | None
) -> None:
    drawn = slots(bar_parts(make_context(layers, factor=1.1)), width)
    edges = [(left, left + size) for _, left, size in drawn]
    assert edges[0][0] == 0
    assert edges[-1][1] == width
    assert all(right == left for (_, right), (left, _) in itertools.pairwise(edges))


@pytest.mark.parametrize("width", WIDTHS)
def test_a_part_is_as_wide_as_its_share_of_the_window(width: int) -> None:
    context = make_context({"L1": 20_000, "L4": 60_000, "L3": 30_000})
    for part, _, size in slots(bar_parts(context), width):
        assert abs(size - part.tokens * width / context["window"]) <= 1 + 4


@pytest.mark.parametrize("width", WIDTHS)
def test_the_used_stretch_is_the_used_share_within_a_pixel_a_part(width: int) -> None:
    context = make_context({"L1": 20_000, "L4": 60_000, "L3": 30_000})
    drawn = slots(bar_parts(context), width)
    used = [size for part, _, size in drawn if part.code in tokens()["layer_order"]]
    exact = context["used"] * width / context["window"]
    assert abs(sum(used) - exact) <= len(drawn)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_part_that_is_not_zero_can_be_seen(width: int) -> None:
    bar = tokens()["bar"]
    for _, _, size in slots(bar_parts(make_context(CHATS[3])), width):
        assert size >= bar["min_segment"] + bar["gap"] - 1


def test_the_parts_stand_in_the_order_of_the_wire() -> None:
    codes = [part.code for part in bar_parts(make_context({"L5": 5, "T": 5, "L3": 5, "L4": 5}))]
    assert codes == ["T", "L4", "L3", "L5", "free", "reserve"]


def test_what_the_counter_holds_back_stands_before_the_reserve() -> None:
    parts = bar_parts(make_context(None, factor=1.1))
    assert [part.code for part in parts[-3:]] == ["free", "margin", "reserve"]
    assert sum(part.tokens for part in parts) == 128_000


def test_over_the_budget_nothing_is_free_and_the_end_of_the_budget_is_red(qtbot: QtBot) -> None:
    bar = ContextBar()
    qtbot.addWidget(bar)
    bar.resize(312, 24)
    bar.show_context(make_context({"L1": 3_000, "L5": 5_000}, window=8_000, reserve=2_000))
    assert "free" not in [part.code for part, _, _ in bar.slots()]
    x = round(6_000 * 312 / 10_000)
    color = bar.grab().toImage().pixelColor(x, 22)
    assert color == Theme.current().color("danger.graphic")


def test_the_reused_beginning_is_underlined_and_nothing_behind_it(qtbot: QtBot) -> None:
    bar = ContextBar()
    qtbot.addWidget(bar)
    bar.resize(312, 24)
    layers = {"L1": 32_000, "L4": 32_000, "L5": 32_000}
    bar.show_context(make_context(layers, reserve=4_000, reused=64_000))
    image = bar.grab().toImage()
    green = Theme.current().color("success.graphic")
    assert image.pixelColor(40, 23) == green
    assert image.pixelColor(150, 23) == green
    assert image.pixelColor(200, 23) != green


def test_the_bar_says_its_figures_to_screen_readers(qtbot: QtBot) -> None:
    bar = ContextBar()
    qtbot.addWidget(bar)
    bar.show_context(make_context())
    assert isinstance(bar, QProgressBar)
    assert bar.accessibleName() == "Context 39 percent, 48,298 of 123,904 tokens"


def test_the_arrow_keys_walk_the_parts_of_the_bar(qtbot: QtBot) -> None:
    bar = ContextBar()
    qtbot.addWidget(bar)
    bar.resize(312, 24)
    bar.show_context(make_context())
    qtbot.keyClick(bar, Qt.Key.Key_Right)
    qtbot.keyClick(bar, Qt.Key.Key_Right)
    assert bar.accessibleDescription() == "L1 System, project: 3,412 tokens, 3\u00a0%"


def test_the_headline_is_exact_and_separated(panel: ContextPanel) -> None:
    panel.show_context(make_context(), {})
    shown = texts(panel)
    assert "48,298" in shown
    assert "of 123,904 tokens" in shown
    assert "39\u00a0%" in shown


@pytest.mark.parametrize("layers", CHATS)
def test_the_rows_add_up_to_the_headline(layers: dict[str, int] | None) -> None:
    context = make_context(layers)
    assert sum(row.tokens for row in layer_rows(context)) == context["used"]


def test_all_eight_rows_are_there_in_the_order_of_the_wire() -> None:
    rows = layer_rows(make_context({"L5": 8}))
    assert [row.code for row in rows] == tokens()["layer_order"]
    assert {row.share for row in rows if row.tokens == 0} == {"–"}


def row_tops(tree: LayerTree) -> list[int]:
    return [tree.visualRect(tree.model().index(n, 0)).top() for n in range(8)]


def test_rows_do_not_move_when_layers_go_to_zero(panel: ContextPanel) -> None:
    tree = panel.findChild(LayerTree)
    panel.show_context(make_context(), {})
    before, top = row_tops(tree), tree.mapTo(panel, QPoint()).y()
    panel.show_context(make_context({"L5": 8}), {})
    assert row_tops(tree) == before
    assert tree.mapTo(panel, QPoint()).y() == top
    assert tree.height() == 8 * 26


def test_an_open_row_stays_open_while_figures_change(panel: ContextPanel) -> None:
    tree = panel.findChild(LayerTree)
    panel.show_context(make_context(segments=[make_segment()]), {})
    index = tree.model().index(4, 0)
    tree.expand(index)
    assert tree.height() == 8 * 26 + 22
    panel.show_context(make_context(segments=[make_segment(tokens=400)]), {})
    assert tree.isExpanded(index)
    assert index.model().index(0, 0, index).data(ROW).tokens == 400


def test_a_click_on_a_segment_names_its_lines(panel: ContextPanel, qtbot: QtBot) -> None:
    tree = panel.findChild(LayerTree)
    panel.show_context(make_context(segments=[make_segment()]), {})
    tree.expand(tree.model().index(4, 0))
    index = tree.model().index(0, 0, tree.model().index(4, 0))
    with qtbot.waitSignal(panel.place_chosen) as chosen:
        place = tree.visualRect(index).center()
        qtbot.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert chosen.args == ["garden/Tomatoes.md", 3, 9]


def test_a_layer_without_segments_opens_into_a_count() -> None:
    context = make_context()
    context["layers"]["L4"]["items"] = 18
    assert [part.text for part in part_rows(context, "L4")] == ["18 turns"]


def test_rows_have_names_for_screen_readers() -> None:
    context = make_context()
    context["layers"]["L4"]["cached"] = True
    rows = {row.code: row.name for row in layer_rows(context)}
    assert rows["L4"] == "L4 History, 31,595 tokens, 25 percent, reused"
    assert rows["W"] == "W Agent work, 0 tokens, nothing"


def dropped(**fields: Any) -> dict[str, Any]:
    return {"layer": "L4", "entries": [], "turns": 0, "tokens": 0, "reason": "room"} | fields


def test_turns_left_out_are_named_by_their_questions() -> None:
    left_out = dropped(entries=["u1", "a1", "u2", "a2"], turns=2, tokens=5_108)
    questions = {"u1": "How are the notes backed up?", "u2": "And the second one?"}
    (row,) = left_out_rows(make_context(dropped=[left_out]), questions)
    assert row.what == "2 oldest turns"
    assert row.tokens == 5_108
    assert row.reason == "Dropped: history over its room"
    assert row.below == ("“How are the notes backed up?”", "“And the second one?”")


def test_a_passage_left_out_is_named_by_its_lines() -> None:
    context = make_context(
        segments=[make_segment(state="dropped", tokens=0)],
        dropped=[dropped(layer="L3", entries=["s1"], tokens=418, reason="share")],
    )
    (row,) = left_out_rows(context, {})
    assert row.what == "garden/Tomatoes.md, lines 3–9"
    assert row.reason == "Lowest rank: over the room for passages"


def test_a_shrunk_passage_says_to_what(panel: ContextPanel) -> None:
    segment = make_segment(state="shrunk", tokens=410, original_tokens=1_614)
    (row,) = left_out_rows(make_context(segments=[segment]), {})
    assert (row.tokens, row.reason) == (1_204, "Shrunk to 410: lowest rank")


def test_what_is_left_out_is_counted_and_hidden_when_empty(panel: ContextPanel) -> None:
    panel.show_context(make_context(dropped=[dropped(turns=3, tokens=900)]), {})
    assert "Left out of this request" in texts(panel)
    assert "3" in texts(panel)
    panel.show_context(make_context(), {})
    assert "Left out of this request" not in texts(panel)


def test_reuse_is_given_in_tokens_with_its_reason(panel: ContextPanel) -> None:
    prefix = {"hash": "", "tokens_reused": 5_552, "changed": True, "reasons": ["2 turns left"]}
    panel.show_context(make_context(prefix=prefix), {})
    assert "5,552 of 48,298" in texts(panel)
    assert "Changed: 2 turns left." in texts(panel)


def test_the_window_is_explained_in_one_sentence() -> None:
    plain = make_context()
    assert window_sentence(plain) == "Window 128,000, less 4,096 kept for the answer"
    unsure = make_context(factor=1.1, model_limit=None)
    sentence = window_sentence(unsure, service_count=48_511)
    assert "10\u00a0% held back for counting" in sentence
    assert "limit unknown" in sentence
    assert "the service counted 48,511" in sentence


def test_the_title_switches_between_next_and_last(panel: ContextPanel, qtbot: QtBot) -> None:
    with qtbot.waitSignal(panel.which_chosen) as chosen:
        panel.switch.menu().actions()[1].trigger()
    assert chosen.args == ["last"]
    assert panel.switch.text() == "Last request"
    assert panel.switch.accessibleName() == "Which request is shown: Last request"
