"""The token budget of a request, and the fractions of it at which to trim, compact and block."""

from dataclasses import dataclass
from typing import Final

from context.errors import BadPolicy
from context.tokens import TokenCounter, choose_factor

OUTPUT_SHARE: Final = 4  # the answer may take at most a quarter of the window
FACTOR_SCALE: Final = 100


@dataclass(frozen=True, slots=True)
class ContextBudget:
    """The tokens of a request, by component.

    Source: "Context Management Enhancements", 1.
    """

    total: int
    max_output_tokens: int
    system_prompt: int = 0
    skill_prompts: int = 0
    tool_descriptions: int = 0
    conversation: int = 0

    @property
    def effective_window(self) -> int:
        """The tokens of the total that remain beside the reserve for the answer; never negative."""
        return max(0, self.total - self.max_output_tokens)

    @property
    def used_tokens(self) -> int:
        """The sum of the tokens of all components."""
        instructions = self.system_prompt + self.skill_prompts
        return instructions + self.tool_descriptions + self.conversation

    @property
    def remaining_tokens(self) -> int:
        """The remaining tokens of the effective window; negative if it is exceeded."""
        return self.effective_window - self.used_tokens

    @property
    def used_percentage(self) -> float:
        """The used share of the effective window; 1.0 if the window is empty."""
        if self.effective_window <= 0:
            return 1.0
        return self.used_tokens / self.effective_window


@dataclass(frozen=True, slots=True)
class BudgetPolicy:
    """The fractions of the budget at which to trim, compact and block.

    Raises:
        BadPolicy: unless 0 < trim_at ≤ compact_at ≤ block_at ≤ 1.

    Source: "Budget-Aware Trimming", 1; "Context Management Enhancements", 3.
    """

    trim_at: float = 0.80
    compact_at: float = 0.95
    block_at: float = 0.98

    def __post_init__(self) -> None:
        if not 0 < self.trim_at <= self.compact_at <= self.block_at <= 1:
            raise BadPolicy("A budget policy needs 0 < trim_at ≤ compact_at ≤ block_at ≤ 1.")

    def should_trim(self, used: int, budget: int) -> bool:
        """Return whether old tool results and answers have to be trimmed."""
        return used > int(budget * self.trim_at)

    def should_compact(self, used: int, budget: int) -> bool:
        """Return whether old turns have to be compacted."""
        return used > int(budget * self.compact_at)

    def is_blocked(self, used: int, budget: int) -> bool:
        """Return whether no more user messages are accepted before tokens are freed."""
        return used > int(budget * self.block_at)


def output_reserve(max_output_tokens: int, window: int) -> int:
    """Return the tokens reserved for the answer.

    That is the user's setting, but at most a quarter of the window.
    """
    return min(max_output_tokens, window // OUTPUT_SHARE)


def compute_window(threshold: int, model_limit: int | None) -> int:
    """Return the smaller of the user's threshold and the model's own limit, if that is known."""
    return threshold if model_limit is None else min(threshold, model_limit)


def compute_budget_tokens(window: int, reserve: int, factor: float) -> int:
    """Return the budget of a request: the window without the reserve, divided by the factor."""
    # In whole hundredths, since 110 / 1.1 is 99.99… in floating point.
    return max(0, (window - reserve) * FACTOR_SCALE // round(factor * FACTOR_SCALE))


@dataclass(frozen=True, slots=True)
class RequestBudget:
    """The budget of a request, and the values that it was computed from."""

    counter: str
    factor: float
    threshold: int
    model_limit: int | None
    window: int
    reserve: int
    budget: int


def compute_budget(
    counter: TokenCounter,
    threshold: int,
    model_limit: int | None,
    max_output_tokens: int,
    factor: float | None = None,
) -> RequestBudget:
    """Return the budget of a request, with the values that it was computed from.

    Args:
        factor: the minimum divisor of the budget, from reported usage.
    """
    divisor = max(choose_factor(counter), factor or 0.0)
    size = compute_window(threshold, model_limit)
    reserve = output_reserve(max_output_tokens, size)
    budget = compute_budget_tokens(size, reserve, divisor)
    return RequestBudget(counter.name, divisor, threshold, model_limit, size, reserve, budget)
