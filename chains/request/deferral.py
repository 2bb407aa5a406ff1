"""Decide which tools a request includes, and which the model finds with `tool_search`.

Too many tools would fill the budget: those of MCP servers and, in small windows, built-in ones that
were not used lately. The decision is stored with the first turn, and is made again only if the
model, the threshold or the tools change, so that the cached prefix stays the same.
Tools that the model has found are promoted: they are sent from then on, after all others.

Reasons: ARCHITECTURE.md, "Large results and tools".
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from chains.request.session import SessionPort
from context.assemble.inputs import ToolDeferral
from context.log.entries import Entry, MessageEntry, OtherEntry, SegmentsEntry
from context.messages import ToolDefinition, compact_json, list_tool_calls
from context.tokens import TokenCounter, count_tool

__all__ = [
    "NOTHING_DEFERRED",
    "DeferredTools",
    "ToolLimits",
    "ToolOffer",
    "build_promotion",
    "offer_tools",
]

RECORD: Final = "offeredTools"  # the key of the decision in the segments entry of a turn
PROMOTED: Final = "tools_promoted"
# In windows below these sizes, built-in tools are deferred too, or only those of CORE are sent.
SMALL_WINDOW: Final = 16_000
SMALLEST_WINDOW: Final = 6_000
CORE: Final = frozenset({"search_notes", "read_note", "read_result", "tool_search"})


@dataclass(frozen=True)
class DeferredTools:
    """The tools that requests omit until the model searches for them.

    Attributes:
        definitions: the tools that are omitted now.
        promoted: the names of tools that the model has found, which are sent from then on.
        at_start: how many tools were omitted when the turn began.
    """

    definitions: tuple[ToolDefinition, ...] = ()
    promoted: frozenset[str] = frozenset()
    at_start: int = 0

    def to_inputs(self) -> ToolDeferral:
        """Convert the omitted tools to the input format of the package `context`."""
        names = tuple(tool.name for tool in self.definitions)
        return ToolDeferral(names, self.promoted, self.at_start)

    def include(self, names: Iterable[str]) -> "DeferredTools":
        """Return a copy that no longer omits the given tools, and marks them as promoted."""
        found = frozenset(names)
        rest = tuple(tool for tool in self.definitions if tool.name not in found)
        return DeferredTools(rest, self.promoted | found, self.at_start)


NOTHING_DEFERRED: Final = DeferredTools()


@dataclass(frozen=True)
class ToolOffer:
    """The decision on which tools the requests of a turn include.

    Attributes:
        tools: the tools that are included.
        deferred: the tools that are omitted.
        stored_fields: the decision in the form stored in the log, or None if there is nothing new
            to store.
    """

    tools: tuple[ToolDefinition, ...]
    deferred: DeferredTools = NOTHING_DEFERRED
    stored_fields: Mapping[str, object] | None = None


@dataclass(frozen=True)
class ToolLimits:
    """The limits that decide which tools a request includes.

    Attributes:
        window: the size of the window in tokens: the threshold, or the model's limit if smaller.
        tool_tokens: the tokens available for tool definitions.
    """

    window: int
    tool_tokens: int


def offer_tools(
    tools: Sequence[ToolDefinition],
    foreign: frozenset[str],
    session: SessionPort,
    place: str,
    limits: ToolLimits,
    counter: TokenCounter,
) -> ToolOffer:
    """Decide which tools the requests of a turn include.

    The decision in the session's log is reused if it was made for the same tools and the same
    `place`.

    Args:
        tools: all tools, in the order in which they are sent.
        foreign: the names of tools from MCP servers.
        place: the name of the model and the threshold, as one string. If it changes, a new decision
            is made.
        limits: the size of the window, and the tokens available for tools.
        counter: the token counter.

    Returns:
        The tools to include and those to omit. Nothing is omitted if the window is large and no
        tool is from an MCP server.
    """
    if not foreign and limits.window >= SMALL_WINDOW:
        return ToolOffer(tuple(tools))
    path = session.path()
    key = _hash_tools(tools, place)
    names = _find_record(path, key)
    stored_fields = None
    if names is None:
        names = _choose_names(tools, foreign, path, limits, counter)
        stored_fields = {RECORD: {"key": key, "names": names}}
    return _split(tools, names, _list_promoted(session), stored_fields)


def _choose_names(
    tools: Sequence[ToolDefinition],
    foreign: frozenset[str],
    path: Sequence[Entry],
    limits: ToolLimits,
    counter: TokenCounter,
) -> list[str]:
    """Return the names of the tools to include, in the order in which they are sent."""
    is_small = limits.window < SMALL_WINDOW
    always = CORE if is_small else {tool.name for tool in tools} - foreign
    head = [tool for tool in tools if tool.name in always]
    if limits.window < SMALLEST_WINDOW:
        return [tool.name for tool in head]
    rest = _rank([tool for tool in tools if tool.name not in always], foreign, path)
    return _fill(head, rest, limits.tool_tokens, counter)


def build_promotion(session: SessionPort, names: Sequence[str]) -> OtherEntry:
    """Build the log entry for tools that the model has found and that are sent from now on."""
    data = {"customType": PROMOTED, "content": {"names": list(names)}}
    leaf = session.path()[-1].id
    return OtherEntry(session.new_id(), leaf, session.now(), "custom", data)


def _split(
    tools: Sequence[ToolDefinition],
    names: Sequence[str],
    promoted: Sequence[str],
    stored_fields: Mapping[str, object] | None,
) -> ToolOffer:
    known = {tool.name: tool for tool in tools}
    offered = [known[name] for name in names if name in known]
    late = [known[name] for name in promoted if name in known and name not in names]
    shown = {tool.name for tool in (*offered, *late)}
    rest = tuple(tool for tool in tools if tool.name not in shown)
    deferred = DeferredTools(rest, frozenset(tool.name for tool in late), len(rest))
    return ToolOffer((*offered, *late), deferred, stored_fields)


def _rank(
    tools: Sequence[ToolDefinition], foreign: frozenset[str], path: Sequence[Entry]
) -> list[ToolDefinition]:
    """Sort tools: built-in ones before MCP tools, and recently used ones first in both groups."""
    messages = [entry.message for entry in path if isinstance(entry, MessageEntry)]
    used = {call.name: at for at, m in enumerate(messages) for call in list_tool_calls(m)}
    return sorted(tools, key=lambda tool: (tool.name in foreign, -used.get(tool.name, -1)))


def _fill(
    head: Sequence[ToolDefinition],
    rest: Sequence[ToolDefinition],
    most_tokens: int,
    counter: TokenCounter,
) -> list[str]:
    """Return the names of all tools in `head`, and of the tools in `rest` that still fit.

    Args:
        head: the tools that are always included.
        rest: the other tools, most important first.
        most_tokens: the maximum number of tokens of all definitions together.
        counter: the token counter.
    """
    names = [tool.name for tool in head]
    taken = sum(count_tool(tool, counter) for tool in head)
    for tool in rest:
        tokens = count_tool(tool, counter)
        if taken + tokens <= most_tokens:
            names.append(tool.name)
            taken += tokens
    return names


def _find_record(path: Sequence[Entry], key: str) -> list[str] | None:
    for entry in reversed(path):
        found = entry.extra.get(RECORD) if isinstance(entry, SegmentsEntry) else None
        if isinstance(found, Mapping):
            names = found.get("names")
            if found.get("key") != key or not isinstance(names, tuple):
                return None
            return [str(name) for name in names]
    return None


def _list_promoted(session: SessionPort) -> list[str]:
    names: list[str] = []
    for entry in session.custom(PROMOTED):
        found = entry.content.get("names")
        names += map(str, found) if isinstance(found, tuple) else ()
    return list(dict.fromkeys(names))


def _hash_tools(tools: Sequence[ToolDefinition], place: str) -> str:
    whole = compact_json([place, [tool.to_dict() for tool in tools]])
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:16]
