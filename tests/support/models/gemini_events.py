"""Convert a scripted answer to the events that Google's service streams.

Source: the page "Generating content" of the Gemini API's reference, `streamGenerateContent`.
"""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.support.models.model_server import Answer


def gemini_events(answer: "Answer", model: str) -> Iterator[str]:
    """Yield the JSON text of each event."""
    for piece in answer.split(answer.text):
        yield _event(model, [{"text": piece}])
    calls = [
        {"functionCall": {"name": name, "args": json.loads(arguments)}}
        for _, name, arguments in answer.calls
    ]
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}
    yield _event(model, calls or [{"text": ""}], finishReason="STOP", usageMetadata=usage)


def _event(model: str, parts: list[dict[str, Any]], **fields: Any) -> str:
    usage = {"usageMetadata": fields.pop("usageMetadata")} if "usageMetadata" in fields else {}
    candidate = {"content": {"parts": parts, "role": "model"}, "index": 0, **fields}
    return json.dumps({"candidates": [candidate], "modelVersion": model, **usage})
