"""Measure how well passages support an answer, and find the passages around them.

The best passages are extended with the other passages of their section, because a list or the steps
of a task are often longer than one passage.
"""

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from vault.catalog import Catalog
from vault.notes.keywords import (
    build_query_terms,
    find_function_words,
    match_all,
    match_any_form,
    split_words,
)

__all__ = ["PassagePlace", "Support", "choose_passages_around", "measure_support"]

WIDENED: Final = 8
MOST_TOKENS: Final = 500
# The sections of the first passages are shown whole, so they may be longer.
SHOWN_WHOLE: Final = 3
MOST_TOKENS_WHOLE: Final = 1_500
SHORTEST_WORD: Final = 4
COVERED_WORTH: Final = 0.5
UNKNOWN_COST: Final = 0.25
RARITY_POWER: Final = 1.5
MOST_TERMS_ASKED: Final = 24
MOST_COUNTED: Final = 20_000


@dataclass(frozen=True, slots=True)
class Support:
    """How well passages support an answer made of quotations.

    Attributes:
        score: from about 0.2 (not at all) to over 1.
        weights: the weight of each word of the query, from 1 if it is in no passage of the vault to
            almost 0 if it is in all of them. Function words are left out.
    """

    score: float
    weights: Mapping[str, float]


def measure_support(
    catalog: Catalog, words: str, ids: Sequence[int], closest: float, total: int
) -> Support:
    """Measure how well passages support an answer.

    The score is computed from three numbers:
    - the cosine similarity of the closest passage
    - plus half the fraction of the query's words that the best passage contains
    - minus a quarter of the fraction of the query's words that occur in no passage of the vault

    Words that occur in few passages count more.

    Args:
        catalog: the catalog of the passages.
        words: the query without filters.
        ids: the ids of the passages found.
        closest: the cosine similarity of the closest passage.
        total: the number of passages in the vault.
    """
    asked = list(dict.fromkeys(word for word in split_words(words) if len(word) > 1))
    left_out = find_function_words(words)
    content_words = [word for word in asked if word not in left_out] or asked
    counts = {word: _count_passages(catalog, word) for word in content_words[:MOST_TERMS_ASKED]}
    weights = {word: _weigh(word, count, total) for word, count in counts.items()}
    matched_weights: dict[int, float] = defaultdict(float)
    for word, weight in weights.items():
        for id in _find_among(catalog, word, ids):
            matched_weights[id] += weight
    whole = sum(weights.values()) or 1.0
    share = max(matched_weights.values(), default=0.0) / whole
    unknown = sum(weights[word] for word, count in counts.items() if not count) / whole
    return Support(closest + COVERED_WORTH * share - UNKNOWN_COST * unknown, weights)


def _count_passages(catalog: Catalog, word: str) -> int:
    """Return the number of passages that contain a word, up to a limit."""
    rows = catalog.rows(
        "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)",
        (_match_word(word), MOST_COUNTED),
    )
    return int(rows[0][0])


def _match_word(word: str) -> str:
    return match_all([*map(match_any_form, build_query_terms(word))])


def _weigh(word: str, count: int, total: int) -> float:
    """Return the weight of a word: 1 if no passage contains it, almost 0 if all passages do.

    Very short words get less weight.

    Args:
        count: the number of passages that contain the word.
        total: the number of passages in the vault.
    """
    most = max(1, total)
    rarity = math.log((most + 1) / (count + 0.5)) / math.log(most + 1)
    return math.pow(max(0.0, rarity), RARITY_POWER) * min(1.0, len(word) / SHORTEST_WORD)


def _find_among(catalog: Catalog, word: str, ids: Sequence[int]) -> list[int]:
    rows = catalog.rows(
        "SELECT rowid FROM words WHERE words MATCH ? AND rowid IN (SELECT value FROM json_each(?))",
        (_match_word(word), json.dumps(list(ids))),
    )
    return [int(row[0]) for row in rows]


@dataclass(frozen=True, slots=True)
class PassagePlace:
    """The location of a passage: path, first line and headings."""

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
    """Find the other passages of the sections that contain the best passages.

    Args:
        catalog: the catalog of the passages.
        places: the locations of the passages found, best first.

    Returns:
        For the id of each passage found, the index in `places` of the passage in the same section.
    """
    best = places[:WIDENED]
    spans = _read_spans(catalog, {place.path for place in best})
    chosen: dict[int, int] = {}
    for at, place in enumerate(best):
        most = MOST_TOKENS_WHOLE if at < SHOWN_WHOLE else MOST_TOKENS
        for span in _find_around(spans.get(place.path, ()), place, most):
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


def _find_around(spans: Sequence[_Span], place: PassagePlace, most_tokens: int) -> Iterator[_Span]:
    """Yield the other passages in the section around a passage.

    The largest section with at most 500 tokens is used. If even the smallest section is longer,
    only the nearest passages are included, up to `most_tokens`.

    Args:
        spans: the passages of the note, in order.
        place: the location of the passage.
        most_tokens: the most tokens of the smallest section, with the passage itself.
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
    left = most_tokens - spans[at].tokens
    for span in (*spans[at + 1 : end], *reversed(spans[start:at])):
        left -= span.tokens
        if left < 0:
            return
        yield span


def _find_section(spans: Sequence[_Span], at: int, heading: tuple[str, ...]) -> tuple[int, int]:
    """Return the range of adjacent passages that are below the same headings.

    Args:
        spans: the passages of the note, in order.
        at: the index of a passage in the section.
        heading: the headings of the section, outermost first.
    """
    depth = len(heading)
    start = end = at
    while start > 0 and spans[start - 1].heading[:depth] == heading:
        start -= 1
    while end < len(spans) and spans[end].heading[:depth] == heading:
        end += 1
    return start, max(end, at + 1)
