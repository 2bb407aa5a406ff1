"""The RPC output: responses and events, one JSON object per line."""

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

from app.errors import ErrorInfo
from app.rpc.fixes import word_fix, word_warning, word_warnings
from chains.events import (
    ApprovalRequested,
    CompactionEnded,
    CompactionStarted,
    ContextPrepared,
    Event,
    IndexProgressed,
    MessageEnded,
    ModelLoadProgressed,
    ReadingPart,
    TextDelta,
    TextTakenBack,
    ThoughtDelta,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    Warned,
)
from context.json_codec import encode
from context.messages import thaw

Json = Mapping[str, Any]


class Wire:
    """Writes responses and events to the client. Thread-safe.

    After a write has failed, further writes are ignored.
    """

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self._lock = threading.Lock()
        self._is_open = True
        self._progress: tuple[Any, Json] | None = None

    def respond(self, id: Any, command: str | None, data: Json) -> None:
        """Write the response to a successful request.

        Args:
            id: the request id.
            command: the request type.
            data: the data of the response.
        """
        self._line({**_head(id, command), "success": True, "data": word_warnings(data)})

    def refuse(self, id: Any, command: str | None, error: ErrorInfo) -> None:
        """Write the response to a failed request.

        Args:
            id: the request id, or None if it could not be read.
            command: the request type, or None if it could not be read.
        """
        self._line({**_head(id, command), "success": False, "error": error.to_dict(word_fix)})

    def event(self, name: str, id: Any, session: str | None, data: Json) -> bool:
        """Write an event, and return whether the client is still connected.

        Args:
            name: the name of the event.
            id: the id of the request that caused the event.
            session: the chat that the event belongs to, or None.
            data: the data of the event.
        """
        if name == "index_progress":
            if self._progress == (id, data):
                return True
            self._progress = (id, data)
        head = {"type": "event", "event": name, "request_id": id, "session": session}
        return self._line({**head, "data": word_warnings(data)})

    def _line(self, value: Json) -> bool:
        text = json.dumps(value, ensure_ascii=False, default=thaw)
        # A lone surrogate, from a file's name, cannot be encoded in UTF-8: write an escape.
        line = text.encode("utf-8", "backslashreplace") + b"\n"
        with self._lock:
            if self._is_open:
                try:
                    self._write(line)
                except (OSError, ValueError):  # the client has gone, or the output is closed
                    self._is_open = False
            return self._is_open


def convert_event(event: Event) -> tuple[str, Json] | None:
    """Convert an event to the name and data sent to clients, or to None if it is internal."""
    if type(event) not in _EVENTS:
        return None
    name, data = _EVENTS[type(event)]
    return name, data(event)


def _tool_end(event: ToolEnded) -> Json:
    step = event.step
    return {
        "id": step.id,
        "name": step.name,
        "status": step.status,
        "seconds": round(step.seconds or 0.0, 3),
        "ref_id": step.ref_id,
    }


def _tool_start(event: ToolStarted) -> Json:
    return {"id": event.step.id, "name": event.step.name, "arguments": event.step.arguments}


def _approval_request(event: ApprovalRequested) -> Json:
    request, proposal = event.request, event.request.proposal
    return {
        "approval_id": request.id,
        "tool_call": request.call_id,
        "tool": request.tool,
        "arguments": request.arguments,
        "summary": proposal.summary,
        "diff": proposal.diff,
        "warnings": list(proposal.warnings),
        "session_scope": proposal.session_scope,
        "hunks": list(proposal.hunks),
    }


def _describe_loading(event: ModelLoadProgressed) -> Json:
    return {
        "model": event.model,
        "done": round(event.done, 3),
        "needed_bytes": event.needed_bytes,
    }


def _message_end(event: MessageEnded) -> Json:
    return {"entry": event.entry_id, "role": event.role}


_EVENTS: Mapping[type[Event], tuple[str, Callable[[Any], Json]]] = {
    TextDelta: ("text_delta", lambda event: {"text": event.text}),
    TextTakenBack: ("text_taken_back", lambda _event: {}),
    ThoughtDelta: ("thinking_delta", lambda event: {"text": event.text}),
    ToolStarted: ("tool_start", _tool_start),
    ApprovalRequested: ("approval_request", _approval_request),
    ToolEnded: ("tool_end", _tool_end),
    MessageEnded: ("message_end", _message_end),
    ContextPrepared: ("context", lambda event: event.report.to_dict()),
    CompactionStarted: ("auto_compaction_start", lambda event: {"reason": event.reason}),
    CompactionEnded: ("auto_compaction_end", lambda event: event.result),
    ReadingPart: ("reading_progress", lambda event: {"part": event.part, "parts": event.parts}),
    ModelLoadProgressed: ("loading_progress", _describe_loading),
    Warned: ("warning", lambda event: {"message": word_warning(event.message)}),
    IndexProgressed: ("index_progress", lambda event: encode(event.progress)),
    TurnEnded: ("turn_end", lambda event: event.result.to_dict()),
}


def _head(id: Any, command: str | None) -> dict[str, Any]:
    return {"id": id, "type": "response", "command": command}
