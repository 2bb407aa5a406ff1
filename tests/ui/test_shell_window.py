"""The window as a whole: columns, sizes, keys, names, and what it remembers."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPointF, QRect, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QTreeView, QWidget
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.errors import StorageFailed, describe
from app.sessions.listing import SessionInfo
from app.startup import StartupInfo
from chains.errors import Offline
from tests.support.sessions.contexts import make_context
from tests.support.window import widgets
from tests.support.window.clicks import click_button
from tests.support.window.window_pages import find
from ui.actions import COMMANDS
from ui.chat.composer.attachment import Attachment, Drops
from ui.chat.composer.attachment_state import ChipState
from ui.chat.composer.composer_controls import ComposerFrame
from ui.chat.transcript.instructions_bar import InstructionsBar
from ui.controllers.notes import NoteListing
from ui.panels.context.layer_tree import ROW
from ui.panels.index.state import IndexState, NotesByState
from ui.panels.notes.folders import Folders
from ui.panels.notes.sources import SourceRow
from ui.shortcuts import ShortcutsDialog
from ui.state import WindowState, load_state, save_state
from ui.tasks import TaskRunner
from ui.theme import Theme
from ui.widgets.controls import ElidedLabel
from ui.widgets.find_bar import FindBar
from ui.widgets.surfaces import Header, Notice
from ui.widgets.texts import is_rtl
from ui.window import MainWindow
from vault.index import NoteState
from vault.notes.links import LinkResolver
from vault.notes.note import Note
from vault.search.related import RelatedNote

Make = Callable[..., MainWindow]


@pytest.fixture
def make(assistant: Assistant, runner: TaskRunner, qtbot: QtBot) -> Iterator[Make]:
    """Make a window over the assistant, without a folder."""
    made: list[MainWindow] = []

    def make(width: int = 1440, height: int = 900, *, is_begun: bool = True) -> MainWindow:
        window = MainWindow(StartupInfo(assistant.paths.state, assistant.vault), runner)
        window.attach(assistant)
        made.append(window)
        qtbot.addWidget(window)
        window.resize(width, height)
        window.show()
        if is_begun:
            window.begin()
        return window

    yield make
    for window in made:
        window.close()


# A screen belongs to a process: Qt reads it from a file when the program starts.
FIRST_WINDOW = """
import sys
from pathlib import Path
from PySide6.QtWidgets import QApplication
from app.startup import StartupInfo
from ui.frame import WindowFrame
from ui.theme import Theme

