"""Fit the ranking weights to a vault, using questions built from its notes.

The questions are split into two halves. Weights are chosen on the first half, and kept only if they
improve the second half without making any kind of question worse. Questions built from sentences
repeat the notes' own words, so they are never used alone.

The weights must also rank the second half at least as well as the best single score does: words of
passages, words of whole notes, or meaning. If no other weights achieve this, passages are ranked by
that score alone.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from statistics import mean
from typing import Final

from vault.catalog import Catalog
from vault.embedding_versions import read_used_model
from vault.ranking.fusion import (
    DEFAULT_WEIGHTS,
    RankingWeights,
    Scores,
    complete_first_notes,
    fuse,
    sort_by_score,
    weigh_words,
)
from vault.ranking.questions import VaultQuestion
from vault.ranking.titles import add_title

__all__ = ["Fit", "fit_weights", "is_of_size", "read_fit", "store_fit"]

RANKING: Final = "ranking"  # the key in the catalog; an emptied catalog has none
_FEWEST_QUESTIONS: Final = 40
_FEWEST_OF_A_KIND: Final = 10
_MOST_SENTENCES: Final = 0.6
_LEAST_GAIN: Final = 0.01
_MOST_LOSS: Final = 0.005
_MOST_CHANGE: Final = 0.25
_DEPTH: Final = 10
_ROUNDING: Final = 1e-9
# Each row starts with the default value, which is kept if other values give equal results.
_WORDS: Final = (0.45, 0.3, 0.6, 0.75, 0.9)
_NOTE_SHARES: Final = (0.55, 0.3, 0.75)
_COLUMNS: Final = ((2.0, 1.5), (1.0, 1.0), (4.0, 2.5))
# The weight of words and the share of whole notes for ranking by each single score.
_SINGLE: Final = ((1.0, 0.0), (1.0, 1.0), (0.0, 0.0))
_REST: Final = 0.001  # for the other scores, which then order only passages with equal scores

Collect = Callable[[str, RankingWeights], Scores]


@dataclass(frozen=True, slots=True)
class Fit:
    """Ranking weights fitted to a vault, and how much they improve the results.

    Attributes:
        weights: the chosen weights. They are the default ones unless others were clearly better, or
            a single score ranks better than the default ones.
        questions: the total number of questions.
        before: the nDCG@10 of the second half with the default weights.
        after: the nDCG@10 of the second half with the fitted weights.
        single: the nDCG@10 of the second half with the best single score.
        recall: the R@10 of the second half with the fitted weights.
        single_recall: the R@10 of the second half with the best single score.
        model: the stamp of the embedding model.
        notes: the number of notes when the weights were fitted.
    """

    weights: RankingWeights
    questions: int
    before: float
    after: float
    single: float
    recall: float
    single_recall: float
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
    first, second = asked[0::4] + asked[1::4], asked[2::4] + asked[3::4]
    single = _measure_single(second)
    chosen = _choose(first, second, single)
    before, after = _measure(second, DEFAULT_WEIGHTS), _measure(second, chosen)
    return Fit(
        chosen,
        len(asked),
        round(before.ndcg, 4),
        round(after.ndcg, 4),
        round(single.ndcg, 4),
        round(after.recall, 4),
        round(single.recall, 4),
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question with its scores for each combination of title and heading weights."""

    question: VaultQuestion
    scores: Mapping[tuple[float, float], Scores]


@dataclass(frozen=True, slots=True)
class _Quality:
    """The quality of rankings as nDCG@10 and R@10."""

    ndcg: float
    recall: float

    def reaches(self, other: "_Quality") -> bool:
        """Return whether both values are at least as high as those of another quality."""
        return self.ndcg >= other.ndcg - _ROUNDING and self.recall >= other.recall - _ROUNDING


def _build_weights(columns: tuple[float, float]) -> RankingWeights:
    return replace(DEFAULT_WEIGHTS, title=columns[0], heading=columns[1])


def _choose(first: Sequence[_Asked], second: Sequence[_Asked], single: _Quality) -> RankingWeights:
    """Return the best weights that rank the second half at least as well as any single score."""
    ranked = _rank_weights(first)
    is_better = _is_clearly_better(ranked[0], first, second)
    preferred = [*([ranked[0]] if is_better else []), DEFAULT_WEIGHTS, *ranked]
    preferred += _list_single_weights()
    lost = _measure(second, DEFAULT_WEIGHTS).ndcg - _MOST_LOSS
    least = _Quality(max(single.ndcg, lost), single.recall)
    found = (each for each in preferred if _measure(second, each).reaches(least))
    return next(found, None) or _find_nearest(preferred, second, least)


