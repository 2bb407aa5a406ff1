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
from context.compaction import HEAD
from context.layers import Layer
from context.messages import Message, compact_json
from context.report.report import Prefix
from context.tokens import count_message

TOOLS_CHANGED: Final = "the tools changed"
TOOL_PROMOTED: Final = "tool promoted"
INSTRUCTIONS_CHANGED: Final = "the instructions changed"
TURNS_BACK: Final = "earlier turns came back"
ANSWER_SHORTENED: Final = "an answer was shortened"
ANSWER_RESTORED: Final = "a shortened answer came back whole"
SUMMARY_SHORTENED: Final = "the summary was shortened"
SUMMARY_OUT: Final = "the summary was left out"
SUMMARY_BACK: Final = "the summary came back"
HISTORY_CHANGED: Final = "the history was changed"
TAIL_SHORTENED: Final = "the context of this turn was shortened"
TAIL_RESTORED: Final = "shortened context of this turn came back whole"
WORK_CHANGED: Final = "older results of this turn were shortened"
THRESHOLD_RAISED: Final = "the threshold was raised"
MODEL_CHANGED: Final = "another model answers"

_BODY: Final = "body"


@dataclass(frozen=True, slots=True)
class Changes:
    """Decisions since the previous request that can invalidate the prompt cache.

    Attributes:
        reasons: why hooks changed the request, and why text was trimmed.
        touched: the layers that these reasons explain: the tool definitions (T), the instructions
            (L1) or the history (L4).
        dropped: how many turns this request drops.
        epoch_reasons: why dropped turns may be sent again: another model, or a higher threshold.
        promoted: the names of tools that were omitted until the model found them.
    """

    reasons: tuple[str, ...] = ()
    touched: frozenset[Layer] = frozenset()
    dropped: int = 0
    epoch_reasons: tuple[str, ...] = ()
    promoted: frozenset[str] = frozenset()


NO_CHANGES: Final = Changes()


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
    same = _count_common(before.messages, messages)
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
        found = _explain_tail(make_message_body(question), draft.question)
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
        has_uncached = last > self.question and _get_role(self.messages[last]) == "user"
        if has_uncached and not (last < len(now) and _is_same(self.messages[last], now[last])):
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
        return _get_role(self.messages[at]) == "user"


def _read_tool_names(tools: object) -> list[str]:
    listed = tools if isinstance(tools, list | tuple) else ()
    return [str(tool.get("name")) for tool in listed if isinstance(tool, Mapping)]


def _is_answer(message: object) -> bool:
    content = message.get("content") if isinstance(message, Mapping) else None
    parts = content if isinstance(content, list | tuple) else ()
    calls = any(isinstance(part, Mapping) and part.get("type") == "tool_call" for part in parts)
    return _get_role(message) == "assistant" and not calls


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
    if _count_common(earlier, history) < len(earlier):
        reasons += _explain_history(earlier, history, changes)
    if before.is_same_turn:
        for question in before.messages[before.question : before.question + 1]:
            reasons += _explain_tail(question, draft.question)
        work = before.messages[before.question + 1 : before.stable(draft.messages)]
        reasons += [WORK_CHANGED] if _count_common(work, draft.work) < len(work) else []
    return reasons


def _explain_tail(earlier: object, question: Message) -> list[str]:
    """Return the reasons why the user message of a turn or its context changed.

    A user message without context is a plain string if the request has no tools, and a text part
    otherwise. This difference alone is not reported, because the changed tools already explain it.
    """
    before, now = _list_parts(earlier), _list_parts(make_message_body(question))
    reasons = [] if before[-1:] == now[-1:] else [HISTORY_CHANGED]
    if before[:-1] != now[:-1]:
        is_shorter = _count_chars(now[:-1]) <= _count_chars(before[:-1])
        reasons.append(TAIL_SHORTENED if is_shorter else TAIL_RESTORED)
    return reasons


def _list_parts(message: object) -> list[object]:
    """Return the parts of a message. A plain string counts as one text part."""
    content = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content) if isinstance(content, list | tuple) else []


def _count_chars(parts: Sequence[object]) -> int:
    return sum(len(str(part.get("text", ""))) for part in parts if isinstance(part, Mapping))


def _get_role(message: object) -> object:
    return message.get("role") if isinstance(message, Mapping) else None


