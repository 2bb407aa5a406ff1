"""Serve requests about projects, and the web pages and transcripts that they keep."""

from collections.abc import Callable, Mapping

from app.assistant import Assistant
from app.project_overview import describe_project
from app.rpc import requests as asked
from app.rpc.wire import Json
from chains.cancel import CancelToken


class ProjectRequests:
    """Serves the requests about projects. Thread-safe.

    Attributes:
        slow: the functions for requests that may take long, by type.
        quick: the functions for the other requests, by type.
    """

    def __init__(self, assistant: Assistant) -> None:
        self._assistant, self._projects = assistant, assistant.projects
        self.slow: Mapping[type[asked.RpcRequest], Callable[..., Json]] = {
            asked.AddPage: self._add_page,
            asked.GetProject: self._describe,
            asked.RefreshPages: self._refresh_pages,
        }
        self.quick: Mapping[type[asked.RpcRequest], Callable[..., Json]] = {
            asked.AddProject: self._add,
            asked.ListProjects: self._list,
            asked.RemovePage: self._remove_page,
            asked.RemoveProject: self._remove,
            asked.RenameProject: self._rename,
            asked.SetProject: self._change,
        }

    def _list(self, _request: asked.ListProjects) -> Json:
        chats = self._assistant.list_sessions()
        folders = [chat.project_folder for chat in chats]
        found = self._projects.list()
        return {
            "projects": [{**one.to_dict(), "chats": folders.count(one.folder)} for one in found]
        }

    def _describe(self, request: asked.GetProject, _cancel: CancelToken) -> Json:
        return describe_project(self._assistant, self._find(request)).to_dict()

    def _add(self, request: asked.AddProject) -> Json:
        name = self._projects.add(request.project)
        return {"project": name, "title": self._projects.find_title(name)}

    def _remove(self, request: asked.RemoveProject) -> Json:
        name = self._projects.find_listed(request.project).name
        self._projects.remove(name)
        return {"project": name}

    def _rename(self, request: asked.RenameProject) -> Json:
        name = self._projects.find_listed(request.project).name
        self._projects.rename(name, request.title)
        return {"project": name, "title": self._projects.find_title(name)}

    def _change(self, request: asked.SetProject) -> Json:
        name, key, value = self._find(request), request.key, request.value
        if key == "instructions":
            text = value if isinstance(value, str) else "\n".join(value)
            self._projects.instructions(name).write(text)
        else:
            self._projects.change(name, key, value)
        return {"project": name, "key": key, "value": value}

    def _add_page(self, request: asked.AddPage, cancel: CancelToken) -> Json:
        store = self._projects.pages(self._find(request))
        return self._assistant.pages.add(store, request.address, cancel).to_dict()

    def _refresh_pages(self, request: asked.RefreshPages, cancel: CancelToken) -> Json:
        store = self._projects.pages(self._find(request))
        named = [self._assistant.pages.find(store, address) for address in request.addresses]
        found = self._assistant.pages.refresh_all(store, named or store.list(), cancel)
        return {"pages": [page.to_dict() for page in found]}

    def _remove_page(self, request: asked.RemovePage) -> Json:
        store = self._projects.pages(self._find(request))
        page = self._assistant.pages.find(store, request.address)
        store.remove(page)
        return page.to_dict()

    def _find(self, request: asked.ProjectRequest) -> str:
        return self._projects.find(request.project).name
