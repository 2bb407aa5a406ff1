"""Patches: changes to an envelope, described as data so that they can be stored and replayed.

An envelope is a complete request before it is rendered. A patch consists of operations. Every
operation on the cached messages must give a reason why it invalidates the provider's prompt cache.

Reasons: ARCHITECTURE.md, "Patches and hooks".
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeVar

from context.envelope import ContextEnvelope, Messages, System, SystemPart
from context.errors import ContextError, ContextPatchError
from context.messages import FrozenMapping, Message, ToolDefinition

__all__ = ["ContextPatchError", "PatchResult", "Phase", "apply_patch", "request_ops"]

Phase = Literal["before_request", "turn_end", "ephemeral"]
Op = Mapping[str, object]
Item = TypeVar("Item")

MESSAGE_OPS: Final = frozenset(
    {"messages_cached_replace", "message_replace", "message_hide", "compaction_apply"}
)
OPTION_NAMES: Final = ("reasoning", "temperature", "maxTokens")


@dataclass(frozen=True, slots=True)
class PatchResult:
    """An envelope after a patch, with the patch's effect on the provider's prompt cache.

    Attributes:
        cache_invalidated: whether any operation has the scope `cached`, even if it changed nothing.
        reasons: the reasons given by these operations, in order and without duplicates.
    """

    envelope: ContextEnvelope
    cache_invalidated: bool
    reasons: list[str] = field(default_factory=list)


def apply_patch(
    envelope: ContextEnvelope,
    ops: Sequence[Op],
    *,
    phase: Phase = "before_request",
    transformer_name: str = "",
    entry_id: str = "",
) -> PatchResult:
    """Validate all operations of a patch, apply them, and return the new envelope.

    Args:
        envelope: the envelope to patch. It is not modified.
        ops: the operations as JSON, applied in order.
        phase: the phase of the patch. Only an `ephemeral` patch may change uncached messages.
        transformer_name: the name of the patch's author, for error messages.
        entry_id: the id of the log entry that stores the patch. The ids of new messages are derived
            from it.

    Raises:
        ContextPatchError: when an operation is unknown, lacks its scope or reason, or names a
            message that does not exist.
    """
    for op in ops:
        _check(op, phase, transformer_name)
    newcomers = _MessageReader(entry_id)
    for op in ops:
        envelope = _apply(envelope, op, newcomers)
    cached = [op for op in ops if op["scope"] == "cached"]
    reasons = list(dict.fromkeys(str(op["invalidateCacheReason"]) for op in cached))
    return PatchResult(envelope, bool(cached), reasons)


def request_ops(ops: Sequence[Op]) -> tuple[Op, ...]:
    """Return the patch operations that change instructions, tools or options."""
    return tuple(op for op in ops if op["op"] not in MESSAGE_OPS)


def _check(op: Op, phase: Phase, transformer_name: str) -> None:
    if not isinstance(op, Mapping):
        raise ContextPatchError("A context patch op is a JSON object")
    name = op.get("op")
    if not isinstance(name, str) or name not in _APPLIERS:
        raise ContextPatchError(f'Unknown context patch op "{name}"')
    scope = "uncached" if name == "messages_uncached_append" else "cached"
    if op.get("scope") != scope:
        raise ContextPatchError(
            f'Context patch op "{name}" has the scope "{op.get("scope")}" instead of "{scope}"'
        )
    if scope == "uncached" and phase != "ephemeral":
        raise ContextPatchError(
            f'context({phase}) persisted patch from "{transformer_name}" '
            f'contained non-cached op "{name}"'
        )
    reason = op.get("invalidateCacheReason")
    if scope == "cached" and not (isinstance(reason, str) and reason.strip()):
        raise ContextPatchError(
            f'Context patch op "{name}" modifies cached content '
            "but did not provide invalidateCacheReason"
        )


def _apply(envelope: ContextEnvelope, op: Op, newcomers: "_MessageReader") -> ContextEnvelope:
    try:
        return _APPLIERS[str(op["op"])](envelope, op, newcomers)
    except ContextPatchError:
        raise
    except ContextError as error:
        raise ContextPatchError(
            f'Context patch op "{op["op"]}" is not readable: {error}'
        ) from error


class _MessageReader:
    """Reads the messages that a patch adds to a request.

    The ids of the new messages are derived from the id of the log entry that stores the patch.
    """

    def __init__(self, entry_id: str) -> None:
        self.entry_id = entry_id
        self._number = 0

    def read(self, op: Op) -> tuple[Message, ...]:
        """Read the messages of a patch operation. Messages without an id get a new one."""
        return tuple(self._name(message) for message in _each(op, "messages", Message.from_dict))

    def _name(self, message: Message) -> Message:
        number, self._number = self._number, self._number + 1
        if message.id is not None or not self.entry_id:
            return message
        return replace(message, id=f"{self.entry_id}:{number}")


def _system_part_set(envelope: ContextEnvelope, op: Op, _: _MessageReader) -> ContextEnvelope:
    part = SystemPart(_text(op, "partName"), _text(op, "text"))
    parts = envelope.system.parts
    if any(old.name == part.name for old in parts):
        parts = tuple(part if old.name == part.name else old for old in parts)
    else:
        parts = (*parts, part)
    return replace(envelope, system=System(parts))


def _system_part_remove(envelope: ContextEnvelope, op: Op, _: _MessageReader) -> ContextEnvelope:
    name = _text(op, "partName")
    parts = tuple(part for part in envelope.system.parts if part.name != name)
    return replace(envelope, system=System(parts))


def _system_parts_replace(envelope: ContextEnvelope, op: Op, _: _MessageReader) -> ContextEnvelope:
    return replace(envelope, system=System(_each(op, "parts", SystemPart.from_dict)))


def _tools_replace(envelope: ContextEnvelope, op: Op, _: _MessageReader) -> ContextEnvelope:
    return replace(envelope, tools=_each(op, "tools", ToolDefinition.from_dict))


def _tools_remove(envelope: ContextEnvelope, op: Op, _: _MessageReader) -> ContextEnvelope:
    names = op.get("toolNames")
    if not isinstance(names, list | tuple):
        raise _unfit(op, "toolNames")
    return replace(envelope, tools=tuple(tool for tool in envelope.tools if tool.name not in names))


def _messages_cached_replace(
    envelope: ContextEnvelope, op: Op, newcomers: _MessageReader
) -> ContextEnvelope:
    return _with_cached(envelope, newcomers.read(op))


def _messages_uncached_append(
    envelope: ContextEnvelope, op: Op, newcomers: _MessageReader
) -> ContextEnvelope:
    messages = envelope.messages
    uncached = (*messages.uncached, *newcomers.read(op))
    return replace(envelope, messages=replace(messages, uncached=uncached))


def _options_set(envelope: ContextEnvelope, op: Op, _: _MessageReader) -> ContextEnvelope:
    given = {name: op[name] for name in OPTION_NAMES if name in op}
    for name in ("temperature", "maxTokens"):
        if not _is_option_value(name, given.get(name)):
            raise _unfit(op, name)
    try:
        options = FrozenMapping({**envelope.options, **given})
    except TypeError as error:  # numbers were checked above
        raise _unfit(op, "reasoning") from error
    return replace(envelope, options=options)


def _is_option_value(name: str, value: object) -> bool:
    """Return whether the value of a request option is valid.

    None means that the option is not set. Other values must be finite numbers, and `maxTokens` must
    be a positive integer.
    """
    if value is None:
        return True
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if name == "maxTokens":
        return isinstance(value, int) and value > 0
    return math.isfinite(value)


def _message_replace(envelope: ContextEnvelope, op: Op, _: _MessageReader) -> ContextEnvelope:
    at = _position(envelope, op, "entryId")
    cached = envelope.messages.cached
    content = Message.from_dict({"role": cached[at].role, "content": op.get("parts")}).content
    changed = replace(cached[at], content=content)
    return _with_cached(envelope, (*cached[:at], changed, *cached[at + 1 :]))


def _message_hide(envelope: ContextEnvelope, op: Op, _: _MessageReader) -> ContextEnvelope:
    at = _position(envelope, op, "entryId")
    cached = envelope.messages.cached
    return _with_cached(envelope, (*cached[:at], *cached[at + 1 :]))


def _compaction_apply(
    envelope: ContextEnvelope, op: Op, newcomers: _MessageReader
) -> ContextEnvelope:
    summary = Message("user", _text(op, "summary"), newcomers.entry_id or None)
    kept = envelope.messages.cached[_first_kept(envelope, op) :]
    return _with_cached(envelope, (summary, *kept))


def _first_kept(envelope: ContextEnvelope, op: Op) -> int:
    if op.get("firstKeptEntryId") is not None:
        return _position(envelope, op, "firstKeptEntryId")
    index = op.get("firstKeptMessageIndex")
    if not isinstance(index, int) or isinstance(index, bool):
        raise _unfit(op, "firstKeptEntryId")
    if not 0 <= index <= len(envelope.messages.cached):
        raise _unfit(op, "firstKeptMessageIndex")
    return index


def _position(envelope: ContextEnvelope, op: Op, key: str) -> int:
    wanted = op.get(key)
    if isinstance(wanted, str):
        for at, message in enumerate(envelope.messages.cached):
            if message.id == wanted:
                return at
    raise ContextPatchError(f'Context patch op "{op["op"]}" names the unknown entry "{wanted}"')


def _with_cached(envelope: ContextEnvelope, cached: tuple[Message, ...]) -> ContextEnvelope:
    return replace(envelope, messages=Messages(cached, envelope.messages.uncached))


def _text(op: Op, key: str) -> str:
    value = op.get(key)
    if not isinstance(value, str):
        raise _unfit(op, key)
    return value


def _each(op: Op, key: str, read: Callable[[Op], Item]) -> tuple[Item, ...]:
    value = op.get(key)
    if not isinstance(value, list | tuple) or not all(isinstance(item, Mapping) for item in value):
        raise _unfit(op, key)
    return tuple(read(item) for item in value)


def _unfit(op: Op, key: str) -> ContextPatchError:
    return ContextPatchError(f'Context patch op "{op["op"]}" has no usable {key}')


_APPLIERS: Final[Mapping[str, Callable[[ContextEnvelope, Op, _MessageReader], ContextEnvelope]]] = {
    "system_part_set": _system_part_set,
    "system_part_remove": _system_part_remove,
    "system_parts_replace": _system_parts_replace,
    "tools_replace": _tools_replace,
    "tools_remove": _tools_remove,
    "messages_cached_replace": _messages_cached_replace,
    "messages_uncached_append": _messages_uncached_append,
    "options_set": _options_set,
    "message_replace": _message_replace,
    "message_hide": _message_hide,
    "compaction_apply": _compaction_apply,
}
