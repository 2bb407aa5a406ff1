"""Serve requests about what models are told beside the notes: memories, AGENTS.md, skills."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from app.assistant import Assistant
from app.customize.memory import MemoryNote
from app.errors import NotFound
from app.library.instructions import Decision
from app.rpc.requests import Handlers, Quick, RpcRequest, require_chat
from app.rpc.wire import Json
from app.sessions.abandoned_memory import find_abandoned_memories
from context.history.memory import read_memory

__all__ = ["CustomizationRequests"]

_DECISIONS: Final[Mapping[str, Decision]] = {"accept": "accepted", "refuse": "refused"}


class GetMemory(RpcRequest):
    """Get the memory of a chat: scratchpad, progress and facts."""


class SetMemory(RpcRequest):
    """Change the memory of a chat. Parts that are not given stay as they are."""

    scratchpad: str | None = None
    progress: dict[str, Any] | None = None
    facts: list[str] | None = None


class ListMemories(RpcRequest):
    """List the long-term memories of all chats, or of a project.

    Attributes:
        project: the folder of the project, or None for the memories of all chats.
    """

    project: str | None = None


class ForgetMemory(RpcRequest):
    """Remove a long-term memory.

    Attributes:
        number: the number of the memory in the list, counted from 1.
        project: the folder of the project, or None for the memories of all chats.
    """

    number: int
    project: str | None = None


class Instructions(RpcRequest):
    """Show the AGENTS.md of the vault or of a project, or decide whether models are given it.

    Attributes:
        action: what to do.
        project: the folder of the project, or None for the vault.
    """

    action: Literal["show", "accept", "refuse"] = "show"
    project: str | None = None


class SkillsRequest(RpcRequest):
    """List the skills that an agent may read, or decide about a skill of the notes.

    Attributes:
        action: what to do.
        name: the skill that is shown, accepted or refused.
        digest: the digest that was shown to the user, or None for the present one.
        project: the folder of the project, or None.
    """

    action: Literal["list", "show", "accept", "refuse"] = "list"
    name: str = ""
    digest: str | None = None
    project: str | None = None


class CustomizationRequests:
    """Serves the requests about memories, instructions and skills. Thread-safe.

    Attributes:
        handlers: how each of these requests is served, by its type.
    """

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self.handlers: Handlers = {
            "forget_memory": Quick(ForgetMemory, self._forget_memory),
            "get_memory": Quick(GetMemory, self._read_memory),
            "instructions": Quick(Instructions, self._decide),
            "list_memories": Quick(ListMemories, self._list_memories),
            "set_memory": Quick(SetMemory, self._set_memory),
            "skills": Quick(SkillsRequest, self._decide_skill),
        }

    def _read_memory(self, request: GetMemory) -> Json:
        session = require_chat(request)
        chat = self._assistant.sessions.read(session)
        left = find_abandoned_memories(chat, self._assistant.customization)
        return {
            "session": session,
            "memory": read_memory(chat.path()).to_dict(),
            "abandoned": [memory.to_dict() for memory in left],
        }

    def _set_memory(self, request: SetMemory) -> Json:
        session = require_chat(request)
        memory = read_memory(self._assistant.sessions.read(session).path())
        changed = memory.with_parts(request.scratchpad, request.progress, request.facts)
        self._assistant.branches.set_memory(session, changed)
        return {"session": session, "memory": changed.to_dict()}

    def _list_memories(self, request: ListMemories) -> Json:
        return {"memories": self._find_memories(request.project).list_memories()}

    def _forget_memory(self, request: ForgetMemory) -> Json:
        note = self._find_memories(request.project)
        note.forget(request.number)
        return {"memories": note.list_memories()}

    def _find_memories(self, named: str | None) -> MemoryNote:
        project = None if named is None else self._assistant.projects.find_name(named)
        return self._assistant.customization.find_memories(project)

    def _decide(self, request: Instructions) -> Json:
        named, customization = request.project, self._assistant.customization
        project = None if named is None else self._assistant.projects.find_name(named)
        found = customization.instructions(project)
        if found is None:
            raise NotFound("There is no AGENTS.md that a model may be given.")
        if request.action != "show":
            customization.decide(found.digest, _DECISIONS[request.action], project)
            found = customization.instructions(project) or found
        state = found.decision or "undecided"
        return {"path": found.path, "digest": found.digest, "state": state, "text": found.text}

    def _decide_skill(self, request: SkillsRequest) -> Json:
        named, skills = request.project, self._assistant.customization.skills
        project = None if named is None else self._assistant.projects.find_name(named)
        if request.action == "list":
            return {"skills": [skill.to_dict() for skill in skills.list(project)]}
        if request.action == "show":
            skill = skills.find(request.name, project)
        else:
            decision = _DECISIONS[request.action]
            skill = skills.decide(request.name, decision, request.digest, project)
        return skill.to_full_dict()