app = QApplication([])
Theme.current().apply("light", 1.0)
window = WindowFrame(StartupInfo(Path(sys.argv[1]), None))
window.show()
print(window.width(), window.height())
"""


def first_size(folder: Path, width: int, height: int) -> tuple[int, int]:
    """Return the size of the first window on a screen."""
    screen = {"name": "one", "x": 0, "y": 0, "width": width, "height": height, "dpr": 1}
    screen |= {"logicalDpi": 96, "logicalBaseDpi": 96}
    file = folder / "screen.json"
    file.write_text(json.dumps({"screens": [screen]}), "utf-8")
    env = {**os.environ, "QT_QPA_PLATFORM": f"offscreen:configfile={file}"}
    command = [sys.executable, "-c", FIRST_WINDOW, str(folder)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = done.stdout.split()
    return int(found[0]), int(found[1])


def fill(window: MainWindow) -> None:
    """Show a chat in full swing, with everything that has a place."""
    notes = [NoteState(f"Folder {n % 7}/Note {n}.md", f"Note {n}", "indexed") for n in range(60)]
    window.sidebar.show_vault("A folder with quite a long name indeed", "/home/me/notes")
    window.sidebar.show_notes(Folders(notes), "")
    window.column.context.show_context(make_context(None, factor=1.1, reused=36_558), {})
    window.column.sources.show_rows([SourceRow(1, "Tomatoes", "garden/Tomatoes.md", True)])
    window.column.index.show_state(IndexState("running", 3_000, 12_000, 60, phase="embed"))
    failed = NoteState("A.md", "A", "failed", "It is no text.")
    window.column.index.show_notes(NotesByState([*notes, failed]))
    window.column.related.show_notes("A.md", [RelatedNote("B.md", "B", 0.5, is_linked=True)])
    window.middle.show_chat(True)
    window.middle.set_title("A question that is long enough to be cut in a narrow window " * 3)


def shown_texts(window: MainWindow) -> list[str]:
    return [label.text() for label in window.findChildren(QLabel) if label.isVisible()]


def test_without_notes_the_window_says_what_to_do(make: Make) -> None:
    window = make()
    texts = shown_texts(window)
    assert "Choose a folder of notes." in texts
    assert "Strata reads Markdown files and changes none without asking." in texts
    assert "No folder is open. Choose one above." in texts
    words = {button.text() for button in window.findChildren(QPushButton) if button.isVisible()}
    assert {"Choose a folder", "Try the sample notes"} <= words


def test_before_the_notes_are_open_nothing_is_said_of_them(
    assistant: Assistant, small_vault: Path, runner: TaskRunner, qtbot: QtBot
) -> None:
    window = MainWindow(StartupInfo(assistant.paths.state, small_vault), runner)
    qtbot.addWidget(window, before_close_func=lambda window: window.close())
    window.resize(1440, 900)
    window.show()
    said = {"No chats yet. Ctrl+N starts one.", "No notes are open"}
    assert not said & set(shown_texts(window))
    assert window.sidebar.footer.state.text == "Loading…"
    window.attach(assistant)  # whose folder is gone
    window.begin()
    assert said <= set(shown_texts(window))


def test_the_headers_of_all_columns_end_on_one_line(make: Make) -> None:
    window = make()
    heads = [head for head in window.findChildren(Header) if head.isVisible()]
    upper = [head for head in heads if widgets.rect_in(window, head).top() == 0]
    assert len(upper) == 3
    assert {widgets.bottom_in(window, head) for head in upper} == {44}


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_nothing_overlaps_and_nothing_is_cut(make: Make, mode: Any, scale: float) -> None:
    Theme.current().apply(mode, scale)
    window = make(1920, 900)
    problems: dict[tuple[int, str], list[str]] = {}
    for state in ("empty", "full", "index", "related"):
        if state == "full":
            fill(window)
        elif state != "empty":
            window.column.show_dock(getattr(window.column, f"{state}_dock"))
        for width in (1920, 1280, 900, 720):
            window.resize(width, 900)
            QApplication.processEvents()
            assert window.width() == width
            problems[width, state] = widgets.find_faults(window)
    assert {place: found for place, found in problems.items() if found} == {}


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_the_lists_of_the_sidebar_end_where_its_footer_begins(make: Make, scale: float) -> None:
    window = make(1440, 700)
    window.set_scale(scale)
    fill(window)
    sidebar = window.sidebar
    at = "2026-05-14T14:03:00+00:00"
    chats = [SessionInfo(f"s{n}", f"Chat {n}", at, at, None, None, 2) for n in range(60)]
    sidebar.show_chats(chats, None)
    for _ in range(3):
        QApplication.processEvents()
    gap = widgets.rect_in(window, sidebar.footer).top() - widgets.bottom_in(window, sidebar.chats)
    assert 8 <= gap <= 10


def test_no_list_of_the_sidebar_stands_over_what_follows_it(make: Make) -> None:
    window = make(1440, 900)
    fill(window)
    sidebar = window.sidebar
    many = Folders([NoteState(f"{n:03}.md", f"Note {n}", "indexed") for n in range(90)])
    sidebar.show_notes(many, "")
    sidebar.show_chats([], None)
    for kind in ("done", "stopped"):  # whose footer is higher
        sidebar.footer.show_state(IndexState(kind, 21, 949, phase="embed"))
        for _ in range(3):
            QApplication.processEvents()
        assert widgets.overlapping_siblings(sidebar) == []


def test_a_first_window_is_no_larger_than_its_screen(qtbot: QtBot, tmp_path: Path) -> None:
    window = MainWindow(StartupInfo(tmp_path, None))
    qtbot.addWidget(window)
    room = window.screen().availableGeometry()
    window.resize(room.size())  # with a title bar it has no place
    window.open_on_screen()
    qtbot.waitUntil(window.isMaximized)
    assert room.contains(window.geometry())
    assert window.normalGeometry().height() < room.height()


def test_everything_that_takes_the_focus_has_a_name(make: Make) -> None:
    window = make()
    assert widgets.unnamed(window) == []
    fill(window)
    assert widgets.unnamed(window) == []


def test_tab_visits_every_stop_once_and_returns(make: Make, qtbot: QtBot) -> None:
    window = make()
    fill(window)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window.composer.setFocus()
    first = QApplication.focusWidget()
    seen = [first]
    while True:
        window.focusNextChild()
        now = QApplication.focusWidget()
        if now is first:
            break
        assert now not in seen
        seen.append(now)
        assert len(seen) < 60
    assert len(seen) > 8


def test_below_1160_the_right_column_is_closed_and_comes_back(make: Make) -> None:
    window = make(1160)
    assert window.column.isVisible()
    window.resize(1159, 900)
    assert not window.column.isVisible()
    window.resize(1160, 900)
    assert window.column.isVisible()


def test_below_960_the_sidebar_is_a_rail_and_comes_back(make: Make) -> None:
    window = make(960)
    assert window.sidebar.isVisible()
    assert not window.rail.isVisible()
    window.resize(959, 900)
    assert not window.sidebar.isVisible()
    assert window.rail.isVisible()
    window.resize(960, 900)
    assert window.sidebar.isVisible()


def test_search_stands_below_new_chat_with_its_key_and_in_the_rail(make: Make) -> None:
    window = make(1280)
    at = "2026-05-14T14:03:00+00:00"
    window.sidebar.show_chats([SessionInfo("s", "Chat", at, at, None, None, 2)], None)
    QApplication.processEvents()
    field, new = window.sidebar.chat_search, window.sidebar.new_chat
    assert field.isVisible()
    assert widgets.left_in(window, field) == widgets.left_in(window, new)
    assert 0 < widgets.rect_in(window, field).top() - widgets.bottom_in(window, new) <= 8
    keys = field.grab(QRect(field.width() - 80, 0, 80, field.height())).toImage()
    field.setText("words")
    assert keys != field.grab(QRect(field.width() - 80, 0, 80, field.height())).toImage()


def test_before_anything_is_known_no_figure_and_no_lack_is_told(
    assistant: Assistant, qtbot: QtBot, small_vault: Path
) -> None:
    window = MainWindow(StartupInfo(assistant.paths.state, small_vault))
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.composer.input.hasFocus)
    assert not any("yet" in text for text in shown_texts(window))
    rows = window.column.context.findChild(QTreeView).model()
    figures = {rows.index(at, 0).data(ROW).figure for at in range(rows.rowCount())}
    assert figures == {"–"}
    window.close()


def test_the_rail_opens_the_search_of_chats(make: Make) -> None:
    window = make(900)
    assert not window.sidebar.isVisible()
    click_button(window.rail, "Search all chats")
    assert window.sidebar.isVisible()


def test_the_header_of_a_chat_finds_in_it(make: Make) -> None:
    window = make(1280)
    click_button(window.middle, "Find in this chat")
    (bar,) = (bar for bar in window.findChildren(FindBar) if bar.isVisible())
    assert bar.field.hasFocus()


def test_a_column_that_was_hidden_stays_hidden_when_there_is_room_again(make: Make) -> None:
    window = make(1440)
    window.run_command("toggle_panel")
    window.resize(900, 900)
    window.resize(1440, 900)
    assert not window.column.isVisible()


def test_in_a_narrow_window_the_panel_is_a_drawer_that_escape_closes(make: Make) -> None:
    window = make(900)
    window.run_command("toggle_panel")
    assert window.column.isVisible()
    assert widgets.rect_in(window, window.column).right() == 899
    assert window.middle.width() == 900 - 49
    window.run_command("stop")
    assert not window.column.isVisible()


def test_a_drawer_becomes_a_column_where_there_is_room(make: Make) -> None:
    window = make(900)
    window.run_command("toggle_panel")
    window.resize(1440, 900)
    assert window.column.isVisible()
    assert not window.columns.close_drawer()
    assert widgets.overlapping_siblings(window) == []


def test_the_sidebar_drawer_closes_when_a_chat_is_chosen(make: Make) -> None:
    window = make(900)
    window.rail.open_requested.emit()
    assert window.sidebar.isVisible()
    window.sidebar.new_chat_requested.emit()
    assert not window.sidebar.isVisible()


def test_larger_text_for_a_while_leaves_the_widths_that_were_chosen(make: Make) -> None:
    window = make(1440)
    window.columns.set_widths([250, 330])
    window.columns.arrange()
    for scale in (2.0, 1.0):
        window.set_scale(scale)
        QApplication.processEvents()
    assert window.columns.widths() == [250, 330]
    assert (window.sidebar.width(), window.column.width()) == (250, 330)


def test_a_reset_while_text_is_large_gives_the_first_widths_at_every_size(make: Make) -> None:
    window = make(1440)
    window.set_scale(2.0)
    window.run_command("reset_layout")
    window.set_scale(1.0)
    QApplication.processEvents()
    assert (window.sidebar.width(), window.column.width()) == (248, 344)


def test_a_full_composer_keeps_its_parts_apart_where_text_is_large(make: Make) -> None:
    window = make(900, 700)
    window.set_scale(2.0)
    window.middle.show_chat(True)
    window.transcript.show_empty(27, None, ["When is it?", "Why?"])
    composer = window.composer
    names = ("Home server.md", "Garden log.md", "Questions worth asking.md")
    composer.set_attached({Attachment(name): ChipState(tokens=577) for name in names})
    composer.set_text("Draft the mail to Ines that asks for the April restore test")
    composer.set_obstacle("The limit leaves no room for reading an attachment part by part. " * 2)
    for _ in range(5):
        QApplication.processEvents()
    assert widgets.overlapping_siblings(window) == []
    assert widgets.cut_labels(window.transcript) == []


def test_a_question_about_instructions_leaves_its_answers_free_where_text_is_large(
    make: Make,
) -> None:
    window = make(900, 700)
    window.set_scale(2.0)
    window.middle.show_chat(True)
    find(window, InstructionsBar).ask("AGENTS.md", "A line.\n" * 9, "d1")
    for _ in range(5):
        QApplication.processEvents()
    assert widgets.overlapping_siblings(window) == []


def test_what_is_said_above_the_chat_stands_in_its_column(make: Make) -> None:
    window = make(1440)
    window.middle.show_chat(True)
    window.middle.show_notice("amber", "The settings file cannot be understood.", "Line 3.")
    window.run_command("find")
    QApplication.processEvents()
    (notice,) = (bar for bar in window.middle.findChildren(Notice) if bar.isVisible())
    (find,) = (bar for bar in window.middle.findChildren(FindBar) if bar.isVisible())
    frame = widgets.rect_in(window, window.composer.findChild(ComposerFrame))
    for bar in (notice, find):
        place = widgets.rect_in(window, bar)
        assert (place.left(), place.right()) == (frame.left(), frame.right())
    assert widgets.rect_in(window, notice).top() == 44 + 8
    window.middle.clear_notice()
    QApplication.processEvents()
    assert widgets.rect_in(window, find).top() == 44


def test_the_window_keeps_its_least_size(make: Make) -> None:
    window = make()
    assert (window.minimumWidth(), window.minimumHeight()) == (720, 520)
    window.resize(720, 520)
    assert (window.width(), window.height()) == (720, 520)


def test_no_two_commands_share_a_key() -> None:
    keys = [key for command in COMMANDS for key in command.keys]
    assert len(keys) == len(set(keys))


def test_every_command_with_a_key_is_in_the_list(make: Make, qtbot: QtBot) -> None:
    dialog = ShortcutsDialog(make())
    qtbot.addWidget(dialog)
    texts = {label.text() for label in dialog.findChildren(QLabel)}
    assert {command.words for command in COMMANDS if command.keys} <= texts


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_the_list_of_shortcuts_cuts_nothing_and_fits_the_window(
    make: Make, qtbot: QtBot, scale: float
) -> None:
    window = make(900, 700)
    window.set_scale(scale)
    dialog = ShortcutsDialog(window)
    qtbot.addWidget(dialog)
    dialog.show()
    QApplication.processEvents()
    assert widgets.cut_labels(dialog) == []
    assert widgets.unnamed(dialog) == []
    assert dialog.height() <= window.height()


def test_text_grows_and_shrinks_by_the_steps(make: Make) -> None:
    window = make()
    for name, scale in (("larger", 1.1), ("larger", 1.25), ("smaller", 1.1), ("normal_size", 1.0)):
        window.run_command(name)
        assert Theme.current().scale == scale


def test_a_panel_that_is_opened_as_a_drawer_has_the_size_of_all_text(make: Make) -> None:
    window = make(900)
    window.set_scale(1.5)
    window.columns.show_right()
    sizes = {
        label.font().pixelSize()
        for label in window.column.findChildren(QLabel)
        if label.property("kind") == "ui_strong"
    }
    assert sizes == {Theme.current().font("ui_strong").pixelSize()}


def test_f6_walks_the_regions(make: Make, qtbot: QtBot) -> None:
    window = make()
    fill(window)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window.composer.setFocus()
    regions = []
    for _ in range(4):
        window.run_command("next_region")
        focus = QApplication.focusWidget()
        parts = (window.composer, window.transcript, window.column, window.sidebar)
        regions += [part for part in parts if part is focus or part.isAncestorOf(focus)]
    assert len(set(regions)) >= 3


def test_places_are_remembered(make: Make, qtbot: QtBot) -> None:
    window = make(1440)
    window.run_command("toggle_panel")
    window.columns.set_widths([300, 400])
    window.run_command("larger")
    window.close()
    again = make(1440)
    assert again.font_scale == 1.1
    assert not again.columns.wants_right
    assert again.columns.widths() == [300, 400]


def test_the_layout_can_be_reset(make: Make) -> None:
    window = make(1440)
    window.run_command("toggle_panel")
    window.columns.set_widths([300, 400])
    window.run_command("reset_layout")
    assert window.column.isVisible()
    assert window.columns.widths() == [248, 344]


def test_a_damaged_memory_means_the_first_layout(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    wrong = (
        '{"columns": "x", "font_scale": 99, "sent": null, "shares": {"context": 0, "note": "x"}}'
    )
    for damage in ("{", "[]", wrong):
        path.write_text(damage)
        assert load_state(path) == WindowState()


def test_the_memory_is_written_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "window.json"
    state = WindowState(columns=[250, 350], session="abc", sent=3, open_folders=["Daily"])
    save_state(path, state)
    assert load_state(path) == state


def test_a_note_opens_at_its_lines_beside_the_conversation(
    make: Make, assistant: Assistant, small_vault: Path
) -> None:
    assistant.open_vault(small_vault, remember=False)
    window = make(1440, is_begun=False)
    window.show_note("garden/Tomatoes.md", 3, 6)
    assert window.note.isVisible()
    assert window.note.path == "garden/Tomatoes.md"
    assert window.note.find_marked_lines() == (3, 6)
    assert not window.composer.isVisible()
    window.resize(1920, 900)
    assert window.note.isVisible()
    assert window.composer.isVisible()
    assert not window.column.sources_dock._head.is_folded


def test_closing_a_panel_gives_the_sources_their_header_back(
    make: Make, assistant: Assistant, small_vault: Path
) -> None:
    assistant.open_vault(small_vault, remember=False)
    window = make(1440, is_begun=False)
    window.run_command("toggle_related")
    assert window.column.sources_dock._head.is_folded
    window.run_command("toggle_related")
    assert not window.column.sources_dock._head.is_folded


def test_a_link_in_an_answer_opens_the_note_at_its_heading(
    make: Make, assistant: Assistant, small_vault: Path
) -> None:
    assistant.open_vault(small_vault, remember=False)
    window = make(1440, is_begun=False)
    notes = (NoteState("Watering.md", "Watering", "indexed"),)
    links = LinkResolver((note.path, ()) for note in notes)
    window.controllers.notes.listing = NoteListing(notes, links=links)
    window.controllers.reading.follow_link("note:Watering#In winter")
    assert window.note.find_marked_lines() == (7, 7)
    window.controllers.reading.follow_link("note:Nothing")
    assert window.notifier.texts() == ["There is no note named Nothing."]


def test_a_note_that_is_gone_says_so_in_its_place(
    make: Make, assistant: Assistant, small_vault: Path
) -> None:
    assistant.open_vault(small_vault, remember=False)
    window = make(1440, is_begun=False)
    window.show_note("gone.md")
    assert window.note.isVisible()
    assert not window.note.page.isVisible()


def test_a_folder_that_is_gone_is_named_where_the_notes_would_be(
    make: Make, assistant: Assistant, tmp_path: Path
) -> None:
    lost = str(tmp_path / "gone")
    assistant.settings.set("vault.path", lost)
    texts = shown_texts(make())
    assert f"The folder {lost} cannot be reached." in texts
    assert "Nothing was deleted." in texts


def test_a_folder_that_cannot_be_opened_leaves_the_open_one(
    make: Make, assistant: Assistant, small_vault: Path
) -> None:
    assistant.open_vault(small_vault, remember=False)
    window = make(is_begun=False)
    window.open_folder(small_vault / "nowhere")
    assert assistant.vault == small_vault.resolve()
    assert any("nowhere" in text for text in shown_texts(window))


def drop_of(path: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    return data


def drag(window: MainWindow, path: Path) -> bool:
    """Drag something over the window, and say whether it would take it."""
    data = drop_of(path)
    event = QDragEnterEvent(
        window.rect().center(),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    event.ignore()
    window.findChild(Drops).eventFilter(window, event)
    return event.isAccepted()


def drop(window: MainWindow, path: Path, at: QPointF) -> None:
    data = drop_of(path)
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    event = QDropEvent(at, Qt.DropAction.CopyAction, data, buttons, keys)
    # Qt hands drops on to a target that only a real drag can have.
    window.findChild(Drops).eventFilter(window, event)


def middle_of(window: MainWindow, widget: QWidget) -> QPointF:
    return QPointF(widget.mapTo(window, widget.rect().center()))


def test_without_notes_only_a_folder_can_be_dropped(make: Make, small_vault: Path) -> None:
    window = make(is_begun=False)
    assert drag(window, small_vault)
    assert not drag(window, small_vault / "Welcome.md")


def opened_by(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that are opened from now on, which they are not really."""
    opened: list[Path] = []
    monkeypatch.setattr(window.controllers.notes, "open", opened.append)
    return opened


