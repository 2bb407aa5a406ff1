"""Continue an answer that broke off, in the same turn.

The log keeps the broken answer, a hidden message that asks the model for the rest, and the rest.
The transcript shows the two texts as one answer.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

from chains.request.session import SessionPort
from chains.turn_answer import Thinking
from context.history.tool_pairing import is_final
from context.history.turns import CONTINUATION, TurnEntry, is_continuation, list_turns
from context.log.entries import CustomMessageEntry, Entry, MessageEntry
from context.messages import Message, ReasoningPart

__all__ = [
    "BrokenAnswer",
    "find_broken_answer",
    "group_answers",
    "join_answer",
    "join_answers",
    "join_thinking",
    "store_continuation",
    "sum_seconds",
]

# The field of an answer's log entry that says how long the model thought before it.
THINKING_SECONDS: Final = "thinkingSeconds"
REQUEST: Final = (
    "Your last message broke off before it was finished. Continue it from exactly where it ended, "
    "in the same language and format. Begin with the next word. Do not repeat what you have "
    "written, and do not mention the interruption."
)
_UNSPACED: Final = "\u3040-\u30ff\u3400-\u9fff\uff00-\uffef"  # scripts without spaces
_NEEDS_NO_SPACE_AFTER: Final = re.compile(rf"[\s({{\[“‘/_{_UNSPACED}-]\Z")
_NEEDS_NO_SPACE_BEFORE: Final = re.compile(rf"[\s.,;:!?)}}\]”’/_{_UNSPACED}-]")


@dataclass(frozen=True)
class BrokenAnswer:
    """The last answer of a branch, which is incomplete.

    Attributes:
        entry: the id of its last log entry.
        text: the text that has arrived. It may be empty if the model has only called tools.
        seconds: how long the answer took, or None if it is unknown.
        model: the name of the model, or an empty string if it is unknown.
    """

    entry: str
    text: str
    seconds: float | None
    model: str


def find_broken_answer(path: Sequence[Entry]) -> BrokenAnswer | None:
    """Return the last answer of a branch if it is incomplete and not empty, otherwise None."""
    turns = list_turns(path)
    groups = tuple(group_answers(turns[-1].later_entries)) if turns and turns[-1].user else ()
    if not groups or isinstance(groups[-1], CustomMessageEntry):
        return None
    work = groups[-1]
    text, has_steps = join_answers(work), any(not is_final(entry.message) for entry in work)
    if _is_whole(work[-1]) or not (text.strip() or has_steps):
        return None
    model = next((entry.model for entry in reversed(work) if entry.model), "")
    return BrokenAnswer(work[-1].id, text, sum_seconds(work), model)


def store_continuation(session: SessionPort) -> None:
    """Store the hidden message that asks the model for the rest, unless the log ends with it."""
    last = session.path()[-1]
    if isinstance(last, CustomMessageEntry) and is_continuation(last):
        return  # Strata was closed before any of the rest arrived
    place, message = (session.new_id(), last.id, session.now()), Message("user", REQUEST)
    session.append([CustomMessageEntry(*place, CONTINUATION, message, display=False)])


def group_answers(
    entries: Sequence[TurnEntry],
) -> Iterator[CustomMessageEntry | tuple[MessageEntry, ...]]:
    """Yield the messages of each answer together, with their tool calls and results.

    An answer that was continued is one group. The messages of extensions are yielded in between.
    """
    work: list[MessageEntry] = []
    is_open = False
    for entry in entries:
        if isinstance(entry, MessageEntry):
            if work and not is_open:
                yield tuple(work)
                work = []
            work.append(entry)
            is_open = not is_final(entry.message)
        elif is_continuation(entry):
            is_open = True
        else:
            if work and not is_open:
                yield tuple(work)
                work = []
            yield entry
    if work:
        yield tuple(work)


def join_answer(before: str, rest: str) -> str:
    """Append the rest of an answer to the text before it, with a space if words would join."""
    if not before or not rest:
        return before + rest
    is_joined = _NEEDS_NO_SPACE_AFTER.search(before) or _NEEDS_NO_SPACE_BEFORE.match(rest)
    return before + rest if is_joined else f"{before} {rest}"


def join_answers(work: Sequence[MessageEntry]) -> str:
    """Return the text of one answer, whose messages may include tool calls and results."""
    texts = [entry.message.text for entry in work if is_final(entry.message)]
    return reduce(join_answer, texts, "")


def join_thinking(work: Iterable[Entry]) -> Thinking:
    """Return what the model thought for one answer, in all of its requests."""
    message_entries = [entry for entry in work if isinstance(entry, MessageEntry)]
    thoughts = [
        part.text.strip()
        for entry in message_entries
        if not isinstance(entry.message.content, str)
        for part in entry.message.content
        if isinstance(part, ReasoningPart) and part.text.strip()
    ]
    known = [entry.extra.get(THINKING_SECONDS) for entry in message_entries]
    seconds = [value for value in known if isinstance(value, int | float)]
    return Thinking("\n\n".join(thoughts), round(sum(seconds), 3) if seconds else None)


def sum_seconds(work: Sequence[MessageEntry]) -> float | None:
    """Return the duration of one answer with all its continuations, or None if it is unknown."""
    known = [entry.seconds for entry in work if is_final(entry.message) and entry.seconds]
    return round(sum(known), 3) if known and is_final(work[-1].message) else work[-1].seconds


def _is_whole(last: MessageEntry) -> bool:
    """Return whether an answer is complete, given its last message."""
    is_ended = is_final(last.message) and last.status not in ("interrupted", "error")
    return is_ended and not last.reason
