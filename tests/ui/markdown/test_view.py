"""What a reader of an answer can rely on, on the real view."""

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QKeySequence,
    QShortcut,
    QTextBlock,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QToolButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from chains.citations.answer_sources import Source
from tests.support.window.clicks import click_item, open_menu
from ui.markdown.page.card import CitationCard, describe_source
from ui.markdown.page.view import MarkdownView
from ui.theme import Mode, Theme
from ui.widgets.geometry import OUTDENT

ANSWER = """\
The server is backed up every night [1][2]. See [[Backups#Nightly|the note]].

## What is kept

| Copy | Kept | Size |
|---|---|---|
| Garage disk [1] | 7 daily | 412 GB |
| Rented box | 14 daily | 388 GB |

```python
def prune(keep: int) -> None:
    '''Two
    lines.'''
```

- One **bold** item
  1. nested `code`
- [x] done

> [!warning] Only on paper
> The key.

备份每天晚上进行 [1]。

تُحفظ نسخة كل ليلة باستخدام Borg [1]، وتُشفّر.

![d](https://tracker.example.com/p.png)

A footnote[^1].

[^1]: Small print.
"""


@pytest.fixture
def view(qtbot: QtBot) -> MarkdownView:
    view = MarkdownView()
    qtbot.addWidget(view)
    view.resize(640, 100)
    view.show()
    return view


def looks(document: QTextDocument) -> list[tuple[object, ...]]:
    """Everything that is seen of a document: text with its looks, block by block."""
    found: list[tuple[object, ...]] = []
    block = document.begin()
    while block.isValid():
        form = block.blockFormat()
        found.append((block.text(), form.topMargin(), form.leftMargin(), form.lineHeight()))
        fragments = block.begin()
        while not fragments.atEnd():
            fragment = fragments.fragment()
            char = fragment.charFormat()
            color = char.foreground().color().name()
            found.append((fragment.text(), color, char.fontWeight(), char.anchorHref()))
            fragments += 1
        block = block.next()
    return found


def stream_into(view: MarkdownView, text: str, pieces: int, seed: int) -> None:
    cuts = sorted(random.Random(seed).sample(range(1, len(text)), pieces))
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        view.append(text[start:end])
        view.flush()
    view.finish()


@pytest.mark.parametrize("seed", range(4))
def test_a_streamed_answer_looks_like_one_shown_at_once(
    qtbot: QtBot, view: MarkdownView, seed: int
) -> None:
    stream_into(view, ANSWER, 120, seed)
    whole = MarkdownView()
    qtbot.addWidget(whole)
    whole.resize(640, 100)
    whole.show()
    whole.set_markdown(ANSWER)
    assert looks(view.document()) == looks(whole.document())
    assert view.height() == whole.height()


LONG_CODE = "```python\ntext = '''\n" + "if a string\n" * 400 + "'''\n```\n\nThat is all."


def test_long_code_gets_its_colours_after_it_is_drawn(qtbot: QtBot, view: MarkdownView) -> None:
    view.set_markdown(LONG_CODE)
    plain = looks(view.document())
    qtbot.waitUntil(lambda: looks(view.document()) != plain)
    qtbot.waitUntil(lambda: not view._colors.isActive())
    inside, last = (view.document().findBlockByNumber(n) for n in (1, 400))
    assert inside.text() == last.text() == "if a string"
    assert color_of(inside) == color_of(last) == Theme.current().color("syntax.string")


def test_long_code_that_arrives_ends_up_as_one_shown_at_once(
    qtbot: QtBot, view: MarkdownView
) -> None:
    stream_into(view, LONG_CODE, 40, 1)
    whole = MarkdownView()
    qtbot.addWidget(whole)
    whole.resize(640, 100)
    whole.show()
    whole.set_markdown(LONG_CODE)
    qtbot.waitUntil(lambda: not view._colors.isActive() and not whole._colors.isActive())
    assert looks(view.document()) == looks(whole.document())


def color_of(block: QTextBlock) -> QColor:
    return block.begin().fragment().charFormat().foreground().color()


def test_final_blocks_are_written_once(view: MarkdownView) -> None:
    text = "A paragraph.\n\n" * 40
    stream_into(view, text, 200, 1)
    assert view.written == 40


