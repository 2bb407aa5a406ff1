"""Choose what to leave out next, to find out which sources carry which sentences of an answer.

First, the unchanged request is asked twice: sentences that differ are noise, and whatever is left
out counts only if more sentences fall than that. Then groups of notes that may carry the same
sentence are left out together, and all others together; then the notes of those that mattered, one
by one, and at last the passages of the notes that mattered.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final

from chains.rehearsal.sentences import SpokenSentence, list_spoken, match_spoken
from chains.rehearsal.sources import RehearsedNote, find_carriers, group_notes, list_notes
from context.kept.parts import RequestPart

__all__ = ["MOST_CALLS", "UNCHANGED_CALLS", "RehearsalPlan", "count_most_calls"]

MOST_CALLS: Final = 12
UNCHANGED_CALLS: Final = 2


@dataclass(frozen=True)
class RehearsalPlan:
    """The plan of an automatic rehearsal, given the answers so far.

    Attributes:
        parts: the parts of the request.
        question: what the answer answers.
        unchanged: the answers to the unchanged request, at most two.
        changed: the other answers, by the keys of what was left out.
    """

    parts: Sequence[RequestPart]
    question: str
    unchanged: Sequence[str]
    changed: Mapping[frozenset[str], str]

    @property
    def calls(self) -> int:
        """The number of answers so far."""
        return len(self.unchanged) + len(self.changed)

    def choose_next(self) -> frozenset[str] | None:
        """Return the keys of what to leave out next, or None at the end.

        They are none for the unchanged request.
        """
        if len(self.unchanged) < UNCHANGED_CALLS:
            return frozenset()
        wanted = islice(self._walk(), MOST_CALLS - UNCHANGED_CALLS)
        return next((keys for keys in wanted if keys not in self.changed), None)

    @cached_property
    def sentences(self) -> list[SpokenSentence]:
        """The sentences of the first unchanged answer."""
        return list_spoken(self.unchanged[0])

    @cached_property
    def stable(self) -> frozenset[int]:
        """The indexes of the sentences that both unchanged answers have."""
        return frozenset(match_spoken(self.sentences, list_spoken(self.unchanged[1])))

    @cached_property
    def noise(self) -> int:
        """How many sentences differ between the unchanged answers."""
        most = max(len(self.sentences), len(list_spoken(self.unchanged[1])))
        return most - len(self.stable)

    @cached_property
    def notes(self) -> list[RehearsedNote]:
        """The notes that the sources come from."""
        return list_notes(self.parts)

    @cached_property
    def groups(self) -> list[list[RehearsedNote]]:
        """The groups of notes that may carry the same sentence."""
        stable = [self.sentences[at] for at in sorted(self.stable)]
        carried = find_carriers(self.notes, stable, self.question)
        return [[self.notes[at] for at in group] for group in group_notes(carried)]

    @cached_property
    def others(self) -> list[RehearsedNote]:
        """The notes of no group."""
        grouped = {note.name for group in self.groups for note in group}
        return [note for note in self.notes if note.name not in grouped]

    def find_fallen(self, keys: frozenset[str]) -> frozenset[int]:
        """Return the indexes of the stable sentences that fall without some parts.

        They are none if no more fall than between the unchanged answers.
        """
        return self.counted.get(keys, frozenset())

    @cached_property
    def counted(self) -> dict[frozenset[str], frozenset[int]]:
        """What was left out with an effect, and the indexes of the sentences that fell."""
        found = {}
        for keys, answer in self.changed.items():
            fallen = self.stable - match_spoken(self.sentences, list_spoken(answer)).keys()
            if len(fallen) > self.noise:
                found[keys] = fallen
        return found

    def _walk(self) -> Iterator[frozenset[str]]:
        """Yield what is left out, as the answers to what came before it decide."""
        if not self.stable:
            return
        yield from map(_join_keys, self.groups)
        if self.others:
            yield _join_keys(self.others)
        for group in self.groups:
            if len(group) > 1 and self.find_fallen(_join_keys(group)):
                yield from (note.keys for note in group)
        yield from self._halve(self.others)
        for note in self.notes:
            if len(note.parts) > 1 and self.find_fallen(note.keys):
                yield from (frozenset([part.key]) for part in note.parts)

    def _halve(self, notes: Sequence[RehearsedNote]) -> Iterator[frozenset[str]]:
        """Yield ever smaller halves of notes, as long as something falls without them."""
        if len(notes) < 2 or not self.find_fallen(_join_keys(notes)):
            return
        middle = len(notes) // 2
        for half in (notes[:middle], notes[middle:]):
            yield _join_keys(half)
        for half in (notes[:middle], notes[middle:]):
            yield from self._halve(half)


def count_most_calls(parts: Sequence[RequestPart]) -> int:
    """Return how many calls a rehearsal of all sources may take at most, from its beginning."""
    notes = list_notes(parts)
    passages = sum(len(note.parts) for note in notes if len(note.parts) > 1)
    together = max(0, len(notes) - 1)
    return min(MOST_CALLS, UNCHANGED_CALLS + len(notes) + together + passages)


def _join_keys(notes: Sequence[RehearsedNote]) -> frozenset[str]:
    return frozenset().union(*(note.keys for note in notes))
