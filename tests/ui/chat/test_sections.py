"""An answer without a model: its sections, lit lines and folds, by mouse and keys."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolTip
from pytestqt.qtbot import QtBot

from app.sessions.transcript import AnswerItem, ChatTranscript, UserItem
from chains.citations.sections import ShownSection, cite_sections
from chains.extractive.model import ExtractiveModel
from context.layers import Layer, Segment
from tests.support.window.transcripts import TIME, answer_item, result, widgets
from tests.support.window.waiting import settle
from ui.chat.message.answer import Answer
from ui.chat.transcript.transcript import Transcript
from ui.theme import Theme

LEAD = "No model is set, so here are the passages that fit best."
RAIN = "\n".join(f"- It rained on day {day}." for day in range(8))
KITCHEN = f"# Kettle\n\n{RAIN}\n\nThe kettle boils at noon.\n\nIt is made of copper."
HUT = "# Hut\n\nOld.\n\nDark.\n\nThe kettle of the hut boils at six.\n\nCold."


def make_source(number: int, path: str, text: str) -> Segment:
    lines = (1, text.count("\n") + 1)
    place = {"source": path, "lines": lines, "title": path[:-3], "number": number}
    return Segment.build(id=path, layer=Layer.L3, kind="passage", text=text, **place)


SOURCES = make_source(1, "Kitchen.md", KITCHEN), make_source(2, "Hut.md", HUT)
SECTIONS = (
    ShownSection(SOURCES[0], (1, 14), lit=((12, 12),), folded=((3, 9),), is_open=True),
    ShownSection(SOURCES[1], (1, 9), lit=((7, 7),), folded=((3, 6), (8, 9)), day="2026-05-14"),
)


def make_item(text: str = f"{LEAD}\n\n> The kettle boils at noon. [1]\n") -> AnswerItem:
    return answer_item(text, sections=SECTIONS, sources=SOURCES, citations=cite_sections(SECTIONS))


@pytest.fixture
def answer(transcript: Transcript) -> Answer:
    """A stored answer with two sections."""
    transcript.load(ChatTranscript("Chat", (UserItem("u", TIME, "When?"), make_item())))
    settle()
    (found,) = widgets(transcript, Answer)
    return found


def find_spot(answer: Answer, words: str) -> QPoint:
    """Return the middle of some words in the answer."""
    found = answer.view.document().find(words)
    assert not found.isNull(), words
    middle = QTextCursor(answer.view.document())
    middle.setPosition((found.selectionStart() + found.selectionEnd()) // 2)
    return answer.view.cursorRect(middle).center()


def click(answer: Answer, words: str) -> None:
    spot = find_spot(answer, words)
    QTest.mouseClick(answer.view.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    settle()


def read_lines(answer: Answer) -> list[str]:
    return answer.view.toPlainText().split("\n")


def find_ground(answer: Answer, words: str) -> QColor:
    """Return the colour at the left edge of the line with some words."""
    image = answer.view.viewport().grab().toImage()
    return image.pixelColor(4, find_spot(answer, words).y())


def test_the_first_section_is_shown_and_the_second_by_its_best_line(answer: Answer) -> None:
    assert read_lines(answer) == [
        LEAD,
        "Kitchen › Kettle",
        "▸ Show 7 more lines",
        "It rained on day 7.",
        "The kettle boils at noon. [1]",
        "It is made of copper.",
        "Hut · 2026-05-14",
        "The kettle of the hut boils at six. [2]",
        "▸ Show 3 more lines",
    ]


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_only_the_lines_that_answer_are_lit(answer: Answer, theme: Theme, mode: str) -> None:
    theme.apply(mode, 1.0)
    settle()
    plain = find_ground(answer, "made of copper")
    for words in ("boils at noon", "boils at six"):
        assert find_ground(answer, words) != plain
    for words in (LEAD, "on day 7", "Hut ·"):
        assert find_ground(answer, words) == plain


def test_a_click_shows_the_folded_lines_and_another_hides_them(answer: Answer) -> None:
    before = read_lines(answer)
    click(answer, "Show 7 more lines")
    assert "It rained on day 0." in read_lines(answer)
    assert find_ground(answer, "boils at noon") != find_ground(answer, "on day 0")
    click(answer, "Hide 7 lines")
    assert read_lines(answer) == before


def test_a_click_opens_a_section_below_as_a_whole(answer: Answer) -> None:
    click(answer, "Show 3 more lines")
    assert read_lines(answer)[-6:] == [
        "Hut · 2026-05-14",
        "Old.",
        "Dark.",
        "The kettle of the hut boils at six. [2]",
        "Cold.",
        "▾ Hide 3 lines",
    ]


def test_folds_open_and_close_by_keys_and_keep_the_focus(
    answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(
        "ui.markdown.page.citations.announce", lambda _view, text: told.append(text)
    )
    answer.window().activateWindow()
    answer.view.setFocus(Qt.FocusReason.TabFocusReason)
    for _ in range(2):
        QTest.keyClick(answer.view, Qt.Key.Key_Tab)
    assert answer.view.textCursor().selectedText() == "▸ Show 7 more lines"
    assert told[-1] == "Show 7 more lines of this section, as in the note"
    QTest.keyClick(answer.view, Qt.Key.Key_Return)
    settle()
    assert "It rained on day 0." in read_lines(answer)
    assert answer.view.textCursor().selectedText() == "▾ Hide 7 lines"
    QTest.keyClick(answer.view, Qt.Key.Key_Return)
    settle()
    assert "It rained on day 0." not in read_lines(answer)


@pytest.mark.parametrize(
    ("words", "opened"),
    [
        ("Kitchen › Kettle", ("Kitchen.md", 1, 14)),
        ("Hut · 2026", ("Hut.md", 1, 9)),
    ],
)
def test_a_title_opens_the_note_at_the_section(
    answer: Answer, qtbot: QtBot, words: str, opened: tuple[str, int, int]
) -> None:
    with qtbot.waitSignal(answer.citation_activated) as activated:
        click(answer, words)
    assert tuple(activated.args) == opened


def test_a_citation_opens_the_note_at_its_lines(answer: Answer, qtbot: QtBot) -> None:
    found = answer.view.document().find("[2]")
    middle = QTextCursor(answer.view.document())
    middle.setPosition(found.selectionStart() + 1)
    spot = answer.view.cursorRect(middle).center()
    with qtbot.waitSignal(answer.citation_activated) as activated:
        QTest.mouseClick(answer.view.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert tuple(activated.args) == ("Hut.md", 7, 7)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_lit_code_is_framed_and_keeps_its_own_background(
    transcript: Transcript, theme: Theme, mode: str
) -> None:
    theme.apply(mode, 1.0)
    text = "Once a week:\n\n```sh\nborg prune\nborg compact\n```\n\nThe end."
    source = make_source(1, "Backups.md", text)
    section = ShownSection(source, (1, 8), lit=((3, 6),), is_open=True)
    item = answer_item(f"{LEAD}\n", sections=(section,), sources=(source,))
    transcript.load(ChatTranscript("Chat", (UserItem("u", TIME, "How?"), item)))
    settle()
    (answer,) = widgets(transcript, Answer)
    image = answer.view.viewport().grab().toImage()
    code, middle = find_spot(answer, "borg prune"), image.width() // 2
    lit, plain = image.pixelColor(4, code.y()), find_ground(answer, "Once a week")
    assert lit != plain
    assert find_ground(answer, "[1]") == plain
    assert image.pixelColor(middle, code.y()) not in (lit, plain)
    head = code.y() - theme.line("body")  # the name of the language, above the code
    assert image.pixelColor(4, head) == lit
    assert image.pixelColor(middle, head) == image.pixelColor(middle, code.y())


def test_links_say_what_they_do(answer: Answer) -> None:
    hints = answer.view._pointing.hints
    assert list(hints.values()) == [
        "Open Kitchen.md at lines 1 to 14",
        "Show 7 more lines of this section, as in the note",
        "Open Hut.md at lines 1 to 9",
        "Show 3 more lines of this section, as in the note",
    ]
    answer.view.point_at("link:1")
    assert "Show 7 more lines" in QToolTip.text()
    answer.view.point_at("")


def test_a_finished_turn_shows_its_sections_at_once(transcript: Transcript) -> None:
    transcript.begin_turn("When does the kettle boil?")
    item = make_item()
    transcript.live.append(item.text)
    told = result(item.answer.text, sections=SECTIONS, citations=cite_sections(SECTIONS))
    transcript.live.finish(told, SOURCES)
    settle()
    (found,) = widgets(transcript, Answer)
    assert "▸ Show 7 more lines" in read_lines(found)


@pytest.mark.parametrize("is_reopened", [False, True])
def test_the_sentence_that_notes_differ_stays_above_the_sections(
    transcript: Transcript, is_reopened: bool
) -> None:
    texts = {"Kettle.md": "The kettle boils at 96 °C.", "Hut.md": "The kettle boils at 91 °C."}
    sources = [make_source(n, *each) for n, each in enumerate(texts.items(), start=1)]
    question = "At what temperature does the kettle boil?"
    model = ExtractiveModel(question, has_searched=True)
    text, sections = "".join(model._write_pieces(sources)), model._sections
    told = "Your notes differ: 96 °C in Kettle, 91 °C in Hut."
    item = answer_item(text, sections=sections, sources=sources, citations=cite_sections(sections))
    if is_reopened:
        transcript.load(ChatTranscript("Chat", (UserItem("u", TIME, question), item)))
    else:
        transcript.begin_turn(question)
        transcript.live.append(text)
        told_result = result(text, sections=sections, citations=cite_sections(sections))
        transcript.live.finish(told_result, sources)
    settle()
    (found,) = widgets(transcript, Answer)
    assert found.view.sections == tuple(sections)
    assert read_lines(found)[0].endswith(told)


def test_text_of_a_note_cannot_make_a_link_that_folds(transcript: Transcript) -> None:
    text = "[Show](fold:0) and [open](section:0) and [7]"
    source = make_source(1, "Trap.md", text)
    section = ShownSection(source, (1, 1), lit=((1, 1),), is_open=True)
    item = answer_item(f"{LEAD}\n", sections=(section,), sources=(source,))
    transcript.load(ChatTranscript("Chat", (UserItem("u", TIME, "When?"), item)))
    settle()
    (found,) = widgets(transcript, Answer)
    assert list(found.view._pointing.hints) == ["section:0"]
    assert "[7]" in read_lines(found)[-1]
    assert [pill.numbers for pill in found.view._writer.final.pills] == [(1,)]
