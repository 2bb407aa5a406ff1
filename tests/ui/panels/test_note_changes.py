"""A note that changes while it is read stays where it is, with its folds and its selection."""

import pytest
from pytestqt.qtbot import QtBot

from tests.support.window.waiting import settle
from ui.markdown.embeds import EmbeddedText
from ui.markdown.note_parts import NotePart, read_part
from ui.panels.notes.note_lines import follow_line
from ui.panels.notes.note_panel import NotePanel
from vault.notes.note import parse_note


def write_section(number: int) -> str:
    return (
        f"## Part {number}\n\n- [ ] task {number}\n- [x] done {number}\n\n"
        f"> [!tip]- Tip {number}\n> Hidden words {number}.\n\n"
        + "Some words to read. " * 40
        + "\n\n"
    )


SECTIONS = [write_section(number) for number in range(30)]
TEXT = "".join(SECTIONS)
MANY = "".join(map(write_section, range(40, 90)))


@pytest.fixture
def panel(qtbot: QtBot) -> NotePanel:
    panel = NotePanel()
    qtbot.addWidget(panel)
    panel.resize(700, 500)
    panel.show()
    return panel


def show(panel: NotePanel, text: str, *, is_changed: bool = False) -> None:
    note, _document = parse_note("note.md", text.encode())
    (panel.show_changed if is_changed else panel.show_note)(note)
    settle()


def open_callout(panel: NotePanel, words: str) -> None:
    view = next(view for view in panel.page.views() if words in view.toPlainText())
    view.toggle(f"callout:1 {words}")
    settle()


def find_top(panel: NotePanel, words: str) -> int | None:
    """Return the distance of a text from the upper edge in pixels, or None if it is not drawn."""
    for view in panel.page.views():
        cursor = view.document().find(words)
        if not cursor.isNull():
            top = view.mapTo(panel.page.viewport(), view.cursorRect(cursor).topLeft())
            return top.y()
    return None


def scroll(panel: NotePanel, by: int) -> None:
    panel.page.verticalScrollBar().setValue(by)
    settle()


CHANGES = {
    "ticked above": ("- [ ] task 0\n", "- [x] task 0\n"),
    "ticked in view": ("- [ ] task 4\n", "- [x] task 4\n"),
    "ticked below": ("- [ ] task 20\n", "- [x] task 20\n"),
    "a line above": ("## Part 1\n", "A new line.\n\n## Part 1\n"),
    "a section above": ("## Part 2\n", write_section(99) + "## Part 2\n"),
    "a section less above": (SECTIONS[1], ""),
    "many sections above": (
        "## Part 1\n",
        "".join(map(write_section, range(40, 90))) + "## Part 1\n",
    ),
    "both ends": (TEXT, "New.\n\n" + TEXT + "\nThe end.\n"),
    "more below": (SECTIONS[29], SECTIONS[29] + "The end.\n"),
    "properties": ("## Part 0\n", "---\ntags: [new]\n---\n## Part 0\n"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_read_does_not_move(panel: NotePanel, change: str) -> None:
    show(panel, TEXT)
    scroll(panel, 1_000)
    open_callout(panel, "Tip 4")
    before = find_top(panel, "Hidden words 4")
    assert before is not None
    assert 0 < before < 500
    show(panel, TEXT.replace(*CHANGES[change]), is_changed=True)
    assert find_top(panel, "Hidden words 4") == before
    assert find_top(panel, "Hidden words 5") is None  # it is folded still


def test_the_end_of_a_note_stays_when_more_is_written_below(panel: NotePanel) -> None:
    show(panel, TEXT)
    scroll(panel, panel.page.verticalScrollBar().maximum())
    scroll(panel, panel.page.verticalScrollBar().maximum())
    before = find_top(panel, "task 29")
    show(panel, TEXT + write_section(30), is_changed=True)
    assert find_top(panel, "task 29") == before


def test_back_and_forth_leaves_the_page_as_it_was(panel: NotePanel) -> None:
    show(panel, TEXT)
    scroll(panel, 1_003)
    before = panel.page.grab().toImage()
    show(panel, TEXT.replace("- [ ] task 3", "- [x] task 3"), is_changed=True)
    assert panel.page.grab().toImage() != before
    show(panel, TEXT, is_changed=True)
    assert panel.page.grab().toImage() == before
    assert panel.page.verticalScrollBar().value() == 1_003


def test_a_selection_stays_where_nothing_changed(panel: NotePanel) -> None:
    show(panel, TEXT)
    view = panel.page.views()[0]
    cursor = view.document().find("Some words")
    view.setTextCursor(cursor)
    show(panel, TEXT + "\nThe end.\n", is_changed=True)
    assert panel.page.views()[0].textCursor().selectedText() == "Some words"
    assert panel.find_selected_lines() == (9, 9)
    assert panel.page.views()[0].textCursor().position() == cursor.position()


def test_lines_below_a_new_line_have_their_new_numbers(panel: NotePanel) -> None:
    show(panel, TEXT)
    show(panel, "A new line.\n\n" + TEXT, is_changed=True)
    scroll(panel, 1_000)
    view = next(view for view in panel.page.views() if "task 5" in view.toPlainText())
    view.setTextCursor(view.document().find("task 5"))
    line = 1 + (TEXT.split("\n").index("- [ ] task 5")) + 2
    assert panel.find_selected_lines() == (line, line)


def test_an_embedded_note_stays_and_is_read_again(panel: NotePanel) -> None:
    text = "Above.\n\n![[Other]]\n\n- [ ] task\n"
    wanted: list[str] = []
    panel.page.embed_wanted.connect(wanted.append)
    show(panel, text)
    (source,) = wanted
    leaves = read_part(NotePart(1, "Embedded words.\n"))
    panel.page.show_embed(source, EmbeddedText("Other", "note:Other.md", leaves))
    settle()
    before = find_top(panel, "task")
    show(panel, text.replace("[ ]", "[x]"), is_changed=True)
    assert find_top(panel, "task") == before
    assert wanted == [source, source]
    leaves = read_part(NotePart(1, "Newer words.\n"))
    panel.page.show_embed(source, EmbeddedText("Other", "note:Other.md", leaves))
    settle()
    assert find_top(panel, "Newer words") is not None


def test_an_emptied_note_is_shown_again(panel: NotePanel) -> None:
    show(panel, TEXT)
    scroll(panel, 1_000)
    show(panel, "", is_changed=True)
    assert panel.page.views() == []
    show(panel, TEXT, is_changed=True)
    assert find_top(panel, "Part 0") is not None


@pytest.mark.parametrize(
    ("before", "now", "line", "found"),
    [
        ("a b c", "a b c", 2, 2),
        ("a b c", "x a b c", 2, 3),
        ("a b c", "a x b c", 2, 3),
        ("a b c", "b c", 3, 2),
        ("a b c", "a c", 2, 2),
        ("a b c", "x a y b z c w", 2, 4),
        ("a b c d", "x a d", 2, 3),
        ("a b", "", 2, 1),
        ("a a a a", "a a a a a", 4, 4),
    ],
)
def test_a_line_is_followed(before: str, now: str, line: int, found: int) -> None:
    assert follow_line(before.replace(" ", "\n"), now.replace(" ", "\n"), line) == found
