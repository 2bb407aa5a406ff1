"""The window as a whole: sizes, places, themes; nothing overlaps and nothing is cut."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton, QTreeView
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.sessions.session_info import SessionInfo
from app.startup import StartupInfo
from tests.support.window import widgets
from tests.support.window.shell_window import Make, fill, shown_texts
from tests.support.window.window_pages import find
from ui.chat.composer.attachment import Attachment
from ui.chat.composer.attachment_state import ChipState
from ui.chat.composer.composer_controls import ComposerFrame
from ui.chat.transcript.instructions_bar import InstructionsBar
from ui.panels.context.layer_tree import ROW
from ui.panels.index.state import IndexState
from ui.panels.notes.folders import Folders
from ui.tasks import TaskRunner
from ui.theme import Theme
from ui.widgets.buttons import IconButton
from ui.widgets.controls import label
from ui.widgets.find_bar import FindBar
from ui.widgets.surfaces import Header, Notice, Pane
from ui.window import MainWindow
from vault.records import NoteState

# A screen belongs to a process: Qt reads it from a file when the program starts.
FIRST_WINDOW = """
import sys
from pathlib import Path
from PySide6.QtWidgets import QApplication
from app.startup import StartupInfo
from ui.window import MainWindow
from ui.theme import Theme

app = QApplication([])
Theme.current().apply("light", 1.0)
window = MainWindow(StartupInfo(Path(sys.argv[1]), None))
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


def test_without_notes_the_window_says_what_to_do(make: Make) -> None:
    window = make()
    texts = shown_texts(window)
    assert "Choose a folder of notes." in texts
    assert "Strata reads Markdown files and changes none without asking." in texts
    assert "No folder is open. Choose one above." in texts
    assert "Nothing pinned yet." in texts  # it is not loading
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


@pytest.mark.parametrize("height", range(560, 640, 9))
def test_a_note_tree_that_scrolls_shows_whole_rows(make: Make, height: int) -> None:
    window = make(1_280, height)
    fill(window)
    notes = window.sidebar.notes
    for row in range(notes.model().rowCount()):
        notes.expand(notes.model().index(row, 0))
    for _ in range(3):
        QApplication.processEvents()
    assert notes.height() < notes.measure_content()
    assert notes.height() % Theme.current().px(28) == 0


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


def test_before_anything_is_known_no_figure_and_no_lack_is_told(
    assistant: Assistant, qtbot: QtBot, small_vault: Path
) -> None:
    window = MainWindow(StartupInfo(assistant.paths.state, small_vault))
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.composer.input.hasFocus)
    window.fill_column()
    assert not any("yet" in text for text in shown_texts(window))
    rows = window.column.context.findChild(QTreeView).model()
    figures = {rows.index(at, 0).data(ROW).figure for at in range(rows.rowCount())}
    assert figures == {"–"}
    window.close()


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


@pytest.mark.parametrize("size", [(1_440, 900), (1_280, 720), (2_560, 1_440)])
def test_the_first_window_is_no_larger_than_the_screen(
    size: tuple[int, int], tmp_path: Path
) -> None:
    width, height = first_size(tmp_path, *size)
    assert width <= size[0]
    assert height + 24 <= size[1]  # the title bar stands above that
    assert (width, height) == (1_440, 900) or size[0] <= 1_440


def test_small_faint_and_odd_widgets_are_found(qtbot: QtBot) -> None:
    place = Pane("content")
    qtbot.addWidget(place)
    small, odd = IconButton("x", "Small", size=20), QLabel("Odd")
    faint = label("Faint", tone="disabled")
    field = QLineEdit(placeholderText="A hint that is much longer than its field")
    for widget in (small, faint, odd, field):
        widget.setParent(place)
    faint.setGeometry(0, 40, 80, 20)
    odd.setGeometry(0, 80, 80, 40)
    field.setGeometry(0, 160, 80, 28)
    odd.setStyleSheet("font-size: 19px")
    place.show()
    checks = (widgets.small_targets, widgets.faint_labels, widgets.cut_buttons, widgets.odd_sizes)
    assert [len(check(place)) for check in checks] == [1, 1, 1, 1]