def test_without_notes_a_dropped_folder_is_opened(
    make: Make, small_vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = make(is_begun=False)
    opened = opened_by(window, monkeypatch)
    drop(window, small_vault, middle_of(window, window.middle))
    assert opened == [small_vault]


def test_a_hidden_file_that_is_dropped_is_asked_about(
    make: Make, assistant: Assistant, small_vault: Path, qtbot: QtBot
) -> None:
    assistant.open_vault(small_vault, remember=False)
    (small_vault / ".env").write_text("KEY=1")
    window = make()
    drop(window, small_vault / ".env", middle_of(window, window.middle))
    attaching = window.controllers.composer.attachments
    said = ".env is a hidden file, which may hold keys. It is not attached."
    assert (attaching.attached, window.notifier.texts()) == ((), [said])
    (agree,) = [b for b in window.findChildren(QPushButton) if b.text() == "Attach it"]
    qtbot.mouseClick(agree, Qt.MouseButton.LeftButton)
    (item,) = attaching.attached
    assert item.target == str(small_vault / ".env")
    qtbot.waitUntil(lambda: attaching.states[item].problem == "" and bool(attaching._found))


def test_a_dropped_link_out_of_the_notes_is_marked_and_never_read(
    make: Make, assistant: Assistant, small_vault: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    assistant.open_vault(small_vault, remember=False)
    (tmp_path / "outside.txt").write_text("KEY=1")
    window = make()
    attaching = window.controllers.composer.attachments
    for name in ("link.txt", "link.md"):
        (small_vault / name).symlink_to(tmp_path / "outside.txt")
        drop(window, small_vault / name, middle_of(window, window.middle))
    first, second = attaching.attached
    for item in (first, second):
        qtbot.waitUntil(lambda item=item: "is a link out of" in attaching.states[item].problem)
        assert str(tmp_path / "outside.txt") in attaching.states[item].problem
    assert attaching.sendable == ()


@pytest.fixture
def other_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "log.txt").write_text("started\n")
    return folder


def test_a_folder_that_is_none_of_the_notes_is_opened_from_the_sidebar(
    make: Make,
    assistant: Assistant,
    small_vault: Path,
    other_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assistant.open_vault(small_vault, remember=False)
    window = make(is_begun=False)
    opened = opened_by(window, monkeypatch)
    drop(window, other_folder, middle_of(window, window.middle))
    assert opened == []
    assert window.notifier.texts() == [
        "elsewhere is not among the open notes, so it cannot be attached."
    ]
    drop(window, other_folder, middle_of(window, window.sidebar))
    assert opened == [other_folder]


def test_a_damaged_settings_file_is_named_and_the_window_opens(
    make: Make, assistant: Assistant
) -> None:
    path = assistant.paths.settings_file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("autoCompactThreshold = [", "utf-8")
    assistant.settings.reload()
    texts = shown_texts(make())
    assert any("cannot be understood" in text for text in texts)


def test_a_toast_is_said_once_and_two_at_most(make: Make) -> None:
    window = make()
    for text in ("one", "two", "three\nlines"):
        window.notifier.toast(text)
    assert window.notifier.texts() == ["two", "three lines"]


def test_a_toast_names_settings_by_their_labels(make: Make) -> None:
    window = make()
    window.notifier.toast(describe(Offline("OpenAI")).message)
    (said,) = window.notifier.texts()
    assert said.endswith('or switch "Offline" off.')


@pytest.mark.parametrize("size", [(1_440, 900), (1_280, 720), (2_560, 1_440)])
def test_the_first_window_is_no_larger_than_the_screen(
    size: tuple[int, int], tmp_path: Path
) -> None:
    width, height = first_size(tmp_path, *size)
    assert width <= size[0]
    assert height + 24 <= size[1]  # the title bar stands above that
    assert (width, height) == (1_440, 900) or size[0] <= 1_440


def test_a_long_toast_is_cut_and_runs_from_the_left(make: Make) -> None:
    window = make(720)
    text = "הערה is not among the open notes, so it cannot be attached. " * 3
    window.notifier.toast(text)
    QApplication.processEvents()
    (line,) = (label for label in window.findChildren(ElidedLabel) if "הערה" in label.whole)
    assert line.text().endswith("…")
    assert line.toolTip() == text.strip()
    assert not is_rtl(line.text())


def test_toasts_stand_at_the_lower_edge_where_there_is_no_composer(make: Make) -> None:
    window = make()
    window.notifier.toast("Nothing was deleted.")
    (toast,) = window.notifier._toasts
    assert window.middle.height() - toast.geometry().bottom() == 17
    window.middle.show_chat(True)
    QApplication.processEvents()
    assert widgets.bottom_in(window, toast) <= widgets.rect_in(window, window.composer).top()


def test_chats_that_cannot_be_listed_are_told(
    make: Make, assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise StorageFailed("The disk is full.")

    monkeypatch.setattr(assistant, "list_sessions", fail)
    assert "The disk is full." in make().notifier.texts()


def test_very_large_notes_are_read_without_holding_the_window(make: Make) -> None:
    window = make()
    text = "\n".join("word " * 20 for _ in range(60_000))
    window.note.show_note(Note("big.md", "big", text, "v"), 59_000, 59_001)
    assert len(window.note.page.views()) <= 12
    window.note.toggle_source()
    assert window.note.source.blockCount() <= 4_000
