"""Run a model's tool calls: validate the arguments, run the tool, and always return a result."""

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from chains.errors import Cancelled, ProposalOutdated, ToolFailed
from chains.llm.port import RequestedCall
from chains.mcp.calls import check_mcp_arguments
from chains.tool import Proposal, Tool
from chains.tools.schema import check_arguments, parse_arguments
from chains.turn_answer import ToolStatus
from context.errors import MalformedEntry
from context.layers import Segment, replace_surrogates
from context.log.entries import Entry, OtherEntry
from context.messages import ToolDefinition
from vault.errors import VaultError

__all__ = ["KIND", "ToolOutcome", "ToolRegistry", "ToolRun"]

_log = logging.getLogger(__name__)
SHOWN_NAME_CHARS: Final = 100
_Found = TypeVar("_Found")


@dataclass(frozen=True)
class ToolOutcome:
    """The result of a tool call for the model.

    Attributes:
        is_denied: whether the call was not approved.
    """

    content: str
    is_error: bool = False
    is_offloaded: bool = False
    is_denied: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "content", replace_surrogates(self.content))


class ToolRegistry:
    """The tools of a turn, keyed by name."""

    def __init__(self, tools: Iterable[Tool], folder: Path | None = None) -> None:
        """Store the tools.

        Args:
            folder: the folder of the notes, which is removed from the errors that models see.
        """
        self._tools = {tool.definition.name: tool for tool in tools}
        self._folder = folder

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """The definitions of all tools, in registration order."""
        return tuple(tool.definition for tool in self._tools.values())

    def asks_first(self, name: str) -> bool:
        """Return whether calls of a tool need the user's approval."""
        return name in self._tools and self._tools[name].propose is not None

    def reads_only(self, name: str) -> bool:
        """Return whether calls of a tool change nothing."""
        return name in self._tools and self._tools[name].reads_only

    def run(self, call: RequestedCall) -> ToolOutcome:
        """Run a tool call. If it fails, the outcome contains the error."""
        return self._attempt(call.name, lambda: self._run(call))

    def propose(self, call: RequestedCall) -> Proposal | ToolOutcome:
        """Return what a tool call would do. If it fails, the outcome contains the error."""
        return self._attempt(call.name, lambda: self._propose(call))

    def apply(self, call: RequestedCall, proposal: Proposal) -> ToolOutcome:
        """Apply an approved proposal, and return the result of the tool call.

        Raises:
            ProposalOutdated: the content that the proposal was computed from has changed.
        """
        is_offloaded = self._tools[call.name].is_offloaded
        return self._attempt(
            call.name, lambda: ToolOutcome(proposal.apply(), is_offloaded=is_offloaded)
        )

    def _run(self, call: RequestedCall) -> ToolOutcome:
        tool, arguments = self._find(call)
        if tool.run is None:
            raise ToolFailed(f"The tool {call.name} needs an approval.")
        return ToolOutcome(tool.run(arguments), is_offloaded=tool.is_offloaded)

    def _propose(self, call: RequestedCall) -> Proposal | ToolOutcome:
        tool, arguments = self._find(call)
        return self._run(call) if tool.propose is None else tool.propose(arguments)

    def _attempt(self, name: str, work: Callable[[], _Found]) -> _Found | ToolOutcome:
        try:
            return work()
        except (Cancelled, ProposalOutdated):
            raise
        except (ToolFailed, VaultError) as error:
            return ToolOutcome(f"Error: {self._hide_folders(str(error))}", is_error=True)
        except Exception:  # noqa: BLE001 - a bug in a tool is logged, and reported to the model
            _log.exception("The tool %s failed", name)
            return ToolOutcome(f"Error: the tool {name} failed. Go on without it.", True)

    def _hide_folders(self, text: str) -> str:
        """Make the paths in an error relative to the notes, or else to the user's home."""
        if self._folder is not None:
            text = text.replace(f"{self._folder}/", "")
            # Not `/home/u/notes-old`, which only begins like the folder.
            text = re.sub(rf"{re.escape(str(self._folder))}(?![\w.-])", "the notes", text)
        return text.replace(f"{Path.home()}/", "~/")

    def _find(self, call: RequestedCall) -> tuple[Tool, Mapping[str, Any]]:
        tool, arguments = self._tool(call.name), parse_arguments(call)
        check = check_mcp_arguments if tool.origin == "mcp" else check_arguments
        check(arguments, tool.definition.parameters)
        return tool, arguments

    def _tool(self, name: str) -> Tool:
        if name not in self._tools:
            shown = name if len(name) <= SHOWN_NAME_CHARS else f"{name[:SHOWN_NAME_CHARS]}…"
            raise ToolFailed(f"There is no tool {shown}. There are: {', '.join(self._tools)}.")
        return self._tools[name]


KIND: Final = "tool_run"


@dataclass(frozen=True)
class ToolRun:
    """The log record of a tool call that has been run.

    Attributes:
        ref_id: the reference to a large result stored outside of the log, or None.
        sources: the segments in the result that no earlier result of the turn contains.
    """

    call_id: str
    status: ToolStatus
    seconds: float
    ref_id: str | None = None
    sources: tuple[Segment, ...] = ()

    def to_entry(self, id: str, result: str, timestamp: str) -> OtherEntry:
        """Convert the record to a log entry.

        Args:
            id: the id of the new entry.
            result: the id of the tool result's log entry, which becomes the parent.
            timestamp: the time in UTC as ISO 8601.
        """
        content = {
            "callId": self.call_id,
            "result": result,
            "status": self.status,
            "seconds": round(self.seconds, 3),
            "refId": self.ref_id,
            "sources": [source.to_dict() for source in self.sources],
        }
        data = {"customType": KIND, "content": content}
        return OtherEntry(id, result, timestamp, "custom", data)

    @classmethod
    def from_entry(cls, entry: Entry) -> Self | None:
        """Parse a log entry, or return None if it is not a valid tool run."""
        if not isinstance(entry, OtherEntry) or entry.data.get("customType") != KIND:
            return None
        content = entry.content
        call, status = content.get("callId"), content.get("status")
        seconds, ref = content.get("seconds"), content.get("refId")
        if not isinstance(call, str) or not isinstance(seconds, int | float):
            return None
        known: ToolStatus = status if status in ("ok", "denied") else "error"
        ref_id = ref if isinstance(ref, str) else None
        return cls(call, known, float(seconds), ref_id, _sources(content.get("sources")))


def _sources(value: object) -> tuple[Segment, ...]:
    if not isinstance(value, tuple):
        return ()
    try:
        return tuple(Segment.from_dict(item) for item in value if isinstance(item, Mapping))
    except MalformedEntry:
        return ()
