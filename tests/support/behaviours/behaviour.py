"""A row of the table, and functions that build the bytes of OpenAI's protocol."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tests.support.models.model_server import Played, Script
from tests.support.models.stage import Step

HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True)
class Behaviour:
    """What a server does with the first question of a chat, and what the user should get.

    Attributes:
        name: the name of the row.
        replies: the replies to the first question, in order; the last one is repeated.
        answer: the text that is shown and stored.
        status: the status of the answer, or the code of the error in its place.
        says: a part of the error's sentence, or of the reason of an incomplete answer.
        requests: how often the server is asked.
        mode: the mode of the question.
        thought: a part of the reasoning that is stored with the answer.
        limit_s: the time after which the answer ends, where the server keeps its client waiting.
    """

    name: str
    replies: tuple[Script, ...]
    answer: str = ""
    status: str = "complete"
    says: str = ""
    requests: int = 1
    mode: Literal["chat", "agent"] = "chat"
    thought: str = ""
    limit_s: float = 0.0


def sse(value: object) -> bytes:
    """Build one event of a stream."""
    return f"data: {json.dumps(value)}\n\n".encode()


def chunk(delta: Mapping[str, Any], finish: str | None = None, **fields: Any) -> bytes:
    """Build one event with a delta."""
    choice = {"index": 0, "delta": dict(delta), "finish_reason": finish}
    return sse({**HEAD, "choices": [choice], **fields})


def text(*pieces: object) -> bytes:
    """Build the events of some pieces of text."""
    return b"".join(chunk({"content": piece}) for piece in pieces)


def finish(reason: str = "stop") -> bytes:
    """Build the event that ends an answer."""
    return chunk({}, reason)


def usage(**counts: Any) -> bytes:
    """Build the event with the token counts."""
    return sse({**HEAD, "choices": [], "usage": counts})


def stream(*steps: Step, ending: Literal["end", "cut", "open"] = "end") -> Played:
    """Build a stream that plays these steps, then a finish reason and `[DONE]`."""
    return Played((*steps, finish(), DONE), ending=ending)


def played(*steps: Step, **fields: Any) -> Played:
    """Build a reply that plays these steps and nothing else."""
    return Played(steps, **fields)


def document(value: object, status: int = 200, **headers: str) -> Played:
    """Build a reply with one JSON document."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Played((json.dumps(value).encode(),), (), status, "application/json", named)


def error(message: str, **fields: Any) -> dict[str, Any]:
    """Build an error in OpenAI's form."""
    return {"error": {"message": message, "type": "error", **fields}}
