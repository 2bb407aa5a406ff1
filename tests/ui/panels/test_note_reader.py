"""The rendered note: its lit lines, its parts, and where it is scrolled to."""

import time
from itertools import pairwise

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QPaintEvent, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QScrollBar
from pytestqt.qtbot import QtBot

from tests.support.window.waiting import settle
from ui.markdown.blocks import TableRows
from ui.markdown.embeds import EmbeddedText
from ui.markdown.note_parts import NotePart, read_part
from ui.markdown.page.note_view import NoteView
from ui.markdown.page.writer import DocumentWriter
from ui.panels.notes.note_panel import NotePanel
from ui.panels.notes.note_text import NoteText
from ui.panels.notes.reader import NoteReader
from ui.theme import Theme
from ui.widgets.find_bar import FindBar
from ui.widgets.surfaces import Notice
from vault.notes.note import Note, parse_note

NOTE = """\
# Rain

One line of a paragraph
and another one
and a third.

- first
- second
  - inner

| a | b |
|---|---|
| 1 | 2 |
| 3 | 4 |

```sh
echo one
echo two
```

The end.
"""


@pytest.fixture
def reader(qtbot: QtBot) -> NoteReader:
    reader = NoteReader()
    qtbot.addWidget(reader)
    reader.resize(700, 900)
    reader.show()
    return reader


@pytest.fixture
def panel(qtbot: QtBot) -> NotePanel:
    panel = NotePanel()
    qtbot.addWidget(panel)
    panel.resize(700, 500)
    panel.show()
    return panel


def long_text(paragraphs: int) -> str:
    return "\n".join(f"## Part {n}\n\nThe words of part {n}.\n" for n in range(paragraphs))


def lit_rows(reader: NoteReader) -> list[int]:
    """Return the rows of pixels that are lit, in the outer edge of the text."""
    image, lit = reader.viewport().grab().toImage(), Theme.current().color("diff.mark_bg")
    left = reader.views()[0].x() + 4
    return [y for y in range(image.height()) if image.pixelColor(left, y) == lit]


