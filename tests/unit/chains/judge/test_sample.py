"""A sample of verdicts bounds how many notes another model would say yes to."""

import random
from collections.abc import Iterator

import pytest

from chains.judge.sample import SampledKind, choose_sample, compute_bounds

SEEDS = 200


@pytest.mark.parametrize(
    ("notes", "matches", "missed", "false", "count"),
    [
        (2_000, 40, 0.0, 0.0, 100),  # no error at all
        (2_000, 40, 0.3, 0.02, 100),
        (2_000, 0, 0.0, 0.1, 50),  # no match at all
        (600, 300, 0.2, 0.2, 60),
        (50, 5, 0.4, 0.1, 30),
        (2_000, 60, 1.0, 0.0, 200),  # a model that says no to everything
    ],
)
def test_the_truth_is_within_the_bounds_for_95_of_100_seeds(
    notes: int, matches: int, missed: float, false: float, count: int
) -> None:
    held = widths = 0
    for seed in range(SEEDS):
        truth, kinds = judge_wrongly(seed, notes, matches, missed, false)
        drawn = choose_sample(kinds, count)
        sampled = [
            SampledKind(kind, len(kinds[kind]), len(keys), sum(key in truth for key in keys))
            for kind, keys in drawn.items()
        ]
        assert sum(one.sampled for one in sampled) == min(count, notes)
        low, high = compute_bounds(sampled)
        held += low <= matches <= high
        widths += high - low
    assert held >= 0.95 * SEEDS
    assert widths / SEEDS < notes / 2  # bounds that hold because they say nothing would be no use


def judge_wrongly(
    seed: int, notes: int, matches: int, missed: float, false: float
) -> tuple[frozenset[str], dict[str, dict[str, str]]]:
    """Return the notes that match, and all notes by the verdicts of a model that errs."""
    chance = random.Random(seed)
    keys = [f"{seed} {number}" for number in range(notes)]
    truth = frozenset(chance.sample(keys, matches))
    kinds: dict[str, dict[str, str]] = {"yes": {}, "no": {}}
    for key in keys:
        errs = chance.random() < (missed if key in truth else false)
        kinds["yes" if (key in truth) != errs else "no"][key] = key
    return truth, kinds


def test_a_sample_of_all_notes_leaves_nothing_open() -> None:
    assert compute_bounds([SampledKind("yes", 10, 10, 3), SampledKind("no", 5, 5, 5)]) == (8, 8)
    assert compute_bounds([SampledKind("yes", 10, 10, 3), SampledKind("no", 0, 0, 0)]) == (3, 3)
    assert compute_bounds([]) == (0, 0)


def test_nothing_sampled_bounds_nothing() -> None:
    assert compute_bounds([SampledKind("yes", 10, 0, 0)]) == (0, 10)


def test_the_bounds_are_those_of_a_table() -> None:
    # The exact bounds of 2 of 20 of 100 notes at 95 %: each tail has at most 2.5 %.
    low, high = compute_bounds([SampledKind("yes", 100, 20, 2)])
    assert (
        chance_of(100, 20, low - 1, range(2, 21)) <= 0.025 < chance_of(100, 20, low, range(2, 21))
    )
    assert chance_of(100, 20, high + 1, range(3)) <= 0.025 < chance_of(100, 20, high, range(3))


def chance_of(notes: int, sampled: int, matches: int, found: range) -> float:
    """Return the probability of some numbers of matches in a sample, counted by whole numbers."""
    from math import comb

    ways = sum(comb(matches, k) * comb(notes - matches, sampled - k) for k in found)
    return ways / comb(notes, sampled)


def test_the_sample_depends_on_the_content_and_on_nothing_else() -> None:
    kinds = {"yes": keys("y", 30), "no": keys("n", 3_000), "cannot_tell": keys("c", 4)}
    drawn = choose_sample(kinds, 100)
    backwards = {kind: dict(reversed(notes.items())) for kind, notes in reversed(kinds.items())}
    assert choose_sample(backwards, 100) == drawn
    sizes = {kind: len(notes) for kind, notes in drawn.items()}
    assert sum(sizes.values()) == 100
    assert 4 >= sizes["cannot_tell"] >= 2
    assert sizes["yes"] > 100 * 30 / 3_034
    assert choose_sample(kinds, 10_000) == {kind: [*notes] for kind, notes in sort(kinds)}


def keys(letter: str, count: int) -> dict[str, str]:
    return {f"{letter}{number}": f"{letter}{number}" for number in range(count)}


def sort(kinds: dict[str, dict[str, str]]) -> Iterator[tuple[str, list[str]]]:
    for kind, notes in kinds.items():
        yield kind, [*choose_sample({kind: notes}, len(notes))[kind]]
