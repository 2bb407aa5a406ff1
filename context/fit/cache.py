"""Compare a request with the previous one, and explain why the prompt cache cannot be reused.

Providers cache the common prefix of two requests: tools, then instructions, then messages. This
prefix should only grow from turn to turn. If it does not, the context report gives a reason.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from context.draft import RequestDraft, make_message_body
from context.fit.cache_changes import HISTORY_CHANGED, NO_CHANGES, Changes, explain_differences
from context.fit.differences import (
    Difference,
    compare_messages,
    count_common,
    find_history_differences,
    find_system_differences,
    find_tool_differences,
    get_role,
    is_same,
    list_parts,
)
from context.layers import Layer
from context.messages import Message
from context.report.report import Prefix
from context.tokens import count_message


@dataclass(frozen=True, slots=True)
class PreviousQuestion:
    """The user message of the previous request.

    Attributes:
        text: the text of the message, or None if there is no previous request.
        is_same_turn: whether the previous request belongs to the current turn.
    """

    text: str | None = None
    is_same_turn: bool = False


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
    start = _compare_start(before.tools, before.system, draft)
    is_broken = same < before.stable(messages)
    history, present = _compare_messages(before, draft) if is_broken else ([], [])
    differences = [*start.differences, *history, *present]
    reasons = explain_differences([*start.differences, *history], changes)
    reasons += explain_differences(present, changes, is_work=True)
    if is_broken and not reasons:  # an equal message in another form
        reasons = (HISTORY_CHANGED,)
    is_history_broken = is_broken and same < before.question
    reused = _find_reused(draft, start, 0 if is_history_broken else same)
    tokens = sum(draft.layers[layer] for layer in reused if layer in (Layer.T, Layer.L1))
    if not start.differences:
        tokens += sum(count_message(message, draft.tail.counter) for message in messages[:same])
    return _conclude(digest, tokens, differences, reasons, reused)


@dataclass(frozen=True)
class _Start:
    """The differences in the tools and in the system text."""

    tools: tuple[Difference, ...]
    system: tuple[Difference, ...]

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The differences, in the order of the request."""
        return (*self.tools, *self.system)


def _compare_start(tools: object, system: object, draft: RequestDraft) -> _Start:
    start = draft.preamble
    return _Start(
        tuple(find_tool_differences(tools, start.tools)),
        tuple(find_system_differences(system, start.system.compiled)),
    )


def _conclude(
    digest: str,
    tokens: int,
    differences: Sequence[Difference],
    reasons: Sequence[str],
    reused: frozenset[Layer],
) -> Continuation:
    named = tuple(dict.fromkeys(reasons))
    prefix = Prefix(digest, tokens, bool(named), named, tuple(d.to_dict() for d in differences))
    return Continuation(prefix, reused)


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
    tools = [tool.to_dict() for tool in previous.preamble.tools]
    start = _compare_start(tools, previous.preamble.system.compiled, draft)
    present = []
    if asked.is_same_turn:
        sent = [make_message_body(one) for one in (previous.question, *previous.work)]
        present = _compare_present(sent, draft)
    reasons = explain_differences(start.differences, changes)
    reasons += explain_differences(present, changes, is_work=True)
    known = previous.history.message_count
    reused = _find_reused(draft, start, known + same)
    tokens = sum(draft.layers[layer] for layer in reused if layer in (Layer.T, Layer.L1))
    if not start.differences:
        counter = draft.tail.counter
        tokens += previous.history.tokens
        tokens += sum(count_message(message, counter) for message in now[:same])
    return _conclude(digest, tokens, [*start.differences, *present], reasons, reused)


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


class _PreviousRequest:
    """The previous request, parsed for comparison."""

    def __init__(self, body: Mapping[str, object], asked: PreviousQuestion) -> None:
        messages = body.get("messages")
        self.tools = body.get("tools")
        self.system = body.get("system")
        self.messages: list[object] = list(messages) if isinstance(messages, list | tuple) else []
        self.question = self._find(asked.text)
        self.question_text = _read_typed_text(self.messages, self.question)
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
        matches = [
            at for at in asked if text is not None and _find_last_text(self.messages[at]) == text
        ]
        return (matches or asked or [len(self.messages)])[-1]

    def _is_user(self, at: int) -> bool:
        return get_role(self.messages[at]) == "user"


def _read_typed_text(messages: Sequence[object], at: int) -> str | None:
    """Return the text that the user typed in the message at an index, or None."""
    found = _find_last_text(messages[at]) if at < len(messages) else None
    return found if isinstance(found, str) else None


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


def _find_reused(draft: RequestDraft, start: _Start, same: int) -> frozenset[Layer]:
    same_tools, same_start = not start.tools, not start.differences
    history = draft.history.message_count
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


def _compare_messages(
    before: _PreviousRequest, draft: RequestDraft
) -> tuple[list[Difference], list[Difference]]:
    """Return the differences in the history, and those in the messages of the current turn."""
    history = draft.history_messages
    earlier = before.messages[: before.question]
    found = []
    if count_common(earlier, history) < len(earlier):
        asked = None if before.is_same_turn else before.question_text
        found = find_history_differences(earlier, history, asked)
    if not before.is_same_turn:
        return found, []
    sent = before.messages[before.question : before.stable(draft.messages)]
    return found, _compare_present(sent, draft)


def _compare_present(sent: Sequence[object], draft: RequestDraft) -> list[Difference]:
    """Return the differences in the messages of the current turn.

    Args:
        sent: the user message and the work of the previous request, as JSON.
        draft: the request.
    """
    now = [make_message_body(message) for message in (draft.question, *draft.work)]
    found = []
    for earlier, message in zip(sent, now, strict=False):
        if isinstance(earlier, Mapping) and not _is_equal(earlier, message):
            found.append(compare_messages(earlier, message))
    found += (
        Difference("messages", str(get_role(one)), "removed", one) for one in sent[len(now) :]
    )
    return found


def _is_equal(earlier: Mapping[str, object], message: Mapping[str, object]) -> bool:
    is_same_role = earlier.get("role") == message.get("role")
    return is_same_role and list_parts(earlier) == list_parts(message)
