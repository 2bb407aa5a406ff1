"""Tools over the conversation itself."""

from typing import Final

from chains.tools.registry import Tool
from chains.tools.schema import takes
from context.messages import ToolDefinition
from context.usage_note import COMPACT_CONTEXT as NAME

__all__ = ["COMPACT_CONTEXT", "compact_tool"]

COMPACT_CONTEXT: Final = ToolDefinition(
    NAME,
    "Free space: replace the conversation before this question by a summary. It is done once the "
    "calls that are made together with this one have ended.",
    takes({}),
)


def compact_tool() -> Tool:
    """Return the tool; the loop carries it out, this only says so."""
    return Tool(COMPACT_CONTEXT, lambda _arguments: "The earlier conversation is summed up now.")
