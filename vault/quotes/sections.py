"""Measure how well passages support an answer, and find the passages around them.

The best passages are completed with the other passages of their section, since a list or the steps
of a task are often longer than one passage.
"""

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from vault.catalog import Catalog
from vault.notes.keywords import FUNCTION_WORDS, build_query_terms, fold, match_all

__all__ = ["PassagePlace", "choose_passages_around", "measure_support"]

WIDENED: Final = 8
MOST_TOKENS: Final = 500
SHORTEST_WORD: Final = 4
COVERED_WORTH: Final = 0.5
RARITY_POWER: Final = 1.5
MOST_TERMS_ASKED: Final = 24
MOST_COUNTED: Final = 20_000
_NUMBER_OR_WORD: Final = re.compile(r"[^\W_]{2,}")


def measure_support(
    catalog: Catalog, words: str, ids: Sequence[int], closest: float, total: int
) -> float:
    """Return how well passages support an answer: about 0.3 for no support, above 1 for good.

    The result is the sum of two values: the closest passage's cosine, and half the largest fraction
    of the query's words that one passage contains. The fewer of the vault's passages contain a
    word, the more the word counts.

    Args:
        catalog: the catalog of the passages.
        words: the query without its filters.
        ids: the ids of the passages that were found.
        closest: the cosine of the closest passage.
        total: the number of passages in the vault.
    """
    asked = list(dict.fromkeys(_NUMBER_OR_WORD.findall(fold(words))))
    telling = [word for word in asked if word not in FUNCTION_WORDS] or asked
    weights = {word: _weigh(catalog, word, total) for word in telling[:MOST_TERMS_ASKED]}
    held: dict[int, float] = defaultdict(float)
    for word, weight in weights.items():
        for id in _find_among(catalog, word, ids):
            held[id] += weight
    share = max(held.values(), default=0.0) / (sum(weights.values()) or 1.0)
    return closest + COVERED_WORTH * share


def _weigh(catalog: Catalog, word: str, total: int) -> float:
    """Return a word's weight: 1 if no passage contains it, near 0 if all do.

    Very short words get less weight.
    """
    most = max(1, total)
    rows = catalog.rows(
        "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)",
        (match_all(build_query_terms(word)), MOST_COUNTED),
    )
    rarity = math.log((most + 1) / (int(rows[0][0]) + 0.5)) / math.log(most + 1)
    return math.pow(max(0.0, rarity), RARITY_POWER) * min(1.0, len(word) / SHORTEST_WORD)


def _find_among(catalog: Catalog, word: str, ids: Sequence[int]) -> list[int]:
    rows = catalog.rows(
        "SELECT rowid FROM words WHERE words MATCH ? AND rowid IN (SELECT value FROM json_each(?))",
        (match_all(build_query_terms(word)), json.dumps(list(ids))),
    )
    return [int(row[0]) for row in rows]


@dataclass(frozen=True, slots=True)
class PassagePlace:
    """The location of a passage: its note's path, its first line and the headings above it."""

    path: str
    first: int
    heading: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Span:
    id: int
    first: int
    heading: tuple[str, ...]
    tokens: int


def choose_passages_around(catalog: Catalog, places: Sequence[PassagePlace]) -> dict[int, int]:
    """Find the passages in the same section around the best passages.

    Args:
        catalog: the catalog of the passages.
        places: the locations of the passages that were found, best first.

    Returns:
        For each passage id, the index in `places` of the passage that it surrounds.
    """
    best = places[:WIDENED]
    spans = _read_spans(catalog, {place.path for place in best})
    chosen: dict[int, int] = {}
    for at, place in enumerate(best):
        for span in _find_around(spans.get(place.path, ()), place):
            chosen.setdefault(span.id, at)
    return chosen


def _read_spans(catalog: Catalog, paths: set[str]) -> Mapping[str, list[_Span]]:
    rows = catalog.rows(
        "SELECT path, chunks.id, first_line, heading, tokens FROM chunks"
        " JOIN files ON files.id = file_id WHERE path IN (SELECT value FROM json_each(?))"
        " ORDER BY path, first_line, chunks.id",
        (json.dumps(sorted(paths)),),
    )
    spans = defaultdict(list)
    for path, id, first, heading, tokens in rows:
        spans[path].append(_Span(id, first, tuple(json.loads(heading)), tokens))
    return spans


def _find_around(spans: Sequence[_Span], place: PassagePlace) -> Iterator[_Span]:
    """Yield the other passages of the section around a passage.

    The section is the largest one that is short enough. If even the smallest is too long, its
    nearest passages are yielded up to a token budget.
    """
    at = max((i for i, span in enumerate(spans) if span.first <= place.first), default=None)
    if at is None:
        return
    for level in range(len(place.heading) + 1):
        start, end = _find_section(spans, at, place.heading[:level])
        if sum(span.tokens for span in spans[start:end]) <= MOST_TOKENS:
            yield from (span for i, span in enumerate(spans[start:end], start) if i != at)
            return
    start, end = _find_section(spans, at, place.heading)
    left = MOST_TOKENS - spans[at].tokens
    for span in (*spans[at + 1 : end], *reversed(spans[start:at])):
        left -= span.tokens
        if left < 0:
            return
        yield span


def _find_section(spans: Sequence[_Span], at: int, heading: tuple[str, ...]) -> tuple[int, int]:
    """Return the range of passages around a passage that are below the same heading."""
    depth = len(heading)
    start = end = at
    while start > 0 and spans[start - 1].heading[:depth] == heading:
        start -= 1
    while end < len(spans) and spans[end].heading[:depth] == heading:
        end += 1
    return start, max(end, at + 1)
