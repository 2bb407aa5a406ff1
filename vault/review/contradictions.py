"""Find pairs of notes that state different figures or days of the same thing.

Statements are sentences with a figure or a date. Those that share two of their rarest words are
compared, as in answers, by `vault.review.disagreement`. No question says here what they are about,
so that the words which they share have to: "Bake for 30 minutes" in one recipe does not contradict
"Bake for 40 minutes" in another.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from posixpath import dirname
from typing import Final

from vault.notes.tasks import is_task
from vault.review.disagreement import (
    Disagreement,
    PlacedSentence,
    find_disagreement,
    is_series,
    list_unsaid_names,
)
from vault.review.findings import Check, Finding, FindingNote, shorten_quote
from vault.review.statements import Statement, list_sentences, list_words, read_statement
from vault.review.texts import NoteInfo, NoteLine, Vocabulary

__all__ = ["ContradictionRule"]

_CODE_LINE: Final = re.compile(r"\s*(?:[-*+]\s+)?`[^`]+`\s*")
_LEAST_WORDS: Final = 2
_MOST_QUANTITIES: Final = 4
_RARE_WORDS: Final = 5  # the words of a statement that are used to find similar ones
_MOST_ALIKE: Final = 24  # statements with the same rare words; more are a series or a template
_MOST_IN_SERIES: Final = 3  # notes with the same statement; more are a series
_MOST_VALUES: Final = 2  # different numbers in a statement; more are a series too
_LONG_WORDS: Final = 8
_MOST_NOTES_SPECIFIC: Final = 3  # notes with a word that tells one thing from all others
_LEAST_NOTES_PER_SPECIFIC: Final = 25  # in fewer notes, most words occur only once or twice
_LEAST_SPECIFIC: Final = 3


@dataclass(frozen=True, slots=True)
class _Place:
    """A statement, with the note and the line in which it is made."""

    note: NoteInfo
    line: int
    statement: Statement
    sentence: PlacedSentence

    @property
    def frame(self) -> tuple[object, ...]:
        """What identifies the statement but for its figures."""
        return self.statement.words, *(quantity.unit for quantity in self.statement.quantities)


class ContradictionRule:
    """Collects the statements of all notes, then finds those that contradict each other.

    Args:
        linked: pairs of paths of notes with a link between them.
    """

    def __init__(self, linked: Collection[frozenset[str]] = ()) -> None:
        self._places: list[_Place] = []
        self._linked = linked

    def add(self, note: NoteInfo, lines: Sequence[NoteLine]) -> None:
        """Collect the statements in a note.

        Headings, tables, code and front matter are skipped.

        Args:
            lines: the lines of the note that are not code.
        """
        heading = ""
        for line in lines:
            if line.kind == "heading":
                heading = line.text
            elif line.kind == "text" and not _CODE_LINE.fullmatch(line.raw):
                headings = (heading,) if heading and heading != note.title else ()
                for sentence in list_sentences(line.text):
                    placed_sentence = PlacedSentence(note.path, sentence, note.title, headings)
                    statement = _read(placed_sentence, is_task=is_task(line.raw))
                    if statement is not None and len(statement.words) >= _LEAST_WORDS:
                        self._places.append(_Place(note, line.number, statement, placed_sentence))

    def find(self, vocabulary: Vocabulary, check: Check) -> Iterator[Finding]:
        """Yield a finding for each pair of notes with contradicting statements.

        Args:
            vocabulary: the words of all notes.
            check: called between steps. It may raise an exception to stop.
        """
        found: dict[frozenset[str], list[_Contradiction]] = defaultdict(list)
        for one, other in self._find_candidates(vocabulary, check):
            evidence = self._count_evidence(one, other, vocabulary)
            if evidence and (values := find_disagreement(one.sentence, other.sentence)):
                pair = frozenset((one.note.path, other.note.path))
                shared = len(one.statement.words & other.statement.words)
                found[pair].append(_Contradiction(evidence + shared / 100, one, other, values))
        for contradictions in found.values():
            check()
            yield _build_finding(contradictions)

    def _find_candidates(
        self, vocabulary: Vocabulary, check: Check
    ) -> Iterator[tuple[_Place, _Place]]:
        """Yield pairs of statements in different notes that share two of their rarest words."""
        series = self._find_series()
        buckets: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for number, place in enumerate(self._places):
            if number % 200 == 0:
                check()
            if place.frame not in series:
                words = sorted(place.statement.words, key=lambda w: (vocabulary.count_notes(w), w))
                for pair in combinations(sorted(words[:_RARE_WORDS]), 2):
                    buckets[pair].append(number)
        seen: set[tuple[int, int]] = set()
        for number, bucket in enumerate(buckets.values()):
            if number % 200 == 0:
                check()
            if 1 < len(bucket) <= _MOST_ALIKE:
                for pair_numbers in combinations(bucket, 2):
                    one, other = (self._places[at] for at in pair_numbers)
                    if one.note is not other.note and pair_numbers not in seen:
                        seen.add(pair_numbers)
                        yield one, other

    def _find_series(self) -> set[tuple[object, ...]]:
        """Return the frames of statements that are in many notes or have many different figures.

        These statements form a series, as in a log, and do not contradict each other.
        """
        notes: dict[tuple[object, ...], set[str]] = defaultdict(set)
        quantities: dict[tuple[object, ...], set[object]] = defaultdict(set)
        for place in self._places:
            notes[place.frame].add(place.note.path)
            values = tuple(quantity.values for quantity in place.statement.quantities)
            quantities[place.frame].add(values)
        return {
            frame
            for frame, paths in notes.items()
            if len(paths) > _MOST_IN_SERIES or len(quantities[frame]) > _MOST_VALUES
        }

    def _count_evidence(self, one: _Place, other: _Place, vocabulary: Vocabulary) -> int:
        """Count the indications that two statements are about the same thing."""
        if is_series(one.sentence, other.sentence) or _have_other_numbers(
            one.sentence, other.sentence
        ):
            return 0
        shared = one.statement.words & other.statement.words
        rare = {word for word in shared if vocabulary.is_rare(word)}
        specific = _count_specific(shared - _list_units(one, other), vocabulary)
        these, those = list_unsaid_names(one.sentence, other.sentence)
        if these and those:  # both notes are on something else, so that the sentences say it all
            is_in_folder = dirname(one.note.path) == dirname(other.note.path)
            return int(specific >= _LEAST_SPECIFIC and not is_in_folder)
        is_linked = bool(rare) and frozenset((one.note.path, other.note.path)) in self._linked
        is_named = bool(rare) and not shared.isdisjoint(one.sentence.above | other.sentence.above)
        subjects = one.sentence.above, other.sentence.above
        is_on_one = (subjects[0] <= subjects[1] or subjects[1] <= subjects[0]) and any(
            map(vocabulary.is_rare, subjects[0] & subjects[1])
        )
        is_long = len(shared) >= _LONG_WORDS and bool(rare)
        return is_linked + is_named + is_on_one + is_long + (specific >= _LEAST_SPECIFIC)


@dataclass(frozen=True, slots=True)
class _Contradiction:
    score: float
    one: _Place
    other: _Place
    values: Disagreement


def _read(sentence: PlacedSentence, *, is_task: bool) -> Statement | None:
    """Read a sentence as a statement of figures or else of a date, or return None.

    Args:
        is_task: whether it is a task, whose date says when it is due.
    """
    statement = read_statement(sentence.text)
    if 0 < len(statement.quantities) <= _MOST_QUANTITIES:
        return statement
    if is_task or statement.quantities or len(sentence.days) != 1:
        return None
    return replace(statement, words=sentence.dated.words)


def _count_specific(words: Collection[str], vocabulary: Vocabulary) -> int:
    """Count the words that so few notes have that they tell one thing from all others."""
    most = min(_MOST_NOTES_SPECIFIC, vocabulary.notes // _LEAST_NOTES_PER_SPECIFIC)
    return sum(vocabulary.count_notes(word) <= most for word in words)


def _list_units(one: _Place, other: _Place) -> set[str]:
    quantities = (*one.statement.quantities, *other.statement.quantities)
    return {quantity.unit for quantity in quantities}


def _have_other_numbers(one: PlacedSentence, other: PlacedSentence) -> bool:
    """Return whether titles have different numbers, as those of two models of a device do."""
    these, those = (
        {word for word in list_words(sentence.title) if any(char.isdigit() for char in word)}
        for sentence in (one, other)
    )
    return bool(these - those) and bool(those - these)


def _build_finding(found: Sequence[_Contradiction]) -> Finding:
    """Build the finding about two notes from all contradictions between them."""
    ordered = sorted(found, key=lambda each: (-each.score, each.one.line, each.other.line))
    best = ordered[0]
    sides = [(best.one, best.values.first), (best.other, best.values.second)]
    (first, first_value), (second, second_value) = sorted(sides, key=lambda side: side[0].note.path)
    more = len({(each.other.note.path, each.other.line) for each in ordered}) - 1
    others = "" if not more else " 1 more differs." if more == 1 else f" {more} more differ."
    reason = f"One note says {first_value}, the other {second_value}.{others}"
    texts = sorted(place.statement.text for place in (best.one, best.other))
    return Finding(
        "contradiction",
        (_show(first, first_value), _show(second, second_value)),
        reason,
        "\0".join(texts),
        best.score + more,
    )


def _show(place: _Place, value: str) -> FindingNote:
    note, line = place.note, place.line
    quote = shorten_quote(place.statement.text)
    return FindingNote(note.path, note.title, line, line, quote, value)
