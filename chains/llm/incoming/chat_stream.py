"""Read the answer of a chat completions endpoint, as a stream of events or as one document."""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from chains.llm.incoming.event_stream import DONE, EventSplitter, StreamEvent
from chains.llm.incoming.pieces import AnswerPiece, read_choice, read_usage

__all__ = ["AnswerError", "ChatStream"]

_log = logging.getLogger(__name__)
MOST_SHOWN_CHARS: Final = 200
# Fields of an answer. An object with none of them is an error if it has any text in these fields.
_ANSWER_FIELDS: Final = ("choices", "usage", "id", "model", "created")
_ERROR_FIELDS: Final = ("error", "message", "detail", "msg", "title")


class AnswerError(Exception):
    """A response with a successful status is an error, or cannot be read as an answer.

    Attributes:
        body: the JSON value or the text of the error.
        is_unreadable: whether the response is no answer at all, so that asking again is no use.
    """

    def __init__(self, body: Any, *, is_unreadable: bool = False) -> None:
        super().__init__("The response is not an answer.")
        self.body = body
        self.is_unreadable = is_unreadable


class ChatStream:
    """Reads the bytes of one answer.

    Attributes:
        is_done: whether the server has said that nothing follows.
    """

    def __init__(self) -> None:
        self.is_done = False
        self._events = EventSplitter()
        self._unreadable: list[str] = []
        self._has_events = self._has_finish = self._has_calls = self._has_bytes = False

    def feed(self, chunk: bytes) -> Iterator[AnswerPiece]:
        """Add bytes, and yield the pieces that are now complete.

        Raises:
            AnswerError: the server reports an error.
        """
        self._has_bytes = self._has_bytes or bool(chunk.strip())
        for event in self._events.feed(chunk):
            if not self.is_done:
                yield from self._read(event)

    def close(self) -> Iterator[AnswerPiece]:
        """End the response, and yield the rest of the answer.

        Raises:
            AnswerError: the server reports an error, or has sent nothing that is an answer.
        """
        for event in self._events.close():
            if not self.is_done:
                yield from self._read(event)
        if not self._has_bytes:
            raise AnswerError("its answer was empty")
        if not self._has_events and any(map(_is_foreign, self._unreadable)):
            text = " ".join(" ".join(self._unreadable).split())
            raise AnswerError(text[:MOST_SHOWN_CHARS], is_unreadable=True)

    def _read(self, event: StreamEvent) -> Iterator[AnswerPiece]:
        value = event.value
        if value == DONE:
            self.is_done = self._has_events = True
            yield from self._end()
        elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            for one in value:  # all events in one document
                yield from self._read(replace(event, value=one))
        elif event.is_error or (event.is_json and _is_error(value)):
            raise AnswerError(value)
        elif (failure := _find_choice_error(value)) is not None:
            raise AnswerError(failure)
        elif isinstance(value, dict):
            self._has_events = True
            yield from self._read_answer(value)
        else:
            self._unreadable.append(event.text)
            _log.info("A part of an answer cannot be read: %d characters", len(event.text))

    def _read_answer(self, value: Mapping[str, Any]) -> Iterator[AnswerPiece]:
        piece = read_choice(value)
        if piece is not None:
            if piece.finish or piece.chars:  # words behind a finish reason withdraw it
                self._has_finish = bool(piece.finish)
            self._has_calls = self._has_calls or bool(piece.calls)
            yield piece
        if (usage := read_usage(value.get("usage"))) is not None:
            yield AnswerPiece(usage=usage)

    def _end(self) -> Iterator[AnswerPiece]:
        """Yield the finish reason if the server ends the answer without one."""
        if not self._has_finish:
            yield AnswerPiece(finish="tool_calls" if self._has_calls else "stop")


def _is_error(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    if value.get("error") or "error" in (value.get("object"), value.get("type")):
        return True
    return not any(map(value.get, _ANSWER_FIELDS)) and any(
        isinstance(value.get(name), str) and value[name] for name in _ERROR_FIELDS
    )


def _find_choice_error(value: object) -> object:
    """Return the error in a choice of an event, as gateways send it, or None."""
    choices = value.get("choices") if isinstance(value, dict) else None
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict) and choice.get("finish_reason") == "error":
            return choice.get("error") or "its answer ended with an error"
    return None


def _is_foreign(text: str) -> bool:
    """Return whether a text is something else than an answer whose JSON was cut off."""
    return not text.lstrip().startswith(("{", "["))
