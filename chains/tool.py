"""A tool that a model may call, and the approval that a call may need.

A tool either runs at once, or proposes: it computes what a call would do, a person decides, and
only an approved proposal is applied. Each front end decides through an `ApprovalPort`.
"""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from chains.cancel import CancelToken
from context.layers import Segment
from context.messages import ToolDefinition

__all__ = [
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

ProposalKind = Literal["write", "fetch", "mcp", "memory"]
Decision = Literal["once", "session", "reject"]
ApprovalLevel = Literal["ask", "never", "reads", "all"]
ToolOrigin = Literal["builtin", "mcp"]


@dataclass(frozen=True)
class KeptHunks:
    """The decision to approve only some hunks of a proposal, by their numbers counted from 0."""

    numbers: frozenset[int]


Verdict = Decision | KeptHunks
# Returns segments with the numbers by which they are cited.
NumberSources = Callable[[Sequence[Segment]], tuple[Segment, ...]]


@dataclass(frozen=True)
class Proposal:
    """The effect that a tool call would have, bound to its exact arguments and content.

    Attributes:
        summary: one sentence for the person who decides.
        apply: applies the proposal and returns the result for the model. It raises
            `ProposalOutdated` if the content that the proposal was computed from has changed.
        diff: a unified diff, or an empty string if nothing is written.
        session_scope: what an approval for the session covers: a host, or the name of an MCP tool.
            Empty means that every call asks.
        warnings: reasons to ask separately, whatever was approved before.
        hunks: the parts of the diff that can be approved without the others, or an empty tuple if
            it has only one.
        keep: returns the proposal with only some of its hunks, by their numbers. It raises what
            `apply` raises when it is applied. None if there are no hunks.
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
        run: runs the tool with arguments that match the definition. If it raises `ToolFailed` or a
            `VaultError`, the result is the error message.
        is_offloaded: whether a large result is stored outside the log.
        propose: computes what a call would do, and changes nothing. It may fail like `run`.
        origin: whether the tool is part of Strata or belongs to an MCP server.
        cites: builds the tool for one turn, in which its results are numbered to be cited. None if
            the results cannot be cited.
    """

    definition: ToolDefinition
    run: Callable[[Mapping[str, Any]], str] | None = None
    is_offloaded: bool = True
    propose: Callable[[Mapping[str, Any]], Proposal] | None = None
    origin: ToolOrigin = "builtin"
    cites: "Callable[[NumberSources], Tool] | None" = None


@dataclass(frozen=True)
class ApprovalRequest:
    """A proposal that waits for a decision.

    Attributes:
        id: the id of this request. A proposal that is computed again gets another one.
        call_id: the id of the tool call.
    """

    id: str
    call_id: str
    tool: str
    arguments: Mapping[str, Any]
    proposal: Proposal


class ApprovalPort(Protocol):
    """A port through which a person decides about proposals."""

    def decide(self, request: ApprovalRequest, cancel: CancelToken) -> Verdict:
        """Wait for the decision about a proposal, in a thread of the pool.

        After a cancel the decision is ignored, so an implementation may return `reject`.
        """


class ApprovalRules:
    """Decides about proposals without a person where a level or an earlier approval allows it.

    One object belongs to one session, and remembers what was approved for it. Thread-safe.
    """

    def __init__(self, level: ApprovalLevel = "ask") -> None:
        self._level: ApprovalLevel = level
        self._lock = threading.Lock()
        self._scopes: set[tuple[ProposalKind, str]] = set()

    def with_level(self, level: ApprovalLevel) -> "ApprovalRules":
        """Return rules of another level that share what was approved for the session."""
        rules = ApprovalRules(level)
        rules._lock, rules._scopes = self._lock, self._scopes
        return rules

    def decide(self, proposal: Proposal) -> Decision | None:
        """Return the decision about a proposal, or None if a person has to decide."""
        if self._level == "never":
            return "reject"
        if proposal.warnings:
            return None
        if self._level == "all" or (self._level == "reads" and proposal.session_scope):
            return "once"
        with self._lock:
            is_known = (proposal.kind, proposal.session_scope) in self._scopes
        return "once" if proposal.session_scope and is_known else None

    def remember(self, proposal: Proposal) -> None:
        """Remember that the scope of a proposal is approved for the session."""
        if proposal.session_scope:
            with self._lock:
                self._scopes.add((proposal.kind, proposal.session_scope))
