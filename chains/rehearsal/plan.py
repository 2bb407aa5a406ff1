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
from context.requests.parts import RequestPart

__all__ = ["MOST_CALLS", "UNCHANGED_CALLS", "Effect", "RehearsalPlan", "count_most_calls"]

MOST_CALLS: Final = 12
UNCHANGED_CALLS: Final = 2


@dataclass(frozen=True)
class Effect:
    """What came of leaving something out, as the indexes of stable sentences.

    Attributes:
        fallen: those that the answer has not any more, within the noise too.
        reworded: those that it words differently.
    """

    fallen: frozenset[int]
    reworded: frozenset[int]


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
        """The number of answers so far that the plan asks for."""
        return len(self.unchanged) + len(self.tested)

    def count_left(self) -> int:
        """Return how many more calls there may be at most."""
        asked = len(self.unchanged)
        if asked < UNCHANGED_CALLS:
            return count_most_calls(self.parts) - asked
        wanted = self._wanted
        missing = next((at for at, keys in enumerate(wanted) if keys not in self.changed), None)
        if missing is None:
            return 0
        # What is known of later steps may still be pushed out by steps that come before them.
        return min(MOST_CALLS - asked - missing, _count_steps(self.parts) - self.calls)

    def choose_next(self) -> frozenset[str] | None:
        """Return the keys of what to leave out next, or None at the end.

        They are none for the unchanged request.
        """
        if len(self.unchanged) < UNCHANGED_CALLS:
            return frozenset()
        return next((keys for keys in self._wanted if keys not in self.changed), None)

    @cached_property
    def _wanted(self) -> list[frozenset[str]]:
        """What is left out, as far as the answers so far decide."""
        return list(islice(self._walk(), MOST_CALLS - UNCHANGED_CALLS))

    @cached_property
    def tested(self) -> dict[frozenset[str], str]:
        """The answers that the plan asked for. Others may have been asked for by hand."""
        if len(self.unchanged) < UNCHANGED_CALLS:
            return {}
        return {keys: self.changed[keys] for keys in self._wanted if keys in self.changed}

    @cached_property
    def sentences(self) -> list[SpokenSentence]:
        """The sentences of the first unchanged answer."""
        return list_spoken(self.unchanged[0])

    @cached_property
    def stable(self) -> frozenset[int]:
        """The indexes of the sentences that both unchanged answers have, word for word."""
        return frozenset(match_spoken(self.sentences, list_spoken(self.unchanged[1])).same)

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
        fallen = self._matched[keys].fallen if keys in self._matched else frozenset()
        return fallen if len(fallen) > self.noise else frozenset()

    @cached_property
    def _matched(self) -> dict[frozenset[str], Effect]:
        found = {}
        for keys, answer in self.changed.items():
            match = match_spoken(self.sentences, list_spoken(answer))
            reworded = self.stable & match.reworded.keys()
            found[keys] = Effect(self.stable - match.same.keys() - reworded, reworded)
        return found

    @cached_property
    def effects(self) -> dict[frozenset[str], Effect]:
        """What came of all that the plan left out."""
        return {keys: self._matched[keys] for keys in self.tested}

    @cached_property
    def counted(self) -> dict[frozenset[str], frozenset[int]]:
        """What was left out so that more fell than varies by itself, and what fell."""
        return {keys: fallen for keys in self.tested if (fallen := self.find_fallen(keys))}

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
    return min(MOST_CALLS, _count_steps(parts))


def _count_steps(parts: Sequence[RequestPart]) -> int:
    """Return how many calls it would take at most if there were no limit."""
    notes = list_notes(parts)
    passages = sum(len(note.parts) for note in notes if len(note.parts) > 1)
    together = max(0, len(notes) - 1)
    return UNCHANGED_CALLS + len(notes) + together + passages


def _join_keys(notes: Sequence[RehearsedNote]) -> frozenset[str]:
    return frozenset().union(*(note.keys for note in notes))
