"""The RPC server: requests on standard input, responses and events on standard output.

```
standard input ─ requests.parse ─ RPC ─ Assistant
                                   └─ jobs.Jobs ─ wire.Wire ─ standard output
```

Quick requests are answered in order. Long requests run in threads, so that an `abort` request can
be read in the meantime.
"""

import os
import sys
from collections import ChainMap
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from functools import partial
from typing import Final

from app.assistant import Assistant
from app.errors import InvalidRequest, NotFound, describe
from app.library.library import IndexFinished
from app.rpc import requests as asked
from app.rpc.backup import BackupRequests
from app.rpc.chats import ChatRequests
from app.rpc.jobs import Jobs, explain
from app.rpc.notes import NoteRequests
from app.rpc.pinned import PinnedRequests
from app.rpc.projects import ProjectRequests
from app.rpc.wire import Json, Wire
from app.sessions.request_history import NO_ENTRY_NEXT
from chains.cancel import CancelToken
from chains.errors import CannotRead
from chains.events import CompactionEnded, Event, MessageEnded, Mode
from chains.model import warm_up
from chains.models import EXTRACTIVE
from chains.request.ask import Ask
from chains.tool import Decision, KeptHunks, Verdict
from chains.tools.approval_desk import ApprovalDesk
from context.fixes import Command, Fix
from context.json_codec import encode, encode_record
from context.report.markdown import envelope_markdown, report_markdown
from vault.indexing.indexer import IndexProgress, IndexReport

TIME_TO_SAVE_S: Final = 10.0
_DECISIONS: Final[Mapping[str, Decision]] = {
    "allow": "once",
    "allow_session": "session",
    "deny": "reject",
}


def serve_standard_streams(assistant: Assistant) -> None:
    """Serve requests from standard input until it ends.

    The output of libraries is redirected to standard error.
    """
    sys.stdout.flush()
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with out:
        RPC(assistant, out.write).serve(_read_lines())


def _read_lines() -> Iterator[bytes]:
    """Yield the lines of standard input, truncating overlong ones."""
    source = sys.stdin.buffer
    while line := source.readline(asked.LONGEST_LINE):
        yield line
        while len(line) == asked.LONGEST_LINE and not line.endswith(b"\n"):
            line = source.readline(asked.LONGEST_LINE)


