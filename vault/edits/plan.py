"""Edit plans: the exact bytes of each file before and after an edit."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final, Generic, Literal, TypeVar

from vault.edits.diff import DiffHunk, build_diff, list_hunks
from vault.edits.finding import TypedText
from vault.edits.texts import EditableText, Replacement
from vault.errors import EditRefused, ReadingFailed
from vault.notes.encodings import decode_text, normalize_line_ends
from vault.notes.kinds import MARKDOWN, find_kind
from vault.notes.text.document import Heading, parse_document
from vault.notes.text.lines import FENCE_CLOSES
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
    "plan_task",
    "read_text",
]

EditKind = Literal["create", "edit", "append", "move"]
_MOST_SHOWN: Final = 60
_MOST_LINES: Final = 10
_BULLET: Final = re.compile(r"[-*+](\s|$)")
_NUMBER: Final = re.compile(r"\d{1,9}[.)](\s|$)")
_TABLE_HEAD: Final = re.compile(r"[\s|:]*-[-\s|:]*(\n|$)")
_CALLOUT: Final = re.compile(r">\s*\[!")
_RELATED: Final = ("related", "related notes", "see also")
_BULLETS: Final = ("- ", "* ", "+ ")


@dataclass(frozen=True, slots=True)
class ContentChange:
    """A change to a file's content.

    Attributes:
        path: the path of the file after the edit.
        before: the content before the edit, or None for a new file.
        after: the content after the edit.
    """

    path: str
    before: bytes | None
    after: bytes

    def build_diff(self) -> str:
        """Build a unified diff of the file's old and new content."""
        return build_diff(printable(self.path), read_text(self.before), read_text(self.after))


@dataclass(frozen=True, slots=True)
class FileMove:
    """A move of a file to another path. The content does not change."""

    path: str
    to: str
    content: bytes

    def build_diff(self) -> str:
        """Build a diff that shows the old and the new path of the file."""
        return build_diff(printable(self.to), "", "", printable(self.path))


