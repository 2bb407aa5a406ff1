"""Compare a request with the previous one, and explain why the prompt cache cannot be reused.

Providers cache the common prefix of two requests: tools, then instructions, then messages. This
prefix should only grow from turn to turn. If it does not, the context report gives a reason.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from context.assemble.inputs import PreviousQuestion
from context.assemble.request import RequestDraft
from context.fit.cache_changes import (
    HISTORY_CHANGED,
    INSTRUCTIONS_CHANGED,
    NO_CHANGES,
    TOOL_PROMOTED,
    TOOLS_CHANGED,
    WORK_CHANGED,
    Changes,
    count_common,
    explain_history,
    explain_tail,
    get_role,
    is_same,
)
from context.layers import Layer
from context.messages import Message, compact_json
from context.report.report import Prefix
from context.tokens import count_message

_BODY: Final = "body"


@dataclass(frozen=True, slots=True)
class Continuation:
    """The result of comparing a request with the previous one.

    Attributes:
        prefix: the comparison of the prefixes, for the context report.
        reused: the layers that the prompt cache can reuse.
    """

    prefix: Prefix
    reused: frozenset[Layer] = frozenset()


def compare_requests(
    draft: RequestDraft,
    previous: "Mapping[str, object] | RequestDraft | None",
    asked: PreviousQuestion | None = None,
    changes: Changes = NO_CHANGES,
) -> Continuation:
    """Compare a request with the previous one, and explain each change of the cached prefix.

    Args:
        draft: the request as it will be sent.
        previous: the previous request, as a draft or as JSON. None for the first request. If this
            request continues the history of a draft, only the messages after that are compared.
        asked: the user message of the previous request.
        changes: the decisions since the previous request.
    """
    digest = hash_prefix(draft)
    if previous is None:
        return Continuation(Prefix(digest))
    asked = asked or PreviousQuestion()
    if isinstance(previous, RequestDraft) and _continues(previous, draft):
        return _compare_continued(digest, previous, draft, asked, changes)
    body = _make_body(previous) if isinstance(previous, RequestDraft) else previous
    before = _PreviousRequest(body, asked)
    messages = draft.messages
    same = count_common(before.messages, messages)
    same_tools = before.tools == [tool.to_dict() for tool in draft.preamble.tools]
    changes = _explain_tools(before.tool_names, draft, changes)
    same_system = before.system == draft.preamble.system.compiled
    is_broken = same < before.stable(messages)
    found = _explain_messages(before, draft, changes) if is_broken else []
    if is_broken and not found and same_tools and same_system:
        found = [HISTORY_CHANGED]
    reasons = _collect_reasons(same_tools, same_system, found, changes)
    is_history_broken = is_broken and same < before.question
    reused = _find_reused(draft, same_tools, same_system, 0 if is_history_broken else same)
    tokens = sum(draft.layers[layer] for layer in reused if layer in (Layer.T, Layer.L1))
    if same_tools and same_system:
        tokens += sum(count_message(message, draft.tail.counter) for message in messages[:same])
    return Continuation(Prefix(digest, tokens, bool(reasons), reasons), reused)


def _collect_reasons(
    same_tools: bool, same_system: bool, found: Sequence[str], changes: Changes
) -> tuple[str, ...]:
    """Return the reasons for all changes of the prefix, in the order of the request.

    For a layer that a hook changed, the hook's own reasons are used.

    Args:
        found: the reasons found by comparing the messages.
    """
    if same_tools and same_system and not found:
        return ()
    reasons = [] if same_tools or Layer.T in changes.touched else [TOOLS_CHANGED]
    if not (same_system or Layer.L1 in changes.touched):
        reasons.append(INSTRUCTIONS_CHANGED)
    reasons += changes.reasons
    is_explained = Layer.L4 in changes.touched or len(set(found)) > 1
    reasons += (reason for reason in found if not (is_explained and reason == HISTORY_CHANGED))
    return tuple(dict.fromkeys(reasons))


def _explain_tools(before: Sequence[str], draft: RequestDraft, changes: Changes) -> Changes:
    """Add the reason "tool promoted" to the changes if `tool_search` found all new tools."""
    now = [tool.name for tool in draft.preamble.tools]
    added = now[len(before) :]
    if not before or now[: len(before)] != list(before) or not changes.promoted.issuperset(added):
        return changes
    touched = changes.touched | {Layer.T} if added else changes.touched
    reasons = (*changes.reasons, TOOL_PROMOTED) if added else changes.reasons
    return replace(changes, reasons=reasons, touched=touched)


def hash_prefix(draft: RequestDraft) -> str:
    """Return a hash of a request's tools, instructions and history."""
    return hashlib.sha256(draft.preamble.digest + draft.history.digest).hexdigest()


def _continues(previous: RequestDraft, draft: RequestDraft) -> bool:
    """Return whether the history of a draft starts with the whole history of the previous draft."""
    return previous.history.common(draft.history) == len(previous.history)


