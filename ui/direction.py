"""Which way a text runs."""

import unicodedata
from functools import cache

__all__ = ["is_rtl"]


@cache
def is_rtl(text: str) -> bool:
    """Return whether the first letter with a direction of its own runs from right to left."""
    for char in text:
        direction = unicodedata.bidirectional(char)
        if direction in {"R", "AL"}:
            return True
        if direction == "L":
            return False
    return False