def test_what_arrives_is_drawn_together(qtbot: QtBot, view: MarkdownView) -> None:
    for word in ["word "] * 500:
        view.append(word)
    qtbot.waitUntil(lambda: view.toPlainText().count("word") == 500)
    assert view.flushes == 1


def test_copying_gives_the_citation(view: MarkdownView) -> None:
    view.set_markdown("It rains [1], تُحفظ [2] اليوم.")
    view.selectAll()
    view.copy()
    assert QGuiApplication.clipboard().text() == "It rains [1], تُحفظ [2] اليوم."


def test_finding_gives_the_citation(view: MarkdownView) -> None:
    view.set_markdown("It rains [1].")
    assert not view.document().find("[1]").isNull()


def test_copying_takes_no_looks_along(view: MarkdownView) -> None:
    view.set_markdown("**bold** text")
    view.selectAll()
    assert view.createMimeDataFromSelection().formats() == ["text/plain"]


def test_nothing_is_fetched(view: MarkdownView, tmp_path) -> None:
    picture = tmp_path / "secret.png"
    picture.write_bytes(b"not read")
    view.set_markdown(f"![a]({picture}) ![b](https://example.org/x.png) <img src='{picture}'>")
    view.grab()
    assert view.loadResource(2, str(picture)) is None
    assert "\N{OBJECT REPLACEMENT CHARACTER}" not in view.toPlainText()
    assert "Image not loaded: example.org" in view.toPlainText()


def test_a_link_to_a_page_and_an_image_in_a_line_are_named_plainly(view: MarkdownView) -> None:
    view.set_markdown("See [[Pump.pdf#page=7]] and ![[plan.png]].")
    assert view.toPlainText().splitlines() == [
        "See Pump.pdf › page 7 and",
        "Image not loaded: plan.png   Show image",
        ".",
    ]


def test_markup_shows_as_text(view: MarkdownView) -> None:
    view.set_markdown("<b>bold</b>&lt;i&gt; <script>x</script>")
    assert view.toPlainText() == "<b>bold</b><i> <script>x</script>"


def test_a_selection_survives_while_text_arrives(view: MarkdownView) -> None:
    view.append("First paragraph.\n\nSecond para")
    view.flush()
    cursor = view.textCursor()
    cursor.setPosition(6)
    cursor.setPosition(24, QTextCursor.MoveMode.KeepAnchor)
    view.setTextCursor(cursor)
    before = view.textCursor().selectedText()
    view.append("graph goes on.\n\nThird.")
    view.flush()
    assert view.textCursor().selectedText() == before
    view.finish()
    assert view.textCursor().selectedText() == before


def test_a_click_on_a_citation_tells_its_number(qtbot: QtBot, view: MarkdownView) -> None:
    view.set_markdown("Rain [3].")
    place = view.find_place(3).center()
    with qtbot.waitSignal(view.citation_clicked) as caught:
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert caught.args == [3]


def test_a_click_on_a_note_link_tells_its_name(qtbot: QtBot, view: MarkdownView) -> None:
    view.set_markdown("[[Home server/Backups#Nightly run]]")
    with qtbot.waitSignal(view.link_clicked) as caught:
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(40, 12))
    assert caught.args == ["note:Home server/Backups#Nightly run"]


def test_tab_walks_the_citations_and_enter_opens_one(qtbot: QtBot, view: MarkdownView) -> None:
    view.set_markdown("Rain [1] and snow [2].")
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_Tab)
    qtbot.keyClick(view, Qt.Key.Key_Tab)
    with qtbot.waitSignal(view.citation_clicked) as caught:
        qtbot.keyClick(view, Qt.Key.Key_Return)
    assert caught.args == [2]


def test_a_card_tells_what_a_citation_stands_for(qtbot: QtBot, view: MarkdownView) -> None:
    source = Source(
        "<b>Backups</b>",
        "Home/<i>.md",
        (12, 31),
        1,
        passage="Borg runs.\nEvery night.",
        is_verified=True,
    )
    view.set_markdown("Rain [1].")
    view.set_sources({1: source})
    view.point_at("cite:1")
    qtbot.waitUntil(lambda: view.card is not None and view.card.isVisible())
    assert isinstance(view.card, CitationCard)
    assert view.card.shown() == (
        "<b>Backups</b>",
        "Home/<i>.md, lines 12–31",
        "Borg runs. Every night.",
        "",
    )
    view.point_at("")
    assert not view.card.isVisible()


