"""Serve requests about notes, and about what is kept beside the chats.

They do what the window offers in *Look after your notes*, *Save as note*, *Related notes*, the
memory of a chat, and the list of calls that left the computer.
"""

from collections.abc import Callable, Mapping
from typing import Final

from app.assistant import Assistant
from app.customize.memory import MemoryNote
from app.errors import NotFound, VaultNotChosen
from app.library.instructions import Decision
from app.library.known_vaults import list_vaults
from app.library.library import Library
from app.library.review import find_finding, review_with
from app.rpc import requests as asked
from app.rpc.wire import Json
from app.sessions.abandoned_memory import find_abandoned_memories
from chains.cancel import CancelToken
from context.history.memory import read_memory
from context.json_codec import encode
from vault.review.findings import FindingFilter

_DECISIONS: Final[Mapping[str, Decision]] = {"accept": "accepted", "refuse": "refused"}


class NoteRequests:
    """Serves the requests about notes. Thread-safe.

    Attributes:
        slow: the functions for requests that may take long, by type.
        quick: the functions for the other requests, by type.
    """

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self.slow: Mapping[type[asked.RpcRequest], Callable[..., Json]] = {
            asked.Review: self._review,
            asked.ListFixes: self._list_fixes,
            asked.FixFinding: self._fix,
            asked.Related: self._find_related,
            asked.Table: self._compute_table,
            asked.SaveNote: self._save_note,
            asked.CheckUpdates: self._check_updates,
        }
        self.quick: Mapping[type[asked.RpcRequest], Callable[..., Json]] = {
            asked.ListCalls: self._list_calls,
            asked.GetSpending: self._show_spending,
            asked.ListVaults: self._list_vaults,
            asked.ForgetMemory: self._forget_memory,
            asked.GetMemory: self._read_memory,
            asked.ListMemories: self._list_memories,
            asked.SetMemory: self._set_memory,
            asked.Instructions: self._decide,
            asked.SkillsRequest: self._decide_skill,
            asked.TickTask: self._tick,
        }

    def _review(self, request: asked.Review, cancel: CancelToken) -> Json:
        review = self._assistant.find_review(request.project)
        which = FindingFilter(frozenset(request.kinds), request.folder)
        return review_with(review, cancel, which, request.dismiss, request.restore).to_dict()

    def _list_fixes(self, request: asked.ListFixes, cancel: CancelToken) -> Json:
        review = self._assistant.find_review(request.project)
        finding = find_finding(review, cancel, request.key)
        fixes = self._assistant.build_fixes(request.project).list_fixes(finding)
        return {"key": finding.key, "fixes": [fix.to_dict() for fix in fixes]}

    def _fix(self, request: asked.FixFinding, cancel: CancelToken) -> Json:
        review = self._assistant.find_review(request.project)
        finding = find_finding(review, cancel, request.key)
        return self._assistant.build_fixes(request.project).apply(finding, request.choice).to_dict()

    def _find_related(self, request: asked.Related, _cancel: CancelToken) -> Json:
        found = self._assistant.find_related(request.path, request.k, request.project)
        return {"path": request.path, "notes": encode(found)}

    def _compute_table(self, request: asked.Table, _cancel: CancelToken) -> Json:
        blocks = self._assistant.compute_views(request.path, view=request.view, most=request.k)
        return {"path": request.path, "blocks": encode(blocks)}

    def _save_note(self, request: asked.SaveNote, _cancel: CancelToken) -> Json:
        saved = self._assistant.save_note(asked.require_chat(request), request.entry, request.path)
        return saved.to_dict()

    def _tick(self, request: asked.TickTask) -> Json:
        edits = self._assistant.user_edits
        return edits.toggle_task(request.path, request.line, request.version).to_dict()

    def _list_calls(self, _request: asked.ListCalls) -> Json:
        return {"calls": self._assistant.ledger.list_calls()}

    def _show_spending(self, _request: asked.GetSpending) -> Json:
        return self._assistant.spending.summarise().to_dict()

    def _check_updates(self, _request: asked.CheckUpdates, cancel: CancelToken) -> Json:
        return self._assistant.look_for_update(cancel).to_dict()

    def _list_vaults(self, _request: asked.ListVaults) -> Json:
        return {"vaults": list_vaults(self._assistant.settings.values.vault_path)}

    def _read_memory(self, request: asked.GetMemory) -> Json:
        session = asked.require_chat(request)
        chat = self._assistant.sessions.read(session)
        left = find_abandoned_memories(chat, self._assistant.customization)
        return {
            "session": session,
            "memory": read_memory(chat.path()).to_dict(),
            "abandoned": [memory.to_dict() for memory in left],
        }

    def _set_memory(self, request: asked.SetMemory) -> Json:
        session = asked.require_chat(request)
        memory = read_memory(self._assistant.sessions.read(session).path())
        changed = memory.with_parts(request.scratchpad, request.progress, request.facts)
        self._assistant.branches.set_memory(session, changed)
        return {"session": session, "memory": changed.to_dict()}

    def _list_memories(self, request: asked.ListMemories) -> Json:
        return {"memories": self._find_memories(request.project).list_memories()}

    def _forget_memory(self, request: asked.ForgetMemory) -> Json:
        note = self._find_memories(request.project)
        note.forget(request.number)
        return {"memories": note.list_memories()}

    def _find_memories(self, named: str | None) -> MemoryNote:
        project = None if named is None else self._assistant.projects.find_name(named)
        return self._assistant.customization.find_memories(project)

    def _decide(self, request: asked.Instructions) -> Json:
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

    def _decide_skill(self, request: asked.SkillsRequest) -> Json:
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

    def _require_library(self) -> Library:
        if self._assistant.library is None:
            raise VaultNotChosen
        return self._assistant.library
