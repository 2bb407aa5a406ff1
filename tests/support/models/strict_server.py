"""Refuse what the servers of OpenAI, Anthropic, Mistral, DeepSeek and llama.cpp refuse.

`strict(Answer("…"))` is a reply for `ModelServer`: it answers a request that all of them take, and
refuses any other one with status 400 and the first rule that it breaks.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from tests.support.models.model_server import Answer, Body, Failure, Reply, Script

__all__ = ["list_refusals", "strict"]

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
# What every one of these servers takes. `reasoning_content` is for the few that ask for it.
_CONTENT: Final = ("messages", "model", "tool_choice", "tools")
_OPTIONS: Final = ("max_completion_tokens", "max_tokens", "stream", "stream_options", "temperature")
_FIELDS: Final = frozenset((*_CONTENT, *_OPTIONS))
_MESSAGE_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "system": frozenset({"role", "content"}),
    "user": frozenset({"role", "content"}),
    "assistant": frozenset({"role", "content", "tool_calls"}),
    "tool": frozenset({"role", "content", "tool_call_id"}),
}


def strict(reply: Script | None = None) -> Script:
    """Answer the requests that every server takes, and refuse the others.

    Args:
        reply: the reply to a request that is taken; by default a short answer.
    """

    def answer(body: Body) -> Reply:
        for refusal in list_refusals(body):
            return Failure.saying(400, refusal)
        said = Answer("All is well.") if reply is None else reply
        return said(body) if callable(said) else said

    return answer


def list_refusals(body: Mapping[str, Any]) -> Iterator[str]:
    """Yield each reason why one of the servers would refuse a request."""
    for name in body.keys() - _FIELDS:
        yield f"Extra inputs are not permitted: {name}"
    messages = body["messages"]
    if not messages:
        yield "messages: at least one message is required"
    for at, message in enumerate(messages):
        for refusal in _check_message(message, is_first=at == 0):
            yield f"messages.{at}: {refusal}"
    yield from _check_order([message["role"] for message in messages])
    yield from _check_pairs(messages)
    for at, tool in enumerate(body.get("tools", ())):
        if not _NAME.fullmatch(tool["function"]["name"]):
            yield f"tools.{at}: the name does not match {_NAME.pattern}"


def _check_message(message: Mapping[str, Any], *, is_first: bool) -> Iterator[str]:
    role = message["role"]
    if role not in _MESSAGE_FIELDS:
        yield f"unknown role {role!r}"
        return
    for name in message.keys() - _MESSAGE_FIELDS[role]:
        yield f"Extra inputs are not permitted: {name}"
    if role == "system" and not is_first:
        yield "the system message must be the first one"
    yield from _check_content(message.get("content"), bool(message.get("tool_calls")), role)
    for call in message.get("tool_calls", ()):
        yield from _check_call(call)


def _check_content(content: object, has_calls: bool, role: str) -> Iterator[str]:
    if content is None:
        if not has_calls:
            yield f"{role} content is null, and there are no tool calls"
    elif isinstance(content, str):
        # A tool may have nothing to say; a message with calls needs no text, but no blank one.
        if not content.strip() and role != "tool":
            yield f"{role} content is empty"
    else:
        blocks = list(content) if isinstance(content, Sequence) else []
        if not blocks:
            yield f"{role} content has no blocks"
        if any(block["type"] == "text" and not block["text"].strip() for block in blocks):
            yield "text content blocks must contain non-whitespace text"


def _check_call(call: Mapping[str, Any]) -> Iterator[str]:
    function = call["function"]
    if not _NAME.fullmatch(function["name"]):
        yield f"the name of a call does not match {_NAME.pattern}: {function['name'][:80]!r}"
    if not _NAME.fullmatch(call["id"]):
        yield f"the id of a call does not match {_NAME.pattern}: {call['id'][:80]!r}"
    try:
        arguments = json.loads(function["arguments"])
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        yield "the arguments of a call are not a JSON object"


def _check_order(roles: Sequence[str]) -> Iterator[str]:
    said = [role for role in roles if role != "system"]
    if said and said[0] != "user":
        yield "the first message must be the user's"
    if said and said[-1] not in ("user", "tool"):
        yield "the last message must be the user's or a tool's"
    if any(before == after != "tool" for before, after in pairwise(said)):
        yield "Conversation roles must alternate user/assistant/user/assistant/..."


def _check_pairs(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield refusals of calls without a result right behind them, and of results without a call."""
    waiting: list[str] = []
    seen: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            id = message.get("tool_call_id")
            if id not in waiting:
                yield f"a tool message must follow a message with its tool call: {id!r}"
            else:
                waiting.remove(id)
            continue
        if waiting:
            yield f"tool calls without results: {waiting}"
        waiting = [call["id"] for call in message.get("tool_calls", ())]
        if len({*waiting}) < len(waiting) or seen.intersection(waiting):
            yield "the ids of tool calls must be unique"
        seen.update(waiting)
    if waiting:
        yield f"tool calls without results: {waiting}"
