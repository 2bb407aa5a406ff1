"""The card of a citation begins with the cited line, which is lit."""

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from pytestqt.qtbot import QtBot

from chains.citations.answer_sources import Source, list_sources
from chains.citations.check import Citation, check_citations
from context.layers import Segment
from ui.chat.message.answer import Answer
from ui.markdown.page.card import CitationCard
from ui.markdown.page.view import MarkdownView
from ui.theme import Theme

PASSAGE = "\n".join(f"Line {n} of the passage is about rain." for n in range(1, 13))
CITED = "Line 9 of the passage is about rain."


def make_source(lines: tuple[int, int] | None) -> Source:
    """Return the source of a citation of lines in a passage of the lines 21 to 32."""
    segment = Segment(
        "s1", "L3", "passage", "Rain.md", (21, 32), "v", PASSAGE, title="Rain", number=1
    )
    citation = Citation(1, "Rain.md", (), lines, "about rain", verified=True)
    return list_sources([segment], [citation])[1]


def count_lit(card: CitationCard) -> int:
    image, lit = card.grab().toImage(), Theme.current().color("diff.mark_bg")
    points = [(x, y) for x in range(0, image.width(), 4) for y in range(image.height())]
    return sum(image.pixelColor(x, y) == lit for x, y in points)


def test_the_passage_begins_at_the_cited_line() -> None:
    source = make_source((29, 29))
    assert source.cited == CITED
    assert source.passage.startswith(f"{CITED}\nLine 10")


@pytest.mark.parametrize("lines", [None, (21, 32), (40, 41), (1, 3)])
def test_a_passage_that_is_cited_whole_or_elsewhere_is_shown_whole(
    lines: tuple[int, int] | None,
) -> None:
    source = make_source(lines)
    assert source.passage == PASSAGE
    assert source.cited == ""


def test_a_quotation_deep_in_the_cited_line_is_shown_and_markup_is_not() -> None:
    start = "**Glaciers** were named. " * 20
    line = f"{start}The Gray Glacier merges *into* another. The end."
    segment = Segment("s1", "L3", "passage", "Ice.md", (7, 8), "v", f"{line}\nMore.", number=1)
    citation = Citation(1, "Ice.md", (), (7, 7), "Gray Glacier merges into another", verified=True)
    source = list_sources([segment], [citation])[1]
    assert source.passage == "… The Gray Glacier merges into another. The end.\nMore."
    assert source.cited == "… The Gray Glacier merges into another. The end."


def test_the_corners_of_the_card_are_painted(qtbot: QtBot) -> None:
    card = CitationCard(None)  # type: ignore[arg-type]
    qtbot.addWidget(card)
    card.show_source(make_source((29, 29)), QRect(200, 200, 20, 20))
    assert card.grab().toImage().pixelColor(0, 0) == Theme.current().color("bg.overlay")


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_cited_line_is_lit_in_the_card_that_hovering_shows(qtbot: QtBot, mode: str) -> None:
    Theme.current().apply(mode)  # type: ignore[arg-type]
    view = MarkdownView()
    qtbot.addWidget(view)
    view.resize(500, 60)
    view.show()
    view.set_markdown("It rains [1].")
    view.set_sources({1: make_source((29, 29))})
    pill = view.find_places(1)[0].center()
    qtbot.mouseMove(view.viewport(), pill - QPoint(0, 1))
    qtbot.mouseMove(view.viewport(), pill)
    qtbot.waitUntil(lambda: view.card is not None and view.card.isVisible())
    assert view.card is not None
    assert view.card.shown()[2].startswith(CITED)
    assert count_lit(view.card) > 100
    view.card.show_source(make_source(None), QRect())
    assert count_lit(view.card) == 0


QUOTED = """
> Line 3 of the passage is about rain. [1]

> Line 5 of the passage is about rain.
>
> - Line 6 of the passage is about rain. [1]

> Line 9 of the passage is about rain. [1]
"""


@pytest.fixture
def quoting(qtbot: QtBot) -> Answer:
    """An answer that quotes one passage three times, so that all citations have one number."""
    segment = Segment(
        "s1", "L3", "passage", "Rain.md", (21, 32), "v", PASSAGE, title="Rain", number=1
    )
    answer = Answer()
    qtbot.addWidget(answer)
    answer.resize(600, 400)
    answer.finish("a1", text=QUOTED)
    answer.set_sources(list_sources([segment], check_citations(QUOTED, [segment]).citations))
    answer.show()
    return answer


@pytest.mark.parametrize(("place", "lines"), [(0, (23, 23)), (1, (25, 26)), (2, (29, 29))])
def test_each_citation_of_one_source_opens_the_lines_of_its_own_quotation(
    qtbot: QtBot, quoting: Answer, place: int, lines: tuple[int, int]
) -> None:
    spot = quoting.view.find_places(1)[place].center()
    with qtbot.waitSignal(quoting.citation_activated) as caught:
        qtbot.mouseClick(quoting.view.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert caught.args == ["Rain.md", *lines]


def test_the_card_shows_the_quotation_beside_the_hovered_citation(
    qtbot: QtBot, quoting: Answer
) -> None:
    view = quoting.view
    pill = view.find_places(1)[2].center()
    qtbot.mouseMove(view.viewport(), pill - QPoint(0, 1))
    qtbot.mouseMove(view.viewport(), pill)
    qtbot.waitUntil(lambda: view.card is not None and view.card.isVisible())
    assert view.card is not None
    assert view.card.shown()[1:3] == ("Rain.md, line 29", " ".join(PASSAGE.split("\n")[8:]))


def test_tab_shows_the_card_of_the_focused_citation_below_it(qtbot: QtBot, quoting: Answer) -> None:
    view = quoting.view
    view.setFocus()
    for _ in range(3):
        qtbot.keyClick(view, Qt.Key.Key_Tab)
    qtbot.waitUntil(lambda: view.card is not None and view.card.isVisible())
    assert view.card is not None
    assert view.card.shown()[1] == "Rain.md, line 29"
    below = view.viewport().mapToGlobal(view.find_places(1)[2].bottomLeft())
    assert 0 <= view.card.pos().y() - below.y() <= 10
    with qtbot.waitSignal(quoting.citation_activated) as caught:
        qtbot.keyClick(view, Qt.Key.Key_Return)
    assert caught.args == ["Rain.md", 29, 29]