class RPC:
    """Serves one client, and keeps its current chat, mode and model."""

    def __init__(self, assistant: Assistant, write: Callable[[bytes], object]) -> None:
        """Create the server, which has no current chat at first.

        Args:
            assistant: runs the requests.
            write: writes a line of output, or raises `OSError` if the client has disconnected.
        """
        self._assistant = assistant
        self._wire = Wire(write)
        self._approvals = ApprovalDesk()
        assistant.agents.connect(self._approvals)
        self._jobs = Jobs(self._wire, self._approvals)
        self._session: str | None = None
        self._mode: Mode = "vault"
        self._model: str | None = None
        self._turns: Mapping[type[asked.RpcRequest], Callable[..., Generator[Event]]] = {
            asked.PromptRequest: self._prompt,
            asked.Edit: self._edit,
            asked.Regenerate: self._regenerate,
        }
        self._pinned = PinnedRequests(assistant, self._wire)
        groups = (
            NoteRequests(assistant),
            ProjectRequests(assistant),
            ChatRequests(assistant, self._jobs, self._forget),
            BackupRequests(assistant, self._wire),
            self._pinned,
        )
        self._slow: Mapping[type[asked.RpcRequest], Callable[..., Json]] = {
            **ChainMap(*(dict(group.slow) for group in groups)),
            asked.Compact: self._compact,
            asked.GetContext: self._context,
            asked.Search: self._search,
            asked.Index: self._index,
        }
        self._quick: Mapping[type[asked.RpcRequest], Callable[..., Json]] = {
            **ChainMap(*(dict(group.quick) for group in groups)),
            asked.Abort: self._abort,
            asked.Approve: self._approve,
            asked.GetEntries: self._entries,
            asked.GetState: self._state,
            asked.NewSession: self._new_session,
            asked.OpenSession: self._open_session,
            asked.SetAutoCompaction: self._set_auto_compaction,
            asked.SetMode: self._set_mode,
            asked.SetModel: self._set_model,
            asked.SetSetting: self._set_setting,
            asked.Undo: self._undo,
        }

    def serve(self, lines: Iterable[bytes]) -> None:
        """Serve the requests in the given lines, then cancel all running requests.

        While serving, changes in the vault are watched and indexed.
        """
        if self._assistant.library is not None:
            self._assistant.library.watch(self._tell_of_changes)
            self._pinned.follow_days()
        try:
            for line in lines:
                if line.strip() and not self._take(line):
                    break
        finally:
            self._pinned.close()
            self._jobs.stop(TIME_TO_SAVE_S)

    def _forget(self, session: str) -> None:
        """Have no current chat if it is this one, which was deleted."""
        if self._session == session:
            self._session = None

    def _tell_of_changes(self, report: IndexReport) -> None:
        done = IndexProgress("done", total=report.notes, done=report.notes)
        self._wire.event("index_progress", None, None, encode(done))
        if report.is_complete:
            self._pinned.follow_notes()

    def _take(self, line: bytes) -> bool:
        """Handle one request, and return whether the server should read another one."""
        try:
            request = asked.parse(line)
        except asked.UnreadableRequest as problem:
            self._wire.refuse(problem.id, problem.command, describe(problem.error))
            return True
        if isinstance(request, asked.Shutdown):
            self._jobs.stop(TIME_TO_SAVE_S)
            self._wire.respond(request.id, request.type, {})
            return False
        try:
            chat = self._session if request.session is None else request.session
            self._carry_out(request.model_copy(update={"session": chat}))
        except Exception as error:  # noqa: BLE001 (reported, and logged if it is a bug)
            self._wire.refuse(request.id, request.type, explain(error))
        return True

    def _carry_out(self, request: asked.RpcRequest) -> None:
        kind = type(request)
        if kind in self._turns:
            self._begin_turn(request)
        elif kind in self._slow:
            chat = self._jobs.require_free_chat(request) if kind is asked.Compact else None
            work = partial(self._slow[kind], request)
            self._jobs.start(request.id, request.type, work, chat)
        else:
            self._wire.respond(request.id, request.type, self._quick[kind](request))

    def _begin_turn(self, request: asked.RpcRequest) -> None:
        """Start a turn, and respond once the user message is stored."""
        if request.session is None and isinstance(request, asked.PromptRequest):
            session = self._assistant.sessions.begin(self._vault)
        else:
            session = self._jobs.require_free_chat(request)

        def accept(stored: Event) -> None:
            assert isinstance(stored, MessageEnded)
            self._session = session
            data = {"turn": stored.turn, "session": session}
            self._wire.respond(request.id, request.type, data)

        events = partial(self._turns[type(request)], request, session)
        self._jobs.start_turn(request.id, session, events, accept)

    def _prompt(
        self, request: asked.PromptRequest, session: str, cancel: CancelToken
    ) -> Generator[Event]:
        question = Ask(
            request.text,
            mode=request.mode or self._mode,
            model=self._model,
            session=session,
            attach=tuple(request.attach),
            parent=request.parent,
            reads_whole=request.read_whole,
        )
        return self._assistant.ask(question, cancel)

    def _edit(self, request: asked.Edit, session: str, cancel: CancelToken) -> Generator[Event]:
        return self._assistant.edit(session, request.entry, request.text, cancel, model=self._model)

    def _regenerate(
        self, request: asked.Regenerate, session: str, cancel: CancelToken
    ) -> Generator[Event]:
        return self._assistant.regenerate(session, request.entry, cancel, model=self._model)

    def _abort(self, request: asked.Abort) -> Json:
        if request.request is not None:
            return {"aborted": self._jobs.abort_request(request.request)}
        return {"aborted": self._jobs.abort(request.session)}

    def _approve(self, request: asked.Approve) -> Json:
        id = request.approval_id
        if not (
            self._approvals.is_open(id) and self._approvals.answer(id, self._read_verdict(request))
        ):
            raise InvalidRequest(f"Nothing waits for the approval {id}.")
        return {"approval_id": id, "decision": request.decision}

    def _read_verdict(self, request: asked.Approve) -> Verdict:
        decision, hunks = _DECISIONS[request.decision], request.hunks
        if hunks is None:
            return decision
        count = self._approvals.count_hunks(request.approval_id)
        if decision != "once" or not hunks or not set(hunks) <= set(range(count)):
            raise InvalidRequest(
                f"approve: hunks lists numbers of the {count} hunks of the request, from 0, at "
                "least one, and goes with the decision allow."
            )
        return KeptHunks(frozenset(hunks))

    def _new_session(self, request: asked.NewSession) -> Json:
        named = request.project
        project = None if named is None else self._assistant.projects.add(named)
        self._session = self._assistant.sessions.begin(self._vault, project)
        return self._enter(self._session, project)

    def _open_session(self, request: asked.OpenSession) -> Json:
        chat = self._assistant.sessions.read(request.session)
        self._session = chat.id
        return self._enter(chat.id, chat.project)

    def _enter(self, session: str, project: str | None) -> Json:
        """Make a chat the current one, and return the response.

        A chat with a project is continued in the mode `project`. For any other chat, the mode
        `project` is changed to `vault`.
        """
        if project is not None:
            self._mode = "project"
        elif self._mode == "project":
            self._mode = "vault"
        self._warm_up()
        return {"session": session}

    def _warm_up(self) -> None:
        """Load the model libraries before the first question arrives."""
        if (self._model or self._assistant.settings.values.chat_model) != EXTRACTIVE:
            warm_up()

    def _undo(self, request: asked.Undo) -> Json:
        is_named = request.run is not None or request.edit is not None
        session = None if is_named else self._jobs.require_free_chat(request)
        edits = self._assistant.edits
        return encode_record(edits.undo(run=request.run, edit=request.edit, session=session))

    def _set_auto_compaction(self, request: asked.SetAutoCompaction) -> Json:
        return {"enabled": self._assistant.settings.set("context.autoCompact", request.enabled)}

    def _set_mode(self, request: asked.SetMode) -> Json:
        self._mode = request.mode
        return {"mode": self._mode}

    def _set_model(self, request: asked.SetModel) -> Json:
        if not request.model.strip():
            raise InvalidRequest(
                "The model has no name.", hint=Fix("To list names: {}.", Command("models"))
            )
        self._model = request.model
        return {"model": self._model}

    def _set_setting(self, request: asked.SetSetting) -> Json:
        value = self._assistant.settings.set(request.key, request.value)
        library = self._assistant.library
        if request.key == "vault.exclude" and library is not None:
            library.vault.look_again()
        return {"key": request.key, "value": value}

    def _compact(self, request: asked.Compact, cancel: CancelToken) -> Json:
        told: Json = {}
        instructions = request.custom_instructions
        model = self._model
        for event in self._assistant.compact(
            asked.require_chat(request), cancel, instructions, model
        ):
            if isinstance(event, CompactionEnded):
                told = event.result
        return told

    def _context(self, request: asked.GetContext, _cancel: CancelToken) -> Json:
        is_full, session, entry = request.format == "full", request.session, request.entry
        found = None
        if request.when == "next" and entry is not None:
            raise InvalidRequest(NO_ENTRY_NEXT)
        if request.when != "next" and session is not None:
            found = self._assistant.history.last_context(session, is_full, entry)
        if found is None and (request.when == "last" or entry is not None):
            raise NotFound("Nothing has been asked in this chat yet.")
        read: Json | None = None
        if found is None:
            mode, model, attach = self._mode, self._model, tuple(request.attach)
            question = Ask(request.text, mode, model, session, attach=attach)
            found = self._assistant.preview(
                session, request.text, mode, model, full=is_full, attach=attach
            )
            read = self._estimate_reading(question) if attach else None
        shown = (
            found if request.include_ephemeral else {**found, "ephemerals": 0, "ephemeral_log": []}
        )
        markdown = (
            envelope_markdown(shown, shown["request_body"]) if is_full else report_markdown(shown)
        )
        return {"markdown": markdown, "context": found, "read_whole": read}

    def _estimate_reading(self, question: Ask) -> Json | None:
        """Return the cost of reading attachments part by part, or why this is not possible.

        Return None if the attachments fit.
        """
        try:
            cost = self._assistant.estimate_reading(question)
        except CannotRead as error:
            return {"refused": str(error)}
        return None if cost is None else cost.to_dict()

    def _search(self, request: asked.Search, _cancel: CancelToken) -> Json:
        return encode_record(self._assistant.search(request.query, request.k))

    def _index(self, request: asked.Index, cancel: CancelToken) -> Json:
        for event in self._assistant.index(cancel):
            if isinstance(event, IndexFinished):
                return encode_record(event.report)
            progress = encode(event.progress)
            self._wire.event("index_progress", request.id, request.session, progress)
        raise AssertionError("indexing ends with its report")

    def _state(self, request: asked.GetState) -> Json:
        session, values = request.session, self._assistant.settings.values
        library = self._assistant.library
        return {
            "session": session,
            "leaf": None if session is None else self._leaf(session),
            "model": self._model or values.chat_model,
            "mode": self._mode,
            "vault": self._vault,
            "busy": self._jobs.is_busy(session),
            "indexing": library is not None and library.is_updating,
            "auto_compaction": values.context_auto_compact,
            "read_only": self._assistant.why_read_only or None,
        }

    def _entries(self, request: asked.GetEntries) -> Json:
        chat = self._assistant.sessions.read(asked.require_chat(request))
        entries = chat.path() if request.path_only else chat.log.entries
        return {
            "session": chat.id,
            "leaf": self._leaf(chat.id),
            "entries": [entry.to_dict() for entry in entries],
            "changed": self._assistant.history.list_changed_sources(chat.id),
            "claims": self._assistant.history.list_claims(chat.id),
        }

    def _leaf(self, session: str) -> str | None:
        path = self._assistant.sessions.read(session).path()
        return path[-1].id if path else None

    @property
    def _vault(self) -> str | None:
        folder = self._assistant.vault
        return None if folder is None else str(folder)
