"""The values of judging: a verdict on a note, and where the quotation stands that proves it."""

import hashlib
from dataclasses import dataclass
from typing import Final, Literal

from context.json_codec import Record

__all__ = ["Outcome", "QuotePlace", "Verdict", "find_place", "make_key"]

# The verdicts, and why there is none.
Outcome = Literal["yes", "no", "cannot_tell", "failed", "too_long"]

_KEY_CHARS: Final = 24


@dataclass(frozen=True)
class QuotePlace(Record):
    """Where a quotation stands in a note. It holds no text, so no note is stored with a verdict.

    Attributes:
        lines: the first and last line.
        start: the index of its first character in these lines.
        length: the number of characters.
    """

    lines: tuple[int, int]
    start: int
    length: int

    def cut(self, text: str) -> str:
        """Return the quotation from the text of its note."""
        first, last = self.lines
        lines = "\n".join(text.split("\n")[first - 1 : last])
        return lines[self.start : self.start + self.length]


@dataclass(frozen=True)
class Verdict:
    """The verdict on a note, or why there is none.

    Attributes:
        place: where the quotation stands that proves a yes, or None.
        reason: why there is no verdict, or an empty string.
    """

    outcome: Outcome
    place: QuotePlace | None = None
    reason: str = ""


def find_place(text: str, span: tuple[int, int]) -> QuotePlace:
    """Return the place of a quotation, given its span in the text of the note."""
    start = text.rfind("\n", 0, span[0]) + 1
    above = 1 + text.count("\n", 0, span[0])
    lines = (above, above + text.count("\n", span[0], span[1]))
    return QuotePlace(lines, span[0] - start, span[1] - span[0])


def make_key(name: str, version: str, part: str = "") -> str:
    """Return the key of what a model is shown of a note: its name and its content, or a part of it.

    Args:
        name: the name of the note without its folder, which the model sees.
        version: the hash of the note's content.
        part: which part of the note it is, or an empty string for the whole note.
    """
    seen = "\n".join((name, version, part)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(seen).hexdigest()[:_KEY_CHARS]
