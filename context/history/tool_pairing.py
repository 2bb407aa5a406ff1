"""What a request shows of messages that were cut off: always something that a model can read.

Nothing here changes an entry. A call without a result gets one that says so, a result without its
call is left out, and what broke off is marked.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from context.messages import Message, TextPart, ToolResultPart, list_tool_calls

INTERRUPTED: Final = "[interrupted]"
NO_RESULT: Final = "[no result: the call was interrupted]"
_SEALED: Final = ":sealed"


def seal_calls(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages with exactly one result right behind each tool call.

    A result is looked for up to the next message of the assistant; what stands between moves
    behind the results.
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


def is_final(message: Message) -> bool:
    """Return whether the message ends a turn: an answer that calls no tool."""
    return message.role == "assistant" and not list_tool_calls(message)


def mark_interrupted(message: Message) -> Message:
    """Return an answer that broke off, marked as such; one with calls is marked behind them."""
    if list_tool_calls(message):
        return message
    content = message.content
    if not isinstance(content, str):
        return replace(message, content=(*content, TextPart(INTERRUPTED)))
    marked = f"{content}\n\n{INTERRUPTED}" if content.strip() else INTERRUPTED
    return replace(message, content=marked)


def make_interruption(last: Message) -> Message:
    """Return the message that ends a turn without an answer."""
    return Message("assistant", INTERRUPTED, f"{last.id}:interrupted")


def _pair_results(messages: Sequence[Message]) -> list[Message]:
    """A message of the assistant and what follows it, with exactly the results that it needs."""
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
    if open_calls:
        missing = [call.id for call in calls if call.id in open_calls]
        parts = tuple(ToolResultPart(call, NO_RESULT, is_error=True) for call in missing)
        results.append(Message("tool", parts, f"{messages[0].id}{_SEALED}"))
    return [messages[0], *results, *others]


def _keep_results(message: Message, open_calls: set[str]) -> Message | None:
    """The results of a message that still are waited for, which then no longer are."""
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
