"""Small, bounded lifts from the structure around a passage.

Whoever types the name of a thing wants the thing, and not whatever mentions it most.
"""

from collections.abc import Iterable
from functools import lru_cache

from vault.words import query_terms

__all__ = ["lifted", "likeness"]

# Chosen beside the fusion's weights: known notes and headings gain a tenth, questions lose nothing.
_NAME_SHARE = 0.5
_SHARPNESS = 3
_MAX_NAME_CHARS = 400


def likeness(query: str, names: Iterable[str]) -> float:
    """Tell how nearly a query is one of the names, from 0 to 1: words shared of all words."""
    wanted = _words(query)
    return max((_shared(wanted, _words(name)) for name in names), default=0.0)


def lifted(score: float, name_likeness: float) -> float:
    """Give a score with its lift; it stays from 0 to 1."""
    return (score + _NAME_SHARE * name_likeness**_SHARPNESS) / (1.0 + _NAME_SHARE)


def _shared(these: frozenset[str], those: frozenset[str]) -> float:
    every = len(these | those)
    return len(these & those) / every if every else 0.0


@lru_cache(maxsize=1 << 14)
def _words(text: str) -> frozenset[str]:
    return frozenset(query_terms(text[:_MAX_NAME_CHARS]))
