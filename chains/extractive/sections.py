"""Find the sections of notes that an answer shows, and the lines in them that are lit.

The section of the best part is shown as it stands in the note, from its heading to the next one of
the same or a higher level. The parts in it that score nearly as high are lit. Below it, up to two
other sections show only their best line.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Final

from chains.citations.quotes import read_source_text
from chains.citations.sections import ShownSection
from chains.extractive.excerpts import find_hidden_lines, show_section
from chains.extractive.parts import Part, build_parts
from chains.extractive.period import Period, list_days
from chains.extractive.question import AskedQuestion, QuestionKind
from chains.extractive.ranking import (
    Compare,
    ScoredPart,
    list_matched_words,
    rank_parts,
    sort_dated,
)
from chains.extractive.spans import SectionSpan, choose_spans
from context.layers import Segment
from vault.notes.text.lines import SECTION_KINDS, UNDERLINE
from vault.notes.text.markdown_text import MarkdownText

__all__ = ["Found", "find_beginnings", "find_sections"]

# How much lower than the best part of a section its other lit parts may score.
_MARGINS: Final[Mapping[QuestionKind, float]] = {
    "fact": 1.0,
    "time": 1.0,
    "how_to": 2.5,
    "list": 2.5,
}
MOST_LIT: Final = 12
# The longest list whose items are all lit if one of them is.
MOST_ITEMS_LIT: Final = 30
# The lines that are shown of all notes of a period, and the fewest of each.
MOST_LINES_OF_PERIOD: Final = 40
FEWEST_LINES_OF_NOTE: Final = 3
_NUMBER: Final = re.compile(r"\d+")
_STEP: Final = re.compile(r"\s*\d{1,3}[.)]\s")
_HEADING_KINDS: Final = frozenset({*SECTION_KINDS, UNDERLINE})


@dataclass(frozen=True)
class Found:
    """The sections that may answer a question, best first.

    Attributes:
        sections: the sections with their lit lines.
        parts: the lit parts of all sections, best first.
        highest_cosine: the highest cosine similarity between the question and a part, or None if no
            part was compared.
    """

    sections: tuple[ShownSection, ...] = ()
    parts: tuple[Part, ...] = ()
    highest_cosine: float | None = None


def find_sections(
    question: AskedQuestion,
    sources: Sequence[Segment],
    compare: Compare | None = None,
    rarity: Mapping[str, float] = MappingProxyType({}),
    ranks: Mapping[int, int] = MappingProxyType({}),
) -> Found:
    """Find the sections of the sources that answer a question best.

    Args:
        sources: the sources, best first.
        compare: a function that compares a question with short texts by meaning. If None, only
            words are compared.
        rarity: a weight from 0 to 1 for each word, which is higher if the word is rarer in the
            vault.
        ranks: the rank of each source in the search results, keyed by citation number. The default
            is the number.
    """
    parts = [part for source in sources for part in build_parts(source)]
    rank = partial(rank_parts, question, parts, rarity=rarity, compare=compare, ranks=ranks)
    rankings = [sort_dated(question, rank(facet=facet)) for facet in question.facets]
    by_number = {source.number or 0: source for source in sources}
    texts = {n: read_source_text(each) for n, each in by_number.items()}
    sections: list[ShownSection] = []
    lit_parts: list[Part] = []
    leading = min(by_number, key=lambda number: ranks.get(number, number), default=0)
    for span, ranked, is_open in choose_spans(question, rankings, texts, leading):
        inside = [each for each in ranked if span.covers(each.part)]
        highlights = _choose_lit(
            question, inside, [part for part in parts if span.covers(part)], span
        )
        lit_parts += highlights if is_open else highlights[:1]
        sections.append(show_section(by_number[span.n], span, highlights, is_open=is_open))
    ranked = list(chain.from_iterable(rankings))
    cosines = [each.cosine for each in ranked if each.cosine is not None]
    return Found(tuple(sections), tuple(lit_parts), max(cosines, default=None))


def find_beginnings(sources: Sequence[Segment], period: Period) -> tuple[ShownSection, ...]:
    """Return the sources as sections of which only the beginnings are not folded.

    Front matter, and what is below a heading that is dated outside the period, are left out.

    Args:
        sources: the sources to show.
        period: the period that the question is about.
    """
    shown: list[ShownSection] = []
    most = max(FEWEST_LINES_OF_NOTE, MOST_LINES_OF_PERIOD // max(1, len(sources)))
    for source in sources:
        text = read_source_text(source)
        written = _list_lines_in_period(text, period)
        if any(text.kinds[at] not in _HEADING_KINDS for at in written):
            span = SectionSpan(source.number or 0, written[0], written[-1] + 1, text)
            shown.append(show_section(source, span, (), kept=written[:most]))
    return tuple(shown)


def _list_lines_in_period(text: MarkdownText, period: Period) -> list[int]:
    """Return the indices of the drawn lines that are below no heading of another time."""
    hidden, found = find_hidden_lines(text), list[int]()
    for at, line in enumerate(text.lines):
        days = list_days(text.find_headings(at))
        if at not in hidden and line.strip() and (not days or period.covers(days)):
            found.append(at)
    return found


def _choose_lit(
    question: AskedQuestion, ranked: Sequence[ScoredPart], parts: Sequence[Part], span: SectionSpan
) -> list[Part]:
    """Return the parts of a section to light, best first.

    Args:
        ranked: the ranked parts of the section.
        parts: all parts of the section, in their order.
        span: the section.
    """
    ordered = sorted(_drop_poorer_rows(question, ranked), key=lambda each: -each.score)
    if not ordered:
        return []
    least = ordered[0].score - _MARGINS[question.kind]
    highlights: list[Part] = []
    for scored in ordered:
        if scored.score < least or len(highlights) == MOST_LIT:
            break
        if not any(_overlap(scored.part, other) for other in highlights):
            highlights.append(scored.part)
    highlights += _list_rows(question, highlights, parts)
    is_step = _STEP.match(span.text.lines[highlights[0].first]) is not None
    if question.kind == "list" or (question.kind == "how_to" and is_step):
        highlights += _list_siblings(highlights[0], parts, highlights)
    return highlights


def _drop_poorer_rows(question: AskedQuestion, ranked: Sequence[ScoredPart]) -> list[ScoredPart]:
    """Return the parts without rows that another row of their table outdoes.

    It has all words and figures of the question that they have, and another one: asked for a stock
    of 0, a row with a stock of 2 is no answer.
    """
    rows = [each.part for each in ranked if each.part.kind == "row"]
    asked = frozenset(_NUMBER.findall(question.searched))
    matched_words = {
        row: list_matched_words(question, row) | asked.intersection(_NUMBER.findall(row.text))
        for row in rows
    }
    poorer = {
        row
        for row in rows
        if any(
            matched_words[row] < matched_words[other]
            for other in rows
            if other.columns == row.columns
        )
    }
    return [each for each in ranked if each.part not in poorer]


def _list_rows(
    question: AskedQuestion, highlights: Sequence[Part], parts: Sequence[Part]
) -> list[Part]:
    """Return the other rows that a question about several rows of the best row's table needs.

    These are the rows for the other things that it compares, and all rows if it asks for a total.
    """
    best = highlights[0]
    is_of_rows = question.asks_for_total or len(question.facets) > 1
    if best.kind != "row" or not is_of_rows:
        return []
    rows = [part for part in parts if part.kind == "row" and part.columns == best.columns]
    wanted = [
        row
        for row in rows
        if row not in highlights
        and (question.asks_for_total or any(facet.own <= row.words for facet in question.facets))
    ]
    return wanted if len(wanted) <= MOST_ITEMS_LIT else []


def _list_siblings(best: Part, parts: Sequence[Part], highlights: Sequence[Part]) -> Iterator[Part]:
    """Yield the other items of the best item's list: steps, or all that the question asks for."""
    if best.kind != "item":
        return
    siblings = [part for part in parts if part.kind == "item" and part.around == best.around]
    if len(siblings) <= MOST_ITEMS_LIT:
        yield from (
            part for part in siblings if not any(_overlap(part, each) for each in highlights)
        )


def _overlap(part: Part, other: Part) -> bool:
    if part.number != other.number or part.first >= other.end or other.first >= part.end:
        return False
    return "sentence" not in (part.kind, other.kind) or part.kind != other.kind
