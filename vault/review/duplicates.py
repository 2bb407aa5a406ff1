"""Find pairs of notes that have most of their text in common, and notes that have one title.

The texts are compared by sequences of five words. Sequences that occur in many notes are ignored,
because they come from text such as a licence or a template. Only notes that share other sequences
are compared. Two notes that were written from one form, as on two devices, are not the same: each
has the words of its own title in its text, or another number in its name.
"""

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final

from vault.notes.copies import read_copy_name
from vault.notes.kinds import MARKDOWN, find_kind, note_name
from vault.review.findings import Check, Finding, FindingKind, FindingNote
from vault.review.texts import NoteInfo, NoteLine

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.uint64]

__all__ = ["DuplicateRule", "SameTitleRule"]

_LENGTH: Final = 5  # words in a sequence
_MOST_NOTES: Final = 6  # a sequence in more notes is part of a template
_LEAST_SHARED, _LEAST_SHARE = 40, 0.85
_LEAST_SHARE_OF_ONE_TITLE: Final = 0.6
_LEAST_SHARED_WHOLE, _LEAST_SHARE_WHOLE = 12, 0.85
_LEAST_SHARE_DATED: Final = 0.95
_LEAST_SHARE_OF_FORMS: Final = 0.98
_NUMBER: Final = re.compile(r"\d+")
_SEED: Final = 20_040
_COPY_SCORE: Final = 3.0  # before all that only have alike texts
_SAME: Final = "Both notes have the same content."
_CONFLICT: Final = (
    "The first note is a copy that a synchronisation program made, because both were changed. "
    "Move what is new in it to the second, and delete it."
)
# Names that each folder may have once.
_OF_FOLDERS: Final = frozenset(
    {"readme", "index", "_index", "license", "changelog", "contributing"}
)
_MOST_SHOWN: Final = 6


class DuplicateRule:
    """Collects the sequences of words of all notes, then finds notes that share most of them."""

    def __init__(self) -> None:
        import numpy as np

        drawn = np.random.default_rng(_SEED).integers(1, 2**63, _LENGTH, dtype=np.uint64)
        self._factors: Numbers = drawn * np.uint64(2) + np.uint64(1)
        self._notes: list[NoteInfo] = []
        self._hashes: list[Numbers] = []
        self._words: list[frozenset[int]] = []
        self._titles: list[frozenset[int]] = []

    def add(
        self,
        note: NoteInfo,
        words: Sequence[int],
        title: Sequence[int],
        addresses: Sequence[int] = (),
    ) -> None:
        """Add a note to the comparison.

        Args:
            words: the words of the note, in order. Each word is represented by a number.
            title: the words of its title.
            addresses: the words of the web addresses in it.
        """
        import numpy as np

        self._notes.append(note)
        has_heading = list(words[: len(title)]) == list(title)
        body = words[len(title) :] if has_heading else words
        self._words.append(frozenset((*body, *addresses)))
        self._titles.append(frozenset(title))
        self._hashes.append(np.unique(self._hash_sequences(np.array(words, np.uint64))))

    def find(self, check: Check) -> Iterator[Finding]:
        """Yield a finding for each pair of notes that have most of their text in common.

        Args:
            check: called between steps. It may raise an exception to stop.
        """
        import numpy as np

        if not self._hashes:
            return
        check()
        hashes = np.concatenate(self._hashes)
        owners = np.repeat(np.arange(len(self._hashes)), [len(own) for own in self._hashes])
        order = np.argsort(hashes, kind="stable")
        check()
        starts = np.flatnonzero(np.r_[True, np.diff(hashes[order]) != 0]) if len(order) else order
        sizes = np.diff(np.r_[starts, len(order)])
        owners = owners[order]
        is_kept = np.repeat(sizes <= _MOST_NOTES, sizes)
        distinct = np.bincount(owners[is_kept], minlength=len(self._hashes))
        yield from self._find_many_copies()
        yield from self._find_named_copies()
        for first, second, shared in self._count_pairs(owners, starts, sizes):
            check()
            finding = self._compare(first, second, shared, distinct)
            if finding is not None:
                yield finding

    def _find_many_copies(self) -> Iterator[Finding]:
        """Yield findings for notes with more than six identical copies.

        Their text is not compared with other notes, because it counts as a template.
        """
        copies: dict[str, list[int]] = defaultdict(list)
        for number, note in enumerate(self._notes):
            if len(self._hashes[number]) >= _LEAST_SHARED_WHOLE:
                copies[note.version].append(number)
        for numbers in copies.values():
            if len(numbers) > _MOST_NOTES:
                first = self._notes[numbers[0]]
                for number in numbers[1:]:
                    yield _build_finding(first, self._notes[number], 1.0, 1.0)

    def _find_named_copies(self) -> Iterator[Finding]:
        """Yield a finding for each note that is, by its name, a copy that a program has made."""
        notes = {note.path: note for note in self._notes}
        for note in self._notes:
            name = read_copy_name(note.path)
            original = None if name is None else notes.get(name.original)
            if name is None or original is None:
                continue
            is_same = note.version == original.version
            if name.is_sure or is_same:
                reason = _SAME if is_same else _CONFLICT
                pair = (
                    FindingNote(note.path, note.title),
                    FindingNote(original.path, original.title),
                )
                kind: FindingKind = "conflict_copy" if name.is_sure else "duplicate"
                yield Finding(kind, pair, reason, "", _COPY_SCORE)

    def _hash_sequences(self, numbers: "Numbers") -> "Numbers":
        import numpy as np

        if len(numbers) < _LENGTH:
            return np.empty(0, np.uint64)
        count = len(numbers) - _LENGTH + 1
        hashes = np.zeros(count, np.uint64)
        for at, factor in enumerate(self._factors):
            hashes += (numbers[at : at + count] + np.uint64(1)) * factor
        return hashes

    def _count_pairs(
        self, owners: "NDArray[np.intp]", starts: "NDArray[np.intp]", sizes: "NDArray[np.intp]"
    ) -> Iterator[tuple[int, int, int]]:
        """Yield pairs of notes that share many sequences of words, with the number of sequences.

        Args:
            owners: the index of a note for each of its sequences, sorted by sequence.
            starts: the first position of each distinct sequence in `owners`.
            sizes: the number of notes that contain each distinct sequence.
        """
        import numpy as np

        total, codes = len(self._notes), []
        for size in range(2, _MOST_NOTES + 1):
            firsts = starts[sizes == size]
            for one, other in combinations(range(size), 2):
                codes.append(owners[firsts + one] * total + owners[firsts + other])
        pairs, counts = np.unique(np.concatenate(codes), return_counts=True)
        is_large = counts >= _LEAST_SHARED_WHOLE
        for code, shared in zip(pairs[is_large].tolist(), counts[is_large].tolist(), strict=True):
            yield code // total, code % total, shared

    def _compare(
        self, first: int, second: int, shared: int, distinct: "NDArray[np.intp]"
    ) -> Finding | None:
        """Return a finding if the larger note contains most of the smaller one, otherwise None.

        Args:
            first: the index of one note.
            second: the index of the other note.
            shared: the number of sequences of words that both contain.
            distinct: the number of distinct sequences in each note.
        """
        smaller, larger = sorted((first, second), key=lambda at: (int(distinct[at]), at))
        share = shared / int(distinct[smaller])
        share_of_larger = shared / int(distinct[larger])
        notes = self._notes[smaller], self._notes[larger]
        if all(note.is_dated for note in notes):
            is_alike = share_of_larger >= _LEAST_SHARE_DATED and shared >= _LEAST_SHARED
        elif self._are_forms(smaller, larger):
            is_alike = share_of_larger >= _LEAST_SHARE_OF_FORMS
        else:
            has_one_title = self._titles[smaller] == self._titles[larger]
            least = _LEAST_SHARE_OF_ONE_TITLE if has_one_title else _LEAST_SHARE
            is_alike = (share >= least and shared >= _LEAST_SHARED) or (
                share_of_larger >= _LEAST_SHARE_WHOLE
            )
        return _build_finding(*notes, share, share_of_larger) if is_alike else None

    def _are_forms(self, first: int, second: int) -> bool:
        """Return whether two notes are on different things, and only have a form in common."""
        numbers = [set(_NUMBER.findall(self._notes[at].path)) for at in (first, second)]
        if numbers[0] - numbers[1] and numbers[1] - numbers[0]:
            return True
        own = (
            (self._titles[one] & self._words[one]) - self._words[other] - self._titles[other]
            for one, other in ((first, second), (second, first))
        )
        return all(own)


