"""Tell where sections of different notes say different figures or days of one thing.

Two sentences are compared as in the review, by `vault.review.disagreement`. A question narrows it
to sentences that answer it, and to no events that can happen twice, as trips and runs do.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, takewhile
from typing import Final

from chains.citations.sections import ShownSection
from chains.extractive.writer import escape_markdown
from vault.notes.text.sentences import split_sentences
from vault.review.disagreement import (
    Disagreement,
    PlacedSentence,
    find_disagreement,
    is_series,
    list_unsaid_names,
)
from vault.review.statements import list_words

__all__ = ["describe_difference"]

_LEAST_SHARED: Final = 2
_NO_PROSE: Final = ("|", "```", "~~~")
# Matches a question for an event. German "was" at the start means "what".
_EVENT: Final = re.compile(
    r"\b(?:did|were|had|war|waren|wurden?|hatten?)\b|(?<=\s)was\b"
    r"|\b(?:have|habe|haben|bin|sind) (?:i|we|ich|wir)\b",
    re.IGNORECASE,
)
# Words of a question for what is measured, and how the units of it begin.
_MEASURES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("temperature", "temperatur", "degree", "grad"), r"°"),
    **dict.fromkeys(
        ("long", "lang", "lange"),
        r"(?:s|sec\w*|sek\w*|min\w*|h|hour|stunden?|days?|tage?n?|weeks?|wochen?|months?|monate?n?)$",
    ),
}
_LEAST_STEM_CHARS: Final = 4
_MOST_ENDING_CHARS: Final = 2


@dataclass(frozen=True)
class _Answer:
    """A sentence of a section that answers a question.

    Attributes:
        sentence: the sentence with its title and headings.
        about: the words of the question in the sentence, and in the title and headings above it.
    """

    sentence: PlacedSentence
    about: frozenset[str]


def describe_difference(
    question: str, sections: Sequence[ShownSection], *, is_doubtful: bool = False
) -> str:
    """Return a sentence about the first two notes that differ in what they say, or "" if none do.

    Two sentences are of one thing if they hold the same words of the question, and nearly the same
    words in all. They differ if they have other figures of one unit, or other dates.

    Args:
        sections: the sections that are shown, with the lines that answer it.
        is_doubtful: whether the sections may not answer it, so that the sentences have to say all
            that it names.
    """
    if _EVENT.search(question):
        return ""
    asked = list_words(question)
    answers = [each for section in sections for each in _list_answers(section, asked)]
    for one, other in combinations(answers, 2):
        if is_doubtful and not (
            _says_all(one.sentence, asked) and _says_all(other.sentence, asked)
        ):
            continue
        if _are_of_one_thing(one, other) and (
            found := find_disagreement(one.sentence, other.sentence)
        ):
            return _write(one, other, found)
    return ""


def _list_answers(section: ShownSection, asked: frozenset[str]) -> Iterator[_Answer]:
    """Yield the lit sentences of a section that hold a word of the question."""
    title, headings = section.source.title, section.heading
    above = list_words(" ".join((title, *headings)))
    for lines in section.lit:
        text = section.cut_lines(lines) or ""
        prose = [line for line in text.split("\n") if not line.lstrip(" >").startswith(_NO_PROSE)]
        for sentence in split_sentences(" ".join(prose)):
            if asked & list_words(sentence):
                placed_sentence = PlacedSentence(section.path, sentence, title, headings)
                yield _Answer(placed_sentence, asked & (above | list_words(sentence)))


def _are_of_one_thing(one: _Answer, other: _Answer) -> bool:
    """Return whether two answers in different notes are about the same thing.

    If a sentence lacks a word of the question, its subject stands above it. Then one title that
    names more than the other is of another thing, as "Flat Kiel" is beside "Flat".
    """
    is_alike = one.about == other.about and len(one.about) >= _LEAST_SHARED
    if (
        not is_alike
        or one.sentence.path == other.sentence.path
        or is_series(one.sentence, other.sentence)
    ):
        return False
    these, those = list_unsaid_names(one.sentence, other.sentence)
    is_subject_said = one.about <= one.sentence.words & other.sentence.words
    return not ((these and those) if is_subject_said else (these or those))


def _says_all(sentence: PlacedSentence, asked: frozenset[str]) -> bool:
    """Return whether a sentence, with what stands above it, names all that a question does.

    What the figure measures need not be named: a figure in degrees is a temperature.
    """
    found = sentence.words | sentence.above
    missing = [word for word in asked if not any(_are_forms(word, each) for each in found)]
    return all(
        any(re.match(_MEASURES.get(w, r"\Z."), unit) for unit in sentence.figures) for w in missing
    )


def _are_forms(one: str, other: str) -> bool:
    """Return whether two words may be forms of one, such as "switch" and "switches"."""
    stem = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))
    ending = max(len(one), len(other)) - stem
    return one == other or (stem >= _LEAST_STEM_CHARS and ending <= _MOST_ENDING_CHARS)


def _write(one: _Answer, other: _Answer, found: Disagreement) -> str:
    titles = [escape_markdown(each.sentence.title) for each in (one, other)]
    return f"Your notes differ: {found.first} in *{titles[0]}*, {found.second} in *{titles[1]}*."