@dataclass(frozen=True, slots=True)
class EditPlan:
    """A planned edit, which has not been applied yet.

    It can be applied only if the files still have the content for which it was planned.

    Attributes:
        path: the note's path relative to the vault. For a move, this is the old path.
        changes: the changes to files, in order.
        is_out_of_reach: whether the note moves to a path that is excluded or outside of the
            project.
    """

    kind: EditKind
    path: str
    changes: tuple[ContentChange | FileMove, ...]
    is_out_of_reach: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        """The distinct paths of the changed notes, after the edit."""
        moved = (c.to if isinstance(c, FileMove) else c.path for c in self.changes)
        return tuple(dict.fromkeys(moved))

    @property
    def diff(self) -> str:
        """The unified diff of all changes that the edit makes."""
        return "".join(change.build_diff() for change in self.changes)

    def list_hunks(self) -> tuple[DiffHunk, ...]:
        """Return the hunks of the edit if the user can choose among them, otherwise an empty tuple.

        Only an edit of a single existing note with at least two hunks offers this choice.
        """
        if len(self.changes) > 1:
            return ()
        (change,) = self.changes
        if isinstance(change, FileMove) or change.before is None:
            return ()
        hunks = list_hunks(read_text(change.before) or "", read_text(change.after) or "")
        return hunks if len(hunks) > 1 else ()

    def keep_hunks(self, kept: Collection[int]) -> "EditPlan":
        """Return a copy of the edit with only some of its hunks.

        Like the whole edit, the copy is valid only for the content that it was planned for.

        Args:
            kept: the indexes of the hunks to keep.

        Raises:
            EditRefused: `kept` is empty or contains an invalid index, or the text cannot be stored.
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
    """Plan an edit that creates a note, encoded in UTF-8.

    Raises:
        EditRefused: the text contains characters that cannot be stored.
    """
    content = EditableText.decode(printable(path), b"").replace([Replacement(0, 0, text)])
    return EditPlan("create", path, (ContentChange(path, None, content),))


def plan_replacement(path: str, before: bytes, old: str, new: str) -> EditPlan:
    """Plan an edit that replaces a text that occurs exactly once in a note.

    Args:
        path: the path of the note.
        before: the current content of the note.
        old: the text to replace, exactly or as a model types it.
        new: the new text.

    Raises:
        EditRefused: the text does not occur exactly once, or would not change.
    """
    note = EditableText.decode(printable(path), before)
    old, new = normalize_line_ends(old), normalize_line_ends(new)
    if not old:
        raise EditRefused("The text to replace is empty. Name a text of the note, or append.")
    found = TypedText(note.text, old)
    if not found.starts:
        raise EditRefused(
            f"The text to replace is not in {note.path}: {_shorten(old)}. "
            "Read the note and copy the text exactly, with blanks and line ends."
        )
    if len(found.starts) > 1:
        raise EditRefused(
            f"The text to replace is in {note.path} {len(found.starts):,} times, in "
            f"{_name_lines(note.text, found.starts)}: {_shorten(old)}. "
            "Give more of the text around it, so that it is there once."
        )
    after = note.replace([found.replace(new)])
    if after == before:
        raise EditRefused("The new text is the same as the old one.")
    return EditPlan("edit", path, (ContentChange(path, before, after),))


def plan_task(
    path: str, before: bytes, place: range, after: Sequence[str], above: str = "", below: str = ""
) -> EditPlan:
    """Plan an edit that rewrites or deletes the lines of a task.

    Args:
        path: the path of the note.
        before: the current content of the note.
        place: the numbers of the lines of the task, counted from 1.
        after: the new lines, as many as there are, or an empty sequence to delete them.
        above: lines to insert above the task, or an empty string.
        below: lines to insert below a task that is not deleted, or an empty string.

    Raises:
        EditRefused: the text cannot be stored.
    """
    note = EditableText.decode(printable(path), before)
    lines = note.text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    changes = [Replacement(starts[place[0] - 1], starts[place[0] - 1], f"{above}\n")] * bool(above)
    if after:
        changes += [
            Replacement(starts[number - 1], starts[number] - 1, text)
            for number, text in zip(place, after, strict=True)
            if text != lines[number - 1]
        ]
        changes += [Replacement(starts[place[-1]] - 1, starts[place[-1]] - 1, f"\n{below}")] * bool(
            below
        )
    elif place[-1] < len(lines):
        changes.append(Replacement(starts[place[0] - 1], starts[place[-1]], ""))
    else:  # the line end before it goes with the last line
        changes.append(Replacement(max(0, starts[place[0] - 1] - 1), len(note.text), ""))
    return EditPlan("edit", path, (ContentChange(path, before, note.replace(changes)),))


def plan_append(path: str, before: bytes, text: str) -> EditPlan:
    """Plan an edit that appends lines to a note.

    In a Markdown note, a blank line separates them from the last block, unless they continue it.

    Args:
        path: the path of the note.
        before: the current content of the note.
        text: the lines to append.

    Raises:
        EditRefused: the text is empty, or cannot be stored in the note's encoding.
    """
    note = EditableText.decode(printable(path), before)
    text = normalize_line_ends(text)
    if not text:
        raise EditRefused("There is no text to append.")
    start = "" if not note.text or note.text.endswith("\n") else "\n"
    if find_kind(path) is MARKDOWN and _needs_blank_line(note.text, text):
        start += "\n"
    end = "" if text.endswith("\n") else "\n"
    after = note.replace([Replacement(len(note.text), len(note.text), f"{start}{text}{end}")])
    return EditPlan("append", path, (ContentChange(path, before, after),))


def _needs_blank_line(before: str, text: str) -> bool:
    """Return whether to separate an appended text from the last block of a note.

    Args:
        before: the text of the note.
        text: the text to append.
    """
    lines = before.removesuffix("\n").split("\n")
    first, _, rest = text.partition("\n")
    if not lines[-1].strip() or not first.strip():
        return False
    document = parse_document(before)
    block = document.blocks[-1] if document.blocks else None
    if block is None or block.last < len(lines):
        return len(lines) >= document.body_line  # not directly below the front matter
    if block.kind == "fence":
        return document.kinds[block.last - 1] == FENCE_CLOSES
    return not _continues(block.kind, lines[block.first - 1 :], first, rest)


def _continues(kind: str, block: Sequence[str], first: str, rest: str) -> bool:
    """Return whether a text can stand directly below a block.

    It continues a list, a table or a quotation, or the block is a heading.

    Args:
        kind: the type of the block, as in `Block`.
        block: the lines of the block.
        first: the first line of the text.
        rest: the other lines of the text.
    """
    match kind:
        case "bullet_list" | "ordered_list":
            item = _BULLET if kind == "bullet_list" else _NUMBER
            is_loose = any(not line.strip() for line in block)
            return first.startswith((" ", "\t")) or (bool(item.match(first)) and not is_loose)
        case "table":
            return "|" in first and not _TABLE_HEAD.match(rest)
        case "blockquote":
            return first.startswith(">") and not _CALLOUT.match(first)
        case "paragraph":
            return block[-1].endswith(("  ", "\\")) and _goes_on_as_text(block, first, rest)
        case _:
            return kind == "heading"


def _goes_on_as_text(block: Sequence[str], first: str, rest: str) -> bool:
    """Return whether the first line of a text directly below a paragraph belongs to it."""
    whole = parse_document("\n".join([*block, first, rest])).blocks[0]
    return whole.kind == "paragraph" and whole.last > len(block)


def plan_related_link(path: str, before: bytes, link: str) -> EditPlan:
    """Plan an edit that adds a link at the end of a note's section "Related".

    If the note has no such section, the edit adds it at the end of the note.

    Args:
        path: the path of the note.
        before: the current content of the note.
        link: the link in Markdown.

    Raises:
        EditRefused: the note is not text, or its encoding cannot represent the link.
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
    """Return the line index at which to insert a link, and the text to insert there.

    Args:
        lines: the lines of the note.
        text: the text of the note.
        link: the link in Markdown.
    """
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
    """Return the index of the line after the section whose heading is in line `line`."""
    return next((h.line - 1 for h in headings if h.line > line), len(lines))


