"""Join the pieces of streamed text, however a server cuts it.

Some servers repeat all the text so far in every delta. Such a stream is recognised if the first
delta begins with a capital, each delta begins with the whole previous one and is longer, and three
of them have several words and end with a letter or digit. Joined, these would read "The barrel
standsThe barrel stands by", unlike ordinary text, which has a blank, a line end or a mark there.
Until this is decided, a limited number of deltas is held back, so that nothing is shown twice.
"""

import re
from typing import Final, Literal

from context.layers import replace_surrogates

__all__ = ["DeltaReader", "TextJoiner"]

_LEAST_CHARS: Final = 8
_LEAST_WORDS: Final = 3  # different words
_MOST_HELD: Final = 16  # deltas, so that an answer of many such does not wait for its end
_MOST_UNSURE: Final = 2  # deltas that are long enough, and still no proof


class TextJoiner:
    """Joins the pieces of streamed text without splitting surrogate pairs.

    If a service sends the two halves of a pair in separate pieces, the first half is held back. A
    half without its counterpart is replaced with U+FFFD, and so is NUL, which no file may hold.
    """

    def __init__(self) -> None:
        self._held = ""

    def add(self, piece: str) -> str:
        """Add a piece of streamed text, and return the text that is now complete."""
        text, self._held = self._held + piece, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._held = text[:-1], text[-1]
        return _clean(text)

    def end(self) -> str:
        """Return the remaining text at the end of the stream."""
        remaining_text, self._held = self._held, ""
        return _clean(remaining_text)


class DeltaReader:
    """Returns the text of deltas once, whether each holds what is new or all the text so far."""

    def __init__(self) -> None:
        self._state: Literal["start", "unsure", "deltas", "wholes"] = "start"
        self._whole = ""
        self._shown_chars = self._sure = 0
        self._held: list[str] = []

    def add(self, delta: str) -> str:
        """Add a delta that is not empty, and return the text that is now certain."""
        match self._state:
            case "start":
                return self._begin(delta)
            case "unsure":
                return self._compare(delta)
            case "wholes":
                return self._read_whole(delta)
        return delta

    def end(self) -> str:
        """Return what was held back, because nothing follows."""
        remaining_text, self._held = "".join(self._held), []
        return remaining_text

    def _begin(self, delta: str) -> str:
        self._state = "unsure" if delta[0].isupper() else "deltas"
        self._whole, self._shown_chars, self._sure = delta, len(delta), _is_sure(delta)
        return delta

    def _compare(self, delta: str) -> str:
        if len(delta) <= len(self._whole) or not delta.startswith(self._whole):
            self._state = "deltas"
            return self.end() + delta
        self._held.append(delta)
        self._whole = delta
        self._sure += _is_sure(delta)
        if self._sure <= _MOST_UNSURE:
            if len(self._held) < _MOST_HELD:
                return ""
            self._state = "deltas"
            return self.end()
        self._state, self._held = "wholes", []
        return delta[self._shown_chars :]

    def _read_whole(self, delta: str) -> str:
        """Return what a delta adds. The last one may be what was said already, or be new alone."""
        if delta == self._whole:
            return ""
        is_whole = delta.startswith(self._whole)
        added = delta[len(self._whole) :] if is_whole else delta
        self._whole += added
        return added


def _is_sure(delta: str) -> bool:
    """Return whether a delta with another behind it, run together, would be no ordinary text."""
    words = set(re.findall(r"[^\W\d_]+", delta))
    is_long = len(delta) >= _LEAST_CHARS and len(words) >= _LEAST_WORDS
    return is_long and delta[-1].isalnum()


def _clean(text: str) -> str:
    return replace_surrogates(text).replace("\0", "\N{REPLACEMENT CHARACTER}")
