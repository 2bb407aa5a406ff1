"""Gather what the answer of a turn can rest on, from the log alone.

The log keeps each passage as it was sent, so that the check of an answer stays the same when notes
change. What a turn has changed is stored at its end, as hashes of the contents.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

from chains.claims.evidence import ClaimEvidence, EvidenceText
from chains.claims.report import TOOL_RESULT, YOUR_WORDS
from context.history.tool_pairing import list_tool_results
from context.history.turns import LoggedTurn, list_turns
from context.layers import Segment
from context.log.entries import Entry, MessageEntry, OtherEntry, TransformEntry
from context.messages import list_tool_calls
from vault.edits.plan import NoteChange
from vault.notes.kinds import note_name

__all__ = [
    "TurnSources",
    "build_changes_entry",
    "find_changes",
    "gather_evidence",
    "list_last_turns",
]

KIND: Final = "note_changes"
_EARLIER_ANSWER: Final = "an earlier answer"
_SUMMARY: Final = "the summary of this chat"
# How many turns before a turn its answer can rest on.
MOST_EARLIER: Final = 4
_NEW_TEXTS: Final = ("text", "new")
# Tools of other programs have the name of their server before it.
_FOREIGN: Final = "__"


@dataclass(frozen=True)
class TurnSources:
    """What was sent with a turn, beside its messages.

    Attributes:
        segments: the segments that were sent or that tools have read, in order.
        known: the user message, and the notes that are used as instructions.
        can_edit: whether the model had tools that change notes.
        changes: what the turn has changed, or None if that is not known.
    """

    segments: Sequence[Segment]
    known: str
    can_edit: bool = False
    changes: tuple[NoteChange[str], ...] | None = ()


def list_last_turns(path: Sequence[Entry]) -> tuple[LoggedTurn, ...]:
    """Return the last turn of a branch, and the turns before it that its answer can rest on."""
    start, left = len(path), MOST_EARLIER + 1
    while start and left:
        start -= 1
        entry = path[start]
        left -= isinstance(entry, MessageEntry) and entry.message.role == "user"
    return list_turns(path[start:])


def gather_evidence(
    turn: LoggedTurn, sources: TurnSources, earlier: Iterable[EvidenceText] = ()
) -> ClaimEvidence:
    """Gather the texts that the answer of a turn can rest on.

    Args:
        turn: the turn, as it is in the log.
        sources: what was sent with it.
        earlier: the texts of the turns before it and the summaries of the chat.
    """
    texts = [
        *map(EvidenceText.read, sources.segments),
        EvidenceText(sources.known, YOUR_WORDS, origin="user"),
        *_list_edits(turn),
        *_list_results(turn),
        *earlier,
    ]
    numbers = [part.number for part in sources.segments if part.number is not None]
    # The same passage is often sent with several turns.
    own = {(text.path, text.text): text for text in reversed(texts) if text.text.strip()}
    return ClaimEvidence(
        tuple(reversed(own.values())),
        sources.changes,
        sources.can_edit,
        _read_day(turn),
        tuple(dict.fromkeys(numbers)),
        is_complete=not _has_foreign_acts(turn),
        has_images=any(part.kind == "image" for part in sources.segments),
    )


def build_changes_entry(
    id: str, answer: str, timestamp: str, notes: Sequence[NoteChange[str]]
) -> OtherEntry:
    """Build the log entry of what a turn has changed.

    Args:
        id: the id of the new entry.
        answer: the id of the answer, which becomes the parent.
        timestamp: the time in UTC as ISO 8601.
        notes: the changes.
    """
    found = [
        {"path": n.path, "oldPath": n.old_path, "before": n.before, "after": n.after} for n in notes
    ]
    data = {"customType": KIND, "content": {"notes": found}}
    return OtherEntry(id, answer, timestamp, "custom", data)


def find_changes(log: Sequence[Entry]) -> dict[str | None, tuple[NoteChange[str], ...]]:
    """Return what turns have changed, by the ids of their answers."""
    found: dict[str | None, tuple[NoteChange[str], ...]] = {}
    for entry in log:
        if isinstance(entry, OtherEntry) and entry.data.get("customType") == KIND:
            notes = entry.content.get("notes")
            if isinstance(notes, tuple | list):
                found[entry.parent_id] = tuple(
                    _read_change(note) for note in notes if isinstance(note, Mapping)
                )
    return found


def _read_change(note: Mapping[str, Any]) -> NoteChange[str]:
    before, after = note.get("before"), note.get("after")
    return NoteChange(
        str(note.get("path", "")),
        str(note.get("oldPath", "")),
        before if isinstance(before, str) else None,
        after if isinstance(after, str) else None,
    )


def _list_edits(turn: LoggedTurn) -> Iterator[EvidenceText]:
    """Yield the texts that the calls of a turn wrote into notes."""
    failed = {
        part.tool_call_id
        for entry in turn.answers
        for part in list_tool_results(entry.message)
        if part.is_error
    }
    for entry in turn.answers:
        for call in list_tool_calls(entry.message):
            path = call.arguments.get("path")
            written = [str(call.arguments.get(name, "")) for name in _NEW_TEXTS]
            if isinstance(path, str) and any(written) and call.id not in failed:
                yield EvidenceText("\n".join(written), note_name(path), origin="edit")


def _list_results(turn: LoggedTurn) -> Iterator[EvidenceText]:
    for entry in turn.answers:
        for part in list_tool_results(entry.message):
            yield EvidenceText(part.content, TOOL_RESULT, origin="tool")


def list_summaries(path: Iterable[Entry]) -> Iterator[EvidenceText]:
    """Yield the summaries that compactions of a branch have stored."""
    for entry in path:
        if isinstance(entry, TransformEntry):
            for op in entry.patch:
                if op["op"] == "compaction_apply":
                    yield EvidenceText(str(op.get("summary", "")), _SUMMARY, origin="tool")


def list_turn_texts(turn: LoggedTurn) -> Iterator[EvidenceText]:
    """Yield what an earlier turn has sent and said. Its citation numbers do not hold any more."""
    for segment in turn.segments:
        yield EvidenceText.read(replace(segment, number=None))
    if turn.user is not None:
        yield EvidenceText(turn.user.message.text, YOUR_WORDS, origin="user")
    yield from _list_results(turn)
    for entry in turn.answers:
        if entry.message.role == "assistant":
            yield EvidenceText(entry.message.text, _EARLIER_ANSWER, origin="tool")


def _has_foreign_acts(turn: LoggedTurn) -> bool:
    """Return whether the tool of another program may have changed files in a turn."""
    reading = {
        part.tool_call_id
        for entry in turn.answers
        if entry.id in turn.read
        for part in list_tool_results(entry.message)
    }
    return any(
        _FOREIGN in call.name and call.id not in reading
        for entry in turn.answers
        for call in list_tool_calls(entry.message)
    )


def _read_day(turn: LoggedTurn) -> date | None:
    try:
        return None if turn.user is None else date.fromisoformat(turn.user.timestamp[:10])
    except ValueError:
        return None