def text_at(reader: NoteReader, y: int) -> str:
    """Return the line of text at a height of the visible area."""
    view = next(v for v in reader.views() if v.y() <= y + reader.verticalScrollBar().value())
    for view in reader.views():
        spot = view.viewport().mapFrom(reader.viewport(), QPoint(0, 0))
        at = QPoint(view.width() // 2, y + spot.y())
        if view.rect().contains(at):
            cursor = view.cursorForPosition(at)
            before = cursor.block().text()[: cursor.positionInBlock()]
            line = before.count("\N{LINE SEPARATOR}")
            return cursor.block().text().split("\N{LINE SEPARATOR}")[line]
    return view.toPlainText()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (1, "Rain"),
        (4, "and another one"),
        (8, "second"),
        (9, "inner"),
        (14, "3"),
        (18, "echo two"),
        (21, "The end."),
    ],
)
def test_a_cited_line_is_lit_alone(reader: NoteReader, line: int, words: str) -> None:
    reader.show_text(NOTE, line, line)
    settle()
    rows = lit_rows(reader)
    assert 20 <= len(rows) <= 40
    assert text_at(reader, rows[len(rows) // 2]) == words


def test_several_lines_are_lit_as_one(reader: NoteReader) -> None:
    reader.show_text(NOTE, 3, 5)
    settle()
    rows = lit_rows(reader)
    assert rows == list(range(rows[0], rows[-1] + 1))
    assert len(rows) == pytest.approx(3 * Theme.current().line("body"), abs=8)
    reader.light(0, 0)
    assert lit_rows(reader) == []


def test_code_among_the_lit_lines_keeps_its_own_background(reader: NoteReader) -> None:
    reader.show_text(NOTE, 1, 21)
    settle()
    (view,) = reader.views()
    code = next(panel for panel in view._writer.final.panels if panel.kind == "code")
    place = view._decoration_painter.panel_rect(code).toRect()
    image, theme = view.grab().toImage(), Theme.current()
    assert image.pixelColor(place.right() - 60, place.top() + 4) == theme.color("bg.raised")
    assert image.pixelColor(place.left() - 4, place.center().y()) == theme.color("diff.mark_bg")
    reader.light(17, 17)
    settle()
    image = view.grab().toImage()
    line = view.find_band(17, 17)
    assert line is not None
    assert image.pixelColor(place.right() - 4, line[0] + 4) == theme.color("diff.mark_bg")
    assert image.pixelColor(place.right() - 60, place.top() + 4) == theme.color("bg.raised")


def test_a_cited_line_deep_in_a_long_note_is_in_view(reader: NoteReader) -> None:
    text = long_text(2_000)
    line = text.split("\n").index("The words of part 1500.") + 1
    reader.show_text(text, line, line)
    settle()
    assert reader.is_visible_line(line)
    rows = lit_rows(reader)
    assert text_at(reader, rows[len(rows) // 2]) == "The words of part 1500."
    reader.resize(500, 700)
    settle()
    assert reader.is_visible_line(line)


def test_only_the_parts_near_the_visible_area_are_drawn(reader: NoteReader) -> None:
    reader.show_text(long_text(3_000))
    settle()
    assert len(reader.views()) < 6
    bar = reader.verticalScrollBar()
    for _ in range(12):
        bar.setValue(bar.value() + 2_000)
        settle()
    assert len(reader.views()) < 12
    QTest.keyClick(reader, Qt.Key.Key_End)
    settle()
    assert "The words of part 2999." in reader.views()[-1].toPlainText()
    assert reader.is_visible_line(long_text(3_000).count("\n"))


def test_what_is_read_does_not_move_while_parts_above_are_drawn(reader: NoteReader) -> None:
    reader.show_text(long_text(3_000))
    settle()
    reader.verticalScrollBar().setValue(reader.verticalScrollBar().maximum() // 2)
    settle()
    before = reader.find_top_line()
    for _ in range(3):
        settle()
    assert reader.find_top_line() == before
    QTest.keyClick(reader, Qt.Key.Key_PageUp)
    settle()
    QTest.keyClick(reader, Qt.Key.Key_PageDown)
    settle()
    assert abs(reader.find_top_line() - before) <= 3


def test_a_note_of_two_megabytes_is_opened_without_holding_the_window(panel: NotePanel) -> None:
    text = (NOTE * 12_000)[:2_000_000]
    line = text.count("\n") // 2
    longest = begun = time.thread_time()
    panel.show_note(Note("big.md", "big", text, "v"), line, line)
    longest = time.thread_time() - begun
    for _ in range(60):
        begun = time.thread_time()
        QApplication.processEvents()
        longest = max(longest, time.thread_time() - begun)
    assert panel.page.is_visible_line(line)
    assert len(panel.page.views()) < 8
    assert longest < 2  # drawn whole, it takes minutes; `make bench` judges the milliseconds


def test_a_note_with_broken_front_matter_says_so_until_another_is_open(panel: NotePanel) -> None:
    note, _ = parse_note("Quince.md", b"---\ntags: [a, b\n---\n# Quince\n")
    panel.show_note(note)
    settle()
    (notice,) = (box for box in panel.findChildren(Notice) if box.isVisible())
    said = " ".join(one.text() for one in notice.findChildren(QLabel))
    assert "Its front matter cannot be read, so its tags and properties are lost: line " in said
    panel.show_note(Note("a.md", "A", "# A\n", "v"))
    settle()
    assert not notice.isVisible()


def test_the_source_is_shown_at_the_same_lines_and_the_note_where_it_was(panel: NotePanel) -> None:
    text = long_text(400)
    line = text.split("\n").index("The words of part 200.") + 1
    panel.show_note(Note("a.md", "A", text, "v"), line, line)
    settle()
    scrolled = panel.page.verticalScrollBar().value()
    panel.toggle_source()
    settle()
    assert panel.source.isVisible()
    assert abs(panel.source.find_first_visible_line() - panel.page.find_top_line()) <= 1
    assert panel.source.toPlainText().split("\n") == text.removesuffix("\n").split("\n")
    panel.toggle_source()
    settle()
    assert panel.page.verticalScrollBar().value() == scrolled
    panel.toggle_source()
    panel.source.verticalScrollBar().setValue(40)
    panel.toggle_source()
    settle()
    assert abs(panel.page.find_top_line() - 41) <= 3


def test_words_that_are_found_in_lit_lines_are_seen(panel: NotePanel, qtbot: QtBot) -> None:
    panel.show_note(Note("Rain.md", "Rain", NOTE, "v"), 3, 5)
    settle()
    (view,) = panel.page.views()
    found = view.document().find("and a third")
    start = QTextCursor(found)
    start.setPosition(found.selectionStart())
    place = view.cursorRect(start).adjusted(0, 0, 16, 0)
    before = view.viewport().grab(place).toImage()
    panel.open_search()
    qtbot.keyClicks(panel.findChild(FindBar).field, "and")
    settle()
    assert "and" in [mark.cursor.selectedText() for mark in view.extraSelections()]
    place = view.cursorRect(start).adjusted(0, 0, 16, 0)
    assert view.viewport().grab(place).toImage() != before


def test_found_words_stay_marked_in_the_colours_of_a_new_theme(
    panel: NotePanel, qtbot: QtBot
) -> None:
    panel.show_note(Note("Rain.md", "Rain", NOTE, "v"), 0, 0)
    panel.open_search()
    qtbot.keyClicks(panel.findChild(FindBar).field, "and")
    settle()
    (view,) = panel.page.views()
    for field, toggle in ((view, panel.toggle_source), (panel.source, panel.toggle_source)):
        Theme.current().apply("dark")
        settle()
        assert list_marks(field) == [("and", "accent.base"), ("and", "diff.mark_bg")]
        Theme.current().apply("light")
        settle()
        toggle()
        settle()


def list_marks(field: NoteView | NoteText) -> list[tuple[str, str]]:
    """Return the marked words of a field, each with the name of its background colour."""
    names = {Theme.current().css(name): name for name in ("accent.base", "diff.mark_bg")}
    return [
        (mark.cursor.selectedText(), names[mark.format.background().color().name()])
        for mark in field.extraSelections()
    ]


def test_selected_text_knows_its_lines(reader: NoteReader) -> None:
    reader.show_text(NOTE)
    settle()
    view = reader.views()[0]
    found = view.document().find("another one\N{LINE SEPARATOR}and")
    assert not found.isNull()
    view.setTextCursor(found)
    assert reader.find_selected_lines() == (4, 5)


def test_a_part_that_is_selected_or_scrolled_past_keeps_the_keys_working(
    reader: NoteReader,
) -> None:
    reader.show_text(long_text(500))
    settle()
    reader.setFocus()
    for key, least in ((Qt.Key.Key_Down, 1), (Qt.Key.Key_Space, 300), (Qt.Key.Key_PageDown, 900)):
        QTest.keyClick(reader, key)
        settle()
        assert reader.verticalScrollBar().value() >= least
    QTest.keyClick(reader, Qt.Key.Key_Home)
    assert reader.verticalScrollBar().value() == 0


def test_ctrl_end_and_ctrl_home_lead_to_the_ends_of_a_note(reader: NoteReader) -> None:
    reader.show_text(long_text(3_000))
    settle()
    QTest.keyClick(reader.views()[0], Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    settle()
    assert "The words of part 2999." in reader.views()[-1].toPlainText()
    QTest.keyClick(reader, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    assert reader.verticalScrollBar().value() == 0


def test_the_scroll_bar_does_not_cover_the_end_of_the_text(reader: NoteReader) -> None:
    reader.resize(663, 400)
    reader.show_text(NOTE * 8, 3, 5)
    settle()
    page = reader.widget()
    assert page.height() > reader.viewport().height()
    assert all(view.geometry().right() <= page.rect().right() for view in reader.views())


def write_wide_table(rows: int, columns: int = 9) -> str:
    """Return a table that is wider than the reader and drawn in several parts."""
    head = [f"A longer name of column {n}" for n in range(columns)]
    cells = ([f"cell {row} {n}" for n in range(columns)] for row in range(rows))
    lines = [head, ["---"] * columns, *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def draw_all(reader: NoteReader) -> None:
    for part in range(reader.count_parts()):
        reader.draw_part(part)


def find_offsets(reader: NoteReader) -> set[int]:
    """Return how far the parts of tables are scrolled sideways."""
    return {table.offset for view in reader.views() for table in view.wide.shared_tables}


def test_a_long_wide_table_has_no_seams_and_scrolls_sideways_as_one(reader: NoteReader) -> None:
    reader.show_text(write_wide_table(120))
    draw_all(reader)
    tops = [
        view.y() + view.find_height(line)
        for view in reader.views()[1:]
        for line in range(view.part.line + 1, view.part.line + view.part.text.count("\n") - 1)
    ]
    one = tops[1] - tops[0]
    assert {low - high for high, low in pairwise(tops)} <= {one, 2 * one}
    (bar,) = reader.table_bars.visible
    bar.setValue(70)
    assert find_offsets(reader) == {70}
    assert [bar for view in reader.views() for bar in view.wide.bars] == []
    reader.views()[-1].wide.scroll(10, 20)  # with the wheel, in one of its parts
    assert (bar.value(), find_offsets(reader)) == (90, {90})
    reader.resize(reader.width() + 2, reader.height())  # the parts are drawn anew
    assert (bar.value(), find_offsets(reader)) == (90, {90})


def test_scrolling_a_wide_table_draws_only_what_comes_into_view(
    reader: NoteReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[int] = []
    paint = NoteView.paintEvent

    def count_drawn(view: NoteView, event: QPaintEvent) -> None:
        drawn.append(event.rect().height())
        paint(view, event)

    monkeypatch.setattr(NoteView, "paintEvent", count_drawn)
    reader.show_text(f"{write_wide_table(150)}\n\nBetween.\n\n{write_wide_table(150)}")
    settle()
    bar, heights = reader.verticalScrollBar(), []
    for _ in range(40):
        drawn.clear()
        bar.setValue(bar.value() + 60)
        QApplication.processEvents()  # draws a part of the note below the visible area, too
        heights.append(sum(drawn))
    assert max(heights) < reader.viewport().height() / 4


def find_bar(reader: NoteReader, bar: QScrollBar) -> QRect:
    """Return where a table's scroll bar is in the visible area."""
    return QRect(bar.mapTo(reader.viewport(), QPoint()), bar.size())


def test_the_bar_of_a_table_is_at_its_end_or_at_the_edge_of_the_view(reader: NoteReader) -> None:
    reader.show_text(f"{long_text(20)}\n{write_wide_table(120)}\n\n{long_text(40)}")
    draw_all(reader)
    scroll, room = reader.verticalScrollBar(), reader.viewport().height()
    with_table = [view for view in reader.views() if view.wide.shared_tables]
    first, last = with_table[0], with_table[-1]
    scroll.setValue(0)
    assert reader.table_bars.visible == []
    scroll.setValue(first.y() + first.height())
    (bar,) = reader.table_bars.visible
    assert find_bar(reader, bar).bottom() == room - 1
    scroll.setValue(last.y() + last.wide.shared_tables[0].rect.bottom() - room // 2)
    (bar,) = reader.table_bars.visible
    assert abs(find_bar(reader, bar).bottom() - room // 2) < 12
    scroll.setValue(last.y() + last.height() + 20)
    assert reader.table_bars.visible == []


def test_no_text_is_seen_through_the_bar_at_the_edge_of_the_view(
    reader: NoteReader,
) -> None:
    reader.show_text(write_wide_table(120))
    draw_all(reader)
    (bar,) = reader.table_bars.visible
    ground, seen = Theme.current().color("bg.content").rgb(), set[int]()
    for top in range(0, 60, 5):  # at each height of a row
        reader.verticalScrollBar().setValue(top)
        picture = reader.viewport().grab(find_bar(reader, bar)).toImage()
        seen |= {picture.pixel(x, 0) for x in range(picture.width())}
    assert seen == {ground}


def test_the_lines_of_rows_are_equally_wide_at_a_seam(reader: NoteReader) -> None:
    reader.show_text(write_wide_table(120))
    draw_all(reader)
    color = Theme.current().color("line.hairline")
    widths = set()
    for view in reader.views():
        image = view.viewport().grab().toImage()
        rows = range(image.height())
        lines = [[image.pixelColor(x, y) == color for x in range(image.width())] for y in rows]
        widths |= {(row.index(True), sum(row)) for row in lines if sum(row) > 200}
    assert len(widths) == 1


def test_tables_in_a_row_are_drawn_to_the_end_of_the_note(reader: NoteReader) -> None:
    rows = [["a", "b", "c", "d", "e"], ["---"] * 5, *([f"{n}", *"wxyz"] for n in range(30)), [""]]
    rows += [["f", "g"], ["---"] * 2, *([f"row {n}", "h"] for n in range(200))]
    reader.show_text("\n".join(f"| {' | '.join(row)} |" if row[0] else "" for row in rows))
    for part in range(reader.count_parts()):
        reader.draw_part(part)
    shown = "\n".join(reader.read_texts())
    assert [shown.count(f"row {n}\n") for n in range(200)] == [1] * 200


def test_a_part_that_cannot_be_drawn_is_shown_as_it_is_written(
    reader: NoteReader, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    write = DocumentWriter._write_table

    def fail(writer: DocumentWriter, leaf: TableRows) -> None:
        write(writer, leaf)
        raise IndexError

    monkeypatch.setattr(DocumentWriter, "_write_table", fail)
    reader.show_text(f"{long_text(200)}\n| a | b |\n|---|---|\n| 1 | 2 |\n\n{long_text(200)}")
    for part in range(reader.count_parts()):
        reader.draw_part(part)
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    caplog.clear()
    settle()
    shown = "\n".join(reader.read_texts())
    assert "| a | b |\n|---|---|\n| 1 | 2 |" in shown
    assert shown.count("part 199.") == 2
    QTest.keyClick(reader, Qt.Key.Key_End)
    settle()
    assert text_at(reader, reader.viewport().height() - 80).endswith("part 199.")


def test_the_end_of_a_note_that_ends_with_a_long_base_is_its_end(reader: NoteReader) -> None:
    rows = "".join(f"| {number} |\n" for number in range(200))
    found = EmbeddedText("Base", "", read_part(NotePart(1, f"| a |\n|---|\n{rows}")))
    wanted: list[str] = []
    reader.embed_wanted.connect(wanted.append)
    reader.show_text("# Note\n\nText.\n\n```base\nviews: []\n```\n")
    reader.show_embed(wanted[0], found)
    settle()
    bar = reader.verticalScrollBar()
    assert bar.maximum() > 4 * reader.height()
    QTest.keyClick(reader, Qt.Key.Key_End)
    settle()
    assert bar.value() == bar.maximum()


def measure_painted(reader: NoteReader, monkeypatch: pytest.MonkeyPatch, step: int) -> int:
    """Scroll by a number of pixels, and return the height of what the views paint for it."""
    painted, paint = list[int](), NoteView.paintEvent

    def note_height(view: NoteView, event: QPaintEvent) -> None:
        painted.append(event.rect().height())
        paint(view, event)

    with monkeypatch.context() as patch:
        patch.setattr(NoteView, "paintEvent", note_height)
        reader.verticalScrollBar().setValue(reader.verticalScrollBar().value() + step)
        QApplication.processEvents()
    return sum(painted)


def make_rows(columns: int) -> str:
    row = "| " + " | ".join(["Several words of a cell"] * columns) + " |\n"
    return row + "|---" * columns + "|\n" + row * 300


TASKS = "".join(f"- [ ] Do number {n}\n" for n in range(600))


@pytest.mark.parametrize("text", [make_rows(9), make_rows(2), TASKS, long_text(200)])
def test_a_step_of_scrolling_paints_only_what_comes_into_view(
    reader: NoteReader, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    reader.show_text(text)
    settle()
    for _ in range(4):  # the first steps draw the parts that they come near to
        measure_painted(reader, monkeypatch, 40)
    settle()
    assert measure_painted(reader, monkeypatch, 40) <= reader.viewport().height() // 2


class PaintWatcher(QObject):
    """Adds up the height of what the views of a note paint."""

    def __init__(self) -> None:
        super().__init__()
        self.height = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Note what is painted."""
        if isinstance(event, QPaintEvent) and isinstance(watched.parent(), NoteView):
            self.height += event.rect().height()
        return False


def test_steps_of_scrolling_that_follow_at_once_paint_only_what_comes_into_view(
    reader: NoteReader,
) -> None:
    row = "| " + " | ".join(["value 1234 of a row"] * 16) + " |\n"
    reader.resize(1000, 800)
    reader.show_text(row + "|---" * 16 + "|\n" + row * 700)
    settle()
    watcher, painted = PaintWatcher(), list[int]()
    QApplication.instance().installEventFilter(watcher)
    for _ in range(90):
        watcher.height = 0
        reader.verticalScrollBar().setValue(reader.verticalScrollBar().value() + 60)
        QApplication.processEvents()
        painted.append(watcher.height)
    QApplication.instance().removeEventFilter(watcher)
    assert 0 < max(painted) <= reader.viewport().height() // 2


def test_a_part_below_the_view_is_parsed_one_step_before_it_is_drawn(
    reader: NoteReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = list[int]()

    def note_part(part: NotePart) -> object:
        parsed.append(part.line)
        return read_part(part)

    monkeypatch.setattr("ui.panels.notes.reader.read_part", note_part)
    reader.show_text(long_text(3_000))
    settle()
    seen = [view.part.line for view in reader.views()]
    assert seen[0] not in parsed  # what is in view is drawn at once
    assert seen[-1] in parsed
