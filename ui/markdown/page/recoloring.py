"""Colours of long code, given after it is drawn, a few lines at a time: nothing stutters."""

import time
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import count

from PySide6.QtGui import QTextBlock, QTextCursor, QTextDocument

from ui.markdown.code_colors import Line, each_line
from ui.markdown.page.formats import Formats

__all__ = ["Recoloring", "color_line"]

_KEEP = QTextCursor.MoveMode.KeepAnchor


class Recoloring:
    """Knows which blocks of a document wait for their colours."""

    def __init__(self, document: QTextDocument, formats: Formats) -> None:
        self._document, self._formats = document, formats
        self._waiting: deque[Iterator[tuple[int, Line]]] = deque()

    @property
    def is_waiting(self) -> bool:
        """Whether there is more to be done."""
        return bool(self._waiting)

    def add(self, position: int, code: str, language: str) -> None:
        """Color the code that begins at a position, when there is time.

        Args:
            position: nothing above it, nor the code itself, changes from here on.
            code: all of it.
            language: of the code.
        """
        first = self._document.findBlock(position).blockNumber()
        self._waiting.append(zip(count(first), each_line(code, language), strict=False))

    def go_on(self, seconds: float) -> None:
        """Color some lines, for about so long."""
        until = time.perf_counter() + seconds
        edit = QTextCursor(self._document)
        edit.beginEditBlock()
        while self._waiting and time.perf_counter() < until:
            number, line = next(self._waiting[0], (-1, ()))
            if number < 0:
                self._waiting.popleft()
            else:
                color_line(self._document.findBlockByNumber(number), line, self._formats)
        edit.endEditBlock()


def color_line(block: QTextBlock, runs: Iterable[tuple[str, str]], formats: Formats) -> None:
    """Give the runs of a line their colours."""
    cursor = QTextCursor(block)
    at = block.position()
    for color, text in runs:
        cursor.setPosition(at)
        at += len(text.encode("utf-16-le")) // 2
        cursor.setPosition(at, _KEEP)
        cursor.setCharFormat(formats.code(color))
