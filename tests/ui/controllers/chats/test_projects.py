"""Projects in the window: rows, chats, modes, commands, and folders that are gone."""

import errno
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QScrollArea,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.library import project_pages
from app.library.project_pages import PageFetcher, ProjectPage
from chains.cancel import CancelToken
from tests.support.models.model_server import Answer, ModelServer
from tests.support.window.clicks import (
    button_named,
    choose_from_row,
    click_button,
    click_row,
    press_enter_on,
    row_of,
    visible_rows,
)
from tests.support.window.waiting import settle
from tests.support.window.window_pages import WindowPage, find, open_window
from ui.chat.middle import ProjectLabel
from ui.panels.chats.chats_model import CHAT_TYPE
from ui.settings.dialog import SettingsDialog
from ui.settings.project import ProjectView
from ui.settings.skills import SkillDialog
from ui.state import load_state
from ui.tasks import TaskRunner

NOW = "2026-11-27T10:00:00.000Z"
Press = Callable[[QAbstractItemView, str], None]


@pytest.fixture
def server(assistant: Assistant) -> Iterator[ModelServer]:
    with ModelServer() as server:
        assistant.settings.set("chat.apiBase", server.url)
        assistant.settings.set("chat.model", "scripted")
        yield server


@pytest.fixture
def thesis(assistant: Assistant, server: ModelServer, tmp_path: Path) -> Path:
    """An open vault with a folder of two notes."""
    folder = tmp_path / "vault" / "Thesis"
    folder.mkdir(parents=True)
    (folder / "Plan.md").write_text("# Plan\n\nThe thesis is about walrus songs.")
    (folder / "AGENTS.md").write_text("Answer like a walrus.")
    assistant.open_vault(tmp_path / "vault", remember=False)
    return folder


@pytest.fixture
def window(assistant: Assistant, thesis: Path, runner: TaskRunner, qtbot: QtBot) -> WindowPage:
    page = open_window(assistant, runner, qtbot)
    page.view.activateWindow()
    qtbot.waitUntil(page.view.isActiveWindow)
    return page


def open_project_settings(window: WindowPage) -> ProjectView:
    choose_from_row(window.view.sidebar.projects, "Thesis", "Page of this project…")
    (dialog,) = (one for one in window.view.findChildren(ProjectView) if one.isVisible())
    return dialog


def type_over(field: QPlainTextEdit, text: str) -> None:
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, text)


