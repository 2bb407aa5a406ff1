"""Convert the deltas of a stream to pieces of an answer, whatever forms a server uses."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from chains.events import Usage
from chains.llm.incoming.tool_calls import CallPiece

__all__ = ["AnswerPiece", "read_choice", "read_usage"]

# The names of reasoning in the deltas of different servers.
_THOUGHTS: Final = ("reasoning_content", "reasoning", "thinking", "thought")
_FINISHES: Final[Mapping[str, str]] = {
    "max_tokens": "length",
    "model_length": "length",
    "max_length": "length",
    "content_filtered": "content_filter",
    "safety": "content_filter",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    # Servers that name a reason in every delta say so that there is none yet.
    "null": "",
    "none": "",
    "unfinished": "",
}
# More tokens than the context of any model.
MOST_TOKENS: Final = 50_000_000
_DEEPEST: Final = 4  # levels of lists and objects around a text


@dataclass(frozen=True)
class AnswerPiece:
    """A piece of an answer, as it arrives.

    Attributes:
        signature: the provider's signature, which ends a section of reasoning.
        finish: the finish reason, which is in the last piece with content.
        usage: the token counts that the service reports.
        is_whole: whether the piece comes from a document with the whole answer, not from a stream.
    """

    text: str = ""
    thought: str = ""
    signature: str = ""
    calls: tuple[CallPiece, ...] = ()
    finish: str = ""
    usage: Usage | None = None
    is_whole: bool = False

    @property
    def chars(self) -> int:
        """The number of characters that say something."""
        calls = sum(len(call.name) + len(call.arguments) for call in self.calls)
        return len(self.text) + len(self.thought) + len(self.signature) + calls


def read_choice(value: Mapping[str, Any]) -> AnswerPiece | None:
    """Convert the first choice of an event to a piece, or return None if it has none."""
    choice = _find_choice(value.get("choices"))
    if choice is None:
        return None
    finish = choice.get("finish_reason")
    named = finish.strip().lower() if isinstance(finish, str) else ""
    message = next((s for s in map(choice.get, ("delta", "message")) if isinstance(s, dict)), {})
    content = message.get("content", choice.get("text"))
    text, thought = _split_content(content)
    own = next(
        (message[name] for name in _THOUGHTS if message.get(name)), message.get("reasoning_details")
    )
    return AnswerPiece(
        text or _join_text(message.get("refusal")),
        _join_text(own) or thought,
        calls=tuple(_read_calls(message)),
        finish=_FINISHES.get(named, named),
        is_whole="message" in choice and "delta" not in choice,
    )


def _find_choice(choices: object) -> dict[str, Any] | None:
    found = [one for one in choices if isinstance(one, dict)] if isinstance(choices, list) else []
    return next((one for one in found if not one.get("index")), None)


def _split_content(content: object) -> tuple[str, str]:
    """Return the text of a content, and the reasoning among its parts."""
    parts = content if isinstance(content, list) else [content]
    thoughts = [part for part in parts if _is_thought(part)]
    text_parts = [part for part in parts if not _is_thought(part)]
    return _join_text(text_parts if isinstance(content, list) else content), _join_text(thoughts)


def _is_thought(part: object) -> bool:
    kind = part.get("type") if isinstance(part, dict) else None
    return isinstance(kind, str) and kind.startswith(("thinking", "reasoning"))


def _join_text(value: object, levels: int = _DEEPEST) -> str:
    """Return the text in a value: text, a number, or parts with text in any of the usual fields."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or value is None or levels == 0:
        return ""
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list):
        parts = (part for part in value if isinstance(part, str | list | dict))
        return "".join(_join_text(part, levels - 1) for part in parts)
    if isinstance(value, dict):
        fields = map(value.get, ("text", "thinking", "reasoning", "content", "value", "refusal"))
        return next(filter(None, (_join_text(field, levels - 1) for field in fields)), "")
    return ""


def _read_calls(message: Mapping[str, Any]) -> Iterator[CallPiece]:
    calls = message.get("tool_calls")
    for call in [calls] if isinstance(calls, dict) else calls or ():
        if isinstance(call, dict):
            yield _read_call(call)
    if isinstance(old := message.get("function_call"), dict):
        yield _read_call({"index": 0, "function": old})


def _read_call(call: Mapping[str, Any]) -> CallPiece:
    function = call.get("function")
    function = function if isinstance(function, dict) else call
    index, id, name = call.get("index"), call.get("id"), function.get("name")
    arguments = function.get("arguments", function.get("parameters"))
    if not isinstance(arguments, str):
        arguments = "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
    return CallPiece(
        index if isinstance(index, int) and not isinstance(index, bool) else None,
        id if isinstance(id, str) else "",
        name if isinstance(name, str) else "",
        arguments,
    )


def read_usage(value: object, cost: float | None = None) -> Usage | None:
    """Convert the token counts of a response, or return None if they cannot be true."""
    if not isinstance(value, Mapping):
        return None
    details = value.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    if cached is None:
        cached = value.get("prompt_cache_hit_tokens")  # the name in DeepSeek's counts
    prompt, completion = value.get("prompt_tokens"), value.get("completion_tokens")
    counts = (prompt, completion or 0, cached or 0)
    if not prompt or not all(map(_is_count, counts)):
        return None
    return Usage(1, int(prompt), int(completion or 0), int(cached or 0), cost)


def _is_count(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and value == int(value) and 0 <= value <= MOST_TOKENS
