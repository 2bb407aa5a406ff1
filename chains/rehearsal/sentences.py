"""Match the sentences of two answers, and say which of them differ."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from chains.citations.parser import NumberGroup, parse_answer
from chains.citations.sources import count_negations, measure_order
from chains.claims.facts import list_sentences
from context.fit.summary_check import find_names
from context.json_codec import Record
from vault.notes.keywords import FUNCTION_WORDS, split_words
from vault.notes.text.markup import remove_markup

__all__ = ["AnswerDifference", "SpokenSentence", "compare_answers", "list_spoken", "match_spoken"]

# Two sentences say the same if they share this much of their telling words, in this order.
SHARED_WORDS: Final = 0.75
SHARED_ORDER: Final = 0.6
_HAS_WORD: Final = re.compile(r"\w")


@dataclass(frozen=True)
class SpokenSentence:
    """A sentence of an answer.

    Attributes:
        start: its first character in the answer.
        plain: the sentence without citation numbers.
        cited: the citation numbers in it.
    """

    text: str
    start: int
    plain: str
    cited: tuple[int, ...] = ()

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the sentence in order."""
        return tuple(split_words(remove_markup(self.plain)))

    @cached_property
    def _telling(self) -> Counter[str]:
        return Counter(word for word in self.words if word not in FUNCTION_WORDS)

    @cached_property
    def _facts(self) -> tuple[list[str], list[str], int]:
        numbers = sorted(word for word in self.words if any(map(str.isdigit, word)))
        return numbers, sorted(set(find_names(self.plain))), count_negations(self.plain)

    def says_same(self, other: "SpokenSentence") -> bool:
        """Return whether another sentence has the same numbers, names and nearly all words."""
        if self.words == other.words:
            return True
        if self._facts != other._facts:
            return False
        shared = (self._telling & other._telling).total()
        every = (self._telling | other._telling).total()
        if not every or shared < SHARED_WORDS * every:
            return False
        return measure_order(self.words, other.words) >= SHARED_ORDER


@dataclass(frozen=True)
class AnswerDifference(Record):
    """What differs between two answers.

    Attributes:
        gone: the sentences of the first answer that the second one has not.
        new: the sentences of the second answer that the first one has not.
        same: the number of sentences that both have.
    """

    gone: tuple[str, ...]
    new: tuple[str, ...]
    same: int


def list_spoken(answer: str) -> list[SpokenSentence]:
    """Return the sentences of an answer, and its other lines that say something, such as code."""
    groups = parse_answer(answer).numbers
    spans = [(one.start, one.start + len(one.text)) for one in list_sentences(answer)]
    at = 0
    for line in answer.splitlines(keepends=True):
        start, end = at, at + len(line)
        at = end
        says = _HAS_WORD.search(line) and not line.lstrip().startswith("#")
        if says and not any(first < end and last > start for first, last in spans):
            spans.append((start + len(line) - len(line.lstrip()), start + len(line.rstrip())))
    return [_read_span(answer, start, end, groups) for start, end in sorted(spans)]


def _read_span(answer: str, start: int, end: int, groups: Sequence[NumberGroup]) -> SpokenSentence:
    within = [group for group in groups if start <= group.start < end]
    plain, at = "", start
    for group in within:
        plain, at = f"{plain}{answer[at : group.start]} ", group.end
    plain += answer[at:end]
    cited = dict.fromkeys(number for group in within for number in group.numbers)
    return SpokenSentence(answer[start:end], start, plain, tuple(cited))


def match_spoken(
    before: Sequence[SpokenSentence], after: Sequence[SpokenSentence]
) -> dict[int, int]:
    """Return which sentence of an answer says the same as which of another, by their indexes."""
    left = dict(enumerate(after))
    found: dict[int, int] = {}
    equal = [(at, one, True) for at, one in enumerate(before)]
    for at, one, is_equal in (*equal, *((at, one, False) for at, one, _ in equal)):
        if at in found:
            continue
        same = (
            key
            for key, other in left.items()
            if (one.words == other.words if is_equal else one.says_same(other))
        )
        if (partner := next(same, None)) is not None:
            found[at] = partner
            del left[partner]
    return found


def compare_answers(before: str, after: str) -> AnswerDifference:
    """Compare two answers, sentence by sentence."""
    first, second = list_spoken(before), list_spoken(after)
    matched = match_spoken(first, second)
    kept = set(matched.values())
    return AnswerDifference(
        tuple(one.text for at, one in enumerate(first) if at not in matched),
        tuple(one.text for at, one in enumerate(second) if at not in kept),
        len(matched),
    )
