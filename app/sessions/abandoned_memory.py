"""Find long-term memories that a model added in a message which is not in the chat any more.

A memory belongs to all chats, so editing the message in which it was added leaves it where it is.
It may be wrong without that message. So the user is asked whether to remove it: "Remove this
memory?".
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.customize.memory import ALREADY_REMEMBERED
from app.errors import AppError
from context.fixes import Command
from context.history.tool_pairing import list_tool_results
from context.json_codec import Record
from context.log.entries import Entry, MessageEntry
from context.messages import ToolResultPart, list_tool_calls

if TYPE_CHECKING:
    from app.customize.customization import UserCustomization
    from app.sessions.session import Session

__all__ = ["AbandonedMemory", "find_abandoned_memories"]

_TOOL = "remember"
_MOST_SHOWN_CHARS = 200


@dataclass(frozen=True)
class AbandonedMemory(Record):
    """A long-term memory that was added in a message on an inactive branch of a chat.

    Attributes:
        number: the number of the memory in its note, counted from 1.
        text: the memory.
        entry: the log entry in which the model added it.
        project: the project whose memory it is, or None for the memories of all chats.
    """

    number: int
    text: str
    entry: str
    project: str | None

    @property
    def offer(self) -> str:
        """The sentences that offer to remove the memory, for the command line."""
        remove = Command("memory forget", (str(self.number),), self.project)
        return f"Remove this memory? {self.reason} {remove} removes it."

    @property
    def reason(self) -> str:
        """A sentence that says why it is asked whether to remove the memory."""
        text = self.text
        if len(text) > _MOST_SHOWN_CHARS:
            text = f"{text[: _MOST_SHOWN_CHARS - 1].rstrip()}…"
        return f"“{text}” was remembered in a message that was edited away."


def find_abandoned_memories(
    chat: "Session", customization: "UserCustomization", among: Collection[str] | None = None
) -> tuple[AbandonedMemory, ...]:
    """Return the memories that are still used and were added on inactive branches of a chat.

    They are in the order in which they can be removed by their numbers: the last one first. If the
    memories cannot be read, none are returned.

    Args:
        customization: provides the memories.
        among: the log entries to look at, or None for all.
    """
    if among is not None and not among:
        return ()
    path = {entry.id for entry in chat.path()}
    added: dict[str, str] = {}
    kept: set[str] = set()
    for entry, text, result in _list_calls(chat.log.entries):
        if entry not in path:
            if not result.is_error and (among is None or entry in among):
                added[text] = entry
        elif not result.is_error or ALREADY_REMEMBERED in result.content:
            kept.add(text)
    left = {text: entry for text, entry in added.items() if text not in kept}
    if not left:
        return ()
    project = chat.project
    try:
        known = customization.find_memories(project).list_memories()
    except AppError:
        return ()
    return tuple(
        AbandonedMemory(number, text, left[text], project)
        for number, text in reversed(list(enumerate(known, start=1)))
        if text in left
    )


def _list_calls(entries: Iterable[Entry]) -> Iterator[tuple[str, str, ToolResultPart]]:
    """Yield each completed call of the tool: its log entry, the memory, and the result."""
    open_calls: dict[str, Mapping[str, tuple[str, str]]] = {}  # at each log entry, by call id
    for entry in entries:
        calls = open_calls.get(entry.parent_id or "", {})
        if isinstance(entry, MessageEntry):
            for result in list_tool_results(entry.message):
                if (made := calls.get(result.tool_call_id)) is not None:
                    yield *made, result
            calls = {**calls, **_read_calls(entry)}
        open_calls[entry.id] = calls


def _read_calls(entry: MessageEntry) -> dict[str, tuple[str, str]]:
    """Return the log entry and the memory of each call of the tool in a message, by call id."""
    texts = {
        call.id: call.arguments.get("text")
        for call in list_tool_calls(entry.message)
        if call.name == _TOOL
    }
    return {
        id: (entry.id, " ".join(text.split()))
        for id, text in texts.items()
        if isinstance(text, str)
    }
