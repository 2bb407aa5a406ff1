"""Tools that a model may call, and how calls are approved.

A tool either runs at once or proposes an action. A proposal is applied only after approval. Each
front end asks the user through an `ApprovalPort`.
"""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from chains.cancel import CancelToken
from context.layers import Segment
from context.messages import ToolDefinition

__all__ = [
    "READING_TOOLS",
    "ApprovalLevel",
    "ApprovalPort",
    "ApprovalRequest",
    "ApprovalRules",
    "Decision",
    "KeptHunks",
    "NumberSources",
    "Proposal",
    "ProposalKind",
    "Tool",
    "ToolOrigin",
    "Verdict",
]

# The built-in tools that change nothing. All other built-in tools act.
READING_TOOLS: Final = frozenset(
    {
        "current_time",
        "fetch_url",
        "get_links",
        "grep_notes",
        "list_folder",
        "list_tags",
        "read_note",
        "read_result",
        "read_skill",
        "recent_notes",
        "search_notes",
        "tool_search",
    }
)
ProposalKind = Literal["write", "fetch", "mcp", "memory"]
Decision = Literal["once", "session", "reject"]
ApprovalLevel = Literal["ask", "never", "reads", "all"]
ToolOrigin = Literal["builtin", "mcp"]


@dataclass(frozen=True)
class KeptHunks:
    """The user's decision to approve only some of the hunks of a proposal.

    Attributes:
        numbers: the indexes of the approved hunks.
    """

    numbers: frozenset[int]


Verdict = Decision | KeptHunks
# Returns segments with the numbers by which they are cited.
NumberSources = Callable[[Sequence[Segment]], tuple[Segment, ...]]


@dataclass(frozen=True)
class Proposal:
    """What a tool call would do if it is approved.

    A proposal is valid only for the arguments and the content that it was computed from.

    Attributes:
        summary: one sentence for the user.
        apply: applies the proposal and returns the result for the model. Raises `ProposalOutdated`
            if the underlying content has changed.
        diff: a unified diff, or an empty string if nothing is written.
        session_scope: what an approval for the session covers: a host, or an MCP tool. With an
            empty string, every call needs approval.
        warnings: reasons to ask the user even if the call is covered by an earlier approval.
        hunks: the parts of the diff that can be approved separately, or an empty tuple if there is
            only one.
        keep: receives the indexes of some hunks, and returns a proposal that applies only these.
            None if there are no hunks.
    """

    kind: ProposalKind
    summary: str
    apply: Callable[[], str]
    diff: str = ""
    session_scope: str = ""
    warnings: tuple[str, ...] = ()
    hunks: tuple[str, ...] = ()
    keep: "Callable[[Collection[int]], Proposal] | None" = None


@dataclass(frozen=True)
class Tool:
    """A tool that a model may call. It has either `run` or `propose`.

    Attributes:
        run: runs the tool with validated arguments. A `ToolFailed` or `VaultError` becomes an error
            result.
        is_offloaded: whether large results are stored outside of the log.
        propose: computes what a call would do without changing anything. It may raise the same
            exceptions as `run`.
        origin: whether the tool is part of Strata or belongs to an MCP server.
        declares_reading: whether the MCP server of the tool declares that it only reads.
        cites: receives the function that numbers the sources of a turn, and returns a tool whose
            results have citation numbers. None if the results cannot be cited.
    """

    definition: ToolDefinition
    run: Callable[[Mapping[str, Any]], str] | None = None
    is_offloaded: bool = True
    propose: Callable[[Mapping[str, Any]], Proposal] | None = None
    origin: ToolOrigin = "builtin"
    cites: "Callable[[NumberSources], Tool] | None" = None
    declares_reading: bool = False

    @property
    def reads_only(self) -> bool:
        """Whether a call changes nothing, so that it can be repeated for its result."""
        if self.origin == "builtin":
            return self.definition.name in READING_TOOLS
        return self.declares_reading


@dataclass(frozen=True)
class ApprovalRequest:
    """A tool call that needs the user's approval, with its proposal.

    Attributes:
        id: the id of the request, used to answer it. If the proposal is computed again, the new
            request has another id.
        call_id: the id of the tool call.
        proposal: what the tool call would do.
    """

    id: str
    call_id: str
    tool: str
    arguments: Mapping[str, Any]
    proposal: Proposal


class ApprovalPort(Protocol):
    """The interface for asking the user about proposals."""

    def decide(self, request: ApprovalRequest, cancel: CancelToken) -> Verdict:
        """Wait for the user's decision on a proposal, in a thread of the pool.

        After a cancel, the decision is ignored, so an implementation may return `reject`.
        """


class ApprovalRules:
    """Decides on proposals without asking the user, if the approval level permits it.

    Each session has its own rules, which also remember what the user approved for the session.
    Thread-safe.
    """

    def __init__(self, level: ApprovalLevel = "ask", hosts: Collection[str] = ()) -> None:
        """Create rules that remember nothing yet.

        Args:
            level: which proposals are decided without asking the user.
            hosts: the hosts that the user names in the question of the turn. With the level
                "reads", pages are fetched from no others.
        """
        self._level: ApprovalLevel = level
        self._hosts = frozenset(hosts)
        self._lock = threading.Lock()
        self._scopes: set[tuple[ProposalKind, str]] = set()

    def with_level(self, level: ApprovalLevel) -> "ApprovalRules":
        """Return rules with another approval level, which share the remembered approvals."""
        return self._copy(level, self._hosts)

    def with_hosts(self, hosts: Collection[str]) -> "ApprovalRules":
        """Return rules for a question that names hosts, which share the remembered approvals."""
        return self._copy(self._level, hosts)

    def _copy(self, level: ApprovalLevel, hosts: Collection[str]) -> "ApprovalRules":
        rules = ApprovalRules(level, hosts)
        rules._lock, rules._scopes = self._lock, self._scopes
        return rules

    def decide(self, proposal: Proposal) -> Decision | None:
        """Decide on a proposal, or return None if the user has to be asked."""
        if self._level == "never":
            return "reject"
        if proposal.warnings:
            return None
        if self._level == "all" or (self._level == "reads" and self._is_quiet_read(proposal)):
            return "once"
        with self._lock:
            is_known = (proposal.kind, proposal.session_scope) in self._scopes
        return "once" if proposal.session_scope and is_known else None

    def _is_quiet_read(self, proposal: Proposal) -> bool:
        """Return whether a proposal only reads, and reaches nothing that the user did not name.

        A note may tell the model to fetch an address that carries the text of notes away.
        """
        scope = proposal.session_scope
        return bool(scope) and (proposal.kind != "fetch" or scope in self._hosts)

    def remember(self, proposal: Proposal) -> None:
        """Remember that the scope of a proposal is approved for the session."""
        if proposal.session_scope:
            with self._lock:
                self._scopes.add((proposal.kind, proposal.session_scope))
