"""Which way a text runs."""

import unicodedata

__all__ = ["from_left", "is_rtl"]

_MARK = "\N{LEFT-TO-RIGHT MARK}"


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
