"""Build the agent of a turn: its limits, its tools that ask first, and who decides about them.

The window, the command line and RPC each connect the port through which a person decides. What a
person approves for a session is remembered until the program ends.
"""

import threading
from collections.abc import Sequence
from dataclasses import replace

from app.config.settings_file import SettingsStore
from app.customize.memory import MemoryNote
from app.library.edits import NoteEdits
from chains.request.chain import AgentLimits, AgentSetup, Chain, NotesPort
from chains.tool import ApprovalLevel, ApprovalPort, ApprovalRules, Tool
from chains.tools.memory_tools import build_remember_tool
from chains.turn.agent import AGENT_TOOLS

__all__ = ["AgentBuilder"]


class AgentBuilder:
    """Builds agents; every method may be called from any thread.

    An approval for the session is kept for each chat separately, and outlives its turns. It is not
    stored: a program that is started again asks again.

    Attributes:
        edits: the edits that agents make of notes.
    """

    def __init__(self, settings: SettingsStore, memories: MemoryNote, edits: NoteEdits) -> None:
        """Begin without a person: a proposal that needs one is rejected."""
        self.edits = edits
        self._settings = settings
        self._memories = memories
        self._lock = threading.Lock()
        self._port: ApprovalPort | None = None
        self._level: ApprovalLevel = "ask"
        self._rules: dict[str, ApprovalRules] = {}

    def connect(self, port: ApprovalPort | None, level: ApprovalLevel = "ask") -> None:
        """Set who decides about the proposals of all later turns.

        Args:
            port: asks a person, or None if nobody can be asked.
            level: what is approved or rejected without asking.
        """
        with self._lock:
            self._port, self._level = port, level

    def add_agent(self, chain: Chain, notes: NotesPort, session: str) -> Chain:
        """Return a chain with an agent that reads the notes, and with the definitions of its tools.

        Args:
            chain: the chain without an agent.
            notes: the open notes.
            session: the id of the chat, or empty for a request that is only shown.
        """
        agent = self._build_agent(notes, session)
        definitions = (tool.definition for tool in agent.extra_tools)
        return replace(chain, prompt="agent", tools=(*AGENT_TOOLS, *definitions), agent=agent)

    def _build_agent(self, notes: NotesPort, session: str) -> AgentSetup:
        with self._lock:
            port, level = self._port, self._level
            known = self._rules.setdefault(session, ApprovalRules())
        return AgentSetup(
            notes,
            self._limits,
            approvals=port,
            extra_tools=self._build_extra_tools(notes, session),
            rules=known.with_level(level),
        )

    def _build_extra_tools(self, notes: NotesPort, session: str) -> tuple[Tool, ...]:
        """Build the tools beside those that read notes, one family after another.

        A tool that changes or fetches anything proposes it first.
        """
        return (
            *self.edits.build_tools(notes.root, self._list_excluded, session),
            build_remember_tool(self._memories.propose),
        )

    def _list_excluded(self) -> Sequence[str]:
        return self._settings.values.vault_exclude

    @property
    def _limits(self) -> AgentLimits:
        values = self._settings.values
        return AgentLimits(
            max_steps=values.agent_max_steps,
            max_seconds=values.agent_max_seconds,
            offload_bytes=values.result_offload_threshold,
        )
