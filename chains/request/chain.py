"""Define chains: values that describe how messages are answered in a mode, such as chat or agent.

The application builds one chain per turn. A chain with `search` retrieves passages first. A chain
with `agent` lets the model call tools. A chain without either only chats.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from chains.cancel import Pause, TimeLimit, wait_or_cancel
from chains.folders import FOLDER, find_recorded_names, list_named_notes, list_names
from chains.gguf.process import ModelRunner
from chains.ledger import LedgerPort, NoLedger
from chains.llm.port import KeyFor, LearnedPort
from chains.prompts import (
    NO_CUSTOMIZATION,
    READING_PROMPT,
    SUMMARY_PROMPT,
    Customization,
)
from chains.request.deferral import NOTHING_DEFERRED, DeferredTools
from chains.request.project import PROJECT, ProjectContext, ProjectSetup
from chains.request.session import SessionPort
from chains.tool import READING_TOOLS, ApprovalPort, ApprovalRules, Tool
from context.assemble.attachments import CurrentSource, Resolve
from context.history.exclusion import FindExcluded
from context.messages import ToolDefinition
from vault.vault import Vault

__all__ = ["AgentLimits", "AgentSetup", "Chain"]


@dataclass(frozen=True)
class AgentLimits:
    """The limits of an agent's turn.

    Attributes:
        max_steps: the maximum number of requests that offer tools.
        max_seconds: the number of seconds after which no more tools are offered.
        offload_bytes: the size above which a tool result is stored outside of the log.
        tools_share: the fraction of the token budget available for tool definitions.
    """

    max_steps: int
    max_seconds: float
    offload_bytes: int
    tools_share: float = 0.10


@dataclass(frozen=True)
class AgentSetup:
    """The vault, limits, additional tools and approvals of an agent.

    Attributes:
        approvals: asks the user about proposals. Without it, proposals that `rules` does not
            approve are rejected.
        extra_tools: tools in addition to the standard ones.
        rules: approves proposals without asking the user, if the approval level or an earlier
            approval permits it.
        time: the time that the tools have, which the turn starts.
    """

    notes: Vault
    limits: AgentLimits
    clock: Callable[[], float] = time.monotonic
    approvals: ApprovalPort | None = None
    extra_tools: tuple[Tool, ...] = ()
    rules: ApprovalRules = field(default_factory=ApprovalRules)
    time: TimeLimit = field(default_factory=TimeLimit)


@dataclass(frozen=True)
class Chain:
    """The settings and ports for answering messages in one mode.

    Attributes:
        prompt: the name of the prompt.
        key_for: returns a provider's key.
        search: returns the vault to retrieve passages from, and raises if none is open. It is None
            to skip retrieval.
        pause: waits before a failed call is repeated.
        resolve: returns the current state of a source from an earlier turn. If None, sources of
            earlier turns are not sent again.
        find_excluded: returns those of the given paths whose notes models may not read now. If
            None, no note is excluded.
        tools: the tools that the model may call.
        customization: the user's prompts, instructions and hooks.
        vault: the open vault or the part of it that is used, or None.
        agent: the vault and limits of an agent, or None.
        project: the project that the system message describes, or None.
        stored_fields: extra fields to store in the log with the next turn's segments.
        ledger: records each outgoing call before it is made.
        learned: remembers what services said when they refused a request, or None.
        deferred: the agent's tools that requests omit until the model searches for them.
        toolless_model: the model that answers if it takes no tools, or an empty string.
        local: runs model files.
    """

    prompt: str
    key_for: KeyFor
    search: Callable[[], Vault] | None = None
    pause: Pause = wait_or_cancel
    resolve: Resolve | None = None
    find_excluded: FindExcluded | None = None
    tools: tuple[ToolDefinition, ...] = ()
    customization: Customization = NO_CUSTOMIZATION
    vault: Vault | None = None
    agent: AgentSetup | None = None
    project: ProjectSetup | None = None
    stored_fields: Mapping[str, object] = field(default_factory=dict)
    ledger: LedgerPort = field(default_factory=NoLedger)
    learned: LearnedPort | None = None
    deferred: DeferredTools = NOTHING_DEFERRED
    toolless_model: str = ""
    local: ModelRunner = field(default_factory=ModelRunner)

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence for each unusable prompt, instruction or hook, and for missing tools."""
        found = self.customization.problems(self.prompt, SUMMARY_PROMPT, READING_PROMPT)
        if not self.toolless_model:
            return found
        return (*found, f"{self.toolless_model} takes no tools, so the agent can only answer.")

    @property
    def reading_tools(self) -> frozenset[str]:
        """The names of the tools that only read, of the connected MCP servers too."""
        extra = self.agent.extra_tools if self.agent else ()
        return READING_TOOLS.union(tool.definition.name for tool in extra if tool.reads_only)

    def with_folder_names(self, session: SessionPort, threshold: int) -> "Chain":
        """Add the folder names of the vault to an agent's prompt.

        Chains with a project are returned unchanged, because their system message already contains
        the names in the project. Later turns reuse the names stored by the first one, so that the
        prompt does not change.

        Args:
            threshold: the token limit of a request, which determines how many names are listed.
        """
        if self.agent is None or self.project is not None:
            return self
        names = self._find_names(session)
        is_new = names is None
        if names is None:
            notes = self.agent.notes
            indexed = [note.path for note in notes.notes() if note.state == "indexed"]
            names = list_names(notes.root.name, sorted(notes.filter_allowed(indexed)), threshold)
        customization = replace(self.customization, folder_names=names)
        # An empty list is stored too, so that notes added later do not change the prompt.
        stored_fields = {FOLDER: names} if is_new else {}
        return replace(self, customization=customization, stored_fields=stored_fields)

    def _find_names(self, session: SessionPort) -> str | None:
        """Return the folder names in the log, or None if there are none, or one is excluded now."""
        names = find_recorded_names(session.path())
        if not names or self.find_excluded is None:
            return names
        return None if self.find_excluded(frozenset(list_named_notes(names))) else names

    def without_notes(self, reason: str) -> "Chain":
        """Return a copy for which all sources of earlier turns count as unchanged.

        Args:
            reason: why the notes cannot be read, as a warning.
        """
        warnings = (*self.customization.warnings, reason)
        customization = replace(self.customization, warnings=warnings)
        unchanged = CurrentSource("same")
        return replace(
            self,
            customization=customization,
            resolve=lambda _segment: unchanged,
            find_excluded=None,
        )

    def with_project(self, found: ProjectContext, is_new: bool) -> "Chain":
        """Return a copy whose system message describes a project.

        Args:
            found: the names, outlines and texts of the project.
            is_new: whether the project's description must be stored in the log with the next turn's
                segments.
        """
        instructions = (*self.customization.instructions, *found.segments)
        customization = replace(self.customization, instructions=instructions)
        stored = {**self.stored_fields, PROJECT: found.to_dict()} if is_new else self.stored_fields
        return replace(self, customization=customization, stored_fields=stored)
