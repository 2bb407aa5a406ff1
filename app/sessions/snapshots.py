"""What was counted of a long chat, kept beside a compaction: a cache, and nothing more.

Who opens a compacted chat would have to count all of it again, which takes a model without a
tokenizer of its own seconds. Counts are kept by the hash of what was counted and by all that tells
counters apart, so that one that is missing or out of place is made again.
"""

from collections.abc import Sequence

from app.state_db import Snapshot
from context.history.replay import read_path
from context.log.entries import Entry, MessageEntry, TransformEntry
from context.tokens import TokenCounter, count_message

__all__ = ["COMPACTION", "compaction_in", "counts_of", "recall_counts"]

COMPACTION = "compaction"


def compaction_in(path: Sequence[Entry]) -> int | None:
    """Return where the last compaction stands in a path; None where there is none."""
    places = [
        at
        for at, entry in enumerate(path)
        if isinstance(entry, TransformEntry) and entry.transformer_name == COMPACTION
    ]
    return places[-1] if places else None


def counts_of(path: tuple[Entry, ...], counter: TokenCounter) -> Snapshot:
    """Return what a counter finds in the messages of a path, nearly all of which it knows."""
    said = read_path(path, counter).messages
    return {_name(counter): {m.digest.hex(): count_message(m, counter) for m in said}}


def recall_counts(path: Sequence[Entry], snapshot: Snapshot, counter: TokenCounter) -> None:
    """Let the messages of a path know what was counted of them before."""
    known = snapshot.get(_name(counter))
    if not known:
        return
    for entry in path:
        if isinstance(entry, MessageEntry):
            tokens = known.get(entry.message.digest.hex())
            if tokens is not None:
                entry.message.token_counts.setdefault(counter, tokens)


def _name(counter: TokenCounter) -> str:
    overheads = f"{counter.message_overhead}+{counter.part_overhead}"
    return f"{counter.name}, {overheads}, {'exact' if counter.is_exact else 'guessed'}"
