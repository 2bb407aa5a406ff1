"""Fit the ranking weights to a vault, using questions built from its notes.

The questions are split into two halves. Weights are chosen on the first half, and kept only if they
improve the second half without making any kind of question worse. Questions built from sentences
repeat the notes' own words, so they are never used alone.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from statistics import mean
from typing import Final

from vault.catalog import Catalog
from vault.embedding_versions import read_used_model
from vault.ranking.fusion import DEFAULT_WEIGHTS, RankingWeights, Scores, fuse, weigh_words
from vault.ranking.questions import VaultQuestion

__all__ = ["Fit", "fit_weights", "is_of_size", "read_fit", "store_fit"]

RANKING: Final = "ranking"  # the key in the catalog; an emptied catalog has none
_FEWEST_QUESTIONS: Final = 40
_FEWEST_OF_A_KIND: Final = 10
_MOST_SENTENCES: Final = 0.6
_LEAST_GAIN: Final = 0.01
_MOST_LOSS: Final = 0.005
_MOST_CHANGE: Final = 0.25
_DEPTH: Final = 10
# The first of each row are the usual values, so that equal results change nothing.
_WORDS: Final = (0.45, 0.3, 0.6, 0.75, 0.9)
_NOTE_SHARES: Final = (0.55, 0.3, 0.75)
_COLUMNS: Final = ((2.0, 1.5), (1.0, 1.0), (4.0, 2.5))

Collect = Callable[[str, RankingWeights], Scores]


@dataclass(frozen=True, slots=True)
class Fit:
    """Ranking weights fitted to a vault, and how much they improve the results.

    Attributes:
        weights: the weights, which are the default ones if no others were clearly better.
        questions: the total number of questions.
        before: the nDCG@10 of the second half with the default weights.
        after: the nDCG@10 of the second half with the fitted weights.
        single: the nDCG@10 of the second half with the best single score.
        model: the stamp of the embedding model.
        notes: the number of notes at that time.
    """

    weights: RankingWeights
    questions: int
    before: float
    after: float
    single: float
    model: str = ""
    notes: int = 0

    @property
    def has_changed(self) -> bool:
        """Whether the weights differ from the default ones."""
        return self.weights != DEFAULT_WEIGHTS


def fit_weights(
    questions: Sequence[VaultQuestion], collect: Collect, is_cancelled: Callable[[], bool]
) -> Fit | None:
    """Choose weights on one half of the questions, and test them on the other half.

    Args:
        questions: the questions, alternating between kinds.
        collect: returns the scores for a question, given the weights of title and heading.
        is_cancelled: checked before each question.

    Returns:
        The weights, or None if this was cancelled or there are too few suitable questions.
    """
    sentences = sum(question.kind == "sentence" for question in questions)
    if len(questions) < _FEWEST_QUESTIONS or sentences > _MOST_SENTENCES * len(questions):
        return None
    asked = list[_Asked]()
    for question in questions:
        if is_cancelled():
            return None
        by_columns = {
            columns: collect(question.text, _build_weights(columns)) for columns in _COLUMNS
        }
        asked.append(_Asked(question, by_columns))
    halves = (asked[0::4] + asked[1::4], asked[2::4] + asked[3::4])
    chosen = _choose(*halves)
    second = halves[1]
    return Fit(
        chosen,
        len(asked),
        round(_measure(second, DEFAULT_WEIGHTS), 4),
        round(_measure(second, chosen), 4),
        round(_measure_single(second), 4),
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question with its scores for each pair of title and heading weights."""

    question: VaultQuestion
    scores: Mapping[tuple[float, float], Scores]


def _build_weights(columns: tuple[float, float]) -> RankingWeights:
    return replace(DEFAULT_WEIGHTS, title=columns[0], heading=columns[1])


def _choose(first: Sequence[_Asked], second: Sequence[_Asked]) -> RankingWeights:
    tried = {
        RankingWeights(words, share, *columns): 0.0
        for words, share, columns in product(_WORDS, _NOTE_SHARES, _COLUMNS)
    }
    tried |= {weights: _measure(first, weights) for weights in tried}
    best = max(tried, key=lambda weights: tried[weights])
    gains = (_measure(half, best) - _measure(half, DEFAULT_WEIGHTS) for half in (first, second))
    is_better = min(gains) >= _LEAST_GAIN and not _has_loser([*first, *second], best)
    return best if is_better else DEFAULT_WEIGHTS


def _has_loser(asked: Sequence[_Asked], weights: RankingWeights) -> bool:
    """Return whether any kind of question gets worse than with the default weights."""
    for kind in {each.question.kind for each in asked}:
        alike = [each for each in asked if each.question.kind == kind]
        loss = _measure(alike, DEFAULT_WEIGHTS) - _measure(alike, weights)
        if len(alike) >= _FEWEST_OF_A_KIND and loss > _MOST_LOSS:
            return True
    return False


def _measure(asked: Sequence[_Asked], weights: RankingWeights) -> float:
    """Return the mean nDCG@10 of the questions with the given weights."""
    columns = (weights.title, weights.heading)
    return mean(
        _rate(each, columns, weigh_words(each.question.text, weights.words), weights.note_share)
        for each in asked
    )


def _measure_single(asked: Sequence[_Asked]) -> float:
    """Return the mean nDCG@10 with the best single score.

    The candidates are words of passages, words of whole notes, and meaning.
    """
    usual = _COLUMNS[0]
    ways = ((1.0, 0.0), (1.0, 1.0), (0.0, 0.0))
    return max(mean(_rate(each, usual, *way) for each in asked) for way in ways)


def _rate(each: _Asked, columns: tuple[float, float], weight: float, share: float) -> float:
    scores = each.scores[columns]
    ranked = dict.fromkeys(scores.files.get(item, -1) for item, _ in fuse(scores, weight, share))
    gains = (
        1 / math.log2(place + 2)
        for place, file in enumerate(list(ranked)[:_DEPTH])
        if file in each.question.answers
    )
    return sum(gains) / sum(1 / math.log2(place + 2) for place in range(len(each.question.answers)))


def read_fit(catalog: Catalog) -> Fit | None:
    """Return the stored weights for the current embedding model, or None."""
    stored = catalog.meta(RANKING)
    if not stored:
        return None
    try:
        fields = json.loads(stored)
        fit = Fit(**{**fields, "weights": RankingWeights(**fields["weights"])})
    except (ValueError, TypeError, KeyError):  # of another version
        return None
    return fit if fit.model == read_used_model(catalog)[1] else None


def is_of_size(fit: Fit, notes: int) -> bool:
    """Return whether the number of notes is similar to when the weights were fitted."""
    return abs(notes - fit.notes) <= _MOST_CHANGE * fit.notes


def store_fit(catalog: Catalog, fit: Fit) -> None:
    """Store the weights for the current embedding model, within the current transaction."""
    stamped = replace(fit, model=read_used_model(catalog)[1])
    catalog.set_meta(RANKING, json.dumps(asdict(stamped)))
