"""Tell where sections of different notes say different figures or days of one thing."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Final

from chains.citations.sections import ShownSection
from vault.notes.date_spans import Span
from vault.notes.dates import find_written_spans
from vault.notes.text.sentences import split_sentences
from vault.review.statements import QUALIFIERS, Quantity, find_statements, list_words

__all__ = ["describe_difference"]

_LEAST_SHARED: Final = 2
_NO_PROSE: Final = ("|", "```", "~~~")


@dataclass(frozen=True)
class _Said:
    """A sentence of a section that answers a question.

    Attributes:
        section: the section.
        text: the sentence.
        about: the words of the question in the sentence, and in the title and headings above it.
    """

    section: ShownSection
    text: str
    about: frozenset[str]

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the sentence."""
        return list_words(self.text)

    @cached_property
    def figures(self) -> Mapping[str, Quantity]:
        """The quantities by their units, without units that occur twice."""
        found = [each for said in find_statements(self.text) for each in said.quantities]
        units = [each.unit for each in found]
        return {each.unit: each for each in found if each.unit and units.count(each.unit) == 1}

    def write_figure(self, unit: str) -> str:
        """Return the figure of a unit as it is written, such as "4 °C"."""
        found = re.search(rf"{re.escape(self.figures[unit].written)}\w*", self.text)
        return self.figures[unit].written if found is None else found[0]

    @cached_property
    def days(self) -> tuple[Span, ...]:
        """The dates in the sentence."""
        return find_written_spans(self.text)


def describe_difference(question: str, sections: Sequence[ShownSection]) -> str:
    """Return a sentence about the first two notes that differ in what they say, or "" if none do.

    Two sentences are of one thing if they hold the same words of the question. They differ if they
    have other figures of one unit, or other dates. Figures of notes for single days may differ, as
    readings of a meter do.

    Args:
        question: the question.
        sections: the sections that are shown, with the lines that answer it.
    """
    asked = list_words(question)
    said = [each for section in sections for each in _list_said(section, asked)]
    for one, other in combinations(said, 2):
        if _is_of_one_thing(one, other) and (figures := _find_figures(one, other)):
            return _write(one, other, *figures)
    return ""


def _list_said(section: ShownSection, asked: frozenset[str]) -> Iterator[_Said]:
    """Yield the lit sentences of a section that hold a word of the question."""
    above = list_words(" ".join((section.source.title, *section.heading)))
    for lines in section.lit:
        text = section.cut_lines(lines) or ""
        prose = [line for line in text.split("\n") if not line.lstrip(" >").startswith(_NO_PROSE)]
        for sentence in split_sentences(" ".join(prose)):
            if asked & list_words(sentence):
                yield _Said(section, sentence, asked & (above | list_words(sentence)))


def _is_of_one_thing(one: _Said, other: _Said) -> bool:
    is_alike = one.about == other.about and len(one.about) >= _LEAST_SHARED
    is_alike = is_alike and one.section.path != other.section.path
    return is_alike and not (one.words ^ other.words) & QUALIFIERS


def _find_figures(one: _Said, other: _Said) -> tuple[str, str] | None:
    """Return the figures or dates in which two sentences differ, or None."""
    units = one.figures.keys() & other.figures.keys()
    differing = [unit for unit in units if one.figures[unit].contradicts(other.figures[unit])]
    is_series = all(find_written_spans(each.section.path) for each in (one, other))
    if len(differing) == 1 and not is_series:
        return one.write_figure(differing[0]), other.write_figure(differing[0])
    if len(one.days) == len(other.days) == 1 and one.days != other.days:
        return _write_day(one.days[0]), _write_day(other.days[0])
    return None


def _write_day(span: Span) -> str:
    first, after = span
    return f"{first:%-d %B %Y}" if (after - first).days == 1 else f"{first:%B %Y}"


def _write(one: _Said, other: _Said, said: str, differing: str) -> str:
    titles = [each.section.source.title.replace("*", r"\*") for each in (one, other)]
    return f"Your notes differ: {said} in *{titles[0]}*, {differing} in *{titles[1]}*."
