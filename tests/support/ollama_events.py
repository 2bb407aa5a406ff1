"""How Ollama answers at its own interface: one JSON object a line, and calls of tools whole.

Source: the page "API" of Ollama's documentation, `/api/chat`, `/api/show`, `/api/tags`.
"""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.support.model_server import Answer

AT = "2026-01-01T00:00:00.000000Z"


def ollama_events(answer: "Answer", model: str) -> Iterator[str]:
    """Yield the lines of an answer at `/api/chat`."""
    head = {"model": model, "created_at": AT}

    def line(done: bool, **message: Any) -> dict[str, Any]:
        return {**head, "message": {"role": "assistant", **message}, "done": done}

    if answer.reasoning:
        yield json.dumps(line(False, content="", thinking=answer.reasoning))
    for start in range(0, len(answer.text), answer.chunk_chars):
        piece = answer.text[start : start + answer.chunk_chars]
        yield json.dumps(line(False, content=piece))
    if answer.calls:
        # Without ids, and the arguments as an object.
        calls = [
            {"function": {"name": name, "arguments": json.loads(arguments)}}
            for _, name, arguments in answer.calls
        ]
        yield json.dumps(line(False, content="", tool_calls=calls))
    if answer.finish:
        last = {**line(True, content=""), "done_reason": answer.finish, "total_duration": 5_000_000}
        usage: Mapping[str, Any] = answer.usage or {}
        if usage:
            last |= {
                "prompt_eval_count": usage["prompt_tokens"],
                "eval_count": usage["completion_tokens"],
            }
        yield json.dumps(last)


def ollama_page(path: str, body: Mapping[str, Any], context: int) -> dict[str, Any] | None:
    """Return what the other pages say; None where there is no such page."""
    if path == "/api/version":
        return {"version": "0.11.4"}
    if path == "/api/tags":
        named = {"name": "scripted:latest", "model": "scripted:latest", "size": 1}
        return {"models": [{**named, "details": {"family": "llama", "parameter_size": "1B"}}]}
    if path == "/api/show":
        info = {"general.architecture": "llama", "llama.context_length": context}
        return {"model_info": info, "capabilities": ["completion", "tools"], "details": {}}
    return None
