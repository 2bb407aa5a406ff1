"""Convert messages and tool calls to chat API JSON, and join streamed pieces."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import Any, Final

from chains.llm.port import RequestedCall
from context.fit.cache import encode_message, make_message_body
from context.fit.guard import PreparedRequest
from context.history.tool_pairing import list_tool_results
from context.history.turns import MeasuredTurn
from context.layers import replace_surrogates
from context.messages import Message, compact_json

__all__ = [
    "CallAssembler",
    "TextJoiner",
    "build_wire_conversation",
    "build_wire_messages",
    "build_wire_system",
    "encode_conversation",
    "encode_messages",
    "encode_turns",
]

_HISTORY: Final = "wire"
# The cache mark, at the end of the part of a request that the provider should cache.
_MARK: Final = {"type": "ephemeral"}


class TextJoiner:
    """Joins the pieces of streamed text without splitting surrogate pairs.

    If a service sends the two halves of a pair in separate pieces, the first half is held back. A
    half without its counterpart is replaced with U+FFFD.
    """

    def __init__(self) -> None:
        self._held = ""

    def add(self, piece: str) -> str:
        """Add a piece of streamed text, and return the text that is now complete."""
        text, self._held = self._held + piece, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._held = text[:-1], text[-1]
        return replace_surrogates(text)

    def end(self) -> str:
        """Return the remaining text at the end of the stream."""
        held, self._held = self._held, ""
        return replace_surrogates(held)


class CallAssembler:
    """Assembles tool calls from streamed pieces."""

    def __init__(self) -> None:
        self._pieces: list[dict[str, Any]] = []

    def add(self, deltas: Iterable[Any]) -> None:
        """Add streamed pieces to the tool calls.

        A piece with a new index or id starts a new call.
        """
        for delta in deltas:
            function = delta.function
            known = self._find(delta.index, delta.id, function.name)
            known["id"] = known["id"] or delta.id or ""
            known["name"] += function.name or "" if not known["name"] else ""
            known["arguments"] += function.arguments or ""

    @property
    def calls(self) -> tuple[RequestedCall, ...]:
        """The tool calls in order. Calls without an id get a generated one."""
        for piece in self._pieces:
            piece["id"] = piece["id"] or f"call_{token_hex(8)}"
        return tuple(
            RequestedCall(*(replace_surrogates(piece[key]) for key in ("id", "name", "arguments")))
            for piece in self._pieces
        )

    def _find(self, index: object, id: str | None, name: str | None) -> dict[str, Any]:
        for piece in reversed(self._pieces):
            # Ollama gives every call the same index, and no id to a call without arguments.
            is_next = bool(name) and piece["name"] and _is_whole(piece["arguments"])
            if is_next and not (id and piece["id"] == id):
                break
            if piece["index"] == index and (not id or not piece["id"] or piece["id"] == id):
                found: dict[str, Any] = piece
                return found
        begun: dict[str, Any] = {"index": index, "id": "", "name": "", "arguments": ""}
        self._pieces.append(begun)
        return begun


def _is_whole(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except ValueError:
        return False


def build_wire_conversation(request: PreparedRequest) -> list[dict[str, Any]]:
    """Convert a request's instructions and messages to chat API JSON."""
    marked = {mark.message for mark in request.marks}
    bodies = [make_message_body(message) for message in request.messages]
    places = {at for at in marked if at is not None}
    system = build_wire_system(request.base.system.compiled, is_marked=None in marked)
    return [*system, *build_wire_messages(bodies, _count_uncached(request), places)]


def encode_conversation(request: PreparedRequest) -> str:
    """Encode the messages of a request as JSON.

    If the request has no cache marks, the JSON of earlier messages is reused.
    """
    if request.marks:
        return compact_json(build_wire_conversation(request))
    system = map(compact_json, build_wire_system(request.base.system.compiled))
    history = request.draft.history.accumulate(_HISTORY, encode_turns)
    messages = (*history.open, *request.draft.present)
    now = encode_messages(messages, _count_uncached(request))
    return f"[{','.join((*system, *filter(None, [history.text]), *now))}]"


