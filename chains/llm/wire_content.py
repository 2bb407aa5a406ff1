"""Convert a message to chat API JSON, and merge neighbours of the same role."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from chains.llm.incoming.tool_calls import clean_call_id, clean_tool_name
from context.layers import MOST_ARGUMENT_LEVELS, is_nested_too_deep
from context.messages import (
    Message,
    ReasoningPart,
    TextPart,
    ToolResultPart,
    compact_json,
    is_merged,
)

__all__ = [
    "NO_THINKING",
    "USUAL_STYLE",
    "WireStyle",
    "add_mark",
    "convert_message",
    "has_content",
    "join_texts",
    "merge_neighbours",
]

# The cache mark, at the end of the part of a request that the provider should cache.
_MARK: Final = {"type": "ephemeral"}


@dataclass(frozen=True)
class WireStyle:
    """How messages are written for a model.

    Attributes:
        joins_text: whether the text parts of a message are sent as one text. Many templates of
            local servers print a list of parts as it is.
        returned_thinking: where the model's own thinking is sent back. Some models want it with
            what they wrote in turns with tool calls, from the first call on, and ignore or refuse
            it elsewhere.
    """

    joins_text: bool = False
    returned_thinking: Literal["nowhere", "tool_turns", "everywhere"] = "nowhere"

    def returns_thinking(self, *, in_tool_turn: bool) -> bool:
        """Return whether thinking is sent back, in a turn with tool calls or in a plain one."""
        return self.returned_thinking == "everywhere" or (
            in_tool_turn and self.returned_thinking == "tool_turns"
        )


USUAL_STYLE: Final = WireStyle()
# Stands for thinking that was not stored, where a model refuses a message without any.
NO_THINKING: Final = " "


def is_blank(text: str) -> bool:
    """Return whether a text has nothing but white space. Services refuse such content."""
    return not text or text.isspace()


def has_content(message: Message) -> bool:
    """Return whether a message is sent, because it has text, an image, a call or a result."""
    if isinstance(message.content, str):
        return message.role != "tool" and not is_blank(message.content)
    if message.role == "tool":
        return any(isinstance(part, ToolResultPart) for part in message.content)
    return any(
        not is_blank(part.text)
        if isinstance(part, TextPart)
        else not isinstance(part, ReasoningPart)
        for part in message.content
    )


def merge_neighbours(messages: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return messages with neighbours merged that are sent as one, as `is_merged` decides."""
    merged: list[dict[str, Any]] = []
    for message in messages:
        if merged and is_merged(merged[-1]["role"], message["role"]):
            merged[-1] = _merge_two(merged[-1], message)
        else:
            merged.append(dict(message))
    return merged


def _merge_two(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two messages of the same role, leaving out empty texts."""
    blocks = [*_blocks(first), *_blocks(second)]
    calls = [*first.get("tool_calls", ()), *second.get("tool_calls", ())]
    thoughts = [m["reasoning_content"] for m in (first, second) if "reasoning_content" in m]
    thoughts = [thought for thought in thoughts if thought.strip()] or thoughts[:1]
    merged: dict[str, Any] = {"role": first["role"], "content": blocks or (None if calls else "")}
    if thoughts:
        merged["reasoning_content"] = "\n\n".join(thoughts)
    signed = [block for m in (first, second) for block in m.get("thinking_blocks", ())]
    if signed:
        merged["thinking_blocks"] = signed
    return merged | {"tool_calls": calls} if calls else merged


def _blocks(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message["content"]
    if isinstance(content, str | None):
        return [{"type": "text", "text": content}] if content else []
    return list(content)


def join_texts(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message with its text parts joined, unless it has images or cache marks too."""
    content = message["content"]
    if isinstance(content, str | None) or any(set(part) != {"type", "text"} for part in content):
        return message
    return {**message, "content": "\n\n".join(part["text"] for part in content)}


def convert_message(
    message: Mapping[str, Any], style: WireStyle, *, keeps_signed: bool, in_tool_turn: bool
) -> Iterator[dict[str, Any]]:
    """Yield a message as chat API JSON, as every service takes it.

    A message with several tool results becomes several. One without content becomes none: what a
    model once sent, or an earlier version stored, must not make every later request fail.

    Args:
        message: the message in provider-neutral form.
        style: how messages are written for the model.
        keeps_signed: whether reasoning with a provider's signature is kept.
        in_tool_turn: whether the message has a tool call, or follows one in its turn.
    """
    role, content = message["role"], message["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    parts = [part for part in parts if part["type"] != "text" or not is_blank(part["text"])]
    if role == "tool":
        for part in _parts(parts, "tool_result"):
            id = clean_call_id(part["tool_call_id"])
            yield {"role": role, "tool_call_id": id, "content": part["content"]}
    elif not any(part["type"] != "reasoning" for part in parts):
        return
    elif role == "assistant":
        returns_thinking = style.returns_thinking(in_tool_turn=in_tool_turn)
        yield _assistant(parts, returns_thinking=returns_thinking, keeps_signed=keeps_signed)
    elif isinstance(content, str):
        yield dict(message)
    else:
        yield {**message, "content": [_block(part) for part in parts]}


def _block(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Convert a text or image part of a user message to chat API JSON."""
    if part["type"] != "image":
        return part
    address = f"data:{part['media_type']};base64,{part['data']}"
    return {"type": "image_url", "image_url": {"url": address}}


def _assistant(
    content: Sequence[Mapping[str, Any]], *, returns_thinking: bool, keeps_signed: bool
) -> dict[str, Any]:
    text = "".join(part["text"] for part in _parts(content, "text"))
    thought = "".join(part["text"] for part in _parts(content, "reasoning"))
    calls = [_call(part) for part in _parts(content, "tool_call")]
    wired: dict[str, Any] = {"role": "assistant", "content": text or (None if calls else "")}
    if returns_thinking:
        wired["reasoning_content"] = thought if thought.strip() else NO_THINKING
    signed = [_sign(part) for part in _parts(content, "reasoning") if part.get("signature")]
    if signed and keeps_signed:
        wired["thinking_blocks"] = signed
    if calls:
        wired["tool_calls"] = calls
    return wired


def _sign(part: Mapping[str, Any]) -> dict[str, Any]:
    """Convert signed reasoning to a thinking block, or to a redacted one if there is no text."""
    if not part["text"]:
        return {"type": "redacted_thinking", "data": part["signature"]}
    return {"type": "thinking", "thinking": part["text"], "signature": part["signature"]}


def add_mark(message: dict[str, Any]) -> dict[str, Any]:
    """Add a cache mark to the last block of a message, unless that block is empty."""
    if message["role"] == "tool":
        return {**message, "cache_control": _MARK}
    if calls := message.get("tool_calls"):
        return {**message, "tool_calls": [*calls[:-1], {**calls[-1], "cache_control": _MARK}]}
    if not (blocks := _blocks(message)) or not blocks[-1].get("text", " "):
        return message
    return {**message, "content": [*blocks[:-1], {**blocks[-1], "cache_control": _MARK}]}


def _call(part: Mapping[str, Any]) -> dict[str, Any]:
    arguments = part["arguments"]
    if is_nested_too_deep(arguments, MOST_ARGUMENT_LEVELS):  # stored by an earlier version
        arguments = {}
    function = {"name": clean_tool_name(part["name"]), "arguments": compact_json(arguments)}
    return {"id": clean_call_id(part["id"]), "type": "function", "function": function}


def _parts(content: Sequence[Mapping[str, Any]], kind: str) -> list[Mapping[str, Any]]:
    return [part for part in content if part["type"] == kind]
