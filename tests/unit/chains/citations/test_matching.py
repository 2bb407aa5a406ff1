"""Words in their order: what `SequenceMatcher` finds, also where a sentence repeats itself."""

import time
from difflib import SequenceMatcher

from hypothesis import given
from hypothesis import strategies as st

from chains.citations.matching import measure_order


def measure_by_definition(words: list[str], others: list[str]) -> float:
    blocks = SequenceMatcher(None, words, others, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / len(words)


def write_sentences(words: str, most: int) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(words), min_size=1, max_size=most)


@given(words=write_sentences("ab", 80), others=write_sentences("abc", 80))
def test_repeated_words_are_matched_as_by_sequence_matcher(words, others) -> None:
    assert measure_order(words, others) == measure_by_definition(words, others)


@given(words=write_sentences("abcdefgh", 30), others=write_sentences("abcdefghi", 30))
def test_varied_words_are_matched_as_by_sequence_matcher(words, others) -> None:
    assert measure_order(words, others) == measure_by_definition(words, others)


@given(
    part=write_sentences("abcd", 6),
    times=st.integers(10, 60),
    changes=st.lists(st.tuples(st.integers(0, 359), st.sampled_from("abxy")), max_size=6),
)
def test_a_repeating_sentence_with_changes_is_matched_as_by_sequence_matcher(
    part, times, changes
) -> None:
    words = part * times
    others = list(words)
    for at, word in changes:
        others[at % len(others)] = word
    assert measure_order(words, others) == measure_by_definition(words, others)
    assert measure_order(others, words) == measure_by_definition(others, words)


def test_an_answer_that_repeats_itself_without_end_is_compared_soon() -> None:
    """Its 24,000 words took more than a minute of processor time, since all pairs were visited."""
    words = ["leaves", "and", "stones", "and"] * 6_000
    others = [*words[:12_000], "water", *words[12_000:]]
    before = time.thread_time()
    assert measure_order(words, others) == 1.0
    assert time.thread_time() - before < 5
