"""Split the bytes of a response into events.

Servers that should send `data: {…}` with a blank line behind it also send other line ends, byte
order marks, comments, no blank lines, several events in a line, bare JSON lines, or one JSON
document. All are read.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["DONE", "EventSplitter", "StreamEvent"]

DONE: Final = "[DONE]"
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
# It begins each event where a gateway joins streams that begin with one.
_BYTE_ORDER_MARK: Final = "\ufeff"
_FIELDS: Final = ("data", "event", "id", "retry", "error")
_EVENT_STARTS: Final = ("data:", "event:", "error:")
# One of these is in each JSON value that a server sends in a line of its own.
_ANSWER_FIELDS: Final = frozenset({"choices", "error"})
_BETWEEN_VALUES: Final = re.compile(r"(?:[\s,\]\ufeff]|data:|\[(?!DONE))*")
_BEFORE_OBJECT: Final = " \t\n[\ufeff"
_DECODER: Final = json.JSONDecoder()
# A line that may end a JSON document of several lines.
_CLOSING: Final = ("}", "]")


@dataclass(frozen=True)
class StreamEvent:
    """An event of a stream.

    Attributes:
        value: the JSON value, or `DONE`, or the text itself if it is not JSON.
        is_json: whether the text is JSON.
        is_error: whether the server calls the event an error.
        text: the text as it arrived.
    """

    value: Any
    is_json: bool
    is_error: bool
    text: str


class EventSplitter:
    """Splits bytes into events, however they are cut into chunks."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._ends_with_cr = False
        self._name = ""
        self._lines: list[str] = []
        self._is_document = False

    def feed(self, chunk: bytes) -> Iterator[StreamEvent]:
        """Add bytes, and yield the events that are now complete."""
        self._rest.append(chunk)
        if not (b"\n" in chunk or b"\r" in chunk):
            return
        data = b"".join(self._rest)
        if self._ends_with_cr and data:  # the second half of a line end that was cut in two
            data, self._ends_with_cr = data.removeprefix(b"\n"), False
        *lines, rest = _LINE_END.split(data)
        self._rest = [rest]
        self._ends_with_cr = data.endswith(b"\r")
        for line in lines:
            yield from self._take_line(line.decode("utf-8", "replace"))

    def close(self) -> Iterator[StreamEvent]:
        """End the response, and yield the event that no line end has completed."""
        rest, self._rest = b"".join(self._rest), []
        if rest:
            yield from self._take_line(rest.decode("utf-8", "replace"))
        yield from self._flush()

    def _take_line(self, line: str) -> Iterator[StreamEvent]:
        line = line.lstrip(_BYTE_ORDER_MARK)
        if not line.strip():
            if not self._is_document:
                yield from self._flush()
        elif self._is_document and not self._begins_event(line):
            yield from self._continue_document(line)
        elif not line.startswith(":"):
            yield from self._take_field(line)

    def _begins_event(self, line: str) -> bool:
        """Return whether a line cannot belong to a JSON document that has begun.

        What looked like the document's first line was a stray line, such as `[INFO] …`.
        """
        if line.startswith(_EVENT_STARTS):
            return True
        value = self._read(line).value if line.lstrip().startswith("{") else None
        return isinstance(value, dict) and not _ANSWER_FIELDS.isdisjoint(value)

    def _take_field(self, line: str) -> Iterator[StreamEvent]:
        name, colon, value = line.partition(":")
        if not colon or name not in _FIELDS:
            yield from self._flush()
            self._is_document = line.lstrip().startswith(("{", "["))
            yield from self._continue_document(line)
        elif name == "data":
            if self._is_document:
                yield from self._flush()
            yield from self._take_data(value.removeprefix(" "))
        elif name == "error":  # the field of older llama.cpp servers
            yield from self._flush()
            self._name = name
            yield self._read(value.strip())
            self._name = ""
        elif name == "event":
            yield from self._flush()
            self._name = value.strip()

    def _take_data(self, text: str) -> Iterator[StreamEvent]:
        """Yield an event as soon as it is complete, since some servers send no blank lines."""
        if len(several := self._read_several(text)) > 1:
            yield from self._flush()
            yield from several
            return
        alone = several[0]
        if alone.value == DONE or isinstance(alone.value, dict):
            if self._lines and not self._is_open():
                yield from self._flush()
            if not self._lines:
                self._name = ""
                yield alone
                return
        self._lines.append(text)

    def _is_open(self) -> bool:
        """Return whether the lines so far begin a JSON value of several lines."""
        return self._lines[0].strip() in ("{", "[")

    def _continue_document(self, line: str) -> Iterator[StreamEvent]:
        self._lines.append(line)
        whole = None
        if not self._is_document or line.rstrip().endswith(_CLOSING):
            whole = self._read("\n".join(self._lines))
        if whole is not None and (whole.is_json or not self._is_document):
            self._lines, self._is_document, self._name = [], False, ""
            yield whole

    def _flush(self) -> Iterator[StreamEvent]:
        lines, self._lines, self._is_document = self._lines, [], False
        if lines:
            yield from self._read_several("\n".join(lines))
            self._name = ""

    def _read_several(self, text: str) -> list[StreamEvent]:
        """Read a text that may have several JSON objects, one behind the other or in arrays.

        What follows the last one that can be read is an event too, which is not JSON.
        """
        whole = self._read(text)
        if whole.is_json or not text.lstrip(_BEFORE_OBJECT).startswith("{"):
            return [whole]
        found, at = [], 0
        while at < len(text):
            at = _BETWEEN_VALUES.match(text, at).end()  # type: ignore[union-attr]
            try:
                _, end = _DECODER.raw_decode(text, at)
            except (ValueError, RecursionError):
                end = len(text)
            if rest := text[at:end].strip():
                found.append(self._read(rest))
            at = end
        return found if found[0].is_json else [whole]

    def _read(self, text: str) -> StreamEvent:
        is_error = self._name.lower() == "error"
        if text.strip() == DONE:
            return StreamEvent(DONE, False, is_error, text)
        try:
            return StreamEvent(json.loads(text), True, is_error, text)
        except (ValueError, RecursionError):
            return StreamEvent(text, False, is_error, text)
