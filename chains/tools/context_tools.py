"""Tools for the agent's own context: read_result, compact_context and tool_search.

read_result reads stored results in pages, compact_context frees space, and tool_search finds tools
that requests omit.

Large results are stored outside of the log. Requests contain a short text (a stub) instead.

Reasons: ARCHITECTURE.md, "Large results and tools".
"""

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from chains.errors import ToolFailed
from chains.request.session import SessionPort
from chains.tool import Tool
from chains.tools.registry import ToolOutcome
from chains.tools.schema import build_arguments_schema, build_integer_schema, build_text_schema
from context.fit.compact import CompactionReport
from context.fit.policy import COMPACT_CONTEXT as NAME
from context.history.exclusion import NoteRules, hide_in_turns
from context.history.note_text import NotePiece, find_note_pieces, hide_note_text
from context.history.outline import render_turn
from context.history.turn_list import TurnList
from context.history.turns import MeasuredTurn, list_turns
from context.log.entries import TransformEntry
from context.messages import ToolDefinition, compact_json
from context.offload import READ_RESULT_NAME, format_page_head, offload_stub
from context.tokens import ByteEstimator
from vault.notes.keywords import fold, split_words

__all__ = [
    "COMPACT_CONTEXT",
    "READ_RESULT",
    "TOOL_SEARCH",
    "FoundTools",
    "StoredOutcome",
    "build_compact_tool",
    "build_result_tool",
    "build_search_tool",
    "describe_compaction",
    "offload_result",
]

USUAL_CHARS: Final = 4_000
MOST_CHARS: Final = 20_000
CHARS_BEFORE: Final = 200
MOST_ERROR_CHARS: Final = 4_000
NOT_KEPT: Final = (
    "A large result of {tool} could not be stored beside the chat, so all of it stays in the chat "
    "and in its requests."
)
READ_RESULT: Final = ToolDefinition(
    READ_RESULT_NAME,
    "Read what is stored.",
    build_arguments_schema(
        {"ref_id": build_text_schema("As its stub says.")},
        find=build_text_schema("Words to begin at."),
        offset=build_integer_schema("Characters to skip.", 0),
        limit=build_integer_schema(f"Characters; {USUAL_CHARS:,} where not given.", 1, MOST_CHARS),
    ),
)


@dataclass(frozen=True)
class StoredOutcome:
    """The result of a tool call, as stored in the log.

    Attributes:
        ref_id: the reference to a large result stored outside of the log, or None.
        problem: why a large result could not be stored, or an empty string.
    """

    content: str
    is_error: bool
    ref_id: str | None = None
    problem: str = ""


def offload_result(
    tool: str, outcome: ToolOutcome, session: SessionPort, threshold: int
) -> StoredOutcome:
    """Store a large tool result outside of the log, and return a short text that replaces it.

    If storing fails, the full result is returned.

    Args:
        tool: the name of the tool.
        outcome: the outcome of the call. An error always stays in the log, but is shortened if it
            is very long.
        session: the session that stores the result.
        threshold: the maximum size in bytes of a result that stays in the log.
    """
    content = outcome.content
    size = len(content.encode("utf-8", "surrogatepass"))
    if outcome.is_error:
        return StoredOutcome(_shorten_error(content), is_error=True)
    if not outcome.is_offloaded or size <= threshold:
        return StoredOutcome(content, is_error=False)
    ref_id = session.keep_result(tool, content)
    if ref_id is None:
        return StoredOutcome(content, is_error=False, problem=NOT_KEPT.format(tool=tool))
    return StoredOutcome(offload_stub(tool, content, ref_id), is_error=False, ref_id=ref_id)


def _shorten_error(content: str) -> str:
    """Shorten a long error to its beginning and end, because requests never shorten errors."""
    if len(content) <= MOST_ERROR_CHARS:
        return content
    part = MOST_ERROR_CHARS // 2
    return f"{content[:part]}\n…\n{content[-part:]}"


def build_result_tool(session: SessionPort, rules: NoteRules | None = None) -> Tool:
    """Build the tool that reads stored results. Its own results always stay in the log.

    Args:
        session: the session that stores the results.
        rules: what decides which notes are left out, or None if no note is.
    """

    def read(arguments: Mapping[str, Any]) -> str:
        ref_id = arguments["ref_id"]
        content = session.load_result(ref_id) or _read_chat(session, ref_id, rules)
        if content is None:
            raise ToolFailed("There is no stored result of that ref_id. Call the tool again.")
        pieces = find_note_pieces(content)
        named = frozenset(piece.path for piece in pieces)
        excluded = rules.find_excluded(named) if rules and named else frozenset()
        start = arguments.get("offset", 0)
        if words := arguments.get("find", "").split():
            start = _find_words(content, words, [one for one in pieces if one.path in excluded])
        end = min(start + arguments.get("limit", USUAL_CHARS), len(content))
        if start > len(content):
            raise ToolFailed(f"The result has {len(content):,} characters.")
        shown = hide_note_text(content, excluded, start, end)
        return f"{format_page_head(start, end, len(content))}{shown}"

    return Tool(READ_RESULT, read, is_offloaded=False)


