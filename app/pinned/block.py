"""Write a pinned answer as a marked block of a note.

Nothing in a block is a task, a tag or a property, so that a note with a block does not become an
answer by it.
"""

import re
from typing import Final

from app.pinned.answer import AnswerRow, PinnedAnswer
from chains.citations.pieces import split_at_code
from chains.extractive.writer import write_item, write_text
from vault.notes.block_marks import write_marks
from vault.notes.kinds import drop_note_suffix

__all__ = ["write_block"]

_MOST_LINES: Final = 200
# A tag, an inline property, the name of a block, and the mark of a comment.
_ACTS: Final = re.compile(r"(?<!\S)(#)(?=\w)|(::)|(?<=\s)(\^)(?=[\w-]+$)|%(?=%)|(?<=%)%")
_NOT_IN_LINKS: Final = frozenset("[]#^|\n")


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
    text = _tame(write_item(row.shown.split("\n", 1)[0]))
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