@pytest.fixture
def beside(qtbot: QtBot) -> Iterator[tuple[MarkdownView, QPushButton]]:
    """A view whose citation has the focus and shows its card, and a button behind it."""
    place, view, button = QWidget(), MarkdownView(), QPushButton("Copy")
    column = QVBoxLayout(place)
    column.addWidget(view)
    column.addWidget(button)
    qtbot.addWidget(place)
    view.set_markdown("Rain [1].")
    view.set_sources({1: Source("Backups", "Backups.md", (1, 3), 1, is_verified=True)})
    with qtbot.waitActive(place):
        place.show()
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_Tab)
    qtbot.waitUntil(lambda: view.card is not None and view.card.isVisible())
    yield view, button
    place.hide()  # lives until here


def test_a_card_goes_when_tab_leaves_the_text(
    qtbot: QtBot, beside: tuple[MarkdownView, QPushButton]
) -> None:
    view, button = beside
    with qtbot.waitSignal(view.citation_pointed) as caught:
        qtbot.keyClick(view, Qt.Key.Key_Tab)
    assert button.hasFocus()
    assert caught.args == [0]
    assert view.card is not None
    assert not view.card.isVisible()


def test_escape_closes_a_card_and_nothing_else(
    qtbot: QtBot, beside: tuple[MarkdownView, QPushButton]
) -> None:
    view, _ = beside
    stops = QShortcut(QKeySequence(Qt.Key.Key_Escape), view.window())
    with qtbot.assertNotEmitted(stops.activated):
        qtbot.keyClick(view, Qt.Key.Key_Escape)
    assert view.card is not None
    assert not view.card.isVisible()
    with qtbot.waitSignal(stops.activated):
        qtbot.keyClick(view, Qt.Key.Key_Escape)


def test_a_source_is_spoken_in_one_sentence() -> None:
    source = Source("Backups", "Home/Backups.md", (12, 31), 1, is_verified=True)
    assert describe_source(source) == "Source 1, Backups, lines 12 to 31, verified"
    one_line = replace(source, lines=(12, 12))
    assert describe_source(one_line) == "Source 1, Backups, line 12, verified"


def test_a_number_in_doubt_turns_amber_and_keeps_its_text(view: MarkdownView) -> None:
    view.set_markdown("Rain [9].")
    view.set_sources({9: Source("[9]", number=9, doubt="[9] has no source.")})
    cursor = view.document().find("9")
    assert cursor.charFormat().foreground().color() == Theme.current().color("amber.text")
    assert view.toPlainText() == "Rain [9]."


def test_the_copy_button_copies_the_code(qtbot: QtBot, view: MarkdownView) -> None:
    view.set_markdown("```python\nx = '😀'\n\ny = 2\n```")
    (button,) = (b for b in view.findChildren(QToolButton) if b.isVisible())
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "x = '😀'\n\ny = 2"


def test_the_copy_buttons_stay_with_their_code(view: MarkdownView) -> None:
    for letter in "```sh\nls\n```\n\nText.\n\n```sh\npwd\n```\n":
        view.append(letter)
        view.flush()
    view.finish()
    buttons = [b for b in view.findChildren(QToolButton) if b.isVisible()]
    assert len(buttons) == 2
    assert buttons[0].geometry().bottom() < buttons[1].geometry().top()
    assert all(view.rect().contains(b.geometry()) for b in buttons)


def test_an_emoji_does_not_shift_the_colours(view: MarkdownView) -> None:
    view.append("```python\ns = '😀😀'  # note\n")
    view.flush()
    view.append("if s: pass\n```\n")
    view.flush()
    view.finish()
    cursor = view.document().find("# note")
    comment = Theme.current().color("syntax.comment")
    assert cursor.charFormat().foreground().color() == comment


