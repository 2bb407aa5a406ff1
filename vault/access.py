"""What of a vault may be given to a model: nothing that is excluded or private, by any name."""

from collections.abc import Sequence
from pathlib import Path

from vault.errors import NoteExcluded
from vault.markdown import Document
from vault.notes import Note, parse_note, read_bytes
from vault.paths import printable, safe_path
from vault.rules import Rules
from vault.scan import scan

__all__ = ["allowed_notes", "parse_allowed", "read_allowed"]

PRIVATE = "private"


def read_allowed(root: Path, path: str, exclude: Sequence[str] = ()) -> Note:
    """Read a note that may be given to a model.

    Links are followed before the rules are looked at, so that none leads around them.

    Raises:
        NoteExcluded: a rule or the note itself keeps it out.
        UnsafePath: the path would leave the vault.
        NoteUnreadable: it is gone, or no text comes of it.
    """
    return parse_allowed(root, path, exclude)[0]


def parse_allowed(root: Path, path: str, exclude: Sequence[str] = ()) -> tuple[Note, Document]:
    """Read a note that may be given to a model, with its structure; raises the same."""
    rules = Rules.of(root, exclude)
    real = safe_path(root, path).relative_to(root.resolve()).as_posix()
    for name in (path, real):
        if (rule := rules.rule_along(name)) is not None:
            raise NoteExcluded(printable(path), rule)
    note, document = parse_note(path, read_bytes(root, path))
    if note.is_private:
        raise NoteExcluded(printable(path), PRIVATE)
    return note, document


def allowed_notes(root: Path, folder: str, exclude: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the notes below a folder that no rule keeps out, by path.

    Args:
        root: the vault's folder.
        folder: relative to it; empty for all notes.
        exclude: patterns as in a `.gitignore`.
    """
    prefix = f"{folder.rstrip('/')}/" if folder.strip("/") else ""
    found = scan(root, exclude).files
    return tuple(sorted(path for path in found if path.startswith(prefix)))
