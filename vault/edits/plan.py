"""Plan an edit of a note as a value: the exact bytes of every file before and after it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from vault.edits.diff import build_diff
from vault.edits.texts import EditableText, Replacement
from vault.errors import EditRefused, ReadingFailed
from vault.notes.encodings import decode_text, normalize_line_ends
from vault.paths import printable

__all__ = [
    "ContentChange",
    "EditKind",
    "EditPlan",
    "FileMove",
    "plan_append",
    "plan_create",
    "plan_replacement",
    "read_text",
]

EditKind = Literal["create", "edit", "append", "move"]
_MOST_SHOWN: Final = 60


@dataclass(frozen=True, slots=True)
class ContentChange:
    """A file gets a new content; `before` is None if the file is created."""

    path: str
    before: bytes | None
    after: bytes

    def build_diff(self) -> str:
        """Build the unified diff of the change."""
        return build_diff(printable(self.path), read_text(self.before), read_text(self.after))


@dataclass(frozen=True, slots=True)
class FileMove:
    """A file is moved to another path; its content stays the same."""

    path: str
    to: str
    content: bytes

    def build_diff(self) -> str:
        """Build a diff that names both paths."""
        return build_diff(printable(self.to), "", "", printable(self.path))


@dataclass(frozen=True, slots=True)
class EditPlan:
    """An edit that was planned and not carried out.

    It is bound to the exact content of the files: it can only be applied while they have it.

    Attributes:
        path: the note, relative to the vault; for a move its path before.
        changes: the changes of files, in order.
        is_out_of_reach: whether the note is moved to where a rule excludes it.
    """

    kind: EditKind
    path: str
    changes: tuple[ContentChange | FileMove, ...]
    is_out_of_reach: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        """The notes that are changed, by their paths after the edit, each once."""
        moved = (c.to if isinstance(c, FileMove) else c.path for c in self.changes)
        return tuple(dict.fromkeys(moved))

    @property
    def diff(self) -> str:
        """The unified diff of all changes."""
        return "".join(change.build_diff() for change in self.changes)


def plan_create(path: str, text: str) -> EditPlan:
    """Plan a new note with this text, stored as UTF-8.

    Raises:
        EditRefused: the text cannot be stored as text.
    """
    content = EditableText.decode(printable(path), b"").replace([Replacement(0, 0, text)])
    return EditPlan("create", path, (ContentChange(path, None, content),))


def plan_replacement(path: str, before: bytes, old: str, new: str) -> EditPlan:
    """Plan to replace a text that is in a note exactly once.

    Raises:
        EditRefused: the text is not in the note or more than once, or would stay the same.
    """
    note = EditableText.decode(printable(path), before)
    old, new = normalize_line_ends(old), normalize_line_ends(new)
    if not old:
        raise EditRefused("The text to replace is empty. Name a text of the note, or append.")
    found = list(_find_all(note.text, old))
    if not found:
        raise EditRefused(
            f"The text to replace is not in {note.path}: {_shorten(old)}. "
            "Read the note and copy the text exactly, with blanks and line ends."
        )
    if len(found) > 1:
        raise EditRefused(
            f"The text to replace is in {note.path} {len(found):,} times: {_shorten(old)}. "
            "Give more of the text around it, so that it is there once."
        )
    if old == new:
        raise EditRefused("The new text is the same as the old one.")
    after = note.replace([Replacement(found[0], found[0] + len(old), new)])
    return EditPlan("edit", path, (ContentChange(path, before, after),))


def plan_append(path: str, before: bytes, text: str) -> EditPlan:
    """Plan to add lines at the end of a note.

    Raises:
        EditRefused: there is no text to add, or it cannot be stored in the note's encoding.
    """
    note = EditableText.decode(printable(path), before)
    text = normalize_line_ends(text)
    if not text:
        raise EditRefused("There is no text to append.")
    start = "" if not note.text or note.text.endswith("\n") else "\n"
    end = "" if text.endswith("\n") else "\n"
    after = note.replace([Replacement(len(note.text), len(note.text), f"{start}{text}{end}")])
    return EditPlan("append", path, (ContentChange(path, before, after),))


def read_text(content: bytes | None) -> str | None:
    r"""Return the text of a file with `\n` as its line ends, or None if there is no file."""
    if content is None:
        return None
    try:
        return normalize_line_ends(decode_text(content).text)
    except ReadingFailed:
        return content.decode("utf-8", "replace")


def _find_all(text: str, part: str) -> Iterator[int]:
    """Yield each place of a text in another one, also where it overlaps with itself."""
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line[:_MOST_SHOWN]}…”" if len(line) > _MOST_SHOWN else f"“{line}”"
