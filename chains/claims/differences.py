"""Find sources that say another figure or date of the thing that a sentence is about."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import Final

from chains.citations.answer_sources import Source
from chains.citations.matching import measure_order
from chains.citations.sources import count_negations
from chains.claims.evidence import (
    CheckEffort,
    ClaimEvidence,
    EvidenceText,
    PlacedStatement,
    blank_dates,
    has_helping_verb,
    list_plain_words,
)
from chains.claims.facts import AnswerSentence, Figure, read_clock
from chains.claims.finder import have_same_value
from vault.notes.dates import LocatedDate, locate_dates
from vault.notes.keywords import FUNCTION_WORDS, split_words
from vault.notes.text.markup import remove_markup
from vault.notes.units import is_known_unit
from vault.review.statements import (
    LEAST_OVERLAP,
    Quantity,
    Statement,
    find_numbers,
    measure_overlap,
)

__all__ = [
    "AlignedSentence",
    "SourceDifference",
    "find_contradiction",
    "find_denial",
    "find_differing_sources",
    "find_other_pairing",
    "list_aligned",
]

_PRONOUNS: Final = re.compile(
    r"it|he|she|they|this|that|er|sie|es|dies|ils?|elles?|ce|cela|el|ella|ellos|ellas"
)
_LEAST_WORDS: Final = 2
_MOST_HOLDING: Final = 2
_MOST_ALIGNED: Final = 8
_MOST_READ: Final = 1_024
# How long a sentence must be, and how many of its words another one must have in their order.
_LEAST_ALIGNED_WORDS: Final = 5
_ALIGNED_SHARE: Final = 0.75
# How nearly the same a sentence must be, so that a single "not" tells it apart.
_SAME_ORDER: Final = 0.9
# What begins an answer, and denies nothing of its sentence.
_YES_OR_NO: Final = re.compile(r"^\W*(?:no|nein|non|yes|ja|oui|sí|si)\b\s*[,.:;–—-]", re.IGNORECASE)
_VERB_ENDING: Final = re.compile(r"(?:es|ed|s|e)$")
_LEAST_STEM: Final = 3
_CAPITAL: Final = re.compile(r"\b[^\W\d_a-zà-ÿ][^\W\d_]+")
_LEAST_PAIRED: Final = 2
_PAIRED_EFFORT: Final = 100
_Value = tuple[str, object]
_FOUND_CHARS: Final = 30


@dataclass(frozen=True)
class SourceDifference:
    """What a source says instead of a figure.

    Attributes:
        written: the figure of the source.
        place: where it stands.
    """

    written: str
    place: Source


def find_contradiction(
    figure: Figure, sentence: AnswerSentence, evidence: ClaimEvidence, effort: CheckEffort
) -> SourceDifference | None:
    """Return what the notes say instead of a figure that stands nowhere in what was sent.

    A sentence of a note must say the same in nearly the same words, and differ in this figure
    alone. If several such sentences have other figures, they are of several things.
    """
    statements = [each for each in sentence.statements if _find_own(figure, each) is not None]
    found = [
        SourceDifference(other.written, text.place(placed.start))
        for claimed in statements
        if len(claimed.words) >= _LEAST_WORDS
        for text, placed in _list_statements(evidence.compared, effort)
        if (other := _find_other(figure, claimed, placed.statement)) is not None
    ]
    return found[0] if len({each.written for each in found}) == 1 else None


def find_differing_sources(
    figure: Figure, figures: Sequence[Figure], evidence: ClaimEvidence, effort: CheckEffort
) -> tuple[SourceDifference, ...]:
    """Return the two sources that say different figures of one thing, or nothing.

    Args:
        figure: a figure that stands in a source.
        figures: all figures of the answer. One that tells both is not accused.
        evidence: what was sent.
        effort: counts the comparisons. If it is spent, nothing is found.
    """
    compared = evidence.compared
    holding = [text for text in compared if _holds(text, figure)][:_MOST_HOLDING]
    for text, own in _list_statements(holding, effort):
        quantity = _find_own(figure, own.statement)
        if quantity is None or len(own.statement.words) < _LEAST_WORDS:
            continue
        others = _list_comparable(text, own, compared)
        for other_text, other in _list_statements(others, effort):
            found = _find_other(figure, own.statement, other.statement)
            if found and not any(found.values & each.values for each in figures):
                return (
                    SourceDifference(quantity.written, text.place(own.start)),
                    SourceDifference(found.written, other_text.place(other.start)),
                )
    return ()


@dataclass(frozen=True)
class AlignedSentence:
    """A sentence of a source that has nearly the same words as a sentence of an answer.

    Attributes:
        numbers: the numbers in it that are no part of a date.
        dates: the dates in it.
    """

    text: EvidenceText
    written: str
    numbers: tuple[Quantity, ...]
    dates: tuple[LocatedDate, ...]

    @property
    def place(self) -> Source:
        """Where the sentence stands."""
        start = self.text.text.find(self.written[:_FOUND_CHARS])
        return self.text.place(start if start >= 0 else None)

    def has_same_words(self, sentence: AnswerSentence) -> bool:
        """Return whether it differs from a sentence of an answer in numbers alone."""
        own, others = (
            [word for word in list_plain_words(remove_markup(text)) if not word[0].isdecimal()]
            for text in (sentence.masked, self.written)
        )
        return own == others

    def list_missing(self, figures: Sequence[Figure]) -> list[Quantity]:
        """Return the numbers of the sentence that are none of the figures, each counted once."""
        left = list(self.numbers)
        for figure in figures:
            own = next((each for each in left if each.values & figure.values), None)
            if own is not None:
                left.remove(own)
        return left

    def has(self, figure: Figure, figures: Sequence[Figure]) -> bool:
        """Return whether the sentence has a figure, as often as the figures do."""
        if any(_is_converted(figure, each) for each in self.numbers):
            return True
        claimed_count = sum(bool(each.values & figure.values) for each in figures)
        return 0 < claimed_count <= sum(bool(each.values & figure.values) for each in self.numbers)


def list_aligned(
    sentence: AnswerSentence, evidence: ClaimEvidence, effort: CheckEffort
) -> list[AlignedSentence]:
    """Return the sentences of sources that have nearly the words of a sentence, in their order."""
    words = list_plain_words(remove_markup(sentence.masked))
    content_words = {word for word in words if word not in FUNCTION_WORDS and not word.isdecimal()}
    if len(words) < _LEAST_ALIGNED_WORDS or len(content_words) < _LEAST_WORDS:
        return []
    found: list[AlignedSentence] = []
    least = _ALIGNED_SHARE * len(content_words)
    for text in evidence.current:
        if len(content_words & text.index.tokens) < least:
            continue
        sentences, after = text.index.sentences, 0
        for number in text.index.list_with_many(content_words, least):
            effort.spend(number - after)  # as if each sentence before it were compared
            after = number + 1
            source_sentence, others = sentences[number]
            if effort.is_spent:
                return _choose_nearest(content_words, found)
            behind = sentences[number + 1][0] if number + 1 < len(sentences) else ""
            if _is_aligned(words, others, effort) and not _goes_on(sentence, behind):
                found.append(AlignedSentence(text, source_sentence, *_read_values(source_sentence)))
            if len(found) == _MOST_ALIGNED:
                return _choose_nearest(content_words, found)
        effort.spend(len(sentences) - after)
    return _choose_nearest(content_words, found)


def _goes_on(sentence: AnswerSentence, behind: str) -> bool:
    """Return whether the figures and dates are those of a source's next sentence about a thing.

    It names no other thing, as in "The fee is 5 € in May. It is 7 € in June.".
    """
    numbers, dates = _read_values(behind)
    if not (numbers or dates) or not (sentence.figures or sentence.dates):
        return False
    words = set(list_plain_words(blank_dates(behind))) - FUNCTION_WORDS
    words = {word for word in words if not _PRONOUNS.fullmatch(word)}
    if not all(word[0].isdecimal() or is_known_unit(word) for word in words):
        return False
    are_said = all(any(own.values & each.values for each in numbers) for own in sentence.figures)
    spans = {each.span for each in dates}
    return are_said and all(each.span in spans for each in sentence.dates)


def _choose_nearest(content_words: Set[str], found: list[AlignedSentence]) -> list[AlignedSentence]:
    """Return the sentences with all content words, if there are any: others are of other things."""
    whole = [each for each in found if content_words <= set(split_words(each.written))]
    return whole or found


@lru_cache(maxsize=_MOST_READ)
def _read_values(sentence: str) -> tuple[tuple[Quantity, ...], tuple[LocatedDate, ...]]:
    """Return the numbers and dates of a sentence, which is compared with many of an answer."""
    dates = tuple(locate_dates(sentence))
    return tuple(_list_numbers(sentence, dates)), dates


def _list_numbers(text: str, dates: Sequence[LocatedDate]) -> Iterator[Quantity]:
    for number in find_numbers(text):
        is_dated = any(day.start < number.end and number.start < day.end for day in dates)
        if number.quantity.values and not is_dated:
            clock = read_clock(text, number)
            quantity = number.quantity
            yield quantity if clock is None else replace(quantity, values=quantity.values | {clock})


def _is_aligned(words: Sequence[str], others: Sequence[str], effort: CheckEffort) -> bool:
    effort.spend(1)
    longest = max(len(words), len(others))
    if not _ALIGNED_SHARE * longest <= min(len(words), len(others)):
        return False
    # Words in order are no more than words in any order, which are counted much faster.
    if (Counter(words) & Counter(others)).total() < _ALIGNED_SHARE * longest:
        return False
    effort.spend(4 * longest)
    least = min(measure_order(words, others), measure_order(others, words))
    return least >= _ALIGNED_SHARE


def find_denial(sentence: AnswerSentence, aligned: Sequence[AlignedSentence]) -> Source | None:
    """Return the place of a sentence that differs from a sentence of an answer by one "not" alone.

    Nothing is returned if any source has the sentence as the answer says it.
    """
    shown = _YES_OR_NO.sub("", remove_markup(sentence.masked))
    negations = count_negations(shown)
    same = [each for each in aligned if _are_same(shown, each.written)]
    is_said = any(count_negations(each.written) == negations for each in same)
    return same[0].place if same and not is_said else None


def find_other_pairing(
    sentence: AnswerSentence, evidence: ClaimEvidence, effort: CheckEffort
) -> Source | None:
    """Return the place of a sentence with the same figures, dates and names in other pairs.

    Nothing is returned if any source has them in the pairs of the answer.
    """
    answer_values = _list_values(sentence)
    stated = Counter(each for each in answer_values if each[0] != "name")
    other: Source | None = None
    if len(stated) < _LEAST_PAIRED:
        return None
    for text, written in _list_with_words(_list_marks(sentence), evidence.current, effort):
        values = _list_values(AnswerSentence(written, written, 0))
        common = Counter(answer_values) & Counter(values)
        if stated - common:
            continue
        if _have_same_pairs(answer_values, values, common):
            return None
        other = other or AlignedSentence(text, written, (), ()).place
    return other


def _list_marks(sentence: AnswerSentence) -> frozenset[str]:
    """Return the words by which a sentence with the same figures is found."""
    figures = " ".join(figure.written for figure in sentence.figures)
    return frozenset(word for word in split_words(figures) if word[0].isdecimal())


def _list_with_words(
    words: Set[str], texts: Iterable[EvidenceText], effort: CheckEffort
) -> Iterator[tuple[EvidenceText, str]]:
    """Yield the sentences of texts that have all of some words, which are few."""
    for text in texts if words else ():
        if not all(word in text.index.folded for word in words):
            continue
        sentences, after = text.index.sentences, 0
        for number in text.index.list_with_all(words):
            effort.spend(number - after)  # as if each sentence before it were compared
            if number > after and effort.is_spent:
                return
            after = number + 1
            effort.spend(1 + _PAIRED_EFFORT)
            yield text, sentences[number][0]
            if effort.is_spent:
                return
        effort.spend(len(sentences) - after)
        if after < len(sentences) and effort.is_spent:
            return


def _list_values(sentence: AnswerSentence) -> list[_Value]:
    """Return the figures, dates and names of a sentence in their order."""
    found: list[tuple[int, _Value]] = [
        (each.start, ("figure", each.values)) for each in sentence.figures if each.values
    ]
    found += [(each.start, ("date", each.span)) for each in sentence.dates]
    found += [
        (sentence.start + match.start(), ("name", match[0]))
        for match in _CAPITAL.finditer(sentence.masked)
    ]
    return [value for _, value in sorted(found, key=lambda each: each[0])]


def _have_same_pairs(
    answer_values: Sequence[_Value], source_values: Sequence[_Value], common: Counter[_Value]
) -> bool:
    """Return whether two sentences have their common values in the same pairs, or in one order."""
    one, other = (
        _join_names([each for each in some if each in common])
        for some in (answer_values, source_values)
    )
    if one[:1] == other[:1] and one[0][0] == "name":  # what both are about
        one, other = one[1:], other[1:]
    return one == other or (_pair(one) == _pair(other) != frozenset())


def _join_names(values: Sequence[_Value]) -> list[_Value]:
    """Return values with the words of each name as one value."""
    joined: list[_Value] = []
    for kind, some in groupby(values, key=lambda each: each[0]):
        these = list(some)
        joined += [(kind, tuple(these))] if kind == "name" else these
    return joined


def _pair(values: Sequence[_Value]) -> frozenset[frozenset[_Value]]:
    """Return values of two kinds that take turns in pairs, or nothing for others."""
    pairs = [frozenset(pair) for pair in zip(values[::2], values[1::2], strict=False)]
    kinds = {
        tuple(value[0] for value in pair) for pair in zip(values[::2], values[1::2], strict=False)
    }
    is_paired = len(values) % 2 == 0 and len(kinds) == 1 and len(set(*kinds)) > 1
    return frozenset(pairs) if is_paired else frozenset()


def _is_converted(figure: Figure, number: Quantity) -> bool:
    """Return whether a number says a figure in another unit."""
    has_units = is_known_unit(figure.unit) and is_known_unit(number.unit)
    return has_units and figure.unit != number.unit and have_same_value(figure, number)


def _are_same(one: str, other: str) -> bool:
    """Return whether two sentences are the same, or differ in hardly more than a "not"."""
    words, others = split_words(blank_dates(one)), split_words(blank_dates(other))
    if has_helping_verb(one) or has_helping_verb(other):
        stems = [list(map(_find_stem, list_plain_words(each))) for each in (one, other)]
        if stems[0] == stems[1]:
            return True
    if abs(len(words) - len(others)) > 1:
        return False
    least = min(measure_order(words, others), measure_order(others, words))
    return least >= min(_SAME_ORDER, (len(words) - 1) / len(words))


def _find_stem(word: str) -> str:
    """Return a word without the endings of verbs, as in "takes" and "carried"."""
    stem = _VERB_ENDING.sub("", word) if len(word) > _LEAST_STEM else word
    return f"{stem[:-1]}y" if stem.endswith("i") else stem


def _holds(text: EvidenceText, figure: Figure) -> bool:
    return any(value in text.index.numbers for value in figure.values)


def _list_statements(
    texts: Iterable[EvidenceText], effort: CheckEffort
) -> Iterator[tuple[EvidenceText, PlacedStatement]]:
    for text in texts:
        if text.path:
            for placed in text.index.statements:
                if effort.is_spent:
                    return
                effort.spend(1)
                yield text, placed


def _find_own(figure: Figure, statement: Statement) -> Quantity | None:
    """Return the only quantity of a statement that is a figure."""
    found = [each for each in statement.quantities if each.values & figure.values]
    return found[0] if len(found) == 1 else None


def _find_other(figure: Figure, claimed: Statement, other: Statement) -> Quantity | None:
    """Return what another statement says in place of a figure, if it differs in nothing else."""
    if [each.unit for each in claimed.quantities] != [each.unit for each in other.quantities]:
        return None
    pairs = zip(claimed.quantities, other.quantities, strict=True)
    differing = [(one, another) for one, another in pairs if one.contradicts(another)]
    if len(differing) != 1 or not differing[0][0].values & figure.values:
        return None
    return differing[0][1] if measure_overlap(claimed, other) >= LEAST_OVERLAP else None


def _list_comparable(
    text: EvidenceText, own: PlacedStatement, compared: Sequence[EvidenceText]
) -> list[EvidenceText]:
    """Return the other notes that may tell the same thing as a statement of a note."""
    words = {word for word in own.statement.words if len(word) > 2}
    return [
        each
        for each in compared
        if each.path != text.path
        and words & each.index.tokens
        and not _have_other_subjects(text, each, own)
    ]


def _have_other_subjects(
    one: EvidenceText, other: EvidenceText, placed_statement: PlacedStatement
) -> bool:
    """Return whether two notes are of two things of a kind, such as two trips or two days."""
    if one.index.days and other.index.days:
        return True
    words = placed_statement.statement.words
    these, those = one.subject - words, other.subject - words
    return bool(these - those) and bool(those - these)
