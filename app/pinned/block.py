"""Mark what Strata writes into notes as blocks: pinned answers, and tables of verdicts.

The marks are comments, which Obsidian does not show. A block repeats what other notes say, so that
it is no source when notes are listed or judged. The marks in a note tell, so that also copies of
blocks are known, and blocks of what was removed. Nothing in the block of a pinned answer is a task,
a tag or a property, so that a note with a block does not become an answer by it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from app.pinned.answer import AnswerRow, PinnedAnswer
from chains.citations.pieces import split_at_code
from chains.extractive.writer import write_item, write_text
from vault.notes.kinds import drop_note_suffix
from vault.notes.tasks import is_task

__all__ = [
    "MarkedBlock",
    "blank_blocks",
    "escape_comments",
    "find_blocks",
    "may_have_blocks",
    "write_block",
    "write_marks",
]

BlockKind = Literal["pinned answer", "table of verdicts"]

_REMARKS: Final[dict[BlockKind, str]] = {
    "pinned answer": "Strata refreshes this block when you ask for it",
    "table of verdicts": "Strata made this block from other notes",
}
_STARTS: Final = tuple(f"%% {kind} " for kind in _REMARKS)
_MARK: Final = re.compile(
    rf"%% (?P<end>end of )?(?P<kind>{'|'.join(_REMARKS)}) (?P<id>[0-9a-f]{{8}})[^\n]* %%\s*"
)
_MOST_LINES: Final = 200
# A tag, an inline property, the name of a block, and the mark of a comment.
_ACTS: Final = re.compile(r"(?<!\S)(#)(?=\w)|(::)|(?<=\s)(\^)(?=[\w-]+$)|%(?=%)|(?<=%)%")
_NOT_IN_LINKS: Final = frozenset("[]#^|\n")


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
    open_block: tuple[str, str, int] | None = None
    for at, line in enumerate(lines):
        if (mark := _MARK.fullmatch(line)) is None:
            continue
        if not mark["end"]:
            open_block = (mark["kind"], mark["id"], at)
        elif open_block is not None and open_block[:2] == (mark["kind"], mark["id"]):
            kind, id, first = open_block
            yield MarkedBlock(kind, id, (first + 1, at + 1), "\n".join(lines[first : at + 1]))
            open_block = None


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


def escape_comments(text: str) -> str:
    """Return a text that neither begins nor ends a comment."""
    return text.replace("%%", "\\%\\%")


def write_block(answer: PinnedAnswer) -> str:
    """Write a pinned answer with its rows as a block, which ends without a line break."""
    head = f"**{_tame(write_text(answer.title))}**"
    if answer.summary:
        head = f"{head}: {_tame(write_text(answer.summary))}"
    lines = [f"- {_write_row(row)}" for row in answer.rows[:_MOST_LINES]]
    if (left := answer.total - len(lines)) > 0:
        lines.append(f"- {left:,} more")
    start, end = write_marks("pinned answer", answer.id)
    return "\n".join((start, head, "", *lines, "", end) if lines else (start, head, "", end))


def _write_row(row: AnswerRow) -> str:
    first = row.shown.split("\n", 1)[0]
    text = _tame(write_item(row.shown if is_task(first) else first))
    name, title = drop_note_suffix(row.path), row.title or row.path
    if _NOT_IN_LINKS & set(f"{name}{title}") or _ACTS.search(f"{name} {title}"):
        link = _tame(write_text(title))
    else:
        link = f"[[{name}]]" if title == name else f"[[{name}|{title}]]"
    return f"{link}: {text}" if text and text != title else link


def _tame(text: str) -> str:
    """Escape what would make a line a property, a target of links or a comment, or give a tag."""
    return "".join(
        piece.replace("::", ":") if is_code else _ACTS.sub(_escape, piece)
        for piece, is_code in split_at_code(text)
    )


def _escape(found: re.Match[str]) -> str:
    return ":" if found[0] == "::" else f"\\{found[0]}"
