"""Check the verdicts of one model by a sample that another one judges, and bound the matches.

The sample is drawn from each kind of verdict by itself, since a few notes of a yes say nothing of
the many of a no. The bounds are exact: they hold for each number of matches from which the sample
could have been drawn (inverted hypergeometric tests). Bonferroni's inequality joins the kinds.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from context.json_codec import Record

__all__ = ["CONFIDENCE", "SampledKind", "choose_sample", "compute_bounds"]

CONFIDENCE: Final = 0.95

_Note = TypeVar("_Note")
_Kind = TypeVar("_Kind", bound=str)


@dataclass(frozen=True)
class SampledKind(Record):
    """The sample from the notes with one kind of verdict.

    Attributes:
        verdict: the verdict of the first model.
        notes: the number of notes with this verdict.
        sampled: how many of them were judged again.
        yes: how many of these the other model says yes to.
    """

    verdict: str
    notes: int
    sampled: int
    yes: int


def choose_sample(
    kinds: Mapping[_Kind, Mapping[str, _Note]], count: int
) -> Mapping[_Kind, Sequence[_Note]]:
    """Draw a sample from each kind of verdict. The same notes give the same sample.

    The sizes are proportional to the square roots of the numbers of notes, so that a small kind is
    sampled more densely than a large one.

    Args:
        kinds: the notes of each kind, by keys that identify their content.
        count: the size of the sample, of all kinds together.
    """
    drawn: dict[_Kind, Sequence[_Note]] = {}
    left, roots = count, {kind: math.sqrt(len(notes)) for kind, notes in kinds.items()}
    for kind in sorted(kinds, key=lambda kind: (len(kinds[kind]), kind)):
        weight = roots[kind] / (sum(roots[one] for one in kinds if one not in drawn) or 1)
        size = min(len(kinds[kind]), math.ceil(left * weight))
        keys = sorted(kinds[kind], key=_shuffle)[:size]
        drawn[kind] = [kinds[kind][key] for key in keys]
        left -= size
    return drawn


def compute_bounds(kinds: Sequence[SampledKind], confidence: float = CONFIDENCE) -> tuple[int, int]:
    """Return the least and the most notes that the other model would say yes to.

    Args:
        kinds: the sample of each kind of verdict.
        confidence: the least probability that the true number is within the bounds, over all
            samples that could have been drawn.
    """
    open_kinds = sum(kind.sampled < kind.notes for kind in kinds)
    chance = (1 - confidence) / 2 / max(1, open_kinds)
    bounds = [_compute_kind_bounds(kind, chance) for kind in kinds]
    return sum(low for low, _ in bounds), sum(high for _, high in bounds)


def _compute_kind_bounds(kind: SampledKind, chance: float) -> tuple[int, int]:
    """Bound the matches of one kind. Each bound is missed with at most the given probability."""
    least, most = kind.yes, kind.notes - (kind.sampled - kind.yes)
    low, high = least, most
    while low < high:  # the fewest matches that make so many in the sample likely enough
        middle = (low + high) // 2
        if 1 - _sum_chances(kind, middle, kind.yes - 1) > chance:
            high = middle
        else:
            low = middle + 1
    lower, high = low, most
    while low < high:  # the most matches that make so few in the sample likely enough
        middle = (low + high + 1) // 2
        if _sum_chances(kind, middle, kind.yes) > chance:
            low = middle
        else:
            high = middle - 1
    return lower, low


def _sum_chances(kind: SampledKind, matches: int, most: int) -> float:
    """Return the probability of at most so many matches in the sample, given those in all notes."""
    others, sampled = kind.notes - matches, kind.sampled
    first, last = max(0, sampled - others), min(most, sampled, matches)
    total = _log_choices(kind.notes, sampled)
    return math.fsum(
        math.exp(_log_choices(matches, yes) + _log_choices(others, sampled - yes) - total)
        for yes in range(first, last + 1)
    )


def _log_choices(among: int, chosen: int) -> float:
    return math.lgamma(among + 1) - math.lgamma(chosen + 1) - math.lgamma(among - chosen + 1)


def _shuffle(key: str) -> bytes:
    """Return what sorts keys as if they were shuffled, always in the same way."""
    return hashlib.sha256(f"sample {key}".encode()).digest()
