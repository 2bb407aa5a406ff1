"""Find cited notes that have changed since an answer, with a diff of the cited text.

The log stores each passage as it was sent, with the hash of the note. If the hash differs now, the
passage is compared with the note. Text that still occurs verbatim counts as unchanged, and so does
text that the answer's own turn has edited.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, unified_diff
from itertools import accumulate
from pathlib import PurePosixPath
from typing import Final

from context.layers import Segment

__all__ = ["ChangedSource", "CurrentText", "OwnEdit", "find_changed_sources"]

MOST_LINES: Final = 2_000


@dataclass(frozen=True)
class CurrentText:
    """The current text of a note, and the hash of its file."""

    text: str
    version: str


@dataclass(frozen=True)
class OwnEdit:
    """An edit that the answer's own turn made to a note: a replaced text, or a move.

    Attributes:
        path: the path of the note.
        old: the replaced text, or an empty string for a move.
        new: the text in its place.
        to: the path or folder to which the note was moved, or an empty string.
    """

    path: str
    old: str = ""
    new: str = ""
    to: str = ""

    def list_targets(self) -> tuple[str, ...]:
        """Return the paths that a moved note may have now."""
        return self.to, (PurePosixPath(self.to) / PurePosixPath(self.path).name).as_posix()


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
    sources: Iterable[Segment],
    cited: Iterable[int],
    read: Callable[[str], CurrentText | None],
    edits: Sequence[OwnEdit] = (),
) -> tuple[ChangedSource, ...]:
    """Return the cited sources whose text has changed, ordered by citation number.

    Args:
        sources: the sources of an answer, as sent.
        cited: the numbers that the answer cites.
        read: returns the current text of a note, or None if it cannot be read.
        edits: what the answer's own turn changed, in order. These changes are not reported.
    """
    numbers, found = set(cited), []
    for source in sources:
        if source.number not in numbers or not source.version or source.derived:
            continue
        own = [edit for edit in edits if edit.path == source.source]
        current = _read_moved(source.source, read, own)
        if current is None:
            found.append(ChangedSource(source.source))
        elif current.version != source.version and (diff := _compare(source, current.text, own)):
            found.append(ChangedSource(source.source, diff))
    return tuple(dict.fromkeys(found))


def _read_moved(
    path: str, read: Callable[[str], CurrentText | None], own: Sequence[OwnEdit]
) -> CurrentText | None:
    """Return the current text of a note that the answer's own turn may have moved."""
    targets = [target for edit in own if edit.to for target in edit.list_targets()]
    return next((text for each in (path, *targets) if (text := read(each)) is not None), None)


def _compare(source: Segment, text: str, own: Sequence[OwnEdit]) -> str:
    """Return the diff between a passage and the note's current lines, or "" if nothing changed."""
    replaced = [edit for edit in own if edit.old]
    stages = accumulate(replaced, _apply_edit, initial=source.raw_content)
    texts = [stage.strip("\n").splitlines() for stage in stages]
    lines, sent = text.splitlines(), texts[-1]
    now = _normalize(lines)
    if any(_normalize(stage) in now for stage in texts):
        return ""
    current = _find_place(sent, lines[:MOST_LINES], source.lines)
    diff = unified_diff(sent, current, source.source, source.source, lineterm="")
    return "\n".join(diff)


def _apply_edit(text: str, edit: OwnEdit) -> str:
    return text.replace(edit.old, edit.new, 1)


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
