"""How two rankings become one: scores on a common scale, weighed by the query and by themselves."""

import re
from collections.abc import Mapping
from heapq import nlargest

from vault.notes.keywords import latin_share

_CODE_LIKE = re.compile(r"\d|\w[_./:-]\w|[a-z][A-Z]")

# Chosen on half of the training queries of SciFact: 0.2 to 0.5 differ by less than 1 % there.
_BASE, _SHORT, _CODE, _FOREIGN = 0.35, 0.2, 0.2, 0.9
_WORDS_SLOPE, _WORDS_USUAL = 0.5, 0.3
_DENSE_SLOPE, _DENSE_USUAL = 1.0, 0.15
_LEAST, _MOST = 0.1, 0.9
_AHEAD = 10
_FEW_TOKENS = 2
_MAX_TOKENS = 64


def words_weight(query: str) -> float:
    """Tell how much words count against meaning, from 0 to 1.

    The embedding model reads English, and other Latin script by and by: the rest of a query is
    left to its words. Names, numbers and code mean little to it either.
    """
    tokens = query.split()[:_MAX_TOKENS]
    code_like = sum(bool(_CODE_LIKE.search(token)) for token in tokens) / max(len(tokens), 1)
    base = _BASE + (_SHORT if len(tokens) <= _FEW_TOKENS else 0.0) + _CODE * code_like
    return base + (_FOREIGN - base) * (1.0 - latin_share(query))


def fuse(
    words: Mapping[int, float], dense: Mapping[int, float], weight: float
) -> list[tuple[int, float]]:
    """Rank everything that either signal found, best first, with scores from 0 to 1.

    Meaning alone never scores higher than its weight: for a query that the embedding model
    cannot read, that is little.
    """
    weight = _weighed(weight, words, dense) if dense else 1.0
    best_words = max(words.values(), default=1.0) or 1.0
    low, high = min(dense.values(), default=0.0), max(dense.values(), default=1.0)
    span = (high - low) or 1.0
    scores = {
        item: weight * words.get(item, 0.0) / best_words
        + (1.0 - weight) * max(0.0, dense.get(item, low) - low) / span
        for item in words.keys() | dense.keys()
    }
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


def _weighed(weight: float, words: Mapping[int, float], dense: Mapping[int, float]) -> float:
    """Move the weight towards the ranking that tells its best from the rest."""
    by_words = _WORDS_SLOPE * (_sharpness(words) - _WORDS_USUAL)
    by_meaning = _DENSE_SLOPE * (_sharpness(dense) - _DENSE_USUAL)
    return min(max(weight + by_words - by_meaning, _LEAST), max(_MOST, weight))


def _sharpness(scores: Mapping[int, float]) -> float:
    """Tell how far the eleventh lies below the first, from 0 to 1."""
    best = nlargest(_AHEAD + 1, scores.values())
    last = best[_AHEAD] if len(best) > _AHEAD else 0.0
    return min(1.0, (best[0] - last) / best[0]) if best and best[0] > 0 else 0.0
