"""Fuse three scores of a passage: keyword score, semantic score, and keyword score of its note.

The fused score is a weighted mean of the normalized scores. The weight of the keyword scores
depends on the query. Because the words of a query are often spread over the passages of a long
note, the score of the whole note counts for each of its passages.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from vault.notes.keywords import measure_latin_share

__all__ = [
    "DEFAULT_WEIGHTS",
    "RankingWeights",
    "Scores",
    "complete_first_notes",
    "fuse",
    "sort_by_score",
    "spread_notes",
    "weigh_words",
]

_CODE_LIKE: Final = re.compile(r"\d|\w[_./:-]\w|[a-z][A-Z]")

# Chosen on half of the training queries of SciFact, and on talks with dates that were generated
# with another seed.
_SHORT, _CODE, _FOREIGN = 0.1, 0.1, 0.9
_FEW_TOKENS: Final = 2
_MAX_TOKENS: Final = 64
_PASSAGES_AT_ONCE: Final = 3
_LATER_TURN: Final = 0.7
_FIRST_NOTES: Final = 10
_COMPLETED: Final = 2


@dataclass(frozen=True, slots=True)
class RankingWeights:
    """The weights that a search uses to rank passages.

    Attributes:
        words: the weight of the keyword scores for a typical English question, from 0 to 1. The
            semantic score has the rest.
        note_share: the fraction of `words` that the keyword score of the whole note gets.
        title: the weight of words in a note's names, relative to its text.
        heading: the weight of words in headings, relative to the text.
    """

    words: float = 0.45
    note_share: float = 0.55
    title: float = 2.0
    heading: float = 1.5

    @property
    def columns(self) -> tuple[float, float, float]:
        """The column weights of the full-text index: title, heading and text."""
        return (self.title, self.heading, 1.0)


DEFAULT_WEIGHTS = RankingWeights()


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of the passages and notes that a query found.

    Attributes:
        words: the BM25 scores of passages, keyed by passage id.
        dense: the cosine similarities of passages, keyed by passage id. Passages without a vector
            are missing.
        notes: the BM25 scores of whole notes, keyed by file id.
        files: the file ids of passages, keyed by passage id.
        titles: the similarity between the query and the note's names and headings, keyed by passage
            id. Empty if it was not measured.
    """

    words: Mapping[int, float]
    dense: Mapping[int, float]
    notes: Mapping[int, float] = field(default_factory=dict)
    files: Mapping[int, int] = field(default_factory=dict)
    titles: Mapping[int, float] = field(default_factory=dict)


def weigh_words(query: str, usual: float = DEFAULT_WEIGHTS.words) -> float:
    """Return the weight of the keyword scores in a ranking, from 0 to 1.

    The semantic score has the rest of the weight. The embedding model was trained on English and
    knows little of other languages. Keyword scores therefore count more for queries in other
    scripts, short queries, numbers and code.

    Args:
        query: the query without filters.
        usual: the weight for a typical English question.
    """
    tokens = query.split()[:_MAX_TOKENS]
    code_like = sum(bool(_CODE_LIKE.search(token)) for token in tokens) / max(len(tokens), 1)
    added = (_SHORT if len(tokens) <= _FEW_TOKENS else 0.0) + _CODE * code_like
    base = usual + 4.0 * usual * (1.0 - usual) * added  # at 0 and 1 nothing is added
    return base + (_FOREIGN - base) * (1.0 - measure_latin_share(query))


def fuse(scores: Scores, weight: float, note_share: float = 0.0) -> list[tuple[int, float]]:
    """Rank passages by their fused scores, and return pairs of passage id and score, best first.

    The scores are from 0 to 1. A passage that only the semantic search finds never scores higher
    than the weight of the semantic score, which is small for scripts that the embedding model does
    not know. A passage without a vector is ranked only by its keyword scores.

    Args:
        scores: the keyword scores and the semantic scores.
        weight: the weight of the keyword scores, from 0 to 1.
        note_share: the fraction of `weight` that the keyword score of the whole note gets.
    """
    by_words = _score_by_words(scores, note_share)
    if not scores.dense:
        return sort_by_score(by_words.items())
    by_meaning = _score_by_meaning(scores.dense)
    floor = (1.0 - weight) * min(by_meaning.values())  # so that the scores begin at 0
    fused = {
        item: max(0.0, weight * by_words.get(item, 0.0) + (1.0 - weight) * score - floor)
        / ((1.0 - floor) or 1.0)
        for item, score in by_meaning.items()
    }
    return sort_by_score((by_words | fused).items())


