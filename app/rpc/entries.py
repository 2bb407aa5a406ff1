"""Serve requests about the entries of a chat: read them, mark them, switch between branches."""

from typing import Any

from pydantic import AliasChoices, Field

from app.assistant import Assistant
from app.rpc.jobs import Jobs
from app.rpc.requests import Handlers, Quick, RpcRequest, require_chat
from app.rpc.wire import Json
from app.sessions.abandoned_memory import find_abandoned_memories
from app.sessions.session import Session

__all__ = ["EntryRequests", "find_leaf"]


class GetEntries(RpcRequest):
    """Get the log entries of a chat.

    Attributes:
        path_only: whether to return only entries on the active path.
    """

    path_only: bool = False


class SelectLeaf(RpcRequest):
    """Switch a chat to another branch."""

    entry: str


class Label(RpcRequest):
    """Label an entry of a chat. An empty label removes the previous one."""

    target: str
    label: str


class Pin(RpcRequest):
    """Pin or unpin a message or segment.

    Attributes:
        target: the id of the message's entry or of the segment.
        on: true to pin, false to unpin.
    """

    target: str
    on: bool


class SendMessage(RpcRequest):
    """Add a message from another program to a chat, without calling a model.

    Attributes:
        custom_type: the program's name for this type of message.
        content: text, or a list of parts as in a user message.
        display: whether the transcript shows the message, or an object that says how.
    """

    custom_type: str = Field(validation_alias=AliasChoices("customType", "custom_type"))
    content: str | list[dict[str, Any]]
    display: bool | dict[str, Any] = True


class EntryRequests:
    """Serves the requests about the entries of a chat. Thread-safe.

    Attributes:
        handlers: how each of these requests is served, by its type.
    """

    def __init__(self, assistant: Assistant, jobs: Jobs) -> None:
        """Create the functions.

        Args:
            assistant: provides the chats.
            jobs: the running turns, whose chats are not changed.
        """
        self._assistant, self._jobs = assistant, jobs
        self.handlers: Handlers = {
            "get_entries": Quick(GetEntries, self._list),
            "label": Quick(Label, self._label),
            "pin": Quick(Pin, self._pin),
            "select_leaf": Quick(SelectLeaf, self._select_leaf),
            "send_message": Quick(SendMessage, self._send_message),
        }

    def _list(self, request: GetEntries) -> Json:
        chat = self._assistant.sessions.read(require_chat(request))
        entries = chat.path() if request.path_only else chat.log.entries
        return {
            "session": chat.id,
            "leaf": find_leaf(chat),
            "entries": [entry.to_dict() for entry in entries],
            "changed": self._assistant.history.list_changed_sources(chat.id),
            "claims": self._assistant.history.list_claims(chat.id),
        }

    def _label(self, request: Label) -> Json:
        session = self._jobs.require_free_chat(request)
        entry = self._assistant.branches.label(session, request.target, request.label)
        return {"session": session, "entry": entry}

    def _pin(self, request: Pin) -> Json:
        session = self._jobs.require_free_chat(request)
        self._assistant.branches.pin(session, request.target, request.on)
        return {"target": request.target, "on": request.on}

    def _send_message(self, request: SendMessage) -> Json:
        session = self._jobs.require_free_chat(request)
        message = request.custom_type, request.content, request.display
        entry = self._assistant.branches.send_message(session, *message)
        return {"session": session, "entry": entry}

    def _select_leaf(self, request: SelectLeaf) -> Json:
        session = self._jobs.require_free_chat(request)
        before = {entry.id for entry in self._assistant.sessions.read(session).path()}
        self._assistant.branches.select_leaf(session, request.entry)
        chat = self._assistant.sessions.read(session)
        left = find_abandoned_memories(chat, self._assistant.customization, before)
        memories = [memory.to_dict() for memory in left]
        return {"session": session, "leaf": find_leaf(chat), "abandoned": memories}


def find_leaf(chat: Session) -> str | None:
    """Return the id of the last entry on a chat's active path, or None if it is empty."""
    path = chat.path()
    return path[-1].id if path else None
