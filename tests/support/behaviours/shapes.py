"""Servers that refuse the usual request, each in its own words, and take it in another shape."""

import json
from collections.abc import Callable
from typing import Any, Literal

from tests.support.behaviours.behaviour import Behaviour, error
from tests.support.models.model_server import Answer, Body, Failure, Reply, Script

SAID = "Behind the shed."
_CALL = Answer("", calls=(("c1", "list_folder", "{}"),), reasoning="I look.")
_CALLS = Answer("", calls=(("c1", "list_folder", "{}"), ("c2", "list_tags", "{}")))
Wrong = Callable[[Body], bool]


def _until(
    is_wrong: Wrong, refusal: object, status: int = 400, first: Reply | None = None
) -> Script:
    """Refuse a request for as long as something is wrong with it.

    Args:
        is_wrong: whether a request is refused.
        refusal: the body of the refusal.
        status: the status of the refusal.
        first: the reply to a request without tool results that is taken, or None for an answer.
    """

    def answer(body: Body) -> Reply:
        if is_wrong(body):
            text = refusal if isinstance(refusal, str) else json.dumps(refusal)
            return Failure(status, text)
        has_results = _has_role("tool")(body) or "[Result of" in json.dumps(body)
        is_first = first is not None and "tools" in body and not has_results
        return first if is_first and first is not None else Answer(SAID)

    return answer


def _has(*fields: str) -> Wrong:
    return lambda body: any(field in body for field in fields)


def _has_role(role: str) -> Wrong:
    return lambda body: any(message["role"] == role for message in body["messages"])


def _allows_more_than(tokens: int) -> Wrong:
    return lambda body: body["max_tokens"] > tokens


def _lacks_thinking(body: Body) -> bool:
    asked = [message for message in body["messages"] if message.get("tool_calls")]
    return any("reasoning_content" not in message for message in asked)


def _calls_at_once(body: Body) -> bool:
    return any(len(message.get("tool_calls", ())) > 1 for message in body["messages"])


def _details(*places: list[Any]) -> dict[str, Any]:
    said = "Extra inputs are not permitted"
    return {"detail": [{"type": "extra_forbidden", "loc": p, "msg": said} for p in places]}


def _row(
    name: str,
    reply: Script,
    requests: int = 2,
    mode: Literal["chat", "agent"] = "chat",
    thought: str = "",
) -> Behaviour:
    return Behaviour(name, (reply,), SAID, requests=requests, mode=mode, thought=thought)


_MAX_TOKENS = error(
    "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead.",
    param="max_tokens",
    code="unsupported_parameter",
)
_TOO_MANY = error(
    "max_tokens is too large: 4096. This model supports at most 2048 completion tokens, whereas "
    "you provided 4096.",
    param="max_tokens",
    code="invalid_value",
)
_TEMPERATURE = error(
    "Unsupported value: 'temperature' does not support 0.2 with this model. "
    "Only the default (1) value is supported.",
    param="temperature",
    code="unsupported_value",
)
_ALTERNATE = error("Conversation roles must alternate user/assistant/user/assistant/...")

SHAPES = (
    _row("the output limit has another name", _until(_has("max_tokens"), _MAX_TOKENS)),
    _row("the output limit is too large", _until(_allows_more_than(2_048), _TOO_MANY)),
    _row("the only temperature is 1", _until(_has("temperature"), _TEMPERATURE)),
    _row(
        "no temperature is taken",
        _until(_has("temperature"), error("`temperature` is deprecated for this model.")),
    ),
    _row(
        "an unknown field, by its place",
        _until(_has("stream_options"), _details(["body", "stream_options"]), 422),
    ),
    _row(
        "an unknown field, by its name",
        _until(_has("stream_options"), "unknown field `stream_options`, expected one of `a`", 422),
    ),
    _row(
        "two unknown fields in one refusal",
        _until(
            _has("stream_options", "temperature"),
            _details(["body", "stream_options"], ["body", "temperature"]),
            422,
        ),
    ),
    _row(
        "a refusal behind a gateway",
        _until(_has("temperature"), error(json.dumps(_TEMPERATURE))),
    ),
    _row("no system role", _until(_has_role("system"), error("System role not supported"))),
    _row(
        "no system role in a template",
        _until(_has_role("system"), error("Jinja Exception: System role not supported"), 500),
    ),
    _row(
        "no tools",
        _until(_has("tools"), error("registry.ollama.ai/library/x:2b does not support tools")),
        mode="agent",
    ),
    _row(
        "no tools without a flag",
        _until(_has("tools"), error("tools param requires --jinja flag"), 500),
        mode="agent",
    ),
    _row(
        "no tools at any provider",
        _until(_has("tools"), error("No endpoints found that support tool use."), 404),
        mode="agent",
    ),
    _row(
        "no tool role",
        _until(_has_role("tool"), error("Unexpected role 'tool'"), first=_CALL),
        requests=3,
        mode="agent",
        thought="I look.",
    ),
    _row(
        "roles that alternate without tools",
        _until(_has_role("tool"), _ALTERNATE, 500, first=_CALL),
        requests=3,
        mode="agent",
        thought="I look.",
    ),
    _row(
        "one call at once",
        _until(_calls_at_once, error("Parallel tool calls are not supported"), first=_CALLS),
        requests=3,
        mode="agent",
    ),
    _row(
        "one call at once, by the template",
        _until(
            _calls_at_once,
            "Jinja Exception: This model only supports single tool-calls at once!",
            500,
            first=_CALLS,
        ),
        requests=3,
        mode="agent",
    ),
    _row(
        "thinking that is wanted back",
        _until(
            _lacks_thinking,
            error("Missing `reasoning_content` field in the assistant message at message index 2."),
            first=_CALL,
        ),
        requests=3,
        mode="agent",
        thought="I look.",
    ),
)