def _compare_continued(
    digest: str,
    previous: RequestDraft,
    draft: RequestDraft,
    asked: PreviousQuestion,
    changes: Changes,
) -> Continuation:
    """Compare a request with a previous one whose history it continues.

    Only the messages after the common history are compared.
    """
    earlier = len(previous.history)
    now = (*draft.history[earlier:].messages, *draft.present)
    same = _count_equal(previous.present, now)
    same_tools = previous.preamble.tools == draft.preamble.tools
    changes = _explain_tools([tool.name for tool in previous.preamble.tools], draft, changes)
    same_system = previous.preamble.system == draft.preamble.system
    found = []
    if asked.is_same_turn:
        question, work = previous.question, previous.work
        found = explain_tail(make_message_body(question), draft.question)
        found += [WORK_CHANGED] if _count_equal(work, now[1:]) < len(work) else []
    reasons = _collect_reasons(same_tools, same_system, found, changes)
    known = previous.history.message_count
    reused = _find_reused(draft, same_tools, same_system, known + same)
    tokens = sum(draft.layers[layer] for layer in reused if layer in (Layer.T, Layer.L1))
    if same_tools and same_system:
        counter = draft.tail.counter
        tokens += previous.history.tokens
        tokens += sum(count_message(message, counter) for message in now[:same])
    return Continuation(Prefix(digest, tokens, bool(reasons), reasons), reused)


def _count_equal(before: Sequence[Message], now: Sequence[Message]) -> int:
    same = 0
    for earlier, message in zip(before, now, strict=False):
        if (earlier.role, earlier.content) != (message.role, message.content):
            break
        same += 1
    return same


def _make_body(draft: RequestDraft) -> dict[str, object]:
    return {
        "tools": [tool.to_dict() for tool in draft.preamble.tools],
        "system": draft.preamble.system.compiled,
        "messages": [make_message_body(message) for message in draft.messages],
    }


def make_message_body(message: Message) -> dict[str, object]:
    """Return a message as a JSON object without the id of its log entry."""
    data = message.to_dict()
    return {"role": data["role"], "content": data["content"]}


def encode_message(message: Message) -> str:
    """Return a message as compact JSON without the id of its log entry. The text is cached."""
    return message.encode_once(_BODY, lambda one: compact_json(make_message_body(one)))


class _PreviousRequest:
    """The previous request, parsed for comparison."""

    def __init__(self, body: Mapping[str, object], asked: PreviousQuestion) -> None:
        messages = body.get("messages")
        self.tools = body.get("tools")
        self.tool_names = _read_tool_names(self.tools)
        self.system = body.get("system")
        self.messages: list[object] = list(messages) if isinstance(messages, list | tuple) else []
        self.question = self._find(asked.text)
        self.is_same_turn = asked.is_same_turn

    def stable(self, now: Sequence[Message]) -> int:
        """Return how many messages, from the start, this request should repeat unchanged.

        In a new turn, these are the messages of the history. Within the same turn, these are all
        messages of the previous request, except a last one that is sent only once.
        """
        if not self.is_same_turn:
            return self.question
        last = len(self.messages) - 1
        has_uncached = last > self.question and get_role(self.messages[last]) == "user"
        if has_uncached and not (last < len(now) and is_same(self.messages[last], now[last])):
            return last
        return len(self.messages)

    def _find(self, text: str | None) -> int:
        """Return the index of the last unanswered user message, preferably one with this text."""
        last = len(self.messages) - 1
        start = next((at for at in range(last, -1, -1) if _is_answer(self.messages[at])), 0)
        asked = [at for at in range(start, len(self.messages)) if self._is_user(at)]
        told = [
            at for at in asked if text is not None and _find_last_text(self.messages[at]) == text
        ]
        return (told or asked or [len(self.messages)])[-1]

    def _is_user(self, at: int) -> bool:
        return get_role(self.messages[at]) == "user"


def _read_tool_names(tools: object) -> list[str]:
    listed = tools if isinstance(tools, list | tuple) else ()
    return [str(tool.get("name")) for tool in listed if isinstance(tool, Mapping)]


def _is_answer(message: object) -> bool:
    content = message.get("content") if isinstance(message, Mapping) else None
    parts = content if isinstance(content, list | tuple) else ()
    calls = any(isinstance(part, Mapping) and part.get("type") == "tool_call" for part in parts)
    return get_role(message) == "assistant" and not calls


def _find_last_text(message: object) -> object:
    content = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, list | tuple) and content and isinstance(content[-1], Mapping):
        return content[-1].get("text")
    return content


def _find_reused(
    draft: RequestDraft, same_tools: bool, same_system: bool, same: int
) -> frozenset[Layer]:
    same_start, history = same_tools and same_system, draft.history.message_count
    has_tail, has_work = same_start and same > history, same_start and same > history + 1
    candidates = (
        (Layer.T, same_tools),
        (Layer.L1, same_start),
        (Layer.L4, same_start and same > 0),
        (Layer.L2, has_tail),
        (Layer.L3, has_tail),
        (Layer.E, has_tail and draft.uncached is None),
        (Layer.L5, has_tail),
        (Layer.W, has_work),
    )
    return frozenset(layer for layer, holds in candidates if holds and draft.layers[layer])


def _explain_messages(before: _PreviousRequest, draft: RequestDraft, changes: Changes) -> list[str]:
    """Return the reasons for all changed messages, in order."""
    history = draft.history_messages
    earlier = before.messages[: before.question]
    reasons = []
    if count_common(earlier, history) < len(earlier):
        reasons += explain_history(earlier, history, changes)
    if before.is_same_turn:
        for question in before.messages[before.question : before.question + 1]:
            reasons += explain_tail(question, draft.question)
        work = before.messages[before.question + 1 : before.stable(draft.messages)]
        reasons += [WORK_CHANGED] if count_common(work, draft.work) < len(work) else []
    return reasons
