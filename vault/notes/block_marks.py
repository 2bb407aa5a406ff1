"""Mark what Strata writes into notes as blocks, and find such blocks again.

The marks are comments, which Obsidian does not show. A block repeats what other notes say, so that
it is no source when notes are listed or judged. The marks in a note tell, so that also copies of
blocks are known, and blocks of what was removed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["MarkedBlock", "blank_blocks", "find_blocks", "may_have_blocks", "write_marks"]

BlockKind = Literal["pinned answer", "table of verdicts"]

_REMARKS: Final[dict[BlockKind, str]] = {
    "pinned answer": "Strata refreshes this block when you ask for it",
    "table of verdicts": "Strata made this block from other notes",
}
_STARTS: Final = tuple(f"%% {kind} " for kind in _REMARKS)
_MARK: Final = re.compile(
    rf"%% (?P<end>end of )?(?P<kind>{'|'.join(_REMARKS)}) (?P<id>[0-9a-f]{{8}})[^\n]* %%\s*"
)


@dataclass(frozen=True, slots=True)
class MarkedBlock:
    """A block in the text of a note.

    Attributes:
        kind: what the block shows.
        id: the pinned answer or table that it shows.
        lines: its first and last line, counted from 1, with the marks.
        text: its text, with the marks.
    """

    kind: str
    id: str
    lines: tuple[int, int]
    text: str


def write_marks(kind: BlockKind, id: str) -> tuple[str, str]:
    """Return the first and the last line of a block."""
    return f"%% {kind} {id}: {_REMARKS[kind]} %%", f"%% end of {kind} {id} %%"


def find_blocks(text: str) -> Iterator[MarkedBlock]:
    """Yield the blocks of a note. A block without its end is none."""
    lines = text.split("\n")
    begun: tuple[str, str, int] | None = None
    for at, line in enumerate(lines):
        if (mark := _MARK.fullmatch(line)) is None:
            continue
        if not mark["end"]:
            begun = (mark["kind"], mark["id"], at)
        elif begun is not None and begun[:2] == (mark["kind"], mark["id"]):
            kind, id, first = begun
            yield MarkedBlock(kind, id, (first + 1, at + 1), "\n".join(lines[first : at + 1]))
            begun = None


def blank_blocks(text: str) -> str:
    """Return the text of a note with empty lines in place of its blocks."""
    if not any(start in text for start in _STARTS):
        return text
    lines = text.split("\n")
    for block in find_blocks(text):
        first, last = block.lines
        lines[first - 1 : last] = [""] * (last - first + 1)
    return "\n".join(lines)


def may_have_blocks(content: bytes) -> bool:
    """Return whether a file may have blocks, which is fast and needs no parser."""
    plain = content.replace(b"\0", b"")  # also where each character takes two bytes
    return any(start.encode() in plain for start in _STARTS)