class SameTitleRule:
    """Collects the titles of notes, then finds those that several notes have."""

    def __init__(self) -> None:
        self._notes: dict[str, list[NoteInfo]] = defaultdict(list)

    def add(self, note: NoteInfo, _lines: Sequence[NoteLine]) -> None:
        """Add a note. Daily notes, and names that each folder may have once, are left out."""
        name = note_name(note.path).lower()
        if find_kind(note.path) is MARKDOWN and not note.is_dated and name not in _OF_FOLDERS:
            title = " ".join((note.title or name).casefold().split())
            self._notes[title].append(note)

    def find(self, check: Check) -> Iterator[Finding]:
        """Yield a finding for each title of several notes.

        Args:
            check: called between steps. It may raise an exception to stop.
        """
        for notes in self._notes.values():
            check()
            if len(notes) > 1:
                number = "Two" if len(notes) == 2 else f"{len(notes):,}"
                reason = f"{number} notes have the title “{notes[0].title}”."
                if len({posixpath.basename(note.path).casefold() for note in notes}) == 1:
                    reason += f" A link to “{note_name(notes[0].path)}” can lead to only one."
                places = tuple(FindingNote(note.path, note.title) for note in notes[:_MOST_SHOWN])
                yield Finding("same_title", places, reason, "", 1 / len(notes))


def _build_finding(
    smaller: NoteInfo, larger: NoteInfo, share: float, share_of_larger: float
) -> Finding:
    reason = _describe(smaller, larger, share, share_of_larger)
    shown = FindingNote(smaller.path, smaller.title), FindingNote(larger.path, larger.title)
    return Finding("duplicate", shown, reason, "", share + share_of_larger)


def _describe(smaller: NoteInfo, larger: NoteInfo, share: float, share_of_larger: float) -> str:
    if smaller.version == larger.version:
        return _SAME
    percent = min(99, round(100 * share))
    if share_of_larger >= _LEAST_SHARE_WHOLE:
        return f"{percent} % of the text of the shorter note also stands in the other."
    return f"{percent} % of the text of the first note also stands in the second, which has more."
