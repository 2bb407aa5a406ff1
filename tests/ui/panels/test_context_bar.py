"""The bar of the context panel: parts as wide as they are large, marks where something is done."""

import itertools

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QProgressBar
from pytestqt.qtbot import QtBot

from tests.support.sessions.contexts import CHATS, make_context
from ui.panels.context.bar import ContextBar
from ui.panels.context.scale import label_spans, list_bar_parts, marks, slots
from ui.theme import Theme, tokens

WIDTHS = (272, 312, 488)


@pytest.fixture
def bar(qtbot: QtBot) -> ContextBar:
    bar = ContextBar()
    qtbot.addWidget(bar)
    bar.resize(312, bar.sizeHint().height())
    return bar


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("layers", CHATS)
def test_the_bar_is_filled_from_edge_to_edge_without_holes(
    width: int, layers: dict[str, int] | None
) -> None:
    drawn = slots(list_bar_parts(make_context(layers, factor=1.1)), width)
    edges = [(left, left + size) for _, left, size in drawn]
    assert edges[0][0] == 0
    assert edges[-1][1] == width
    assert all(right == left for (_, right), (left, _) in itertools.pairwise(edges))


@pytest.mark.parametrize("width", WIDTHS)
def test_a_part_is_as_wide_as_its_share_of_the_window(width: int) -> None:
    context = make_context({"L1": 20_000, "L4": 60_000, "L3": 30_000})
    for part, _, size in slots(list_bar_parts(context), width):
        assert abs(size - part.tokens * width / context.request_budget.window) <= 1 + 4


@pytest.mark.parametrize("width", WIDTHS)
def test_the_used_stretch_is_the_used_share_within_a_pixel_a_part(width: int) -> None:
    context = make_context({"L1": 20_000, "L4": 60_000, "L3": 30_000})
    drawn = slots(list_bar_parts(context), width)
    used = [size for part, _, size in drawn if part.code in tokens()["layer_order"]]
    exact = context.used * width / context.request_budget.window
    assert abs(sum(used) - exact) <= len(drawn)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_part_that_is_not_zero_can_be_seen(width: int) -> None:
    bar = tokens()["bar"]
    for _, _, size in slots(list_bar_parts(make_context(CHATS[3])), width):
        assert size >= bar["min_segment"] + bar["gap"] - 1


def test_the_parts_stand_in_the_order_of_the_wire() -> None:
    codes = [
        part.code for part in list_bar_parts(make_context({"L5": 5, "T": 5, "L3": 5, "L4": 5}))
    ]
    assert codes == ["T", "L4", "L3", "L5", "free", "reserve"]


def test_what_the_counter_holds_back_stands_before_the_reserve() -> None:
    parts = list_bar_parts(make_context(None, factor=1.1))
    assert [part.code for part in parts[-3:]] == ["free", "margin", "reserve"]
    assert sum(part.tokens for part in parts) == 128_000


def test_over_the_budget_nothing_is_free_and_the_end_of_the_budget_is_red(bar: ContextBar) -> None:
    bar.show_context(make_context({"L1": 3_000, "L5": 5_000}, window=8_000, reserve=2_000))
    assert [part.code for part, _, _ in bar.slots()] == ["L1", "L5"]
    (end,) = bar.marks()
    assert (end.text, end.x) == ("budget", round(6_000 * 312 / 8_000))
    color = bar.grab().toImage().pixelColor(end.x, bar.compute_bar_rect().bottom())
    assert color == Theme.current().color("danger.graphic")


def test_the_reused_beginning_is_underlined_and_nothing_behind_it(bar: ContextBar) -> None:
    layers = {"L1": 32_000, "L4": 32_000, "L5": 32_000}
    bar.show_context(make_context(layers, reserve=4_000, reused=64_000))
    image = bar.grab().toImage()
    green = Theme.current().color("success.graphic")
    line = bar.height() - 1
    assert image.pixelColor(40, line) == green
    assert image.pixelColor(150, line) == green
    assert image.pixelColor(200, line) != green


