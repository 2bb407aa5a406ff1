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
from context.prompt import PromptSection
from resources import read_text

__all__ = ["Prompt", "PromptSource", "built_in", "read_prompt"]

SECTIONS: Final = ("agent_configuration", "task_context", "memory", "tools", "response_format")
_HEADING: Final = re.compile(rf"^# ({'|'.join(SECTIONS)})[^\S\n]*$", re.MULTILINE)


@dataclass(frozen=True)
class Prompt:
    """The sections of a prompt.

    Attributes:
        problem: why this one is used in place of the user's own; empty where nothing is wrong.
    """

    sections: tuple[PromptSection, ...]
    problem: str = ""


PromptSource = Callable[[str], Prompt]


@cache
def built_in(name: str) -> Prompt:
    """Return a prompt as Strata ships it."""
    return read_prompt(read_text(f"prompts/{name}.md"))


def read_prompt(text: str) -> Prompt:
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
    return Prompt(tuple(PromptSection(name, text, cacheable=True) for name, text in named))
