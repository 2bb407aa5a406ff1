"""A chat as it is read: what was asked, what was answered, what is no longer sent."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chains.citations import Citation, Unverified, check_citations
from context.entries import DropEntry, Entry, MessageEntry
from context.layers import Segment
from context.replay import Turn, turns
from context.view import is_final


@dataclass(frozen=True)
class UserItem:
    """What the user wrote.

    Attributes:
        entry: its place in the log.
        time: ISO 8601, UTC.
    """

    entry: str
    text: str
    time: str


@dataclass(frozen=True)
class AnswerItem:
    """An answer with the sources it was given.

    Attributes:
        status: complete, interrupted, limit or error.
        sources: what was sent with the question and can be cited by its number.
        seconds: from the question to the end of the answer; None where it cannot be told.
    """

    entry: str
    text: str
    time: str
    model: str
    status: str
    citations: tuple[Citation, ...]
    unverified: tuple[Unverified, ...]
    sources: tuple[Segment, ...]
    seconds: float | None


@dataclass(frozen=True)
class DroppedItem:
    """The turns above this line are not sent any more.

    Attributes:
        turns: how many they are.
        tokens: what leaving them out saves.
    """

    turns: int
    tokens: int
    reason: str


TranscriptItem = UserItem | AnswerItem | DroppedItem


@dataclass(frozen=True)
class Transcript:
    """A whole chat, from its first message to its last."""

    title: str
    items: tuple[TranscriptItem, ...]


def build_transcript(
    title: str, path: Sequence[Entry], report: Mapping[str, Any] | None
) -> Transcript:
    """Return a chat as it is read.

    Args:
        title: what the list calls it.
        path: its active path.
        report: the *Context* of its last request, which says what that left out; where it is gone
            the log's own note of the last cut is used.
    """
    divider, boundary = _dropped(path, report)
    items: list[TranscriptItem] = []
    for turn in turns(path):
        if divider is not None and boundary in turn.entry_ids:
            items.append(divider)
        items.extend(_items(turn))
    return Transcript(title, tuple(items))


def _items(turn: Turn) -> Iterator[UserItem | AnswerItem]:
    if turn.user is not None:
        yield UserItem(turn.user.id, turn.user.message.text, turn.user.timestamp)
    for answer in turn.answers:
        if is_final(answer.message):
            yield _answer(turn, answer)


def _answer(turn: Turn, answer: MessageEntry) -> AnswerItem:
    text = answer.message.text
    question = "" if turn.user is None else turn.user.message.text
    checked = check_citations(text, turn.segments, question)
    return AnswerItem(
        entry=answer.id,
        text=text,
        time=answer.timestamp,
        model=answer.model or "",
        status=answer.status or "complete",
        citations=checked.citations,
        unverified=checked.unverified,
        sources=tuple(part for part in turn.segments if part.number is not None),
        seconds=None if turn.user is None else _seconds(turn.user.timestamp, answer.timestamp),
    )


def _seconds(start: str, end: str) -> float | None:
    try:
        seconds = (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
    except (ValueError, TypeError):  # a time that was edited by hand, or has no zone
        return None
    return seconds if seconds >= 0 else None


def _dropped(
    path: Sequence[Entry], report: Mapping[str, Any] | None
) -> tuple[DroppedItem | None, str]:
    """Return the line that stands above the oldest turn that is still sent, and that turn's entry.

    Turns leave from the oldest on, so that one line says it for all of them.
    """
    if report is None:
        return _dropped_by_log(path)
    left_out = [item for item in report["dropped"] if item["layer"] == "L4" and item["turns"]]
    gone = {entry for item in left_out for entry in item["entries"]}
    kept = [turn for turn in turns(path) if not gone.intersection(turn.entry_ids)]
    if not left_out or not kept:
        return None, ""
    item = DroppedItem(
        turns=sum(item["turns"] for item in left_out),
        tokens=sum(item["tokens"] for item in left_out),
        reason=str(left_out[-1]["reason"]),
    )
    return item, kept[0].entry_ids[0]


def _dropped_by_log(path: Sequence[Entry]) -> tuple[DroppedItem | None, str]:
    cuts = [entry for entry in path if isinstance(entry, DropEntry)]
    if not cuts:
        return None, ""
    cut = cuts[-1]
    above = [entry.id for entry in path]
    above = above[: above.index(cut.up_to_entry_id)] if cut.up_to_entry_id in above else []
    n_turns = sum(1 for turn in turns(path) if turn.entry_ids[0] in above)
    item = DroppedItem(n_turns, max(0, cut.tokens_before - cut.tokens_after), cut.reason)
    return item, cut.up_to_entry_id
