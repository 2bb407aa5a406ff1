"""Match the sentences of two answers, and say which of them differ."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from chains.citations.matching import measure_order
from chains.citations.parser import NumberGroup, parse_answer
from chains.citations.sources import count_negations
from chains.claims.facts import list_sentences
from context.fit.summary_check import find_names
from context.json_codec import Record
from vault.notes.keywords import FUNCTION_WORDS, split_words
from vault.notes.text.markup import remove_markup

__all__ = [
    "AnswerDifference",
    "RewordedSentence",
    "SentenceMatch",
    "SpokenSentence",
    "compare_answers",
    "list_spoken",
    "match_spoken",
]

# Two sentences belong together if they share this much of their telling words, in this order.
SHARED_WORDS: Final = 0.75
SHARED_ORDER: Final = 0.6
# Rules, fences and the lines of tables only consist of these.
_SAYS: Final = re.compile(r"[^\s\-*_=`~|:#>$]")
_LIST_MARK: Final = re.compile(r"\s*(?:>\s*)*(?:[-*+]\s+|\d+[.)]\s+)?")
_EMPHASIS: Final = re.compile(r"(?<![\w*])([*_]{1,3})(?=[^\s*_])(.+?)(?<=[^\s*_])\1(?![\w*])")
_TOKEN: Final = re.compile(r"#+|[^\W_]+|\S")


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

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The words, figures and signs of the sentence in order, without emphasis."""
        written = _EMPHASIS.sub(r"\2", unicodedata.normalize("NFC", self.plain))
        return tuple("#" if one[0] == "#" else one for one in _TOKEN.findall(written))

    def is_alike(self, other: "SpokenSentence") -> bool:
        """Return whether another sentence has the same numbers, names and nearly all words.

        It may still say the opposite, since not every language's negations are known.
        """
        if self.words and self.words == other.words:
            return True
        if self._facts != other._facts:
            return False
        shared = (self._telling & other._telling).total()
        every = (self._telling | other._telling).total()
        if not every or shared < SHARED_WORDS * every:
            return False
        return measure_order(self.words, other.words) >= SHARED_ORDER


@dataclass(frozen=True)
class SentenceMatch:
    """Which sentences of an answer are which of another, by their indexes.

    Attributes:
        same: those with the same words, figures and signs.
        reworded: those with nearly the same words.
    """

    same: dict[int, int]
    reworded: dict[int, int]


@dataclass(frozen=True)
class RewordedSentence(Record):
    """A sentence that two answers word differently, and where it begins in each."""

    before: str
    after: str
    before_start: int
    after_start: int


@dataclass(frozen=True)
class AnswerDifference(Record):
    """What differs between two answers.

    Attributes:
        gone: the sentences of the first answer that the second one has not.
        new: the sentences of the second answer that the first one has not.
        same: the number of sentences that both have, word for word.
        reworded: the sentences that both word differently. They may say the opposite.
        gone_starts: where those of the first answer begin in it.
        new_starts: where those of the second answer begin in it.
    """

    gone: tuple[str, ...]
    new: tuple[str, ...]
    same: int
    reworded: tuple[RewordedSentence, ...] = ()
    gone_starts: tuple[int, ...] = ()
    new_starts: tuple[int, ...] = ()

    @property
    def is_none(self) -> bool:
        """Whether both answers have the same sentences."""
        return not (self.gone or self.new or self.reworded)


def list_spoken(answer: str) -> list[SpokenSentence]:
    """Return the sentences of an answer, and what else its lines say, such as code or headings."""
    groups = parse_answer(answer).numbers
    spans = sorted((one.start, one.start + len(one.text)) for one in list_sentences(answer))
    at = 0
    for line in answer.splitlines(keepends=True):
        start, end = at, at + len(line)
        at = end
        within = [span for span in spans if span[0] < end and span[1] > start]
        if within:
            _widen(answer, start, end, spans, within, groups)
        elif _SAYS.search(line):
            spans.append((start + len(line) - len(line.lstrip()), start + len(line.rstrip())))
    found: list[SpokenSentence] = []
    for one in (_read_span(answer, start, end, groups) for start, end in sorted(spans)):
        if _SAYS.search(one.plain):
            found.append(one)
        elif found:  # citation numbers after a sentence belong to it
            found[-1] = replace(found[-1], cited=(*found[-1].cited, *one.cited))
    return found


def _widen(
    answer: str,
    start: int,
    end: int,
    spans: list[tuple[int, int]],
    within: Sequence[tuple[int, int]],
    groups: Sequence[NumberGroup],
) -> None:
    """Let the sentences of a line take what the line says before and after them, such as `[x]`."""
    first, last = within[0]
    mark = _LIST_MARK.match(answer, start, max(start, first))
    begin = mark.end() if mark else start
    if _says_more(answer, begin, first, groups):
        spans[spans.index(within[0])] = (begin, last)
        within = [(begin, last), *within[1:]]
    for span, following in zip(within, [one[0] for one in within[1:]] + [end], strict=True):
        if span[1] < following and _says_more(answer, span[1], following, groups):
            last = span[1] + len(answer[span[1] : following].rstrip())
            spans[spans.index(span)] = (span[0], last)


def _says_more(answer: str, start: int, end: int, groups: Sequence[NumberGroup]) -> bool:
    """Return whether a piece of an answer says something beside citation numbers."""
    return bool(_SAYS.search(_read_span(answer, start, end, groups).plain))


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
) -> SentenceMatch:
    """Return which sentence of an answer is which of another."""
    left = dict(enumerate(after))
    same = _pair(before, range(len(before)), left, lambda one, other: one.tokens == other.tokens)
    rest = [at for at in range(len(before)) if at not in same]
    return SentenceMatch(same, _pair(before, rest, left, SpokenSentence.is_alike))


def _pair(
    before: Sequence[SpokenSentence],
    places: Iterable[int],
    left: dict[int, SpokenSentence],
    is_partner: Callable[[SpokenSentence, SpokenSentence], bool],
) -> dict[int, int]:
    """Take for each place the first sentence out of those left that is its partner."""
    found = {}
    for at in places:
        partners = (key for key, other in left.items() if is_partner(before[at], other))
        if (partner := next(partners, None)) is not None:
            found[at] = partner
            del left[partner]
    return found


def compare_answers(before: str, after: str) -> AnswerDifference:
    """Compare two answers, sentence by sentence."""
    first, second = list_spoken(before), list_spoken(after)
    found = match_spoken(first, second)
    kept = {*found.same.values(), *found.reworded.values()}
    gone = [
        one for at, one in enumerate(first) if at not in found.same and at not in found.reworded
    ]
    new = [one for at, one in enumerate(second) if at not in kept]
    pairs = [(first[at], second[to]) for at, to in sorted(found.reworded.items())]
    return AnswerDifference(
        tuple(one.text for one in gone),
        tuple(one.text for one in new),
        len(found.same),
        tuple(RewordedSentence(a.text, b.text, a.start, b.start) for a, b in pairs),
        tuple(one.start for one in gone),
        tuple(one.start for one in new),
    )
