"""Choose the terms of a query, with their weights.

A term is a word with its irregular forms, a name, a pair of adjacent words or a date. Function
words are dropped, unless there are no other words.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Final

from vault.notes.dates import find_date_spans, write_date_forms
from vault.notes.keywords import (
    WORD,
    build_query_terms,
    find_function_words,
    fold,
    match_any_form,
    match_measure,
    match_phrase,
)
from vault.notes.units import find_measures

__all__ = ["Term", "choose_terms"]

NAME_WEIGHT: Final = 1.1
PAIR_WEIGHT: Final = 0.1
DATE_WEIGHT: Final = 1.0
_MOST_CHARS: Final = 20_000
_MOST_PAIRS: Final = 12
_MOST_DATES: Final = 24
_MOST_MEASURES: Final = 12


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a query.

    Attributes:
        expression: the FTS5 expression: a word, its irregular forms, or a phrase.
        weight: the weight relative to an ordinary word.
    """

    expression: str
    weight: float = 1.0


def choose_terms(words: str, today: date) -> tuple[Term, ...]:
    """Return the distinct terms of a query.

    Args:
        words: the query without filters.
        today: the date that words such as "yesterday" refer to.
    """
    words = words[:_MOST_CHARS]
    left_out = find_function_words(words)
    kept = WORD.sub(lambda word: " " if fold(word[0]) in left_out else word[0], words)
    names = {term for name in _find_names(words) for term in build_query_terms(name)}
    measures = find_measures(words)[:_MOST_MEASURES]
    singles = build_query_terms(kept) or build_query_terms(words)
    joined = {match_phrase(f"{number}{unit}"): (number, unit) for number, unit in measures}
    spaced = {term: match_measure(joined[term]) for term in singles if term in joined}
    found = {
        spaced.get(term) or match_any_form(term): NAME_WEIGHT if term in names else 1.0
        for term in singles
    }
    found |= {term: 1.0 for term in joined if term not in spaced}
    for pair in list(_find_pairs(kept))[:_MOST_PAIRS]:
        found.setdefault(pair, PAIR_WEIGHT)
    for form in _list_dates(words, today):
        found.setdefault(form, DATE_WEIGHT)
    return tuple(Term(expression, weight) for expression, weight in found.items())


def _find_names(words: str) -> Iterator[str]:
    """Yield the capitalized words that do not start a sentence.

    If most words are capitalized, none is treated as a name.
    """
    found = list(WORD.finditer(words))
    capitalised = [word for word in found if word[0][:1].isupper()]
    if len(capitalised) > len(found) / 2:
        return
    for word in capitalised:
        before = words[: word.start()].rstrip(" \"'“„«(")
        if before and before[-1] not in ".?!:\n":
            yield word[0]


def _find_pairs(kept: str) -> Iterator[str]:
    """Yield each pair of words separated only by a space or a hyphen, as a phrase."""
    for this, other in pairwise(WORD.finditer(kept)):
        if kept[this.end() : other.start()] in (" ", "-") and not this[0].isdecimal():
            yield match_phrase(f"{this[0]} {other[0]}")


def _list_dates(words: str, today: date) -> Sequence[str]:
    forms = [form for span in find_date_spans(words, today) for form in write_date_forms(span)]
    return [match_phrase(form) for form in forms[:_MOST_DATES]]
