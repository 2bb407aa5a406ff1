"""System prompts out of named sections, what never changes first."""

import html
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PromptSection:
    """A named part of a prompt; `cacheable` when it stays the same from request to request."""

    name: str
    content: str
    cacheable: bool

    def render(self) -> str:
        """Return the section as an XML element, its content escaped."""
        return f"<{self.name}>\n{html.escape(self.content, quote=False)}\n</{self.name}>"


class PromptBuilder:
    """Puts sections together, static before dynamic, each in the order of adding.

    Source: "Context Management Enhancements", 4; "Context Engineering Optimization", 3.1.
    """

    def __init__(self, sections: Iterable[PromptSection] = ()) -> None:
        self.sections = tuple(sections)

    def add(self, section: PromptSection) -> "PromptBuilder":
        """Return a builder with the section added; this one stays as it is."""
        return PromptBuilder((*self.sections, section))

    def build(self) -> tuple[str, list[int]]:
        """Return the prompt, and where its cacheable beginning ends.

        Returns:
            The sections joined by blank lines, and one breakpoint, in characters, after the last
            static section; none unless both a static and a dynamic section exist.
        """
        static = "\n\n".join(part.render() for part in self.sections if part.cacheable)
        dynamic = "\n\n".join(part.render() for part in self.sections if not part.cacheable)
        if static and dynamic:
            return f"{static}\n\n{dynamic}", [len(static)]
        return static or dynamic, []
