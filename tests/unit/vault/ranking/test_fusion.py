"""Scores by words, by meaning and of whole notes become one order."""

from hypothesis import given
from hypothesis import strategies as st

from vault.ranking.fusion import (
    Scores,
    complete_first_notes,
    fuse,
    spread_notes,
    weigh_words,
)

found = st.dictionaries(st.integers(1, 30), st.floats(0.01, 30), max_size=20)
cosines = st.dictionaries(st.integers(1, 30), st.floats(-1, 1), max_size=20)


def rank(scores: Scores, weight: float, note_share: float = 0.0) -> list[int]:
    return [item for item, _ in fuse(scores, weight, note_share)]


def test_one_signal_alone_decides_where_the_other_is_silent() -> None:
    assert rank(Scores({}, {1: 0.2, 2: 0.9}), 0.9) == [2, 1]
    assert rank(Scores({1: 3.0, 2: 9.0}, {}), 0.1) == [2, 1]
    assert rank(Scores({}, {}), 0.5) == []


def test_of_two_equal_passages_that_of_the_better_note_comes_first() -> None:
    scores = Scores({1: 5.0, 2: 5.0}, {1: 0.4, 2: 0.4}, {10: 2.0, 20: 6.0}, {1: 10, 2: 20})
    assert rank(scores, 0.5, 0.5) == [2, 1]
    assert rank(scores, 0.5) == [1, 2]


def test_a_passage_without_a_vector_is_ranked_by_its_words() -> None:
    assert rank(Scores({1: 9.0, 2: 1.0}, {2: 0.1, 3: 0.6}), 0.4)[0] == 1


@given(found, cosines, found, st.floats(0, 1), st.floats(0, 1))
def test_fused_scores_are_from_0_to_1(words, dense, notes, weight, share) -> None:
    files = {item: item % 7 for item in words.keys() | dense.keys()}
    fused = fuse(Scores(words, dense, notes, files), weight, share)
    assert {item for item, _ in fused} == files.keys()
    assert all(-1e-9 <= score <= 1 + 1e-9 for _, score in fused)
    assert [score for _, score in fused] == sorted((score for _, score in fused), reverse=True)


def test_the_fourth_passage_of_a_note_waits_for_others_that_are_nearly_as_good() -> None:
    ranked = [(1, 0.9), (2, 0.88), (3, 0.86), (4, 0.84), (5, 0.7), (6, 0.1)]
    files = {1: 1, 2: 1, 3: 1, 4: 1, 5: 2, 6: 3}
    assert [item for item, _ in spread_notes(ranked, files)] == [1, 2, 3, 5, 4, 6]


def test_a_note_that_one_score_ranks_high_is_among_the_first_ten() -> None:
    words = {item: 20.0 - item for item in range(1, 16)}
    dense = {item: 0.9 - item / 100 for item in range(1, 15)} | {15: 0.888}
    scores = Scores(words, dense, files={item: item for item in words})
    ranked = fuse(scores, 0.9)
    assert [item for item, _ in ranked] == list(range(1, 16))
    completed = complete_first_notes(ranked, scores)
    assert [item for item, _ in completed] == [*range(1, 10), 15, *range(10, 15)]
    found = [score for _, score in completed]
    assert found == sorted(found, reverse=True)


@given(found, cosines, found)
def test_completing_the_first_notes_loses_no_passage_and_keeps_the_first_eight(
    words, dense, notes
) -> None:
    files = {item: item % 17 for item in words.keys() | dense.keys()}
    scores = Scores(words, dense, notes, files)
    ranked = fuse(scores, 0.5, 0.5)
    completed = complete_first_notes(ranked, scores)
    assert {item for item, _ in completed} == {item for item, _ in ranked}
    assert len(completed) == len(ranked)
    first = list(dict.fromkeys(files[item] for item, _ in ranked))[:8]
    assert list(dict.fromkeys(files[item] for item, _ in completed))[:8] == first


def test_words_weigh_more_for_what_the_model_does_not_read() -> None:
    english = weigh_words("what is the meaning of this long english question")
    assert weigh_words("что такое горячая перезагрузка в этой книге") > english + 0.2
    assert weigh_words("EIP-1559 basefee_per_gas 0x12ab") > english
