"""Repair interrupted messages, so that they can be sent to a model.

The log is not changed. Missing tool results are added, results without a tool call are left out,
and interrupted answers are marked.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from context.messages import (
    Message,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    list_tool_calls,
)

INTERRUPTED: Final = "[interrupted]"
NO_RESULT: Final = "[no result: the call was interrupted]"
_SEALED: Final = ":sealed"
# The field of a tool result's log entry that says that the tool only reads.
READS_ONLY: Final = "readsOnly"


def complete_tool_calls(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages with exactly one result for every tool call, directly after the calls.

    The results of a call are searched for up to the next assistant message. Messages between a call
    and its results move after the results. Results come in the order of their calls, because some
    services, such as Ollama, do not read the call ids.
    """
    if not any(message.role == "tool" or list_tool_calls(message) for message in messages):
        return tuple(messages)
    sealed: list[Message] = []
    start = 0
    for at, message in enumerate(messages):
        if message.role == "assistant":
            sealed += _pair_results(messages[start:at])
            start = at
    sealed += _pair_results(messages[start:])
    return tuple(sealed)


def list_tool_results(message: Message) -> tuple[ToolResultPart, ...]:
    """Return the tool results of a message."""
    if isinstance(message.content, str):
        return ()
    return tuple(part for part in message.content if isinstance(part, ToolResultPart))


def find_acts(
    messages: Sequence[Message], read: frozenset[str], reading_tools: frozenset[str]
) -> frozenset[str]:
    """Return the ids of the messages with a result of a tool that may have changed something.

    These results are never shortened, or a model that no longer sees them might act again.

    Args:
        messages: the messages of a turn, in order.
        read: the ids of the messages of which the log says that the tool only reads.
        reading_tools: the names of the tools that only read. All other tools may change something.
    """
    names: dict[str, str] = {}
    acts: list[str] = []
    for message in messages:
        names |= {call.id: call.name for call in list_tool_calls(message)}
        called = (names.get(result.tool_call_id, "") for result in list_tool_results(message))
        if message.id and message.id not in read and not reading_tools.issuperset(called):
            acts.append(message.id)
    return frozenset(acts)


def is_final(message: Message) -> bool:
    """Return whether a message is a final answer, without tool calls."""
    return message.role == "assistant" and not list_tool_calls(message)


def remove_reasoning(message: Message) -> Message:
    """Return a message without its reasoning."""
    parts = () if isinstance(message.content, str) else message.content
    if not any(isinstance(part, ReasoningPart) for part in parts):
        return message
    rest = tuple(part for part in parts if not isinstance(part, ReasoningPart))
    is_text = all(isinstance(part, TextPart) for part in rest)
    return replace(message, content=message.text if is_text else rest)


def mark_interrupted(message: Message) -> Message:
    """Add a mark to the end of an interrupted answer.

    An answer with tool calls is returned unchanged.
    """
    if list_tool_calls(message):
        return message
    content = message.content
    if not isinstance(content, str):
        return replace(message, content=(*content, TextPart(INTERRUPTED)))
    marked = f"{content}\n\n{INTERRUPTED}" if content.strip() else INTERRUPTED
    return replace(message, content=marked)


def make_interruption(last: Message) -> Message:
    """Build the assistant message that ends an interrupted turn.

    Args:
        last: the last message of the turn. The id of the new message is derived from its id.
    """
    return Message("assistant", INTERRUPTED, f"{last.id}:interrupted")


def _pair_results(messages: Sequence[Message]) -> list[Message]:
    """Return an assistant message, one result for each of its tool calls, and the other messages.

    Missing tool results are added, and results without a tool call are removed.

    Args:
        messages: the assistant message and all messages up to the next assistant message.
    """
    if not messages:
        return []
    others = [message for message in messages[1:] if message.role != "tool"]
    calls = list_tool_calls(messages[0])
    if messages[0].role != "assistant" or not calls:
        return [message for message in messages if message.role != "tool"]
    open_calls = {call.id for call in calls}
    results = []
    for message in messages[1:]:
        kept = _keep_results(message, open_calls)
        if kept is not None:
            results.append(kept)
    results += _make_missing_results(messages[0], calls, open_calls)
    places = {call.id: place for place, call in enumerate(calls)}
    results.sort(key=lambda message: places[list_tool_results(message)[0].tool_call_id])
    return [messages[0], *results, *others]


def _make_missing_results(
    message: Message, calls: Sequence[ToolCallPart], open_calls: set[str]
) -> Iterator[Message]:
    """Yield error results for tool calls without a result. Adjacent calls share one message.

    Args:
        message: the assistant message with the tool calls.
        calls: the tool calls of the message.
        open_calls: the ids of the calls without a result.
    """
    groups = groupby(calls, key=lambda call: call.id in open_calls)
    missing = [list(group) for is_open, group in groups if is_open]
    for number, group in enumerate(missing):
        parts = tuple(ToolResultPart(call.id, NO_RESULT, is_error=True) for call in group)
        name = f"{message.id}:{number}" if number else message.id
        yield Message("tool", parts, f"{name}{_SEALED}")


def _keep_results(message: Message, open_calls: set[str]) -> Message | None:
    """Keep the first result of each tool call in a message, and remove all other results.

    Return None if no result is left, or if Strata generated the message.

    Args:
        message: the tool message.
        open_calls: the ids of the calls without a result. The ids of calls that this message
            answers are removed.
    """
    is_synthetic = message.id is not None and message.id.endswith(_SEALED)
    if message.role != "tool" or is_synthetic or isinstance(message.content, str):
        return None
    kept = []
    for part in message.content:
        if isinstance(part, ToolResultPart) and part.tool_call_id in open_calls:
            open_calls.discard(part.tool_call_id)
            kept.append(part)
    if not kept:
        return None
    return message if len(kept) == len(message.content) else replace(message, content=tuple(kept))
