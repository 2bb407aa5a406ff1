"""Serve requests that start and stop turns, and the decisions of the user in them."""

from collections.abc import Callable, Generator, Mapping
from functools import partial
from typing import Any, Final, Literal

from pydantic import Field

from app.assistant import Assistant
from app.errors import InvalidRequest
from app.rpc.client import Client
from app.rpc.jobs import Jobs
from app.rpc.requests import Handlers, Quick, RpcRequest
from app.rpc.wire import Json, Wire
from chains.cancel import CancelToken
from chains.events import Event, MessageEnded, Mode
from chains.request.ask import Ask
from chains.tool import Decision, KeptHunks, Verdict
from chains.tools.approval_desk import ApprovalDesk

__all__ = ["TurnRequests"]

_DECISIONS: Final[Mapping[str, Decision]] = {
    "allow": "once",
    "allow_session": "session",
    "deny": "reject",
}
_Events = Callable[[CancelToken], Generator[Event]]


class PromptRequest(RpcRequest):
    """Ask a question. The response is sent once the question is stored.

    The last event of the turn is `turn_end`.

    Attributes:
        text: the question.
        mode: the mode of the turn, or None for the current mode.
        attach: the paths and tags to attach.
        parent: the entry after which the question is added, or None for the end of the active
            branch.
        read_whole: whether to let the model read large attachments completely, part by part. The
            request `get_context` returns the cost.
    """

    text: str
    mode: Mode | None = None
    attach: list[str] = Field(default_factory=list)
    parent: str | None = None
    read_whole: bool = False


class Edit(RpcRequest):
    """Edit a user message and answer the new version."""

    entry: str
    text: str


class Regenerate(RpcRequest):
    """Generate another version of an answer."""

    entry: str


class Abort(RpcRequest):
    """Cancel the request with the id `request`, or else the chat's turn or compaction."""

    request: Any = None


class Approve(RpcRequest):
    """Answer an `approval_request` event.

    Attributes:
        approval_id: the id in the event.
        decision: the user's decision. `allow` approves only this call. `allow_session` also
            approves later calls of this kind in the same chat.
        hunks: if the decision is `allow`, the indexes of the approved hunks, or None for all hunks.
            The other hunks are rejected.
    """

    approval_id: str
    decision: Literal["allow", "deny", "allow_session"]
    hunks: list[int] | None = None


class TurnRequests:
    """Serves the requests about turns.

    Attributes:
        handlers: how each of these requests is served, by its type.
    """

    def __init__(
        self,
        assistant: Assistant,
        client: Client,
        jobs: Jobs,
        wire: Wire,
        approvals: ApprovalDesk,
    ) -> None:
        """Create the functions.

        Args:
            assistant: runs the turns.
            client: has the current chat, mode and model.
            jobs: the running turns.
            wire: writes the response to a question, once it is stored.
            approvals: the tool calls that wait for the user.
        """
        self._assistant, self._client = assistant, client
        self._jobs, self._wire, self._approvals = jobs, wire, approvals
        self.handlers: Handlers = {
            "abort": Quick(Abort, self._abort),
            "approve": Quick(Approve, self._approve),
            "edit": Quick(Edit, self._edit),
            "prompt": Quick(PromptRequest, self._prompt),
            "regenerate": Quick(Regenerate, self._regenerate),
        }

    def _prompt(self, request: PromptRequest) -> None:
        if request.session is None:
            session = self._client.begin_chat()
        else:
            session = self._jobs.require_free_chat(request)
        question = Ask(
            request.text,
            mode=request.mode or self._client.mode,
            model=self._client.model,
            session=session,
            attach=tuple(request.attach),
            parent=request.parent,
            reads_whole=request.read_whole,
        )
        self._start(request, session, partial(self._assistant.ask, question))

    def _edit(self, request: Edit) -> None:
        session, model = self._jobs.require_free_chat(request), self._client.model
        edit = self._assistant.edit
        self._start(
            request,
            session,
            lambda cancel: edit(session, request.entry, request.text, cancel, model=model),
        )

    def _regenerate(self, request: Regenerate) -> None:
        session, model = self._jobs.require_free_chat(request), self._client.model
        entry, regenerate = request.entry, self._assistant.regenerate
        self._start(
            request, session, lambda cancel: regenerate(session, entry, cancel, model=model)
        )

    def _start(self, request: RpcRequest, session: str, events: _Events) -> None:
        """Start a turn, and respond once the user message is stored."""

        def accept(stored: Event) -> None:
            assert isinstance(stored, MessageEnded)
            self._client.session = session
            data = {"turn": stored.turn, "session": session}
            self._wire.respond(request.id, request.type, data)

        self._jobs.start_turn(request.id, session, events, accept)

    def _abort(self, request: Abort) -> Json:
        if request.request is not None:
            return {"aborted": self._jobs.abort_request(request.request)}
        return {"aborted": self._jobs.abort(request.session)}

    def _approve(self, request: Approve) -> Json:
        id = request.approval_id
        if not (
            self._approvals.is_open(id) and self._approvals.answer(id, self._read_verdict(request))
        ):
            raise InvalidRequest(f"Nothing waits for the approval {id}.")
        return {"approval_id": id, "decision": request.decision}

    def _read_verdict(self, request: Approve) -> Verdict:
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
