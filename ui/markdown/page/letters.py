"""What the letters of a text ask of the lines that they stand on: height, breaks."""

import re

from PySide6.QtGui import QTextOption

__all__ = ["has_rtl", "has_tall_letters", "wrap_for"]

# Scripts whose letters reach further up or down than a line of fixed height leaves room for.
_TALL = re.compile(
    "[\u0600-\u109f\u1780-\u18af\u1950-\u1cff\ua840-\uabff\ufb50-\ufdff\ufe70-\ufefc\U00011000-\U00011fff]"
)
_ENDLESS = re.compile(r"\S{2000}")
_RTL_LETTER = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


def has_tall_letters(text: str) -> bool:
    """Return whether a line of fixed height would be too low for some of the letters."""
    return _TALL.search(text) is not None


def has_rtl(text: str) -> bool:
    """Return whether there is any letter that runs from right to left."""
    return _RTL_LETTER.search(text) is not None


def wrap_for(text: str) -> QTextOption.WrapMode:
    """Return how to break the lines of a text.

    Qt looks for the end of a word anew on each of its lines, so a word of 200,000 letters takes
    seconds to lay out unless it may be broken anywhere.
    """
    if _ENDLESS.search(text):
        return QTextOption.WrapMode.WrapAnywhere
    return QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere
