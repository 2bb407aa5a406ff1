"""Tell where sections of different notes say different figures or days of one thing.

A reader trusts such a sentence, so nothing is said in doubt: not of events that can happen twice,
as trips and runs do, nor of sentences of which one says more than the other, nor of notes on two
things of a kind, as two flats or persons are.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, combinations, takewhile
from typing import Final

from chains.citations.sections import ShownSection
from chains.extractive.writer import escape_markdown
from vault.notes.date_spans import Span, do_overlap
from vault.notes.dates import find_written_spans, remove_dates
from vault.notes.keywords import FUNCTION_WORDS
from vault.notes.text.sentences import split_sentences
from vault.review.statements import (
    LEAST_OVERLAP,
    QUALIFIERS,
    Quantity,
    Statement,
    find_statements,
    list_words,
    measure_overlap,
    read_statement,
)

__all__ = ["describe_difference"]

_LEAST_SHARED: Final = 2
_NO_PROSE: Final = ("|", "```", "~~~")
# Matches a question for an event. German "was" at the start means "what".
_EVENT: Final = re.compile(
    r"\b(?:did|were|had|war|waren|wurden?|hatten?)\b|(?<=\s)was\b"
    r"|\b(?:have|habe|haben|bin|sind) (?:i|we|ich|wir)\b",
    re.IGNORECASE,
)
# Matches a sentence in which the author tells what happened.
_ACCOUNT: Final = re.compile(r"\bI\b|\b(?:we|ich|wir|je|nous|yo|nosotros)\b|\bj['’]", re.IGNORECASE)
# One note says "planned for", the other "moved to".
_PLANNING_WORDS: Final = """
    due moved now planned postponed rescheduled scheduled set shifted
    geplant verlegt verschoben vorgesehen
"""
_PLANNING: Final = frozenset(_PLANNING_WORDS.split())
# Words of titles and headings for a kind of text, which do not name what it is about.
_TEXT_WORDS: Final = """
    agenda checklist contract data detail draft fact info kick letter list log manual meeting memo
    minute new note off offer old overview page plan planning protocol review setting summary
    technical todo value weekly
    alt anleitung besprechung brief daten handbuch liste neu notiz notizen plan planung protokoll
    vertrag ubersicht werte woche zusammenfassung
