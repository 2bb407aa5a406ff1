"""A finding is compared side by side, and fixed after its change was approved, with undo."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLabel,
    QMenu,
    QPushButton,
    QScrollArea,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from chains.cancel import CancelToken
from tests.conftest import write_notes
from tests.support.window import widgets
from tests.support.window.clicks import button_named, click_button
from tests.support.window.waiting import settle
from tests.support.window.window_pages import WindowPage, open_window
from ui.chat.message.approval_card import ApprovalCard
from ui.panels.notes.comparison import ComparisonDialog
from ui.panels.notes.finding import FindingCard
from ui.panels.notes.review import ReviewPanel
from ui.tasks import TaskRunner
from ui.widgets.layouts import make_column, stretch
from ui.widgets.surfaces import StickyFoot, StickyRow

BARREL = "# {}\n\nWater is dear.\n\nThe rain barrel holds {} litres.\n"
NOTES = {
    "Garden/Barrel.md": BARREL.format("Barrel", 210),
    "Garden/Garden.md": BARREL.format("Garden", 200),
    "House/List.md": "# List\n\nSee [[Barel]] first.\n",
}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return write_notes(tmp_path / "notes", NOTES)


@pytest.fixture
def window(
    assistant: Assistant, vault: Path, runner: TaskRunner, qtbot: QtBot
) -> Iterator[WindowPage]:
    assistant.open_vault(vault, remember=False)
    list(assistant.index(CancelToken()))
    window = open_window(assistant, runner, qtbot)
    window.activate(1600, 1000, qtbot)
    window.press_keys("Ctrl+Shift+K")
    settle()
    yield window
    window.close()


def find_card(panel: ReviewPanel, kind: str) -> FindingCard:
    return next(card for card in panel.list_cards() if card.finding.kind == kind)


def choose_fix(card: FindingCard, label: str, qtbot: QtBot) -> None:
    """Press the button of a card, and choose an item of its menu."""
    QTest.keyClick(card.fix, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: bool(card.findChildren(QMenu)))
    (menu,) = card.findChildren(QMenu)
    next(action for action in menu.actions() if action.text() == label).trigger()
    settle()


def find_proposal(card: FindingCard, qtbot: QtBot) -> ApprovalCard:
    """Return the proposed change below a finding, once it is shown and can be decided."""

    def list_shown() -> list[ApprovalCard]:
        cards = card.findChildren(ApprovalCard)
        return [each for each in cards if each.is_armed and not each.isHidden()]

    qtbot.waitUntil(lambda: len(list_shown()) == 1)
    return list_shown()[0]


def test_two_notes_are_compared_side_by_side(window: WindowPage) -> None:
    card = find_card(window.view.column.review, "contradiction")
    QTest.mouseClick(card.compare, Qt.MouseButton.LeftButton)
    settle()
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, ComparisonDialog)
    assert dialog.text.textCursor().block().text() == "The rain barrel holds 210 litres."
    QTest.keyClick(dialog, Qt.Key.Key_F7)
    assert "Difference 1 of 1" in [label.text() for label in dialog.findChildren(QLabel)]
    names = [button.accessibleName() for button in dialog.findChildren(QPushButton)]
    assert {"Open Garden/Barrel.md", "Open Garden/Garden.md"} <= set(names)
    click_button(dialog, "Done")
    settle()
    assert card.isVisible()


def test_one_figure_is_kept_after_approval_and_taken_back(
    window: WindowPage, vault: Path, qtbot: QtBot
) -> None:
    panel = window.view.column.review
    card, note = find_card(panel, "contradiction"), vault / "Garden/Garden.md"
    label = "Keep 210 litres, change Garden/Garden.md"
    choose_fix(card, label, qtbot)
    find_proposal(card, qtbot).decide("once")
    qtbot.waitUntil(lambda: "holds 210 litres" in note.read_text())
    settle()
    assert "contradiction" not in [each.finding.kind for each in panel.list_cards()]
    click_button(window.view, "Undo")
    qtbot.waitUntil(lambda: note.read_text() == NOTES["Garden/Garden.md"])
    settle()
    assert [each.finding.kind for each in panel.list_cards()].count("contradiction") == 1


def test_a_link_is_fixed_below_its_finding(window: WindowPage, vault: Path, qtbot: QtBot) -> None:
    panel = window.view.column.review
    card = find_card(panel, "broken_link")
    assert not card.compare.isVisible()
    QTest.keyClick(card.fix, Qt.Key.Key_Space)
    find_proposal(card, qtbot).decide("reject")
    settle()
    assert (vault / "House/List.md").read_text() == NOTES["House/List.md"]
    QTest.keyClick(card.fix, Qt.Key.Key_Space)
    find_proposal(card, qtbot).decide("once")
    fixed = "# List\n\nSee [[Barrel]] first.\n"
    qtbot.waitUntil(lambda: (vault / "House/List.md").read_text() == fixed)


def test_the_buttons_of_a_fix_stay_in_sight_in_a_low_panel(
    window: WindowPage, vault: Path, assistant: Assistant, qtbot: QtBot
) -> None:
    long = "A line that is long, so that it is wrapped in a panel. " * 6
    text = f"# List\n\n{long}\n{long}\nSee [[Barel]] first.\n{long}\n{long}\n"
    (vault / "House/List.md").write_text(text)
    list(assistant.index(CancelToken()))
    window.view.resize(1280, 560)
    panel = window.view.column.review
    settle()
    panel.start_requested.emit()
    qtbot.waitUntil(lambda: bool(panel.list_cards()) and panel.stop.isHidden())
    settle()
    card = find_card(panel, "broken_link")
    QTest.keyClick(card.fix, Qt.Key.Key_Space)
    asking = find_proposal(card, qtbot)
    settle()
    (area,) = panel.findChildren(QScrollArea)
    hidden = asking.height() - area.viewport().height()
    assert hidden > 0
    bar = area.verticalScrollBar()
    first = bar.value()
    for by in (0, 40, hidden):
        bar.setValue(first + by)
        settle()
        for button in (asking.refuse, asking.approve):
            assert button.visibleRegion().boundingRect() == button.rect(), by
        assert widgets.overlapping_siblings(asking) == []
    QTest.mouseClick(asking.approve, Qt.MouseButton.LeftButton)
    fixed = text.replace("Barel", "Barrel")
    qtbot.waitUntil(lambda: (vault / "House/List.md").read_text() == fixed)


def test_the_list_follows_the_project_of_the_open_chat(window: WindowPage, qtbot: QtBot) -> None:
    panel = window.view.column.review

    def paths() -> set[str]:
        return {note.path for card in panel.list_cards() for note in card.finding.notes}

    everywhere = paths()
    window.view.open_project("House")
    settle()
    qtbot.waitUntil(lambda: panel.project == "House" and bool(paths()))
    assert paths() == {"House/List.md"} < everywhere
    assert button_named(panel, "Look in: House") is panel.places
    window.press_keys("Ctrl+Shift+K")
    settle()
    assert not panel.isVisible()
    window.view.controllers.review.idle_timer.timeout.emit()
    settle()
    assert paths() == everywhere, "behind the scenes, all notes are looked through"
    window.press_keys("Ctrl+Shift+K")
    settle()
    assert (panel.project, paths()) == ("House", {"House/List.md"})
    window.press_keys("Ctrl+N")
    settle()
    assert panel.project is None
    assert paths() == everywhere
    panel.set_places(["Garden"], [])
    panel.places.set_value("Garden/")
    window.press_keys("Ctrl+N")
    settle()
    assert panel.folder == "Garden/", "a folder that the user chose stays"


def test_the_list_is_limited_to_a_kind_and_a_folder(window: WindowPage) -> None:
    panel = window.view.column.review
    for menu, choice, kinds in (
        (panel.kinds, "Links that lead nowhere", {"broken_link"}),
        (panel.places, "Garden", set[str]()),
        (panel.kinds, "All kinds", {"contradiction"}),
    ):
        next(
            action for action in menu.menu().actions() if action.text().startswith(choice)
        ).trigger()
        settle()
        assert {card.finding.kind for card in panel.list_cards()} - {"orphan"} == kinds
    assert button_named(panel, "Look in: Garden") is panel.places


def test_the_notes_of_a_project_outside_of_the_vault_are_reviewed_fixed_and_opened(
    window: WindowPage, assistant: Assistant, tmp_path: Path, qtbot: QtBot
) -> None:
    outside = tmp_path / "Outside"
    write_notes(
        outside, {"Barrel.md": "# Barrel\n\nIt is new.\n", "List.md": "See [[Barel]] first.\n"}
    )
    assistant.projects.add(str(outside))
    assistant.projects.open(str(outside)).update()
    panel = window.view.column.review
    window.view.open_project(str(outside))
    qtbot.waitUntil(lambda: [card.finding.kind for card in panel.list_cards()] == ["broken_link"])
    (card,) = panel.list_cards()
    QTest.keyClick(card.fix, Qt.Key.Key_Space)
    find_proposal(card, qtbot).decide("once")
    qtbot.waitUntil(lambda: (outside / "List.md").read_text() == "See [[Barrel]] first.\n")
    settle()
    click_button(window.view, "Undo")
    qtbot.waitUntil(lambda: (outside / "List.md").read_text() == "See [[Barel]] first.\n")
    settle()
    panel.places.set_value("")
    window.view.controllers.review.start()
    qtbot.waitUntil(lambda: len(panel.list_cards()) > 1)
    choices = [action.text() for action in panel.places.menu().actions()]
    assert "Outside" in " ".join(choices)


@pytest.fixture
def small(window: WindowPage, vault: Path, assistant: Assistant, qtbot: QtBot) -> WindowPage:
    """A window with many findings, of which the panel shows few."""
    links = "".join(f"See [[Bare{letter}]].\n\n" for letter in "abcdefgh")
    (vault / "House/Many.md").write_text(f"# Many\n\n{links}", "utf-8")
    list(assistant.index(CancelToken()))
    window.activate(1600, 700, qtbot)
    window.view.controllers.review.start()
    settle()
    return window


def is_in_view(widget: QWidget) -> bool:
    return not widget.visibleRegion().isEmpty()


def test_the_next_finding_is_in_view_when_one_is_fixed(small: WindowPage, qtbot: QtBot) -> None:
    panel = small.view.column.review
    card = find_card(panel, "broken_link")
    place = panel.list_cards().index(card)
    choose_first_fix(card, qtbot)
    find_proposal(card, qtbot).decide("once")
    settle()
    following = panel.list_cards()[place]
    assert following.isAncestorOf(QApplication.focusWidget())
    assert is_in_view(following.list_rows()[0])


def test_a_proposed_change_is_in_view_when_the_panel_is_opened_again(
    small: WindowPage, qtbot: QtBot
) -> None:
    panel = small.view.column.review
    card = find_card(panel, "broken_link")
    choose_first_fix(card, qtbot)
    proposal = find_proposal(card, qtbot)
    small.composer.view.setFocus()
    panel.take_focus()
    settle()
    focus = QApplication.focusWidget()
    assert focus is proposal or proposal.isAncestorOf(focus)
    assert is_in_view(proposal)


def is_whole(widget: QWidget) -> bool:
    return widget.visibleRegion().boundingRect() == widget.rect()


@pytest.mark.parametrize(
    ("width", "height", "is_high"),
    [(1600, 1000, True), (1600, 700, False), (900, 700, False), (1600, 420, False)],
)
def test_a_proposed_change_is_shown_from_its_question_to_its_buttons(
    small: WindowPage, qtbot: QtBot, width: int, height: int, is_high: bool
) -> None:
    panel = small.view.column.review
    small.view.resize(width, height)
    settle()
    if not panel.isVisible():
        small.press_keys("Ctrl+Shift+K")
        settle()
    for card in panel.list_cards():
        if card.finding.kind != "broken_link":
            continue
        choose_first_fix(card, qtbot)
        proposal = find_proposal(card, qtbot)
        assert is_whole(proposal.title), "the question is read first"
        fits = is_high or proposal.height() <= panel.height()
        assert not fits or (is_whole(proposal.refuse) and is_whole(proposal.approve))
        proposal.decide("reject")
        settle()


def choose_first_fix(card: FindingCard, qtbot: QtBot) -> None:
    """Press the button of a card, and choose the first item of its menu if it has one."""
    QTest.keyClick(card.fix, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: bool(card.findChildren(QMenu) or card.findChildren(ApprovalCard)))
    for menu in card.findChildren(QMenu):
        menu.actions()[0].trigger()
    settle()


def test_the_row_of_buttons_stays_at_the_edge_when_what_is_above_its_card_goes(
    qtbot: QtBot,
) -> None:
    area, page, above, body = QScrollArea(widgetResizable=True), QWidget(), QWidget(), QWidget()
    qtbot.addWidget(area)
    above.setFixedHeight(140)
    body.setFixedHeight(600)
    card, head, row = QFrame(), QLabel("Title"), StickyRow("content")
    make_column(QLabel("Buttons"), margins=0, parent=row)
    make_column(head, body, StickyFoot(row, head, card), margins=0, spacing=0, parent=card)
    make_column(above, card, stretch(), margins=0, spacing=0, parent=page)
    area.setWidget(page)
    area.resize(300, 300)
    area.show()
    for height in (140, 0, 60):
        above.setFixedHeight(height)
        settle()
        end = row.mapTo(area.viewport(), row.rect().bottomLeft()).y()
        assert end == area.viewport().rect().bottom(), height