def test_light_and_dark_recolour_what_is_shown(view: MarkdownView) -> None:
    view.set_markdown("Rain [1].\n\n```python\nif x: pass\n```")
    Theme.current().apply("dark")
    view.grab()
    QApplication.processEvents()
    find = view.document().find
    assert find("Rain").charFormat().foreground().color() == QColor("#E8E9EC")
    assert find("1").charFormat().foreground().color() == Theme.current().color("accent.soft_text")
    assert find("if").charFormat().foreground().color() == Theme.current().color("syntax.keyword")


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize(
    "frame",
    ["{}", "- {}", "- [ ] {}", "> {}", "> [!tip] Tip\n> {}", "# {}", "| a |\n|---|\n| {} |"],
)
def test_words_have_one_color_before_and_behind_each_style(
    view: MarkdownView, frame: str, mode: Mode
) -> None:
    Theme.current().apply(mode)
    styles = ("`a`", "**a**", "==a==", "[1]", "[[a]]", "#a", "*a*", "~~a~~", "$x$", "`b`", "<b>")
    view.set_markdown(frame.format("".join(f"word {style} " for style in styles) + "word"))
    pieces = [look for look in looks(view.document()) if isinstance(look[1], str)]
    words = [color for text, color, *_ in pieces if "word" in str(text)]
    assert len(words) > 8
    assert len(set(words)) == 1


def test_a_change_of_theme_loses_nothing_that_arrives(view: MarkdownView) -> None:
    view.append("First.\n\nSecond.\n\nThi")
    view.flush()
    Theme.current().apply("dark")
    view.append("rd.")
    view.finish()
    assert view.toPlainText() == "First.\nSecond.\nThird."


@pytest.mark.parametrize("width", [380, 440, 600, 900, 1200])
def test_nothing_is_cut_off(view: MarkdownView, width: int) -> None:
    view.resize(width, 100)
    view.set_markdown(ANSWER + "\n\n`" + "x" * 300 + "`\n\n" + "| a |" * 9 + "\n" + "|---|" * 9)
    assert view.document().size().width() <= view.viewport().width()
    assert view.height() >= view.document().size().height()


@pytest.mark.parametrize("text", ["ก็ผู้ใช้ที่นี่", "हिन्दी में र्ल्क", "تُحفظ نسخةٌ", "བོད་ཡིག", "မြန်မာ"])
def test_tall_scripts_get_room(view: MarkdownView, text: str) -> None:
    view.set_markdown(text)
    line = view.document().begin().layout().lineAt(0)
    assert view.height() >= line.y() + line.height()


def test_arabic_text_runs_from_the_right(view: MarkdownView) -> None:
    view.set_markdown("تُحفظ نسخة [1] كل ليلة.\n\nLatin text.")
    first = view.document().begin()
    assert first.textDirection() == Qt.LayoutDirection.RightToLeft
    assert first.next().textDirection() == Qt.LayoutDirection.LeftToRight


def test_a_citation_between_arabic_words_stays_in_one_piece(view: MarkdownView) -> None:
    view.set_markdown("باستخدام Borg [1]، وتُشفّر.")
    assert len(view.find_places(1)) == 1
    assert 10 <= view.find_place(1).width() <= 24


HEBREW_ROWS = "".join(f"| שורה {n} [1] | Borg {n} | {n} |\n" for n in range(9))
HEBREW_TABLE = f"| עותק | כלי | שנים |\n|---|---|---|\n{HEBREW_ROWS}"


def edges_of(view: MarkdownView, text: str) -> tuple[int, int]:
    """Where a stretch of text begins and ends on the view."""
    found = view.document().find(text)
    ends = [QTextCursor(found), QTextCursor(found)]
    ends[0].setPosition(found.selectionStart())
    ends[1].setPosition(found.selectionEnd())
    places = sorted(view.cursorRect(end).x() for end in ends)
    return places[0], places[1]


