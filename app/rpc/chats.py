"""Serve requests about the list of chats, the bin, and the entries of a chat."""

from collections.abc import Callable, Mapping
from pathlib import Path

from app.assistant import Assistant
from app.rpc import requests as asked
from app.rpc.jobs import Jobs
from app.rpc.wire import Json
from app.sessions.abandoned_memory import find_abandoned_memories
from app.sessions.search import search_chats
from app.sessions.session_info import ARCHIVED
from chains.cancel import CancelToken


class ChatRequests:
    """Serves the requests that list, delete, restore and mark chats. Thread-safe.

    Attributes:
        slow: the functions for requests that may take long, by type.
        quick: the functions for the other requests, by type.
    """

    def __init__(self, assistant: Assistant, jobs: Jobs, forget: Callable[[str], None]) -> None:
        """Create the functions.

        Args:
            assistant: provides the chats.
            jobs: the running turns, whose chats are not deleted.
            forget: called with the id of a chat that is no longer on the list.
        """
        self._assistant, self._jobs, self._forget = assistant, jobs, forget
        self.slow: Mapping[type[asked.RpcRequest], Callable[..., Json]] = {
            asked.GetPastContext: self._show_past,
            asked.ListPassages: self._list_passages,
            asked.SearchSessions: self._search,
        }
        self.quick: Mapping[type[asked.RpcRequest], Callable[..., Json]] = {
            asked.DeleteSession: self._delete,
            asked.EmptyBin: self._empty_bin,
            asked.Label: self._label,
            asked.ListSessions: self._list,
            asked.MoveSession: self._move,
            asked.Pin: self._pin,
            asked.RestoreSession: self._restore,
            asked.SelectLeaf: self._select_leaf,
            asked.SendMessage: self._send_message,
        }

    def _list(self, request: asked.ListSessions) -> Json:
        if request.bin:
            binned = self._assistant.sessions.bin.list_chats()
            return {"sessions": [chat.to_dict() for chat in binned]}
        chats = self._assistant.list_sessions()
        if (folder := self._find_folder(request.project)) is not None:
            chats = [chat for chat in chats if chat.project_folder == folder]
        shown = [chat.to_dict() for chat in chats if chat.archived == request.archived]
        return {"sessions": shown}

    def _show_past(self, request: asked.GetPastContext, cancel: CancelToken) -> Json:
        machine, chat = self._assistant.time_machine, asked.require_chat(request)
        is_full = request.format == "full"
        if request.when == "diff":
            return machine.compare(chat, request.entry, cancel).to_dict()
        if request.when == "today":
            return machine.show_today(chat, request.entry, cancel).to_dict(is_full=is_full)
        return machine.show_then(chat, request.entry).to_dict(is_full=is_full)

    def _list_passages(self, request: asked.ListPassages, _cancel: CancelToken) -> Json:
        texts = self._assistant.kept_passages
        removed = texts.remove_deleted() if request.purge else 0
        return {**texts.describe().to_dict(), "removed": removed}

    def _search(self, request: asked.SearchSessions, _cancel: CancelToken) -> Json:
        folder = self._find_folder(request.project)
        hits = search_chats(self._assistant.sessions, request.text, project=folder)
        return {"hits": [hit.to_dict() for hit in hits]}

    def _move(self, request: asked.MoveSession) -> Json:
        session, named, projects = request.session, request.project, self._assistant.projects
        self._jobs.require_free(session)
        vault = self._assistant.sessions.read(session).header.vault
        project = None if named is None else projects.name_for_chat(named, vault)
        if named is not None:
            projects.add(named)
        self._assistant.branches.move_to_project(session, project)
        return self._assistant.sessions.info(session).to_dict()

    def _find_folder(self, named: str | None) -> Path | None:
        projects = self._assistant.projects
        return None if named is None else projects.find_folder(projects.find_name(named))

    def _delete(self, request: asked.DeleteSession) -> Json:
        session, sessions = request.session, self._assistant.sessions
        self._jobs.require_free(session)
        binned = None if request.now else sessions.delete(session)
        if request.now:
            sessions.delete_for_good(session)
        self._forget(session)
        return {"session": session, "until": None if binned is None else binned.until}

    def _restore(self, request: asked.RestoreSession) -> Json:
        session, sessions = request.session, self._assistant.sessions
        if sessions.bin.holds(session):
            sessions.bin.restore(session)
        else:
            self._assistant.branches.mark(session, ARCHIVED, False)
        return sessions.info(session).to_dict()

    def _empty_bin(self, _request: asked.EmptyBin) -> Json:
        return {"sessions": list(self._assistant.sessions.bin.empty())}

    def _label(self, request: asked.Label) -> Json:
        session = self._jobs.require_free_chat(request)
        entry = self._assistant.branches.label(session, request.target, request.label)
        return {"session": session, "entry": entry}

    def _pin(self, request: asked.Pin) -> Json:
        session = self._jobs.require_free_chat(request)
        self._assistant.branches.pin(session, request.target, request.on)
        return {"target": request.target, "on": request.on}

    def _send_message(self, request: asked.SendMessage) -> Json:
        session = self._jobs.require_free_chat(request)
        message = request.custom_type, request.content, request.display
        entry = self._assistant.branches.send_message(session, *message)
        return {"session": session, "entry": entry}

    def _select_leaf(self, request: asked.SelectLeaf) -> Json:
        session = self._jobs.require_free_chat(request)
        before = {entry.id for entry in self._assistant.sessions.read(session).path()}
        self._assistant.branches.select_leaf(session, request.entry)
        chat = self._assistant.sessions.read(session)
        left = find_abandoned_memories(chat, self._assistant.customization, before)
        memories = [memory.to_dict() for memory in left]
        path = chat.path()
        leaf = path[-1].id if path else None
        return {"session": session, "leaf": leaf, "abandoned": memories}
