"""Messages with tool calls as chat services write them, and calls as they come in, in pieces."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from chains.model_port import RequestedCall
from context.frozen import compact_json

__all__ = ["CallAssembler", "wire_messages", "wire_system"]

# What the services that take marks write at the end of what they are to keep.
_MARK: Final = {"type": "ephemeral"}


class CallAssembler:
    """Puts the calls of an answer together from the pieces in which they are streamed."""

    def __init__(self) -> None:
        self._pieces: list[dict[str, Any]] = []

    def add(self, deltas: Iterable[Any]) -> None:
        """Take the next pieces; one with another index or another id begins another call."""
        for delta in deltas:
            known = self._find(delta.index, delta.id)
            function = delta.function
            known["id"] = known["id"] or delta.id or ""
            known["name"] += function.name or "" if not known["name"] else ""
            known["arguments"] += function.arguments or ""

    @property
    def calls(self) -> tuple[RequestedCall, ...]:
        """The calls, in the order in which they began."""
        return tuple(
            RequestedCall(piece["id"], piece["name"], piece["arguments"]) for piece in self._pieces
        )

    def _find(self, index: object, id: str | None) -> dict[str, Any]:
        for piece in reversed(self._pieces):
            if piece["index"] == index and (not id or not piece["id"] or piece["id"] == id):
                found: dict[str, Any] = piece
                return found
        begun: dict[str, Any] = {"index": index, "id": "", "name": "", "arguments": ""}
        self._pieces.append(begun)
        return begun


def wire_system(text: str, *, is_marked: bool = False) -> list[dict[str, Any]]:
    """Return the system message as chat services take it; none where there is no text."""
    if not text:
        return []
    message: dict[str, Any] = {"role": "system", "content": text}
    return [_marked(message) if is_marked else message]


def wire_messages(
    messages: Sequence[Mapping[str, Any]], uncached: int = 0, marked: Collection[int] = ()
) -> list[dict[str, Any]]:
    """Return neutral messages as chat services take them.

    What a model thought goes back to it within the turn only.

    Args:
        messages: in their neutral form.
        uncached: how many at the end belong to the request alone.
        marked: the places of those behind which the provider's cache may end.
    """
    asked = [
        at
        for at, message in enumerate(messages[: len(messages) - uncached])
        if message["role"] == "user"
    ]
    work_from = asked[-1] if asked else len(messages)
    found: list[dict[str, Any]] = []
    for at, message in enumerate(messages):
        found.extend(_wired(message, keeps_reasoning=at > work_from))
        if at in marked:
            found[-1] = _marked(found[-1])
    return found


def _wired(message: Mapping[str, Any], *, keeps_reasoning: bool) -> Iterator[dict[str, Any]]:
    role, content = message["role"], message["content"]
    if isinstance(content, str) or role not in ("assistant", "tool"):
        yield dict(message)
    elif role == "tool":
        for part in _parts(content, "tool_result"):
            yield {"role": role, "tool_call_id": part["tool_call_id"], "content": part["content"]}
    else:
        yield _assistant(content, keeps_reasoning=keeps_reasoning)


def _assistant(content: Sequence[Mapping[str, Any]], *, keeps_reasoning: bool) -> dict[str, Any]:
    text = "".join(part["text"] for part in _parts(content, "text"))
    thought = "".join(part["text"] for part in _parts(content, "reasoning"))
    calls = [_call(part) for part in _parts(content, "tool_call")]
    wired: dict[str, Any] = {"role": "assistant", "content": text or (None if calls else "")}
    if thought and keeps_reasoning:
        wired["reasoning_content"] = thought
    if calls:
        wired["tool_calls"] = calls
    return wired


def _marked(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message with the mark on its last block; an empty one takes none."""
    if message["role"] == "tool":
        return {**message, "cache_control": _MARK}
    if calls := message.get("tool_calls"):
        return {**message, "tool_calls": [*calls[:-1], {**calls[-1], "cache_control": _MARK}]}
    blocks = message["content"]
    if isinstance(blocks, str):
        blocks = [{"type": "text", "text": blocks}]
    if not blocks or not blocks[-1].get("text", " "):
        return message
    return {**message, "content": [*blocks[:-1], {**blocks[-1], "cache_control": _MARK}]}


def _call(part: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": part["name"], "arguments": compact_json(part["arguments"])}
    return {"id": part["id"], "type": "function", "function": function}


def _parts(content: Sequence[Mapping[str, Any]], kind: str) -> list[Mapping[str, Any]]:
    return [part for part in content if part["type"] == kind]