def test_the_first_column_of_a_hebrew_table_stands_at_the_right(view: MarkdownView) -> None:
    for start in range(0, len(HEBREW_TABLE), 23):
        view.append(HEBREW_TABLE[start : start + 23])
        view.flush()
    view.finish()
    edge = view.viewport().width() - 16
    for row in ("שורה 0", "שורה 8"):
        assert abs(edges_of(view, row)[1] - edge) <= 2
    assert edges_of(view, "שנים")[1] < edges_of(view, "כלי")[0] < edges_of(view, "עותק")[0]
    assert edges_of(view, "Borg 3")[1] == edges_of(view, "Borg 8")[1] == edges_of(view, "כלי")[1]
    assert len(view.find_places(1)) == 9


def test_a_wide_hebrew_table_is_seen_from_its_right_end(view: MarkdownView) -> None:
    heads = " | ".join(f"עמודה עם שם ארוך {n}" for n in range(7))
    view.set_markdown(f"| {heads} |\n|{'---|' * 7}\n|{' x |' * 7}")
    (bar,) = view.wide.bars
    assert bar.value() == bar.maximum()
    bar.setValue(50)
    view.window().resize(2400, 900)
    view.window().resize(640, 900)
    QGuiApplication.processEvents()
    assert view.wide.bars[0].value() == 50


LINE = "restic backup /srv/notes " + "--exclude /srv/films " * 8 + "--verbose"
CODE = f"Before.\n\n```sh\n{LINE}\nshort\n```\n\nAfter."
NARROW_TABLE = "| a | b |\n|---|---|\n| 1 | 2 |\n"
HEADS = [f"A column with a name {n}" for n in range(7)]
WIDE_TABLE = "\n".join(
    [
        f"| {' | '.join(HEADS)} |",
        "|" + "---|" * 7,
        *(f"| {' | '.join(f'cell {n} [1]' for n in range(7))} |" for _ in range(9)),
    ]
)


def lines_of(view: MarkdownView, text: str) -> int:
    return view.document().find(text).block().layout().lineCount()


def test_a_long_line_of_code_scrolls_in_itself(view: MarkdownView) -> None:
    view.set_markdown(CODE)
    (bar,) = view.wide.bars
    assert lines_of(view, "restic") == 1
    assert view.horizontalScrollBar().maximum() == 0
    before = view.document().find("After.").block().layout().lineAt(0).x()
    bar.setValue(bar.maximum())
    end = view.document().find("--verbose")
    end.setPosition(end.selectionEnd())
    assert view.cursorRect(end).right() <= view.viewport().width() - 28 + 1
    assert view.document().find("After.").block().layout().lineAt(0).x() == before


def test_a_scrolled_line_is_copied_whole(view: MarkdownView) -> None:
    view.set_markdown(CODE)
    view.wide.bars[0].setValue(90)
    view.copy_last_code()
    assert QGuiApplication.clipboard().text() == f"{LINE}\nshort"


@pytest.mark.parametrize(("text", "bars"), [(WIDE_TABLE, 1), (NARROW_TABLE, 0)])
def test_a_table_scrolls_where_its_columns_need_more_room(
    view: MarkdownView, text: str, bars: int
) -> None:
    view.set_markdown(text)
    assert len(view.wide.bars) == bars
    assert view.horizontalScrollBar().maximum() == 0


@pytest.mark.parametrize("before", ["", "> ", "- item\n\n  ", "> [!note] Box\n> "])
def test_a_table_ends_where_the_text_around_it_ends(view: MarkdownView, before: str) -> None:
    box = before.rsplit("\n", 1)[-1]
    view.set_markdown(before + NARROW_TABLE.strip().replace("\n", f"\n{box}"))
    for width in (900, 1200):
        view.window().resize(width, 900)
        QGuiApplication.processEvents()
        (frame,) = view.document().rootFrame().childFrames()
        rect = view.document().documentLayout().frameBoundingRect(frame)
        edge = view.document().textWidth() - OUTDENT - (16 if "[!note]" in before else 0)
        assert edge - 1 <= rect.right() <= edge


def test_all_parts_of_a_table_scroll_together(view: MarkdownView) -> None:
    for start in range(0, len(WIDE_TABLE), 40):
        view.append(WIDE_TABLE[start : start + 40])
        view.flush()
    view.finish()
    before = [place.left() for place in view.find_places(1)]
    view.wide.bars[0].setValue(60)
    after = [place.left() for place in view.find_places(1)]
    assert {old - new for old, new in zip(before, after, strict=True)} == {60}


