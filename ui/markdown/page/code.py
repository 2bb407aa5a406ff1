"""Code blocks: highlight long code in small steps, and place the copy buttons."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count

from PySide6.QtCore import QPoint, QRectF, QTimer
from PySide6.QtGui import QGuiApplication, QTextBlock, QTextCursor, QTextDocument
from PySide6.QtWidgets import QWidget

from ui.markdown.code_colors import Line, each_line
from ui.markdown.page.formats import Formats
from ui.widgets.buttons import IconButton
from ui.widgets.texts import count_units

__all__ = ["CodeHighlighter", "CopyButtons", "color_line"]

_KEEP = QTextCursor.MoveMode.KeepAnchor
_SIZE = 24
_FROM_EDGE = 8
_SHOWN_MS = 1500


class CodeHighlighter:
    """Highlights the long code blocks of a document in small steps, after the code has been drawn.

    Args:
        document: the document with the code blocks.
        formats: the formats for the colours.
    """

    def __init__(self, document: QTextDocument, formats: Formats) -> None:
        self._document, self._formats = document, formats
        self._waiting: deque[Iterator[tuple[int, Line]]] = deque()

    @property
    def is_waiting(self) -> bool:
        """Whether some code of the document has not been highlighted yet."""
        return bool(self._waiting)

    def add(self, position: int, code: str, language: str) -> None:
        """Queue a code block for highlighting.

        Args:
            position: the text position of the code. The code and the text above it must be final.
            code: the whole code of the block.
            language: the language of the code.
        """
        first = self._document.findBlock(position).blockNumber()
        self._waiting.append(zip(count(first), each_line(code, language), strict=False))

    def go_on(self, seconds: float) -> None:
        """Highlight queued lines of code, for about `seconds` seconds."""
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
    """Set the colours of a line of code.

    Args:
        block: the text block of the line.
        runs: the (colour name, text) pairs that make up the line.
        formats: the format of each colour.
    """
    cursor = QTextCursor(block)
    at = block.position()
    for color, text in runs:
        cursor.setPosition(at)
        at += count_units(text)
        cursor.setPosition(at, _KEEP)
        cursor.setCharFormat(formats.code(color))


class CopyButtons:
    """The copy buttons of a view. Each code block has one in its header.

    Args:
        parent: the parent widget of the buttons.
        read_text: a function that takes the index of a code block in the view and returns its code.
    """

    def __init__(self, parent: QWidget, read_text: Callable[[int], str]) -> None:
        self._parent = parent
        self._read_text = read_text
        self._buttons: list[IconButton] = []

    def place(self, panels: Sequence[QRectF]) -> None:
        """Show one copy button in the header of each code block, and hide the other buttons.

        Args:
            panels: the rectangles of the code blocks, in text order.
        """
        while len(self._buttons) < len(panels):
            self._buttons.append(self._make(len(self._buttons)))
        for button, rect in zip(self._buttons, panels, strict=False):
            x = round(rect.right()) - button.width() - _FROM_EDGE
            spot = QPoint(x, round(rect.top()) + _FROM_EDGE - 2)
            if button.pos() != spot or button.isHidden():
                button.move(spot)
                button.show()
        for button in self._buttons[len(panels) :]:
            button.hide()

    def _make(self, index: int) -> IconButton:
        made = IconButton("copy", "Copy code", size=_SIZE)
        made.setParent(self._parent)
        made.clicked.connect(lambda _checked=False: self._copy(index))
        return made

    def _copy(self, index: int) -> None:
        QGuiApplication.clipboard().setText(self._read_text(index))
        button = self._buttons[index]
        button.set_icon("check", "success.graphic")
        QTimer.singleShot(_SHOWN_MS, button, lambda: button.set_icon("copy"))
