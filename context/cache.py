"""How a request continues the previous one: what a provider's prompt cache can reuse, and why not.

A provider reuses the beginning that two requests have in common, in the order of tools,
instructions, messages. From turn to turn that beginning should only grow; wherever it does not,
there is a reason.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from context.draft import Draft
from context.frozen import compact_json
from context.layers import Layer
from context.messages import Message
from context.report import Prefix
from context.tokens import count_message

TOOLS_CHANGED: Final = "the tools changed"
INSTRUCTIONS_CHANGED: Final = "the instructions changed"
TURNS_BACK: Final = "earlier turns came back"
ANSWER_SHORTENED: Final = "an answer was shortened"
ANSWER_RESTORED: Final = "a shortened answer came back whole"
HISTORY_CHANGED: Final = "the history was changed"


@dataclass(frozen=True, slots=True)
class Continuation:
    """The prefix for the report, and which layers were reused."""

    prefix: Prefix
    reused: frozenset[Layer] = frozenset()


def continuation(
    draft: Draft, previous: Mapping[str, object] | None, newly_dropped: int
) -> Continuation:
    """Compare a request with the previous one on its path.

    Args:
        draft: the request as it will be sent.
        previous: the previous request's neutral body; `None` for the first request.
        newly_dropped: how many turns leave with this request.
    """
    digest = prefix_hash(draft)
    if previous is None:
        return Continuation(Prefix(digest))
    before = _Before(previous)
    messages = (*draft.history_messages, draft.tail.message)
    same = _common(before.messages, messages)
    same_tools = before.tools == [tool.to_dict() for tool in draft.preamble.tools]
    same_system = before.system == draft.preamble.system.compiled
    reasons = [] if same_tools else [TOOLS_CHANGED]
    if not same_system:
        reasons.append(INSTRUCTIONS_CHANGED)
    if same < before.stable:
        gone = before.messages[: before.stable]
        reasons.append(_why(gone, draft.history_messages, same, newly_dropped))
    reused = _reused(draft, same_tools, same_system, 0 if same < before.stable else same)
    tokens = sum(draft.layers[layer] for layer in reused if layer is not Layer.L4)
    if same_tools and same_system:
        tokens += sum(count_message(message, draft.tail.counter) for message in messages[:same])
    return Continuation(Prefix(digest, tokens, bool(reasons), tuple(reasons)), reused)


def prefix_hash(draft: Draft) -> str:
    """Return a hash of tools, instructions and history that changes when their bytes do."""
    tools = [tool.to_dict() for tool in draft.preamble.tools]
    before = compact_json([tools, draft.preamble.system.compiled])
    digest = hashlib.sha256(before.encode("utf-8", "surrogatepass"))
    for message in draft.history_messages:
        digest.update(message.digest)
    return digest.hexdigest()


def message_body(message: Message) -> dict[str, object]:
    """Return a message as it goes on the wire, which knows no entry ids."""
    data = message.to_dict()
    return {"role": data["role"], "content": data["content"]}


class _Before:
    """The previous request, as far as it is compared."""

    def __init__(self, body: Mapping[str, object]) -> None:
        messages = body.get("messages")
        self.tools = body.get("tools")
        self.system = body.get("system")
        self.messages: list[object] = list(messages) if isinstance(messages, list | tuple) else []
        asked = [at for at, message in enumerate(self.messages) if _role(message) == "user"]
        # What stands before the last question was history; the question itself had a tail.
        self.stable = asked[-1] if asked else len(self.messages)


def _reused(draft: Draft, same_tools: bool, same_system: bool, same: int) -> frozenset[Layer]:
    candidates = (
        (Layer.T, same_tools),
        (Layer.L1, same_tools and same_system),
        (Layer.L4, same_tools and same_system and same > 0),
    )
    return frozenset(layer for layer, holds in candidates if holds and draft.layers[layer])


def _role(message: object) -> object:
    return message.get("role") if isinstance(message, Mapping) else None


def _common(before: Sequence[object], now: Sequence[Message]) -> int:
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
    return bool(earlier.get("content") == message_body(message)["content"])


def _why(before: Sequence[object], now: Sequence[Message], same: int, newly_dropped: int) -> str:
    """Name what happened to the history, from how the two differ."""
    gone = _position(before, now[0]) if now else len(before)
    if same == 0 and gone:
        return _dropped(sum(_role(message) == "user" for message in before[:gone]))
    if newly_dropped:
        return _dropped(newly_dropped)
    if same == 0 and any(_is_same(before[0], message) for message in now):
        return TURNS_BACK
    return _changed_message(before[same], now[same]) if same < len(now) else HISTORY_CHANGED


def _position(before: Sequence[object], message: Message) -> int:
    return next((at for at, earlier in enumerate(before) if _is_same(earlier, message)), 0)


def _dropped(turns: int) -> str:
    return "a turn was dropped" if turns == 1 else f"{turns} turns were dropped"


def _changed_message(earlier: object, message: Message) -> str:
    content = earlier.get("content") if isinstance(earlier, Mapping) else None
    if message.role != "assistant" or not isinstance(content, str):
        return HISTORY_CHANGED
    half = min(len(content), len(message.text)) // 2
    if content[:half] != message.text[:half]:
        return HISTORY_CHANGED
    return ANSWER_SHORTENED if len(message.text) < len(content) else ANSWER_RESTORED