def sort_by_score(scored: Iterable[tuple[int, float]]) -> list[tuple[int, float]]:
    """Sort pairs of item and score, highest score first."""
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))


def spread_notes(
    ranked: Sequence[tuple[int, float]], files: Mapping[int, int]
) -> list[tuple[int, float]]:
    """Lower the scores of a note's passages after the best three, and again after every three.

    Passages of other notes that are almost as good then come first.

    Args:
        ranked: pairs of passage id and score, best first.
        files: the file ids of passages, keyed by passage id.
    """
    counts: Counter[int] = Counter()
    spread = list[tuple[int, float]]()
    for item, score in ranked:
        file = files.get(item, -item)
        spread.append((item, score * _LATER_TURN ** (counts[file] // _PASSAGES_AT_ONCE)))
        counts[file] += 1
    return sort_by_score(spread)


def complete_first_notes(
    ranked: Sequence[tuple[int, float]], scores: Scores
) -> list[tuple[int, float]]:
    """Move up to two more notes into the first ten notes of a ranking.

    These are the notes outside of the first eight that have the highest rank by any single score,
    such as the semantic score. Otherwise, a note that one score ranks high and the others rank low
    could be missed.

    Args:
        ranked: pairs of passage id and score, best first.
        scores: the scores of the passages and notes.
    """
    notes = _list_notes(ranked, scores.files)
    head = list(dict.fromkeys(notes))[: _FIRST_NOTES - _COMPLETED]
    places = _find_best_places(scores)
    others = sorted(set(notes).difference(head), key=lambda note: (places[note], note))
    first = {*head, *others[:_COMPLETED]}
    at = next((at for at, note in enumerate(notes) if note not in first), len(notes))
    rising = first.difference(notes[:at])
    best = {note: pair[0] for note, pair in reversed([*zip(notes, ranked, strict=True)])}
    risen = [best[note] for note in others if note in rising]
    moved = [(item, ranked[at][1]) for item in risen]
    return [*ranked[:at], *moved, *(pair for pair in ranked[at:] if pair[0] not in risen)]


def _list_notes(ranked: Sequence[tuple[int, float]], files: Mapping[int, int]) -> list[int]:
    return [files.get(item, -item) for item, _ in ranked]


def _find_best_places(scores: Scores) -> Mapping[int, int]:
    """Rank notes by each score separately, and return each note's best rank, keyed by file id."""
    places: dict[int, int] = {}
    rankings = [_list_notes(sort_by_score(scores.notes.items()), {n: n for n in scores.notes})]
    for found in (scores.words, scores.dense):
        rankings.append(_list_notes(sort_by_score(found.items()), scores.files))
    for ranking in rankings:
        for place, note in enumerate(dict.fromkeys(ranking)):
            places[note] = min(place, places.get(note, place))
    return places


def _score_by_words(scores: Scores, note_share: float) -> dict[int, float]:
    best = max(scores.words.values(), default=0.0) or 1.0
    best_note = max(scores.notes.values(), default=0.0) or 1.0
    share = note_share if scores.notes else 0.0
    return {
        item: (1.0 - share) * scores.words.get(item, 0.0) / best
        + share * scores.notes.get(scores.files.get(item, -1), 0.0) / best_note
        for item in scores.words.keys() | scores.dense.keys()
    }


def _score_by_meaning(dense: Mapping[int, float]) -> dict[int, float]:
    """Normalize cosine similarities by dividing each of them by the highest one."""
    best = max(dense.values())
    if best <= 0.0:
        return dict.fromkeys(dense, 0.0)
    return {item: max(0.0, cosine) / best for item, cosine in dense.items()}
