"""Show progress on standard error."""

import shutil
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from app.cli import text as cli_text

if TYPE_CHECKING:
    from vault.indexing.indexer import IndexProgress

__all__ = ["ProgressLine", "format_progress"]

_FIRST_LINE_S: Final = 2.0
_LINES_APART_S: Final = 10.0


class ProgressLine:
    """A progress line on standard error that is updated in place.

    Without a terminal, progress is printed as a new line every ten seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Create a line that is not shown yet.

        Without a terminal, nothing is printed during the first two seconds.

        Args:
            clock: returns monotonic seconds.
        """
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._width = 0
        self._clock = clock
        self._next_at = clock() + _FIRST_LINE_S

    def show_progress(self, at: "IndexProgress") -> None:
        """Show the progress of indexing."""
        if self._is_terminal:
            self.show(format_progress(at))
        elif self._clock() >= self._next_at:
            self._next_at = self._clock() + _LINES_APART_S
            self._write(f"{_flatten(format_progress(at))}\n")

    def show(self, text: str) -> None:
        """Replace the text of the progress line. Without a terminal, nothing is shown."""
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

    def _write(self, text: str) -> None:
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()


def _flatten(text: str) -> str:
    return cli_text.plain(text).replace("\n", " ")


def format_progress(at: "IndexProgress") -> str:
    """Format the progress of indexing: number of notes, speed and estimated remaining time."""
    if at.phase == "store":
        return "Updating the vector store"
    if not at.total:
        return "Reading your notes"
    does = "by words" if at.phase == "scan" else "by meaning"
    speed = f", {_rate(at.per_s)} a second" if at.per_s >= 0.05 else ""
    left = "" if at.remaining_s is None else f", {_span(at.remaining_s)} left"
    return f"Indexing {does}: {at.done:,} of {at.total:,} notes{speed}{left}  {at.path}".rstrip()


def _rate(per_s: float) -> str:
    return f"{per_s:,.0f}" if per_s >= 10 else f"{per_s:.1f}"


def _span(seconds: float) -> str:
    """Format a duration, such as `12 s`, `3 min` or `2 h 5 min`."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{max(1, round(seconds))} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
