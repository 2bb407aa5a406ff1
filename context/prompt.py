"""Build system prompts from named sections, the unchanging ones first."""

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from context.envelope import SystemPart


@dataclass(frozen=True, slots=True)
class PromptSection:
    """A named part of a prompt. `cacheable` sections stay the same from request to request."""

    name: str
    content: str
    cacheable: bool

    def render(self) -> str:
        """Render the section as an XML element, its content escaped."""
        return f"<{self.name}>\n{html.escape(self.content, quote=False)}\n</{self.name}>"


class PromptBuilder:
    """Joins sections, static ones before dynamic ones, each in the order of adding.

    Source: "Context Management Enhancements", 4; "Context Engineering Optimization", 3.1.
    """

    def __init__(self, sections: Iterable[PromptSection] = ()) -> None:
        self.sections = tuple(sections)

    def add(self, section: PromptSection) -> "PromptBuilder":
        """Return a builder with the section added. This builder stays unchanged."""
        return PromptBuilder((*self.sections, section))

    def build(self) -> tuple[str, list[int]]:
        """Return the prompt, and the end of its cacheable beginning.

        Returns:
            The sections joined by blank lines, and one breakpoint, in characters, after the last
            static section; none unless both a static and a dynamic section exist.
        """
        static = "\n\n".join(part.render() for part in self.sections if part.cacheable)
        dynamic = "\n\n".join(part.render() for part in self.sections if not part.cacheable)
        if static and dynamic:
            return f"{static}\n\n{dynamic}", [len(static)]
        return static or dynamic, []


@dataclass(frozen=True, slots=True)
class InstructionsText:
    """Instructions of the user for the model, such as those of an `AGENTS.md`.

    Attributes:
        name: the name of the prompt section, and of the part that hooks address.
        text: the text of the file.
    """

    name: str
    text: str


def make_system_parts(
    name: str, base: Sequence[PromptSection], instructions: Sequence[InstructionsText] = ()
) -> tuple[SystemPart, ...]:
    """Build L1: the app's own prompt, then the instructions of the user, the project or the vault.

    Each text of instructions is a separate part after those that change less often, so that a
    change leaves the prefix before it intact. Empty instructions give no part.

    Args:
        name: the name of the part with the app's own prompt.
        base: the sections of the app's own prompt.
        instructions: the texts of instructions, the one that changes least first.

    Source: "Context Management Enhancements", 4.
    """
    static, dynamic = _split_at_breakpoint(base)
    added = (
        SystemPart(one.name, PromptSection(one.name, one.text.strip(), cacheable=True).render())
        for one in instructions
        if one.text.strip()
    )
    last = (SystemPart(f"{name}_state", dynamic),) if dynamic else ()
    parts = [part for part in (SystemPart(name, static), *added, *last) if part.text]
    separated = (SystemPart(part.name, f"\n\n{part.text}") for part in parts[1:])
    return (*parts[:1], *separated)


def _split_at_breakpoint(base: Sequence[PromptSection]) -> tuple[str, str]:
    """Split a prompt at its breakpoint. Without one, all of it is static, or all of it dynamic."""
    prompt, breakpoints = PromptBuilder(base).build()
    whole = len(prompt) if any(part.cacheable for part in base) else 0
    at = breakpoints[0] if breakpoints else whole
    return prompt[:at], prompt[at:].removeprefix("\n\n")
