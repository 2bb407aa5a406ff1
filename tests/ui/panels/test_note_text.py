"""The source of a note: long texts are coloured in steps, from the first line on."""

import pytest
from pytestqt.qtbot import QtBot

from ui.panels.notes.note_text import NoteText

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


def test_a_short_text_is_coloured_at_once(source: NoteText) -> None:
    source.show_text("---\ntags: a\n---\n[[Link]]\nplain\n", 1, 0, 0)
    assert [is_coloured(source, line) for line in range(1, 6)] == [True, True, True, True, False]


def test_another_text_is_coloured_anew(source: NoteText, qtbot: QtBot) -> None:
    source.show_text("[[Link]]\n" * LINES, 1, 0, 0)
    source.show_text("plain\n[[Link]]\n", 1, 0, 0)
    assert [is_coloured(source, line) for line in (1, 2)] == [False, True]
    source.show_text("plain\n" * LINES + "[[Link]]", 1, 0, 0)
    qtbot.waitUntil(lambda: is_coloured(source, LINES + 1))
