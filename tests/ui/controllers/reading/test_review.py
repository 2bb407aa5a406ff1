"""Looking after notes: found in the background, opened, dismissed, restored, stopped and failed."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from chains.cancel import CancelToken
from tests.conftest import write_notes
from tests.support.window.clicks import button_named, click_button, click_item, open_menu
from tests.support.window.note_page import NotePage
from tests.support.window.waiting import settle
from tests.support.window.window_pages import WindowPage, open_window
from ui.panels.notes.finding import FindingCard
from ui.panels.notes.review import ReviewPanel
from ui.tasks import TaskRunner
from vault.errors import IndexUnusable
from vault.indexing.progress import IndexReport

BARREL = "# {}\n\nWater is dear.\n\nThe rain barrel holds {} litres.\n"
COPY = " ".join(f"word{n}" for n in range(100))
NOTES = {
    "Barrel.md": BARREL.format("Barrel", 210),
    "Garden.md": BARREL.format("Garden", 200),
    "Copy.md": COPY,
    "Copy 2.md": f"{COPY}\n",
    "Tomatoes.md": "# Tomatoes\n\nThey ripen in July.\n",
}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return write_notes(tmp_path / "notes", NOTES)


@pytest.fixture
def indexed(assistant: Assistant, vault: Path) -> Assistant:
    assistant.open_vault(vault, remember=False)
    for _ in assistant.index(CancelToken()):
        pass
    return assistant


@pytest.fixture
def window(indexed: Assistant, runner: TaskRunner, qtbot: QtBot) -> Iterator[WindowPage]:
    window = open_window(indexed, runner, qtbot)
    window.activate(1600, 1000, qtbot)
    settle()
    yield window
    window.close()


@pytest.fixture
def panel(window: WindowPage) -> ReviewPanel:
    """The panel, opened by its key."""
    window.press_keys("Ctrl+Shift+K")
    settle()
    assert window.view.column.review.isVisible()
    return window.view.column.review


def said(panel: ReviewPanel) -> list[str]:
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]


def name_pairs(panel: ReviewPanel) -> list[tuple[str, ...]]:
    return [tuple(note.path for note in card.finding.notes) for card in panel.list_cards()]


def dismiss(card: FindingCard) -> None:
    click_button(card, "Dismiss")
    settle()


def press_link(panel: ReviewPanel, words: str) -> None:
    (link,) = (b for b in panel.findChildren(QPushButton) if b.text() == words and b.isVisible())
    QTest.mouseClick(link, Qt.MouseButton.LeftButton)
    settle()


BOTH = [("Barrel.md", "Garden.md"), ("Copy 2.md", "Copy.md")]


def test_the_key_shows_what_needs_care_with_its_reasons(panel: ReviewPanel) -> None:
    assert name_pairs(panel) == BOTH
    texts = said(panel)
    assert texts[0] == "2 things to look at"
    for text in (
        "5 notes compared, by rules and without a model.",
        "Contradicting figures",
        "One note says 210 litres, the other 200 litres.",
        "The rain barrel holds 210 litres.",
        "The rain barrel holds 200 litres.",
        "Nearly the same text",
    ):
        assert text in texts
    accessible = QAccessible.queryAccessibleInterface(panel.list_cards()[0])
    expected = "Barrel and Garden. One note says 210 litres, the other 200 litres."
    assert accessible.text(QAccessible.Text.Name) == expected


def test_both_notes_are_opened_at_their_lines_one_after_the_other(
    window: WindowPage, panel: ReviewPanel
) -> None:
    note = NotePage(window.view)
    for row, path in zip(panel.list_cards()[0].list_rows(), BOTH[0], strict=True):
        QTest.mouseClick(row, Qt.MouseButton.LeftButton)
        settle()
        assert note.path == path
        assert note.view.find_marked_lines() == (5, 5)
        assert panel.isVisible()
    note.press("Back")
    settle()
    assert note.path == "Barrel.md"


def test_the_keyboard_reaches_and_opens_a_finding(window: WindowPage, panel: ReviewPanel) -> None:
    assert window.view.focusWidget() is panel.list_cards()[0].list_rows()[0]
    QTest.keyClick(panel.list_cards()[0].list_rows()[0], Qt.Key.Key_Space)
    settle()
    assert NotePage(window.view).path == "Barrel.md"
    window.press_keys("Ctrl+Shift+K")
    settle()
    assert not panel.isVisible()


def test_the_menu_opens_the_panel(window: WindowPage) -> None:
    review = window.view.column.review
    QTest.mouseClick(window.sidebar.view.switcher, Qt.MouseButton.LeftButton)
    click_item(open_menu(), "Look after your notes")
    settle()
    assert review.isVisible()


def test_the_palette_opens_the_panel_again_after_it_was_closed(
    window: WindowPage, panel: ReviewPanel
) -> None:
    window.press_keys("Ctrl+Shift+K")
    settle()
    assert not panel.isVisible()
    assert window.composer.view.input.hasFocus()
    window.palette.choose("look after", "Look after your notes")
    settle()
    assert panel.isVisible()


def test_a_dismissed_finding_is_not_offered_again_and_can_be_restored(
    window: WindowPage, panel: ReviewPanel
) -> None:
    dismiss(panel.list_cards()[0])
    assert name_pairs(panel) == BOTH[1:]
    assert "1 thing to look at" in said(panel)
    click_button(panel, "Look again")
    settle()
    assert name_pairs(panel) == BOTH[1:]
    assert "1 dismissed" in said(panel)
    press_link(panel, "Offer them again")
    assert name_pairs(panel) == BOTH
    assert "1 dismissed" not in said(panel)


def test_dismissing_is_undone(window: WindowPage, panel: ReviewPanel) -> None:
    dismiss(panel.list_cards()[0])
    assert window.toasts()[-1] == "Dismissed."
    click_button(window.view.middle, "Undo")
    settle()
    assert name_pairs(panel) == BOTH
    click_button(panel, "Look again")
    settle()
    assert name_pairs(panel) == BOTH


def test_after_dismissing_by_key_the_next_finding_has_the_focus(
    window: WindowPage, panel: ReviewPanel
) -> None:
    for _ in BOTH:
        button = button_named(panel.list_cards()[0], "Dismiss")
        button.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(button, Qt.Key.Key_Space)
        settle()
    focus = window.view.focusWidget()
    assert isinstance(focus, QToolButton)
    assert focus.accessibleName() == "Look again"
    assert said(panel)[0] == "Nothing found"
    assert "2 dismissed" in said(panel)


def test_changed_notes_are_told_and_the_list_stays(
    window: WindowPage, panel: ReviewPanel, vault: Path
) -> None:
    (vault / "Garden.md").write_text(BARREL.format("Garden", 210), "utf-8")
    window.view.controllers.index.start()
    settle()
    assert "Your notes have changed since." in said(panel)
    assert name_pairs(panel) == BOTH
    click_button(panel, "Look again")
    settle()
    assert name_pairs(panel) == BOTH[1:]
    assert "Your notes have changed since." not in said(panel)


def test_an_error_is_shown_with_a_way_out(
    window: WindowPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Iterator[object]:
        raise IndexUnusable("These notes are not indexed yet, so they cannot be compared.")
        yield

    monkeypatch.setattr("app.library.review.review_notes", fail)
    window.press_keys("Ctrl+Shift+K")
    settle()
    panel = window.view.column.review
    assert "These notes are not indexed yet, so they cannot be compared." in said(panel)
    monkeypatch.undo()
    press_link(panel, "Look again")
    assert name_pairs(panel) == BOTH


def test_another_vault_is_looked_through_anew(
    window: WindowPage, panel: ReviewPanel, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "One.md").write_text("# One\n", "utf-8")
    window.view.open_folder(other)
    settle()
    click_button(panel, "Look again")
    settle()
    assert said(panel)[0] == "Nothing found"
    assert any("1 note compared" in text for text in said(panel))


def test_a_running_review_shows_its_progress_and_is_stopped(
    indexed: Assistant, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vault.review.review import ReviewProgress

    has_begun, may_go_on = Event(), Event()

    def wait(_root: object, _folder: object, check: object, _today: object) -> Iterator[object]:
        yield ReviewProgress(20, 1_234)
        has_begun.set()
        while not may_go_on.wait(0.01):
            check()  # type: ignore[operator]

    monkeypatch.setattr("app.library.review.review_notes", wait)
    runner = TaskRunner()
    window = open_window(indexed, runner, qtbot)
    window.view.resize(1600, 1000)
    window.view.show()
    panel = window.view.column.review
    window.run("look_after")
    qtbot.waitUntil(lambda: "20 of 1,234 notes read" in said(panel))
    assert said(panel)[0] == "Looking through your notes…"
    assert has_begun.wait(60)
    click_button(panel, "Stop looking")
    qtbot.waitUntil(lambda: said(panel)[0] == "Stopped")
    assert "20 of 1,234 notes had been read." in said(panel)
    assert not window.view.controllers.review.is_running
    may_go_on.set()
    window.close()
    runner.close()


def test_the_focus_waits_in_the_panel_until_nothing_is_found(
    indexed: Assistant, vault: Path, qtbot: QtBot
) -> None:
    for path in ("Barrel.md", "Copy.md"):
        (vault / path).unlink()
    for _ in indexed.index(CancelToken()):
        pass
    runner = TaskRunner()
    window = open_window(indexed, runner, qtbot)
    window.activate(1600, 1000, qtbot)
    window.press_keys("Ctrl+Shift+K")
    panel = window.view.column.review
    for _ in range(2):  # once more by the key that is meant for the focused button
        qtbot.waitUntil(lambda: said(panel)[0] == "Nothing found")
        assert window.focus_name == "Look again"
        QTest.keyClick(window.view.focusWidget(), Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: not window.view.controllers.review.is_running)
    window.close()
    runner.close()


def test_a_check_that_finds_no_change_tells_nothing(window: WindowPage, panel: ReviewPanel) -> None:
    reports: list[IndexReport] = []
    index = window.view.controllers.index
    index.finished.connect(reports.append)
    index.start()
    settle()
    assert [report.has_changes for report in reports] == [False]
    assert "Your notes have changed since." not in said(panel)


def test_findings_are_offered_without_being_asked_for(
    window: WindowPage, qtbot: QtBot, vault: Path
) -> None:
    view, index = window.view, window.view.column.index
    review = view.controllers.review
    review.idle_timer.setInterval(0)
    view.controllers.index.start()
    qtbot.waitUntil(lambda: not index.review.isHidden())
    assert index.review.text() == "Look after your notes (2)"
    QTest.mouseClick(view.sidebar.switcher, Qt.MouseButton.LeftButton)
    click_item(open_menu(), "Look after your notes (2)")
    settle()
    panel = view.column.review
    assert name_pairs(panel) == BOTH
    dismiss(panel.list_cards()[0])
    assert index.review.text() == "Look after your notes (1)"
    window.run("look_after")
    settle()
    assert not panel.isVisible()
    (vault / "Copy 2.md").write_text("Other words.\n", "utf-8")
    view.controllers.index.start()
    qtbot.waitUntil(index.review.isHidden)


def test_the_index_panel_opens_what_it_offers(window: WindowPage) -> None:
    index = window.view.column.index
    index.show_findings(3)
    index.review.click()
    settle()
    assert window.view.column.review.isVisible()


def test_a_list_that_is_read_is_not_replaced_in_the_background(
    window: WindowPage, panel: ReviewPanel, vault: Path
) -> None:
    window.view.controllers.review.idle_timer.setInterval(0)
    (vault / "Garden.md").write_text(BARREL.format("Garden", 210), "utf-8")
    window.view.controllers.index.start()
    settle()
    assert name_pairs(panel) == BOTH
    assert "Your notes have changed since." in said(panel)


def test_front_matter_with_a_fault_is_offered_with_its_lines(
    window: WindowPage, vault: Path, indexed: Assistant
) -> None:
    (vault / "Loquat.md").write_text("---\nfruit: yes\ntags: #garden\n---\n# Loquat\n", "utf-8")
    for _ in indexed.index(CancelToken()):
        pass
    window.press_keys("Ctrl+Shift+K")
    settle()
    panel = window.view.column.review
    (card,) = (card for card in panel.list_cards() if card.finding.kind == "front_matter")
    assert "Faults in front matter" in said(panel)
    assert any("YAML takes “#garden” for a comment" in text for text in said(panel))
    (row,) = card.list_rows()
    assert row.text() == "Loquat"
    QTest.keyClick(row, Qt.Key.Key_Space)
    settle()
    assert NotePage(window.view).path == "Loquat.md"
    QTest.keyClick(button_named(card, "Dismiss"), Qt.Key.Key_Space)
    settle()
    assert [pair for pair in name_pairs(panel) if pair != ("Loquat.md",)] == BOTH
