"""What of a vault may be given to a model: nothing that is excluded or private, by any name."""

from collections.abc import Sequence
from pathlib import Path

from vault.errors import NoteExcluded
from vault.notes import Note, read_note
from vault.paths import printable, safe_path
from vault.patterns import ExcludeRules
from vault.scan import scan

__all__ = ["allowed_notes", "read_allowed"]

PRIVATE = "private"


def read_allowed(root: Path, path: str, exclude: Sequence[str] = ()) -> Note:
    """Read a note that may be given to a model.

    Links are followed before the rules are looked at, so that none leads around them.

    Raises:
        NoteExcluded: a rule or the note itself keeps it out.
        UnsafePath: the path would leave the vault.
        NoteUnreadable: it is gone, or is not text.
    """
    real = safe_path(root, path).relative_to(root.resolve()).as_posix()
    for name in (path, real):
        if (rule := _rule_for(name, ExcludeRules(exclude))) is not None:
            raise NoteExcluded(printable(path), rule)
    note = read_note(root, path)
    if note.is_private:
        raise NoteExcluded(printable(path), PRIVATE)
    return note


def allowed_notes(root: Path, folder: str, exclude: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the notes below a folder that no pattern keeps out, by path.

    Args:
        root: the vault's folder.
        folder: relative to it; empty for all notes.
        exclude: patterns as in a `.gitignore`.
    """
    prefix = f"{folder.rstrip('/')}/" if folder.strip("/") else ""
    found = scan(root, exclude).files
    return tuple(sorted(path for path in found if path.startswith(prefix)))


def _rule_for(path: str, rules: ExcludeRules) -> str | None:
    parts = [part for part in path.split("/") if part not in ("", ".")]
    for end in range(1, len(parts) + 1):
        is_folder = end < len(parts)
        if is_folder and parts[end - 1].startswith("."):
            return "a folder whose name begins with a dot"
        rule = rules.rule_for("/".join(parts[:end]), is_folder=is_folder)
        if rule is not None:
            return f"vault.exclude: {rule}"
    return None
