"""The list of chats as a user works with it: rename, delete and undo, the bin, export, search."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.paths import Paths
from app.wiring import build
from chains.cancel import CancelToken
from chains.events import TextDelta
from chains.request.ask import Ask
from tests.support.window.clicks import (
    button_named,
    click_button,
    click_item,
    open_menu,
    row_of,
)
from tests.support.window.window_pages import WindowPage, open_window
from ui.tasks import TaskRunner
from ui.theme import Theme
from ui.widgets.dialogs import QuestionDialog
from ui.widgets.lists import ROW

BARREL, PEAS = "How much does the barrel hold?", "Where are the peas?"


@pytest.fixture
def window(
    assistant: Assistant, small_vault: Path, runner: TaskRunner, qtbot: QtBot
) -> Iterator[WindowPage]:
    """A window with two chats that asked no model."""
    assistant.open_vault(small_vault, remember=False)
    for question in (BARREL, PEAS):
        list(assistant.ask(Ask(question, mode="chat"), CancelToken()))
    page = open_window(assistant, runner, qtbot)
    page.view.activateWindow()
    qtbot.waitUntil(page.view.isActiveWindow)
    yield page
    page.view.close()


def test_the_menu_of_another_row_leaves_the_open_one_selected(window: WindowPage) -> None:
    window.chat.open(BARREL)
    rows = window.view.sidebar.chats
    spot = rows.visualRect(row_of(rows, PEAS)).center()
    QTest.mousePress(rows.viewport(), Qt.MouseButton.RightButton, pos=spot)
    QTest.mouseRelease(rows.viewport(), Qt.MouseButton.RightButton, pos=spot)
    assert window.sidebar.chosen_chat == BARREL
    assert [str(one.data()) for one in rows.selectedIndexes()] == [BARREL]
    assert window.chat.title == BARREL


@pytest.mark.parametrize("way", ["click", "Enter"])
def test_opening_the_bin_leaves_the_open_chat_selected(window: WindowPage, way: str) -> None:
    window.chat.new()
    window.composer.send("What is mulch?")
    window.sidebar.press_on_chat(PEAS, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    window.sidebar.press_on_chat(BARREL, Qt.Key.Key_Delete)
    rows, title = window.view.sidebar.chats, window.chat.title
    for fold in ("Bin", "Archived", "Bin", "Archived"):
        if way == "Enter":
            window.sidebar.press_on_chat(fold, Qt.Key.Key_Return)
        else:
            spot = rows.visualRect(row_of(rows, fold)).center()
            QTest.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=spot)
        assert [str(one.data()) for one in rows.selectedIndexes()] == [title]
        assert window.sidebar.current_chat == fold
    QTest.keyClick(rows, Qt.Key.Key_Up)
    assert window.sidebar.current_chat == title, "the keys go on from the fold"


def test_an_open_chat_in_the_archive_is_selected_again_when_the_archive_opens(
    window: WindowPage,
) -> None:
    window.chat.open(PEAS)
    window.run("archive_chat")
    rows = window.view.sidebar.chats
    for selected in ([PEAS], [], [PEAS]):
        window.sidebar.press_on_chat("Archived", Qt.Key.Key_Return)
        assert [str(one.data()) for one in rows.selectedIndexes()] == selected


def list_files(window: WindowPage) -> int:
    return len(window.assistant.list_sessions())


@pytest.mark.parametrize("way", ["F2", "menu"])
def test_a_chat_is_renamed_in_place(window: WindowPage, way: str, qtbot: QtBot) -> None:
    if way == "menu":
        window.sidebar.choose_from_chat(BARREL, "Rename")
    else:
        window.sidebar.press_on_chat(BARREL, Qt.Key.Key_F2)
    window.sidebar.type_title("Rain barrel")
    qtbot.waitUntil(lambda: sorted(window.sidebar.chats) == ["Rain barrel", PEAS])
    assert "Rain barrel" in {chat.title for chat in window.assistant.list_sessions()}


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_the_field_for_a_title_stands_where_the_title_stood(
    window: WindowPage, scale: float
) -> None:
    Theme.current().apply("light", scale)
    QApplication.processEvents()
    window.sidebar.press_on_chat(BARREL, Qt.Key.Key_F2)
    chats = window.sidebar.view.chats
    (field,) = chats.findChildren(QLineEdit)
    row, theme = chats.visualRect(chats.currentIndex()), Theme.current()
    assert field.font().family() == theme.font("ui").family()
    assert field.font().pixelSize() == theme.font("ui").pixelSize()
    assert field.geometry().top() >= row.top()
    assert field.geometry().bottom() <= row.bottom()
    assert row.left() + 8 <= field.geometry().left()
    assert field.geometry().right() <= row.right() - 8
    field.home(False)
    words = field.mapTo(chats.viewport(), field.cursorRect().center()).x()
    assert abs(words - (row.left() + 16 + theme.px(16) + 8)) <= 2


def test_a_blank_title_changes_nothing(window: WindowPage) -> None:
    window.sidebar.press_on_chat(BARREL, Qt.Key.Key_F2)
    window.sidebar.type_title("   ")
    assert sorted(window.sidebar.chats) == [BARREL, PEAS]


@pytest.mark.parametrize("way", ["Ctrl+D", "menu", "header"])
def test_a_pinned_chat_stands_on_top_also_after_a_restart(
    window: WindowPage, way: str, qtbot: QtBot
) -> None:
    assert window.sidebar.headings == ["Today"]
    pin(window, way, BARREL, "Pin to the top")
    assert window.sidebar.chats == [BARREL, PEAS]
    assert window.sidebar.headings == ["Pinned", "Today"]
    again = open_window(window.assistant, window.view.runner, qtbot)
    assert again.sidebar.headings == ["Pinned", "Today"]
    pin(window, way, BARREL, "Unpin")
    assert window.sidebar.headings == ["Today"]


def pin(window: WindowPage, way: str, title: str, item: str) -> None:
    if way == "menu":
        window.sidebar.choose_from_chat(title, item)
    elif way == "header":
        window.chat.open(title)
        window.press("Actions of this chat")
        click_item(open_menu(), item)
    else:
        window.sidebar.press_on_chat(title, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)


def test_archived_chats_are_behind_their_row_and_can_be_restored(window: WindowPage) -> None:
    window.sidebar.press_on_chat(BARREL, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    assert window.sidebar.chats == [PEAS, "Archived"]
    window.sidebar.press_on_chat("Archived", Qt.Key.Key_Return)
    assert window.sidebar.chats == [PEAS, "Archived", BARREL]
    assert window.sidebar.current_chat == "Archived"
    window.chat.open(BARREL)
    assert window.chat.title == BARREL
    window.sidebar.choose_from_chat(BARREL, "Restore from the archive")
    assert sorted(window.sidebar.chats) == [BARREL, PEAS]


def test_archiving_is_undone_from_its_toast(window: WindowPage) -> None:
    window.chat.open(BARREL)
    window.run("archive_chat")
    assert window.sidebar.chats == [PEAS, "Archived"]
    assert window.chat.title == BARREL
    window.press("Undo")
    assert sorted(window.sidebar.chats) == [BARREL, PEAS]


def test_an_archived_chat_is_found_by_the_search(window: WindowPage) -> None:
    window.sidebar.choose_from_chat(BARREL, "Archive")
    window.sidebar.search_chats("BARREL")
    assert BARREL in window.sidebar.chats


def test_several_chats_are_archived_one_after_the_other_by_keyboard(window: WindowPage) -> None:
    first = window.sidebar.chats[0]
    control = Qt.KeyboardModifier.ControlModifier
    window.sidebar.press_on_chat(first, Qt.Key.Key_E, control)
    (left,) = (chat for chat in window.sidebar.chats if chat != "Archived")
    assert window.sidebar.current_chat == left
    window.sidebar.press_on_chat(left, Qt.Key.Key_E, control)
    assert window.sidebar.chats == ["Archived"]


@pytest.mark.parametrize("way", ["Delete", "menu"])
def test_a_deleted_chat_comes_back_with_undo(window: WindowPage, way: str) -> None:
    window.chat.open(BARREL)
    if way == "menu":
        window.sidebar.choose_from_chat(BARREL, "Delete")
    else:
        window.sidebar.press_on_chat(BARREL, Qt.Key.Key_Delete)
    assert window.sidebar.chats == [PEAS, "Bin"]
    assert window.chat.title == "New chat"
    window.press("Undo")
    assert sorted(window.sidebar.chats) == [BARREL, PEAS]
    assert window.chat.title == BARREL
    assert list_files(window) == 2


def test_undo_leaves_the_focus_where_it_was(window: WindowPage, qtbot: QtBot) -> None:
    window.sidebar.press_on_chat(BARREL, Qt.Key.Key_Delete)
    assert window.focus_name == "Chats"
    qtbot.mouseClick(button_named(window.view, "Undo"), Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    assert sorted(window.sidebar.chats) == [BARREL, PEAS]
    assert window.focus_name == "Chats"


def test_undo_pressed_by_a_key_gives_the_focus_back(window: WindowPage, qtbot: QtBot) -> None:
    window.sidebar.press_on_chat(BARREL, Qt.Key.Key_Delete)
    undo = button_named(window.view, "Undo")
    undo.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(undo, Qt.Key.Key_Space)
    QApplication.processEvents()
    assert window.focus_name == "Chats"


def test_a_deleted_chat_is_in_the_bin_also_after_the_window_was_closed(
    window: WindowPage, qtbot: QtBot
) -> None:
    window.sidebar.press_on_chat(BARREL, Qt.Key.Key_Delete)
    window.view.close()
    again = open_window(window.assistant, window.view.runner, qtbot)
    assert again.sidebar.chats == [PEAS, "Bin"]
    again.sidebar.press_on_chat("Bin", Qt.Key.Key_Return)
    assert again.sidebar.chats == [PEAS, "Bin", BARREL]
    again.sidebar.choose_from_chat(BARREL, "Restore")
    assert sorted(again.sidebar.chats) == [BARREL, PEAS]


@pytest.mark.parametrize("way", ["click", "Enter"])
def test_a_chat_in_the_bin_opens_its_menu(window: WindowPage, way: str) -> None:
    window.sidebar.press_on_chat(BARREL, Qt.Key.Key_Delete)
    window.sidebar.press_on_chat("Bin", Qt.Key.Key_Return)
    chats = window.view.sidebar.chats
    said = f"{BARREL}, in the bin, deleted for good in 30 days"
    assert row_of(chats, BARREL).data(ROW).name == said
    if way == "Enter":
        window.sidebar.press_on_chat(BARREL, Qt.Key.Key_Return)
        QTest.keyClick(open_menu(), Qt.Key.Key_Return)  # the first item is selected
    else:
        spot = chats.visualRect(row_of(chats, BARREL)).center()
        QTest.mouseClick(chats.viewport(), Qt.MouseButton.LeftButton, pos=spot)
        click_item(open_menu(), "Restore")
    assert window.chat.title == "New chat"  # it was not opened
    assert sorted(window.sidebar.chats) == [BARREL, PEAS]


@pytest.mark.parametrize("is_confirmed", [True, False])
@pytest.mark.parametrize("way", ["Delete", "menu", "row", "command"])
def test_what_is_in_the_bin_is_deleted_for_good_after_a_question(
    window: WindowPage, way: str, is_confirmed: bool
) -> None:
    window.sidebar.press_on_chat(BARREL, Qt.Key.Key_Delete)
    window.sidebar.press_on_chat("Bin", Qt.Key.Key_Return)
    if way == "Delete":
        window.sidebar.press_on_chat(BARREL, Qt.Key.Key_Delete)
    elif way == "menu":
        window.sidebar.choose_from_chat(BARREL, "Delete for good…")
    elif way == "row":
        window.sidebar.choose_from_chat("Bin", "Empty the bin…")
    else:
        window.run("empty_bin")
    dialog = window.view.findChild(QuestionDialog)
    assert dialog.isVisible()
    words = "Empty the bin" if way in ("row", "command") else "Delete for good"
    click_button(dialog, words if is_confirmed else "Cancel")
    assert window.sidebar.chats == ([PEAS] if is_confirmed else [PEAS, "Bin", BARREL])
    left = [chat.info.title for chat in window.assistant.sessions.bin.list_chats()]
    assert left == ([] if is_confirmed else [BARREL])


def test_enter_and_escape_are_the_harmless_way_out_of_the_question(window: WindowPage) -> None:
    window.sidebar.press_on_chat(BARREL, Qt.Key.Key_Delete)
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Escape):
        window.run("empty_bin")
        QTest.keyClick(QApplication.activeModalWidget(), key)
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert len(window.assistant.sessions.bin.list_chats()) == 1


def test_an_empty_bin_is_not_shown(window: WindowPage) -> None:
    assert sorted(window.sidebar.chats) == [BARREL, PEAS]
    window.run("empty_bin")
    assert window.view.notifier.texts() == ["The bin is empty."]


def test_a_chat_in_the_bin_is_not_found_by_the_search(window: WindowPage) -> None:
    window.sidebar.press_on_chat(BARREL, Qt.Key.Key_Delete)
    window.sidebar.search_chats("barrel")
    assert window.sidebar.empty_text == "No chat contains these words."


def test_two_deleted_chats_both_come_back(window: WindowPage) -> None:
    window.chat.open(PEAS)
    window.sidebar.press_on_chat(BARREL, Qt.Key.Key_Delete)
    window.sidebar.press_on_chat(PEAS, Qt.Key.Key_Delete)
    assert window.sidebar.empty_text == "No chats yet. Ctrl+N starts one."
    for _ in range(2):
        QApplication.processEvents()
        undo = [b for b in window.view.findChildren(QPushButton) if b.text() == "Undo"]
        QTest.mouseClick(undo[0], Qt.MouseButton.LeftButton)
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert sorted(window.sidebar.chats) == [BARREL, PEAS]
    assert window.chat.title == PEAS  # the only one that was open


def test_the_draft_of_a_chat_is_kept_in_the_bin_and_deleted_with_it(window: WindowPage) -> None:
    window.chat.open(BARREL)
    window.composer.write("Not sent")
    window.sidebar.press_on_chat(BARREL, Qt.Key.Key_Delete)
    window.press("Undo")
    assert window.composer.text == "Not sent"
    window.run("delete_chat")
    window.run("empty_bin")
    click_button(window.view.findChild(QuestionDialog), "Empty the bin")
    window.view.close()
    kept = window.assistant.paths.state / "drafts.json"
    assert "Not sent" not in kept.read_text("utf-8")


@pytest.mark.parametrize(("item", "suffix"), [("Markdown", ".md"), ("JSON", ".json")])
def test_a_chat_is_exported_to_a_new_file(window: WindowPage, item: str, suffix: str) -> None:
    window.sidebar.choose_from_chat(BARREL, f"Export as {item}")
    (file,) = window.assistant.paths.exports.iterdir()
    assert file.suffix == suffix
    text = file.read_text("utf-8")
    assert BARREL in text
    assert suffix == ".md" or json.loads(text)["entries"]


def test_the_header_deletes_the_open_chat(window: WindowPage) -> None:
    window.chat.open(BARREL)
    window.press("Actions of this chat")
    click_item(open_menu(), "Delete")
    assert window.sidebar.chats == [PEAS, "Bin"]
    window.press("Undo")
    assert window.chat.title == BARREL


def test_the_title_opens_the_menu_of_the_chat(window: WindowPage) -> None:
    window.chat.open(BARREL)
    window.press(f"Chat: {BARREL}")
    menu = open_menu()
    assert [action.text() for action in menu.actions() if action.text()] == [
        *("Find in this chat", "Rename", "Pin to the top", "Archive"),
        *("Move to project", "Export as Markdown"),
        *("Export as JSON", "Save as note…", "Delete"),
    ]
    click_item(menu, "Delete")
    assert window.sidebar.chats == [PEAS, "Bin"]


def test_without_a_folder_the_chats_of_other_vaults_are_mentioned(
    strata_home: Path, small_vault: Path, assistant: Assistant, runner: TaskRunner, qtbot: QtBot
) -> None:
    earlier = build(Paths.find())
    earlier.open_vault(small_vault, remember=False)
    list(earlier.ask(Ask(BARREL, mode="chat"), CancelToken()))
    earlier.close()
    window = open_window(assistant, runner, qtbot)
    assert window.sidebar.empty_text.startswith("No chats without a folder.")
    window.press("Show the chats of all vaults")
    assert window.sidebar.chats == [BARREL]


def test_chats_of_other_vaults_are_listed_on_demand_with_their_vault(
    window: WindowPage, tmp_path: Path
) -> None:
    other = tmp_path / "Other notes"
    other.mkdir()
    (other / "a.md").write_text("# A\n")
    window.view.open_folder(other)
    assert window.sidebar.empty_text == "No chats yet. Ctrl+N starts one."
    window.press("Show the chats of all vaults")
    assert sorted(window.sidebar.chats) == [BARREL, PEAS]
    window.chat.open(BARREL)
    assert window.chat.title == BARREL
    window.press("Show the chats of all vaults")
    assert window.sidebar.chats == []


def test_a_new_chat_has_nothing_to_delete_or_rename(window: WindowPage) -> None:
    window.chat.new()
    window.press("Actions of this chat")
    menu = open_menu()
    enabled = [action.text() for action in menu.actions() if action.isEnabled() and action.text()]
    menu.close()
    assert enabled == ["Find in this chat"]


def test_all_chats_are_searched_by_their_words(window: WindowPage) -> None:
    window.press_keys("Ctrl+Shift+F")
    QApplication.processEvents()
    window.sidebar.search_chats("BARREL")
    assert window.sidebar.chats == [BARREL]
    window.sidebar.open_hit(BARREL)
    assert window.chat.title == BARREL
    window.sidebar.search_chats("xyz")
    assert window.sidebar.empty_text == "No chat contains these words."
    window.press_keys("Ctrl+Shift+F")
    window.sidebar.view.chat_search.clear()
    assert sorted(window.sidebar.chats) == [BARREL, PEAS]


def test_a_found_text_opens_its_chat_at_the_message_with_the_words_marked(
    window: WindowPage, qtbot: QtBot
) -> None:
    session = next(c.session for c in window.assistant.list_sessions() if c.title == BARREL)
    for number in range(12):
        question = f"Question {number} about zinc and tin"
        list(window.assistant.ask(Ask(question, mode="chat", session=session), CancelToken()))
    window.chat.new()
    window.press_keys("Ctrl+Shift+F")
    window.sidebar.search_chats("zinc 3")
    window.sidebar.open_hit("Question 3 about zinc and tin")
    assert window.chat.title == BARREL
    qtbot.waitUntil(lambda: {"3", "zinc"} <= set(window.chat.find_marks))
    assert "Question 3 about zinc and tin" in window.chat.in_view
    assert window.focus_name == "Find in this chat"
    window.press("Close the search")
    assert window.chat.find_marks == []
    assert "Question 3 about zinc and tin" in window.chat.in_view
    assert window.focus_name == "Message"


def test_the_match_is_visible_in_the_narrow_list_and_markup_is_not(window: WindowPage) -> None:
    question = "How are the **tomatoes** and the *peppers* of the garden watered by the barrel?"
    session = window.assistant.list_sessions()[0].session
    list(window.assistant.ask(Ask(question, mode="chat", session=session), CancelToken()))
    window.press_keys("Ctrl+Shift+F")
    QApplication.processEvents()
    window.sidebar.search_chats("garden")
    chats = window.sidebar.view.chats
    (hit,) = window.sidebar.chats
    assert hit == "…peppers of the garden watered by the barrel?"
    before = chats.fontMetrics().horizontalAdvance(hit[: hit.index("garden") + len("garden")])
    assert before < chats.width() - 60


def test_a_text_of_another_version_is_shown_with_that_version(
    window: WindowPage, qtbot: QtBot
) -> None:
    window.chat.open(PEAS)
    window.chat.edit(window.chat.user_messages()[0], "Where is the copper?")
    assert [message.text for message in window.chat.user_messages()] == ["Where is the copper?"]
    window.press_keys("Ctrl+Shift+F")
    window.sidebar.search_chats("peas")
    window.sidebar.open_hit(PEAS)
    assert [message.text for message in window.chat.user_messages()] == [PEAS]
    qtbot.waitUntil(lambda: window.chat.find_marks == ["peas"])


def test_another_folder_shows_its_chats_and_not_the_results_of_a_search(
    window: WindowPage, small_vault: Path
) -> None:
    other = small_vault / "garden"
    window.press_keys("Ctrl+Shift+F")
    QTest.keyClicks(window.view.sidebar.chat_search, "no such word")
    window.view.open_folder(other)
    assert window.view.sidebar.chat_search.text() == ""
    window.chat.new()
    window.composer.send("What is compost?")
    assert "What is compost?" in window.sidebar.chats


@pytest.mark.parametrize("way", ["header", "menu", "answer"])
def test_a_chat_or_an_answer_is_saved_as_a_note_and_undone(
    window: WindowPage, small_vault: Path, way: str
) -> None:
    window.chat.open(BARREL)
    if way == "header":
        window.press("Actions of this chat")
        click_item(open_menu(), "Save as note…")
    elif way == "menu":
        window.sidebar.choose_from_chat(BARREL, "Save as note…")
    else:
        click_button(window.chat.answers()[0], "Save answer as a note")
    dialog = window.save_dialog
    assert dialog.isVisible()
    assert (dialog.name.text(), dialog.folder.text()) == ("How much does the barrel hold", "Chats")
    assert not (small_vault / "Chats").exists()
    click_button(dialog, "Save note")
    (note,) = (small_vault / "Chats").iterdir()
    text = note.read_text("utf-8")
    assert text.startswith("---\ndate: 20")
    assert f'chat: "{window.chat.session}"' in text
    assert f"# {BARREL}" in text
    assert not dialog.isVisible()
    assert window.toasts() == [f"Saved as Chats/{note.name}."]
    window.press("Undo")
    assert not note.exists()


def test_enter_on_cancel_saves_no_note(window: WindowPage, small_vault: Path) -> None:
    window.chat.open(BARREL)
    window.run("save_note")
    dialog = window.save_dialog
    cancel = button_named(dialog, "Cancel")
    cancel.setFocus()
    QTest.keyClick(cancel, Qt.Key.Key_Return)
    assert not dialog.isVisible()
    assert not (small_vault / "Chats").exists()


def test_a_note_that_exists_is_not_replaced(window: WindowPage, small_vault: Path) -> None:
    window.chat.open(BARREL)
    window.run("save_note")
    dialog = window.save_dialog
    dialog.folder.clear()
    QTest.keyClicks(dialog.folder, "Sub/Deep")
    click_button(dialog, "Save note")
    file = small_vault / "Sub" / "Deep" / "How much does the barrel hold.md"
    assert file.exists()
    window.run("save_note")
    assert dialog.folder.text() == "Sub/Deep"
    before = file.read_bytes()
    click_button(dialog, "Save note")
    assert dialog.isVisible()
    assert any("There is already a note" in text.text() for text in dialog.findChildren(QLabel))
    assert file.read_bytes() == before
    dialog.reject()


def test_a_chat_is_listed_while_its_first_answer_is_on_its_way(window: WindowPage) -> None:
    seen: list[list[str]] = []
    session = window.view.controllers.session
    session.event_arrived.connect(
        lambda _turn, event: isinstance(event, TextDelta) and seen.append(window.sidebar.chats)
    )
    window.chat.new()
    window.composer.send("What is compost?")
    assert "What is compost?" in seen[0]
    assert "What is compost?" in window.sidebar.chats