def test_a_folder_is_opened_as_a_project_and_its_chat_is_asked_about_it(
    window: WindowPage, server: ModelServer, thesis: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.widgets.dialogs.ask_folder", lambda *_: str(thesis))
    projects = window.view.sidebar.projects
    assert projects.isHidden()
    click_button(window.view.sidebar, "Open a folder as a project")
    assert window.composer.mode == "project"
    assert window.chat.view.empty.sentence.startswith("Answers stay inside this folder")
    assert projects.currentIndex().data() == "Thesis"
    window.composer.send("What is it about?")
    assert "walrus songs" in str(server.bodies[-1]["messages"][0]["content"])
    (chat,) = window.assistant.list_sessions()
    assert chat.project == "Thesis"


@pytest.mark.parametrize("press", [click_row, press_enter_on])
def test_a_project_row_goes_back_to_its_last_chat(
    window: WindowPage, thesis: Path, press: Press
) -> None:
    window.view.open_project("Thesis")
    window.composer.send("What is it about?")
    project_chat = window.chat.session
    window.chat.new()
    projects = window.view.sidebar.projects
    assert not projects.currentIndex().isValid()
    assert window.composer.mode == "vault"
    window.composer.send("And the rest?")
    press(projects, "Thesis")
    assert window.chat.session == project_chat
    assert window.composer.mode == "project"
    menu = projects.build_menu(row_of(projects, "Thesis"))
    new_chat, _rename, _settings, _remove = menu.actions()
    assert new_chat.text() == "New chat in this project"
    new_chat.trigger()
    assert window.chat.session not in (None, project_chat)
    assert window.composer.mode == "project"


def test_what_is_typed_after_a_double_click_on_a_project_is_written_in_its_chat(
    window: WindowPage,
) -> None:
    window.view.open_project("Thesis")
    window.composer.send("What is it about?")
    session = window.chat.session
    window.chat.new()
    projects = window.view.sidebar.projects
    spot = projects.visualRect(row_of(projects, "Thesis")).center()
    QTest.mouseClick(projects.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    projects.setFocus(Qt.FocusReason.MouseFocusReason)  # as a real second press does
    QTest.mouseDClick(projects.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert (window.chat.session, window.focus_name) == (session, "Message")


@pytest.mark.parametrize("by_menu", [True, False], ids=["menu", "F2"])
def test_a_project_is_renamed_in_the_list_and_keeps_its_folder_and_chats(
    window: WindowPage, assistant: Assistant, thesis: Path, by_menu: bool, qtbot: QtBot
) -> None:
    window.view.open_project("Thesis")
    projects = window.view.sidebar.projects
    dialog = open_project_settings(window)
    window.press_keys("Esc")
    if by_menu:
        choose_from_row(projects, "Thesis", "Rename")
    else:
        projects.setFocus()
        projects.setCurrentIndex(row_of(projects, "Thesis"))
        QTest.keyClick(projects, Qt.Key.Key_F2)
    (field,) = projects.findChildren(QLineEdit)
    assert field.text() == "Thesis"
    field.selectAll()
    QTest.keyClicks(field, "Walrus songs")
    QTest.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: projects.model().index(0, 0).data() == "Walrus songs")
    assert window.chat.view.empty.heading == "Ask about Walrus songs"
    assert dialog.accessibleName() == "Project Walrus songs"
    window.composer.send("What is it about?")
    (chat,) = assistant.list_sessions()
    assert (chat.project, thesis.is_dir()) == ("Thesis", True)
    assert [one.text for one in window.view.controllers.projects.choices()] == ["Walrus songs"]
    window.composer.send("/project")
    assert "Walrus songs" in window.chat.asides()[-1].view.toPlainText()


def test_a_project_whose_chat_is_not_open_is_renamed_twice_by_key(
    window: WindowPage, thesis: Path, qtbot: QtBot
) -> None:
    (thesis.parent / "Garden").mkdir()
    window.view.open_project("Garden")
    window.view.open_project("Thesis")
    window.chat.new()
    projects = window.view.sidebar.projects
    projects.setFocus()
    projects.setCurrentIndex(row_of(projects, "Thesis"))
    for title in ("Walrus songs", "Animals"):
        QTest.keyClick(projects, Qt.Key.Key_F2)
        (field,) = (one for one in projects.findChildren(QLineEdit) if one.isVisible())
        field.selectAll()
        QTest.keyClicks(field, title)
        QTest.keyClick(field, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda title=title: title in [row.data() for row in visible_rows(projects)])
        assert projects.currentIndex().data() == title
    choose_from_row(projects, "Animals", "Remove from the list")
    assert not projects.currentIndex().isValid()


def test_a_project_is_opened_from_the_palette_and_by_a_command(window: WindowPage) -> None:
    window.composer.send("/project Thesis")
    assert window.composer.mode == "project"
    window.chat.new()
    window.palette.choose("Thesis", "Thesis")
    assert window.composer.mode == "project"
    window.composer.send("What is it about?")
    window.composer.send("/project refresh")
    assert any("read again" in aside.view.toPlainText() for aside in window.chat.asides())


def test_the_mode_project_needs_a_project(window: WindowPage) -> None:
    window.composer.choose_mode("project")
    window.composer.send("What is it about?")
    assert window.chat.session is None
    window.press("Ask in Vault mode")
    assert window.composer.mode == "vault"
    window.composer.press_send()
    assert window.chat.session is not None


def test_when_the_last_project_is_removed_the_focus_is_in_the_message_box(
    window: WindowPage, thesis: Path
) -> None:
    window.view.open_project(str(thesis))
    window.chat.new()
    projects = window.view.sidebar.projects
    projects.setFocus()
    choose_from_row(projects, "Thesis", "Remove from the list")
    assert not projects.isVisible()
    assert window.focus_name == "Message"


def test_a_project_whose_folder_is_gone_says_so_and_can_be_removed(
    window: WindowPage, assistant: Assistant, thesis: Path
) -> None:
    window.view.open_project("Thesis")
    window.composer.send("What is it about?")
    thesis.rename(thesis.with_name("Moved"))
    window.view.controllers.projects.refresh()
    projects = window.view.sidebar.projects
    assert "no folder" in str(row_of(projects, "Thesis").data(3))
    window.composer.send("And now?")
    assert "There is no folder at" in window.chat.failures()[-1].title.text()
    click_row(projects, "Thesis")
    window.press("Remove from the list")
    assert projects.isHidden()
    assert len(assistant.list_sessions()) == 1


def test_what_is_saved_on_the_page_of_a_project_is_in_the_preview_of_the_next_request(
    window: WindowPage, server: ModelServer, qtbot: QtBot
) -> None:
    def read_tokens() -> int:
        return int(window.context.used.split()[0].replace(",", ""))

    window.view.open_project("Thesis")
    page, before = open_project_settings(window), read_tokens()
    type_over(page.instructions.field, "Answer in rhymes. " * 20)
    qtbot.waitUntil(lambda: read_tokens() > before + 60)
    type_over(page.memories.field, "- The walrus is called Ada. " * 10)
    qtbot.waitUntil(lambda: read_tokens() > before + 120)


def test_what_is_typed_on_the_page_of_a_project_applies_by_itself(
    window: WindowPage, server: ModelServer, thesis: Path, assistant: Assistant, qtbot: QtBot
) -> None:
    (thesis / "Draft.md").write_text("A walrus draft.")
    window.view.open_project("Thesis")
    dialog = open_project_settings(window)
    type_over(dialog.instructions.field, "Answer in rhymes.")
    saved = assistant.projects.instructions("Thesis")
    qtbot.waitUntil(lambda: saved.read().text == "Answer in rhymes.")
    click_button(dialog.instructions, "Undo")
    assert dialog.instructions.text == ""
    dialog.instructions.field.redo()
    type_over(dialog.notes.exclude, "Draft.md")
    window.press_keys("Esc")
    assert saved.read().text == "Answer in rhymes."
    assert assistant.projects.settings("Thesis").exclude == ("Draft.md",)
    window.composer.send("What is it about?")
    sent = str(server.bodies[-1]["messages"])
    assert "Answer in rhymes." in sent
    assert "walrus songs" in sent
    assert "Draft" not in sent


def test_the_page_of_a_project_is_in_the_window_and_esc_goes_back_to_the_chat(
    window: WindowPage, qtbot: QtBot
) -> None:
    window.view.open_project("Thesis")
    middle, composer = window.view.middle, window.view.composer
    composer.setFocus()
    QTest.keyClicks(composer.input, "What about")
    window.view.run_command("project_page")
    page = middle.page
    assert page is not None
    assert not page.isWindow()
    assert QApplication.activeModalWidget() is None
    assert page.isAncestorOf(QApplication.focusWidget())
    assert composer.isHidden() or not composer.isVisible()
    assert "Project Thesis" in [text.text() for text in middle.findChildren(QLabel)]
    window.press_keys("Esc")
    assert middle.page is None
    assert composer.isAncestorOf(QApplication.focusWidget())
    assert composer.text() == "What about", "what was typed is still there"
    QTest.mouseClick(find(middle, ProjectLabel), Qt.MouseButton.LeftButton)
    assert middle.page is page
    click_button(middle, "Back to the chat")
    assert middle.page is None
    for leave in (lambda: window.view.open_session(None), lambda: window.press_keys("Ctrl+F")):
        window.view.open_project("Thesis")
        window.view.run_command("project_page")
        leave()
        assert middle.page is None, "what is about the chat shows the chat"


def list_offered(window: WindowPage, keys: str, typed: str = "") -> list[str]:
    palette = window.palette.view
    if palette.isHidden():
        window.press_keys(keys)
    palette.field.setText(typed)
    return [match.choice.text for match in palette.view.matches]


def test_the_palette_searches_in_the_project_until_it_is_widened(
    window: WindowPage, thesis: Path, assistant: Assistant, qtbot: QtBot
) -> None:
    (thesis.parent / "Songs of birds.md").write_text("Birds. #song")
    (thesis / "Songs of walruses.md").write_text("Walruses. #song")
    (thesis / "Old.md").write_text("Excluded. #song")
    assistant.projects.change("Thesis", "exclude", ["Old.md"])
    window.view.controllers.index.start()
    window.composer.send("Which songs are there?")
    everything = ["Songs of birds", "Songs of walruses", "Which songs are there?"]
    qtbot.waitUntil(lambda: sorted(list_offered(window, "Ctrl+K", "songs")) == everything)
    window.press_keys("Esc")
    window.view.open_project("Thesis")
    wider = "Search everywhere, not only in Thesis"
    own = ["Songs of walruses", wider]
    qtbot.waitUntil(lambda: list_offered(window, "Ctrl+K", "songs") == own)
    assert list_offered(window, "", "no such thing") == [wider]
    assert list_offered(window, "", "songs") == own
    palette = window.palette.view
    QTest.keyClick(palette.field, Qt.Key.Key_Down)
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert palette.isVisible()
    assert palette.field.text() == "songs"
    assert sorted(match.choice.text for match in palette.view.matches) == everything
    window.press_keys("Esc")
    window.view.run_command("open_note")
    assert "Old" not in list_offered(window, "")
    click_row(palette.view, wider)
    assert "Old" in list_offered(window, "")
    window.press_keys("Esc")
    window.view.controllers.palette.open_tagged("song")
    assert list_offered(window, "") == own


def test_a_number_beside_the_text_of_the_project_is_no_missing_source(
    window: WindowPage, server: ModelServer, thesis: Path
) -> None:
    (thesis / "Draft.md").write_text("A walrus draft.")
    window.view.open_project("Thesis")
    server.script(Answer("It is a draft [97]."))
    window.composer.send("What is it about?")
    rows = window.view.column.sources.rows()
    sources = [text for row in rows for text in (row.title, row.doubt, row.claim, row.passage)]
    assert "[97] is not the number of a passage." in sources
    assert "The project's text was sent too, without numbers." in sources
    assert not any("has no source" in text for text in (*sources, *window.chat.texts()))


def test_the_settings_of_a_project_scroll_no_further_than_their_content(
    window: WindowPage, qtbot: QtBot
) -> None:
    window.view.open_project("Thesis")
    dialog = open_project_settings(window)
    area = find(dialog, QScrollArea)
    page = area.widget()
    qtbot.waitUntil(lambda: page.height() > area.viewport().height())
    parts = page.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    assert page.height() - max(part.geometry().bottom() for part in parts) <= 32


def test_a_project_taken_off_the_list_comes_back_with_undo(
    window: WindowPage, assistant: Assistant, thesis: Path
) -> None:
    window.view.open_project("Thesis")
    assistant.projects.instructions("Thesis").write("Be brief.")
    projects = window.view.sidebar.projects
    choose_from_row(projects, "Thesis", "Remove from the list")
    assert projects.isHidden()
    window.press("Undo")
    assert not projects.isHidden()
    assert assistant.projects.instructions("Thesis").read().text == "Be brief."


def test_instructions_of_a_project_are_asked_about_in_its_chat(
    window: WindowPage, server: ModelServer, thesis: Path
) -> None:
    window.view.open_project("Thesis")
    window.press("Use them")
    window.composer.send("Who are you?")
    assert "Answer like a walrus." in str(server.bodies[-1]["messages"][0]["content"])


def list_rows(window: WindowPage) -> list[str]:
    projects = window.view.sidebar.projects
    return [str(index.data()) for index in visible_rows(projects)]


def drop_chat(target: QWidget, session: str, spot: QPoint) -> None:
    """Drop a chat on a widget, as the desktop does at the end of a drag."""
    packed = QMimeData()
    packed.setData(CHAT_TYPE, session.encode())
    action, left, none = Qt.DropAction.MoveAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier(0)
    for event in (
        QDragEnterEvent(spot, action, packed, left, none),
        QDragMoveEvent(spot, action, packed, left, none),
        QDropEvent(QPointF(spot), action, packed, left, none),
    ):
        QApplication.sendEvent(target, event)


def test_the_chats_of_a_project_stand_below_it_and_are_folded_by_arrow_and_keys(
    window: WindowPage,
) -> None:
    window.view.open_project("Thesis")
    window.composer.send("What is it about?")
    inside = window.chat.session
    window.chat.new()
    window.composer.send("And the rest?")
    projects, chats = window.view.sidebar.projects, window.view.sidebar.chats
    assert list_rows(window) == ["Thesis", "What is it about?"]
    assert [str(row.data()) for row in visible_rows(chats)][1:] == ["And the rest?"]
    row = row_of(projects, "Thesis")
    said = row.data(Qt.ItemDataRole.AccessibleTextRole)
    assert said == "Thesis, 1 chat, open"
    arrow = projects.visualRect(row).topLeft() + QPoint(14, 10)
    session = window.chat.session
    QTest.mouseClick(projects.viewport(), Qt.MouseButton.LeftButton, pos=arrow)
    assert (list_rows(window), window.chat.session) == (["Thesis"], session)
    assert projects.selectedIndexes() == [], "the open chat is in no project"
    projects.setFocus()
    projects.setCurrentIndex(row_of(projects, "Thesis"))
    QTest.keyClick(projects, Qt.Key.Key_Right)
    assert list_rows(window) == ["Thesis", "What is it about?"]
    press_enter_on(projects, "What is it about?")
    assert (window.chat.session, window.composer.mode) == (inside, "project")
    window.view.run_command("next_chat")
    assert window.chat.session == session
    window.view.run_command("previous_chat")
    assert projects.currentIndex().data() == "What is it about?"
    for selected in ("Thesis", "What is it about?"):
        QTest.mouseClick(projects.viewport(), Qt.MouseButton.LeftButton, pos=arrow)
        assert [one.data() for one in projects.selectedIndexes()] == [selected]
    choose_from_row(projects, "What is it about?", "Archive")
    assert list_rows(window) == ["Thesis"]
    assert "Archived" in [row.data() for row in visible_rows(chats)]


def test_a_chat_is_moved_by_menu_and_drop_and_back_by_undo_and_the_header_tells_where_it_is(
    window: WindowPage, thesis: Path, qtbot: QtBot
) -> None:
    window.view.open_project("Thesis")
    window.composer.send("What is it about?")
    window.chat.new()
    window.composer.send("And the rest?")
    moved, assistant = str(window.chat.session), window.assistant
    sidebar = window.view.sidebar
    header = find(window.view.middle, ProjectLabel)
    assert header.isHidden()
    menu = sidebar.chats.build_menu(row_of(sidebar.chats, "And the rest?"))
    (move,) = (one.menu() for one in menu.actions() if one.text() == "Move to project")
    assert isinstance(move, QMenu)
    move.actions()[0].trigger()
    assert sorted(list_rows(window)[1:]) == ["And the rest?", "What is it about?"]
    assert window.composer.mode == "project"
    assert header.accessibleName() == f"Project: Thesis, folder {thesis}"
    click_button(window.view, "Undo")
    assert assistant.sessions.info(moved).project is None
    assert (header.isHidden(), window.composer.mode) == (True, "vault")
    row = sidebar.projects.visualRect(row_of(sidebar.projects, "What is it about?"))
    sidebar.chats.setFocus()
    drop_chat(sidebar.projects.viewport(), moved, row.center())
    qtbot.waitUntil(lambda: "And the rest?" in list_rows(window))
    assert assistant.sessions.info(moved).project == "Thesis"
    assert not sidebar.chats.isVisible()
    assert window.view.focusWidget() is sidebar.projects, "the list with the focus is hidden"
    lists = sidebar.chats.parentWidget()
    assert lists is not None
    drop_chat(lists, moved, QPoint(20, lists.height() - 4))
    qtbot.waitUntil(sidebar.chats.isVisible)
    assert assistant.sessions.info(moved).project is None
    other = str(assistant.list_sessions()[-1].session)
    drop_chat(sidebar.chats.viewport(), other, QPoint(5, 5))
    qtbot.waitUntil(lambda: list_rows(window) == ["Thesis"])
    assert assistant.sessions.info(other).project is None


def test_the_page_of_a_project_is_not_covered_by_the_list_in_a_narrow_window(
    window: WindowPage, qtbot: QtBot
) -> None:
    window.view.open_project("Thesis")
    window.view.resize(900, 700)
    settle()
    sidebar = window.view.sidebar
    assert not sidebar.isVisible()
    window.run("toggle_sidebar")
    settle()
    assert sidebar.isVisible()
    page = open_project_settings(window)
    settle()
    assert page.isVisible()
    assert not sidebar.isVisible()


@pytest.mark.parametrize("is_there", [True, False])
def test_an_unsent_message_in_a_new_chat_of_a_project_is_there_after_a_restart(
    window: WindowPage, thesis: Path, runner: TaskRunner, qtbot: QtBot, is_there: bool
) -> None:
    window.composer.write("First")
    window.view.open_project("Thesis")
    window.composer.write("Half a thought")
    file, assistant = window.view.places.file, window.assistant
    qtbot.waitUntil(lambda: load_state(file).project == "Thesis")  # also without being closed
    window.close()
    assistant.sessions._unwritten_logs.clear()  # another process has no file of it
    if not is_there:
        assistant.projects.remove(str(thesis))
    again = open_window(assistant, runner, qtbot)
    assert again.composer.text == ("Half a thought" if is_there else "First\n\nHalf a thought")
    assert again.composer.error == ""
    assert again.view.controllers.session.project == ("Thesis" if is_there else None)
    again.composer.send("Whole")
    (chat,) = assistant.list_sessions()
    assert chat.project == ("Thesis" if is_there else None)


@pytest.mark.parametrize("edge", ["top", "bottom"])
def test_a_chat_that_is_dropped_at_the_edge_of_a_project_is_in_it(
    window: WindowPage, edge: str, qtbot: QtBot
) -> None:
    window.view.open_project("Thesis")
    window.chat.new()
    window.composer.send("And the rest?")
    moved, projects = str(window.chat.session), window.view.sidebar.projects
    row = projects.visualRect(row_of(projects, "Thesis"))
    spot = QPoint(row.center().x(), row.top() + 1 if edge == "top" else row.bottom() - 1)
    plain = projects.viewport().grab().toImage()
    packed = QMimeData()
    packed.setData(CHAT_TYPE, moved.encode())
    action, left, none = Qt.DropAction.MoveAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier(0)
    for event in (
        QDragEnterEvent(spot, action, packed, left, none),
        QDragMoveEvent(spot, action, packed, left, none),
    ):
        QApplication.sendEvent(projects.viewport(), event)
    assert projects.viewport().grab().toImage() != plain, "the row is marked"
    drop_chat(projects.viewport(), moved, spot)
    qtbot.waitUntil(lambda: window.assistant.sessions.info(moved).project == "Thesis")


def test_a_search_of_chats_stays_in_the_project_until_it_is_widened(
    window: WindowPage, qtbot: QtBot
) -> None:
    window.view.open_project("Thesis")
    window.composer.send("What about walrus songs?")
    window.chat.new()
    window.composer.send("What about walrus food?")
    sidebar = window.view.sidebar
    scope = sidebar.search_scope
    assert scope.isHidden()
    click_row(sidebar.projects, "What about walrus songs?")
    assert scope.switch.accessibleName() == "Search only the chats of Thesis"
    sidebar.chat_search.setText("walrus")
    qtbot.waitUntil(lambda: "What about walrus songs?" in found_titles(window))
    assert "What about walrus food?" not in found_titles(window)
    QTest.mouseClick(scope.switch, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "What about walrus food?" in found_titles(window))
    assert "What about walrus songs?" in found_titles(window)


def found_titles(window: WindowPage) -> list[str]:
    return [str(row.data()) for row in visible_rows(window.view.sidebar.chats)]


def texts_of(view: QWidget) -> list[str]:
    return [one.accessibleName() for one in view.findChildren(QWidget) if one.isVisible()]


def test_a_transcript_is_kept_refreshed_and_removed_with_undo_on_the_page(
    window: WindowPage, assistant: Assistant, tmp_path: Path, qtbot: QtBot
) -> None:
    window.view.open_project("Thesis")
    dialog = open_project_settings(window)
    pages, talk = dialog.pages, tmp_path / "talk.vtt"
    assert not pages.add.isEnabled()
    talk.write_text("WEBVTT\n\n00:00.000 --> 00:02.000\nThe walrus is loud\n")
    pages.address.setText(str(tmp_path / "none.vtt"))
    click_button(pages, "Add")
    assert pages.state.text().startswith("There is no note, folder or file")
    assert pages.address.text(), "what was typed can be corrected"
    pages.address.setText(str(talk))
    QTest.keyClick(pages.address, Qt.Key.Key_Return)
    assert pages.state.text() == "talk.vtt is kept."
    qtbot.waitUntil(lambda: "talk.vtt: fetched just now · 19" in " ".join(texts_of(pages)))
    qtbot.waitUntil(lambda: any(text.startswith("talk.vtt, ") for text in texts_of(dialog)))
    talk.write_text("WEBVTT\n\n00:00.000 --> 00:02.000\nThe walrus is quiet\n")
    click_button(pages, "Refresh talk.vtt")
    assert pages.state.text() == "1 changed."
    qtbot.waitUntil(lambda: "changed since it was fetched before" in " ".join(texts_of(pages)))
    pages.address.setText("https://typed.example")
    click_button(pages, "Remove talk.vtt")
    store = assistant.projects.pages("Thesis")
    assert store.list() == ()
    assert pages.state.text() == "talk.vtt is not kept any more."
    assert pages.address.text() == "https://typed.example", "what was typed stays"
    click_button(pages, "Undo")
    (kept,) = store.list()
    assert kept.text == "The walrus is quiet\n"


@pytest.mark.parametrize("button", ["Add", "Refresh all"])
def test_a_stopped_fetch_is_said_to_be_stopped(
    window: WindowPage, assistant: Assistant, monkeypatch: pytest.MonkeyPatch, button: str
) -> None:
    window.view.open_project("Thesis")
    pages = open_project_settings(window).pages
    assistant.projects.pages("Thesis").put(
        ProjectPage("https://old.example", "page", "Old", "Hello\n", NOW)
    )
    pages.refresh()
    settle()

    def stop(_fetcher: object, _store: object, _page: object, token: CancelToken) -> NoReturn:
        click_button(pages, "Cancel")
        token.raise_if_cancelled()
        raise AssertionError("the button cancels the task")

    for name in ("add", "refresh"):
        monkeypatch.setattr(PageFetcher, name, stop)
    pages.address.setText("https://new.example")
    click_button(pages, button)
    assert pages.state.text() == "Stopped. What was not fetched is as it was."
    assert pages.address.text() == "https://new.example", "what was typed can be fetched again"
    assert pages.add.isEnabled()


def test_a_page_that_cannot_be_removed_or_put_back_stays_and_the_reason_is_said(
    window: WindowPage, assistant: Assistant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.view.open_project("Thesis")
    pages = open_project_settings(window).pages
    store = assistant.projects.pages("Thesis")
    talk = ProjectPage(str(tmp_path / "talk.vtt"), "transcript", "talk.vtt", "Hello\n", NOW)
    store.put(talk)
    pages.refresh()
    settle()

    def refuse(*_args: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(project_pages, "remove_synced", refuse)
        click_button(pages, "Remove talk.vtt")
    assert "permission denied" in pages.state.text()
    assert pages.undo.isHidden()
    settle()
    click_button(pages, "Remove talk.vtt")
    assert store.list() == ()
    with monkeypatch.context() as patch:
        patch.setattr(project_pages, "write_atomically", refuse)
        click_button(pages, "Undo")
    assert "permission denied" in pages.state.text()
    click_button(pages, "Undo")
    assert store.list() == (talk,)


def test_a_skill_of_a_project_is_accepted_on_its_page(
    window: WindowPage, assistant: Assistant, thesis: Path
) -> None:
    for folder in (thesis, thesis.parent):
        skill = folder / ".agents" / "skills" / f"{folder.name.lower()}-review" / "SKILL.md"
        skill.parent.mkdir(parents=True)
        front = f"name: {skill.parent.name}\ndescription: Write a review."
        skill.write_text(f"---\n{front}\n---\nLook at chapter two.\n")
    window.view.open_project("Thesis")
    dialog = open_project_settings(window)
    said = [one.text() for one in dialog.skills.findChildren(QLabel)]
    assert "thesis-review · not used until you accept it (of the project)" in said
    assert not any(text.startswith(f"{thesis.parent.name.lower()}-review") for text in said)
    button_named(dialog, "Read the skill thesis-review").click()  # it may be below the fold
    shown = QApplication.activeModalWidget()
    assert isinstance(shown, SkillDialog)
    click_button(shown, "Accept")
    assert assistant.customization.skills.find("thesis-review", "Thesis").state == "used"
    said = [one.text() for one in dialog.skills.findChildren(QLabel)]
    assert "thesis-review · used (of the project)" in said


def test_a_project_without_skills_says_how_one_is_made(window: WindowPage) -> None:
    window.view.open_project("Thesis")
    dialog = open_project_settings(window)
    assert "No skill yet." in dialog.skills.state.text()


def measure_below(root: QWidget, title: str) -> int:
    """Return the distance from a title to the text below it."""
    labels = [one for one in root.findChildren(QLabel) if one.isVisibleTo(root)]
    (head,) = (one for one in labels if one.text() == title)
    bottom = head.mapTo(root, head.rect().bottomLeft()).y()
    tops = (one.mapTo(root, QPoint()).y() for one in labels)
    return min(top for top in tops if top > bottom) - bottom


def test_the_sections_of_a_page_are_alike(window: WindowPage, qtbot: QtBot) -> None:
    window.activate(1280, 800, qtbot)
    window.view.open_project("Thesis")
    page = open_project_settings(window)
    QApplication.processEvents()
    first, second = measure_below(page, "Memories of this project"), measure_below(page, "Skills")
    assert first == second
    window.view.open_settings("Prompts")
    settings = find(window.view, SettingsDialog)
    QApplication.processEvents()
    assert measure_below(settings, "Your commands") == measure_below(settings, "Skills")


@pytest.mark.parametrize("width", [900, 1280, 1920])
def test_the_page_of_a_project_has_the_edges_of_the_text_of_a_chat(
    window: WindowPage, server: ModelServer, qtbot: QtBot, width: int
) -> None:
    server.script(Answer("In May."))
    window.activate(width, 700, qtbot)
    window.view.open_project("Thesis")
    window.composer.send("When is it due?")
    qtbot.waitUntil(lambda: window.view.transcript.last_answer_entry != "")
    (answer,) = window.chat.answers()
    text = answer.view.cursorRect(QTextCursor(answer.view.document())).topLeft()
    edge = answer.view.viewport().mapTo(window.view.middle, text).x()
    QTest.mouseClick(find(window.view.middle, ProjectLabel), Qt.MouseButton.LeftButton)
    (page,) = (one for one in window.view.findChildren(ProjectView) if one.isVisible())
    QApplication.processEvents()
    for part in (page.instructions.field, page.skills.state):
        assert abs(part.mapTo(window.view.middle, QPoint()).x() - edge) <= 1


def test_the_model_of_a_project_is_chosen_from_the_menu_of_models_and_l1_is_measured(
    window: WindowPage, assistant: Assistant, qtbot: QtBot
) -> None:
    window.view.open_project("Thesis")
    header = find(window.view.middle, ProjectLabel)
    QTest.mouseClick(header, Qt.MouseButton.LeftButton)
    (dialog,) = (one for one in window.view.findChildren(ProjectView) if one.isVisible())
    menu = dialog.notes.model
    assert menu.text() == "The model in the settings"
    (chosen,) = (one for one in menu.menu().actions() if one.data() == "scripted")
    chosen.trigger()
    assert assistant.projects.settings("Thesis").model == "scripted"
    qtbot.waitUntil(lambda: "Plan.md" in " ".join(texts_of(dialog.contents)))
    assert any(text.startswith("Names and headings of the notes, ") for text in texts_of(dialog))


def test_the_open_chat_is_moved_from_the_palette(
    window: WindowPage, assistant: Assistant, thesis: Path
) -> None:
    assistant.projects.add(str(thesis))
    window.view.controllers.projects.refresh()
    window.composer.send("And the rest?")
    session = str(window.chat.session)
    window.view.run_command("move_chat")
    click_row(window.palette.view.view, "Thesis")
    assert assistant.sessions.info(session).project == "Thesis"
    window.view.run_command("move_chat")
    click_row(window.palette.view.view, "Out of its project")
    assert assistant.sessions.info(session).project is None
