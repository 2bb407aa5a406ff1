"""Find what the patches since the previous request may have changed, to name their reasons."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from context.compaction import HEAD
from context.draft import RequestDraft
from context.envelope import SystemPart
from context.fit.cache_changes import Cause
from context.fit.differences import SUMMARY, Part
from context.log.entries import Entry, MessageEntry, TransformEntry
from context.messages import Message

_WHOLE: Final = frozenset({"tools_replace", "system_parts_replace", "messages_cached_replace"})


def find_causes(
    decided: Iterable[TransformEntry],
    path: Sequence[Entry],
    system: Sequence[SystemPart],
    draft: RequestDraft,
) -> tuple[Cause, ...]:
    """Return what each patch may have changed.

    Args:
        decided: the transforms since the previous request.
        path: the log entries of the active branch.
        system: the system text before any patch.
        draft: the request as it will be sent.
    """
    ops = [op for transform in decided for op in transform.patch]
    targets = {str(op.get("entryId")) for op in ops} | {one.id for one in decided}
    parts: dict[str, list[str]] = {}
    for part in (*system, *draft.preamble.system.parts):
        parts.setdefault(part.name, []).append(part.text)
    messages = _find_messages(targets, path, draft) if ops else {}
    return tuple(_make_cause(op, parts, messages) for op in ops if op.get("invalidateCacheReason"))


def _make_cause(
    op: Mapping[str, Any],
    parts: Mapping[str, Sequence[str]],
    messages: Mapping[str, Sequence[Message]],
) -> Cause:
    """Return what one operation may have changed.

    Args:
        op: the operation of a patch.
        parts: the texts of each part of the system message, before and after the patch.
        messages: the forms of each message that patches name, by the id of its log entry.
    """
    kind, reason = str(op.get("op")), str(op.get("invalidateCacheReason"))
    part = _find_part(kind)
    forms = [*messages.get(str(op.get("entryId")), ()), *_read_parts(op)]
    names = frozenset(map(str, op.get("toolNames", ())))
    if any(form.text.startswith(HEAD) for form in forms):
        names |= {SUMMARY}
    return Cause(
        part,
        reason,
        is_everything=kind in _WHOLE,
        is_compaction=kind == "compaction_apply",
        names=names,
        texts=tuple(parts.get(str(op.get("partName")), ())),
        messages=tuple(form.to_dict() for form in forms),
    )


def _find_part(kind: str) -> Part:
    if kind.startswith("tools"):
        return "tools"
    return "system" if kind.startswith(("system", "options")) else "messages"


def _read_parts(op: Mapping[str, Any]) -> Iterator[Message]:
    """Yield the message that an operation puts in the place of another one."""
    if (parts := op.get("parts")) is not None and op.get("op") == "message_replace":
        content = parts if isinstance(parts, str) else list(parts)
        yield Message.from_dict({"role": "user", "content": content})


def _find_messages(
    targets: set[str], path: Sequence[Entry], draft: RequestDraft
) -> dict[str, list[Message]]:
    """Return the forms of some messages, in the log and in the request, by their ids."""
    found: dict[str, list[Message]] = {}
    for entry in path:
        if isinstance(entry, MessageEntry) and entry.id in targets:
            found.setdefault(entry.id, []).append(entry.message)
    for message in draft.messages:
        if message.id in targets:
            found.setdefault(message.id, []).append(message)
    return found
