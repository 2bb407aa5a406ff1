"""Cut a message into what is read by itself: its first question, and the filters in it.

"How many are there, and when is the next one due?" asks for two things. "#task -#recurring" has a
filter that is written with a sign.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

from vault.questions.words import list_second_words

__all__ = ["cut_other_questions", "write_filters"]

# After a short word, a full stop may be that of an abbreviation.
_SENTENCE_END: Final = re.compile(r"(?:(?<=[?!])|(?<=\w{5}\.))\s+(?=\S)")
_LEAST_WORDS: Final = 2
# What excludes a tag, as in "#task -#recurring".
_EXCLUDED: Final = re.compile(r"(?<!\S)[-−–!]#(?=[\w/-]*\w)")
# A range of days as in a filter, also without its beginning or end.
_RANGE: Final = re.compile(r"(?<!\S)(?:[\d-]{4,10}\.\.[\d-]{0,10}|\.\.[\d-]{4,10})(?=[\s?!,]|$)")

_Opening = tuple[re.Pattern[str], frozenset[str]]


def cut_other_questions(text: str) -> str:
    """Return the first question of a message, or the whole message if it asks only one.

    A clause that goes on with the first question is a part of it, as in "notes that are in House
    and which mention rain".
    """
    first = _SENTENCE_END.split(text.strip(), maxsplit=1)[0]
    ends = (
        found.start()
        for opening, relative in _read_openings()
        for found in opening.finditer(first)
        if _is_other_question(first[: found.start()].split(), found, relative)
    )
    end = min(ends, default=None)
    return first if end is None else first[:end].rstrip(" ,;")


def _is_other_question(
    before: Sequence[str], found: re.Match[str], relative: frozenset[str]
) -> bool:
    """Return whether a question stands before what begins like another one.

    After a word such as "that" within it, "and which" goes on with its clause.
    """
    is_clause = any(word.lower().strip(",;") in relative for word in before[1:])
    return len(before) >= _LEAST_WORDS and not (found["relative"] and is_clause)


def write_filters(text: str) -> str:
    """Return a question with its ranges of days and excluded tags as filters."""
    dated = _RANGE.sub(lambda found: f"date:{found[0]}", text)
    return _EXCLUDED.sub("-tag:", dated)


@cache
def _read_openings() -> tuple[_Opening, ...]:
    """Return for each language what another question begins with, and its relative words."""
    kinds = ("joins", "leading", "begins", "relative")
    by_language = zip(*map(list_second_words, kinds), strict=True)
    return tuple((_compile(*words), frozenset(words[-1])) for words in by_language)


def _compile(
    joins: Sequence[str], leading: Sequence[str], begins: Sequence[str], relative: Sequence[str]
) -> re.Pattern[str]:
    clauses = [word for word in begins if word in relative]
    others = [word for word in begins if word not in relative]
    return re.compile(
        rf"(?:[,;]?\s+(?:{_match_any(joins)})|\.)\s+(?:(?:{_match_any(leading)})\s+)?"
        rf"(?:(?P<relative>{_match_any(clauses)})|{_match_any(others)})(?![\w-])",
        re.IGNORECASE,
    )


def _match_any(phrases: Iterable[str]) -> str:
    """Return a pattern for any of several phrases, also with an apostrophe or a hyphen in them."""
    longest_first = sorted(phrases, key=len, reverse=True)
    return "|".join(r"[\s'’-]".join(map(re.escape, each.split())) for each in longest_first)
