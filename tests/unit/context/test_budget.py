import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.budget import (
    BudgetPolicy,
    ContextBudget,
    compute_budget_tokens,
    compute_window,
    output_reserve,
)
from context.errors import ContextError


def test_a_budget_adds_its_components():
    budget = ContextBudget(10_000, 2_000, 100, 200, 300, 400)
    assert budget.effective_window == 8_000
    assert budget.used_tokens == 1_000
    assert budget.remaining_tokens == 7_000
    assert budget.used_percentage == 0.125


def test_the_components_default_to_nothing():
    assert ContextBudget(total=100, max_output_tokens=10).used_tokens == 0


def test_the_effective_window_is_never_negative_but_what_remains_may_be():
    budget = ContextBudget(100, 200, conversation=50)
    assert budget.effective_window == 0
    assert budget.remaining_tokens == -50
    assert budget.used_percentage == 1.0


def test_the_used_percentage_may_exceed_one():
    assert ContextBudget(100, 0, conversation=150).used_percentage == 1.5


def test_the_percentage_is_one_where_there_is_no_window():
    assert ContextBudget(0, 0).used_percentage == 1.0


def test_the_policy_acts_strictly_above_its_fractions():
    policy = BudgetPolicy()
    assert not policy.should_trim(800, 1_000)
    assert policy.should_trim(801, 1_000)
    assert not policy.should_compact(950, 1_000)
    assert policy.should_compact(951, 1_000)
    assert not policy.is_blocked(980, 1_000)
    assert policy.is_blocked(981, 1_000)


def test_the_policy_rounds_its_limits_down():
    assert BudgetPolicy().should_trim(8, 9)
    assert not BudgetPolicy().should_trim(7, 9)


@pytest.mark.parametrize(
    "fractions",
    [(0, 0.9, 0.9), (-1, 0.5, 0.5), (0.9, 0.8, 0.95), (0.5, 0.9, 0.8), (0.5, 0.6, 1.01)],
)
def test_fractions_out_of_order_are_refused(fractions):
    with pytest.raises(ValueError, match="trim_at") as caught:
        BudgetPolicy(*fractions)
    assert isinstance(caught.value, ContextError)


def test_equal_fractions_up_to_one_are_accepted():
    assert BudgetPolicy(1, 1, 1).trim_at == 1


def test_a_policy_cannot_be_changed():
    with pytest.raises(AttributeError):
        BudgetPolicy().trim_at = 0.5


def test_the_answer_gets_at_most_a_quarter_of_the_window():
    assert output_reserve(4_096, 128_000) == 4_096
    assert output_reserve(4_096, 4_000) == 1_000
    assert output_reserve(4_096, 4_003) == 1_000


def test_the_window_is_the_smaller_of_threshold_and_limit():
    assert compute_window(128_000, 8_192) == 8_192
    assert compute_window(4_000, 8_192) == 4_000
    assert compute_window(128_000, None) == 128_000


def test_the_budget_is_the_window_less_the_reserve_over_the_factor():
    assert compute_budget_tokens(128_000, 4_096, 1.0) == 123_904
    assert compute_budget_tokens(4_000, 1_000, 1.1) == 2_727
    assert compute_budget_tokens(110, 0, 1.1) == 100


@given(st.integers(1, 2_000_000), st.integers(1, 200_000), st.integers(100, 200))
def test_a_full_budget_times_the_factor_fits_the_window(size, max_output, hundredths):
    reserve = output_reserve(max_output, size)
    budget = compute_budget_tokens(size, reserve, hundredths / 100)
    assert budget >= 0
    assert budget * hundredths <= (size - reserve) * 100