"""
_OF_TEXTS: Final = frozenset(_TEXT_WORDS.split())
# Words of a question for what is measured, and how the units of it begin.
_MEASURES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("temperature", "temperatur", "degree", "grad"), r"°"),
    **dict.fromkeys(
        ("long", "lang", "lange"),
        r"(?:s|sec\w*|sek\w*|min\w*|h|hour|stunden?|days?|tage?n?|weeks?|wochen?|months?|monate?n?)$",
    ),
}
_LEAST_STEM_CHARS: Final = 4
_MOST_ENDING_CHARS: Final = 2


@dataclass(frozen=True)
class _Figure:
    """A figure in a sentence.

    Attributes:
        unit: its unit as it is written, in lower case, such as "°c".
        written: the figure with its unit, such as "4 °C".
        clause: what the figure is of: the sentence as far as the figure's clause, without its unit.
    """

    quantity: Quantity
    unit: str
    written: str
    clause: Statement


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
    def above(self) -> frozenset[str]:
        """The words of the title and headings above the sentence, without those for a text."""
        return list_words(" ".join(self.section.names)) - _OF_TEXTS

    @cached_property
    def is_dated(self) -> bool:
        """Whether the note or a heading above the sentence is of a day, as in a log."""
        return any(map(find_written_spans, (self.section.path, *self.section.names)))

    @cached_property
    def figures(self) -> Mapping[str, _Figure]:
        """The figures by their units, without units that occur twice."""
        said = find_statements(self.text)
        quantities = [each for statement in said for each in statement.quantities]
        found = [_build_figure(self.text, each) for each in quantities if _has_unit(each)]
        units = [each.unit for each in found]
        return {each.unit: each for each in found if units.count(each.unit) == 1}

    @cached_property
    def days(self) -> tuple[Span, ...]:
        """The dates in the sentence."""
        return find_written_spans(self.text)

    @cached_property
    def dated(self) -> Statement:
        """What the date of the sentence is of: the sentence as far as the clause with the date."""
        until = accumulate(re.split(r"(?<=,)\s+", self.text), "{} {}".format)
        clause = next((each for each in until if find_written_spans(each)), self.text)
        read, undated = read_statement(clause), read_statement(remove_dates(clause))
        return replace(read, words=(read.words & undated.words) - _PLANNING)


def describe_difference(
    question: str, sections: Sequence[ShownSection], *, is_doubtful: bool = False
) -> str:
    """Return a sentence about the first two notes that differ in what they say, or "" if none do.

    Two sentences are of one thing if they hold the same words of the question, and nearly the same
    words in all. They differ if they have other figures of one unit, or other dates. Notes for
    single days may differ, as readings of a meter do.

    Args:
        question: the question.
        sections: the sections that are shown, with the lines that answer it.
        is_doubtful: whether the sections may not answer it, so that the sentences have to say all
            that it names.
    """
    if _EVENT.search(question):
        return ""
    asked = list_words(question)
    said = [each for section in sections for each in _list_said(section, asked)]
    for one, other in combinations(said, 2):
        if is_doubtful and not (_says_all(one, asked) and _says_all(other, asked)):
            continue
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
            if asked & list_words(sentence) and not _ACCOUNT.search(sentence):
                yield _Said(section, sentence, asked & (above | list_words(sentence)))


def _has_unit(quantity: Quantity) -> bool:
    return bool(quantity.unit) and quantity.unit not in FUNCTION_WORDS


def _build_figure(text: str, quantity: Quantity) -> _Figure:
    """Build a figure with its unit, which may be any word behind the number."""
    number = rf"(?<![\w.,]){re.escape(quantity.written)}"
    found = re.search(rf"{number}(?P<joined>\w*)(?:\s(?P<following>\w+))?", text)
    if found is None:
        return _Figure(quantity, quantity.unit, quantity.written, read_statement(text))
    following = found["following"] or ""
    is_unit = quantity.unit in list_words(following)
    end = found.end() if is_unit else found.end("joined")
    written = text[found.start() : end]
    is_word = quantity.unit[0].isalpha()
    unit = quantity.unit if is_word else f"{quantity.unit}{found['joined'].lower()}"
    comma = re.compile(r",\s").search(text, end)
    clause = read_statement(text[: comma.start()] if comma else text)
    clause = replace(clause, words=clause.words - list_words(written))
    return _Figure(quantity, unit, written, clause)


def _is_of_one_thing(one: _Said, other: _Said) -> bool:
    is_alike = one.about == other.about and len(one.about) >= _LEAST_SHARED
    is_alike = is_alike and one.section.path != other.section.path
    is_series = (one.is_dated and other.is_dated) or _are_numbered(one.section, other.section)
    is_series = is_series or _have_other_subjects(one, other)
    return is_alike and not is_series and not (one.words ^ other.words) & QUALIFIERS


def _have_other_subjects(one: _Said, other: _Said) -> bool:
    """Return whether the titles and headings above two sentences name two things.

    If a sentence lacks a word of the question, its subject stands above it. Then one title that
    names more than the other is of another thing, as "Flat Kiel" is beside "Flat".
    """
    words = one.words & other.words
    these, those = (
        {word for word in said.above - others.above if not _is_named(word, words)}
        for said, others in ((one, other), (other, one))
    )
    is_subject_said = one.about <= words
    return bool(these and those) if is_subject_said else bool(these or those)


def _is_named(word: str, words: frozenset[str]) -> bool:
    """Return whether words hold a word, or a compound of it such as "Rasenmäher" for "Mäher"."""
    is_long = len(word) >= _LEAST_STEM_CHARS
    return word in words or (is_long and any(w.startswith(word) or w.endswith(word) for w in words))


def _says_all(said: _Said, asked: frozenset[str]) -> bool:
    """Return whether a sentence, with what stands above it, names all that a question does.

    What the figure measures need not be named: a figure in degrees is a temperature.
    """
    found = said.words | said.above
    missing = [word for word in asked if not any(_are_forms(word, each) for each in found)]
    return all(
        any(re.match(_MEASURES.get(w, r"\Z."), unit) for unit in said.figures) for w in missing
    )


def _are_forms(one: str, other: str) -> bool:
    """Return whether two words may be forms of one, such as "switch" and "switches"."""
    stem = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))
    ending = max(len(one), len(other)) - stem
    return one == other or (stem >= _LEAST_STEM_CHARS and ending <= _MOST_ENDING_CHARS)


def _are_numbered(one: ShownSection, other: ShownSection) -> bool:
    """Return whether titles only differ in a number or letter, as "Trip 1" and "Trip 2" do."""
    these, those = (set(re.findall(r"\w+", each.source.title.lower())) for each in (one, other))
    added = these ^ those
    return bool(added) and all(len(word) == 1 or word.isdecimal() for word in added)


def _find_figures(one: _Said, other: _Said) -> tuple[str, str] | None:
    """Return the figures or dates in which two sentences differ, or None."""
    shared = [unit for unit in one.figures if unit in other.figures]
    pairs = [(one.figures[unit], other.figures[unit]) for unit in shared]
    differing = [pair for pair in pairs if pair[0].quantity.contradicts(pair[1].quantity)]
    if len(differing) == 1:
        ((said, contradicting),) = differing
        if measure_overlap(said.clause, contradicting.clause) >= LEAST_OVERLAP:
            return said.written, contradicting.written
    have_days = len(one.days) == len(other.days) == 1
    if not have_days or do_overlap(one.days[0], other.days[0]):
        return None
    is_same = measure_overlap(one.dated, other.dated) >= LEAST_OVERLAP
    return (_write_day(one.days[0]), _write_day(other.days[0])) if is_same else None


def _write_day(span: Span) -> str:
    first, after = span
    return f"{first:%-d %B %Y}" if (after - first).days == 1 else f"{first:%B %Y}"


def _write(one: _Said, other: _Said, said: str, differing: str) -> str:
    titles = [escape_markdown(each.section.source.title) for each in (one, other)]
    return f"Your notes differ: {said} in *{titles[0]}*, {differing} in *{titles[1]}*."
