"""Compare the words of a question with the words of a text.

Case and accents are ignored. Scripts without spaces are split into pairs of characters. Words that
only share a prefix count less.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import pairwise
from typing import Final

from vault.notes import keywords
from vault.notes.amounts import find_money
from vault.notes.irregular_words import list_other_forms
from vault.notes.keywords import UNSPACED, WORD, find_function_words, fold
from vault.notes.units import find_measures

__all__ = [
    "asks_for_total",
    "is_comparison",
    "is_unspaced",
    "list_compared_words",
    "list_content_words",
    "list_names",
    "list_pairs",
    "measure_match",
    "measure_share",
    "split_words",
    "weigh_by_length",
    "weigh_by_subject",
    "weigh_words",
]

# The weight of a word that only has the same beginning as a word of the question, such as
# "indexing" and "index".
LIKE_WORTH: Final = 0.7
SHORTEST_STEM: Final = 3
# Words that occur in many questions, but say nothing about their subject.
_WEAK_WORDS: Final = """
    about all also any before both but called case each else ever every exactly example find get
    gets give go got happen happens help kind kinds know let list long look looks made make
    makes many may mean means might more most much must name names need needs new next no not
    number off often one ones only other others out over own part parts people put same say says
    see should so some step steps take takes than then thing things too try up us use used uses
    using usually want way ways well work works
"""
_WEAK: Final = frozenset(_WEAK_WORDS.split())
# Words of greetings, thanks and other talk.
_COURTESY_WORDS: Final = """
    afternoon bonjour bye ciao cool danke day dear evening everybody everyone fine goodbye good
    grazie great gracias guten hallo hello hey hi hola lot merci morgen morning nice night ok okay
    please salut sorry tag thank thanks there welcome yes
"""
_COURTESY: Final = frozenset(_COURTESY_WORDS.split()) | {"note", "notes"}
# Words that say that things are compared. Notes about only one of the things do not contain them.
_COMPARING_WORDS: Final = """
    between compare compared comparison differ difference differences versus vs
    vergleich vergleiche unterschied unterschiede zwischen gegenuber
    compare comparer comparaison entre compara comparacion diferencia diferencias
"""
# Words that ask for the total of several figures.
_TOTAL_WORDS: Final = """
    altogether overall sum total gesamt gesamte insgesamt summe zusammen somme suma
