"""Compare the words of two sentences in their order, as `difflib.SequenceMatcher` does.

`SequenceMatcher` visits each pair of equal words, which are as many as the product of both lengths
where a model repeats itself. For such sentences, the longest common run is found with a suffix
automaton of one of them, in as many steps as both have words. The result is the same.
"""

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

__all__ = ["measure_order"]

# Up to so many pairs of equal words for each word, `SequenceMatcher` is faster.
_MOST_PAIRS: Final = 8


def measure_order(words: Sequence[str], others: Sequence[str]) -> float:
    """Return the fraction of words that other words have in the same order."""
    counts = Counter(others)
    pairs = sum(counts[word] for word in words)
    if pairs > _MOST_PAIRS * (len(words) + len(others)):
        return _count_repeating(words, others) / len(words)
    blocks = SequenceMatcher(None, words, others, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / len(words)


def _count_repeating(words: Sequence[str], others: Sequence[str]) -> int:
    """Return the size of all matching blocks of two sentences that repeat words."""
    size = 0
    left = [(words, others)]
    while left:
        ours, theirs = left.pop()
        run = _find_longest_run(ours, _build_automaton(theirs))
        size += run.size
        if run.size:
            left.append((ours[: run.start], theirs[: run.other]))
            left.append((ours[run.start + run.size :], theirs[run.other + run.size :]))
    return size


class _Run(NamedTuple):
    """Words that two sentences have in common: where they begin in each, and how many they are."""

    start: int
    other: int
    size: int


class _State:
    """A state of a suffix automaton: all runs of words that end at the same places.

    Attributes:
        length: the number of words of the longest run.
        end: the index behind the first place of the runs.
        suffix: the state of the longest suffix that ends at more places; None for the empty run.
        after: the states that follow, by the next word.
    """

    __slots__ = ("after", "end", "length", "suffix")

    def __init__(self, length: int, end: int) -> None:
        self.length = length
        self.end = end
        self.suffix: _State | None = None
        self.after: dict[str, _State] = {}


def _build_automaton(words: Sequence[str]) -> _State:
    """Build the suffix automaton of a sentence, and return its first state, the empty run."""
    root = last = _State(0, 0)
    for end, word in enumerate(words, 1):
        added = _State(end, end)
        state: _State | None = last
        while state is not None and word not in state.after:
            state.after[word] = added
            state = state.suffix
        added.suffix = root if state is None else _split_state(state, word)
        last = added
    return root


def _split_state(state: _State, word: str) -> _State:
    """Return the state of a run that is one word longer, apart from those of longer runs."""
    known = state.after[word]
    if known.length == state.length + 1:
        return known
    copy = _State(state.length + 1, known.end)
    copy.suffix, copy.after = known.suffix, dict(known.after)
    known.suffix = copy
    before: _State | None = state
    while before is not None and before.after.get(word) is known:
        before.after[word] = copy
        before = before.suffix
    return copy


def _find_longest_run(words: Sequence[str], root: _State) -> _Run:
    """Return the longest run of words that a sentence has in common with that of an automaton.

    Of runs with the same length, it is the first one of the words, at its first place in the
    automaton's sentence.
    """
    longest = _Run(0, 0, 0)
    state, size = root, 0
    for end, word in enumerate(words, 1):
        while word not in state.after and state.suffix is not None:
            state = state.suffix
            size = state.length
        if word in state.after:
            state = state.after[word]
            size += 1
        if size > longest.size:
            longest = _Run(end - size, state.end - size, size)
    return longest
