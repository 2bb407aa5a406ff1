"""What a user adds to every chain: prompts of their own, instructions, hooks."""

from dataclasses import dataclass
from typing import Final

from chains.folder_names import with_names
from chains.prompts import PromptSource, built_in
from context.envelope import SystemPart
from context.hooks import HookRegistry
from context.layers import Segment
from context.prompt import Instructions, system_parts

__all__ = ["NOTHING_ADDED", "Additions"]


@dataclass(frozen=True)
class Additions:
    """What a user adds to a chain; by default nothing.

    Attributes:
        prompts: where a prompt comes from, by its name; asked again for each request of a turn.
        instructions: notes whose text follows the prompt, on L1, each named by its id.
        hooks: code that shapes what the model sees.
        warnings: what of it could not be used, one sentence each.
        folder_names: the names in the open folder, for the task context of the prompt.
    """

    prompts: PromptSource = built_in
    instructions: tuple[Segment, ...] = ()
    hooks: HookRegistry | None = None
    warnings: tuple[str, ...] = ()
    folder_names: str = ""

    def system(self, prompt: str) -> tuple[SystemPart, ...]:
        """Return the system message with a prompt, from what changes least."""
        noted = [Instructions(note.id, note.raw_content) for note in self.instructions]
        sections = with_names(self.prompts(prompt).sections, self.folder_names)
        return system_parts(prompt, sections, noted)

    def problems(self, *prompts: str) -> tuple[str, ...]:
        """Return what is wrong with what was added, these prompts included, one sentence each."""
        found = (self.prompts(prompt).problem for prompt in prompts)
        return (*self.warnings, *(problem for problem in found if problem))


NOTHING_ADDED: Final = Additions()
