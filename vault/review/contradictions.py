"""Find pairs of notes that state different numbers for the same thing.

A statement is a sentence that contains a number. Two statements are compared if they have the same
words, except that one may have a few additional words. They must also be about the same thing:
"Bake for 30 minutes" in one recipe does not contradict "Bake for 40 minutes" in another.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from vault.review.findings import Check, Finding, FindingNote, shorten_quote
from vault.review.statements import (
    LEAST_OVERLAP,
    Quantity,
    Statement,
    find_statements,
    measure_overlap,
)
from vault.review.texts import NoteInfo, NoteLine, Vocabulary, list_singulars

__all__ = ["ContradictionRule"]

_CODE_LINE: Final = re.compile(r"\s*(?:[-*+]\s+)?`[^`]+`\s*")
_LEAST_WORDS: Final = 3
_RARE_WORDS: Final = 3  # the words of a statement that are used to find similar ones
_MOST_ALIKE: Final = 24  # statements with the same rare words; more are a series or a template
_MOST_IN_SERIES: Final = 3  # notes with the same statement; more are a series
_MOST_VALUES: Final = 2  # different numbers in a statement; more are a series too
_LONG_WORDS: Final = 8
_LEAST_NAMES: Final = 2


@dataclass(frozen=True, slots=True)
class _Place:
    """A statement with the note and the line that contain it."""

    note: NoteInfo
    line: int
    statement: Statement


class ContradictionRule:
    """Collects the statements of all notes, then finds those that contradict each other.

    Attributes:
        linked: pairs of paths of notes with a link between them. Set this attribute before calling
            `find`.
    """

    def __init__(self) -> None:
        self._places: list[_Place] = []
        self._subjects: dict[str, frozenset[str]] = {}
        self.linked: Collection[frozenset[str]] = ()

    def add(self, note: NoteInfo, lines: Sequence[NoteLine]) -> None:
        """Collect the statements in a note.

        Headings, tables, code and front matter are skipped.

        Args:
            lines: the lines of the note that are not code.
        """
        self._subjects[note.path] = frozenset(list_singulars(note.title))
        for line in lines:
            if line.kind == "text" and not _CODE_LINE.fullmatch(line.raw):
                for statement in find_statements(line.text):
                    if len(statement.words) >= _LEAST_WORDS:
                        self._places.append(_Place(note, line.number, statement))

    def find(self, vocabulary: Vocabulary, check: Check) -> Iterator[Finding]:
        """Yield a finding for each pair of notes with contradicting statements.

        Args:
            vocabulary: the words of all notes.
            check: called between steps. It may raise an exception to stop.
        """
        found: dict[frozenset[str], list[tuple[float, _Place, _Place]]] = defaultdict(list)
        for one, other in self._find_candidates(vocabulary, check):
            score = self._score(one, other, vocabulary)
            if score:
                pair = frozenset((one.note.path, other.note.path))
                found[pair].append((score, one, other))
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
            if _name_frame(place.statement) not in series:
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
        """Return the statements that occur in many notes or with many different numbers.

        These statements form a series, as in a log, and do not contradict each other. Each is
        identified by its words and units.
        """
        notes: dict[tuple[object, ...], set[str]] = defaultdict(set)
        quantities: dict[tuple[object, ...], set[object]] = defaultdict(set)
        for place in self._places:
            frame = _name_frame(place.statement)
            notes[frame].add(place.note.path)
            quantities[frame].add(tuple(quantity.values for quantity in place.statement.quantities))
        return {
            frame
            for frame, paths in notes.items()
            if len(paths) > _MOST_IN_SERIES or len(quantities[frame]) > _MOST_VALUES
        }

    def _score(self, one: _Place, other: _Place, vocabulary: Vocabulary) -> float:
        """Return how clearly two statements contradict each other, or 0 if they do not."""
        if one.note.is_dated and other.note.is_dated:
            return 0.0
        overlap = measure_overlap(one.statement, other.statement)
        if overlap < LEAST_OVERLAP or not _differ_in_one(
            one.statement.quantities, other.statement.quantities
        ):
            return 0.0
        evidence = self._count_evidence(one, other, vocabulary)
        shared = len(one.statement.words & other.statement.words)
        return overlap * (evidence + shared / 100) if evidence else 0.0

    def _count_evidence(self, one: _Place, other: _Place, vocabulary: Vocabulary) -> int:
        """Count the indications that two statements are about the same thing."""
        shared = one.statement.words & other.statement.words
        rare = {word for word in shared if vocabulary.is_rare(word)}
        titles = self._subjects[one.note.path], self._subjects[other.note.path]
        if _has_number(titles[0] - titles[1]) and _has_number(titles[1] - titles[0]):
            return 0  # members of a series, such as two models of a device
        is_linked = frozenset((one.note.path, other.note.path)) in self.linked
        is_named = bool(rare & (titles[0] | titles[1]))
        has_same_subject = (titles[0] <= titles[1] or titles[1] <= titles[0]) and any(
            vocabulary.is_rare(word) for word in titles[0] & titles[1]
        )
        is_long = len(shared) >= _LONG_WORDS and bool(rare)
        names = {name for name in one.statement.names & other.statement.names if name.isalpha()}
        is_about_names = len(names) >= _LEAST_NAMES and one.statement.words == other.statement.words
        return is_linked + is_named + has_same_subject + is_long + is_about_names


def _has_number(words: Collection[str]) -> bool:
    return any(char.isdigit() for word in words for char in word)


def _name_frame(statement: Statement) -> tuple[object, ...]:
    return statement.words, *(quantity.unit for quantity in statement.quantities)


def _differ_in_one(one: Sequence[Quantity], other: Sequence[Quantity]) -> bool:
    """Return whether two statements have the same units, and differ in exactly one number."""
    if [quantity.unit for quantity in one] != [quantity.unit for quantity in other]:
        return False
    differing = [a.contradicts(b) for a, b in zip(one, other, strict=True)]
    return sum(differing) == 1


def _build_finding(found: Iterable[tuple[float, _Place, _Place]]) -> Finding:
    """Build the finding about two notes from all contradictions between them."""
    ordered = sorted(found, key=lambda one: (-one[0], one[1].line, one[2].line))
    score, one, other = ordered[0]
    first, second = sorted((one, other), key=lambda place: place.note.path)
    more = len({(place.note.path, place.line) for _, place, _ in ordered}) - 1
    others = "" if not more else " 1 more differs." if more == 1 else f" {more} more differ."
    quantities = zip(first.statement.quantities, second.statement.quantities, strict=True)
    said, contradicting = next((a, b) for a, b in quantities if a.contradicts(b))
    reason = f"One note says {said.written}, the other {contradicting.written}.{others}"
    texts = sorted(place.statement.text for place in (one, other))
    return Finding(
        "contradiction", (_show(first), _show(second)), reason, "\0".join(texts), score + more
    )


def _show(place: _Place) -> FindingNote:
    note, line = place.note, place.line
    return FindingNote(note.path, note.title, line, line, shorten_quote(place.statement.text))
