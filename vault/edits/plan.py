"""Plan an edit to a note as a value: the exact bytes of every file before and after the edit."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final, Literal

from vault.edits.diff import DiffHunk, build_diff, list_hunks
from vault.edits.texts import EditableText, Replacement
from vault.errors import EditRefused, ReadingFailed
from vault.notes.encodings import decode_text, normalize_line_ends
from vault.notes.markdown import Heading, parse_document
from vault.paths import printable

__all__ = [
    "ContentChange",
    "EditKind",
    "EditPlan",
    "FileMove",
    "plan_append",
    "plan_create",
    "plan_related_link",
    "plan_replacement",
    "read_text",
]

EditKind = Literal["create", "edit", "append", "move"]
_MOST_SHOWN: Final = 60
_RELATED: Final = ("related", "related notes", "see also")
_BULLETS: Final = ("- ", "* ", "+ ")


@dataclass(frozen=True, slots=True)
class ContentChange:
    """A change to a file's content. `before` is None if the file is created."""

    path: str
    before: bytes | None
    after: bytes

    def build_diff(self) -> str:
        """Build the unified diff of the change."""
        return build_diff(printable(self.path), read_text(self.before), read_text(self.after))


@dataclass(frozen=True, slots=True)
class FileMove:
    """A move of a file to another path. Its content stays the same."""

    path: str
    to: str
    content: bytes

    def build_diff(self) -> str:
        """Build a diff that names both paths."""
        return build_diff(printable(self.to), "", "", printable(self.path))


@dataclass(frozen=True, slots=True)
class EditPlan:
    """A planned edit, which is not applied yet.

    The plan is bound to the exact content of the files. It can only be applied while they still
    have this content.

    Attributes:
        path: the note's path, relative to the vault; for a move, the old path.
        changes: the changes to files, in order.
        is_out_of_reach: whether the note is moved to a path that a rule excludes or that is outside
            of the project.
    """

    kind: EditKind
    path: str
    changes: tuple[ContentChange | FileMove, ...]
    is_out_of_reach: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        """The distinct paths, after the edit, of the notes that it changes."""
        moved = (c.to if isinstance(c, FileMove) else c.path for c in self.changes)
        return tuple(dict.fromkeys(moved))

    @property
    def diff(self) -> str:
        """The unified diff of all changes."""
        return "".join(change.build_diff() for change in self.changes)

    def list_hunks(self) -> tuple[DiffHunk, ...]:
        """Return the hunks that can be applied independently.

        Returns an empty tuple if the edit is indivisible.
        """
        if len(self.changes) > 1:
            return ()
        (change,) = self.changes
        if isinstance(change, FileMove) or change.before is None:
            return ()
        hunks = list_hunks(read_text(change.before) or "", read_text(change.after) or "")
        return hunks if len(hunks) > 1 else ()

    def keep_hunks(self, kept: Collection[int]) -> "EditPlan":
        """Return the edit with only some of its hunks, given by their numbers, counted from 0.

        The result is bound to the same content of the file as the whole edit.

        Raises:
            EditRefused: no number or an unknown number is given, or the text cannot be stored.
        """
        hunks = self.list_hunks()
        if not kept or not all(0 <= number < len(hunks) for number in kept):
            raise EditRefused(f"The change has {len(hunks)} parts. Keep at least one of them.")
        (change,) = self.changes
        if len(set(kept)) == len(hunks) or not isinstance(change, ContentChange):
            return self
        parts = [part for number in sorted(set(kept)) for part in hunks[number].changes]
        note = EditableText.decode(printable(change.path), change.before or b"")
        after = note.replace([Replacement(*part) for part in parts])
        return replace(self, changes=(replace(change, after=after),))


def plan_create(path: str, text: str) -> EditPlan:
    """Plan to create a note with this text, stored as UTF-8.

    Raises:
        EditRefused: the text contains characters that a note cannot store.
    """
    content = EditableText.decode(printable(path), b"").replace([Replacement(0, 0, text)])
    return EditPlan("create", path, (ContentChange(path, None, content),))


def plan_replacement(path: str, before: bytes, old: str, new: str) -> EditPlan:
    """Plan to replace a text that occurs in a note exactly once.

    Raises:
        EditRefused: the text occurs not at all or more than once, or would stay the same.
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
        EditRefused: the text to add is empty, or cannot be stored in the note's encoding.
    """
    note = EditableText.decode(printable(path), before)
    text = normalize_line_ends(text)
    if not text:
        raise EditRefused("There is no text to append.")
    start = "" if not note.text or note.text.endswith("\n") else "\n"
    end = "" if text.endswith("\n") else "\n"
    after = note.replace([Replacement(len(note.text), len(note.text), f"{start}{text}{end}")])
    return EditPlan("append", path, (ContentChange(path, before, after),))


def plan_related_link(path: str, before: bytes, link: str) -> EditPlan:
    """Plan to add a link as the last item of the section "Related", creating it if missing.

    Raises:
        EditRefused: the note is not text, or its encoding cannot store the link.
    """
    note = EditableText.decode(printable(path), before)
    lines = note.text.split("\n")
    at, written = _place_link(lines, note.text, link)
    start = list(accumulate((len(line) + 1 for line in lines), initial=0))[at]
    start = min(start, len(note.text))
    if start and note.text[start - 1] != "\n":
        written = f"\n{written}"
    after = note.replace([Replacement(start, start, written)])
    return EditPlan("edit", path, (ContentChange(path, before, after),))


def _place_link(lines: Sequence[str], text: str, link: str) -> tuple[int, str]:
    """Return the index of the line before which to insert a link, and the text to insert."""
    headings = parse_document(text).headings
    own = next((h for h in headings if h.text.strip().casefold() in _RELATED), None)
    first = 0 if own is None else own.line
    last = len(lines) if own is None else _find_section_end(lines, headings, own.line)
    while last > first and not lines[last - 1].strip():
        last -= 1
    if own is None:
        return last, f"{chr(10) if last else ''}## Related\n\n- {link}\n"
    bullet = lines[last - 1][:2] if last > first else ""
    item = f"{bullet}{link}\n" if bullet in _BULLETS else f"\n- {link}\n"
    is_end = last == len(lines) or not lines[last].strip()
    return last, item if is_end else f"{item}\n"


def _find_section_end(lines: Sequence[str], headings: Sequence[Heading], line: int) -> int:
    """Return the index just past the last line of the section below a heading's line."""
    return next((h.line - 1 for h in headings if h.line > line), len(lines))


def read_text(content: bytes | None) -> str | None:
    r"""Return the text of a file with line endings normalized to `\n`, or None without a file."""
    if content is None:
        return None
    try:
        return normalize_line_ends(decode_text(content).text)
    except ReadingFailed:
        return content.decode("utf-8", "replace")


def _find_all(text: str, part: str) -> Iterator[int]:
    """Yield each position of a part in a text, including overlapping occurrences."""
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line[:_MOST_SHOWN]}…”" if len(line) > _MOST_SHOWN else f"“{line}”"
