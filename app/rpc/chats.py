"""Serve requests about the list of chats and the bin."""

from pathlib import Path

from app.assistant import Assistant
from app.rpc.client import Client
from app.rpc.jobs import Jobs
from app.rpc.requests import Handlers, Quick, RpcRequest, Slow
from app.rpc.wire import Json
from app.sessions.search import search_chats
from app.sessions.session_info import ARCHIVED
from chains.cancel import CancelToken

__all__ = ["ChatRequests"]


class NewSession(RpcRequest):
    """Create a chat.

    Attributes:
        project: the project folder, which switches the mode to `project`, or None.
    """

    project: str | None = None


class OpenSession(RpcRequest):
    """Continue a chat."""

    session: str


class ListSessions(RpcRequest):
    """List the chats, the one used last first.

    Attributes:
        archived: whether to list the archived chats instead.
        bin: whether to list the deleted chats instead, the one deleted last first.
        project: the folder of the project whose chats are listed, or None for all chats.
    """

    archived: bool = False
    bin: bool = False
    project: str | None = None


class SearchSessions(RpcRequest):
    """Find texts in all chats, the newest first.

    Attributes:
        text: words, and phrases in double quotes.
        project: the folder of the project whose chats are searched, or None for all chats.
    """

    text: str
    project: str | None = None


class MoveSession(RpcRequest):
    """Move a chat to a project, or out of its project.

    Attributes:
        project: the folder of the project, or None for no project.
    """

    session: str
    project: str | None = None


class DeleteSession(RpcRequest):
    """Move a chat to the bin, from which it can be restored for thirty days.

    Attributes:
        now: whether to delete the chat for good instead, also one in the bin.
    """

    session: str
    now: bool = False


class RestoreSession(RpcRequest):
    """Put a deleted or archived chat back on the list of chats."""

    session: str


class EmptyBin(RpcRequest):
    """Delete all chats in the bin for good."""


class ChatRequests:
    """Serves the requests that begin, open, list, delete and restore chats. Thread-safe.

    Attributes:
        handlers: how each of these requests is served, by its type.
    """

    def __init__(self, assistant: Assistant, client: Client, jobs: Jobs) -> None:
        """Create the functions.

        Args:
            assistant: provides the chats.
            client: has the current chat.
            jobs: the running turns, whose chats are not deleted.
        """
        self._assistant, self._client, self._jobs = assistant, client, jobs
        self.handlers: Handlers = {
            "delete_session": Quick(DeleteSession, self._delete),
            "empty_bin": Quick(EmptyBin, self._empty_bin),
            "list_sessions": Quick(ListSessions, self._list),
            "move_session": Quick(MoveSession, self._move),
            "new_session": Quick(NewSession, self._begin),
            "open_session": Quick(OpenSession, self._open),
            "restore_session": Quick(RestoreSession, self._restore),
            "search_sessions": Slow(SearchSessions, self._search),
        }

    def _begin(self, request: NewSession) -> Json:
        named = request.project
        project = None if named is None else self._assistant.projects.add(named)
        return self._client.enter(self._client.begin_chat(project), project)

    def _open(self, request: OpenSession) -> Json:
        chat = self._assistant.sessions.read(request.session)
        return self._client.enter(chat.id, chat.project)

    def _list(self, request: ListSessions) -> Json:
        if request.bin:
            binned = self._assistant.sessions.bin.list_chats()
            return {"sessions": [chat.to_dict() for chat in binned]}
        chats = self._assistant.list_sessions()
        if (folder := self._find_folder(request.project)) is not None:
            chats = [chat for chat in chats if chat.project_folder == folder]
        shown = [chat.to_dict() for chat in chats if chat.archived == request.archived]
        return {"sessions": shown}

    def _search(self, request: SearchSessions, _cancel: CancelToken) -> Json:
        folder = self._find_folder(request.project)
        hits = search_chats(self._assistant.sessions, request.text, project=folder)
        return {"hits": [hit.to_dict() for hit in hits]}

    def _move(self, request: MoveSession) -> Json:
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

    def _delete(self, request: DeleteSession) -> Json:
        session, sessions = request.session, self._assistant.sessions
        self._jobs.require_free(session)
        binned = None if request.now else sessions.delete(session)
        if request.now:
            sessions.delete_for_good(session)
        self._client.leave(session)
        return {"session": session, "until": None if binned is None else binned.until}

    def _restore(self, request: RestoreSession) -> Json:
        session, sessions = request.session, self._assistant.sessions
        if sessions.bin.holds(session):
            sessions.bin.restore(session)
        else:
            self._assistant.branches.mark(session, ARCHIVED, False)
        return sessions.info(session).to_dict()

    def _empty_bin(self, _request: EmptyBin) -> Json:
        return {"sessions": list(self._assistant.sessions.bin.empty())}
