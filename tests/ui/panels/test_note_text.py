"""The source of a note: long texts are coloured in steps, from the first line on."""

import pytest
from PySide6.QtGui import QFont, QTextBlock, QTextLayout
from pytestqt.qtbot import QtBot

from ui.panels.notes.note_text import NoteText
from vault.notes.text.document import parse_document

LINES = 4_000


@pytest.fixture
def source(qtbot: QtBot) -> NoteText:
    source = NoteText()
    qtbot.addWidget(source)
    source.show()
    return source


def count_coloured(source: NoteText) -> int:
    """Return the number of lines that were looked at, which have a state other than -1."""
    document = source.document()
    blocks = (document.findBlockByNumber(at) for at in range(document.blockCount()))
    return sum(block.userState() >= 0 for block in blocks)


def is_coloured(source: NoteText, line: int) -> bool:
    layout = source.document().findBlockByNumber(line - 1).layout()
    return bool(layout.formats())


def test_a_long_text_is_coloured_in_steps(source: NoteText, qtbot: QtBot) -> None:
    text = "\n".join(["```", *("code" for _ in range(LINES - 3)), "```", "[[Link]]"])
    source.show_text(text, 1, 0, 0)
    assert 0 < count_coloured(source) < LINES / 4
    qtbot.waitUntil(lambda: count_coloured(source) == LINES)
    assert is_coloured(source, LINES // 2)
    assert is_coloured(source, LINES)


@pytest.mark.parametrize("before", ["", "🌱 ", "👩‍🌾 and 𠮷 "])
def test_colours_are_where_the_words_are_in_every_script(source: NoteText, before: str) -> None:
    source.show_text(f"{before}[[Link]] 🌱 #tag\n# {before}Heading", 1, 0, 0)
    link, heading = (source.document().findBlockByNumber(at) for at in (0, 1))
    units = link.text().encode("utf-16-le")
    coloured = [units[2 * one.start : 2 * (one.start + one.length)] for one in formats_of(link)]
    assert [text.decode("utf-16-le", "replace") for text in coloured] == ["[[Link]]", "#tag"]
    (strong,) = formats_of(heading)
    assert (strong.start, strong.start + strong.length + 1) == (0, heading.length())


def formats_of(block: QTextBlock) -> list[QTextLayout.FormatRange]:
    return block.layout().formats()


def test_a_short_text_is_coloured_at_once(source: NoteText) -> None:
    source.show_text("---\ntags: a\n---\n[[Link]]\nplain\n", 1, 0, 0)
    assert [is_coloured(source, line) for line in range(1, 6)] == [True, True, True, True, False]


def test_another_text_is_coloured_anew(source: NoteText, qtbot: QtBot) -> None:
    source.show_text("[[Link]]\n" * LINES, 1, 0, 0)
    source.show_text("plain\n[[Link]]\n", 1, 0, 0)
    assert [is_coloured(source, line) for line in (1, 2)] == [False, True]
    source.show_text("plain\n" * LINES + "[[Link]]", 1, 0, 0)
    qtbot.waitUntil(lambda: is_coloured(source, LINES + 1))


def list_strong(source: NoteText) -> list[str]:
    """Return the lines that are shown as headings."""
    document = source.document()
    blocks = [document.findBlockByNumber(at) for at in range(document.blockCount())]
    formats = ((block.text(), block.layout().formats()) for block in blocks)
    weight = QFont.Weight.DemiBold
    return [text for text, found in formats if any(f.format.fontWeight() == weight for f in found)]


@pytest.mark.parametrize("is_parsed", [True, False])
def test_headings_are_those_of_the_note(source: NoteText, is_parsed: bool) -> None:
    front = "---\n# front\n---\n# One\n"
    code = "````\n# code\n```\n# code\n````\n```npm i```\n# Two\n\n~~~\n```\n# code\n~~~\n"
    text = f"{front}{code}%%\n# hidden\n%%\n\n   ## Three\n#tag\n"
    source.show_text(text, 1, 0, 0, parse_document(text).kinds if is_parsed else "")
    assert list_strong(source) == ["# One", "# Two", "   ## Three"]


def test_the_lines_of_a_part_have_the_kinds_that_they_have_in_the_note(source: NoteText) -> None:
    text = "\n".join(["```", "# code", "# code", "```", "# One"])
    cut = "\n".join(text.split("\n")[2:])
    source.show_text(cut, 3, 0, 0, parse_document(text).kinds)
    assert list_strong(source) == ["# One"]