@dataclass(frozen=True)
class _EncodedHistory:
    """The encoded history of a request.

    Attributes:
        text: the JSON of the complete messages, separated by commas.
        open: the last messages, which are not encoded yet, because the messages that follow may be
            merged with them.
    """

    text: str = ""
    open: tuple[Message, ...] = ()


def encode_turns(known: _EncodedHistory | None, turns: Sequence[MeasuredTurn]) -> _EncodedHistory:
    """Encode the next turns of a history, and append them to the turns encoded before.

    Args:
        known: the encoded turns, or None if there are none yet.
    """
    known = known or _EncodedHistory()
    messages = (*known.open, *(message for turn in turns for message in turn.messages))
    starts = [start for start, _ in _split_runs(messages)]
    closed = messages[: starts[-1]] if starts else ()
    texts = _encode_runs(closed, len(messages))
    return _EncodedHistory(",".join((*filter(None, [known.text]), *texts)), messages[len(closed) :])


def _count_uncached(request: PreparedRequest) -> int:
    return 0 if request.draft.uncached is None else 1


def build_wire_system(text: str, *, is_marked: bool = False) -> list[dict[str, Any]]:
    """Build the system message, or return an empty list if there is no text.

    Args:
        text: the text of the system message.
        is_marked: whether the message ends with a cache mark.
    """
    if not text:
        return []
    message: dict[str, Any] = {"role": "system", "content": replace_surrogates(text)}
    return [_add_mark(message) if is_marked else message]


def build_wire_messages(
    messages: Sequence[Mapping[str, Any]], uncached: int = 0, marked: Collection[int] = ()
) -> list[dict[str, Any]]:
    """Convert messages to chat API JSON.

    Adjacent messages of the same role are merged, except tool results, because many services
    require alternating roles. Reasoning is returned to the model only within the same turn.

    Args:
        messages: the messages in provider-neutral form.
        uncached: the number of messages at the end that belong only to this request.
        marked: the indexes of messages that end with a cache mark.

    Source: the design document "Budget-Aware Trimming", section 7.2.
    """
    asked = [
        at
        for at, message in enumerate(messages[: len(messages) - uncached])
        if message["role"] == "user"
    ]
    return _join_messages(messages, asked[-1] if asked else len(messages), marked)


def _join_messages(
    messages: Sequence[Mapping[str, Any]], work_from: int, marked: Collection[int] = ()
) -> list[dict[str, Any]]:
    """Convert messages, and merge adjacent ones of the same role.

    Args:
        messages: the messages in provider-neutral form.
        work_from: the index of the turn's user message. Only reasoning after it is kept.
        marked: the indexes of messages that end with a cache mark.
    """
    found: list[dict[str, Any]] = []
    for at, message in enumerate(messages):
        for wired in _convert_message(message, keeps_reasoning=at > work_from):
            if found and wired["role"] == found[-1]["role"] != "tool":
                found[-1] = _merge_messages(found[-1], wired)
            else:
                found.append(wired)
        if at in marked:
            found[-1] = _add_mark(found[-1])
    return found


def encode_messages(messages: Sequence[Message], uncached: int) -> list[str]:
    """Convert messages like `build_wire_messages`, but return each one as JSON text.

    If a message is not merged with another one, its JSON is cached.

    Args:
        uncached: the number of messages at the end that belong only to this request.
    """
    cached = range(len(messages) - uncached - 1, -1, -1)
    work_from = next((at for at in cached if messages[at].role == "user"), len(messages))
    return _encode_runs(messages, work_from)


def _encode_runs(messages: Sequence[Message], work_from: int) -> list[str]:
    texts: list[str] = []
    for start, stop in _split_runs(messages):
        if stop - start == 1:
            encode = _encode_work if start > work_from else _encode_message
            texts.append(messages[start].encode_once(encode, encode))
        else:
            texts += _encode_run(messages[start:stop], work_from - start)
    return texts


def _split_runs(messages: Sequence[Message]) -> Iterator[tuple[int, int]]:
    """Yield the index ranges of adjacent messages that may be merged into one."""
    start = 0
    for at, message in enumerate(messages, 1):
        if at == len(messages) or not _may_join(message, messages[at]):
            yield start, at
            start = at


