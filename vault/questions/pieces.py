"""Cut a message into what is read by itself: its first question, and the filters in it.

"How many are there, and when is the next one due?" asks for two things. "#task -#recurring" has a
filter that is written with a sign.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from vault.notes.keywords import fold
from vault.questions.vocabulary import VaultNames
from vault.questions.words import list_second_words
from vault.search.conditions import Condition, compare_values, parse_property
from vault.search.filter_kinds import FILTERS

__all__ = ["cut_other_questions", "write_filters", "write_properties"]

# After a short word, a full stop may be that of an abbreviation.
_SENTENCE_END: Final = re.compile(r"(?:(?<=[?!])|(?<=\w{5}\.))\s+(?=\S)")
_LEAST_WORDS: Final = 2
# What excludes a tag, as in "#task -#recurring".
_EXCLUDED: Final = re.compile(r"(?<!\S)[-−–!]#(?=[\w/-]*\w)")
# A range of days as in a filter, also without its beginning or end.
_RANGE: Final = re.compile(r"(?<!\S)(?:[\d-]{4,10}\.\.[\d-]{0,10}|\.\.[\d-]{4,10})(?=[\s?!,]|$)")

# A property with its value as in a filter, such as "rating>4" or "status:done".
_PROPERTY: Final = re.compile(
    r"(?<!\S)(?P<not>-?)(?P<name>[^\W\d][\w-]*)(?P<sign>:|[<>]=?|!=|=)"
    r'(?P<value>"[^"\n]+"|[^\s"<>=:\[\]]*[^\s"<>=:\[\].,;!?])(?=[\s.,;!?]|$)'
)

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


def write_properties(text: str, vocabulary: VaultNames) -> str:
    """Return a question with properties such as "rating>4" as filters in brackets.

    Behind a colon, a value must be one that the vault has, so that "note:this" stays as it is.
    """

    def write(found: re.Match[str]) -> str:
        value, sign = found["value"].strip('"'), found["sign"].replace(":", "=")
        known = vocabulary.find_exactly([fold(found["name"])])
        names = [each.value for each in known if each.kind == "property"]
        if found["name"].lower() in FILTERS or not names:
            return found[0]
        condition = parse_property(names[0], f"{sign}{value}", is_negated=bool(found["not"]))
        if condition is None or (sign == "=" and not _has_value(vocabulary, condition)):
            return found[0]
        return str(condition)

    return _PROPERTY.sub(write, text)


def _has_value(vocabulary: VaultNames, condition: Condition) -> bool:
    plain = replace(condition, is_negated=False)
    return any(compare_values(value, plain) for value in vocabulary.list_values(condition.name))


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
