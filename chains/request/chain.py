"""Chains as values: how the questions of one mode are answered, and the ports they use.

The application builds one chain for each turn. A chain with `search` retrieves passages before it
asks the model, one with `agent` lets the model call tools, and one without either only chats.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from chains.cancel import Pause, wait_or_cancel
from chains.folders import FOLDER, find_recorded_names, list_names
from chains.llm.port import KeyFor
from chains.prompts import (
    NO_CUSTOMIZATION,
    READING_PROMPT,
    SUMMARY_PROMPT,
    Customization,
)
from chains.request.session import SessionPort
from context.assemble.attachments import Resolve
from context.layers import Segment
from context.messages import ToolDefinition
from vault.index import NoteState
from vault.notes.note import Note
from vault.search.hits import Hit, SearchResult

__all__ = ["AgentLimits", "AgentSetup", "AttachmentSearch", "Chain", "NotesPort", "SearchPort"]


class SearchPort(Protocol):
    """Finds passages in the open vault."""

    def search(
        self, query: str, k: int, *, in_play: Collection[str] = (), reranks: bool = True
    ) -> SearchResult:
        """Return the best `k` passages, best first.

        Args:
            query: words and filters.
            k: the most passages to return.
            in_play: paths of the notes that the session is about.
            reranks: whether a reranking model orders the passages, where one is chosen.
        """

    def list_notes(self, query: str, limit: int, offset: int = 0) -> SearchResult:
        """Return every note that a query selects, one hit for each note, in pages."""


class AttachmentSearch(Protocol):
    """Finds passages within attachments."""

    def search_within(self, segments: Sequence[Segment], query: str, k: int) -> Sequence[Hit]:
        """Return the best `k` passages, best first, and at least one of each text.

        Passages that have nothing in common with the query come last, from the beginning of the
        texts on.
        """


class NotesPort(SearchPort, Protocol):
    """The open vault, as far as a model may read it."""

    @property
    def root(self) -> Path:
        """The folder that holds the notes."""

    def read_allowed(self, path: str) -> Note:
        """Return a note that a model may read when it names the path."""

    def notes(self) -> tuple[NoteState, ...]:
        """Return the state of every note."""

    def still_allowed(self, paths: Sequence[str]) -> frozenset[str]:
        """Return the paths that no rule excludes at present, whatever the index says."""


@dataclass(frozen=True)
class AgentLimits:
    """The limits of one turn of an agent.

    Attributes:
        max_steps: the most requests that offer tools.
        max_seconds: the time after which no further request offers tools.
        offload_bytes: the size above which a tool result is stored beside the log.
    """

    max_steps: int
    max_seconds: float
    offload_bytes: int


@dataclass(frozen=True)
class AgentSetup:
    """The vault that an agent reads, and its limits."""

    notes: NotesPort
    limits: AgentLimits
    clock: Callable[[], float] = time.monotonic


@dataclass(frozen=True)
class Chain:
    """How the questions of one mode are answered.

    Attributes:
        prompt: the name of the prompt.
        key_for: returns the key of a provider.
        search: retrieves passages; None for a chain without retrieval.
        pause: waits between two tries of a call.
        resolve: returns the present state of what earlier turns attached or cited; None carries
            nothing forward.
        tools: the tools that the model may call.
        customization: the user's prompts, instructions and hooks.
        within: finds passages of attachments that are too large; None leaves those to the guard.
        agent: runs the tools that the model calls; None for a chain without tools.
        noted: extra fields of the next segments entry.
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
    noted: Mapping[str, object] = field(default_factory=dict)

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence for each part of the user's customization that cannot be used."""
        return self.customization.problems(self.prompt, SUMMARY_PROMPT, READING_PROMPT)

    def with_folder_names(self, session: SessionPort, threshold: int) -> "Chain":
        """Return the chain of an agent with the names in the vault folder in its prompt.

        The names stay those of the session's first turn, so that the prompt does not change.
        """
        if self.agent is None:
            return self
        names = find_recorded_names(session.path())
        is_new = names is None
        if names is None:
            notes = self.agent.notes
            indexed = [note.path for note in notes.notes() if note.state == "indexed"]
            names = list_names(notes.root.name, sorted(notes.still_allowed(indexed)), threshold)
        customization = replace(self.customization, folder_names=names)
        # Also stored where there are none, so that notes added later do not change the prompt.
        noted = {FOLDER: names} if is_new else {}
        return replace(self, customization=customization, noted=noted)