def _may_join(first: Message, second: Message) -> bool:
    if first.role == second.role != "tool":
        return True
    return _is_void(first) or _is_void(second)


def _is_void(message: Message) -> bool:
    """Return whether a message is a tool message without a result.

    Such a message is not sent.
    """
    return message.role == "tool" and not (
        isinstance(message.content, str) or list_tool_results(message)
    )


def _encode_message(message: Message) -> str:
    if isinstance(message.content, str):
        return encode_message(message)
    return ",".join(_encode_run([message], 0))


def _encode_work(message: Message) -> str:
    return ",".join(_encode_run([message], -1))


def _encode_run(messages: Sequence[Message], work_from: int) -> Iterator[str]:
    """Yield the JSON of a range of messages, merging those of the same role.

    The messages before and after the range are not merged with it.

    Args:
        messages: the messages of the range.
        work_from: the index of the turn's user message. Only reasoning after it is kept.
    """
    bodies = [make_message_body(message) for message in messages]
    return map(compact_json, _join_messages(bodies, work_from))


def _merge_messages(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two messages of the same role, leaving out empty texts."""
    blocks = [*_blocks(first), *_blocks(second)]
    calls = [*first.get("tool_calls", ()), *second.get("tool_calls", ())]
    thoughts = [m["reasoning_content"] for m in (first, second) if "reasoning_content" in m]
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


def _convert_message(
    message: Mapping[str, Any], *, keeps_reasoning: bool
) -> Iterator[dict[str, Any]]:
    role, content = message["role"], message["content"]
    if isinstance(content, str):
        yield dict(message)
    elif role == "tool":
        for part in _parts(content, "tool_result"):
            yield {"role": role, "tool_call_id": part["tool_call_id"], "content": part["content"]}
    elif role == "assistant":
        yield _assistant(content, keeps_reasoning=keeps_reasoning)
    else:
        yield {**message, "content": [_block(part) for part in content]}


def _block(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Convert a text or image part of a user message to chat API JSON."""
    if part["type"] != "image":
        return part
    address = f"data:{part['media_type']};base64,{part['data']}"
    return {"type": "image_url", "image_url": {"url": address}}


def _assistant(content: Sequence[Mapping[str, Any]], *, keeps_reasoning: bool) -> dict[str, Any]:
    text = "".join(part["text"] for part in _parts(content, "text"))
    thought = "".join(part["text"] for part in _parts(content, "reasoning"))
    calls = [_call(part) for part in _parts(content, "tool_call")]
    wired: dict[str, Any] = {"role": "assistant", "content": text or (None if calls else "")}
    if thought and keeps_reasoning:
        wired["reasoning_content"] = thought
    signed = [_sign(part) for part in _parts(content, "reasoning") if part.get("signature")]
    if signed and keeps_reasoning:
        wired["thinking_blocks"] = signed
    if calls:
        wired["tool_calls"] = calls
    return wired


def _sign(part: Mapping[str, Any]) -> dict[str, Any]:
    """Convert signed reasoning to a thinking block, or to a redacted one if there is no text."""
    if not part["text"]:
        return {"type": "redacted_thinking", "data": part["signature"]}
    return {"type": "thinking", "thinking": part["text"], "signature": part["signature"]}


def _add_mark(message: dict[str, Any]) -> dict[str, Any]:
    """Add a cache mark to the last block of a message, unless that block is empty."""
    if message["role"] == "tool":
        return {**message, "cache_control": _MARK}
    if calls := message.get("tool_calls"):
        return {**message, "tool_calls": [*calls[:-1], {**calls[-1], "cache_control": _MARK}]}
    if not (blocks := _blocks(message)) or not blocks[-1].get("text", " "):
        return message
    return {**message, "content": [*blocks[:-1], {**blocks[-1], "cache_control": _MARK}]}


def _call(part: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": part["name"], "arguments": compact_json(part["arguments"])}
    return {"id": part["id"], "type": "function", "function": function}


def _parts(content: Sequence[Mapping[str, Any]], kind: str) -> list[Mapping[str, Any]]:
    return [part for part in content if part["type"] == kind]