def _rank_weights(first: Sequence[_Asked]) -> list[RankingWeights]:
    """Return all candidate weights, ordered by their score on the first half of the questions."""
    tried = [
        RankingWeights(words, share, *columns)
        for words, share, columns in product(_WORDS, _NOTE_SHARES, _COLUMNS)
    ]
    results = {weights: _measure(first, weights).ndcg for weights in tried}
    return sorted(tried, key=lambda weights: -results[weights])


def _list_single_weights() -> list[RankingWeights]:
    return [
        RankingWeights(_leave_rest(words), _leave_rest(share), *_COLUMNS[0])
        for words, share in _SINGLE
    ]


def _leave_rest(weight: float) -> float:
    """Limit a weight so that the other scores keep a small share."""
    return min(max(weight, _REST), 1.0 - _REST)


def _find_nearest(
    weights: Sequence[RankingWeights], second: Sequence[_Asked], least: _Quality
) -> RankingWeights:
    """Return the weights with the best R@10 among those whose nDCG@10 is closest to a value."""

    def rate(each: RankingWeights) -> tuple[float, float, float]:
        quality = _measure(second, each)
        return min(quality.ndcg, least.ndcg), quality.recall, quality.ndcg

    return max(weights, key=rate)


def _is_clearly_better(
    weights: RankingWeights, first: Sequence[_Asked], second: Sequence[_Asked]
) -> bool:
    """Return whether weights are clearly better than the default ones on both halves.

    This is not the case if any kind of question gets worse.
    """
    gains = (
        _measure(half, weights).ndcg - _measure(half, DEFAULT_WEIGHTS).ndcg
        for half in (first, second)
    )
    return min(gains) >= _LEAST_GAIN and not _has_loser([*first, *second], weights)


def _has_loser(asked: Sequence[_Asked], weights: RankingWeights) -> bool:
    """Return whether any kind of question gets worse than with the default weights."""
    for kind in {each.question.kind for each in asked}:
        alike = [each for each in asked if each.question.kind == kind]
        loss = _measure(alike, DEFAULT_WEIGHTS).ndcg - _measure(alike, weights).ndcg
        if len(alike) >= _FEWEST_OF_A_KIND and loss > _MOST_LOSS:
            return True
    return False


def _measure(asked: Sequence[_Asked], weights: RankingWeights) -> _Quality:
    """Return the mean quality of the questions' rankings with the given weights."""
    rated = list[_Quality]()
    for each in asked:
        scores = each.scores[weights.title, weights.heading]
        weight = weigh_words(each.question.text, weights.words)
        ranked = _rank_by(scores, weight, weights.note_share)
        rated.append(_rate(ranked, scores, each.question.answers))
    return _average(rated)


def _rank_by(scores: Scores, weight: float, share: float) -> Sequence[tuple[int, float]]:
    """Rank passages as a search does, but without tags, dates and links."""
    fused = fuse(scores, weight, share)
    titled = ((item, add_title(score, scores.titles.get(item, 0.0))) for item, score in fused)
    return complete_first_notes(sort_by_score(titled), scores)


def _measure_single(asked: Sequence[_Asked]) -> _Quality:
    """Return the best nDCG@10 and the best R@10 with a single score."""
    found = [_average([_rate_single(each, *way) for each in asked]) for way in _SINGLE]
    return _Quality(max(one.ndcg for one in found), max(one.recall for one in found))


def _rate_single(each: _Asked, weight: float, share: float) -> _Quality:
    scores = each.scores[_COLUMNS[0]]
    return _rate(fuse(scores, weight, share), scores, each.question.answers)


def _average(rated: Sequence[_Quality]) -> _Quality:
    return _Quality(mean(one.ndcg for one in rated), mean(one.recall for one in rated))


def _rate(ranked: Iterable[tuple[int, float]], scores: Scores, answers: frozenset[int]) -> _Quality:
    """Return the quality of one question's ranking."""
    notes = dict.fromkeys(scores.files.get(item, -1) for item, _ in ranked)
    places = [place for place, file in enumerate(list(notes)[:_DEPTH]) if file in answers]
    gain = sum(1 / math.log2(place + 2) for place in places)
    most = sum(1 / math.log2(place + 2) for place in range(len(answers)))
    return _Quality(gain / most, len(places) / len(answers))


def read_fit(catalog: Catalog) -> Fit | None:
    """Return the weights stored for the current embedding model, or None if there are none."""
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
    """Return whether the number of notes is similar to that at the time of the fit."""
    return abs(notes - fit.notes) <= _MOST_CHANGE * fit.notes


def store_fit(catalog: Catalog, fit: Fit) -> None:
    """Store the weights for the current embedding model, within the current transaction."""
    stamped = replace(fit, model=read_used_model(catalog)[1])
    catalog.set_meta(RANKING, json.dumps(asdict(stamped)))
