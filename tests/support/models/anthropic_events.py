"""Convert a scripted answer to the events that Anthropic's service streams."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.models.model_server import Answer


SIGNATURE = "c2lnbmVkIGJ5IHRoZSBzZXJ2aWNl"


def anthropic_events(answer: "Answer", model: str) -> Iterator[str]:
    """Yield the JSON text of each event."""
    usage = {"input_tokens": 100, "output_tokens": 1, "cache_read_input_tokens": 40}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": []}
    yield _event("message_start", message={**message, "model": model, "usage": usage})
    blocks = (
        [({"type": "text", "text": ""}, "text_delta", "text", answer.text)] if answer.text else []
    )
    if answer.reasoning:
        thinking = {"type": "thinking", "thinking": "", "signature": ""}
        blocks.insert(0, (thinking, "thinking_delta", "thinking", answer.reasoning))
    blocks += [
        (
            {"type": "tool_use", "id": id, "name": name, "input": {}},
            "input_json_delta",
            "partial_json",
            said,
        )
        for id, name, said in answer.calls
    ]
    for index, (block, kind, field, said) in enumerate(blocks):
        yield _event("content_block_start", index=index, content_block=block)
        for text in answer.split(said):
            piece = {"type": kind, field: text}
            yield _event("content_block_delta", index=index, delta=piece)
        if kind == "thinking_delta":
            signed = {"type": "signature_delta", "signature": SIGNATURE}
            yield _event("content_block_delta", index=index, delta=signed)
        yield _event("content_block_stop", index=index)
    reason = "tool_use" if answer.calls else "end_turn"
    yield _event("message_delta", delta={"stop_reason": reason}, usage={"output_tokens": 10})
    yield _event("message_stop")


def _event(type: str, **fields: object) -> str:
    return json.dumps({"type": type, **fields})
