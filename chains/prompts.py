"""Load the shipped prompts, combine them with the user's customization, and set up their calls.

A prompt is a Markdown file whose headings are its section names. The application passes a
`PromptSource` that returns the user's own prompts where they exist.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Final

from chains.errors import BadPrompt
from chains.folders import add_names
from context.assemble.request import Request
from context.budget import RequestBudget
from context.draft import Preamble, make_preamble
from context.envelope import System, SystemPart
from context.history.turns import MeasuredTurn
from context.hooks import HookRegistry
from context.layers import Segment
from context.pipeline import prepare_call
from context.prompt import InstructionsText, PromptSection, make_system_parts
from context.tokens import TokenCounter
from resources import read_text

__all__ = [
    "NO_CUSTOMIZATION",
    "CallSetup",
    "Customization",
    "PromptSource",
    "SystemPrompt",
    "load_prompt",
    "read_prompt",
]

# The prompts of model calls other than the requests of a turn.
JUDGE_PROMPT: Final = "judge"
READING_PROMPT: Final = "reading"
REWRITE_PROMPT: Final = "rewrite"
SUMMARY_PROMPT: Final = "summary"
TITLE_PROMPT: Final = "title"

SECTIONS: Final = ("agent_configuration", "task_context", "memory", "tools", "response_format")
_HEADING: Final = re.compile(rf"^# ({'|'.join(SECTIONS)})[^\S\n]*$", re.MULTILINE)


@dataclass(frozen=True)
class SystemPrompt:
    """The sections of a system prompt.

    Attributes:
        problem: why the user's own prompt is not used, or an empty string.
    """

    sections: tuple[PromptSection, ...]
    problem: str = ""


PromptSource = Callable[[str], SystemPrompt]


@cache
def load_prompt(name: str) -> SystemPrompt:
    """Load a prompt that Strata ships."""
    return read_prompt(read_text(f"prompts/{name}.md"))


def read_prompt(text: str) -> SystemPrompt:
    """Parse a Markdown prompt into cacheable sections.

    Raises:
        BadPrompt: a section is unknown, repeated or empty.
    """
    before, *pieces = _HEADING.split(text)
    names, texts = pieces[::2], [piece.strip() for piece in pieces[1::2]]
    if not names:
        raise BadPrompt(f"it has no heading such as “# {SECTIONS[0]}”")
    if before.strip():
        raise BadPrompt("something stands before its first heading")
    if len(set(names)) < len(names):
        raise BadPrompt("a heading stands in it twice")
    if not all(texts):
        raise BadPrompt("nothing stands below one of its headings")
    named = zip(names, texts, strict=True)
    return SystemPrompt(tuple(PromptSection(name, text, cacheable=True) for name, text in named))


@dataclass(frozen=True)
class Customization:
    """The user's prompts, instructions and hooks.

    Attributes:
        prompts: returns a prompt by name. It is called for each request of a turn.
        instructions: the notes that the user has chosen as instructions. Their text follows the
            prompt in the system message.
        hooks: the user's hooks, or None.
        warnings: one sentence for each item that could not be loaded.
        folder_names: the names of the vault's folders and notes, for the prompt's task context.
    """

    prompts: PromptSource = load_prompt
    instructions: tuple[Segment, ...] = ()
    hooks: HookRegistry | None = None
    warnings: tuple[str, ...] = ()
    folder_names: str = ""

    def system(self, prompt: str) -> tuple[SystemPart, ...]:
        """Build the system message from a prompt and the user's instructions.

        Args:
            prompt: the name of the prompt.

        Returns:
            The parts of the message. The one that changes least often is first, so that providers
            can cache it.
        """
        noted = [InstructionsText(note.id, note.raw_content) for note in self.instructions]
        sections = add_names(self.prompts(prompt).sections, self.folder_names)
        return make_system_parts(prompt, sections, noted)

    def problems(self, *prompts: str) -> tuple[str, ...]:
        """Return one sentence for each problem in the customization or in the given prompts."""
        found = (self.prompts(prompt).problem for prompt in prompts)
        return (*self.warnings, *(problem for problem in found if problem))


NO_CUSTOMIZATION: Final = Customization()


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
