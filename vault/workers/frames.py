"""Messages between the program and its child processes: a JSON header and raw bytes.

This module imports only the standard library, so that child processes start quickly.
"""

import json
import os
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from queue import Empty, PriorityQueue
from typing import Any, BinaryIO, NamedTuple

_LENGTHS = struct.Struct(">II")
MAX_FRAME_BYTES = 256 * 1024 * 1024


class Frame(NamedTuple):
    """A message: a JSON header, and a binary payload for large data such as vectors."""

    header: dict[str, Any]
    payload: bytes


Answer = tuple[Mapping[str, Any], bytes]
Handler = Callable[[Frame], Answer]


def encode_frame(header: Mapping[str, Any], payload: bytes = b"") -> bytes:
    """Encode a message for a child process or its parent."""
    text = json.dumps(header, ensure_ascii=True).encode("ascii")
    return _LENGTHS.pack(len(text), len(payload)) + text + payload


def decode_frame(buffer: bytearray) -> Frame | None:
    """Decode and remove the first message of a buffer, or return None if it is incomplete.

    Raises:
        ValueError: the bytes are not a valid message.
    """
    if len(buffer) < _LENGTHS.size:
        return None
    header_size, payload_size = _LENGTHS.unpack_from(buffer)
    if header_size + payload_size > MAX_FRAME_BYTES:
        raise ValueError("a message larger than any that is sent")
    body = _LENGTHS.size + header_size
    if len(buffer) < body + payload_size:
        return None
    header = json.loads(bytes(buffer[_LENGTHS.size : body]))
    payload = bytes(buffer[body : body + payload_size])
    del buffer[: body + payload_size]
    return Frame(header, payload)


class Requests:
    """Iterates over the requests to a child process, urgent ones first.

    Iteration ends when the parent exits. Standard input is read in a separate thread, so that a
    busy child never blocks the parent.
    """

    def __init__(self, *, ends_at_once: bool, idle_s: float | None = None):
        """Use standard input and output for messages. All other output goes to standard error.

        Args:
            ends_at_once: whether to exit immediately when the parent exits, even during a request.
            idle_s: the number of idle seconds before the child exits, or None to wait indefinitely.
        """
        self._input = os.fdopen(os.dup(0), "rb")
        self._output: BinaryIO = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        self._ends_at_once = ends_at_once
        self._idle_s = idle_s
        self._queue: PriorityQueue[tuple[int, int, Frame | None]] = PriorityQueue()
        threading.Thread(target=self._read, name="requests", daemon=True).start()

    def __iter__(self) -> Iterator[Frame]:
        while (item := self._take()) is not None:
            yield item

    def answer(self, header: Mapping[str, Any], payload: bytes = b"") -> None:
        """Send an answer to the parent process.

        Args:
            header: the JSON header of the answer.
            payload: the raw bytes of the answer.
        """
        self._output.write(encode_frame(header, payload))
        self._output.flush()

    def serve(self, handle: Handler) -> None:
        """Answer each request with the result of a function, or with the message of its exception.

        Args:
            handle: takes a request, and returns the header and payload of the answer.
        """
        for request in self:
            number = request.header["id"]
            try:
                header, payload = handle(request)
            except Exception as error:  # noqa: BLE001 - every failure is the parent's to judge
                self.answer({"id": number, "error": str(error) or type(error).__name__})
            else:
                self.answer({"id": number, **header}, payload)

    def _take(self) -> Frame | None:
        try:
            return self._queue.get(timeout=self._idle_s)[2]
        except Empty:
            return None

    def _read(self) -> None:
        sequence = 0
        while (frame := self._read_frame()) is not None:
            sequence += 1
            self._queue.put((0 if frame.header.get("urgent") else 1, sequence, frame))
        if self._ends_at_once:
            os._exit(0)
        self._queue.put((0, 0, None))

    def _read_frame(self) -> Frame | None:
        lengths = self._input.read(_LENGTHS.size)
        if len(lengths) < _LENGTHS.size:
            return None
        header_size, payload_size = _LENGTHS.unpack(lengths)
        header, payload = self._input.read(header_size), self._input.read(payload_size)
        if len(header) < header_size or len(payload) < payload_size:
            return None
        return Frame(json.loads(header), payload)
