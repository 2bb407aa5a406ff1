"""Questions that take several looks: a model searches and reads the notes itself, then answers."""

import time
from collections.abc import Callable, Generator, Iterator

from chains.additions import NOTHING_ADDED, Additions
from chains.agent_loop import AgentLimits, AgentLoop, AgentSession
from chains.cancel import CancelToken
from chains.events import Event
from chains.model import Pause, wait_or_cancel
from chains.model_port import KeyFor
from chains.oversize import WithinPort
from chains.runner import (
    Chain,
    TurnRequest,
    compact_chat,
    open_turn,
    preview,
    rebuild,
)
from chains.tools.context_tools import COMPACT_CONTEXT, compact_tool
from chains.tools.notes import NOTE_TOOLS, NotesPort, note_tools
from chains.tools.registry import ToolRegistry
from chains.tools.results import READ_RESULT, ResultStore, result_tool
from chains.tools.sources import Sources
from chains.turn import SessionPort
from context.force import Forced
from context.guard import PreparedRequest
from context.prior import Resolve

__all__ = ["AgentChain", "AgentLimits"]


class AgentChain:
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
        self._chain = Chain("agent", key_for, None, pause, resolve, tools, additions, within)

    def run(
        self, request: TurnRequest, session: AgentSession, cancel: CancelToken
    ) -> Iterator[Event]:
        """Answer one question; the last event is `TurnEnded`.

        Raises:
            ContextOverflow: the question does not fit; nothing is stored.
            ContextHookError: a hook failed; of the request that it was asked about nothing is.
            ModelError: there is no answer; the question and the work so far are kept.
            Cancelled: it was stopped before the question was stored; later a stop ends the turn.
        """
        opened = yield from open_turn(self._chain, request, session, cancel)
        if opened is None:
            return
        sources = Sources(opened.turn.request.segments)
        registry = self._registry(session, sources)
        loop = AgentLoop(
            opened.request, session, opened.means, registry, sources, self._limits, self._clock
        )
        yield from loop.answer(opened.turn, opened.model, cancel)

    def compact(
        self,
        request: TurnRequest,
        session: SessionPort,
        cancel: CancelToken,
        instructions: str = "",
    ) -> Generator[Event, None, Forced]:
        """Make a summary of everything before the last complete turn."""
        return compact_chat(self._chain, request, session, cancel, instructions)

    def preview(self, request: TurnRequest, session: SessionPort | None) -> PreparedRequest:
        """Return what would be sent next; nothing is looked up, stored or called."""
        return preview(self._chain, request, session)

    def rebuild(self, request: TurnRequest, session: SessionPort) -> PreparedRequest:
        """Return the first request of a chat's last turn as it is made from the log."""
        return rebuild(self._chain, request, session)

    def _registry(self, results: ResultStore, sources: Sources) -> ToolRegistry:
        notes = note_tools(self._notes, sources)
        return ToolRegistry((*notes, result_tool(results), compact_tool()))