"""
_TOTAL: Final = frozenset(_TOTAL_WORDS.split())
_IN_ALL: Final = frozenset({("in", "all"), ("en", "tout")})
_COMPARING: Final = frozenset(_COMPARING_WORDS.split())
WEAK_WORTH: Final = 0.25

# Matches a word with a capital letter or a digit behind its first letter, or a letter behind its
# first digit. It begins at the start of the word, so that long words take little time.
_NAME: Final = re.compile(r"\d*[^\W\d_].*[A-Z\d]|[^\W\d_]*\d.*[^\W\d_]")
# Matches a capital letter that stands alone, but neither "A" nor "I", nor "C" in "C'est".
_LETTER: Final = re.compile(r"\b[B-HJ-Z]\b(?!['’])")


def list_content_words(question: str) -> frozenset[str]:
    """Return the words of a question, without function words unless there are no others.

    Words such as "difference", which only express a comparison, are left out too.
    """
    words = split_words(question)
    return words - find_function_words(question) - _COMPARING or words


def asks_for_total(question: str) -> bool:
    """Return whether a question asks for a total, as in "How much did I use in all"."""
    return not (
        _TOTAL.isdisjoint(split_words(question)) and _IN_ALL.isdisjoint(list_pairs(question))
    )


def is_comparison(question: str) -> bool:
    """Return whether a question compares things, as in "the difference between A and B"."""
    return not _COMPARING.isdisjoint(split_words(question))


def list_compared_words(words: AbstractSet[str]) -> frozenset[str]:
    """Return the words of a comparison without those which say that it is one."""
    return frozenset(words - _COMPARING)


def list_subject_words(text: str) -> frozenset[str]:
    """Return the words of a message that can be looked up.

    A single capital letter such as "R" counts as a word, and so do names that look like function
    words, such as "Will" in "notes by Will", and figures of amounts of money, such as "$5".
    Function words, greetings and words such as "help" are left out.
    """
    words = split_words(text) | frozenset(_LETTER.findall(text))
    figures = frozenset(str(amount.number) for amount in find_money(text))
    functions = find_function_words(text) - list_names(text)
    return (words | figures) - functions - _WEAK - _COURTESY


def split_words(text: str) -> frozenset[str]:
    """Return the words of a text, normalized as in the full-text index, without single letters.

    Scripts without spaces yield pairs of letters. A letter that stands alone there is a word.
    """
    words = keywords.split_words(text)
    measured = (
        part for number, unit in find_measures(text) for part in (number, unit, number + unit)
    )
    words += keywords.split_words(" ".join(measured))  # "13mm" is "13 mm" too
    return frozenset(
        word
        for before, word in pairwise(("", *words))
        if len(word) > 1 or (is_unspaced(word) and before[1:] != word)
    )


def list_names(text: str) -> frozenset[str]:
    """Return the names in a question, in lower case and without accents.

    A name is a word that contains a capital letter or a digit. The first word of the question
    counts only if it contains one after its initial. In German, where all nouns have a capital
    letter, no names are found.
    """
    if "der" in find_function_words(text):
        return frozenset()
    found = [word for word in WORD.findall(text) if len(word) > 1]
    names = [word for word in found[1:] if word[0].isupper() or _NAME.match(word)]
    return split_words(" ".join([*names, *(word for word in found[:1] if _NAME.match(word))]))


def list_pairs(text: str) -> frozenset[tuple[str, str]]:
    """Return the pairs of adjacent words in a text, in lower case and without accents."""
    return frozenset(pairwise(WORD.findall(fold(text))))


def weigh_by_length(word: str) -> float:
    """Return a weight for a word. It is lower for short words, because they are usually common."""
    length = 1.0 if is_unspaced(word) or word.isdigit() else min(1.0, len(word) / 6)
    return length * weigh_by_subject(word)


def weigh_by_subject(word: str) -> float:
    """Return 1, or a lower weight for a word that says nothing about a question's subject."""
    return WEAK_WORTH if word in _WEAK else 1.0


def weigh_words(asked: Iterable[str], texts: Sequence[frozenset[str]]) -> dict[str, float]:
    """Return a weight for each word of a question. Long and rare words have higher weights.

    Args:
        asked: the words of the question.
        texts: the words of each text that may answer the question.
    """

    def weigh(word: str) -> float:
        having = sum(1 for words in texts if measure_match(word, words))
        return weigh_by_length(word) * (1.0 + math.log((len(texts) + 1) / (having + 1)))

    return {word: weigh(word) for word in asked}


def measure_share(weights: Mapping[str, float], words: frozenset[str]) -> float:
    """Return the weight of the question's words that a text contains, as a fraction of the total.

    Args:
        weights: the weight of each word of the question.
        words: the words of the text.
    """
    total = sum(weights.values()) or 1.0
    return sum(weight * measure_match(word, words) for word, weight in weights.items()) / total


def measure_match(word: str, words: frozenset[str]) -> float:
    """Return how well a word matches the words of a text.

    The result is 1 if the text contains the word or an irregular form of it, less if only a prefix
    matches, and otherwise 0.
    """
    if word in words or not list_other_forms(word).isdisjoint(words):
        return 1.0
    if len(word) < SHORTEST_STEM or is_unspaced(word) or word.isdigit():
        return 0.0
    return LIKE_WORTH if any(_shares_prefix(word, other) for other in words) else 0.0


@cache
def is_unspaced(word: str) -> bool:
    """Return whether a word is in a script without spaces."""
    return UNSPACED.match(word) is not None


def _shares_prefix(word: str, other: str) -> bool:
    """Return whether two words share a prefix of at least half the length of the longer word.

    Very short words are never alike.
    """
    if word[0] != other[0] or len(other) < SHORTEST_STEM:
        return False
    shared = max(SHORTEST_STEM, (max(len(word), len(other)) + 1) // 2)
    return word[:shared] == other[:shared]
