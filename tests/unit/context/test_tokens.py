import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.budget import compute_budget
from context.messages import (
    ImagePart,
    Message,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolDefinition,
    ToolResultPart,
)
from context.tokens import (
    LARGEST_FACTOR,
    ByteEstimator,
    TokenCounter,
    choose_safety_factor,
    count_message,
    count_part,
    count_segment,
    count_tool,
    limit_factor,
    raise_factor,
)
from tests.support.sessions.chats import passage


class Words:
    """An exact counter whose tokens are words, and that remembers what it was asked."""

    name = "words"
    is_exact = True
    message_overhead = 4
    part_overhead = 0

    def __init__(self):
        self.asked = []

    def count(self, text):
        self.asked.append(text)
        return len(text.split())


@given(st.text())
def test_the_estimate_is_the_bytes_over_three_and_a_half_and_five_percent(text):
    expected = math.ceil(math.ceil(len(text.encode()) / 3.5) * 1.05)
    assert ByteEstimator().count(text) == expected


def test_japanese_is_not_counted_at_half():
    assert ByteEstimator().count("東京都" * 100) > 250


def test_text_with_half_a_surrogate_pair_is_counted():
    assert ByteEstimator().count("a\ud800b") > 0


def test_estimators_are_interchangeable():
    assert ByteEstimator() == ByteEstimator()
    assert isinstance(ByteEstimator(), TokenCounter)


def test_bare_text_costs_its_tokens_and_the_overhead_of_a_message():
    assert count_message(Message("user", "three small words"), Words()) == 3 + 4


def test_parts_cost_their_tokens_and_the_overhead_of_a_part():
    message = Message("assistant", (TextPart("abc"), ReasoningPart("abc")))
    one = ByteEstimator().count("abc") + 3
    assert count_message(message, ByteEstimator()) == 8 + 2 * one


def test_an_image_costs_two_thousand():
    message = Message("user", (ImagePart("image/png", "AAAA"),))
    assert count_message(message, ByteEstimator()) == 2_000 + 8 + 3


def test_calls_and_results_cost_what_is_in_them_and_the_json_around():
    call = Message("assistant", (ToolCallPart("c", "read", {"path": "a b"}),))
    result = Message("tool", (ToolResultPart("c", "one two"),))
    assert count_message(call, Words()) == 4 + 2 + 9
    assert count_message(result, Words()) == 4 + 2 + 9


def test_a_message_is_counted_once():
    counter, message = Words(), Message("user", "a question")
    assert count_message(message, counter) == count_message(message, counter)
    assert counter.asked == ["a question"]


def test_counters_do_not_share_their_counts():
    message = Message("user", "a question of five words")
    assert count_message(message, Words()) != count_message(message, ByteEstimator())


def test_a_segment_is_counted_once_with_what_is_around_it():
    counter, segment = Words(), passage(1, "two words")
    assert count_segment(segment, counter) == len(segment.render().split())
    count_segment(segment, counter)
    assert len(counter.asked) == 1


def test_a_part_costs_its_text_and_overhead():
    assert count_part("abc", ByteEstimator()) == ByteEstimator().count("abc") + 3


def test_tools_cost_a_fifth_more_than_their_json():
    tool = ToolDefinition("name", "does things", {"type": "object"})
    assert count_tool(tool, Words()) == math.ceil(2 * 1.2) + 8


def test_the_factor_is_one_only_for_the_models_own_tokenizer():
    assert choose_safety_factor(Words()) == 1.0
    assert choose_safety_factor(ByteEstimator()) == 1.1


def test_the_factor_goes_up_a_step_when_more_was_reported():
    assert raise_factor(1.1, estimated=1_000, reported=1_109) == 1.15
    assert raise_factor(1.0, estimated=1_000, reported=5_000) == 1.05


def test_the_factor_stays_when_it_covered_the_report():
    assert raise_factor(1.1, estimated=1_000, reported=1_100) == 1.1
    assert raise_factor(1.1, estimated=1_000, reported=3) == 1.1


def test_the_few_tokens_that_every_request_gets_do_not_raise_the_factor():
    assert raise_factor(1.0, estimated=50, reported=53) == 1.0
    assert raise_factor(1.0, estimated=50, reported=59) == 1.05


@pytest.mark.parametrize("reported", [-1, -(10**9), 0, 10**9, 10**18, 10_000_001])
@pytest.mark.parametrize("estimated", [0, 1, 5_000])
def test_a_count_that_no_request_can_have_does_not_move_the_factor(reported, estimated):
    assert raise_factor(1.1, estimated, reported) == 1.1


@pytest.mark.parametrize("factor", [0.0, -3.0, 1e9, float("nan"), float("inf"), 1.999, 1.0])
def test_a_factor_stays_within_its_limits_whatever_a_log_says(factor):
    assert 1.0 <= limit_factor(factor) <= LARGEST_FACTOR
    budget = compute_budget(ByteEstimator(), 8_000, None, 2_000, factor).budget
    assert 3_000 <= budget <= 5_454


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(-(10**9), 10**9))))
def test_the_factor_never_goes_down_and_never_runs_away(reports):
    factor = 1.1
    for estimated, reported in reports:
        raised = raise_factor(factor, estimated, reported)
        assert factor <= raised <= LARGEST_FACTOR
        assert raised - factor == pytest.approx(0) or raised - factor == pytest.approx(0.05)
        factor = raised
