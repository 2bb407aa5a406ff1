"""Build the arguments of a litellm call from a prepared request."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, Final

from chains.llm.http import open_client
from chains.llm.port import Endpoint
from chains.llm.wire_messages import (
    build_wire_conversation,
    build_wire_messages,
    encode_conversation,
)
from context.fit.cache import make_message_body
from context.fit.guard import PreparedRequest

__all__ = ["NO_KEY", "WireRequest", "build_wire_request"]

# The OpenAI client requires a key even if the server does not.
NO_KEY: Final = "none"

# litellm calls these through its own HTTP handler.
_HANDLER_PROVIDERS: Final = frozenset(
    {
        "anthropic",
        "databricks",
        "deepseek",
        "fireworks_ai",
        "gemini",
        "groq",
        "hosted_vllm",
        "huggingface",
        "mistral",
        "ollama",
        "ollama_chat",
        "openrouter",
        "together_ai",
        "xai",
    }
)
# Some of these models take no system message, so litellm changes its role.
_O_SERIES: Final = re.compile(r"/o\d")
_OLLAMA: Final = frozenset({"ollama", "ollama_chat"})
# For these providers, litellm converts tool results to a user message, and does not merge it with
# the next one.
_GEMINI: Final = frozenset({"gemini", "vertex_ai", "vertex_ai_beta"})


@dataclass(frozen=True)
class WireRequest:
    """The arguments of a litellm call, without the client.

    Attributes:
        arguments: the arguments, keyed by name.
        fill: maps each placeholder in the body to the encoded messages that replace it when the
            body is sent.
        takes_handler: whether litellm calls this provider through litellm's own HTTP handler.
        is_reported: whether the call goes through `chains.llm.http`, which records it.
    """

    arguments: Mapping[str, Any]
    fill: Mapping[str, str] = field(default_factory=dict)
    takes_handler: bool = False
    is_reported: bool = False


def build_wire_request(
    request: PreparedRequest, endpoint: Endpoint, key: str | None
) -> WireRequest:
    """Build the arguments for sending a request with litellm."""
    options = request.base.options
    is_past = endpoint.provider == "openai" and not _O_SERIES.search(endpoint.wire_name)
    messages, fill = (
        _bypass_validation(request)
        if is_past
        else ({"messages": _build_messages(request, endpoint)}, {})
    )
    arguments: dict[str, Any] = {
        "model": endpoint.wire_name,
        **messages,
        "temperature": options["temperature"],
        "max_tokens": options["maxTokens"],
        "stream": True,
        "stream_options": {"include_usage": True},
        "api_base": endpoint.api_base or None,
        "api_key": key or (NO_KEY if endpoint.api_base else None),
        "timeout": open_client().timeout,
        "drop_params": True,
        "max_retries": 0,
        "num_retries": 0,
    }
    if tools := request.draft.preamble.tools:
        functions = [tool.to_dict() for tool in tools]
        arguments["tools"] = [{"type": "function", "function": tool} for tool in functions]
    if isinstance(effort := options.get("reasoning"), str):
        arguments["reasoning_effort"] = effort
    if endpoint.provider in _OLLAMA:
        arguments["num_ctx"] = request.report.request_budget.window
    takes_handler = endpoint.provider in _HANDLER_PROVIDERS
    is_reported = takes_handler or endpoint.provider == "openai"
    return WireRequest(arguments, fill, takes_handler, is_reported)


def _build_messages(request: PreparedRequest, endpoint: Endpoint) -> list[dict[str, Any]]:
    """Build the messages so that their roles still alternate after litellm has converted them."""
    messages = build_wire_conversation(request)
    if endpoint.provider not in _GEMINI or len(messages) < 2:
        return messages
    *before, result, note = messages
    is_behind = (result["role"], note["role"]) == ("tool", "user")
    if not is_behind or not isinstance(note["content"], str):
        return messages
    return [*before, {**result, "content": f"{result['content']}\n\n{note['content']}"}]


def _bypass_validation(request: PreparedRequest) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the messages as extra body content, which the OpenAI client does not validate.

    The client validates every field of every message. For long sessions, this took ten times as
    long as everything else. Instead, a placeholder is replaced with the encoded messages when the
    request is sent.

    Returns:
        The arguments for litellm, and the encoded messages, keyed by placeholder.
    """
    asked = build_wire_messages([make_message_body(request.draft.question)])
    name = token_hex(16)
    whole = {name: encode_conversation(request)}
    return {"messages": asked, "extra_body": {"messages": name}}, whole
