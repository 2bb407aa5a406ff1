"""A question that is answered anew: what was sent with it, as that stands now.

Segments are kept as they were sent, unless something has become of their sources since: an attached
note that changed is read at its present version, and what is gone or excluded by now is left out.
"""

import html
from collections.abc import Iterable, Sequence
from dataclasses import replace

from chains.request.request import ChatPort, DraftedTurn
from context.assemble.attachments import Resolve, SourceNow
from context.errors import BadInputs
from context.history.turns import turns
from context.layers import Layer, Segment
from context.log.entries import Entry, MessageEntry, SegmentsEntry

__all__ = ["asked_last", "redraft_turn"]

_AS_SENT = ("passage", "selection")


def asked_last(path: Sequence[Entry]) -> tuple[tuple[Entry, ...], DraftedTurn]:
    """Return the last question of a path as a drafted turn, and the path up to its answer.

    Raises:
        BadInputs: nothing was asked yet.
    """
    for at in range(len(path) - 1, -1, -1):
        entry = path[at]
        if isinstance(entry, MessageEntry) and entry.message.role == "user":
            asked = DraftedTurn(entry.turn_id, entry, None, is_stored=True, is_again=True)
            return (*path[:at], *_before_the_answer(path[at:])), asked
    raise BadInputs("Nothing was asked in this chat yet.")


def redraft_turn(chat: ChatPort, resolve: Resolve | None) -> tuple[DraftedTurn, tuple[str, ...]]:
    """Make the entries for another answer to the question that a path ends with.

    Args:
        resolve: says what has become of what was sent along; without it that stays as it was.

    Returns:
        The turn, and one sentence for each source that is left out.

    Raises:
        BadInputs: nothing was asked yet.
    """
    path = chat.path()
    _, asked = asked_last(path)
    sent = turns(path[-_entries_of(path, asked.turn) :])[-1].segments
    if resolve is None:
        return asked, ()
    found = [(segment, resolve(segment)) for segment in sent]
    if all(now.state == "same" for _, now in found):
        return asked, ()
    own = [(segment, now) for segment, now in found if segment.layer is Layer.L3]
    kept = tuple(_refreshed(segment, now) for segment, now in own if _is_there(now))
    lost = dict.fromkeys(segment.source for segment, now in own if not _is_there(now))
    segments = SegmentsEntry(chat.new_id(), path[-1].id, chat.now(), asked.turn, kept)
    warnings = (f"{source} is gone or excluded by now and is left out." for source in lost)
    return replace(asked, segments=segments), tuple(warnings)


def _before_the_answer(entries: Iterable[Entry]) -> list[Entry]:
    found: list[Entry] = []
    for entry in entries:
        if isinstance(entry, MessageEntry) and entry.message.role != "user":
            break
        found.append(entry)
    return found


def _entries_of(path: Sequence[Entry], turn: str) -> int:
    """Count the entries at the end of a path from the first one of a turn on."""
    first = next(at for at, entry in enumerate(path) if getattr(entry, "turn_id", None) == turn)
    return len(path) - first


def _is_there(now: SourceNow) -> bool:
    return now.state in ("same", "changed")


def _refreshed(segment: Segment, now: SourceNow) -> Segment:
    if now.state == "same" or segment.kind in _AS_SENT or segment.derived:
        return segment
    lines = (1, max(1, now.text.removesuffix("\n").count("\n") + 1))
    content = html.escape(now.text, quote=False)
    return replace(segment, content=content, version=now.version, lines=lines)
