"""Prompts: Markdown whose headings name the sections that a model reads.

The prompts that Strata ships are read here. Whether another one takes the place of one of them is
decided by whoever starts a chain, and handed in as a `PromptSource`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

from chains.errors import BadPrompt
from chains.folders import add_names
from context.envelope import SystemPart
from context.hooks import HookRegistry
from context.layers import Segment
from context.prompt import Instructions, PromptSection, system_parts
from resources import read_text

__all__ = [
    "NO_CUSTOMIZATION",
    "Customization",
    "PromptSource",
    "SystemPrompt",
    "load_prompt",
    "read_prompt",
]

# The prompts of calls beside the requests of a turn.
READING_PROMPT: Final = "reading"
REWRITE_PROMPT: Final = "rewrite"
SUMMARY_PROMPT: Final = "summary"

SECTIONS: Final = ("agent_configuration", "task_context", "memory", "tools", "response_format")
_HEADING: Final = re.compile(rf"^# ({'|'.join(SECTIONS)})[^\S\n]*$", re.MULTILINE)


@dataclass(frozen=True)
class SystemPrompt:
    """The sections of a prompt.

    Attributes:
        problem: why this one is used in place of the user's own; empty where nothing is wrong.
    """

    sections: tuple[PromptSection, ...]
    problem: str = ""


PromptSource = Callable[[str], SystemPrompt]


@cache
def load_prompt(name: str) -> SystemPrompt:
    """Return a prompt as Strata ships it."""
    return read_prompt(read_text(f"prompts/{name}.md"))


def read_prompt(text: str) -> SystemPrompt:
    """Read a prompt from Markdown; its sections never change from request to request.

    Raises:
        BadPrompt: it does not consist of named sections, each once and with something in it.
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
    """What a user adds to a chain; by default nothing.

    Attributes:
        prompts: where a prompt comes from, by its name; asked again for each request of a turn.
        instructions: notes whose text follows the prompt, on L1, each named by its id.
        hooks: code that shapes what the model sees.
        warnings: what of it could not be used, one sentence each.
        folder_names: the names in the open folder, for the task context of the prompt.
    """

    prompts: PromptSource = load_prompt
    instructions: tuple[Segment, ...] = ()
    hooks: HookRegistry | None = None
    warnings: tuple[str, ...] = ()
    folder_names: str = ""

    def system(self, prompt: str) -> tuple[SystemPart, ...]:
        """Return the system message with a prompt, from what changes least."""
        noted = [Instructions(note.id, note.raw_content) for note in self.instructions]
        sections = add_names(self.prompts(prompt).sections, self.folder_names)
        return system_parts(prompt, sections, noted)

    def problems(self, *prompts: str) -> tuple[str, ...]:
        """Return what is wrong with what was added, these prompts included, one sentence each."""
        found = (self.prompts(prompt).problem for prompt in prompts)
        return (*self.warnings, *(problem for problem in found if problem))


NO_CUSTOMIZATION: Final = Customization()
