"""A note that is read: opened by clicks, followed by its links, left again; the chat as it was."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QPoint, Qt, QUrl, Slot
from PySide6.QtGui import QColor, QContextMenuEvent, QDesktopServices, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from chains.cancel import CancelToken
from chains.request.ask import Ask
from tests.support.window.clicks import click_item, click_row, open_menu
from tests.support.window.note_page import NotePage
from tests.support.window.waiting import settle
from tests.support.window.window_pages import WindowPage, open_window
from ui.tasks import TaskRunner
from ui.theme import Theme
from ui.widgets.find_bar import FindBar

RAIN = """\
---
tags: water
---
# Rain barrel

The barrel holds 210 litres. See [[Pump]], [[Pump#In winter]] and [the beds](beds/Tomatoes.md).

Nothing is known of [[Frost]] or [[Pump#In spring]].

![[Pump]]

![[plan.png]]

![A bed](beds/bed.png)

![far](https://example.org/far.png)

![out](../secret.png)

[1] is no citation here.
"""
PUMP = "# Pump\n\n" + "It runs at night.\n\n" * 60 + "## In winter\n\nIt is drained. [[Rain]]\n"
TOMATOES = "# Tomatoes\n\nWatered by the [barrel](../Rain.md#rain-barrel).\n"
INK = QColor("#c04090")
QUESTIONS = ("When is the pump drained?", "Which beds are there?", "How much does the barrel hold?")


@pytest.fixture
def window(
    assistant: Assistant, tmp_path: Path, runner: TaskRunner, qtbot: QtBot
) -> Iterator[WindowPage]:
    """A window over three notes that are indexed, and a chat of three questions."""
    vault = tmp_path / "notes"
    (vault / "beds").mkdir(parents=True)
    (vault / "Rain.md").write_text(RAIN, "utf-8")
    (vault / "Pump.md").write_text(PUMP, "utf-8")
    (vault / "beds" / "Tomatoes.md").write_text(TOMATOES, "utf-8")
    (vault / "attachments").mkdir()
    for path in (vault / "attachments/plan.png", vault / "beds/bed.png", tmp_path / "secret.png"):
        make_picture(path)
    assistant.open_vault(vault, remember=False)
    session = None
    for question in QUESTIONS:
        asked = Ask(question, session=session, update_index=session is None)
        events = list(assistant.ask(asked, CancelToken()))
        session = str(next(found for e in events if (found := getattr(e, "session", ""))))
    window = open_window(assistant, runner, qtbot)
    window.activate(1280, 620, qtbot)
    settle()
    yield window
    window.close()


@pytest.fixture
def note(window: WindowPage) -> NotePage:
    return NotePage(window.view)


def make_picture(path: Path) -> None:
    picture = QImage(300, 200, QImage.Format.Format_RGB32)
    picture.fill(INK)
    picture.save(str(path))


def count_ink(note: NotePage) -> int:
    """Return how many of a hundred pixels of the visible note have the colour of the pictures."""
    image = note.view.page.viewport().grab().toImage()
    return sum(
        image.pixelColor(x, y) == INK
        for x in range(0, image.width(), 10)
        for y in range(0, image.height(), 10)
    )


def open_note(window: WindowPage, name: str) -> None:
    """Click a note of the tree."""
    click_row(window.sidebar.view.notes, name)
    settle()


def test_a_link_to_a_missing_note_looks_different_until_the_note_exists(
    window: WindowPage, note: NotePage, tmp_path: Path, qtbot: QtBot
) -> None:
    color = Theme.current().color
    window.view.show_note("Rain.md")
    for known in ("Pump", "the beds"):
        assert note.find_link_look(known) == (color("text.link"), False)
    assert note.find_link_look("Frost") == (color("text.tertiary"), True)
    outside = tmp_path / "Outside.md"
    outside.write_text("It is by the [[Brook]].", "utf-8")
    window.view.show_note(str(outside))
    assert note.find_link_look("Brook") == (color("text.link"), False)
    window.view.show_note("Rain.md")
    Theme.current().apply("dark")
    assert note.find_link_look("Frost") == (color("text.tertiary"), True)
    assert window.assistant.vault is not None
    (window.assistant.vault / "Frost.md").write_text("# Frost\n", "utf-8")
    qtbot.waitUntil(lambda: note.find_link_look("Frost") == (color("text.link"), False))


def test_a_note_is_shown_rendered_and_keys_go_to_it(window: WindowPage, note: NotePage) -> None:
    open_note(window, "Rain.md")
    assert note.is_open
    assert note.has_focus
    assert "Rain barrel" in note.text
    assert "# Rain barrel" not in note.text
    assert "[1] is no citation here." in note.text


def test_the_chat_and_the_message_are_as_they_were_after_escape(
    window: WindowPage, note: NotePage
) -> None:
    window.chat.open(QUESTIONS[0])
    window.composer.write("Half a thought")
    bar = window.chat.view.scroller.bar
    settle()
    assert bar.maximum() > 60
    bar.setValue(bar.maximum() // 2)
    settle()
    before = bar.value()
    open_note(window, "Pump.md")
    assert not window.composer.view.isVisible()
    note.press_keys("Escape")
    settle()
    assert not note.is_open
    assert bar.value() == before
    assert window.composer.text == "Half a thought"
    assert window.composer.view.input.hasFocus()


def test_a_note_is_selected_in_the_sidebar_only_while_it_is_open(
    window: WindowPage, note: NotePage
) -> None:
    tree = window.view.sidebar.notes
    open_note(window, "Pump.md")
    settle()
    assert tree.currentIndex().data() == "Pump.md"
    note.press_keys("Escape")
    settle()
    assert not tree.currentIndex().isValid()
    assert not tree.selectedIndexes()


def test_in_a_wide_window_the_note_is_beside_the_chat(window: WindowPage, note: NotePage) -> None:
    window.view.resize(1920, 900)
    settle()
    open_note(window, "Pump.md")
    assert window.composer.view.isVisible()
    assert note.view.width() > 400
    note.press_keys("Ctrl+L")
    assert window.composer.view.input.hasFocus()
    assert note.is_open
    window.view.resize(1280, 900)
    settle()
    assert not window.composer.view.isVisible()
    assert note.is_open


def test_a_citation_opens_the_note_with_its_lines_lit(window: WindowPage, note: NotePage) -> None:
    window.chat.open(QUESTIONS[0])
    settle()
    sources = window.view.column.sources
    click_row(sources.list, sources.rows()[0].title)
    settle()
    assert note.is_open
    assert note.count_lit_rows() >= 20


def test_the_source_is_a_keystroke_away(window: WindowPage, note: NotePage) -> None:
    open_note(window, "Rain.md")
    note.press_keys("Ctrl+E")
    assert note.text == RAIN.removesuffix("\n")
    assert note.has_focus
    note.press_keys("Ctrl+E")
    assert "# Rain barrel" not in note.text
    note.press("Show the source")
    assert note.text == RAIN.removesuffix("\n")


def test_links_are_followed_and_gone_back_from(window: WindowPage, note: NotePage) -> None:
    open_note(window, "Rain.md")
    note.click_link("the beds")
    assert note.path == "beds/Tomatoes.md"
    note.click_link("barrel")
    assert note.path == "Rain.md"
    note.press_keys("Alt+Left")
    note.press("Back")
    assert note.path == "Rain.md"
    assert not note.can_press("Back")
    note.press("Forward")
    note.press_keys("Alt+Right")
    assert note.path == "Rain.md"
    note.press_mouse_back()
    assert note.path == "beds/Tomatoes.md"


def test_a_link_to_a_heading_scrolls_there_and_back_is_where_it_was(
    window: WindowPage, note: NotePage
) -> None:
    open_note(window, "Pump.md")
    note.view.page.verticalScrollBar().setValue(300)
    settle()
    line = note.view.find_top_line()
    open_note(window, "Rain.md")
    note.click_link("Pump › In winter")
    settle()
    assert note.path == "Pump.md"
    assert note.view.page.is_visible_line(PUMP.split("\n").index("## In winter") + 1)
    note.press_keys("Alt+Left")
    note.press_keys("Alt+Left")
    settle()
    assert note.path == "Pump.md"
    assert note.view.find_top_line() == line


def test_an_embedded_note_is_followed_too(window: WindowPage, note: NotePage) -> None:
    open_note(window, "Rain.md")
    view, spot = note.find_words("Pump", occurrence=4)
    note.click(view, spot)
    assert note.path == "Pump.md"


def test_a_heading_that_is_missing_is_named(window: WindowPage, note: NotePage) -> None:
    open_note(window, "Rain.md")
    note.click_link("Pump › In spring")
    assert note.path == "Pump.md"
    assert window.toasts()[-1] == "Pump has no heading In spring."


def test_a_link_to_a_note_that_is_not_listed_yet_is_followed(
    window: WindowPage, note: NotePage, assistant: Assistant
) -> None:
    open_note(window, "Rain.md")
    (assistant.vault / "beds" / "Frost.md").write_text("# Frost\n\nOn the beds.\n", "utf-8")
    note.click_link("Frost")
    settle()
    assert note.path == "beds/Frost.md"
    assert window.toasts() == []


def test_links_of_a_note_outside_the_vault_lead_to_the_notes_beside_it(
    window: WindowPage, note: NotePage, tmp_path: Path
) -> None:
    outside = tmp_path / "elsewhere"
    (outside / "parts").mkdir(parents=True)
    (outside / "Well.md").write_text("It has a [[Pump]], a [lid](parts/Lid.md), [[Rain]].", "utf-8")
    (outside / "Pump.md").write_text("# Another pump\n", "utf-8")
    (outside / "parts" / "Lid.md").write_text("# Lid of the [[Well]]\n", "utf-8")
    window.view.show_note(str(outside / "Well.md"))
    note.click_link("Pump")
    assert note.path == str(outside / "Pump.md")
    window.view.show_note(str(outside / "Well.md"))
    note.click_link("lid")
    assert note.path == str(outside / "parts" / "Lid.md")
    window.view.show_note(str(outside / "Well.md"))
    note.click_link("Rain")
    assert note.path == str(outside / "Well.md")
    assert window.toasts() == ["There is no note named Rain."]


def test_links_of_a_project_outside_the_vault_stay_in_the_project(
    window: WindowPage, note: NotePage, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    (project / "parts").mkdir(parents=True)
    (project / "Pump.md").write_text("# The project's pump\n", "utf-8")
    (project / "parts" / "Lid.md").write_text("It lies on the [[Pump]].", "utf-8")
    window.assistant.projects.add(str(project))
    window.view.show_note(str(project / "parts" / "Lid.md"))
    note.click_link("Pump")
    assert note.path == str(project / "Pump.md")


def test_links_of_an_answer_lead_to_the_project_outside_the_vault_before_the_vault(
    window: WindowPage, note: NotePage, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "Pump.md").write_text("# The project's pump\n", "utf-8")
    text = "# Lid\n\nThe lid of the well lies between the pump and the barrel.\n"
    (project / "Lid.md").write_text(text, "utf-8")
    named = window.assistant.projects.add(str(project))
    question = Ask("Where does the lid of the well lie?", "project", project=named)
    events = list(window.assistant.ask(question, CancelToken()))
    session = next(found for e in events if (found := getattr(e, "session", "")))
    file = window.assistant.paths.sessions / f"{session}.jsonl"
    stored = file.read_text("utf-8")
    file.write_text(stored.replace("the pump and the barrel", "[[Pump]] and [[Rain]]"), "utf-8")
    window.chat.reopen(session)
    for name, path in (("Pump", str(project / "Pump.md")), ("Rain", "Rain.md")):
        view = window.chat.answers()[-1].view
        spot = view.cursorRect(view.document().find(name)).center() - QPoint(4, 0)
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=spot)
        settle()
        assert note.path == path


def test_a_closed_note_is_opened_again_by_going_back(window: WindowPage, note: NotePage) -> None:
    open_note(window, "Rain.md")
    note.press("Close the note")
    assert not note.is_open
    note.press_keys("Alt+Left")
    assert note.path == "Rain.md"
    assert note.is_open


def test_attaching_the_note_goes_back_to_the_message(window: WindowPage, note: NotePage) -> None:
    open_note(window, "Rain.md")
    note.press("Attach this note")
    assert [item.target for item in window.composer.attached] == ["Rain.md"]
    assert window.composer.view.input.hasFocus()
    assert not note.is_open


@pytest.mark.parametrize("is_source", [False, True])
def test_selected_lines_are_attached_from_the_menu_of_the_text(
    window: WindowPage, note: NotePage, is_source: bool
) -> None:
    open_note(window, "Rain.md")
    panel = window.view.note
    if is_source:
        note.press("Show the source")
    view = panel.source if is_source else panel.page.views()[0]
    view.selectAll()
    lines = panel.find_selected_lines()
    assert lines is not None
    spot = view.viewport().visibleRegion().boundingRect().center()
    asked = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, spot, view.mapToGlobal(spot))
    QApplication.sendEvent(view.viewport(), asked)
    click_item(open_menu(), f"Attach lines {lines[0]}–{lines[1]}")
    (item,) = window.composer.attached
    assert (item.target, item.lines) == ("Rain.md", lines)


def test_images_of_the_vault_are_shown_and_no_others(window: WindowPage, note: NotePage) -> None:
    window.view.resize(1280, 1400)
    settle()
    open_note(window, "Rain.md")
    note.view.show_line(RAIN.split("\n").index("![[plan.png]]") + 1)  # below an embedded note
    settle()
    assert count_ink(note) == pytest.approx(2 * 30 * 20, abs=120)
    assert "Image not loaded: example.org" in note.text
    assert "There is no image named ../secret.png." in note.text


def test_the_text_of_a_note_begins_where_that_of_the_chat_begins(
    window: WindowPage, note: NotePage
) -> None:
    window.chat.open(QUESTIONS[0])
    open_note(window, "Pump.md")
    window.view.resize(900, 620)
    settle()
    assert window.view.middle.is_chat_covered
    assert note.view.page.verticalScrollBar().isVisible()
    text = note.view.page.views()[0]
    left, width = text.mapTo(window.view, text.rect().topLeft()).x(), text.width()
    note.press_keys("Escape")
    settle()
    assert not note.is_open
    answer = window.chat.answers()[-1].view
    assert answer.mapTo(window.view, answer.rect().topLeft()).x() == left
    assert answer.width() == width


def test_the_headings_are_listed_and_gone_to(
    window: WindowPage, note: NotePage, qtbot: QtBot
) -> None:
    panel = window.view.column.outline
    open_note(window, "Pump.md")
    note.press("Headings of this note")
    assert panel.texts() == ["Pump", "In winter"]
    assert panel.find_marked_text() == "Pump"
    assert panel.field.hasFocus()
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Return):
        QTest.keyClick(window.view.focusWidget(), key)
    settle()
    assert note.view.page.is_visible_line(PUMP.split("\n").index("## In winter") + 1)
    assert note.has_focus
    qtbot.waitUntil(lambda: panel.find_marked_text() == "In winter")
    click_row(panel.list, "Pump")
    assert note.scroll < 40
    qtbot.waitUntil(lambda: panel.find_marked_text() == "Pump")


def test_escape_leaves_the_headings_for_the_note_that_stays_open(
    window: WindowPage, note: NotePage
) -> None:
    panel = window.view.column.outline
    open_note(window, "Pump.md")
    note.press_keys("Ctrl+Shift+L")
    QTest.keyClicks(panel.field, "winter")
    assert panel.texts() == ["In winter"]
    QTest.keyClick(panel.field, Qt.Key.Key_Escape)
    assert panel.texts() == ["Pump", "In winter"]
    QTest.keyClick(panel.field, Qt.Key.Key_Escape)
    assert note.is_open
    assert note.has_focus
    note.press_keys("Escape")
    assert not note.is_open
    assert panel.read_hint() == "No note is open."
    note.press_keys("Ctrl+Shift+L")
    QTest.keyClick(window.view.focusWidget(), Qt.Key.Key_Escape)
    assert window.view.composer.isAncestorOf(window.view.focusWidget())


def test_the_filter_stays_while_the_note_changes_and_goes_with_another(
    window: WindowPage, note: NotePage, tmp_path: Path, qtbot: QtBot
) -> None:
    panel = window.view.column.outline
    open_note(window, "Pump.md")
    note.press_keys("Ctrl+Shift+L")
    QTest.keyClicks(panel.field, "in")
    (tmp_path / "notes" / "Pump.md").write_text(PUMP + "\n## In spring\n", "utf-8")
    window.view.controllers.reading.reread()
    qtbot.waitUntil(lambda: panel.texts() == ["In winter", "In spring"])
    window.view.show_note("Rain.md")
    qtbot.waitUntil(lambda: panel.texts() == ["Rain barrel"])
    assert panel.field.text() == ""


def test_a_drawer_of_headings_closes_when_one_is_chosen(
    window: WindowPage, note: NotePage, qtbot: QtBot
) -> None:
    open_note(window, "Pump.md")
    window.activate(900, 620, qtbot)
    note.press("Headings of this note")
    assert window.view.columns.is_right_shown
    click_row(window.view.column.outline.list, "In winter")
    assert not window.view.columns.is_right_shown
    assert note.has_focus


class Desktop(QObject):
    """Takes the addresses that the window has the desktop open."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []
        for scheme in ("file", "obsidian"):
            QDesktopServices.setUrlHandler(scheme, self, "open")

    @Slot(QUrl)
    def open(self, url: QUrl) -> None:
        self.opened.append(bytes(url.toEncoded().data()).decode())


@pytest.fixture
def desktop() -> Iterator[Desktop]:
    yield Desktop()
    for scheme in ("file", "obsidian"):
        QDesktopServices.unsetUrlHandler(scheme)


def test_the_menu_opens_the_note_in_other_programs(
    window: WindowPage, note: NotePage, desktop: Desktop, tmp_path: Path
) -> None:
    open_note(window, "Rain.md")
    file = tmp_path / "notes" / "Rain.md"
    encoded = str(file).replace("/", "%2F")
    for item in ("Open in editor", "Open in Obsidian", "Reveal in the file manager"):
        note.choose("Actions of this note", item)
    assert desktop.opened == [
        file.as_uri(),
        f"obsidian://open?path={encoded}",
        file.parent.as_uri(),
    ]
    note.choose("Actions of this note", "Copy the path")
    assert QGuiApplication.clipboard().text() == "Rain.md"


def test_a_file_that_is_gone_is_named_in_place_of_an_empty_editor(
    window: WindowPage, note: NotePage, desktop: Desktop, tmp_path: Path
) -> None:
    open_note(window, "Rain.md")
    (tmp_path / "notes" / "Rain.md").unlink()
    note.choose("Actions of this note", "Open in editor")
    assert desktop.opened == []
    assert window.toasts()[-1] == "There is no file Rain.md any more."


def test_related_notes_follow_the_open_note_and_name_shared_tags(
    window: WindowPage, note: NotePage, tmp_path: Path
) -> None:
    pump = tmp_path / "notes" / "Pump.md"
    pump.write_text(f"#water\n\n{PUMP}", "utf-8")
    for _ in window.assistant.index(CancelToken()):
        pass
    open_note(window, "Rain.md")
    note.press("Show related notes")
    settle()
    rows = {row.path: row for row in window.view.column.related.rows()}
    assert rows["Pump.md"].tags == ("water",)
    assert rows["Pump.md"].is_linked
    assert rows["beds/Tomatoes.md"].tags == ()
    note.click_link("the beds")
    settle()
    assert "Rain.md" in {row.path for row in window.view.column.related.rows()}


MARKED = (
    "# Marked\n\n==Water== is #garden/water. See [[#Far away]].\n"
    "\nhid%%den%% here.\n\n%%\nsecret\n%%\n\n"
    "Be<!-- %%secret -->side. `<!-- kept -->`\n\n<!--\nsecret\n-->\n\n1 --> 2\n\n"
    + "\n\n".join(f"Paragraph {number} with water." for number in range(900))
    + "\n\n## Far away\n\nThe end.\n"
)


@pytest.fixture
def marked(window: WindowPage, note: NotePage) -> NotePage:
    """An open note that is long enough to be drawn in parts."""
    assert window.assistant.vault is not None
    (window.assistant.vault / "Marked.md").write_text(MARKED, "utf-8")
    list(window.assistant.index(CancelToken()))
    window.view.controllers.notes.list()
    settle()
    open_note(window, "Marked.md")
    return note


def type_search(window: WindowPage, words: str) -> FindBar:
    window.press_keys("Ctrl+F")
    settle()
    bar = window.view.note.findChild(FindBar)
    assert window.focus_name == "Find in this note"
    QTest.keyClicks(bar.field, words)
    settle()
    return bar


def list_marks(note: NotePage) -> list[str]:
    views = note.view.page.views()
    return [mark.cursor.selectedText() for view in views for mark in view.extraSelections()]


def test_words_are_found_in_the_whole_note_and_the_focus_comes_back(
    window: WindowPage, marked: NotePage
) -> None:
    bar = type_search(window, "paragraph 8")
    assert bar.found == "1 of 111"  # 8, 80 to 89 and 800 to 899
    assert set(list_marks(marked)) == {"Paragraph 8"}
    QTest.keyClick(bar.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    settle()
    assert bar.found == "111 of 111"
    assert marked.view.page.is_visible_line(MARKED[: MARKED.index("Paragraph 899")].count("\n") + 1)
    QTest.keyClick(bar.field, Qt.Key.Key_Return)
    settle()
    assert bar.found == "1 of 111"
    assert marked.view.page.is_visible_line(MARKED[: MARKED.index("Paragraph 8 ")].count("\n") + 1)
    window.press_keys("Esc")
    settle()
    assert not bar.isVisible()
    assert marked.is_open
    assert marked.has_focus
    assert list_marks(marked) == []


def test_a_search_goes_on_in_the_source_of_the_note(window: WindowPage, marked: NotePage) -> None:
    bar = type_search(window, "paragraph 899")
    window.press_keys("Ctrl+E")
    settle()
    assert bar.found == "1 of 1"
    (mark,) = marked.view.source.extraSelections()
    assert mark.cursor.selectedText() == "Paragraph 899"


def test_beside_the_chat_the_search_is_where_the_cursor_is(
    window: WindowPage, marked: NotePage
) -> None:
    window.view.resize(1900, 900)
    settle()
    window.composer.view.setFocus()
    window.press_keys("Ctrl+F")
    settle()
    assert window.focus_name == "Find in this chat"


def test_comments_are_hidden_and_highlights_are_shown(marked: NotePage) -> None:
    assert "hid here." in marked.text
    assert "secret" not in marked.text
    assert "Beside. <!-- kept -->" in marked.text
    assert "1 --> 2" in marked.text
    assert "==" not in marked.text
    view, spot = marked.find_words("Water")
    colour = view.viewport().grab().toImage().pixelColor(spot)
    ground = Theme.current().color("diff.mark_bg")
    near = [
        view.viewport().grab().toImage().pixelColor(spot.x() + x, spot.y() - 8) for x in range(3)
    ]
    assert ground in (colour, *near)


def test_links_to_headings_and_tags_are_followed(window: WindowPage, marked: NotePage) -> None:
    marked.click_link("#garden/water")
    settle()
    assert window.focus_name == "Notes with #garden/water"
    window.press_keys("Esc")
    marked.click_link("Far away")
    settle()
    assert marked.path == "Marked.md"
    line = MARKED[: MARKED.index("## Far away")].count("\n") + 1
    assert marked.view.find_marked_lines() is not None
    assert marked.view.page.is_visible_line(line)


def test_a_note_in_place_of_the_chat_has_the_buttons_of_its_header(
    window: WindowPage, note: NotePage
) -> None:
    open_note(window, "Rain.md")
    window.view.resize(1000, 620)
    settle()
    assert window.view.middle.is_chat_covered
    note.press("Context panel")
    settle()
    assert window.view.columns.is_right_shown
    window.press_keys("Esc")
    settle()
    assert not window.view.columns.is_right_shown
    assert note.is_open
    window.view.resize(1900, 900)
    settle()
    assert not window.view.middle.is_chat_covered
    with pytest.raises(LookupError):
        note.press("Context panel")
