"""Find and read the notes that notes and answers embed, in the vault or outside of it."""

from pathlib import Path, PurePath

from app.library.projects import Projects
from vault.access import read_allowed
from vault.embeds import EmbeddedPart, EmbedReader, cut_part
from vault.vault import Vault

__all__ = ["EmbeddedNotes"]


class EmbeddedNotes:
    """Finds and reads embedded notes.

    As for a model, a note that is excluded or marked as private is never read.

    Args:
        vault: the open vault, or None if no vault is open.
        projects: the projects, whose folders may be outside of the vault.
    """

    def __init__(self, vault: Vault | None, projects: Projects) -> None:
        self._reader = None if vault is None else EmbedReader(vault)
        self._projects = projects

    def resolve(self, target: str, source: str) -> str | None:
        """Return the path of the note that a link leads to, or None if there is none.

        Args:
            target: the name or path in the link, without heading. It may be empty for a link within
                a note.
            source: the path of the note with the link. For a link in an answer, this is the folder
                of a project outside the vault, or otherwise an empty string.
        """
        if PurePath(source).is_absolute():
            found = self._projects.resolve_link(target, source) if target else source
            if found is not None or not Path(source).is_dir():
                return found
            source = ""
        return None if self._reader is None else self._reader.resolve(target, source)

    def read(self, path: str, anchor: str = "") -> EmbeddedPart | None:
        """Return a note or a part of it, or None if the note has no such part.

        Args:
            path: the path of the note, absolute if it is outside of the vault.
            anchor: the heading or `^block`, or an empty string for the whole note.

        Raises:
            NoteExcluded: models may not read the note, so other notes do not show it either.
            NoteUnreadable: the file cannot be read as text.
            UnsafePath: the path leads out of the vault.
        """
        file = Path(path)
        if self._reader is None or file.is_absolute():
            return cut_part(read_allowed(file.parent, file.name), anchor)
        return self._reader.read(path, anchor)
