"""Edit the summary of an earlier compaction, without compacting again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from context.assemble.apply_hooks import link_entries
from context.assemble.inputs import Ports
from context.assemble.request import Request
from context.compaction import HEAD
from context.errors import SummaryFailed
from context.fit.compact_session import read_history
from context.fit.summaries import check_length, compute_list_size, compute_summary_size
from context.history.outline import find_chat_note, format_summary, remove_head
from context.history.replay import replay_path
from context.log.entries import Entry, PinEntry, TransformEntry
from context.messages import Message
from context.tokens import count_message

__all__ = [
    "NOT_SENT",
    "SUMMARY_EDIT",
    "SummaryChange",
    "edit_summary",
    "find_edited_summaries",
    "find_last_change",
]

SUMMARY_EDIT: Final = "summary_edit"
NOT_SENT: Final = "This summary is not sent any more, so it cannot be edited."
_EDITED: Final = "the summary was edited"


@dataclass(frozen=True)
class SummaryChange:
    """A change of a summary that the user can undo.

    Attributes:
        before: the text of the summary before it. It is the same as after it if a message was
            pinned.
        pinned: the id of a message that the summary replaces and that was pinned, or an empty
            string.
    """

    before: str
    pinned: str = ""


def edit_summary(request: Request, compaction: str, text: str) -> None:
    """Append a log entry that replaces the text of a summary in all later requests.

    The line that says how to read what the summary replaces stays. The log entry of the compaction
    stays unchanged. Nothing is appended if the text is the same.

    Args:
        request: a new request, except that its path may also end with an answer.
        compaction: the id of the compaction's log entry.
        text: the new text.

    Raises:
        SummaryFailed: when requests no longer contain this summary, or the text is empty or too
            long.
    """
    path, ports = request.path, request.ports
    shown = replay_path(path, request.counter).messages
    old = next((message for message in shown if message.id == compaction), None)
    op = _find_operation(path, compaction)
    if old is None or op is None:
        raise SummaryFailed(NOT_SENT)
    written = format_summary(remove_head(text))
    new = Message("user", f"{written}{find_chat_note(old.text)}", compaction)
    if new.content == old.content:
        return
    before, after = (count_message(message, request.counter) for message in (old, new))
    history_budget = read_history(request)[1].history_budget
    most = compute_summary_size(history_budget) + compute_list_size(history_budget)
    most = max(before, most)
    check_length(text, after, min(most, _read_count(op, "tokensBefore", most) - 1))
    sent = _read_count(op, "tokensAfter", before) + after - before
    entry = _make_entry(ports, compaction, new, _read_count(op, "tokensBefore", sent), sent)
    ports.append(link_entries((entry,), path[-1].id))


def find_edited_summaries(path: Sequence[Entry]) -> dict[str, Mapping[str, object]]:
    """Return the last edit of each edited summary, by the id of the compaction's log entry.

    An edit is a patch operation. `parts` contains the summary, and `tokensAfter` the token count of
    the history after the edit.
    """
    return {str(op.get("entryId")): op for op in _list_edits(path)}


def find_last_change(path: Sequence[Entry], compaction: str) -> SummaryChange | None:
    """Return the newest change of a summary that was not undone, or None if there is none.

    Args:
        path: the log entries of the active branch, oldest first.
        compaction: the id of the compaction's log entry.
    """
    ids = [entry.id for entry in path]
    op = _find_operation(path, compaction)
    if op is None:
        return None
    at = ids.index(compaction)
    text, replaced = remove_head(str(op.get("summary", ""))), frozenset(ids[:at])
    changes: list[SummaryChange] = []
    for entry in path[at + 1 :]:
        if isinstance(entry, PinEntry) and entry.target in replaced:
            changes = [one for one in changes if one.pinned != entry.target]
            changes += [SummaryChange(text, entry.target)] if entry.on else []
        for edit in _list_edits((entry,)):
            if edit.get("entryId") == compaction:
                before, text = text, remove_head(str(edit.get("parts", "")))
                is_undone = bool(changes) and changes[-1] == SummaryChange(text)
                changes = changes[:-1] if is_undone else [*changes, SummaryChange(before)]
    return changes[-1] if changes else None


def _list_edits(path: Sequence[Entry]) -> Iterator[Mapping[str, object]]:
    for entry in path:
        if isinstance(entry, TransformEntry) and entry.transformer_name == SUMMARY_EDIT:
            yield from entry.patch


def _find_operation(path: Sequence[Entry], compaction: str) -> Mapping[str, object] | None:
    """Return a copy of the patch operation of a compaction, or None if there is none.

    If the summary was edited, `tokensAfter` in the copy is the token count of the history after the
    last edit.

    Args:
        path: the log entries of the active branch, oldest first.
        compaction: the id of the compaction's log entry.
    """
    edited = find_edited_summaries(path).get(compaction, {})
    for entry in path:
        for op in entry.patch if isinstance(entry, TransformEntry) else ():
            if entry.id == compaction and op.get("op") == "compaction_apply":
                return {**op, "tokensAfter": edited.get("tokensAfter", op.get("tokensAfter"))}
    return None


def _read_count(op: Mapping[str, object], name: str, default: int) -> int:
    value = op.get(name)
    return value if isinstance(value, int) else default


def _make_entry(
    ports: Ports, compaction: str, new: Message, before_tokens: int, after_tokens: int
) -> TransformEntry:
    op: dict[str, object] = {
        "op": "message_replace",
        "scope": "cached",
        "invalidateCacheReason": _EDITED,
        "entryId": compaction,
        "parts": new.content,
        "tokensAfter": after_tokens,
    }
    figures = f"{before_tokens:,} → {after_tokens:,} tokens"
    markdown = new.text.removeprefix(f"{HEAD}\n")
    display = {"title": "Summary edited", "summary": figures, "markdown": markdown}
    return TransformEntry(ports.new_id(), None, ports.now(), SUMMARY_EDIT, (op,), display)
