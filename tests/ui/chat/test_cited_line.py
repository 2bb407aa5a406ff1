"""The card of a citation begins with the cited line, which is lit."""

import pytest
from PySide6.QtCore import QPoint, QRect
from pytestqt.qtbot import QtBot

from chains.citations.check import Citation
from context.layers import Segment
from ui.chat.message.sources import list_sources
from ui.markdown.page.card import CitationCard, Source
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