def test_the_bar_says_its_figures_to_screen_readers(bar: ContextBar) -> None:
    bar.show_context(make_context())
    assert isinstance(bar, QProgressBar)
    assert bar.accessibleName() == "Context 39 percent, 48,298 of 123,904 tokens"


def test_the_arrow_keys_walk_the_parts_of_the_bar(bar: ContextBar, qtbot: QtBot) -> None:
    bar.show_context(make_context())
    qtbot.keyClick(bar, Qt.Key.Key_Right)
    qtbot.keyClick(bar, Qt.Key.Key_Right)
    assert bar.accessibleDescription() == "L1 System, project: 3,412 tokens, 3\u00a0%"


@pytest.mark.parametrize("width", WIDTHS)
def test_marks_stand_at_shares_of_the_budget_and_not_of_the_bar(width: int) -> None:
    context = make_context(None, factor=1.1)
    found = marks(context, width)
    assert [mark.text for mark in found] == ["trim 80", "95", "98"]
    for mark, share in zip(found, (0.80, 0.95, 0.98), strict=True):
        assert abs(mark.x - share * context.budget / context.request_budget.window * width) <= 1


def test_marks_follow_the_shares_that_are_set() -> None:
    shares = {"trim_at": 0.6, "compact_at": 0.725, "block_at": 0.9, "auto_compact": True}
    found = marks(make_context(policy=shares), 312)
    assert [mark.text for mark in found] == ["trim 60", "72.5", "90"]


def test_a_passed_mark_is_amber(bar: ContextBar) -> None:
    bar.show_context(make_context({"L4": 102_026}))
    assert [mark.is_passed for mark in bar.marks()] == [True, False, False]
    trim = bar.marks()[0]
    color = bar.grab().toImage().pixelColor(trim.x, bar.compute_bar_rect().center().y())
    assert color == Theme.current().color("amber.graphic")


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
@pytest.mark.parametrize(("window", "reserve"), [(128_000, 4_096), (4_000, 1_000), (128_000, 256)])
def test_the_words_of_the_marks_do_not_meet(scale: float, window: int, reserve: int) -> None:
    theme = Theme.current()
    theme.apply(scale=scale)
    width = theme.px(272)
    advance = QFontMetrics(theme.font("micro", numbers=True)).horizontalAdvance
    context = make_context({"L5": 8}, window=window, reserve=reserve)
    spans = sorted(label_spans(marks(context, width), advance, width).values())
    assert len(spans) == 3
    assert spans[0][0] >= 0
    assert spans[-1][1] <= width
    assert all(right < left for (_, right), (left, _) in itertools.pairwise(spans))


def test_a_word_without_room_is_left_out_and_its_mark_still_says_it(bar: ContextBar) -> None:
    shares = {"trim_at": 0.05, "compact_at": 0.06, "block_at": 0.07, "auto_compact": True}
    bar.show_context(make_context(policy=shares))
    found = bar.marks()
    assert set(label_spans(found, lambda text: 7 * len(text), 312)) == {"block", "compact"}
    assert bar.text_at(found[0].x) == "5\u00a0%: old results of tools are shortened"


def test_a_part_says_its_name_its_tokens_and_its_share(bar: ContextBar) -> None:
    bar.show_context(make_context())
    history = next(left for part, left, _ in bar.slots() if part.code == "L4")
    assert bar.text_at(history + 5) == "L4 History: 31,595 tokens, 25\u00a0%"


def test_parts_move_to_their_new_places(bar: ContextBar, qtbot: QtBot) -> None:
    bar.show_context(make_context({"L4": 10_000}))
    bar.show()
    bar.show_context(make_context({"L4": 90_000}))
    first = bar.grab().toImage()
    x, y = round(80_000 * 312 / 128_000), bar.compute_bar_rect().top() + 2
    free, history = (Theme.current().color(f"layer.{code}") for code in ("free", "L4"))
    assert first.pixelColor(x, y) == free
    qtbot.waitUntil(lambda: bar.grab().toImage().pixelColor(x, y) == history)
