"""Collect the user's prompts, instructions, AGENTS.md and hooks for a turn."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from app.config.settings_file import SettingsStore
from app.customize.commands import UserCommand, list_user_commands
from app.customize.hooks import Hooks
from app.customize.memory import MemoryNote
from app.errors import InvalidRequest, NotFound
from app.library.forgotten import ForgottenLines
from app.library.instructions import (
    Decision,
    InstructionDecisions,
    VaultInstructions,
)
from app.library.open_vault import OpenVault
from app.library.projects import Projects
from app.library.user_texts import MEMORIES, UserTextFile
from app.paths import Paths
from chains.errors import BadPrompt
from chains.prompts import Customization, PromptSource, SystemPrompt, load_prompt, read_prompt
from chains.request.project import INSTRUCTIONS_FILE
from context.hooks import HookRegistry
from context.layers import Segment
from resources.system.files import read_file
from vault.errors import NoteUnreadable
from vault.scope import WHOLE

if TYPE_CHECKING:
    from app.customize.skills import Skills

__all__ = ["UserCustomization", "load_user_prompts"]


class UserCustomization:
    """The user's prompts, instructions, memories and hooks. Thread-safe.

    Attributes:
        own_instructions: the file with the user's own instructions.
        memories: the note with the user's long-term memories.
    """

    def __init__(
        self, paths: Paths, settings: SettingsStore, vault: OpenVault, projects: Projects
    ) -> None:
        self._settings = settings
        self._vault = vault
        self._projects = projects
        self._prompts = paths.prompts
        self._hooks = Hooks(paths.hooks)
        self._book = InstructionDecisions(paths.instructions)
        self.own_instructions = UserTextFile(paths.user_instructions)
        forgotten = ForgottenLines(paths.memories, paths.computer)
        self.memories = MemoryNote(UserTextFile(paths.memories, MEMORIES, forgotten))
        self._skills_folder, self._commands = paths.skills, paths.commands

    @cached_property
    def skills(self) -> "Skills":
        """The skills that an agent may read."""
        from app.customize.skills import Skills  # only agents and the window use them

        return Skills(self._skills_folder, self._vault, self._projects, self._book)

    def find_memories(self, project: str | None) -> MemoryNote:
        """Return the note with the long-term memories of a project, or of all chats.

        Raises:
            NotFound: the project does not exist.
        """
        if project is None:
            return self.memories
        name = self._projects.find_folder(project).name
        return MemoryNote(self._projects.memory(project), f"in the project {name}")

    def collect(
        self, runs_hooks: bool, project: str | None = None, *, offers_skills: bool = False
    ) -> Customization:
        """Return the current customization for a turn.

        Args:
            runs_hooks: whether hooks run in this turn. If not, they are not loaded.
            project: the project whose instructions and memories are added, or None.
            offers_skills: whether the names and descriptions of skills are added, for an agent.
        """
        own, memories = self.own_instructions.read(), self.memories.file.read()
        found, problem = self._read_accepted_instructions(None)
        noted, warnings = [own.segment()], [own.problem, problem, memories.problem]
        if found is not None and not self._is_outside(project):
            noted.append(found.segment())
        noted.append(memories.segment())
        if project is not None:
            found, problem = self._read_accepted_instructions(project)
            noted.append(None if found is None else found.segment("project_agents"))
            warnings.append(problem)
            for text in self._projects.read_user_texts(project):
                noted.append(text.segment())
                warnings.append(text.problem)
        if offers_skills:
            from app.customize.skills import build_offer

            noted.append(build_offer(self.skills.list_used(project)))
        return self._combine(runs_hooks, noted, warnings)

    def _combine(
        self, runs_hooks: bool, noted: Sequence[Segment | None], problems: Sequence[str]
    ) -> Customization:
        prompts = load_user_prompts(self._prompts)
        segments = tuple(segment for segment in noted if segment is not None)
        warnings = tuple(filter(None, problems))
        if not runs_hooks:
            return Customization(prompts, segments, None, warnings)
        loaded = self._hooks.load(self._settings.values.hooks_enabled, self._vault.folder)
        return Customization(prompts, segments, loaded.registry, (*warnings, *loaded.problems))

    def list_commands(self) -> tuple[UserCommand, ...]:
        """Return the user's own slash commands, and those that send the text of a skill."""
        own = list_user_commands(self._commands)
        names = {command.name for command in own}
        return (*own, *(one for one in self.skills.list_commands() if one.name not in names))

    def hooks(self) -> HookRegistry:
        """Return the registry of the hooks that run in a turn."""
        values = self._settings.values
        return self._hooks.load(values.hooks_enabled, self._vault.folder).registry

    def instructions(self, project: str | None = None) -> VaultInstructions | None:
        """Return the AGENTS.md of the vault or of a project.

        Return None if there is no such file, or models may not read it.

        Raises:
            NoteUnreadable: the file cannot be read as text.
            NotFound: the folder of the project does not exist.
        """
        library = self._vault.library
        if project is None:
            return None if library is None else self._book.of(library.vault)
        notes = self._projects.open(project)
        whole = notes.limit(WHOLE)
        found = self._book.of(whole, f"{notes.scope.prefix}{INSTRUCTIONS_FILE}")
        if found is None:
            return None
        folder = self._projects.find_folder(project)
        return replace(found, path=notes.name_path(found.path), project=folder)

    def decide(self, digest: str, decision: Decision, project: str | None = None) -> None:
        """Store the user's decision about an AGENTS.md.

        Args:
            digest: the digest of the text shown to the user.
            decision: the user's decision.
            project: the project, or None for the vault.

        Raises:
            NotFound: there is no AGENTS.md that models may read.
            InvalidRequest: the file has changed since it was shown.
            StorageFailed: the decision cannot be stored.
        """
        found = self.instructions(project)
        if found is None:
            raise NotFound("These notes have no AGENTS.md that a model may be given.")
        if found.digest != digest:
            raise InvalidRequest(
                f"{found.path} has changed since it was shown.", hint="Read it again, then decide."
            )
        self._book.decide(digest, decision)

    def _read_accepted_instructions(
        self, project: str | None
    ) -> tuple[VaultInstructions | None, str]:
        """Return the AGENTS.md of the vault or of a project, and a warning.

        The first item is None if the file is missing or unreadable, or if the user has not accepted
        it. The warning is an empty string if there is nothing to report.
        """
        try:
            found = self.instructions(project)
        except NoteUnreadable as error:
            return None, f"{error} Models are not given it."
        if found is None or found.accepted:
            return found, ""
        return None, found.warning

    def _is_outside(self, project: str | None) -> bool:
        return project is not None and Path(project).is_absolute()


def load_user_prompts(folder: Path) -> PromptSource:
    """Return a function that loads the user's prompts, and falls back to the shipped ones.

    Each file is read only once, so that a prompt does not change during a turn.
    """

    @cache
    def prompt(name: str) -> SystemPrompt:
        file = folder / f"{name}.md"
        try:
            return read_prompt(read_file(file).decode("utf-8-sig"))
        except FileNotFoundError:
            return load_prompt(name)
        except UnicodeDecodeError:
            reason = "it is not UTF-8"
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
        except BadPrompt as error:
            reason = str(error)
        problem = f"The prompt {file} is not used: {reason}. The built-in one stands in for it."
        return replace(load_prompt(name), problem=problem)

    return prompt