def _read_chat(session: SessionPort, ref_id: str, rules: NoteRules | None) -> str | None:
    """Return the turns before a compaction as text, or None if the branch has none of that id."""
    path = session.path()
    at = next((at for at, entry in enumerate(path) if entry.id == ref_id), 0)
    if not at or not isinstance(path[at], TransformEntry):
        return None
    # The turns are read, not sent, so that their tokens do not matter.
    turns = TurnList.of(MeasuredTurn(turn, turn.messages, 0) for turn in list_turns(path[:at]))
    if rules is not None:
        turns = hide_in_turns(turns, rules, ByteEstimator())
    return "\n\n".join(text for turn in turns for text in render_turn(turn))


def _find_words(content: str, words: Sequence[str], hidden: Sequence[NotePiece]) -> int:
    """Return the offset of a part of a text that begins shortly before words.

    Raises:
        ToolFailed: no line has any of the words.
    """
    folded = [fold(word) for word in words]
    best, found, at = 0, 0, 0
    for line in content.split("\n"):
        shown = fold(line)
        score = sum(word in shown for word in folded)
        if score > best and not any(one.start <= at < one.end for one in hidden):
            first = min(shown.find(word) for word in folded if word in shown)
            best, found = score, max(0, at + first - CHARS_BEFORE)
        at += len(line) + 1
    if not best:
        raise ToolFailed("Nothing in it has these words. Try fewer or other words.")
    return found


MOST_FOUND: Final = 5
TOOL_SEARCH: Final = ToolDefinition(
    "tool_search",
    "Find tools that were left out to save context. They can be called after this call.",
    build_arguments_schema(
        {"query": build_text_schema("Words of the tool's name, description or arguments.")}
    ),
)


class FoundTools:
    """The omitted tools that the model has found, but whose definitions it has not received yet."""

    def __init__(self, deferred: Sequence[ToolDefinition]) -> None:
        self._lock = threading.Lock()
        self._deferred = tuple(deferred)
        self._names: dict[str, None] = {}

    def search(self, query: str) -> tuple[ToolDefinition, ...]:
        """Return the tools that best match a query, and remember them for `take`."""
        words = set(split_words(query))
        scores = {tool.name: _score(tool, words) for tool in self._deferred}
        ranked = sorted(self._deferred, key=lambda tool: -scores[tool.name])
        found = tuple(tool for tool in ranked if scores[tool.name])[:MOST_FOUND]
        with self._lock:
            self._names |= dict.fromkeys(tool.name for tool in found)
        return found

    def take(self) -> tuple[str, ...]:
        """Return the names of the tools found since the previous call of this method."""
        with self._lock:
            names, self._names = tuple(self._names), {}
        return names


def build_search_tool(found: FoundTools) -> Tool:
    """Build the tool that searches for omitted tools."""

    def search(arguments: Mapping[str, Any]) -> str:
        tools = found.search(arguments["query"])
        if not tools:
            return "No other tool was found. Try other words."
        return "\n".join(compact_json(tool.to_dict()) for tool in tools)

    return Tool(TOOL_SEARCH, search, is_offloaded=False)


def _score(tool: ToolDefinition, words: Collection[str]) -> int:
    """Count how many words match a tool. Words in its name count twice."""
    properties = tool.parameters.get("properties")
    arguments = properties if isinstance(properties, Mapping) else {}
    name = fold(tool.name)
    text = fold(" ".join((tool.name, tool.description, *map(str, arguments))))
    return sum((word in text) + (word in name) for word in words)


NOTHING_TO_DO: Final = "There was nothing to compact, so no space was freed."
COMPACT_CONTEXT: Final = ToolDefinition(
    NAME,
    "Free space: replace the conversation before this question by a summary. It is done once the "
    "calls that are made together with this one have ended; the result says what was freed.",
    build_arguments_schema({}),
)


def build_compact_tool() -> Tool:
    """Build the tool that lets the model request a compaction. The agent loop performs it."""
    return Tool(COMPACT_CONTEXT, lambda _arguments: NOTHING_TO_DO)


def describe_compaction(forced: CompactionReport) -> str:
    """Describe a compaction to the model."""
    if forced.entry is None:
        return NOTHING_TO_DO
    done = forced.result
    return (
        "The conversation before this question was compacted: "
        f"{done.before_tokens:,} tokens became {done.after_tokens:,}, "
        f"{done.before_messages} messages became {done.after_messages}."
    )
