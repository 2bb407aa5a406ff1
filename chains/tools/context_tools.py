"""Tools over the conversation itself."""

from typing import Final

from chains.tools.registry import Tool
from chains.tools.schema import takes
from context.fit.force_compact import Forced
from context.fit.usage_note import COMPACT_CONTEXT as NAME
from context.messages import ToolDefinition

__all__ = ["COMPACT_CONTEXT", "compact_tool", "describe_compaction"]

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
