"""Fit the ranking weights to a vault, using questions built from its notes.

The questions are split into two halves. Weights are chosen on the first half. They are kept only if
they improve the second half and make no kind of question worse. Questions built from sentences
repeat the notes' own words, so they are never used alone.

Each passage has three scores: its keyword score, the keyword score of its note, and its semantic
score. On the second half, the chosen weights must rank notes at least as well as the best of these
scores alone. If no weights achieve this, passages are ranked by that score alone.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
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

    The results are also compared with rankings that use only one score: the semantic score, the
    keyword score of the passage, or the keyword score of the whole note.

    Attributes:
        weights: the chosen weights. These are the default weights, unless other weights were
            clearly better or a ranking by one score was better.
        questions: the total number of questions. The weights were fitted on the first half.
        before: the ranking quality (nDCG@10) of the second half with the default weights.
        after: the ranking quality (nDCG@10) of the second half with the chosen weights.
        single: the highest nDCG@10 of the second half with only one score.
        recall: the recall (R@10) of the second half with the chosen weights.
        single_recall: the highest recall (R@10) of the second half with only one score.
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
        """Whether the fitted ranking weights differ from the default ones."""
        return self.weights != DEFAULT_WEIGHTS


class _Cancelled(Exception):
    """Raised to stop fitting the ranking weights when the fitting is cancelled."""


def fit_weights(
    questions: Sequence[VaultQuestion], collect: Collect, is_cancelled: Callable[[], bool]
) -> Fit | None:
    """Choose ranking weights on one half of the questions, and test them on the other half.

    Args:
        questions: the questions. Adjacent ones should be of different kinds.
        collect: returns the scores for a question, given the weights of titles and headings.
        is_cancelled: checked before each small step. It may sleep to limit the load.

    Returns:
        The weights, or None if this was cancelled or there are too few suitable questions.
    """
    sentences = sum(question.kind == "sentence" for question in questions)
    if len(questions) < _FEWEST_QUESTIONS or sentences > _MOST_SENTENCES * len(questions):
        return None

    def check() -> None:
        if is_cancelled():
            raise _Cancelled

    try:
        return _fit_asked([_ask(question, collect, check) for question in questions], check)
    except _Cancelled:
        return None


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question, and the scores of the passages that it found.

    Attributes:
        scores: the scores for each pair of a title weight and a heading weight.
    """

    question: VaultQuestion
    scores: Mapping[tuple[float, float], Scores]


@dataclass(frozen=True, slots=True)
class _Quality:
    """The quality of rankings.

    Attributes:
        ndcg: the nDCG@10, which is higher if the expected notes come first.
        recall: the R@10, which is the fraction of expected notes among the first ten.
    """

    ndcg: float
    recall: float

    def reaches(self, other: "_Quality") -> bool:
        """Return whether both measures are at least as high as those of another quality."""
        return self.ndcg >= other.ndcg - _ROUNDING and self.recall >= other.recall - _ROUNDING


@dataclass(frozen=True, slots=True)
class _QuestionSet:
    """Questions for measuring how well ranking weights work.

    Attributes:
        check: called before each question. It may sleep to limit the load, and raises `_Cancelled`
            to stop.
    """

    asked: Sequence[_Asked]
    check: Callable[[], None]

    def measure(self, weights: RankingWeights) -> _Quality:
        """Return the mean quality of the rankings for the questions with the given weights."""
        return self._average(partial(_rate_fused, weights=weights))

    def measure_single(self) -> _Quality:
        """Measure rankings that use only one score, such as the semantic score.

        Return the highest nDCG@10 and the highest R@10 of these rankings.
        """
        found = [self._average(partial(_rate_single, way=way)) for way in _SINGLE]
        return _Quality(max(one.ndcg for one in found), max(one.recall for one in found))

    def _average(self, rate: Callable[[_Asked], _Quality]) -> _Quality:
        rated = list[_Quality]()
        for each in self.asked:
            self.check()
            rated.append(rate(each))
        return _Quality(mean(one.ndcg for one in rated), mean(one.recall for one in rated))


def _ask(question: VaultQuestion, collect: Collect, check: Callable[[], None]) -> _Asked:
    scores = dict[tuple[float, float], Scores]()
    for columns in _COLUMNS:
        check()
        scores[columns] = collect(question.text, _build_weights(columns))
    return _Asked(question, scores)


def _fit_asked(asked: Sequence[_Asked], check: Callable[[], None]) -> Fit:
    """Choose ranking weights on one half of the questions, and test them on the other half.

    Args:
        asked: the questions with their scores.
        check: called before each question. It raises `_Cancelled` to stop.
    """
    first = _QuestionSet([*asked[0::4], *asked[1::4]], check)
    second = _QuestionSet([*asked[2::4], *asked[3::4]], check)
    single = second.measure_single()
    chosen = _choose(first, second, single)
    before, after = second.measure(DEFAULT_WEIGHTS), second.measure(chosen)
    return Fit(
        chosen,
        len(asked),
        round(before.ndcg, 4),
        round(after.ndcg, 4),
        round(single.ndcg, 4),
        round(after.recall, 4),
        round(single.recall, 4),
    )


def _build_weights(columns: tuple[float, float]) -> RankingWeights:
    return replace(DEFAULT_WEIGHTS, title=columns[0], heading=columns[1])


