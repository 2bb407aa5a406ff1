"""Regenerate an answer with the segments that were originally sent.

Sources that have changed since are updated: attached notes are sent in their current version, and
deleted or excluded sources are omitted.
"""

import html
from collections.abc import Iterable, Sequence
from dataclasses import replace

from chains.events import Warned
from chains.request.session import SessionPort
from chains.request.turn import Turn
from chains.retrieval.attachments import warn_of_blindness
from context.assemble.attachments import CurrentSource
from context.errors import BadInputs
from context.history.turns import list_turns
from context.layers import Layer, Segment
from context.log.entries import Entry, MessageEntry, SegmentsEntry

__all__ = ["find_last_question", "find_sent_segments", "redraft_turn"]

_AS_SENT = ("passage", "selection")


def find_last_question(path: Sequence[Entry]) -> tuple[tuple[Entry, ...], MessageEntry]:
    """Find the last user message, to regenerate its answer.

    Returns:
        The path without the answer, and the user message.

    Raises:
        BadInputs: the path has no user message.
    """
    for at in range(len(path) - 1, -1, -1):
        entry = path[at]
        if isinstance(entry, MessageEntry) and entry.message.role == "user":
            return (*path[:at], *_take_until_answer(path[at:])), entry
    raise BadInputs("Nothing was asked in this chat yet.")


def find_sent_segments(session: SessionPort) -> tuple[Segment, ...]:
    """Return the segments that were sent with the last user message."""
    path = session.path()
    _, question = find_last_question(path)
    return list_turns(path[-_count_entries(path, question.turn_id) :])[-1].segments


def redraft_turn(turn: Turn) -> tuple[Turn, tuple[Warned, ...]]:
    """Draft the last turn again, to regenerate its answer.

    The segments stay unchanged if the state of their sources cannot be found out.

    Returns:
        The drafted turn, and a warning for each source that is left out.

    Raises:
        BadInputs: the session has no user message.
    """
    session, resolve = turn.session, turn.resolve
    path = session.path()
    _, question = find_last_question(path)
    turn = replace(turn, id=question.turn_id, user_message=question, is_logged=True)
    if resolve is None:
        return turn, ()
    sent = find_sent_segments(session)
    found = [(segment, resolve(segment)) for segment in sent]
    if all(now.state == "same" for _, now in found):
        return turn, ()
    own = [(segment, now) for segment, now in found if segment.layer is Layer.L3]
    kept = tuple(_refresh(segment, now) for segment, now in own if _is_available(now))
    lost = dict.fromkeys(
        segment.source for segment, now in own if now.state in ("gone", "excluded")
    )
    unseen = sum(now.state in ("unseen", "unsure") for _, now in own)
    segments = SegmentsEntry(session.new_id(), path[-1].id, session.now(), turn.id, kept)
    warnings = [Warned(f"{source} is gone or excluded by now and is left out.") for source in lost]
    if unseen:
        warnings.append(warn_of_blindness(turn.model, unseen))
    return replace(turn, segments_entry=segments), tuple(warnings)


def _take_until_answer(entries: Iterable[Entry]) -> list[Entry]:
    found: list[Entry] = []
    for entry in entries:
        if isinstance(entry, MessageEntry) and entry.message.role != "user":
            break
        found.append(entry)
    return found


def _count_entries(path: Sequence[Entry], turn: str) -> int:
    """Count the log entries from the first one of a turn to the end of the path."""
    first = next(at for at, entry in enumerate(path) if getattr(entry, "turn_id", None) == turn)
    return len(path) - first


def _is_available(now: CurrentSource) -> bool:
    return now.state in ("same", "changed")


def _refresh(segment: Segment, now: CurrentSource) -> Segment:
    if now.state == "same" or segment.kind in _AS_SENT or segment.derived:
        return segment
    lines = (1, max(1, now.text.removesuffix("\n").count("\n") + 1))
    content = html.escape(now.text, quote=False)
    return replace(segment, content=content, version=now.version, lines=lines)
