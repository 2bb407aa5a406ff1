"""Run a model's tool calls: validate the arguments, run the tool, and always return a result."""

import json
import logging
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self, TypeVar

from chains.errors import Cancelled, ProposalOutdated, ToolFailed
from chains.events import ToolStatus
from chains.llm.port import RequestedCall
from chains.mcp.calls import check_mcp_arguments
from chains.tool import Proposal, Tool
from context.errors import MalformedEntry
from context.layers import Segment, replace_surrogates
from context.log.entries import Entry, OtherEntry
from context.messages import ToolDefinition, clean_json
from vault.errors import VaultError

__all__ = ["Tool", "ToolOutcome", "ToolRegistry", "ToolRun", "parse_arguments", "parse_json"]

_TYPES: Mapping[str, type] = {"string": str, "integer": int, "array": list}


def build_text_schema(description: str) -> dict[str, Any]:
    """Build the JSON schema of a string argument."""
    return {"type": "string", "description": description}


def build_integer_schema(
    description: str, minimum: int, maximum: int | None = None
) -> dict[str, Any]:
    """Build the JSON schema of an integer argument."""
    schema = {"type": "integer", "description": description, "minimum": minimum}
    return schema if maximum is None else schema | {"maximum": maximum}


def build_arguments_schema(required: Mapping[str, Any], **optional: Any) -> dict[str, Any]:
    """Build the JSON schema of a tool's arguments. No other arguments are allowed."""
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
        "additionalProperties": False,
    }


def check_arguments(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """Validate arguments against a tool's schema.

    Raises:
        ToolFailed: an argument does not match. The message names it.
    """
    properties = schema["properties"]
    for name in schema["required"]:
        if name not in arguments:
            raise ToolFailed(f"The argument {name} is missing.")
    for name, value in arguments.items():
        if name not in properties:
            known = ", ".join(properties) or "none"
            raise ToolFailed(f"There is no argument {name}; this tool takes: {known}.")
        _check_value(name, value, properties[name])


def _check_value(name: str, value: object, schema: Mapping[str, Any]) -> None:
    kind = schema["type"]
    if not isinstance(value, _TYPES[kind]) or isinstance(value, bool):
        raise ToolFailed(f"The argument {name} has to be of the type {kind}.")
    if isinstance(value, int):
        least, most = schema["minimum"], schema.get("maximum")
        if value < least or (most is not None and value > most):
            allowed = f"at least {least:,}" if most is None else f"from {least:,} to {most:,}"
            raise ToolFailed(f"The argument {name} has to be {allowed}.")


_log = logging.getLogger(__name__)
_SHOWN_CHARS: Final = 200
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
    """The tools of a turn, by name."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {tool.definition.name: tool for tool in tools}

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """The definitions of all tools, in registration order."""
        return tuple(tool.definition for tool in self._tools.values())

    def asks_first(self, name: str) -> bool:
        """Return whether calls of a tool need the user's approval."""
        return name in self._tools and self._tools[name].propose is not None

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
            return ToolOutcome(f"Error: {error}", is_error=True)
        except Exception:  # noqa: BLE001 - a bug in a tool is logged, and reported to the model
            _log.exception("The tool %s failed", name)
            return ToolOutcome(f"Error: the tool {name} failed. Go on without it.", True)

    def _find(self, call: RequestedCall) -> tuple[Tool, Mapping[str, Any]]:
        tool, arguments = self._tool(call.name), parse_arguments(call)
        check = check_mcp_arguments if tool.origin == "mcp" else check_arguments
        check(arguments, tool.definition.parameters)
        return tool, arguments

    def _tool(self, name: str) -> Tool:
        if name not in self._tools:
            raise ToolFailed(f"There is no tool {name}. There are: {', '.join(self._tools)}.")
        return self._tools[name]


def parse_json(text: str | bytes) -> Any:
    """Parse JSON, rejecting NaN and infinite numbers, which the `json` module accepts.

    Raises:
        ValueError: the text is not JSON.
    """
    return json.loads(text, parse_constant=_refuse_number, parse_float=_read_number)


def _read_number(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse_number(text)


def _refuse_number(text: str) -> float:
    raise ValueError(f"{text} is not a number that JSON has")


def parse_arguments(call: RequestedCall) -> Mapping[str, Any]:
    """Parse the arguments of a call. An empty string means no arguments.

    Raises:
        ToolFailed: the text is not a JSON object.
    """
    try:
        found = clean_json(parse_json(call.arguments or "{}"))
    except (ValueError, RecursionError) as error:
        shown = call.arguments[:_SHOWN_CHARS]
        raise ToolFailed(f"The arguments are not JSON ({error}): {shown}") from error
    if not isinstance(found, dict):
        raise ToolFailed("The arguments have to be a JSON object.")
    return found


KIND: Final = "tool_run"


@dataclass(frozen=True)
class ToolRun:
    """The record of a tool call that has run, for the log.

    Attributes:
        ref_id: the reference to a large result stored outside of the log, or None.
        sources: the segments that this call was the first in the turn to return.
    """

    call_id: str
    status: ToolStatus
    seconds: float
    ref_id: str | None = None
    sources: tuple[Segment, ...] = ()

    def to_entry(self, id: str, result: str, timestamp: str) -> OtherEntry:
        """Convert the record to a log entry, whose parent is the entry of the tool result."""
        data = {
            "customType": KIND,
            "callId": self.call_id,
            "status": self.status,
            "seconds": round(self.seconds, 3),
            "refId": self.ref_id,
            "sources": [source.to_dict() for source in self.sources],
        }
        return OtherEntry(id, result, timestamp, "custom", data)

    @classmethod
    def from_entry(cls, entry: Entry) -> Self | None:
        """Parse a log entry, or return None if it is not a valid tool run."""
        if not isinstance(entry, OtherEntry) or entry.data.get("customType") != KIND:
            return None
        call, status = entry.data.get("callId"), entry.data.get("status")
        seconds, ref = entry.data.get("seconds"), entry.data.get("refId")
        if not isinstance(call, str) or not isinstance(seconds, int | float):
            return None
        known: ToolStatus = status if status in ("ok", "denied") else "error"
        ref_id = ref if isinstance(ref, str) else None
        return cls(call, known, float(seconds), ref_id, _sources(entry.data.get("sources")))


def _sources(value: object) -> tuple[Segment, ...]:
    if not isinstance(value, tuple):
        return ()
    try:
        return tuple(Segment.from_dict(item) for item in value if isinstance(item, Mapping))
    except MalformedEntry:
        return ()
