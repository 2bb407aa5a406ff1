"""Serve requests about projects, and the web pages and transcripts that they keep."""

from typing import Literal

from pydantic import Field

from app.assistant import Assistant
from app.project_overview import describe_project
from app.rpc.requests import Handlers, Quick, RpcRequest, Slow
from app.rpc.wire import Json
from chains.cancel import CancelToken


class ListProjects(RpcRequest):
    """List the projects."""


class ProjectRequest(RpcRequest):
    """A request about a project.

    Attributes:
        project: the folder of the project, relative to the vault or absolute.
    """

    project: str


class GetProject(ProjectRequest):
    """Get a project's texts, members and chats, and what L1 of a new chat holds."""


class AddProject(ProjectRequest):
    """Put a folder on the list of projects."""


class RemoveProject(ProjectRequest):
    """Take a project off the list. Its folder, chats and settings are kept."""


class RenameProject(ProjectRequest):
    """Give a project another title. An empty one restores the name of its folder."""

    title: str


class SetProject(ProjectRequest):
    """Change what a project uses.

    Attributes:
        key: what to change.
        value: a text, or for `include` and `exclude` a list of patterns.
    """

    key: Literal["instructions", "include", "exclude", "model"]
    value: str | list[str]


class AddPage(ProjectRequest):
    """Fetch a web page or read a transcript, and keep it for a project.

    Attributes:
        address: a web address, or the path of a .vtt, .srt or .txt file.
    """

    address: str


class RefreshPages(ProjectRequest):
    """Fetch the pages and transcripts that a project keeps again.

    Attributes:
        addresses: the addresses or ids of those to refresh, or an empty list for all.
    """

    addresses: list[str] = Field(default_factory=list)


class RemovePage(ProjectRequest):
    """Keep a web page or transcript no longer.

    Attributes:
        address: its address or id.
    """

    address: str


class ProjectRequests:
    """Serves the requests about projects. Thread-safe.

    Attributes:
        handlers: how each of these requests is served, by its type.
    """

    def __init__(self, assistant: Assistant) -> None:
        self._assistant, self._projects = assistant, assistant.projects
        self.handlers: Handlers = {
            "add_page": Slow(AddPage, self._add_page),
            "add_project": Quick(AddProject, self._add),
            "get_project": Slow(GetProject, self._describe),
            "list_projects": Quick(ListProjects, self._list),
            "refresh_pages": Slow(RefreshPages, self._refresh_pages),
            "remove_page": Quick(RemovePage, self._remove_page),
            "remove_project": Quick(RemoveProject, self._remove),
            "rename_project": Quick(RenameProject, self._rename),
            "set_project": Quick(SetProject, self._change),
        }

    def _list(self, _request: ListProjects) -> Json:
        chats = self._assistant.list_sessions()
        folders = [chat.project_folder for chat in chats]
        found = self._projects.list()
        return {
            "projects": [{**one.to_dict(), "chats": folders.count(one.folder)} for one in found]
        }

    def _describe(self, request: GetProject, _cancel: CancelToken) -> Json:
        return describe_project(self._assistant, self._find(request)).to_dict()

    def _add(self, request: AddProject) -> Json:
        name = self._projects.add(request.project)
        return {"project": name, "title": self._projects.find_title(name)}

    def _remove(self, request: RemoveProject) -> Json:
        name = self._projects.find_listed(request.project).name
        self._projects.remove(name)
        return {"project": name}

    def _rename(self, request: RenameProject) -> Json:
        name = self._projects.find_listed(request.project).name
        self._projects.rename(name, request.title)
        return {"project": name, "title": self._projects.find_title(name)}

    def _change(self, request: SetProject) -> Json:
        name, key, value = self._find(request), request.key, request.value
        if key == "instructions":
            text = value if isinstance(value, str) else "\n".join(value)
            self._projects.instructions(name).write(text)
        else:
            self._projects.change(name, key, value)
        return {"project": name, "key": key, "value": value}

    def _add_page(self, request: AddPage, cancel: CancelToken) -> Json:
        store = self._projects.pages(self._find(request))
        return self._assistant.pages.add(store, request.address, cancel).to_dict()

    def _refresh_pages(self, request: RefreshPages, cancel: CancelToken) -> Json:
        store = self._projects.pages(self._find(request))
        named = [self._assistant.pages.find(store, address) for address in request.addresses]
        found = self._assistant.pages.refresh_all(store, named or store.list(), cancel)
        return {"pages": [page.to_dict() for page in found]}

    def _remove_page(self, request: RemovePage) -> Json:
        store = self._projects.pages(self._find(request))
        page = self._assistant.pages.find(store, request.address)
        store.remove(page)
        return page.to_dict()

    def _find(self, request: ProjectRequest) -> str:
        return self._projects.find(request.project).name
