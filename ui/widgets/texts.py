"""The direction and script of a text, and plain text for the clipboard.

Nothing here needs Qt, so that Markdown can be read without it.
"""

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtGui import QTextCursor

__all__ = [
    "END_ISOLATE",
    "ISOLATE",
    "from_left",
    "has_rtl",
    "has_tall_letters",
    "is_rtl",
    "read_selection",
]

_MARK = "\N{LEFT-TO-RIGHT MARK}"
# Scripts whose letters reach further up or down than a line of fixed height leaves room for.
_TALL = re.compile(
    "[\u0600-\u109f\u1780-\u18af\u1950-\u1cff\ua840-\uabff\ufb50-\ufdff\ufe70-\ufefc\U00011000-\U00011fff]"
)
_RTL_LETTER = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
# Keep a citation together between letters that run from right to left.
ISOLATE = "\N{LEFT-TO-RIGHT ISOLATE}"
END_ISOLATE = "\N{POP DIRECTIONAL ISOLATE}"

# Qt parts blocks, lines and cells with characters that mean nothing to other programs.
_INNER = str.maketrans(
    {
        "\N{PARAGRAPH SEPARATOR}": "\n",
        "\N{LINE SEPARATOR}": "\n",
        "\N{NO-BREAK SPACE}": " ",
        "\N{OBJECT REPLACEMENT CHARACTER}": "",
        ISOLATE: "",
        END_ISOLATE: "",
        "\ufdd0": "\n",
        "\ufdd1": "\n",
    }
)


def is_rtl(text: str) -> bool:
    """Return whether the first letter with a direction of its own runs from right to left."""
    for char in text:
        direction = unicodedata.bidirectional(char)
        if direction in {"R", "AL"}:
            return True
        if direction == "L":
            return False
    return False


def from_left(sentence: str) -> str:
    """Return a sentence of the window's own, which runs from the left whatever it begins with.

    It may begin with the name of a note, or with a quotation, in letters that run from the right.
    """
    return f"{_MARK}{sentence}" if is_rtl(sentence) else sentence


def has_tall_letters(text: str) -> bool:
    """Return whether a line of fixed height would be too low for some of the letters."""
    return _TALL.search(text) is not None


def has_rtl(text: str) -> bool:
    """Return whether there is any letter that runs from right to left."""
    return _RTL_LETTER.search(text) is not None


def read_selection(cursor: "QTextCursor") -> str:
    """Return the selection of a cursor as plain text; citations stay `[1]`.

    The text is the one that is read: without formats and without Qt's own separators.
    """
    return cursor.selectedText().translate(_INNER)
