"""Count the tokens of a request independently of the program's own counting."""

import importlib.util
import os
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from context.messages import Message
from context.trimming import merge_consecutive_same_role

MESSAGE_TOKENS = 4  # the tokens that OpenAI's chat format adds to each message


def merge_for_wire(messages: Iterable[Message]) -> list[Message]:
    """Return messages as they are sent: neighbours of the same role merged, except tool results."""
    sent: list[Message] = []
    for role, run in groupby(messages, key=lambda message: message.role):
        alike = list(run)
        sent += alike if role == "tool" else merge_consecutive_same_role(alike)
    return sent


def recount(body: Mapping[str, Any]) -> dict[str, int]:
    """Return the tokens of each layer in a chat request's body, counted with gpt-4o's encoding."""
    system, *history, last = body["messages"]
    assert system["role"] == "system"
    parts = _texts(last)
    return {
        "T": sum(_count(str(tool)) for tool in body.get("tools", ())),
        "L1": _message(system),
        "L4": sum(_message(message) for message in history),
        "L3": sum(_count(text) for text in parts[:-1]),
        "L5": MESSAGE_TOKENS + _count(parts[-1]),
    }


def _message(message: Mapping[str, Any]) -> int:
    return MESSAGE_TOKENS + sum(_count(text) for text in _texts(message))


def _texts(message: Mapping[str, Any]) -> list[str]:
    content = message["content"]
    return [content] if isinstance(content, str) else [str(part["text"]) for part in content]


def _count(text: str) -> int:
    return len(_encoding().encode(text, disallowed_special=()))


@cache
def _encoding() -> Any:
    import tiktoken

    spec = importlib.util.find_spec("litellm")
    assert spec is not None
    assert spec.origin is not None
    # The encodings come with litellm; otherwise tiktoken would download them.
    folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    try:
        return tiktoken.get_encoding("o200k_base")
    finally:
        del os.environ["TIKTOKEN_CACHE_DIR"]
