"""Repair the bodies of a server's HTTP responses before the SDK reads them.

They have the same defects as the lines of a child process, and are repaired in the same way. An
answer that cannot be read becomes an error for the request, whose id is known.
"""

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from chains.mcp.messages import UnreadableMessage, build_unreadable, read_messages

if TYPE_CHECKING:
    from mcp.types import JSONRPCMessage

__all__ = ["EventRepair", "repair_document"]

_MARK: Final = b"\xef\xbb\xbf"
_LINE_END: Final = re.compile(rb"\r\n|\n|\r(?!\Z)")


def repair_document(body: bytes, request: bytes) -> bytes:
    """Return the answer in a JSON document, as JSON that the SDK reads.

    Args:
        body: the body of the response.
        request: the body of the request.
    """
    answers = list(_read(body, request))
    replies = [message for message in answers if _is_answer(message)]
    found = (replies or answers or [build_unreadable(_read_id(request))])[0]
    return _write(found)


class EventRepair:
    """Repairs an event stream that arrives in chunks.

    Events that are no message, such as logs, are left out.
    """

    def __init__(self, request: bytes) -> None:
        """Begin a stream.

        Args:
            request: the body of the request that the stream answers.
        """
        self._request = request
        self._rest = b""
        self._others: list[bytes] = []  # the lines of the present event that are no data
        self._data: list[bytes] = []

    @property
    def held_bytes(self) -> int:
        """The size of the event that is not complete."""
        return len(self._rest) + sum(map(len, self._data))

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Add a chunk, and yield the events that are now complete."""
        *lines, self._rest = _LINE_END.split(self._rest + chunk)
        for line in lines:
            yield from self._add(line)

    def end(self) -> Iterator[bytes]:
        """Yield the last event. Servers may leave out the blank line behind it."""
        for line in (self._rest.rstrip(b"\r"), b""):
            yield from self._add(line)
        self._rest = b""

    def _add(self, line: bytes) -> Iterator[bytes]:
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
        elif line:
            self._others.append(line)
        elif self._data or self._others:
            others, data = self._others, b"\n".join(self._data)
            self._others, self._data = [], []
            messages = list(_read(data, self._request)) if data.strip() else [None]
            for message in messages:
                written = b"" if message is None else _write(message)
                yield b"\n".join([*others, b"data: " + written, b"", b""])


def _read(body: bytes, request: bytes) -> "Iterator[JSONRPCMessage]":
    try:
        yield from read_messages(body.removeprefix(_MARK))
    except UnreadableMessage:
        yield build_unreadable(_read_id(request))


def _read_id(request: bytes) -> Any:
    """Return the id of a request that this program has sent, or None if it has none."""
    sent = json.loads(request or b"{}")
    return sent.get("id") if isinstance(sent, dict) else None


def _is_answer(message: "JSONRPCMessage") -> bool:
    from mcp.types import JSONRPCError, JSONRPCResponse

    return isinstance(message, JSONRPCResponse | JSONRPCError)


def _write(message: "JSONRPCMessage") -> bytes:
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode("utf-8", "replace")
