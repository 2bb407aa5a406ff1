"""The context panel: figures as in the report, parts as wide as they are large, rows that stay."""

from dataclasses import replace
from functools import partial

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from context.layers import Layer
from tests.support.sessions.contexts import (
    CHATS,
    QUESTIONS,
    change_context,
    make_context,
    make_dropped,
    make_segment,
    panel_states,
)
from tests.support.window.widgets import (
    cut_labels,
    outside_their_parents,
    overlapping_siblings,
    unnamed,
)
from ui.panels.context.layer_rows import layer_rows, list_part_rows
from ui.panels.context.layer_tree import LayerTree, PinList
from ui.panels.context.left_out_list import LeftOutList
from ui.panels.context.panel import ContextPanel, PanelState
from ui.panels.context.words import Counted, Prices
from ui.theme import Theme, tokens
from ui.widgets.lists import ROW


@pytest.fixture
def panel(qtbot: QtBot) -> ContextPanel:
    panel = ContextPanel()
    qtbot.addWidget(panel)
    panel.resize(344, 560)
    panel.show()
    return panel


def texts(panel: ContextPanel) -> list[str]:
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]


def test_the_headline_is_exact_and_separated(panel: ContextPanel) -> None:
    panel.show_context(make_context())
    shown = texts(panel)
    assert "48,298" in shown
    assert "of 123,904 tokens" in shown
    assert "39\u00a0%" in shown


@pytest.mark.parametrize("layers", CHATS)
def test_the_rows_add_up_to_the_headline(layers: dict[str, int] | None) -> None:
    context = make_context(layers)
    assert sum(row.tokens for row in layer_rows(context)) == context.used


def test_all_eight_rows_are_there_in_the_order_of_the_wire() -> None:
    rows = layer_rows(make_context({"L5": 8}))
    assert [row.code for row in rows] == tokens()["layer_order"]
    assert {row.share for row in rows if row.tokens == 0} == {"–"}


def row_tops(tree: LayerTree) -> list[int]:
    return [tree.visualRect(tree.model().index(n, 0)).top() for n in range(8)]


def test_rows_do_not_move_when_layers_go_to_zero(panel: ContextPanel) -> None:
    tree = panel.findChild(LayerTree)
    panel.show_context(make_context())
    before, top = row_tops(tree), tree.mapTo(panel, QPoint()).y()
    panel.show_context(make_context({"L5": 8}))
    assert row_tops(tree) == before
    assert tree.mapTo(panel, QPoint()).y() == top
    assert tree.height() == 8 * 26


def test_an_open_row_stays_open_while_figures_change(panel: ContextPanel) -> None:
    tree = panel.findChild(LayerTree)
    panel.show_context(make_context(segments=[make_segment()]))
    index = tree.model().index(4, 0)
    tree.expand(index)
    assert tree.height() == 8 * 26 + 22
    panel.show_context(make_context(segments=[make_segment(tokens=400)]))
    assert tree.isExpanded(index)
    assert index.model().index(0, 0, index).data(ROW).tokens == 400


def test_a_click_on_a_segment_names_its_lines(panel: ContextPanel, qtbot: QtBot) -> None:
    tree = panel.findChild(LayerTree)
    panel.show_context(make_context(segments=[make_segment()]))
    tree.expand(tree.model().index(4, 0))
    index = tree.model().index(0, 0, tree.model().index(4, 0))
    with qtbot.waitSignal(panel.place_chosen) as chosen:
        place = tree.visualRect(index).center()
        qtbot.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert chosen.args == ["garden/Tomatoes.md", 3, 9]


def test_a_layer_without_segments_opens_into_a_count() -> None:
    context = make_context()
    layers = {**context.layers, Layer.L4: replace(context.layers[Layer.L4], items=18)}
    context = replace(context, layers=layers)
    assert [part.text for part in list_part_rows(context, "L4")] == ["18 turns"]


