"""Chains as values: the steps and ports for answering messages in one mode.

The application builds one chain for each turn. A chain with `search` retrieves passages before the
model is called. A chain with `agent` lets the model call tools. A chain with neither only chats.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from chains.cancel import Pause, wait_or_cancel
from chains.folders import FOLDER, find_recorded_names, list_names
from chains.gguf.process import LocalModels
from chains.ledger import LedgerPort, NoLedger
from chains.llm.port import KeyFor, LimitsPort
from chains.prompts import (
    NO_CUSTOMIZATION,
    READING_PROMPT,
    SUMMARY_PROMPT,
    Customization,
)
from chains.request.deferral import NOTHING_DEFERRED, DeferredTools
from chains.request.project import PROJECT, ProjectContext, ProjectSetup
from chains.request.session import SessionPort
from chains.tool import ApprovalPort, ApprovalRules, Tool
from context.assemble.attachments import Resolve
from context.layers import Segment
from context.messages import ToolDefinition
from vault.index import NoteState
from vault.notes.links import LinkResolver
from vault.notes.note import Note
from vault.search.hits import Hit, SearchResult

__all__ = ["AgentLimits", "AgentSetup", "AttachmentSearch", "Chain", "NotesPort", "SearchPort"]


class SearchPort(Protocol):
    """A port that finds passages in the open vault."""

    def search(
        self,
        query: str,
        k: int,
        *,
        in_play: Collection[str] = (),
        reranks: bool = True,
        is_quoted: bool = False,
    ) -> SearchResult:
        """Return the best `k` passages, best first.

        Args:
            query: words and filters.
            k: the maximum number of passages.
            in_play: paths of the notes that the session already uses.
            reranks: whether to reorder the passages with the reranking model, if one is set.
            is_quoted: whether the passages are quoted, not sent to a model: the spelling of the
                query is corrected, and the passages around the best ones are added at the end.
        """

    def list_notes(self, query: str, limit: int, offset: int = 0) -> SearchResult:
        """Return one page of the notes that match a query, one hit for each note."""


class AttachmentSearch(Protocol):
    """A port that finds passages in attachments."""

    def search_within(self, segments: Sequence[Segment], query: str, k: int) -> Sequence[Hit]:
        """Return the best `k` passages, best first, with at least one from each segment.

        Passages that do not match the query come last, in the order of the text.
        """


class NotesPort(SearchPort, Protocol):
    """The notes of the open vault that a model may read."""

    @property
    def root(self) -> Path:
        """The folder that holds the notes."""

    def read_allowed(self, path: str) -> Note:
        """Return the note at a path that the model names, if the model may read it."""

    def notes(self) -> tuple[NoteState, ...]:
        """Return the state of every note."""

    def tags(self) -> Mapping[str, Sequence[str]]:
        """Return the paths of the indexed notes by tag; tags are without `#`."""

    def build_link_resolver(self) -> LinkResolver:
        """Build a link resolver for the indexed notes."""

    def still_allowed(self, paths: Sequence[str]) -> frozenset[str]:
        """Return the paths that the current rules do not exclude, regardless of the index."""


@dataclass(frozen=True)
class AgentLimits:
    """The limits of one turn of an agent.

    Attributes:
        max_steps: the maximum number of requests that offer tools.
        max_seconds: the time in seconds after which no further request offers tools.
        offload_bytes: the size in bytes above which a tool result is stored outside the log.
        tools_share: the share of the budget that the definitions of tools may take.
    """

    max_steps: int
    max_seconds: float
    offload_bytes: int
    tools_share: float = 0.10


@dataclass(frozen=True)
class AgentSetup:
    """The vault that an agent reads, its limits, its additional tools and their approvals.

    Attributes:
        approvals: asks a person about proposals. Without it, a proposal that the rules do not
            approve is rejected.
        extra_tools: the tools in addition to those that every agent has.
        rules: decide without a person where the approval level or an earlier approval allows it.
    """

    notes: NotesPort
    limits: AgentLimits
    clock: Callable[[], float] = time.monotonic
    approvals: ApprovalPort | None = None
    extra_tools: tuple[Tool, ...] = ()
    rules: ApprovalRules = field(default_factory=ApprovalRules)


@dataclass(frozen=True)
class Chain:
    """The settings and ports for answering messages in one mode.

    Attributes:
        prompt: the name of the prompt.
        key_for: returns the key of a provider.
        search: retrieves passages, or None for a chain without retrieval.
        pause: waits between two attempts of a call.
        resolve: returns the current state of a source that an earlier turn attached or cited.
            None carries nothing forward.
        tools: the tools that the model may call.
        customization: the user's prompts, instructions and hooks.
        within: finds passages in attachments that are too large, or None.
        agent: the vault and the limits of an agent, or None for a chain without an agent.
        project: the project that L1 describes, or None.
        stored_fields: extra fields for the next segments entry.
        ledger: records each call to a model or a server before it is made.
        limits: remembers the context lengths that services named, or None.
        deferred: the tools of the agent that requests leave out.
        local: runs the models in files.
    """

    prompt: str
    key_for: KeyFor
    search: SearchPort | None = None
    pause: Pause = wait_or_cancel
    resolve: Resolve | None = None
    tools: tuple[ToolDefinition, ...] = ()
    customization: Customization = NO_CUSTOMIZATION
    within: AttachmentSearch | None = None
    agent: AgentSetup | None = None
    project: ProjectSetup | None = None
    stored_fields: Mapping[str, object] = field(default_factory=dict)
    ledger: LedgerPort = field(default_factory=NoLedger)
    limits: LimitsPort | None = None
    deferred: DeferredTools = NOTHING_DEFERRED
    local: LocalModels = field(default_factory=LocalModels)

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence for each part of the user's customization that cannot be used."""
        return self.customization.problems(self.prompt, SUMMARY_PROMPT, READING_PROMPT)

    def with_folder_names(self, session: SessionPort, threshold: int) -> "Chain":
        """Return the chain with the names in the vault folder in its prompt, if it has an agent.

        A project's names are on L1 already, so its chain is returned unchanged.

        Later turns use the names stored by the first one, so that the prompt does not change.
        """
        if self.agent is None or self.project is not None:
            return self
        names = find_recorded_names(session.path())
        is_new = names is None
        if names is None:
            notes = self.agent.notes
            indexed = [note.path for note in notes.notes() if note.state == "indexed"]
            names = list_names(notes.root.name, sorted(notes.still_allowed(indexed)), threshold)
        customization = replace(self.customization, folder_names=names)
        # An empty list is stored too, so that notes added later do not change the prompt.
        stored_fields = {FOLDER: names} if is_new else {}
        return replace(self, customization=customization, stored_fields=stored_fields)

    def with_project(self, found: ProjectContext, is_new: bool) -> "Chain":
        """Return the chain with the context of its project on L1.

        Args:
            found: the names, outlines and texts of the project.
            is_new: whether the next segments entry has to record them.
        """
        instructions = (*self.customization.instructions, *found.segments)
        customization = replace(self.customization, instructions=instructions)
        stored = {**self.stored_fields, PROJECT: found.to_dict()} if is_new else self.stored_fields
        return replace(self, customization=customization, stored_fields=stored)
