"""Small, bounded lifts from the structure around a passage.

Whoever types the name of a thing wants the thing, and not whatever mentions it most; whoever names
a tag, a folder or a day means what carries it; and what is linked with the note in question belongs
to it. A name may lift its note far; the others move a passage by a few places.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from vault.notes.keywords import query_terms

__all__ = ["Lifts", "lifted", "likeness"]

# Chosen beside the fusion's weights: known notes and headings gain a tenth, questions lose nothing.
_NAME_SHARE = 0.5
_SHARPNESS = 3
_MAX_NAME_CHARS = 400
# Each is a share of what the score lacks of one; neighbours in a ranking lie about 0.02 apart.
_TAG_SHARE = 0.1
_DATE_SHARE = 0.15
_LINK_SHARE = 0.08


class Lifts(NamedTuple):
    """What lifts a passage, each from 0 to 1; None where the query names nothing of the kind.

    Attributes:
        title: how nearly the query is a name of the note or the passage.
        tags: it has a tag, or is in a folder, that the query names.
        dates: it is of a day that the query names.
        links: it is linked with a note that the query names or that is in play.
    """

    title: float
    tags: float | None = None
    dates: float | None = None
    links: float | None = None


def likeness(query: str, names: Iterable[str]) -> float:
    """Tell how nearly a query is one of the names, from 0 to 1: words shared of all words."""
    wanted = _words(query)
    return max((_shared(wanted, _words(name)) for name in names), default=0.0)


def lifted(score: float, lifts: Lifts | None) -> float:
    """Give a score with its lifts; it stays from 0 to 1."""
    if lifts is None:
        return score / (1.0 + _NAME_SHARE)
    score = (score + _NAME_SHARE * lifts.title**_SHARPNESS) / (1.0 + _NAME_SHARE)
    by_tags, by_dates, by_links = (value or 0.0 for value in lifts[1:])
    share = _TAG_SHARE * by_tags + _DATE_SHARE * by_dates + _LINK_SHARE * by_links
    return score + (1.0 - score) * share


def _shared(these: frozenset[str], those: frozenset[str]) -> float:
    every = len(these | those)
    return len(these & those) / every if every else 0.0


@lru_cache(maxsize=1 << 14)
def _words(text: str) -> frozenset[str]:
    return frozenset(query_terms(text[:_MAX_NAME_CHARS]))