def test_rows_have_names_for_screen_readers() -> None:
    context = make_context()
    layers = {**context.layers, Layer.L4: replace(context.layers[Layer.L4], cached=True)}
    context = replace(context, layers=layers)
    rows = {row.code: row.name for row in layer_rows(context)}
    assert rows["L4"] == "L4 History, 31,595 tokens, 25 percent, reused"
    assert rows["W"] == "W Agent work, 0 tokens, nothing"


def test_what_is_left_out_is_counted_and_hidden_when_empty(panel: ContextPanel) -> None:
    panel.show_context(make_context(dropped=[make_dropped(turns=3, tokens=900)] * 2))
    assert "Left out of this request" in texts(panel)
    assert "2" in texts(panel)
    panel.show_context(make_context())
    assert "Left out of this request" not in texts(panel)


def test_reuse_is_given_in_tokens_with_its_reason_and_its_price(panel: ContextPanel) -> None:
    prefix = {"hash": "", "tokens_reused": 5_552, "changed": True, "reasons": ["2 turns left"]}
    panel.show_context(make_context(prefix=prefix), PanelState(prices=Prices(1e-5, 1e-6)))
    assert "5,552 of 48,298" in texts(panel)
    assert "Changed: 2 turns left." in texts(panel)
    assert "About $0.43 to read; without reuse $0.48." in texts(panel)


def test_the_services_own_count_stands_beside_ours(panel: ContextPanel) -> None:
    panel.show_context(make_context(when="last"), PanelState(counted=Counted(48_511)))
    assert any(text.endswith("The service counted 48,511") for text in texts(panel))


def test_what_is_still_looked_up_is_marked_as_an_estimate(panel: ContextPanel) -> None:
    panel.show_context(make_context(), PanelState(is_estimate=True))
    assert "≈\u200948,298" in texts(panel)
    rows = {row.code: row.figure for row in layer_rows(make_context(), is_estimate=True)}
    assert (rows["L3"], rows["L4"]) == ("≈ 9,824", "31,595")


def test_memory_is_shown_where_there_is_any(panel: ContextPanel) -> None:
    panel.show_context(panel_states()["compacted"])
    shown = texts(panel)
    assert "Now: Plan the April restore test" in shown
    assert "✓ Read Backups.md" in shown
    assert "• The rented box has its own, shorter rule" in shown
    panel.show_context(panel_states()["calm"])
    assert "Kept in mind" not in texts(panel)


def test_a_long_scratchpad_folds(panel: ContextPanel, qtbot: QtBot) -> None:
    memory = {"scratchpad": "word " * 1_000, "progress": {}, "facts": []}
    panel.show_context(make_context(memory=memory))
    qtbot.waitUntil(lambda: 300 < max(map(len, texts(panel))) < 500)
    fold = next(b for b in panel.findChildren(QPushButton) if b.text() == "Show all")
    qtbot.mouseClick(fold, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: max(map(len, texts(panel))) > 4_000)


def test_pins_are_named_and_counted_against_their_bound(panel: ContextPanel) -> None:
    panel.show_context(panel_states()["calm"], PanelState(QUESTIONS))
    assert "444 of 30,976 tokens" in texts(panel)
    rows = panel.findChild(PinList).model()
    pinned = [rows.index(at, 0).data() for at in range(rows.rowCount())]
    assert pinned == ["Prices.md", "“And the second one?”"]


