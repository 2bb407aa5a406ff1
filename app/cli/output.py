"""Print results to standard output, and messages and progress to standard error."""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from app.cli import text as cli_text
from app.errors import ErrorInfo
from app.hidden_characters import escape_text

if TYPE_CHECKING:
    from vault.indexing.indexer import IndexProgress

# Without a terminal: the time until the first line of progress, and between two lines.
FIRST_LINE_S: Final = 1.0
LEAST_GAP_S: Final = 3.0
MOST_GAP_S: Final = 60.0
GAP_SHARE: Final = 0.1  # of the time that has passed


class OutputGone(Exception):
    """Raised when standard output was closed or cannot be written to.

    Attributes:
        reason: why writing failed, or an empty string if the reader closed the pipe.
    """

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


class Output:
    """Prints results to standard output, as one JSON document or as text."""

    def __init__(self, is_json: bool, *, on_one_line: bool = False) -> None:
        """Prepare standard output.

        Args:
            is_json: whether to print JSON instead of text.
            on_one_line: whether to print a JSON document without line breaks.
        """
        self.is_json = is_json
        self._indent = None if on_one_line else 2
        self._is_done = False
        self._stream = sys.stdout
        if self._stream is not None:
            encoding = "utf-8" if is_json else self._stream.encoding
            # A lone surrogate, from a file's name, cannot be encoded in UTF-8: write an escape.
            self._stream.reconfigure(encoding=encoding, errors="backslashreplace")  # type: ignore[union-attr]

    def print_document(self, value: Mapping[str, Any]) -> None:
        """Print a result as a JSON document."""
        self._is_done = True
        self.write(json.dumps(value, ensure_ascii=False, indent=self._indent) + "\n")

    def print_lines(self, lines: Iterable[str]) -> None:
        """Print a result as lines of text."""
        for line in lines:
            self.write(f"{line}\n")

    def write(self, text: str) -> None:
        """Print text unchanged, and flush the output."""
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
            self.print_document(document())
        else:
            self.print_lines(text)

    def print_failure(self, info: ErrorInfo) -> None:
        """Print an error as JSON with `--json`, otherwise as text to standard error."""
        if self.is_json and not self._is_done:
            self.print_document({"error": info.to_dict()})
            return
        complain(info.message)
        lines = [info.word_hint()] if info.hint else []
        if info.context is not None:
            from context.report.markdown import report_markdown

            lines += ["", report_markdown(info.context)]
        if info.session is not None:
            lines.append(f"The chat is {info.session}.")
        _write_error("".join(f"{escape_text(line)}\n" for line in lines))


class ProgressLine:
    """A progress line on standard error that is updated in place.

    Without a terminal, the progress of long operations is printed on separate lines, which become
    less frequent over time.
    """

    def __init__(self, read_clock: Callable[[], float] = time.monotonic) -> None:
        """Create a progress line that is not shown yet.

        Args:
            read_clock: returns the current time in seconds.
        """
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._width = 0
        self._read_clock = read_clock
        self._started_at = read_clock()
        self._next_line_s = FIRST_LINE_S

    def show_progress(self, at: "IndexProgress") -> None:
        """Show the progress of indexing. Only a terminal shows the name of the note."""
        if self._is_terminal:
            self.show(format_progress(at))
        elif self._is_line_due():
            complain(format_progress(replace(at, path="")))

    def show_long(self, text: str) -> None:
        """Show the progress of a long operation."""
        if self._is_terminal:
            self.show(text)
        elif self._is_line_due():
            complain(text)

    def show(self, text: str) -> None:
        """Replace the text of the progress line. Without a terminal, nothing is printed."""
        if self._is_terminal:
            room = shutil.get_terminal_size().columns - 1
            line = _flatten(text)[:room]
            self._write(f"\r{line.ljust(self._width)}")
            self._width = len(line)

    def clear(self) -> None:
        """Erase the progress line."""
        if self._width:
            self._write(f"\r{' ' * self._width}\r")
            self._width = 0

    def _is_line_due(self) -> bool:
        """Return whether it is time to print another line. If so, schedule the next one."""
        passed_s = self._read_clock() - self._started_at
        if passed_s < self._next_line_s:
            return False
        self._next_line_s = passed_s + min(max(LEAST_GAP_S, GAP_SHARE * passed_s), MOST_GAP_S)
        return True

    def _write(self, text: str) -> None:
        _write_error(text)


def _flatten(text: str) -> str:
    return escape_text(text).replace("\n", " ")


def format_progress(at: "IndexProgress") -> str:
    """Format the progress of indexing: number of notes, speed and estimated remaining time."""
    if at.phase == "store":
        return "Updating the vector store"
    if not at.total:
        return "Reading your notes"
    does = "by words" if at.phase == "scan" else "by meaning"
    speed = f", {_rate(at.per_s)} a second" if at.per_s >= 0.05 else ""
    left = "" if at.remaining_s is None else f", {_format_duration(at.remaining_s)} left"
    total = cli_text.format_count(at.total, "note")
    return f"Indexing {does}: {at.done:,} of {total}{speed}{left}  {at.path}".rstrip()


def _rate(per_s: float) -> str:
    return f"{per_s:,.0f}" if per_s >= 10 else f"{per_s:.1f}"


def _format_duration(seconds: float) -> str:
    """Format a duration, such as `12 s`, `3 min` or `2 h 5 min`."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{max(1, round(seconds))} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def complain(message: str) -> None:
    """Print a message to standard error."""
    _write_error(f"strata: {escape_text(message)}\n")


def _write_error(text: str) -> None:
    """Write to standard error. Do nothing if it is closed or cannot be written to."""
    with suppress(OSError):
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()


def can_ask() -> bool:
    """Return whether the user can be asked: standard input and standard error are terminals."""
    streams = (sys.stdin, sys.stderr)
    return all(stream is not None and stream.isatty() for stream in streams)


def confirm(question: str) -> bool:
    """Ask a question on standard error, and return whether the user says yes."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def readable(text: str) -> str:
    """Return a command-line argument with invalid UTF-8 replaced by U+FFFD."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
