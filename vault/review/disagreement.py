"""Decide whether sentences of two notes state different figures or days of one thing.

Answers and the review both decide it here. Who reads "your notes differ" trusts it, so nothing is
found in doubt: not between the days of a log or the numbers of a series, not between two things of
a kind, as two flats or persons are, not between opposites, as switching on and off, and not between
sentences of which one says more than the other. Approximate figures may differ a little.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Final

from vault.notes.date_spans import Span, do_overlap
from vault.notes.dates import find_written_spans, remove_dates
from vault.notes.keywords import FUNCTION_WORDS, fold
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

__all__ = ["Disagreement", "PlacedSentence", "find_disagreement", "is_series", "list_unsaid_names"]

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
_OPPOSITES: Final = (("on", "off"), ("in", "out"), ("ein", "aus"), ("an", "aus"), ("auf", "zu"))
# One figure is for each of them, the other perhaps not.
_RATE_WORDS: Final = """
    per each every pro je hour day night week month quarter year stunde tag nacht woche monat jahr
    hourly daily weekly monthly yearly annually
"""
_RATES: Final = frozenset(_RATE_WORDS.split())
_STRUCK: Final = re.compile(r"~~[^~\n]{1,1000}~~")
_APPROXIMATE: Final = re.compile(
    r"[~≈]|\b(?:about|almost|approx\w*|around|circa|ca|nearly|roughly"
    r"|etwa|fast|knapp|rund|ungef[äa]hr|environ|unos)\b",
    re.IGNORECASE,
)
_TOLERANCE: Final = 0.1
# Matches a sentence in which the author tells what happened, which can happen twice.
_ACCOUNT: Final = re.compile(r"\bI\b|\b(?:we|ich|wir|je|nous|yo|nosotros)\b|\bj['’]", re.IGNORECASE)
_LEAST_STEM_CHARS: Final = 4


@dataclass(frozen=True)
class Disagreement:
    """The figures or days in which two sentences differ, as they are shown."""

    first: str
    second: str


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
class PlacedSentence:
    """A sentence of a note, with what stands above it.

    Attributes:
        path: the path of the note.
        written: the sentence, which may hold text that is struck out.
        title: the title of the note.
        headings: the headings above the sentence, outermost first.
    """

    path: str
    written: str
    title: str
    headings: tuple[str, ...] = ()

    @cached_property
    def text(self) -> str:
        """The sentence without what is struck out in it."""
        return _STRUCK.sub("", self.written)

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the sentence."""
        return list_words(self.text)

    @cached_property
    def tokens(self) -> frozenset[str]:
        """All words of the sentence as they are written, in lower case."""
        return frozenset(re.findall(r"\w+", fold(self.text)))

    @cached_property
    def above(self) -> frozenset[str]:
        """The words of the title and headings above the sentence, without those for a text."""
        return list_words(" ".join((self.title, *self.headings))) - _OF_TEXTS

    @cached_property
    def is_dated(self) -> bool:
        """Whether the note or a heading above the sentence is of a day, as in a log."""
        return any(map(find_written_spans, (self.path, self.title, *self.headings)))

    @cached_property
    def is_account(self) -> bool:
        """Whether the author tells what happened."""
        return _ACCOUNT.search(self.text) is not None

    @cached_property
    def figures(self) -> Mapping[str, _Figure]:
        """The figures by their units, without units that occur twice."""
        statements = find_statements(self.text)
        quantities = [each for statement in statements for each in statement.quantities]
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


def is_series(one: PlacedSentence, other: PlacedSentence) -> bool:
    """Return whether two sentences may differ, because both are dated or numbered parts of one."""
    return (one.is_dated and other.is_dated) or _are_numbered(one.title, other.title)


def list_unsaid_names(
    one: PlacedSentence, other: PlacedSentence
) -> tuple[frozenset[str], frozenset[str]]:
    """Return what the titles and headings above two sentences name, each beyond the other.

    Words that both sentences hold are left out, since they do not tell the two things apart. If
    both sets hold a word, the sentences are probably of two things, as of two flats.
    """
    words = one.words & other.words
    these, those = (
        frozenset(word for word in sentence.above - others.above if not _is_named(word, words))
        for sentence, others in ((one, other), (other, one))
    )
    return these, those


def find_disagreement(one: PlacedSentence, other: PlacedSentence) -> Disagreement | None:
    """Return the figures or dates in which two sentences of one thing differ, or None."""
    if one.is_account or other.is_account or (one.words ^ other.words) & QUALIFIERS:
        return None
    if (one.tokens ^ other.tokens) & _RATES or _are_opposite(one.tokens, other.tokens):
        return None
    return _compare_figures(one, other) or _compare_days(one, other)


def _compare_figures(one: PlacedSentence, other: PlacedSentence) -> Disagreement | None:
    shared = [unit for unit in one.figures if unit in other.figures]
    pairs = [(one.figures[unit], other.figures[unit]) for unit in shared]
    differing = [pair for pair in pairs if pair[0].quantity.contradicts(pair[1].quantity)]
    if len(differing) != 1:
        return None
    ((first, second),) = differing
    is_same = measure_overlap(first.clause, second.clause) >= LEAST_OVERLAP
    is_vague = any(_APPROXIMATE.search(sentence.text) for sentence in (one, other))
    if not is_same or (is_vague and _are_close(first.quantity, second.quantity)):
        return None
    return Disagreement(first.written, second.written)


def _compare_days(one: PlacedSentence, other: PlacedSentence) -> Disagreement | None:
    have_days = len(one.days) == len(other.days) == 1
    if not have_days or do_overlap(one.days[0], other.days[0]):
        return None
    if measure_overlap(one.dated, other.dated) < LEAST_OVERLAP:
        return None
    return Disagreement(_write_day(one.days[0]), _write_day(other.days[0]))


def _are_close(one: Quantity, other: Quantity) -> bool:
    """Return whether an approximate figure may be the other one."""
    return any(
        abs(a - b) <= _TOLERANCE * max(abs(a), abs(b)) for a in one.values for b in other.values
    )


def _are_opposite(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether one sentence says "on" and the other "off", or the like."""
    these, those = one - other, other - one
    return any((a in these and b in those) or (b in these and a in those) for a, b in _OPPOSITES)


def _are_numbered(one: str, other: str) -> bool:
    """Return whether titles only differ in numbers or letters, as "Trip 1" and "Trip 2" do."""
    these, those = (set(re.findall(r"\w+", title.lower())) for title in (one, other))
    added = these ^ those
    return bool(added) and all(len(word) == 1 or word.isdecimal() for word in added)


def _is_named(word: str, words: frozenset[str]) -> bool:
    """Return whether words hold a word, or a compound of it such as "Rasenmäher" for "Mäher"."""
    is_long = len(word) >= _LEAST_STEM_CHARS
    return word in words or (is_long and any(w.startswith(word) or w.endswith(word) for w in words))


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


def _write_day(span: Span) -> str:
    first, after = span
    return f"{first:%-d %B %Y}" if (after - first).days == 1 else f"{first:%B %Y}"