def test_a_pin_is_taken_off_by_a_click_on_it_and_by_the_key(
    panel: ContextPanel, qtbot: QtBot
) -> None:
    panel.show_context(panel_states()["calm"], PanelState(QUESTIONS))
    pins = panel.findChild(PinList)
    pins.setCurrentIndex(pins.model().index(0, 0))
    with qtbot.waitSignal(panel.pin_chosen) as chosen:
        qtbot.keyClick(pins, Qt.Key.Key_P)
    assert chosen.args == ["s2", False]
    place = pins.visualRect(pins.model().index(1, 0))
    with qtbot.waitSignal(panel.pin_chosen) as chosen:
        spot = QPoint(place.right() - 16 - 7, place.center().y())
        qtbot.mouseClick(pins.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert chosen.args == ["u2", False]


def test_a_segment_of_a_sent_request_can_be_pinned(panel: ContextPanel, qtbot: QtBot) -> None:
    panel.show_context(make_context(when="last", segments=[make_segment()]))
    tree = panel.findChild(LayerTree)
    layer = tree.model().index(4, 0)
    tree.expand(layer)
    tree.setCurrentIndex(tree.model().index(0, 0, layer))
    with qtbot.waitSignal(panel.pin_chosen) as chosen:
        qtbot.keyClick(tree, Qt.Key.Key_P)
    assert chosen.args == ["s1", True]


def test_what_is_not_sent_yet_cannot_be_pinned() -> None:
    segments = [make_segment(), make_segment(id="s2", layer="L2")]
    context = make_context(segments=segments)
    assert list_part_rows(context, "L3")[0].target == ""
    assert list_part_rows(context, "L2")[0].target == "s2"


def test_the_menu_of_a_segment_offers_what_its_keys_do(panel: ContextPanel) -> None:
    panel.show_context(make_context(when="last", segments=[make_segment()]))
    tree = panel.findChild(LayerTree)
    layer = tree.model().index(4, 0)
    assert tree.build_menu(layer).isEmpty()
    menu = tree.build_menu(tree.model().index(0, 0, layer))
    words = [action.text() for action in menu.actions()]
    assert words == [
        "Open the note\tEnter",
        "Pin: always send it word for word\tP",
        "Copy the name",
    ]


def test_an_opened_row_tells_what_became_of_a_segment() -> None:
    segment = make_segment(
        layer="L2", kind="note", lines=None, state="compacted", tokens=1_188, original_tokens=6_240
    )
    (row,) = list_part_rows(make_context(segments=[segment | {"version": "0123456789"}]), "L2")
    assert row.beside == ("compacted from 6,240", "compacted")
    assert row.tip.splitlines() == [
        "garden/Tomatoes.md",
        "Note · 1,188 of 6,240 tokens · compacted",
        "Version 01234567 of the note",
    ]


def test_tools_and_instructions_open_into_their_names_with_their_tokens() -> None:
    context = panel_states()["calm"]
    tools, written = list_part_rows(context, "T"), list_part_rows(context, "L1")
    assert [(row.text, row.tokens) for row in tools] == [
        ("search_notes", 1_204),
        ("read_note", 936),
    ]
    assert [row.text for row in written] == ["Base instructions", "User instructions"]
    assert [row.tokens for row in written] == [2_906, 502]


def test_the_history_opens_into_its_turns_by_what_was_asked() -> None:
    rows = list_part_rows(panel_states()["calm"], "L4", {"u1": "How are\nthe notes backed up?"})
    assert [(row.text, row.tokens) for row in rows] == [
        ("Summary of what was said before", 604),
        ("14 older turns", 24_190),
        ("“How are the notes backed up?”", 4_801),
        ("One turn", 2_000),
    ]


def test_instructions_from_a_note_stand_there_once() -> None:
    segment = make_segment(id="user_instructions", layer="L1", source="AGENTS.md")
    context = change_context(panel_states()["calm"], segments=[segment])
    assert [row.text for row in list_part_rows(context, "L1")][1:] == ["Base instructions"]


def test_the_layer_that_makes_a_request_too_large_is_marked() -> None:
    rows = layer_rows(panel_states()["overflow"])
    assert [row.code for row in rows if row.is_over] == ["L5"]
    assert not any(row.is_over for row in layer_rows(panel_states()["amber"]))


def test_only_what_can_be_done_here_is_offered(panel: ContextPanel, qtbot: QtBot) -> None:
    panel.show_context(panel_states()["amber"], PanelState(offers=("raise",)))
    links = [b for b in panel.findChildren(QPushButton) if b.isVisible()]
    assert [b.text() for b in links] == ["Raise the limit", "Show the request"]
    with qtbot.waitSignal(panel.action_chosen) as chosen:
        qtbot.mouseClick(links[0], Qt.MouseButton.LeftButton)
    assert chosen.args == ["raise", ""]


def test_the_actions_of_a_compaction_name_it(panel: ContextPanel, qtbot: QtBot) -> None:
    panel.show_context(panel_states()["compacted"], PanelState(offers=("before",)))
    link = next(b for b in panel.findChildren(QPushButton) if b.text() == "Continue from before")
    with qtbot.waitSignal(panel.action_chosen) as chosen:
        qtbot.mouseClick(link, Qt.MouseButton.LeftButton)
    assert chosen.args == ["before", "c1"]


def test_a_notice_that_stands_is_not_made_again(panel: ContextPanel, qtbot: QtBot) -> None:
    panel.show_context(panel_states()["amber"], PanelState(offers=("raise",)))
    link = next(b for b in panel.findChildren(QPushButton) if b.text() == "Raise the limit")
    panel.show_context(panel_states()["amber"], PanelState(offers=("raise",)))
    assert link.isVisible()


def test_a_summary_is_asked_for_where_messages_were_left_out(
    panel: ContextPanel, qtbot: QtBot
) -> None:
    state = panel_states()["compacted"]
    panel.show_context(replace(state, prefix=replace(state.prefix, changed=False)))
    rows = panel.findChild(LeftOutList)
    row = rows.model().index(0, 0)
    rows.expand(row)
    rows.setCurrentIndex(rows.model().index(0, 0, row))
    with qtbot.waitSignal(panel.action_chosen) as chosen:
        qtbot.keyClick(rows, Qt.Key.Key_Return)
    assert chosen.args == ["summary", "c1"]


def test_what_was_left_out_opens_and_stays_open(panel: ContextPanel, qtbot: QtBot) -> None:
    panel.show_context(panel_states()["dropped"], PanelState(QUESTIONS))
    rows = panel.findChild(LeftOutList)
    before = rows.height()
    place = rows.visualRect(rows.model().index(0, 0)).center()
    qtbot.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert rows.height() > before
    panel.show_context(replace(panel_states()["dropped"], deferred_tools=()), PanelState(QUESTIONS))
    assert rows.isExpanded(rows.model().index(0, 0))


def test_the_request_itself_can_be_asked_for(panel: ContextPanel, qtbot: QtBot) -> None:
    link = next(b for b in panel.findChildren(QPushButton) if b.text() == "Show the request")
    with qtbot.waitSignal(panel.request_requested):
        qtbot.mouseClick(link, Qt.MouseButton.LeftButton)


def assert_fits(panel: ContextPanel, name: str) -> None:
    for found in (outside_their_parents, overlapping_siblings, cut_labels, unnamed):
        assert found(panel) == [], name


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_every_state_fits_and_is_named(
    panel: ContextPanel, qtbot: QtBot, mode: str, scale: float
) -> None:
    Theme.current().apply("dark" if mode == "dark" else "light", scale)
    panel.resize(Theme.current().px(320), 900)
    for name, context in panel_states().items():
        panel.show_context(
            context, PanelState(QUESTIONS, prices=Prices(1e-5, 1e-6), offers=("raise",))
        )
        qtbot.waitUntil(partial(assert_fits, panel, name))


def test_the_title_switches_between_next_and_last(panel: ContextPanel, qtbot: QtBot) -> None:
    with qtbot.waitSignal(panel.which_chosen) as chosen:
        panel.switch.menu().actions()[1].trigger()
    assert chosen.args == ["last"]
    assert panel.switch.text() == "Last request"
    assert panel.switch.accessibleName() == "Which request is shown: Last request"
