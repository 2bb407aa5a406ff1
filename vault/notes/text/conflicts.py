"""Find the marks that Git leaves in a note when two versions of it cannot be merged.

To Markdown, the line of equals signs would make a heading of the line above it, and the mark at the
end a quotation.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

__all__ = ["Conflict", "blank_conflict_marks", "find_conflicts"]

_OPENS: Final = re.compile(r"<{7}(?: .*)?$")
_BASE: Final = re.compile(r"\|{7}(?: .*)?$")
_DIVIDES: Final = re.compile(r"={7}$")
_CLOSES: Final = re.compile(r">{7}(?: .*)?$")


class Conflict(NamedTuple):
    """The numbers of the lines with the marks of a conflict.

    Attributes:
        base: the mark above the common origin of both versions, or the number of the dividing mark.
    """

    opens: int
    base: int
    divides: int
    closes: int


def find_conflicts(lines: Iterable[tuple[int, str]]) -> Iterator[Conflict]:
    """Yield each complete conflict.

    Args:
        lines: numbered lines.
    """
    opens = base = divides = 0
    for number, raw in lines:
        line = raw.rstrip()
        if _OPENS.match(line):
            opens, base, divides = number, 0, 0
        elif opens and not divides and _BASE.match(line):
            base = number
        elif opens and not divides and _DIVIDES.match(line):
            divides = number
        elif divides and _CLOSES.match(line):
            yield Conflict(opens, base or divides, divides, number)
            opens = base = divides = 0


def blank_conflict_marks(lines: Sequence[str]) -> Sequence[str]:
    """Return lines in which empty ones are in the place of the marks of conflicts."""
    if not any(line.startswith("<<<<<<<") for line in lines):
        return lines
    blanked = list(lines)
    for conflict in find_conflicts(enumerate(lines, start=1)):
        for number in set(conflict):
            blanked[number - 1] = ""
    return blanked
