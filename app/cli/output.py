"""Print results to standard output, and messages to standard error."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from app.cli import text as cli_text
from app.errors import ErrorInfo


class OutputGone(Exception):
    """Standard output was closed or cannot be written.

    Attributes:
        reason: why writing failed, or an empty string if the reader closed the pipe.
    """

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


class Output:
    """Prints results to standard output, as one JSON document or as text."""

    def __init__(self, is_json: bool) -> None:
        self.is_json = is_json
        self._is_done = False
        self._stream = sys.stdout
        if self._stream is not None:
            encoding = "utf-8" if is_json else self._stream.encoding
            # A lone surrogate, from a file's name, cannot be encoded in UTF-8: write an escape.
            self._stream.reconfigure(encoding=encoding, errors="backslashreplace")  # type: ignore[union-attr]

    def document(self, value: Mapping[str, Any]) -> None:
        """Print a result as a JSON document."""
        self._is_done = True
        self.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")

    def lines(self, lines: Iterable[str]) -> None:
        """Print a result as lines of text."""
        for line in lines:
            self.write(f"{line}\n")

    def write(self, text: str) -> None:
        """Print a text unchanged and flush it."""
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError as error:
            # The text left in the buffer would fail again at the end of the program.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
            is_quiet = isinstance(error, BrokenPipeError)
            raise OutputGone("" if is_quiet else str(error.strerror)) from error

    def show(self, document: Callable[[], Mapping[str, Any]], text: Iterable[str]) -> None:
        """Print a result as JSON with `--json`, otherwise as text."""
        if self.is_json:
            self.document(document())
        else:
            self.lines(text)

    def failure(self, info: ErrorInfo) -> None:
        """Print an error as JSON with `--json`, otherwise as text to standard error."""
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
    """Print a message to standard error."""
    sys.stderr.write(f"strata: {cli_text.plain(message)}\n")


def can_ask() -> bool:
    """Return whether standard input and standard error are a terminal."""
    streams = (sys.stdin, sys.stderr)
    return all(stream is not None and stream.isatty() for stream in streams)


def readable(text: str) -> str:
    """Replace invalid UTF-8 in a command-line argument."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
