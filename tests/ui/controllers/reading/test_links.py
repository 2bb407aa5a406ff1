"""A link to a related note: inserted by button, menu and key, after a look at the change."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from chains.cancel import CancelToken
from tests.conftest import write_notes
from tests.support.window.clicks import LEFT, NONE, choose_from_row, click_button, click_row, row_of
from tests.support.window.note_page import NotePage
from tests.support.window.waiting import settle
from tests.support.window.window_pages import ChatPage, WindowPage, find, open_window
from ui.chat.message.approval_card import ApprovalCard
from ui.tasks import TaskRunner
from ui.widgets.lists import ROW
from ui.widgets.long_list import LongList, find_act_rect

TEXTS = {
    "Rain.md": "# Rain\n\nThe barrel collects rain water. See [[Pump]].\n",
    "Pump.md": "# Pump\n\nThe pump lifts rain water from the barrel.\n",
    "Beds.md": "# Beds\n\nThe beds get rain water from the barrel. [[Rain]]\n",
    "Hose.md": "# Hose\n\nThe hose brings rain water from the barrel to the beds.\n",
}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return write_notes(tmp_path / "notes", TEXTS)


@pytest.fixture
def window(
    assistant: Assistant, vault: Path, runner: TaskRunner, qtbot: QtBot
) -> Iterator[WindowPage]:
    """A window in which a note is open and the notes related to it are listed."""
    assistant.open_vault(vault, remember=False)
    list(assistant.index(CancelToken()))
    window = open_window(assistant, runner, qtbot)
    window.view.activateWindow()
    qtbot.waitUntil(window.view.isActiveWindow)
    settle()
    click_row(window.sidebar.view.notes, "Rain.md")
    settle()
    window.press_keys("Ctrl+Shift+E")
    settle()
    yield window
    window.close()


@pytest.fixture
def related(window: WindowPage) -> LongList:
    return window.view.column.related.list


def press_row_button(related: LongList, title: str) -> None:
    """Click the button at the right edge of a row."""
    spot = find_act_rect(related.visualRect(row_of(related, title))).center()
    handle = related.window().windowHandle()
    QTest.mouseClick(handle, LEFT, NONE, related.viewport().mapTo(related.window(), spot))
    settle()


def find_card(window: WindowPage) -> ApprovalCard:
    return find(window.view.note, ApprovalCard)


def approve(window: WindowPage, qtbot: QtBot) -> None:
    card = find_card(window)
    qtbot.waitUntil(lambda: card.is_armed)
    click_button(card, "Add the link")
    settle()


def read_marks(related: LongList) -> dict[str, str]:
    rows = (related.model().index(row, 0) for row in range(related.model().rowCount()))
    return {str(row.data()): row.data(ROW).mark[1] for row in rows}


def test_the_button_of_a_row_shows_the_change_and_approving_writes_it(
    window: WindowPage, related: LongList, vault: Path, qtbot: QtBot
) -> None:
    assert read_marks(related) == {"Pump": "linked", "Beds": "links here", "Hose": ""}
    press_row_button(related, "Hose")
    card = find_card(window)
    assert card.title.text() == "Add a link?"
    assert "Rain.md gets a link to Hose.md." in card.accessibleName()
    assert "+ - [[Hose]]" in ChatPage(window.view).read_diff(card)
    assert (vault / "Rain.md").read_text("utf-8") == TEXTS["Rain.md"]
    approve(window, qtbot)
    written = f"{TEXTS['Rain.md']}\n## Related\n\n- [[Hose]]\n"
    assert (vault / "Rain.md").read_text("utf-8") == written
    assert "Hose" in NotePage(window.view).text
    assert read_marks(related)["Hose"] == "linked"
    assert window.toasts() == ["Rain.md changed"]
    window.press("Undo")
    settle()
    assert (vault / "Rain.md").read_text("utf-8") == TEXTS["Rain.md"]
    assert "Related" not in NotePage(window.view).text


def test_the_menu_and_the_key_insert_a_link_too(
    window: WindowPage, related: LongList, vault: Path, qtbot: QtBot
) -> None:
    choose_from_row(related, "Beds", "Insert a link to it")
    settle()
    approve(window, qtbot)
    window.press_keys("Ctrl+Alt+L")
    settle()
    assert related.hasFocus()
    assert related.currentIndex().data() == "Hose"
    QTest.keyClick(related, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    settle()
    card = find_card(window)
    assert window.view.focusWidget() is card.refuse
    approve(window, qtbot)
    assert (vault / "Rain.md").read_text("utf-8").endswith("- [[Beds]]\n- [[Hose]]\n")
    assert related.hasFocus()


def test_a_note_that_is_linked_already_has_no_button(window: WindowPage, related: LongList) -> None:
    assert row_of(related, "Pump").data(ROW).act == ("", "")
    menu = related.build_menu(row_of(related, "Pump"))
    (linked,) = (action for action in menu.actions() if action.text() == "Linked already")
    assert not linked.isEnabled()
    menu.close()
    press_row_button(related, "Pump")  # there, the row itself is clicked
    assert NotePage(window.view).path == "Pump.md"
    assert window.view.note.findChild(ApprovalCard) is None


def test_escape_refuses_and_leaves_note_and_focus_as_they_were(
    window: WindowPage, related: LongList, vault: Path, qtbot: QtBot
) -> None:
    related.setFocus()
    press_row_button(related, "Hose")
    card = find_card(window)
    qtbot.waitUntil(lambda: card.is_armed)
    window.press_keys("Esc")
    settle()
    assert window.view.note.findChild(ApprovalCard) is None
    assert NotePage(window.view).is_open
    assert related.hasFocus()
    assert (vault / "Rain.md").read_text("utf-8") == TEXTS["Rain.md"]


def test_a_note_that_changed_meanwhile_is_asked_about_again(
    window: WindowPage, related: LongList, vault: Path, qtbot: QtBot
) -> None:
    press_row_button(related, "Hose")
    newer = f"{TEXTS['Rain.md']}\nNewer.\n"
    (vault / "Rain.md").write_text(newer, "utf-8")
    approve(window, qtbot)
    assert (vault / "Rain.md").read_text("utf-8") == newer
    settle()
    assert any(
        "has changed meanwhile" in warning
        for warning in find_card(window).request.proposal.warnings
    )
    approve(window, qtbot)
    assert (vault / "Rain.md").read_text("utf-8") == f"{newer}\n## Related\n\n- [[Hose]]\n"


def test_the_tooltip_of_the_button_names_action_and_key(related: LongList) -> None:
    row = row_of(related, "Hose")
    assert row.data(ROW).act[1] == "Insert a link to it (Ctrl+Enter)"
    assert find_act_rect(related.visualRect(row)).contains(
        related.visualRect(row).center() + QPoint(related.visualRect(row).width() // 2 - 24, 0)
    )
