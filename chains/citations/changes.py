"""Find cited notes that have changed since an answer, with a diff of the cited text.

The log stores each passage as it was sent, with the hash of the note. If the hash differs now, the
passage is compared with the note. Text that still occurs verbatim counts as unchanged.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, unified_diff
from typing import Final

from context.layers import Segment

__all__ = ["ChangedSource", "CurrentText", "find_changed_sources"]

MOST_LINES: Final = 2_000


@dataclass(frozen=True)
class CurrentText:
    """The current text of a note, and the hash of its file."""

    text: str
    version: str


@dataclass(frozen=True)
class ChangedSource:
    """A source that has changed since it was sent.

    Attributes:
        path: the path of the note.
        diff: a unified diff from the text as it was sent to the current text, or an empty string if
            the note is gone.
    """

    path: str
    diff: str = ""

    @property
    def sentence(self) -> str:
        """A sentence that tells the user how the cited source has changed."""
        if not self.diff:
            return f"{self.path} is gone, or may not be read any more."
        return f"{self.path} has changed since this answer."


def find_changed_sources(
    sources: Iterable[Segment], cited: Iterable[int], read: Callable[[str], CurrentText | None]
) -> tuple[ChangedSource, ...]:
    """Return the cited sources whose text has changed, ordered by citation number.

    Args:
        sources: the sources of an answer, as sent.
        cited: the numbers that the answer cites.
        read: returns the current text of a note, or None if it cannot be read.
    """
    numbers, found = set(cited), []
    for source in sources:
        if source.number not in numbers or not source.version or source.derived:
            continue
        current = read(source.source)
        if current is None:
            found.append(ChangedSource(source.source))
        elif current.version != source.version and (diff := _compare(source, current.text)):
            found.append(ChangedSource(source.source, diff))
    return tuple(dict.fromkeys(found))


def _compare(source: Segment, text: str) -> str:
    """Return the diff between a passage and the note's current lines, or "" if nothing changed."""
    sent, lines = source.raw_content.strip("\n").splitlines(), text.splitlines()
    if _normalize(sent) in _normalize(lines):
        return ""
    current = _find_place(sent, lines[:MOST_LINES], source.lines)
    diff = unified_diff(sent, current, source.source, source.source, lineterm="")
    return "\n".join(diff)


def _normalize(lines: Sequence[str]) -> str:
    return " ".join(" ".join(lines).split())


def _find_place(
    sent: Sequence[str], lines: Sequence[str], place: tuple[int, int] | None
) -> Sequence[str]:
    """Find the current lines of a note that correspond to a passage.

    Args:
        sent: the lines of the passage as it was sent.
        lines: the current lines of the note.
        place: the first and last line number of the passage when it was sent, or None for a whole
            note.

    Returns:
        The corresponding lines. If no line of the passage is left in the note, the lines at its old
        line numbers.
    """
    matcher = SequenceMatcher(None, sent, lines, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    if not blocks:
        return lines[place[0] - 1 : place[1]] if place else lines
    first, last = blocks[0], blocks[-1]
    start = max(0, first.b - first.a)
    return lines[start : last.b + len(sent) - last.a]
