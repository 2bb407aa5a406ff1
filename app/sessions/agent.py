"""Build a turn's agent: limits, tools and approvals.

The window, the command line and RPC each provide a port for asking the user. An approval for a
whole chat is remembered until the program exits.
"""

import threading
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from app.config.settings_file import SettingsStore
from app.customize.memory import MemoryNote
from app.library.edits import NoteEdits
from chains.cancel import CancelToken, TimeLimit
from chains.events import Event
from chains.ledger import LedgerPort
from chains.mcp.server import McpServer
from chains.request.turn import Turn
from chains.tool import (
    ApprovalLevel,
    ApprovalPort,
    ApprovalRequest,
    ApprovalRules,
    Proposal,
    Tool,
    Verdict,
)
from chains.web.client import WebClient

if TYPE_CHECKING:
    from app.sessions.mcp import McpServers
from vault.vault import Vault

__all__ = ["WHOLE_VAULT", "AgentBuilder", "AgentScope"]


@dataclass(frozen=True)
class AgentScope:
    """The memories and restrictions that a project sets for its agent.

    Attributes:
        memories: the note with the project's long-term memories, or None for the global one.
        exclude: patterns for notes that the agent must not change, in addition to `vault.exclude`.
        tools: more tools that run without asking.
    """

    memories: MemoryNote | None = None
    exclude: tuple[str, ...] = ()
    tools: tuple[Tool, ...] = ()


WHOLE_VAULT = AgentScope()


class AgentBuilder:
    """Builds agents. Thread-safe.

    An approval for a whole chat applies to its later turns until the program exits.

    Attributes:
        edits: the edits that agents make to notes.
    """

    def __init__(
        self,
        settings: SettingsStore,
        memories: MemoryNote,
        edits: NoteEdits,
        web: WebClient,
        mcp_approvals: Path,
        ledger: LedgerPort,
    ) -> None:
        """Create a builder that rejects proposals until `connect` sets an approval port.

        Args:
            memories: the note with the user's long-term memories.
            edits: the edits that agents make to notes.
            web: fetches web pages.
            mcp_approvals: the folder for approvals of MCP servers, which need not exist.
            ledger: records the calls to MCP servers.
        """
        self.edits = edits
        self._settings = settings
        self._memories, self._web = memories, web
        self._mcp_approvals, self._ledger = mcp_approvals, ledger
        self._mcp: McpServers | None = None
        self._lock = threading.Lock()
        self._port: ApprovalPort | None = None
        self._level: ApprovalLevel = "ask"
        self._rules: dict[str, ApprovalRules] = {}

    @property
    def mcp(self) -> "McpServers":
        """The configured MCP servers."""
        from app.sessions.mcp import McpServers  # only agents use them

        with self._lock:
            if self._mcp is None:
                self._mcp = McpServers(self._settings, self._mcp_approvals, self._ledger)
            return self._mcp

    def connect(self, port: ApprovalPort | None, level: ApprovalLevel = "ask") -> None:
        """Set how proposals are decided in later turns.

        Args:
            port: asks the user, or None if no user can be asked.
            level: the approval level, which determines which proposals are decided without asking
                the user.
        """
        with self._lock:
            self._port, self._level = port, level

    def open_servers(
        self, session: str, cancel: CancelToken
    ) -> Generator[Event, None, tuple[str, ...]]:
        """Start the configured MCP servers, and return a warning for each one that is left out.

        Args:
            session: the chat id.
            cancel: the cancel token of the turn.
        """
        from chains.turn.approved_calls import ask_person

        port, rules = self._find_approvals(session)

        def ask(server: McpServer, proposal: Proposal) -> Generator[Event, None, bool]:
            decision: Verdict | None = rules.decide(proposal)
            if decision is None and port is not None:
                arguments = {"server": server.name, "command": server.shown}
                tool = "change_server" if proposal.diff else "start_server"
                request = ApprovalRequest(uuid4().hex, "", tool, arguments, proposal)
                decision = yield from ask_person(port, request, cancel)
            return decision in ("once", "session")

        return (yield from self.mcp.open_servers(ask, cancel))

    def close(self) -> None:
        """Stop the MCP servers."""
        with self._lock:
            if self._mcp is not None:
                self._mcp.close()

    def add_tools(
        self, turn: Turn, notes: Vault, session: str, scope: AgentScope = WHOLE_VAULT
    ) -> Turn:
        """Add the tools of an agent to a turn, and the approvals that they need.

        Args:
            notes: the notes of the vault or of a project.
            session: the chat id, or an empty string for a preview.
            scope: the limits of the chat's project, or of the whole vault.
        """
        from chains.turn.agent import AGENT_TOOLS  # turns of other modes have no tools

        port, rules = self._find_approvals(session)
        extra_tools = self._build_extra_tools(notes, session, turn.tool_time, scope)
        definitions = (tool.definition for tool in extra_tools)
        return replace(
            turn,
            ports=replace(turn.ports, approvals=port),
            vault=notes,
            tools=(*AGENT_TOOLS, *definitions),
            extra_tools=extra_tools,
            rules=rules,
        )

    def _find_approvals(self, session: str) -> tuple[ApprovalPort | None, ApprovalRules]:
        """Return the approval port and the approval rules of a chat.

        The port is None if no user can be asked.
        """
        with self._lock:
            known = self._rules.setdefault(session, ApprovalRules())
            return self._port, known.with_level(self._level)

    def _build_extra_tools(
        self, notes: Vault, session: str, time: TimeLimit, scope: AgentScope
    ) -> tuple[Tool, ...]:
        """Build all tools except those that read notes.

        Tools that change or fetch something ask for approval first.
        """
        from chains.tools.memory_tools import build_remember_tool
        from chains.tools.web import build_web_tool

        return (
            *self.edits.build_tools(notes.root, self._list_excluded, session, scope.exclude),
            build_remember_tool((scope.memories or self._memories).propose),
            build_web_tool(self._web, time.cancel),
            *scope.tools,
            *self.mcp.build_tools(time),
        )

    def _list_excluded(self) -> Sequence[str]:
        return self._settings.values.vault_exclude
