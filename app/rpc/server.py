"""The RPC server: requests on standard input, responses and events on standard output.

```
standard input ─ requests.parse ─ RPC ─ Assistant
                                   └─ jobs.Jobs ─ wire.Wire ─ standard output
```

Quick requests are answered in order. Long requests run in threads, so that an `abort` request can
be read in the meantime. A request is served by the module of its concept.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Final

from app.assistant import Assistant
from app.errors import describe
from app.rpc.backup import BackupRequests
from app.rpc.chats import ChatRequests
from app.rpc.client import Client
from app.rpc.context import ContextRequests
from app.rpc.customization import CustomizationRequests
from app.rpc.entries import EntryRequests
from app.rpc.fixes import word_warning
from app.rpc.jobs import Jobs, explain
from app.rpc.judge import JudgeRequests
from app.rpc.notes import NoteRequests
from app.rpc.pinned import PinnedRequests
from app.rpc.projects import ProjectRequests
from app.rpc.rehearsal import RehearsalRequests
from app.rpc.requests import LONGEST_LINE, Handlers, RpcRequest, Slow, UnreadableRequest, parse
from app.rpc.search import SearchRequests
from app.rpc.settings import SettingsRequests
from app.rpc.turns import TurnRequests
from app.rpc.wire import Wire
from chains.tools.approval_desk import ApprovalDesk
from context.json_codec import encode
from vault.indexing.indexer import IndexProgress, IndexReport

TIME_TO_SAVE_S: Final = 10.0


class Shutdown(RpcRequest):
    """Cancel all running requests, and stop the server."""


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
    while line := source.readline(LONGEST_LINE):
        yield line
        while len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            line = source.readline(LONGEST_LINE)


class RPC:
    """Serves one client."""

    def __init__(self, assistant: Assistant, write: Callable[[bytes], object]) -> None:
        """Create the server, which has no current chat at first.

        Args:
            assistant: runs the requests.
            write: writes a line of output, or raises `OSError` if the client has disconnected.
        """
        self._assistant, self._client = assistant, Client(assistant)
        self._wire = Wire(write)
        approvals = ApprovalDesk()
        assistant.agents.connect(approvals)
        self._jobs = Jobs(self._wire, approvals, self._tell_warnings)
        self._pinned = PinnedRequests(assistant, self._wire)
        client, jobs, wire = self._client, self._jobs, self._wire
        self._handlers: Handlers = {
            **TurnRequests(assistant, client, jobs, wire, approvals).handlers,
            **ChatRequests(assistant, client, jobs).handlers,
            **EntryRequests(assistant, jobs).handlers,
            **ContextRequests(assistant, client).handlers,
            **RehearsalRequests(assistant, wire).handlers,
            **SearchRequests(assistant, wire).handlers,
            **NoteRequests(assistant, jobs).handlers,
            **JudgeRequests(assistant, wire).handlers,
            **self._pinned.handlers,
            **ProjectRequests(assistant).handlers,
            **CustomizationRequests(assistant).handlers,
            **SettingsRequests(assistant, client, jobs).handlers,
            **BackupRequests(assistant, wire).handlers,
        }
        served = {name: handler.fields for name, handler in self._handlers.items()}
        self._types: Mapping[str, type[RpcRequest]] = {**served, "shutdown": Shutdown}

    def serve(self, lines: Iterable[bytes]) -> None:
        """Serve the requests in the given lines, then cancel all running requests.

        While serving, changes in the vault are watched and indexed.
        """
        if self._assistant.library is not None:
            self._assistant.library.watch(self._tell_of_changes)
            self._pinned.follow_days()
        try:
            self._tell_warnings()
            for line in lines:
                if line.strip() and not self._take(line):
                    break
                self._tell_warnings()
        finally:
            self._pinned.close()
            self._jobs.stop(TIME_TO_SAVE_S)

    def _tell_of_changes(self, report: IndexReport) -> None:
        done = IndexProgress("done", total=report.notes, done=report.notes)
        self._wire.event("index_progress", None, None, encode(done))
        if report.is_complete:
            self._pinned.follow_notes()

    def _tell_warnings(self) -> None:
        """Write a `warning` for each data file that was damaged, merged or is only read, once."""
        for warning in self._assistant.take_warnings():
            self._wire.event("warning", None, None, {"message": word_warning(warning)})

    def _take(self, line: bytes) -> bool:
        """Handle one request, and return whether the server should read another one."""
        try:
            request = parse(line, self._types)
        except UnreadableRequest as problem:
            self._wire.refuse(problem.id, problem.command, describe(problem.error))
            return True
        if isinstance(request, Shutdown):
            self._jobs.stop(TIME_TO_SAVE_S)
            self._wire.respond(request.id, request.type, {})
            return False
        try:
            chat = self._client.session if request.session is None else request.session
            self._carry_out(request.model_copy(update={"session": chat}))
        except Exception as error:  # noqa: BLE001 (reported, and logged if it is a bug)
            self._wire.refuse(request.id, request.type, explain(error))
        return True

    def _carry_out(self, request: RpcRequest) -> None:
        handler = self._handlers[request.type]
        if isinstance(handler, Slow):
            chat = self._jobs.require_free_chat(request) if handler.is_change(request) else None
            work = partial(handler.serve, request)
            self._jobs.start(request.id, request.type, work, chat)
        elif (data := handler.serve(request)) is not None:
            self._wire.respond(request.id, request.type, data)