def _choose(first: _QuestionSet, second: _QuestionSet, single: _Quality) -> RankingWeights:
    """Return the best weights that rank the second half at least as well as any single score.

    If there are none, return the weights that come closest.

    Args:
        first: the first half of the questions.
        second: the second half of the questions.
        single: the highest quality of a ranking by a single score on the second half.
    """
    ranked = _rank_weights(first)
    is_better = _is_clearly_better(ranked[0], first, second)
    preferred = [*([ranked[0]] if is_better else []), DEFAULT_WEIGHTS, *ranked]
    preferred += _list_single_weights()
    lost = second.measure(DEFAULT_WEIGHTS).ndcg - _MOST_LOSS
    least = _Quality(max(single.ndcg, lost), single.recall)
    found = (each for each in preferred if second.measure(each).reaches(least))
    return next(found, None) or _find_nearest(preferred, second, least)


def _rank_weights(first: _QuestionSet) -> list[RankingWeights]:
    """Return all candidate weights, sorted by their nDCG@10 on a set of questions, best first."""
    tried = [
        RankingWeights(words, share, *columns)
        for words, share, columns in product(_WORDS, _NOTE_SHARES, _COLUMNS)
    ]
    results = {weights: first.measure(weights).ndcg for weights in tried}
    return sorted(tried, key=lambda weights: -results[weights])


def _list_single_weights() -> list[RankingWeights]:
    return [
        RankingWeights(_limit_weight(words), _limit_weight(share), *_COLUMNS[0])
        for words, share in _SINGLE
    ]


def _limit_weight(weight: float) -> float:
    """Limit a ranking weight to the range from 0.001 to 0.999, so that no score is ignored."""
    return min(max(weight, _REST), 1.0 - _REST)


def _find_nearest(
    weights: Sequence[RankingWeights], second: _QuestionSet, least: _Quality
) -> RankingWeights:
    """Return the weights whose nDCG@10 comes closest to that of `least`.

    If several weights reach it, return those with the best R@10.

    Args:
        weights: the weights to choose from.
        second: the questions to measure the weights on.
        least: the quality to reach.
    """

    def rate(each: RankingWeights) -> tuple[float, float, float]:
        quality = second.measure(each)
        return min(quality.ndcg, least.ndcg), quality.recall, quality.ndcg

    return max(weights, key=rate)


def _is_clearly_better(weights: RankingWeights, first: _QuestionSet, second: _QuestionSet) -> bool:
    """Return whether weights are clearly better than the default ones on both sets of questions.

    This is not the case if any kind of question gets worse results.
    """
    gains = (
        half.measure(weights).ndcg - half.measure(DEFAULT_WEIGHTS).ndcg for half in (first, second)
    )
    both = _QuestionSet([*first.asked, *second.asked], first.check)
    return min(gains) >= _LEAST_GAIN and not _has_loser(both, weights)


def _has_loser(both: _QuestionSet, weights: RankingWeights) -> bool:
    """Return whether any kind of question gets worse results than with the default weights."""
    for kind in {each.question.kind for each in both.asked}:
        alike = [each for each in both.asked if each.question.kind == kind]
        half = _QuestionSet(alike, both.check)
        loss = half.measure(DEFAULT_WEIGHTS).ndcg - half.measure(weights).ndcg
        if len(alike) >= _FEWEST_OF_A_KIND and loss > _MOST_LOSS:
            return True
    return False


def _rate_fused(each: _Asked, weights: RankingWeights) -> _Quality:
    scores = each.scores[weights.title, weights.heading]
    weight = weigh_words(each.question.text, weights.words)
    ranked = _rank_by(scores, weight, weights.note_share)
    return _rate(ranked, scores, each.question.answers)


def _rank_by(scores: Scores, weight: float, share: float) -> Sequence[tuple[int, float]]:
    """Rank passages as a search does, but without the boosts for tags, dates and links.

    Args:
        scores: the scores of the passages.
        weight: the weight of the keyword scores, from 0 to 1. The semantic score has the rest.
        share: the fraction of `weight` that the keyword score of the whole note gets.
    """
    fused = fuse(scores, weight, share)
    titled = ((item, add_title(score, scores.titles.get(item, 0.0))) for item, score in fused)
    return complete_first_notes(sort_by_score(titled), scores)


def _rate_single(each: _Asked, way: tuple[float, float]) -> _Quality:
    scores = each.scores[_COLUMNS[0]]
    return _rate(fuse(scores, *way), scores, each.question.answers)


def _rate(ranked: Iterable[tuple[int, float]], scores: Scores, answers: frozenset[int]) -> _Quality:
    """Return the quality of the ranking for one question.

    Args:
        ranked: pairs of passage id and score, best first.
        scores: the scores, which contain the file ids of the passages.
        answers: the file ids of the expected notes.
    """
    notes = dict.fromkeys(scores.files.get(item, -1) for item, _ in ranked)
    places = [place for place, file in enumerate(list(notes)[:_DEPTH]) if file in answers]
    gain = sum(1 / math.log2(place + 2) for place in places)
    most = sum(1 / math.log2(place + 2) for place in range(len(answers)))
    return _Quality(gain / most, len(places) / len(answers))


def read_fit(catalog: Catalog) -> Fit | None:
    """Return the ranking weights that were fitted to the vault, or None.

    Weights fitted with another embedding model are ignored.
    """
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
    """Return whether the vault has about as many notes as when the weights were fitted.

    Args:
        fit: the fitted weights.
        notes: the current number of notes.
    """
    return abs(notes - fit.notes) <= _MOST_CHANGE * fit.notes


def store_fit(catalog: Catalog, fit: Fit) -> None:
    """Store ranking weights for the current embedding model, within the current transaction."""
    stamped = replace(fit, model=read_used_model(catalog)[1])
    catalog.set_meta(RANKING, json.dumps(asdict(stamped)))
