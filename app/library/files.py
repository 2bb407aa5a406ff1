"""Read the files in a folder of notes as they are on disk, without the index."""

from collections.abc import Sequence
from pathlib import Path

from app.library.images import list_attachable_images
from vault.access import list_allowed_notes, read_allowed, read_allowed_image, read_as_tool
from vault.notes.note import READ_WHOLE, Note, ReadOptions, read_note
from vault.records import NoteState
from vault.scan import scan

__all__ = ["FolderFiles"]


class FolderFiles:
    """The files in a folder of notes.

    Attributes:
        root: the folder.
        exclude: patterns in `.gitignore` syntax for files that are left out.
    """

    def __init__(self, root: Path, exclude: Sequence[str]) -> None:
        """Create a reader for a folder. No files are read yet."""
        self.root = root
        self.exclude = tuple(exclude)

    def list_names(self) -> tuple[NoteState, ...]:
        """List the files in the folder on disk, without reading them, sorted by path.

        This is fast enough to show the names before the index exists.
        """
        found = scan(self.root, self.exclude)
        waiting = [NoteState(path, "", "waiting") for path in found.files]
        excluded = [NoteState(path, "", "excluded", rule) for path, rule in found.excluded]
        failed = [NoteState(path, "", "failed", reason) for path, reason in found.failed]
        return tuple(sorted((*waiting, *excluded, *failed), key=lambda note: note.path))

    def list_images(self) -> tuple[str, ...]:
        """List the images in the folder that can be attached, sorted by path."""
        return list_attachable_images(self.root, self.exclude)

    def list_allowed_notes(self, folder: str) -> tuple[str, ...]:
        """List the notes in a folder and its subfolders, except excluded ones.

        An empty string for `folder` lists all notes.
        """
        return list_allowed_notes(self.root, folder, self.exclude)

    def read_note(self, path: str, options: ReadOptions = READ_WHOLE) -> Note:
        """Return the current version of a note on disk.

        Args:
            path: the path of the note.
            options: how the note is read.

        Raises:
            NoteUnreadable: the file cannot be read.
        """
        return read_note(self.root, path, options)

    def read_allowed(self, path: str) -> Note:
        """Return a note's current version on disk, or raise an error if models may not read it.

        Raises:
            NoteExcluded: a pattern excludes the note, or the note marks itself as private.
            UnsafePath: the path leads out of the folder.
            NoteUnreadable: the file cannot be read.
        """
        return read_as_tool(self.root, path, self.exclude)

    def read_attached(self, path: str) -> Note:
        """Return the current version of an attached file of any kind that contains text.

        Raises:
            NoteExcluded: a pattern excludes the file, or the note marks itself as private.
            UnsafePath: the path leads out of the folder.
            NoteUnreadable: the file cannot be read.
        """
        return read_allowed(self.root, path, self.exclude)

    def read_image(self, path: str) -> bytes:
        """Return the bytes of an attached image in the folder.

        Raises:
            NoteExcluded: a pattern excludes the image.
            UnsafePath: the path leads out of the folder.
            NoteUnreadable: the file cannot be read.
        """
        return read_allowed_image(self.root, path, self.exclude)
