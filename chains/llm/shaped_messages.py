"""Write the messages of a request in the shape that a server takes.

The messages are in the JSON of the chat API, as `chains.llm.wire_content` writes them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from chains.llm.request_shape import RequestShape
from chains.llm.wire_content import NO_THINKING, join_texts, merge_neighbours

__all__ = ["changes_messages", "shape_messages"]

Messages = list[dict[str, Any]]
# The fields of messages, as opposed to those of the whole request.
_MESSAGE_FIELDS: Final = ("cache_control", "reasoning_content", "thinking_blocks")


def changes_messages(shape: RequestShape) -> bool:
    """Return whether a shape makes a difference for messages."""
    if shape.omitted.intersection(_MESSAGE_FIELDS):
        return True
    if shape.splits_calls or not shape.offers_tools:
        return True
    return bool(shape.forms - {"max_completion_tokens"})


def shape_messages(messages: Sequence[Mapping[str, Any]], shape: RequestShape) -> Messages:
    """Return messages in the shape that a server takes.

    Args:
        messages: the messages in the usual shape.
        shape: how the server's messages differ.
    """
    shaped = [_leave_out(message, shape) for message in messages]
    if shape.has("calls_as_text") or not shape.offers_tools:
        shaped = list(_write_calls(shaped))
    elif shape.splits_calls:
        shaped = list(_split_calls(shaped))
    if shape.has("system_in_user"):
        shaped = _fold_system(shaped)
    if shape.has("note_in_result"):
        shaped = list(_append_notes(shaped))
    return [join_texts(message) for message in merge_neighbours(shaped)]


def _leave_out(message: Mapping[str, Any], shape: RequestShape) -> dict[str, Any]:
    """Return a message without the fields that the shape omits, at any level."""
    omitted = set(shape.omitted.intersection(_MESSAGE_FIELDS))
    if shape.has("text_only"):  # a mark needs a list of parts
        omitted.add("cache_control")

    def strip(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: strip(item) for key, item in value.items() if key not in omitted}
        return [strip(item) for item in value] if isinstance(value, list) else value

    return dict(strip(message)) if omitted else dict(message)


def _split_calls(messages: Messages) -> Iterator[dict[str, Any]]:
    """Yield the messages with at most one tool call in each, and its result right behind it."""
    results = {m["tool_call_id"]: m for m in messages if m["role"] == "tool"}
    for message in messages:
        calls = message.get("tool_calls", ())
        if len(calls) < 2:
            if message["role"] != "tool" or message["tool_call_id"] in results:
                yield message
            continue
        for at, call in enumerate(calls):
            call_message = message if at == 0 else _hide_text(message)
            yield {**call_message, "tool_calls": [call]}
            if (result := results.pop(call["id"], None)) is not None:
                yield result


def _hide_text(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message with calls without what it says besides, which was sent already."""
    text_keys = {"content", "thinking_blocks", "reasoning_content"}
    rest = {key: value for key, value in message.items() if key not in text_keys}
    wanted = {"reasoning_content": NO_THINKING} if "reasoning_content" in message else {}
    return {**rest, "content": None, **wanted}


def _write_calls(messages: Messages) -> Iterator[dict[str, Any]]:
    """Yield the messages with tool calls and their results written as text."""
    names: dict[str, str] = {}
    for message in messages:
        if message["role"] == "tool":
            named = names.get(message["tool_call_id"], "a tool")
            yield {"role": "user", "content": f"[Result of {named}]\n{message['content']}"}
            continue
        calls = message.get("tool_calls", ())
        if not calls:
            yield message
            continue
        names |= {call["id"]: call["function"]["name"] for call in calls}
        lines = [_write_call(call["function"]) for call in calls]
        text = _find_text(message["content"])
        yield {"role": "assistant", "content": "\n".join(filter(None, [text, *lines]))}


def _write_call(function: Mapping[str, Any]) -> str:
    return f"[Call of {function['name']} with {function['arguments']}]"


def _fold_system(messages: Messages) -> Messages:
    """Return the messages with the instructions as a user message, which the first one joins."""
    return [
        {**message, "role": "user"} if message["role"] == "system" else message
        for message in messages
    ]


def _append_notes(messages: Messages) -> Iterator[dict[str, Any]]:
    """Yield the messages with text behind a tool result as a part of the result."""
    pending_message: dict[str, Any] = {}
    for message in messages:
        if (
            pending_message.get("role") == "tool"
            and message["role"] == "user"
            and _is_text(message)
        ):
            pending_message = {
                **pending_message,
                "content": f"{pending_message['content']}\n\n{_find_text(message['content'])}",
            }
            continue
        if pending_message:
            yield pending_message
        pending_message = message
    if pending_message:
        yield pending_message


def _is_text(message: Mapping[str, Any]) -> bool:
    content = message["content"]
    return isinstance(content, str) or all(part["type"] == "text" for part in content)


def _find_text(content: str | Sequence[Mapping[str, Any]] | None) -> str:
    if isinstance(content, str | None):
        return content or ""
    return "\n\n".join(part["text"] for part in content if part["type"] == "text")