def test_what_arrives_later_keeps_the_place_of_scrolled_code(view: MarkdownView) -> None:
    view.append(f"```\n{LINE}\n")
    view.flush()
    view.wide.bars[0].setValue(70)
    view.append(f"{LINE}\nmore\n")
    view.flush()
    block = view.document().find("more").block()
    assert block.blockFormat().textIndent() == -70
    assert view.wide.bars[0].value() == 70


def test_with_room_enough_nothing_scrolls(view: MarkdownView) -> None:
    view.set_markdown(f"{CODE}\n\n{WIDE_TABLE}")
    assert len(view.wide.bars) == 2
    view.wide.bars[0].setValue(50)
    view.window().resize(2400, 900)
    QGuiApplication.processEvents()
    assert view.wide.bars == []
    assert view.document().find("restic").block().blockFormat().textIndent() == 0


def test_the_arrow_keys_scroll_what_is_seen(qtbot: QtBot, view: MarkdownView) -> None:
    view.set_markdown(CODE)
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert view.wide.bars[0].value() == 40
    qtbot.keyClick(view, Qt.Key.Key_Left)
    assert view.wide.bars[0].value() == 0


def test_only_the_code_is_painted_where_it_scrolls(view: MarkdownView) -> None:
    """Nothing of a scrolled line is seen beside its background."""
    view.set_markdown(CODE)
    view.wide.bars[0].setValue(100)
    QGuiApplication.processEvents()
    picture = view.grab().toImage()
    middle = view.cursorRect(view.document().find("restic")).center().y()
    ground = Theme.current().color("bg.raised")
    assert all(picture.pixelColor(x, middle) == ground for x in range(18, 27))


def test_a_page_may_go_while_its_menu_is_open(qtbot: QtBot) -> None:
    view = MarkdownView()
    view.resize(640, 100)
    view.show()
    spot = view.viewport().mapTo(view, view.viewport().rect().center())
    QTest.mouseClick(view.windowHandle(), Qt.MouseButton.RightButton, pos=spot)
    menu = open_menu()
    assert [action.text() for action in menu.actions()] == ["Copy", "Select all"]
    view.deleteLater()
    qtbot.waitUntil(lambda: not (isValid(view) or isValid(menu)))


def test_a_menu_is_gone_once_an_item_is_chosen(qtbot: QtBot, view: MarkdownView) -> None:
    view.set_markdown("Some text.")
    spot = view.viewport().mapTo(view, view.viewport().rect().center())
    QTest.mouseClick(view.windowHandle(), Qt.MouseButton.RightButton, pos=spot)
    menu = open_menu()
    click_item(menu, "Select all")
    qtbot.waitUntil(lambda: not isValid(menu))
    assert view.textCursor().selectedText() == "Some text."


def test_the_bar_of_a_quoted_code_block_is_as_high_as_the_block(view: MarkdownView) -> None:
    view.set_markdown("> ```sh\n> restic snapshots\n> restic restore latest\n> ```\n")
    view.resize(640, 200)
    picture, theme = view.grab().toImage(), Theme.current()
    bar, block = theme.color("line.strong"), theme.color("bg.raised")
    rows, middle = range(picture.height()), view.cursorRect(view.document().find("restic")).y()
    x = next(x for x in range(picture.width()) if picture.pixelColor(x, middle) == bar)
    in_bar = [y for y in rows if picture.pixelColor(x, y) == bar]
    in_block = [y for y in rows if picture.pixelColor(picture.width() // 2, y) == block]
    assert abs(in_bar[0] - in_block[0]) <= 1
    assert in_bar[-1] >= in_block[-1] - 1


def test_a_table_that_is_only_seen_in_part_has_its_lines(view: MarkdownView) -> None:
    rows = "".join(f"| {'many words ' * 30}| {number} |\n" for number in range(5))
    view.set_markdown(f"| a | b |\n|---|---|\n{rows}")
    seen = QRect(0, 0, view.width(), 90)
    assert view.height() > 4 * seen.height()
    assert view.grab(seen).toImage() == view.grab().toImage().copy(seen)
