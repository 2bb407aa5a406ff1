"""Compute token budgets, and define when a request is trimmed, compacted or blocked."""

from dataclasses import dataclass
from typing import Final

from context.errors import BadPolicy
from context.tokens import TokenCounter, choose_safety_factor, limit_factor

OUTPUT_SHARE: Final = 4  # the answer may take at most a quarter of the window
FACTOR_SCALE: Final = 100


@dataclass(frozen=True, slots=True)
class ContextBudget:
    """The context window of a model, and the token count of each component of a request.

    Reasons: ARCHITECTURE.md, "One budget".
    """

    total: int
    max_output_tokens: int
    system_prompt: int = 0
    skill_prompts: int = 0
    tool_descriptions: int = 0
    conversation: int = 0

    @property
    def effective_window(self) -> int:
        """The context window minus the tokens reserved for the answer, at least 0."""
        return max(0, self.total - self.max_output_tokens)

    @property
    def used_tokens(self) -> int:
        """The token count of all components of the request together."""
        instructions = self.system_prompt + self.skill_prompts
        return instructions + self.tool_descriptions + self.conversation

    @property
    def remaining_tokens(self) -> int:
        """The tokens left in the effective window. Negative if the window is exceeded."""
        return self.effective_window - self.used_tokens

    @property
    def used_percentage(self) -> float:
        """The used fraction of the effective window from 0 to 1, or more if the window is exceeded.

        If the effective window is empty, this is 1.0.
        """
        if self.effective_window <= 0:
            return 1.0
        return self.used_tokens / self.effective_window


@dataclass(frozen=True, slots=True)
class BudgetPolicy:
    """The fractions of the token budget at which old content is shortened.

    Attributes:
        trim_at: above this fraction, old tool results and answers are shortened.
        compact_at: above this fraction, old turns are replaced with a summary.
        block_at: above this fraction, tokens must be freed before the next user message.

    Raises:
        BadPolicy: when the fractions do not have the order 0 < trim_at ≤ compact_at ≤ block_at ≤ 1.
    """

    trim_at: float = 0.80
    compact_at: float = 0.95
    block_at: float = 0.98

    def __post_init__(self) -> None:
        if not 0 < self.trim_at <= self.compact_at <= self.block_at <= 1:
            raise BadPolicy("A budget policy needs 0 < trim_at ≤ compact_at ≤ block_at ≤ 1.")

    def should_trim(self, used: int, budget: int) -> bool:
        """Return whether old tool results and answers must be shortened.

        Args:
            used: the token count of the request.
            budget: the token budget of the request.
        """
        return used > int(budget * self.trim_at)

    def should_compact(self, used: int, budget: int) -> bool:
        """Return whether old turns must be replaced with a summary.

        Args:
            used: the token count of the request.
            budget: the token budget of the request.
        """
        return used > int(budget * self.compact_at)

    def is_blocked(self, used: int, budget: int) -> bool:
        """Return whether tokens must be freed before the next user message.

        Args:
            used: the token count of the request.
            budget: the token budget of the request.
        """
        return used > int(budget * self.block_at)


def output_reserve(max_output_tokens: int, window: int) -> int:
    """Return the number of tokens reserved for the answer.

    This is the user's setting, but at most a quarter of the context window.
    """
    return min(max_output_tokens, window // OUTPUT_SHARE)


def compute_window(threshold: int, model_limit: int | None) -> int:
    """Return the size of the context window to use, in tokens.

    Args:
        threshold: the user's setting.
        model_limit: the model's own limit, which is used if it is smaller, or None if unknown.
    """
    return threshold if model_limit is None else min(threshold, model_limit)


def compute_budget_tokens(window: int, reserve: int, factor: float) -> int:
    """Compute the token budget of a request.

    Args:
        window: the size of the context window in tokens.
        reserve: the number of tokens reserved for the answer.
        factor: the safety factor by which the remaining tokens are divided.
    """
    # In whole hundredths, since 110 / 1.1 is 99.99… in floating point.
    return max(0, (window - reserve) * FACTOR_SCALE // round(factor * FACTOR_SCALE))


@dataclass(frozen=True, slots=True)
class RequestBudget:
    """The token budget of a request, and the values from which it was computed.

    Attributes:
        counter: the name of the token counter.
        factor: the safety factor by which the tokens were divided.
        threshold: the user's setting for the size of the context window.
        model_limit: the model's own limit in tokens, or None if unknown.
        window: the size of the context window in tokens.
        reserve: the number of tokens reserved for the answer.
        budget: the maximum number of tokens of the request.
    """

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
    """Compute the token budget of a request.

    Args:
        counter: counts the tokens. Its initial safety factor depends on whether it is exact.
        threshold: the user's setting for the size of the context window.
        model_limit: the model's own limit in tokens, or None if unknown.
        max_output_tokens: the user's setting for the maximum length of an answer.
        factor: the safety factor learned from the token counts that the provider reported, or None.
            It is used only if it is larger than the initial factor of the counter.
    """
    divisor = max(choose_safety_factor(counter), limit_factor(factor or 0.0))
    size = compute_window(threshold, model_limit)
    reserve = output_reserve(max_output_tokens, size)
    budget = compute_budget_tokens(size, reserve, divisor)
    return RequestBudget(counter.name, divisor, threshold, model_limit, size, reserve, budget)
