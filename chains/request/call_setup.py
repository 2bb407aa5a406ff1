"""What the calls of a model outside of a turn's answer share: summaries, reading notes, queries."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from context.assemble.request import Request
from context.budget import RequestBudget
from context.draft import Preamble, make_preamble
from context.envelope import System
from context.history.turns import MeasuredTurn
from context.pipeline import prepare_call
from context.prompt import PromptSection, make_system_parts
from context.tokens import TokenCounter

__all__ = ["CallSetup"]


@dataclass(frozen=True)
class CallSetup:
    """The model, the prompt and the budget of calls for one purpose.

    Attributes:
        prompt: the name of the prompt.
        sections: the sections of the prompt.
        model: the name of the model, as in the settings.
        request_budget: the token budget of each request.
    """

    prompt: str
    sections: Sequence[PromptSection]
    model: str
    counter: TokenCounter
    request_budget: RequestBudget
    temperature: float | None = 0.0
    takes_marks: bool = False

    @cached_property
    def preamble(self) -> Preamble:
        """The prompt as the system message, without tools."""
        return make_preamble(
            System(make_system_parts(self.prompt, self.sections)), (), self.counter
        )

    def prepare(
        self,
        question: str,
        *,
        start: Preamble | None = None,
        history: Sequence[MeasuredTurn] = (),
        most_tokens: int | None = None,
        session: str | None = None,
    ) -> Request:
        """Build the request of a call.

        Args:
            question: the text of the user message.
            start: the tools and instructions in place of the prompt.
            history: the turns to send.
            most_tokens: the tokens to keep for the answer if the budget keeps more.
            session: the id of the session, or None.

        Raises:
            ContextOverflow: when the request exceeds its budget.
        """
        reserve = self.request_budget.reserve
        kept = reserve if most_tokens is None else min(reserve, most_tokens)
        return prepare_call(
            start or self.preamble,
            history,
            question,
            replace(self.request_budget, reserve=kept),
            model=self.model,
            session=session,
            temperature=self.temperature,
            takes_marks=self.takes_marks,
        )
