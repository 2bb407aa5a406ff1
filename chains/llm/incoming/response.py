"""Read the body of a response: limit its size, refuse web pages, and read the answers of chats."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from chains.errors import WrongAddress
from chains.llm.incoming.chat_stream import AnswerError, ChatStream
from chains.llm.incoming.pieces import AnswerPiece

__all__ = ["ResponseReader", "ResponseTooLarge"]

MAX_LINE_BYTES: Final = 4_000_000
MAX_ERROR_BYTES: Final = 65_536
# A stream event with one token has about 300 bytes, and up to 2,000 from a few services.
BYTES_PER_TOKEN: Final = 2_000
# An event has at most three lines. The others allow for keep-alive lines while a model reasons.
LINES_PER_TOKEN: Final = 10
SPARE_LINES: Final = 2_000
# The path of the endpoints whose answers are read here, whatever the provider.
CHAT_PATH: Final = "/chat/completions"
# The end of such an answer, for the client library.
_END: Final = (
    b'data: {"id": "end", "object": "chat.completion.chunk", "created": 0, "model": "", "choices": '
    b'[{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
)
_SUCCESS: Final = range(200, 300)
# The status of an address that leads to a web page, or to a page that does not exist there.
_PAGE_STATUS: Final = (*_SUCCESS, 404, 405)
_PAGE_STARTS: Final = (b"<!doctype", b"<html")
_PAGE_START_BYTES: Final = 64
# The line of an error in a stream that the client library reads, such as Ollama's. Some servers
# write `"error": null` in each line of an answer.
_ERROR_LINE: Final = re.compile(
    rb'^(?:data:[ \t]*)?\{\s*"error"\s*:\s*(?:"[^"]|\{\s*"|\[|true|[1-9])', re.MULTILINE
)
# A field of Gemini. Within a text of the answer, its quotes would be escaped.
_FINISH: Final = b'"finishReason"'


class ResponseTooLarge(Exception):
    """The response exceeds the size limit for an answer."""


class ReaderGone(Exception):
    """Nobody reads the answer any more."""


class ResponseReader:
    """Reads the body of the response to one call.

    Attributes:
        base: the address of the server, or an empty string if no chat completions were asked for.
        bytes_in: the number of bytes received so far.
        error_body: the beginning of the response if its status is an error, or the error in it.
        failure: why the response was given up, or an empty string. Asking again is of no use then.
        has_finish_reason: whether the response contains a finish reason in Gemini's format.
        is_chat: whether the answer is read here, so that the client library sees only its end.
        stream_error: the error in a response with a successful status, or None.
        wrong_address: the error for a web page, or None.
    """

    def __init__(
        self, max_output_tokens: int, on_piece: Callable[[AnswerPiece], bool] | None = None
    ) -> None:
        """Prepare to read.

        Args:
            max_output_tokens: the maximum tokens of the answer, which limit the response size.
            on_piece: receives the pieces of an answer that is read here, and returns whether
                anybody still reads them. If it is None, no answer is read here.
        """
        self.base = ""
        self.bytes_in = 0
        self.error_body = b""
        self.failure = ""
        self.has_finish_reason = self.is_chat = False
        self.stream_error: AnswerError | None = None
        self.wrong_address: WrongAddress | None = None
        self._status = 0
        self._on_piece = on_piece
        self._max_bytes = MAX_LINE_BYTES + BYTES_PER_TOKEN * max_output_tokens
        self._max_lines = SPARE_LINES + LINES_PER_TOKEN * max_output_tokens
        self._lines = self._line_bytes = 0
        self._tail = b""

    def open(self, status: int, address: str) -> None:
        """Take the status of the response, and the address of the request without credentials."""
        self._status, self._page = status, address.removesuffix(CHAT_PATH)
        is_chat = address.endswith(CHAT_PATH)
        self.base = self._page if is_chat else ""
        self.is_chat = is_chat and self._on_piece is not None and status in _SUCCESS

    def read(self, source: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the body for the client library.

        Raises:
            AnswerError: the response is an error, or no answer. It is in `stream_error` too.
            ReaderGone: nobody reads the answer.
            ResponseTooLarge: the response is larger than an answer can be.
            WrongAddress: the response is a web page.
        """
        chunks = self._watch(source)
        if self.is_chat:
            self._read_chat(chunks)
            yield _END
        elif self._status in _SUCCESS:
            yield from self._stop_at_error(chunks)
        else:
            yield from chunks

    def refuse_packed(self) -> None:
        """Raise `ResponseTooLarge`, because the body is compressed and could grow without limit."""
        self.failure = "it packed its answer, which was not asked for"
        raise ResponseTooLarge

    def _watch(self, source: Iterator[bytes]) -> Iterator[bytes]:
        start: bytes | None = b""
        for chunk in source:
            self._count(chunk)
            if start is not None:
                start += chunk
                self._refuse_page(start)
                start = start if len(start) < _PAGE_START_BYTES else None
            yield chunk

    def _count(self, chunk: bytes) -> None:
        if self._status >= 400 and len(self.error_body) < MAX_ERROR_BYTES:
            self.error_body += chunk[:MAX_ERROR_BYTES]
        self.has_finish_reason = self.has_finish_reason or _FINISH in self._tail + chunk
        self._tail = chunk[-len(_FINISH) :]
        behind_last_line = len(chunk) - chunk.rfind(b"\n") - 1
        self._line_bytes = behind_last_line + (self._line_bytes if b"\n" not in chunk else 0)
        self.bytes_in += len(chunk)
        self._lines += chunk.count(b"\n")
        too_long = self.bytes_in > self._max_bytes or self._lines > self._max_lines
        if too_long or self._line_bytes > MAX_LINE_BYTES:
            self.failure = "it sent more than an answer can be"
            raise ResponseTooLarge

    def _refuse_page(self, start: bytes) -> None:
        first_bytes = start.removeprefix(b"\xef\xbb\xbf").lstrip()[:9].lower()
        if self._status in _PAGE_STATUS and first_bytes.startswith(_PAGE_STARTS):
            self.wrong_address = WrongAddress(self._page)
            raise self.wrong_address

    def _read_chat(self, chunks: Iterator[bytes]) -> None:
        stream = ChatStream()
        try:
            for chunk in chunks:
                self._emit(stream.feed(chunk))
                if stream.is_done:
                    break
            self._emit(stream.close())
        except AnswerError as error:
            self._note_error(error)
            raise

    def _note_error(self, error: AnswerError) -> None:
        self.stream_error, text = error, error.body
        self.error_body = (text if isinstance(text, str) else json.dumps(text)).encode()

    def _stop_at_error(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield what stands before an error. The client library would not read its reason."""
        line = b""  # the beginning of the last line
        for chunk in chunks:
            text = line + chunk
            if found := _ERROR_LINE.search(text):
                yield chunk[: max(0, found.start() - len(line))]
                error = AnswerError(_read_line(text[found.start() :], chunks))
                self._note_error(error)
                raise error
            line = text[text.rfind(b"\n") + 1 :][:_PAGE_START_BYTES]
            yield chunk

    def _emit(self, pieces: Iterator[AnswerPiece]) -> None:
        for piece in pieces:
            if self._on_piece is not None and not self._on_piece(piece):
                raise ReaderGone


def _read_line(start: bytes, rest: Iterator[bytes]) -> Any:
    """Return the JSON value of the first line of a stream, or its text if it is not JSON."""
    line = start
    while b"\n" not in line and len(line) < MAX_ERROR_BYTES and (chunk := next(rest, b"")):
        line += chunk
    text = line.partition(b"\n")[0].decode("utf-8", "replace").removeprefix("data:").strip()
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
