"""Run turns, searches and indexing while the server reads further requests."""

import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack, closing, suppress
from functools import partial
from itertools import chain
from typing import Any, Final

from app.errors import ErrorInfo, SessionBusy, describe
from app.faults import log_bug
from app.rpc.fixes import word_fix
from app.rpc.requests import RpcRequest, require_chat
from app.rpc.wire import Json, Wire, convert_event
from chains.cancel import CancelToken
from chains.concurrency import WorkerPool
from chains.events import ApprovalRequested, Event
from chains.tools.approval_desk import ApprovalDesk

MOST_AT_ONCE: Final = 4


class Jobs:
    """Runs turns and other long requests in parallel, at most one turn per chat.

    The requests have their own thread pool, because turns wait for tasks in the thread pool of
    `chains`. In a shared pool, turns could occupy all threads, so that these tasks would never run.
    """

    def __init__(self, wire: Wire, approvals: ApprovalDesk, on_ended: Callable[[], object]) -> None:
        """Create it with no requests.

        Args:
            wire: the connection to the client.
            approvals: where the approval requests of turns wait for an answer.
            on_ended: called after each request has ended, in its thread.
        """
        self._wire = wire
        self._approvals = approvals
        self._on_ended = on_ended
        self._pool = WorkerPool(MOST_AT_ONCE)
        self._changed = threading.Condition()
        self._busy: dict[str, CancelToken] = {}
        self._running: set[CancelToken] = set()
        self._requests: dict[str, CancelToken] = {}

    def is_busy(self, session: str | None) -> bool:
        """Return whether a turn or compaction of this chat is running."""
        with self._changed:
            return session in self._busy

    def require_free(self, session: str) -> None:
        """Raise `SessionBusy` if a turn or compaction of this chat is running."""
        if self.is_busy(session):
            raise SessionBusy(
                f"The chat {session} is still at work.",
                hint="Wait for its turn_end or its response, or send abort.",
            )

    def require_free_chat(self, request: RpcRequest) -> str:
        """Return the chat of a request, or raise an error if it is busy.

        Raises:
            NotFound: no chat is open.
            SessionBusy: a turn or compaction of the chat is running.
        """
        session = require_chat(request)
        self.require_free(session)
        return session

    def start_turn(
        self,
        id: Any,
        session: str,
        events: Callable[[CancelToken], Generator[Event]],
        accept: Callable[[Event], None],
    ) -> None:
        """Start a turn and write its events, ending with `turn_end`.

        Args:
            id: the request id.
            session: the chat, which is busy until the turn ends.
            events: runs the turn and yields its events. The user message is stored before the first
                event.
            accept: called with the first event, before any event is written to the client.

        Raises:
            BaseException: the user message could not be stored, so the turn was not started.
        """
        cancel = self._token(session)
        with ExitStack() as undo:
            undo.callback(self._set_free, session, cancel)
            following = undo.enter_context(closing(events(cancel)))
            stored = next(following)
            accept(stored)
            self._submit(cancel, partial(self._run_turn, id, session, stored, following))
            undo.pop_all()

    def _run_turn(
        self,
        id: Any,
        session: str,
        stored: Event,
        following: Generator[Event],
        cancel: CancelToken,
    ) -> None:
        """Write the events of a turn, and free its chat whatever is raised.

        Args:
            id: the request id.
            session: the chat of the turn.
            stored: the first event.
            following: yields the other events, and is closed in any case.
            cancel: the cancel token of the turn.
        """
        tell = partial(self._wire.event, id=id, session=session)
        try:
            with closing(following):  # not only at the next garbage collection
                end = self._write_events(id, session, chain([stored], following))
        except BaseException as error:  # noqa: BLE001 (reported, and logged if it is a bug)
            end = {"error": self._report(error, tell)}
        finally:
            self._set_free(session, cancel)
        try:
            tell("turn_end", data=end)
        except Exception as error:  # noqa: BLE001 (reported, and logged if it is a bug)
            tell("turn_end", data={"error": explain(error).to_dict(word_fix)})

    def _report(self, error: BaseException, tell: Callable[..., object]) -> Json:
        """Write the event `error`, and return the description of the error."""
        info = explain(error)
        with suppress(Exception):  # if the writer failed, this fails too
            hint = info.word_hint(word_fix) or None
            tell("error", data={"code": info.code, "message": info.message, "hint": hint})
        return info.to_dict(word_fix)

    def start(
        self,
        id: Any,
        command: str,
        work: Callable[[CancelToken], Json],
        session: str | None = None,
    ) -> None:
        """Run a long request in the background, and send the response when it is done.

        Args:
            id: the request id.
            command: the request type.
            work: runs the request and returns the response data.
            session: the chat that the request changes, which is busy until the request ends, or
                None.
        """

        def run(cancel: CancelToken) -> None:
            try:
                try:
                    respond = partial(self._wire.respond, id, command, work(cancel))
                finally:
                    self._set_free(session, cancel)
                respond()
            except BaseException as error:  # noqa: BLE001 (reported, and logged if it is a bug)
                self._wire.refuse(id, command, explain(error))

        cancel = self._token(session)
        with self._changed:
            self._requests[repr(id)] = cancel
        with ExitStack() as undo:
            undo.callback(self._set_free, session, cancel)
            self._submit(cancel, run)
            undo.pop_all()

    def abort_request(self, id: Any) -> bool:
        """Cancel a long request by its id, and return whether it was running."""
        with self._changed:
            cancel = self._requests.get(repr(id))
        if cancel is not None:
            cancel.cancel()
        return cancel is not None

    def abort(self, session: str | None) -> bool:
        """Cancel the running request of a chat, and return whether there was one."""
        with self._changed:
            cancel = None if session is None else self._busy.get(session)
        if cancel is not None:
            cancel.cancel()
        return cancel is not None

    def stop(self, timeout_s: float) -> None:
        """Cancel all running requests, and wait up to `timeout_s` seconds for them to end."""
        with self._changed:
            running = tuple(self._running)
        for cancel in running:
            cancel.cancel()
        with self._changed:
            self._changed.wait_for(lambda: not self._running, timeout_s)

    def _token(self, session: str | None) -> CancelToken:
        """Create a cancel token for a request, and mark the request's chat as busy.

        If `session` is None, no chat is marked.
        """
        cancel = CancelToken()
        if session is not None:
            with self._changed:
                self._busy[session] = cancel
        return cancel

    def _set_free(self, session: str | None, cancel: CancelToken) -> None:
        """Mark a chat as free. Call this before telling the client that the request has ended.

        Nothing is done if the chat is busy with another request than that of the cancel token.
        """
        with self._changed:
            if session is not None and self._busy.get(session) is cancel:
                del self._busy[session]
            for id in [id for id, token in self._requests.items() if token is cancel]:
                del self._requests[id]

    def _write_events(self, id: Any, session: str, events: Iterable[Event]) -> Json:
        """Write all events of a turn except the last one, and return the last one's data.

        If the client has disconnected, all open approval requests are rejected.
        """
        end: Json = {}
        with ExitStack() as asked:
            for event in events:
                if isinstance(event, ApprovalRequested):
                    asked.callback(self._approvals.close, event.request.id)
                    self._approvals.open(event.request.id, len(event.request.proposal.hunks))
                if (converted_event := convert_event(event)) is None:
                    continue
                name, data = converted_event
                if name == "turn_end":
                    end = data
                elif not self._wire.event(name, id, session, data):
                    self._approvals.reject_all()
        return end

    def _submit(self, cancel: CancelToken, work: Callable[[CancelToken], None]) -> None:
        def end() -> None:
            with self._changed:
                self._running.discard(cancel)
                self._changed.notify_all()

        def run() -> None:
            try:
                work(cancel)
                self._on_ended()
            finally:
                end()

        with self._changed:
            self._running.add(cancel)
        try:
            self._pool.submit(run)
        except BaseException:
            end()
            raise


def explain(error: BaseException) -> ErrorInfo:
    """Describe an exception for the client. A bug is also logged with its stack trace."""
    log_bug(error)
    return describe(error)
