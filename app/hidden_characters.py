"""Escape characters in texts from notes and models that a terminal would execute or hide.

The window escapes the same characters in names and titles. They are control characters, invisible
characters and direction marks. Characters that emoji and some scripts need are kept.
"""

import re
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import regex

__all__ = ["EscapingStream", "escape_text"]

_PLAIN: Final = re.compile(r"[\t\n -~]*")
# Control characters, default ignorable code points of Unicode (direction marks, zero-width
# characters, tags, variation selectors), line separators and interlinear annotation marks.
_HIDDEN: Final = (
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]"
)
# The exceptions, which belong to visible text: joiners and variation selectors of emoji, keycaps,
# the three flags made of tags, joiners between joining letters or next to a virama, zero-width
# spaces in scripts without word spaces, and Mongolian variation selectors.
_WRITTEN: Final = r"""
      (?<=\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)\u200d(?=\p{Extended_Pictographic})
    | (?<=\p{Extended_Pictographic})[\ufe0e\ufe0f] | (?<=[0-9\#*])\ufe0f(?=\u20e3)
    | (?<=\U0001f3f4)\U000e0067\U000e0062
      (?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)
      \U000e007f
    | (?<=\p{ccc=9})[\u200c\u200d] | \u200d(?=\p{ccc=9})
    | (?<=[\p{jt=D}\p{jt=L}]\p{Mn}*)\u200c(?=[\p{jt=D}\p{jt=R}])
    | (?<=[\p{jt=D}\p{jt=R}\p{jt=L}]\p{Mn}*)\u200d(?!\u200d)
    | (?<=[\p{Khmer}\p{Lao}\p{Myanmar}\p{Thai}])\u200b(?=[\p{Khmer}\p{Lao}\p{Myanmar}\p{Thai}])
    | (?<=\p{Mongolian})(?<![\u180b-\u180f])[\u180b-\u180f]"""
_BESIDE_CHARS: Final = 8  # how many characters before a hidden one can permit it


def escape_text(text: str) -> str:
    """Escape control characters and invisible characters.

    Tabs, line breaks, and characters needed for emoji and some scripts are kept.
    """
    return text if _PLAIN.fullmatch(text) else _escape(text, 0)


@cache
def _compile(pattern: str) -> "regex.Pattern[str]":
    import regex  # takes long to load, and most texts have no character to escape

    return regex.compile(pattern, regex.VERBOSE)


def _escape(text: str, start: int) -> str:
    written_to = 0

    def show(match: "regex.Match[str]") -> str:
        nonlocal written_to
        if (written := _compile(_WRITTEN).match(text, match.start())) is not None:
            written_to = written.end()
        sign: str = match.group()
        if match.start() < written_to:
            return sign
        return f"\\x{ord(sign):02x}" if sign <= "\xff" else f"\\u{{{ord(sign):x}}}"

    shown: str = _compile(_HIDDEN).sub(show, text, pos=start)
    return shown[start:]


class EscapingStream:
    """Escapes control characters and invisible characters in streamed text, like `escape_text`.

    At the end of a piece of text, some characters are held back, because the next piece may show
    that they belong to an emoji and must not be escaped.
    """

    def __init__(self) -> None:
        self._before = ""
        self._pending_text = ""

    def feed(self, piece: str) -> str:
        """Add a piece of text, and return the escaped text to show now."""
        text = self._pending_text + piece
        end = len(text)
        while end and _compile(_HIDDEN).match(text, end - 1):
            end -= 1
        self._pending_text = text[end:]
        return self._show(text[:end])

    def flush(self) -> str:
        """Return the characters that are still held back at the end of the text."""
        text, self._pending_text = self._pending_text, ""
        return self._show(text)

    def _show(self, text: str) -> str:
        before, self._before = self._before, (self._before + text)[-_BESIDE_CHARS:]
        return _escape(before + text, len(before))
