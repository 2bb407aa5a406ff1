"""Serve the request that asks an answer's question again, without some of what the model saw.

Without `agreed`, the response says what can be left out and what it costs, and nothing is sent. The
event `rehearsal_progress` tells before each call how many answers there are. `abort` with the id of
the request stops it; what was asked until then is kept, and is not asked again.
"""

from collections.abc import Iterator

from pydantic import Field

from app.assistant import Assistant
from app.errors import InvalidRequest
from app.rehearsal.result import (
    EachResult,
    RehearsalEvent,
    RehearsalProgress,
    RehearsalResult,
)
from app.rpc.requests import Handlers, RpcRequest, Slow, require_chat
from app.rpc.wire import Json, Wire
from chains.cancel import CancelToken

__all__ = ["RehearsalRequests"]


class Rehearse(RpcRequest):
    """Ask an answer's question again, without some of what the model saw.

    Attributes:
        entry: an answer, a question for its newest answer, or None for the last answer.
        without: the keys of what is left out, such as `3`, `L4.2` or `L2`.
        each: whether each source is left out in turn instead.
        agreed: whether the user agreed to the price. Otherwise, the response has the price, and
            nothing is sent.
    """

    entry: str | None = None
    without: list[str] = Field(default_factory=list)
    each: bool = False
    agreed: bool = False


class RehearsalRequests:
    """Serves the request `rehearse`. Thread-safe.

    Attributes:
        handlers: how the request is served, by its type.
    """

    def __init__(self, assistant: Assistant, wire: Wire) -> None:
        """Create the function.

        Args:
            assistant: provides the rehearsals.
            wire: writes the progress.
        """
        self._assistant, self._wire = assistant, wire
        rehearse = Slow(Rehearse, self._rehearse, changes_chat=lambda request: request.agreed)
        self.handlers: Handlers = {"rehearse": rehearse}

    def _rehearse(self, request: Rehearse, cancel: CancelToken) -> Json:
        if request.each and request.without:
            raise InvalidRequest("rehearse: each and without do not go together.")
        chat = require_chat(request)
        if request.agreed:
            return {**self._ask(request, chat, cancel), "asked": True}
        rehearser, keys = self._assistant.rehearser, request.without
        offer = rehearser.offer(chat, request.entry, keys, each=request.each)
        return {**offer.to_dict(), "asked": False}

    def _ask(self, request: Rehearse, chat: str, cancel: CancelToken) -> Json:
        """Ask again, write the progress, and return the result, which is the last event."""
        rehearser, entry = self._assistant.rehearser, request.entry
        events: Iterator[RehearsalEvent | RehearsalResult | EachResult]
        if request.each:
            events = rehearser.ask_each(chat, entry, cancel)
        else:
            events = rehearser.ask(chat, entry, request.without, cancel)
        found: Json = {}
        for event in events:
            if isinstance(event, RehearsalProgress):
                data = event.to_dict()
                self._wire.event("rehearsal_progress", request.id, chat, data)
            elif isinstance(event, RehearsalResult | EachResult):
                found = event.to_dict()
        return found
