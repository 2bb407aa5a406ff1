"""Standard output as one JSON document or text for a person, and messages on standard error."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from app.cli import text as cli_text
from app.errors import ErrorInfo


class OutputGone(Exception):
    """Raised when standard output cannot be written.

    Attributes:
        reason: why; empty where whoever read it has simply had enough.
    """

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


class Output:
    """Standard output as it is now: one JSON document, or text for a person."""

    def __init__(self, is_json: bool) -> None:
        self.is_json = is_json
        self._is_done = False
        self._stream = sys.stdout
        if self._stream is not None:
            encoding = "utf-8" if is_json else self._stream.encoding
            # Half a surrogate pair, from a file's name, has no place in UTF-8; as an escape it has.
            self._stream.reconfigure(encoding=encoding, errors="backslashreplace")  # type: ignore[union-attr]

    def document(self, value: Mapping[str, Any]) -> None:
        """Print the one document."""
        self._is_done = True
        self.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")

    def lines(self, lines: Iterable[str]) -> None:
        """Print text for a person."""
        for line in lines:
            self.write(f"{line}\n")

    def write(self, text: str) -> None:
        """Print text as it is, at once."""
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError as error:
            # What is still in the buffer would fail again at the end of the program.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
            is_quiet = isinstance(error, BrokenPipeError)
            raise OutputGone("" if is_quiet else str(error.strerror)) from error

    def show(self, document: Callable[[], Mapping[str, Any]], text: Iterable[str]) -> None:
        """Print whichever of the two was asked for."""
        if self.is_json:
            self.document(document())
        else:
            self.lines(text)

    def failure(self, info: ErrorInfo) -> None:
        """Print what went wrong: the document, or a sentence on standard error."""
        if self.is_json and not self._is_done:
            self.document({"error": info.to_dict()})
            return
        complain(info.message)
        lines = [info.hint] if info.hint else []
        if info.context is not None:
            from context.report.markdown import report_markdown

            lines += ["", report_markdown(info.context)]
        if info.session is not None:
            lines.append(f"The chat is {info.session}.")
        sys.stderr.write("".join(f"{cli_text.plain(line)}\n" for line in lines))


def complain(message: str) -> None:
    """Write a message to standard error."""
    sys.stderr.write(f"strata: {cli_text.plain(message)}\n")


def can_ask() -> bool:
    """Return whether a person at a terminal can be asked."""
    streams = (sys.stdin, sys.stderr)
    return all(stream is not None and stream.isatty() for stream in streams)


def readable(text: str) -> str:
    """Return an argument as text; bytes that are no UTF-8 become the sign for that."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
