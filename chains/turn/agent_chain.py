"""Questions that take several looks: a model searches and reads the notes itself, then answers."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from chains.cancel import CancelToken
from chains.events import Event
from chains.folders import FOLDER, list_names, recorded_names
from chains.llm.port import KeyFor
from chains.model import Pause, wait_or_cancel
from chains.prompts import NOTHING_ADDED, Additions
from chains.request.session import ChatPort
from chains.retrieval.attachments import WithinPort
from chains.tools.context_tools import (
    COMPACT_CONTEXT,
    READ_RESULT,
    ResultStore,
    compact_tool,
    result_tool,
)
from chains.tools.notes import NOTE_TOOLS, NotesPort, Sources, note_tools
from chains.tools.registry import ToolRegistry
from chains.turn.agent import AgentLimits, AgentLoop, AgentSession
from chains.turn.run import Chain, TurnRequest, open_turn
from chains.turn.shared_chain import SharedChain
from context.assemble.attachments import Resolve

__all__ = ["AgentChain", "AgentLimits"]


class AgentChain(SharedChain):
    """Works on a question with tools over the notes."""

    def __init__(
        self,
        key_for: KeyFor,
        notes: NotesPort,
        limits: AgentLimits,
        *,
        pause: Pause = wait_or_cancel,
        resolve: Resolve | None = None,
        additions: Additions = NOTHING_ADDED,
        within: WithinPort | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._notes = notes
        self._limits = limits
        self._clock = clock
        tools = (*NOTE_TOOLS, READ_RESULT, COMPACT_CONTEXT)
        super().__init__(Chain("agent", key_for, None, pause, resolve, tools, additions, within))

    def run(
        self, request: TurnRequest, session: AgentSession, cancel: CancelToken
    ) -> Iterator[Event]:
        """Answer one question; the last event is `TurnEnded`.

        Raises:
            ContextOverflow: the question does not fit; nothing but itself is stored.
            ContextHookError: a hook failed; of the request that it was asked about nothing is.
            ModelError: there is no answer; the question and the work so far are kept.
            Cancelled: it was stopped before its first request; later a stop ends the turn.
        """
        chain = self._chain_for(request, session)
        opened = yield from open_turn(chain, request, session, cancel)
        if opened is None:
            return
        sources = Sources(opened.turn.request.segments)
        registry = self._registry(session, sources)
        loop = AgentLoop(
            opened.request, session, opened.means, registry, sources, self._limits, self._clock
        )
        yield from opened.told(loop.answer(opened.turn, opened.model, cancel))

    def _chain_for(self, request: TurnRequest, session: ChatPort | None) -> Chain:
        """Return the chain with the names in the open folder as they were when the chat began."""
        names = None if session is None else recorded_names(session.path())
        is_new = names is None
        if names is None:
            indexed = [note.path for note in self._notes.notes() if note.state == "indexed"]
            allowed = sorted(self._notes.still_allowed(indexed))
            names = list_names(self._notes.root.name, allowed, request.threshold)
        additions = replace(self._chain.additions, folder_names=names)
        # Also kept where there are none, so that notes which come later change no instructions.
        noted = {FOLDER: names} if is_new else {}
        return replace(self._chain, additions=additions, noted=noted)

    def _registry(self, results: ResultStore, sources: Sources) -> ToolRegistry:
        notes = note_tools(self._notes, sources, self._chain.additions.instructions)
        return ToolRegistry((*notes, result_tool(results), compact_tool()))
