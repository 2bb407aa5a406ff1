"""Explain why messages of a request differ from those of the previous one.

The reasons are short clauses for the context report, such as "a turn was dropped".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from context.compaction import HEAD
from context.layers import Layer
from context.messages import Message

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


def explain_tail(earlier: object, question: Message) -> list[str]:
    """Return the reasons why the user message of a turn or its context changed.

    A user message without context is a plain string if the request has no tools, and a text part
    otherwise. This difference alone is not reported, because the changed tools already explain it.
    """
    before, now = _list_parts(earlier), _list_parts(question.to_dict())
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


def get_role(message: object) -> object:
    """Return the role of a message that is given as JSON, or None."""
    return message.get("role") if isinstance(message, Mapping) else None


def count_common(before: Sequence[object], now: Sequence[Message]) -> int:
    """Return how many messages, from the start, are equal in two requests."""
    same = 0
    for earlier, message in zip(before, now, strict=False):
        if not is_same(earlier, message):
            break
        same += 1
    return same


def is_same(earlier: object, message: Message) -> bool:
    """Return whether a message is equal to one that is given as JSON."""
    if not isinstance(earlier, Mapping) or earlier.get("role") != message.role:
        return False
    if isinstance(message.content, str):
        return bool(earlier.get("content") == message.content)
    return bool(earlier.get("content") == message.to_dict()["content"])


def explain_history(
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
    same = count_common(before, now)
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
    pairs = [pair for pair in zip(before, now, strict=True) if not is_same(*pair)]
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
    back = next((at for at, message in enumerate(now) if is_same(before[0], message)), 0)
    if same == 0 and gone:
        reasons = [_describe_drop(sum(get_role(message) == "user" for message in before[:gone]))]
        pairs = zip(before[gone:], now, strict=False)
    elif changes.dropped:
        return [_describe_drop(changes.dropped)]
    elif same == 0 and back:
        reasons = [TURNS_BACK]
        pairs = zip(before, now[back:], strict=False)
    else:
        reasons = [] if same < len(now) else [HISTORY_CHANGED]
        pairs = zip(before[same:], now[same:], strict=False)
    differing = (pair for pair in pairs if not is_same(*pair))
    reasons += (_explain_message(earlier, message) for earlier, message in differing)
    if changes.epoch_reasons:
        changed = (TURNS_BACK, HISTORY_CHANGED)
        known = (changes.epoch_reasons if r in changed else (r,) for r in reasons)
        return list(dict.fromkeys(reason for found in known for reason in found))
    return list(dict.fromkeys(reasons))


def _find_position(before: Sequence[object], message: Message) -> int:
    return next((at for at, earlier in enumerate(before) if is_same(earlier, message)), 0)


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
