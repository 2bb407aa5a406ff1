"""The index in full: what it is at, what it holds, which notes are not in it, and what to do."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from tests.support.window import widgets
from ui.panels.index.footer import IndexFooter
from ui.panels.index.panel import IndexPanel
from ui.panels.index.state import IndexState, NotesByState
from ui.widgets.formatting import size, span
from vault.coverage import Coverage
from vault.indexing.status import IndexStatus
from vault.records import NoteState

AT_WORK = IndexState(
    "running", 3_000, 12_000, 28, phase="embed", per_s=45.2, left_s=200.0, slow="battery"
)
DONE = IndexState("done", notes=2, failed=2)
NOTES = (
    NoteState("a/One.md", "One", "indexed"),
    NoteState("a/Two.md", "Two", "indexed"),
    NoteState("Broken.md", "", "failed", "it is not text"),
    NoteState("Film.md", "", "failed", "it is larger than 20 MB"),
    *(NoteState(f"Old/{n}.md", "", "excluded", "Old/") for n in range(5_000)),
)


@pytest.fixture
def panel(qtbot: QtBot) -> IndexPanel:
    panel = IndexPanel()
    qtbot.addWidget(panel)
    panel.resize(344, 420)
    panel.show_state(DONE)
    panel.show_notes(NotesByState(NOTES))
    panel.show()
    return panel


@pytest.fixture
def footer(qtbot: QtBot) -> IndexFooter:
    footer = IndexFooter()
    qtbot.addWidget(footer)
    footer.resize(248, 90)
    footer.show()
    return footer


def said(panel: IndexPanel) -> str:
    return "\n".join(label.text() for label in panel.findChildren(QLabel) if label.isVisible())


def press(panel: IndexPanel, word: str, qtbot: QtBot) -> None:
    (button,) = (b for b in panel.findChildren(QPushButton) if b.isVisible() and b.text() == word)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_a_run_says_what_it_is_at_how_fast_it_is_and_how_long_it_takes(panel: IndexPanel) -> None:
    panel.show_state(AT_WORK)
    assert "By meaning: 3,000 of 12,000 new or changed notes" in said(panel)
    assert "45 a second, about 3 minutes left" in said(panel)
    assert "Slower, since the computer runs on its battery." in said(panel)


def test_a_run_is_paused_and_goes_on_with_the_same_button(panel: IndexPanel, qtbot: QtBot) -> None:
    panel.show_state(AT_WORK)
    with qtbot.waitSignal(panel.run.pause_requested):
        panel.run.pause.click()
    panel.show_state(IndexState("paused", 3_000, 12_000, phase="embed"))
    assert said(panel).startswith("Paused\nBy meaning: 3,000 of 12,000")
    assert panel.run.pause.accessibleName() == "Go on reading the notes"
    with qtbot.waitSignal(panel.run.continue_requested):
        panel.run.pause.click()


def test_a_damaged_index_is_said_to_be_made_anew(panel: IndexPanel, footer: IndexFooter) -> None:
    state = IndexState("running", is_mending=True)
    panel.show_state(state)
    footer.show_state(state)
    words = "The index was damaged and is being rebuilt. Your notes are untouched."
    assert words in said(panel)
    assert footer._more.text() == words
    assert footer._more.isVisible()


def test_what_the_index_holds_and_takes_is_said(panel: IndexPanel) -> None:
    status = IndexStatus(2, 40, 12_400_000, "all-MiniLM-L6-v2", "2026-05-14T10:00:00Z")
    panel.show_status(status)
    assert "40 passages, indexed " in said(panel)
    assert "12.4 MB on the disk, outside the folder. Meaning by all-MiniLM-L6-v2." in said(panel)


def test_an_index_that_was_never_made_says_so(panel: IndexPanel) -> None:
    panel.show_status(IndexStatus())
    assert "Nothing is indexed yet." in said(panel)


def test_notes_that_could_not_be_read_come_first_with_their_reason(panel: IndexPanel) -> None:
    assert panel.lists.shown() == ["Broken.md", "Film.md"]
    row = panel.lists.list.model().index(0, 0)
    name = row.data(Qt.ItemDataRole.AccessibleTextRole)
    assert name == "Broken.md, could not be read: it is not text"


def test_without_a_failed_note_the_others_come_first_until_one_is_chosen(
    panel: IndexPanel,
) -> None:
    panel.show_notes(NotesByState(NOTES[:2]))
    assert panel.lists.shown() == ["a/One.md", "a/Two.md"]
    panel.lists.show_which("failed")
    assert "Every note could be read." in said(panel)


def test_thousands_that_are_left_out_are_listed_and_filtered(
    panel: IndexPanel, qtbot: QtBot
) -> None:
    panel.lists.show_which("excluded")
    assert len(panel.lists.shown()) == 5_000
    model = panel.lists.list.model()
    assert model.rowCount() < 5_000
    while model.canFetchMore(QModelIndex()):
        model.fetchMore(QModelIndex())
    assert model.index(4_999, 0).data() == "Old/4999.md"
    assert panel.lists.filter.isVisible()
    panel.lists.filter.setText("4999")
    qtbot.waitUntil(lambda: panel.lists.shown() == ["Old/4999.md"])
    assert "1 of 5,000 notes" in said(panel)


def test_the_row_that_is_chosen_stays_when_other_notes_come(panel: IndexPanel) -> None:
    view = panel.lists.list
    view.setCurrentIndex(view.model().index(1, 0))
    panel.show_notes(NotesByState([NoteState("A.md", "", "failed", "locked"), *NOTES]))
    assert panel.lists.shown()[0] == "A.md"
    assert view.currentIndex().data() == "Film.md"


def test_a_list_that_has_not_changed_is_left_alone(panel: IndexPanel, qtbot: QtBot) -> None:
    before = NotesByState(NOTES)
    panel.show_notes(before)
    shown = panel.lists.shown()
    with qtbot.assertNotEmitted(panel.lists.list.model().modelReset):
        panel.show_notes(NotesByState((*NOTES, NoteState("New.md", "New", "indexed")), before))
    assert panel.lists.shown() == shown


def test_a_filter_that_fits_nothing_can_be_changed(panel: IndexPanel, qtbot: QtBot) -> None:
    panel.lists.filter.setText("nothing of the kind")
    qtbot.waitUntil(lambda: not panel.lists.shown())
    assert "No note fits." in said(panel)
    assert panel.lists.filter.isVisible()


def test_a_note_of_the_list_is_opened_by_click_and_by_key(panel: IndexPanel, qtbot: QtBot) -> None:
    view = panel.lists.list
    with qtbot.waitSignal(panel.lists.note_chosen) as chosen:
        spot = view.visualRect(view.model().index(1, 0)).center()
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert chosen.args == ["Film.md"]
    with qtbot.waitSignal(panel.lists.note_chosen) as chosen:
        qtbot.keyClick(view, Qt.Key.Key_Return)
    assert chosen.args == ["Film.md"]


def test_one_note_or_all_can_be_read_again(panel: IndexPanel, qtbot: QtBot) -> None:
    with qtbot.waitSignal(panel.lists.retry_requested) as retry:
        press(panel, "Try all again", qtbot)
    assert retry.args == [()]
    menu = panel.lists.list.build_menu(panel.lists.list.model().index(0, 0))
    words = [action.text() for action in menu.actions()]
    assert words == ["Open", "Show among the folders", "Try to read it again"]
    with qtbot.waitSignal(panel.lists.retry_requested) as retry:
        menu.actions()[2].trigger()
    assert retry.args == [("Broken.md",)]


def test_what_is_left_out_cannot_be_tried_again(panel: IndexPanel) -> None:
    panel.lists.show_which("excluded")
    menu = panel.lists.list.build_menu(panel.lists.list.model().index(0, 0))
    assert [action.text() for action in menu.actions()] == ["Open", "Show among the folders"]
    assert not panel.lists.try_all.isVisible()


def test_rebuilding_is_asked_about_and_its_price_is_named(panel: IndexPanel, qtbot: QtBot) -> None:
    asked: list[bool] = []
    panel.rebuild_confirmed.connect(lambda: asked.append(True))
    panel.show_status(IndexStatus(2, 1_234, 1, "m", "2026-05-14T10:00:00Z"))
    panel.rebuild.click()
    assert "Your notes are untouched. 1,234 passages are taken in again." in said(panel)
    press(panel, "Keep it", qtbot)
    assert not panel.question.isVisible()
    assert asked == []
    panel.rebuild.click()
    press(panel, "Rebuild the index", qtbot)
    assert asked == [True]


def test_the_harmless_answer_has_the_focus(panel: IndexPanel, qtbot: QtBot) -> None:
    panel.activateWindow()
    qtbot.waitUntil(panel.isActiveWindow)
    panel.rebuild.click()
    focus = panel.focusWidget()
    assert isinstance(focus, QPushButton)
    assert focus.text() == "Keep it"


def test_what_cannot_be_searched_by_meaning_yet_is_said(panel: IndexPanel) -> None:
    gap = Coverage(6_591, 6_591, 812)
    panel.show_status(IndexStatus(6_591, 40, 1, "m", "2026-05-14T10:00:00Z", gap=gap))
    assert "812 of 6,591 notes searched by meaning, all by words." in said(panel)


def test_an_index_of_another_strata_is_not_rebuilt(panel: IndexPanel, qtbot: QtBot) -> None:
    panel.show_state(IndexState("failed", message="Another Strata keeps it.", is_elsewhere=True))
    assert not panel.rebuild.isVisible()
    with qtbot.waitSignal(panel.run.continue_requested):
        press(panel, "Look again", qtbot)


def test_without_notes_there_is_nothing_to_list(panel: IndexPanel) -> None:
    panel.show_state(IndexState())
    panel.show_status(None)
    assert said(panel) == "No notes are open"


@pytest.mark.parametrize("width", [320, 344, 520])
@pytest.mark.parametrize("state", [DONE, AT_WORK, IndexState("stopped", 1, 9)])
def test_nothing_of_the_panel_is_cut(panel: IndexPanel, width: int, state: IndexState) -> None:
    panel.resize(width, 420)
    panel.show_state(state)
    panel.rebuild.click()
    QApplication.processEvents()
    assert widgets.find_faults(panel) == []
    assert widgets.overlapping_siblings(panel) == []
    assert widgets.unnamed(panel) == []


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (IndexState("running", 9, phase="seen"), "Reading your notes…"),
        (IndexState("running", 9, 90, phase="scan"), "Reading: 9 of 90 notes"),
        (IndexState("paused", 9, 90, phase="embed"), "Paused at 9 of 90 notes"),
        (IndexState("paused"), "Paused"),
        (IndexState("stopped"), "Indexing stopped. Search covers what is done."),
    ],
)
def test_a_state_is_said_without_figures_it_does_not_have(state: IndexState, text: str) -> None:
    assert state.text == text


def test_the_foot_pauses_beside_stopping_and_tells_the_pace(
    footer: IndexFooter, qtbot: QtBot
) -> None:
    footer.show_state(AT_WORK)
    tip = footer._progress.toolTip()
    assert "12,000 notes new or changed.\n45 a second, about 3 minutes left" in tip
    assert footer._progress.text() == "Indexing: 3,000 of 12,000 notes"
    assert footer._line.whole == "Words done, now meaning."
    with qtbot.waitSignal(footer.pause_requested):
        footer.pause.click()
    footer.show_state(IndexState("paused", 3_000, 12_000, phase="embed"))
    with qtbot.waitSignal(footer.continue_requested):
        footer.pause.click()


Ask = Callable[[IndexFooter], object]


@pytest.mark.parametrize(
    ("asks", "signal"),
    [
        (lambda footer: footer.act.click(), "problems_requested"),
        (lambda footer: footer.details.click(), "details_requested"),
    ],
)
def test_the_foot_leads_to_the_index(
    footer: IndexFooter, asks: Ask, signal: str, qtbot: QtBot
) -> None:
    footer.show_state(DONE)
    with qtbot.waitSignal(getattr(footer, signal)):
        asks(footer)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (12, "less than a minute"),
        (60, "about 1 minute"),
        (1_500, "about 25 minutes"),
        (9_000, "about 2 hours"),
    ],
)
def test_a_time_is_told_as_well_as_it_is_known(seconds: float, words: str) -> None:
    assert span(seconds) == words


@pytest.mark.parametrize(("octets", "words"), [(0, "0 bytes"), (12_400_000, "12.4 MB")])
def test_a_size_is_told_in_the_units_of_disks(octets: int, words: str) -> None:
    assert size(octets) == words