def read_text(content: bytes | None) -> str | None:
    """Decode the content of a file, and normalize its line endings.

    Return None if `content` is None.
    """
    if content is None:
        return None
    try:
        return normalize_line_ends(decode_text(content).text)
    except ReadingFailed:
        return content.decode("utf-8", "replace")


def _name_lines(text: str, places: Sequence[int]) -> str:
    """Name the lines of some places of a text, such as `lines 3, 7`."""
    numbers = list(dict.fromkeys(text.count("\n", 0, place) + 1 for place in places))
    shown = ", ".join(f"{number:,}" for number in numbers[:_MOST_LINES])
    more = ", …" if len(numbers) > _MOST_LINES else ""
    return f"{'line' if len(numbers) == 1 else 'lines'} {shown}{more}"


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line[:_MOST_SHOWN]}…”" if len(line) > _MOST_SHOWN else f"“{line}”"


_Content = TypeVar("_Content")


@dataclass(frozen=True)
class NoteChange(Generic[_Content]):
    """What a run of edits has changed in a note: by the contents, or by their hashes.

    Attributes:
        path: the path of the note after the run.
        old_path: its path before the run if it was moved, otherwise an empty string.
        before: the content before the run, or None for a new note.
        after: the content after the run, or at a later time. None if the file is gone.
    """

    path: str
    old_path: str = ""
    before: _Content | None = None
    after: _Content | None = None

    @property
    def is_change(self) -> bool:
        """Whether the note has another content or another path than before the run."""
        return self.before != self.after or bool(self.old_path)
