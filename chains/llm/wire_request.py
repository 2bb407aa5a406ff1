"""Build the arguments of a litellm call from a prepared request."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, Final

from chains.llm.http import open_client
from chains.llm.port import Endpoint
from chains.llm.request_shape import USUAL_SHAPE, RequestShape
from chains.llm.shaped_messages import changes_messages, shape_messages
from chains.llm.wire_content import WireStyle
from chains.llm.wire_messages import (
    build_wire_conversation,
    build_wire_messages,
    encode_conversation,
)
from context.assemble.request import Request
from context.draft import make_message_body
from context.messages import compact_json

__all__ = ["NO_KEY", "WireRequest", "build_wire_request", "is_reasoning_model"]

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
# The words of names of models that reason before they answer. They refuse a temperature, or reason
# worse with a low one.
_REASONING: Final = re.compile(r"o\d|qwq|(?!non).*(?:reasoner|reasoning|thinking)")
_NAME_WORDS: Final = re.compile(r"[a-z0-9]+")
# Models that refuse a turn with tool calls without the thinking that led to them.
_WANTS_THINKING: Final = re.compile(r"deepseek|kimi|moonshot", re.IGNORECASE)


def is_reasoning_model(name: str) -> bool:
    """Return whether a model reasons before it answers, as the words of its name say."""
    words = _NAME_WORDS.findall(name.lower())
    for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False):
        is_gpt_5 = word == "gpt5" or (word == "gpt" and after == "5")
        is_named = _REASONING.fullmatch(word) is not None and before not in {"no", "non"}
        is_r1 = word == "r1" and before != "command"
        if is_named or is_r1 or (is_gpt_5 and "chat" not in words):
            return True
    return False


@dataclass(frozen=True)
class WireRequest:
    """The arguments of a litellm call, without the client.

    Attributes:
        arguments: the arguments, keyed by name.
        max_output_tokens: the maximum tokens of the answer.
        fill: maps each placeholder in the body to the encoded messages that replace it when the
            body is sent.
        takes_handler: whether litellm calls this provider through litellm's own HTTP handler.
        is_reported: whether the call goes through `chains.llm.http`, which records it.
    """

    arguments: Mapping[str, Any]
    max_output_tokens: int
    fill: Mapping[str, str] = field(default_factory=dict)
    takes_handler: bool = False
    is_reported: bool = False

    def sends_same(self, other: "WireRequest") -> bool:
        """Return whether another request with the same placeholders would send the same body."""
        return (self.arguments, self.fill) == (other.arguments, other.fill)


def build_wire_request(
    request: Request,
    endpoint: Endpoint,
    key: str | None,
    shape: RequestShape = USUAL_SHAPE,
    placeholder: str = "",
) -> WireRequest:
    """Build the arguments for sending a request with litellm.

    Args:
        endpoint: the address of the model.
        key: the API key, or None.
        shape: how the server's requests differ from the usual ones.
        placeholder: the placeholder for the messages, which no text contains, or an empty string
            for a new one.
    """
    is_past = endpoint.provider == "openai" and not _O_SERIES.search(endpoint.wire_name)
    style = _choose_style(request, endpoint, shape)
    if is_past:
        messages, fill = _bypass_validation(request, style, shape, placeholder or token_hex(16))
    else:
        messages, fill = {"messages": _build_messages(request, endpoint, style, shape)}, {}
    arguments: dict[str, Any] = {
        "model": endpoint.wire_name,
        **messages,
        **_build_options(request, endpoint, shape),
        "stream": True,
        "api_base": endpoint.api_base or None,
        "api_key": key or (NO_KEY if endpoint.api_base else None),
        "timeout": open_client().timeout,
        "drop_params": True,
        "max_retries": 0,
        "num_retries": 0,
    }
    takes_handler = endpoint.provider in _HANDLER_PROVIDERS
    is_reported = takes_handler or endpoint.provider == "openai"
    most = request.base.options["maxTokens"]
    assert isinstance(most, int)
    return WireRequest(arguments, shape.limit_output(most), fill, takes_handler, is_reported)


def _choose_style(request: Request, endpoint: Endpoint, shape: RequestShape) -> WireStyle:
    """Choose how messages are written for a model.

    Texts are joined except for providers that cache by parts, and for models whose tokens are
    counted exactly, where a joint would be a token that was not counted.
    """
    is_exact = request.draft.tail.counter.is_exact
    joins_text = not (request.marks or is_exact)
    if shape.omits("reasoning_content"):
        return WireStyle(joins_text)
    if shape.has("all_thinking_returned"):
        return WireStyle(joins_text, "everywhere")
    wants = _WANTS_THINKING.search(endpoint.wire_name) or shape.has("thinking_returned")
    return WireStyle(joins_text, "tool_turns" if wants else "nowhere")


def _build_options(request: Request, endpoint: Endpoint, shape: RequestShape) -> dict[str, Any]:
    """Build the optional fields of a request, without those that the server does not take."""
    options, most = request.base.options, request.base.options["maxTokens"]
    assert isinstance(most, int)
    limit = "max_completion_tokens" if shape.has("max_completion_tokens") else "max_tokens"
    fields: dict[str, Any] = {
        limit: shape.limit_output(most),
        "stream_options": {"include_usage": True},
    }
    if options.get("temperature") is not None and not is_reasoning_model(endpoint.wire_name):
        fields["temperature"] = options["temperature"]
    if tools := request.draft.preamble.tools:
        functions = [tool.to_dict() for tool in tools]
        fields["tools"] = [{"type": "function", "function": tool} for tool in functions]
    if isinstance(effort := options.get("reasoning"), str):
        fields["reasoning_effort"] = effort
    if endpoint.provider in _OLLAMA:
        fields["num_ctx"] = request.report.request_budget.window
    return {name: value for name, value in fields.items() if not shape.omits(name)}


def _build_messages(
    request: Request, endpoint: Endpoint, style: WireStyle, shape: RequestShape
) -> list[dict[str, Any]]:
    """Build the messages so that their roles still alternate after litellm has converted them."""
    if endpoint.provider in _GEMINI:
        shape = shape.with_form("note_in_result")
    messages = build_wire_conversation(request, style)
    return shape_messages(messages, shape) if changes_messages(shape) else messages


def _bypass_validation(
    request: Request, style: WireStyle, shape: RequestShape, placeholder: str
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the messages as extra body content, which the OpenAI client does not validate.

    The client validates every field of every message. For long sessions, this took ten times as
    long as everything else. Instead, a placeholder is replaced with the encoded messages when the
    request is sent.

    Returns:
        The arguments for litellm, and the encoded messages, keyed by placeholder.
    """
    asked = build_wire_messages([make_message_body(request.draft.question)])
    if changes_messages(shape):
        messages = shape_messages(build_wire_conversation(request, style), shape)
        whole = compact_json(messages)
    else:
        whole = encode_conversation(request, style)
    return {"messages": asked, "extra_body": {"messages": placeholder}}, {placeholder: whole}
