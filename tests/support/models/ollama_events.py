"""Convert a scripted answer to Ollama's format: one JSON object per line, tool calls unsplit.

Source: the page "API" of Ollama's documentation, `/api/chat`, `/api/show`, `/api/tags`.
"""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.support.models.model_server import Answer

AT = "2026-01-01T00:00:00.000000Z"


def ollama_events(answer: "Answer", model: str) -> Iterator[str]:
    """Yield the lines of an answer to `/api/chat`."""
    head = {"model": model, "created_at": AT}

    def line(done: bool, **message: Any) -> dict[str, Any]:
        return {**head, "message": {"role": "assistant", **message}, "done": done}

    if answer.reasoning:
        yield json.dumps(line(False, content="", thinking=answer.reasoning))
    for piece in answer.split(answer.text):
        yield json.dumps(line(False, content=piece))
    if answer.calls:
        # Ollama's tool calls have no ids, and their arguments are an object.
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


def ollama_page(path: str, context: int, sees: bool) -> dict[str, Any] | None:
    """Return the response to any other path, or None if Ollama has no such path."""
    if path == "/api/version":
        return {"version": "0.11.4"}
    if path == "/api/tags":
        named = {"name": "scripted:latest", "model": "scripted:latest", "size": 1}
        return {"models": [{**named, "details": {"family": "llama", "parameter_size": "1B"}}]}
    if path == "/api/show":
        info = {"general.architecture": "llama", "llama.context_length": context}
        able = ["completion", "tools", *(["vision"] if sees else [])]
        return {"model_info": info, "capabilities": able, "details": {}}
    return None
