"""Gather what there is to know about a project: its texts, members, chats, and what L1 holds.

The window's project page, `strata project show` and the RPC request `get_project` show this.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.assistant import Assistant
from app.errors import AppError, describe
from app.library.project_pages import ProjectPage
from app.library.projects import ProjectSettings
from app.sessions.session_info import SessionInfo
from chains.cancel import CancelToken
from chains.request.ask import Ask
from chains.request.project import PAGE_ID
from chains.tokenizer import load_counter
from context.errors import ContextOverflow
from context.json_codec import Record
from vault.errors import VaultError

__all__ = ["KeptPage", "L1Part", "ProjectNote", "ProjectOverview", "describe_project"]


@dataclass(frozen=True)
class ProjectNote(Record):
    """A note of a project.

    Attributes:
        path: the path in the project.
        tokens: the tokens of its text as counted for the index.
        l1_tokens: its tokens in the system message, or 0 if its text is not in it.
    """

    path: str
    tokens: int
    l1_tokens: int = 0


@dataclass(frozen=True)
class KeptPage(Record):
    """A web page or transcript that the project keeps, with its tokens.

    Attributes:
        page: the page.
        tokens: the tokens of its text.
        l1_tokens: its tokens in the system message, or 0 if its text is not in it.
    """

    page: ProjectPage
    tokens: int
    l1_tokens: int = 0

    json_shape = (
        "id = page.id",
        "address = page.address",
        "kind = page.kind",
        "title = page.title",
        "fetched = page.fetched",
        "changed = page.changed",
        "problem = page.problem",
        "version = page.version",
        "size = page.size",
        "is_changed = page.is_changed",
        "tokens",
        "l1_tokens",
    )


@dataclass(frozen=True)
class L1Part(Record):
    """A part of the system message of the next request in a new chat of a project.

    Attributes:
        id: the name of the part, such as `project_instructions`.
        source: the file, folder or address that it comes from, or an empty string.
    """

    id: str
    source: str
    tokens: int


@dataclass(frozen=True)
class ProjectOverview(Record):
    """Everything about a project.

    Attributes:
        name: the name in chats: the path relative to the vault, or an absolute path.
        title: the name that is shown.
        folder: the folder of the project.
        instructions: the user's instructions for the project.
        settings: the patterns and the model.
        memories: the long-term memories of the project.
        notes: the notes of the project, most recently changed first.
        pages: the web pages and transcripts that the project keeps.
        chats: the chats of the project, most recently used first.
        l1: the parts of the system message of a new chat.
        l1_tokens: the tokens of the whole system message.
        budget: the tokens that a request may have.
        problem: why the notes and L1 are not known, or an empty string.
    """

    name: str
    title: str
    folder: Path
    instructions: str
    settings: ProjectSettings
    memories: tuple[str, ...]
    chats: tuple[SessionInfo, ...]
    pages: tuple[KeptPage, ...] = ()
    notes: tuple[ProjectNote, ...] = ()
    l1: tuple[L1Part, ...] = ()
    l1_tokens: int = 0
    budget: int = 0
    problem: str = ""

    json_shape = (
        "project = name",
        "title",
        "folder",
        "instructions",
        "include = settings.include",
        "exclude = settings.exclude",
        "model = settings.model",
        "memories",
        "notes",
        "pages",
        "chats",
        "l1 = l1_sizes",
        "problem",
    )

    @property
    def l1_sizes(self) -> dict[str, object]:
        """The parts of the system message with their sum and the tokens that a request may have."""
        return {"tokens": self.l1_tokens, "budget": self.budget, "parts": self.l1}


def describe_project(assistant: Assistant, name: str) -> ProjectOverview:
    """Gather everything about a project. No page is fetched, and no note is sent.

    The index is updated first, as before a question.

    As for any preview of a request, a server may be asked for the limit of its model.

    Args:
        assistant: provides the projects and chats, and prepares the request.
        name: the name of the project.

    Raises:
        InvalidRequest: the project's settings file or its memories are damaged.
    """
    projects, folder = assistant.projects, assistant.projects.find_folder(name)
    report, notes, problem = _measure(assistant, name)
    sent = {row["id"]: row["tokens"] for row in report.get("segments", ()) if row["layer"] == "L1"}
    by_path = {row["source"]: row["tokens"] for row in report.get("segments", ())}
    counter = load_counter(projects.settings(name).model or assistant.settings.values.chat_model)
    kept = projects.pages(name).list()
    return ProjectOverview(
        name,
        projects.find_title(name),
        folder,
        projects.instructions(name).read().text,
        projects.settings(name),
        assistant.customization.find_memories(name).list_memories(),
        tuple(chat for chat in assistant.list_sessions() if chat.project_folder == folder),
        tuple(
            KeptPage(page, counter.count(page.text), sent.get(f"{PAGE_ID}{page.id}", 0))
            for page in kept
        ),
        tuple(ProjectNote(shown, tokens, by_path.get(path, 0)) for path, shown, tokens in notes),
        tuple(_list_parts(report)),
        report["layers"]["L1"]["tokens"] if report else 0,
        report.get("budget", 0),
        problem,
    )


def _measure(
    assistant: Assistant, name: str
) -> tuple[Mapping[str, Any], list[tuple[str, str, int]], str]:
    """Prepare the first request of a new chat in a project.

    Return its report, the path, the shown path and the tokens of each note, and why they are not
    known.
    """
    try:
        vault = assistant.projects.open(name)
        # A folder outside of the vault is not watched, and is indexed here like before a question.
        deque(assistant.projects.open_library(name).freshen(CancelToken(), []), maxlen=0)
        sizes = vault.count_tokens()
        files = vault.list_newest()
        notes = [(file.path, file.relative, sizes.get(file.path, 0)) for file in files]
        prepared = assistant.runner.prepare_next(None, Ask("", "project", project=name))
        return prepared.report.to_dict(), notes, ""
    except (AppError, ContextOverflow, VaultError) as error:
        return {}, [], describe(error).message


def _list_parts(report: Mapping[str, Any]) -> Iterator[L1Part]:
    sources = {row["id"]: row["source"] for row in report.get("segments", ())}
    for part in report["parts"]["L1"] if report else ():
        yield L1Part(part["name"], sources.get(part["name"], ""), part["tokens"])
