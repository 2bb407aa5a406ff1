"""Compare a query with titles: the names of a note and the headings of a passage.

A query that is equal to a title asks for that note or section, even if all its words are common.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from vault.catalog import Catalog
from vault.notes.keywords import FUNCTION_WORDS, build_query_terms, match_all

__all__ = [
    "NEAR_TITLE",
    "add_title",
    "find_titled",
    "list_telling_words",
    "measure_similarity",
]

# At this similarity or above, a query counts as a title: it differs only in function words, or in
# one of many words.
NEAR_TITLE: Final = 0.85
# Chosen together with the weights of the fusion: searches for known notes and headings gain a
# tenth, questions lose nothing.
_TITLE_SHARE: Final = 0.5
_SHARPNESS: Final = 3
# Only passages whose title matches the query can reach this score.
_TITLED: Final = (1.0 + _TITLE_SHARE * NEAR_TITLE**_SHARPNESS) / (1.0 + _TITLE_SHARE)
_TELLING_SHARE: Final = 0.9  # of two texts that differ in function words only
_MOST_CHARS: Final = 400
_MOST_TERMS: Final = 16  # no title has more


def measure_similarity(query: str, titles: Iterable[str]) -> float:
    """Return the similarity between a query and the most similar title, from 0 to 1.

    The similarity is the number of shared words divided by the number of all words. Function words,
    such as "the", count less. If the query and a title differ only in function words, the
    similarity is at least `NEAR_TITLE`.
    """
    return max((_measure_shared_words(query, title) for title in titles), default=0.0)


def add_title(score: float, likeness: float) -> float:
    """Return a passage's score, raised if the query is similar to a title of the passage.

    Args:
        score: the score without titles, from 0 to 1.
        likeness: the similarity from `measure_similarity`, from 0 to 1.

    Returns:
        The new score, from 0 to 1.
    """
    score = (score + _TITLE_SHARE * likeness**_SHARPNESS) / (1.0 + _TITLE_SHARE)
    return _TITLED + (1.0 - _TITLED) * score if likeness >= NEAR_TITLE else score


def find_titled(catalog: Catalog, words: str, limit: int) -> list[int]:
    """Return the ids of passages whose titles and headings contain all content words of a query.

    Args:
        catalog: the catalog of the passages.
        words: the query without its filters.
        limit: the maximum number of passages.
    """
    terms = [term for term in build_query_terms(words[:_MOST_CHARS]) if _is_telling(term)]
    if not 0 < len(terms) <= _MOST_TERMS:
        return []
    rows = catalog.rows(
        "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?",
        (f"{{title heading}} : ({match_all(terms)})", limit),
    )
    return [int(row[0]) for row in rows]


@lru_cache(maxsize=1 << 12)
def list_telling_words(text: str) -> frozenset[str]:
    """Return the words of a text except function words such as "the". A plural "s" is removed."""
    terms = _list_words(text)
    return frozenset(term.strip('"').removesuffix("s") for term in terms if _is_telling(term))


def _is_telling(term: str) -> bool:
    return term.strip('"') not in FUNCTION_WORDS


def _measure_shared_words(query: str, title: str) -> float:
    share = _measure_overlap(_list_words(query), _list_words(title))
    telling_share = _measure_overlap(list_telling_words(query), list_telling_words(title))
    return max(share, _TELLING_SHARE * telling_share)


def _measure_overlap(these: frozenset[str], those: frozenset[str]) -> float:
    """Return the number of words in both sets, divided by the number of distinct words."""
    every = len(these | those)
    return len(these & those) / every if every else 0.0


@lru_cache(maxsize=1 << 12)
def _list_words(text: str) -> frozenset[str]:
    return frozenset(build_query_terms(text[:_MOST_CHARS]))
