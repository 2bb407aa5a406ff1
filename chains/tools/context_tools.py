"""Tools over the conversation itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from chains.errors import ToolFailed
from chains.tools.registry import Tool, ToolOutcome, takes, text, whole
from context.fit.force_compact import Forced
from context.fit.usage_note import COMPACT_CONTEXT as NAME
from context.messages import ToolDefinition
from context.offload import offload_stub

__all__ = [
    "COMPACT_CONTEXT",
    "READ_RESULT",
    "ResultStore",
    "StoredOutcome",
    "compact_tool",
    "describe_compaction",
    "kept",
    "result_tool",
]

USUAL_CHARS: Final = 4_000
MOST_CHARS: Final = 20_000
NOT_KEPT: Final = (
    "A large result of {tool} could not be stored beside the chat, so all of it stays in the chat "
    "and in its requests."
)
READ_RESULT: Final = ToolDefinition(
    "read_result",
    "Read a part of a stored tool result.",
    takes(
        {"ref_id": text("As the stub of the result gives it.")},
        offset=whole("Characters to pass over.", 0),
        limit=whole(f"Characters to read; {USUAL_CHARS:,} where not given.", 1, MOST_CHARS),
    ),
)


class ResultStore(Protocol):
    """Keeps what is too large for a request."""

    def keep_result(self, tool: str, content: str) -> str | None:
        """Return the reference of a result that is on disk now; None where it cannot be kept."""

    def kept_result(self, ref_id: str) -> str | None:
        """Return a result; None where there is none of that reference."""


@dataclass(frozen=True)
class StoredOutcome:
    """An outcome as it goes into the log.

    Attributes:
        ref_id: where the whole of it is kept; None where it stands in the log itself.
        problem: one sentence where it should be kept elsewhere and could not; empty otherwise.
    """

    content: str
    is_error: bool
    ref_id: str | None = None
    problem: str = ""


def kept(tool: str, outcome: ToolOutcome, store: ResultStore, threshold: int) -> StoredOutcome:
    """Keep a large result elsewhere; where that fails it stays as it is.

    Args:
        tool: the name of the tool.
        outcome: what the call came to; a failure is never kept elsewhere.
        store: it is there before anything refers to it.
        threshold: in bytes; a result may have so many.
    """
    content = outcome.content
    size = len(content.encode("utf-8", "surrogatepass"))
    if outcome.is_error or not outcome.is_offloaded or size <= threshold:
        return StoredOutcome(content, outcome.is_error)
    ref_id = store.keep_result(tool, content)
    if ref_id is None:
        return StoredOutcome(content, is_error=False, problem=NOT_KEPT.format(tool=tool))
    return StoredOutcome(offload_stub(tool, content, ref_id), is_error=False, ref_id=ref_id)


def result_tool(store: ResultStore) -> Tool:
    """Return the tool that reads stored results; its own are never stored."""

    def read(arguments: Mapping[str, Any]) -> str:
        content = store.kept_result(arguments["ref_id"])
        if content is None:
            raise ToolFailed("There is no stored result of that ref_id. Call the tool again.")
        start = arguments.get("offset", 0)
        end = min(start + arguments.get("limit", USUAL_CHARS), len(content))
        if start > len(content):
            raise ToolFailed(f"The result has {len(content):,} characters.")
        rest = f"go on with offset={end}" if end < len(content) else "the end"
        return f"[Characters {start} to {end} of {len(content)}; {rest}]\n{content[start:end]}"

    return Tool(READ_RESULT, read, is_offloaded=False)


NOTHING_TO_DO: Final = "There was nothing to compact, so no space was freed."
COMPACT_CONTEXT: Final = ToolDefinition(
    NAME,
    "Free space: replace the conversation before this question by a summary. It is done once the "
    "calls that are made together with this one have ended; the result says what was freed.",
    takes({}),
)


def compact_tool() -> Tool:
    """Return the tool; the loop carries it out and puts what it did in the place of its result."""
    return Tool(COMPACT_CONTEXT, lambda _arguments: NOTHING_TO_DO)


def describe_compaction(forced: Forced) -> str:
    """Return what a compaction did, for the model that asked for it."""
    if forced.entry is None:
        return NOTHING_TO_DO
    done = forced.result
    return (
        "The conversation before this question was compacted: "
        f"{done.before_tokens:,} tokens became {done.after_tokens:,}, "
        f"{done.before_messages} messages became {done.after_messages}."
    )
