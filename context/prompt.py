"""Build system prompts from named sections. Sections that never change come first."""

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from context.envelope import SystemPart


@dataclass(frozen=True, slots=True)
class PromptSection:
    """A named section of a prompt.

    Attributes:
        cacheable: whether the section is static: the same in every request.
    """

    name: str
    content: str
    cacheable: bool

    def render(self) -> str:
        """Render the section as an XML element with escaped content."""
        return f"<{self.name}>\n{html.escape(self.content, quote=False)}\n</{self.name}>"


class PromptBuilder:
    """Joins the sections of a prompt. Static sections come first, then dynamic ones.

    Otherwise the sections keep the order in which they were added.
    """

    def __init__(self, sections: Iterable[PromptSection] = ()) -> None:
        self.sections = tuple(sections)

    def add(self, section: PromptSection) -> "PromptBuilder":
        """Return a new builder with another section at the end."""
        return PromptBuilder((*self.sections, section))

    def build(self) -> tuple[str, list[int]]:
        """Return the prompt, and the offset at which its cacheable prefix ends.

        Returns:
            The sections joined by blank lines, and a list with one character offset: the end of the
            last static section. The list is empty unless there are both static and dynamic
            sections.
        """
        static = "\n\n".join(part.render() for part in self.sections if part.cacheable)
        dynamic = "\n\n".join(part.render() for part in self.sections if not part.cacheable)
        if static and dynamic:
            return f"{static}\n\n{dynamic}", [len(static)]
        return static or dynamic, []


@dataclass(frozen=True, slots=True)
class InstructionsText:
    """The user's instructions for the model, such as an `AGENTS.md` file.

    Attributes:
        name: the name of the prompt section, which hooks use to address it.
        text: the instructions.
    """

    name: str
    text: str


def make_system_parts(
    name: str, base: Sequence[PromptSection], instructions: Sequence[InstructionsText] = ()
) -> tuple[SystemPart, ...]:
    """Build the system message: the app's own prompt, then the user's instructions.

    Each text of instructions becomes a separate part. Parts that change less often come first, so
    that a change does not affect the cached part of the request before it. Empty instructions are
    skipped.

    Args:
        name: the name of the part with the app's own prompt.
        base: the sections of the app's own prompt.
        instructions: the instructions of the user, the project or the vault, starting with those
            that change least often.
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
    """Split the sections of a prompt into static and dynamic text. Either text may be empty."""
    prompt, breakpoints = PromptBuilder(base).build()
    whole = len(prompt) if any(part.cacheable for part in base) else 0
    at = breakpoints[0] if breakpoints else whole
    return prompt[:at], prompt[at:].removeprefix("\n\n")