def _count_common(before: Sequence[object], now: Sequence[Message]) -> int:
    same = 0
    for earlier, message in zip(before, now, strict=False):
        if not _is_same(earlier, message):
            break
        same += 1
    return same


def _is_same(earlier: object, message: Message) -> bool:
    if not isinstance(earlier, Mapping) or earlier.get("role") != message.role:
        return False
    if isinstance(message.content, str):
        return bool(earlier.get("content") == message.content)
    return bool(earlier.get("content") == make_message_body(message)["content"])


def _explain_history(
    before: Sequence[object], now: Sequence[Message], changes: Changes
) -> list[str]:
    """Return the reasons for a change in the history.

    Args:
        before: the messages of the previous history.
        now: the messages of the history.
        changes: the decisions since the previous request.
    """
    if Layer.L4 in changes.touched:
        return [_describe_drop(changes.dropped)] if changes.dropped else [HISTORY_CHANGED]
    first, start = _has_summary(before), len(now) and now[0].text.startswith(HEAD)
    reasons = _explain_summary(before[:first], now[:start])
    before, now = before[first:], now[start:]
    same = _count_common(before, now)
    return [*reasons, *(_explain_turns(before, now, same, changes) if same < len(before) else ())]


def _has_summary(messages: Sequence[object]) -> bool:
    content = messages[0].get("content") if messages and isinstance(messages[0], Mapping) else None
    return isinstance(content, str) and content.startswith(HEAD)


def _explain_summary(before: Sequence[object], now: Sequence[Message]) -> list[str]:
    """Return the reason why the summary at the start of the history changed, if it did.

    Args:
        before: the summary of the previous request, or an empty list.
        now: the summary of this request, or an empty list.
    """
    if len(before) != len(now):
        return [SUMMARY_BACK if now else SUMMARY_OUT]
    pairs = [pair for pair in zip(before, now, strict=True) if not _is_same(*pair)]
    is_back = any(
        _count_chars(_list_parts(earlier)) < len(message.text) for earlier, message in pairs
    )
    return [SUMMARY_BACK if is_back else SUMMARY_SHORTENED] if pairs else []


def _explain_turns(
    before: Sequence[object], now: Sequence[Message], same: int, changes: Changes
) -> list[str]:
    """Return the reasons for a change in the turns of the history.

    Args:
        before: the messages of the previous turns.
        now: the messages of the turns.
        same: how many messages, from the start, are equal.
        changes: the decisions since the previous request.
    """
    gone = _find_position(before, now[0]) if now else len(before)
    back = next((at for at, message in enumerate(now) if _is_same(before[0], message)), 0)
    if same == 0 and gone:
        reasons = [_describe_drop(sum(_get_role(message) == "user" for message in before[:gone]))]
        pairs = zip(before[gone:], now, strict=False)
    elif changes.dropped:
        return [_describe_drop(changes.dropped)]
    elif same == 0 and back:
        reasons = [TURNS_BACK]
        pairs = zip(before, now[back:], strict=False)
    else:
        reasons = [] if same < len(now) else [HISTORY_CHANGED]
        pairs = zip(before[same:], now[same:], strict=False)
    differing = (pair for pair in pairs if not _is_same(*pair))
    reasons += (_explain_message(earlier, message) for earlier, message in differing)
    if changes.epoch_reasons:
        changed = (TURNS_BACK, HISTORY_CHANGED)
        known = (changes.epoch_reasons if r in changed else (r,) for r in reasons)
        return list(dict.fromkeys(reason for found in known for reason in found))
    return list(dict.fromkeys(reasons))


def _find_position(before: Sequence[object], message: Message) -> int:
    return next((at for at, earlier in enumerate(before) if _is_same(earlier, message)), 0)


def _describe_drop(turns: int) -> str:
    return "a turn was dropped" if turns == 1 else f"{turns} turns were dropped"


def _explain_message(earlier: object, message: Message) -> str:
    content = earlier.get("content") if isinstance(earlier, Mapping) else None
    if message.role != "assistant" or not isinstance(content, str):
        return HISTORY_CHANGED
    half = min(len(content), len(message.text)) // 2
    if content[:half] != message.text[:half]:
        return HISTORY_CHANGED
    return ANSWER_SHORTENED if len(message.text) < len(content) else ANSWER_RESTORED
