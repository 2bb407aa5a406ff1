"""Find, list and read the images in a vault.

A link in a note of the vault is never resolved to a file outside the vault. A link in another note
is resolved to a file in its project, or else in its own folder.
"""

import os
import posixpath
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from app.errors import InvalidRequest, NotFound, VaultNotChosen
from app.library.image_reader import IMAGE_SUFFIXES, ImageReader, ReadImage, UndecodableImage
from vault.access import read_allowed_bytes
from vault.errors import NoteUnreadable
from vault.exclude.rules import ExcludeRules
from vault.notes.kinds import IMAGE, PDF, FileKind
from vault.notes.note import read_bytes

__all__ = [
    "VaultImages",
    "find_image",
    "is_image_link",
    "list_attachable_images",
]

_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp")
# Image formats that cannot be shown. A link to such an image shows a message instead. SVG files can
# refer to other files.
_OTHERS = (".svg", ".avif", ".heic", ".heif", ".tif", ".tiff")
_MOST_FILES = 100_000
_NAME_CHARS = 120
_OTHER_PROGRAM = "Another program may open it; the menu has “Open in the default program”."


class VaultImages:
    """The images of the open vault. They are decoded in a child process before they are shown."""

    def __init__(
        self,
        find_root: Callable[[], Path | None],
        reader: ImageReader,
        find_project: Callable[[Path], Path | None] = lambda _file: None,
    ) -> None:
        """Create the object. No image is read yet.

        Args:
            find_root: returns the folder of the open vault, or None if no vault is open.
            reader: decodes the images.
            find_project: returns the folder of the project that contains a file outside the vault.
        """
        self._find_root, self._reader, self._find_project = find_root, reader, find_project

    def find(self, target: str, note: str) -> str:
        """Return the path of the image that a link refers to.

        The path is relative to the vault, or absolute for a link outside the vault.

        Args:
            target: the path or name of the image as written, with percent-encoding decoded.
            note: the path of the note with the link. For a link in an answer, this is the folder of
                a project outside the vault, or otherwise an empty string.

        Raises:
            NotFound: there is no such image.
        """
        if Path(note).is_absolute():
            path = self._find_outside(target, Path(note))
        else:
            root = self._find_root()
            path = "" if root is None else find_image(root, target, note)
        if not path:
            shown = target if len(target) <= _NAME_CHARS else f"{target[:_NAME_CHARS]}…"
            raise NotFound(f"There is no image named {shown}.")
        return path

    def _find_outside(self, target: str, note: Path) -> str:
        project = self._find_project(note)
        root = project or note.parent
        own = note.relative_to(root).as_posix()
        path = find_image(root, target, own, has_subfolders=project is not None)
        is_inside = path and (root / path).resolve().is_relative_to(root.resolve())
        return str(root / path) if is_inside else ""

    def read(self, path: str) -> ReadImage:
        """Read an image of the vault, or an image outside the vault by its absolute path.

        Raises:
            VaultNotChosen: no vault is open.
            InvalidRequest: the file does not exist, is too large, or is not an image that can be
                shown.
            NoteExcluded: the file is outside the vault and excluded from models.
            UnsafePath: the path leads out of the vault.
        """
        name, file = posixpath.basename(path), Path(path)
        try:
            return self._reader.decode(self._read_bytes(file, path, IMAGE))
        except (NoteUnreadable, UndecodableImage) as error:
            raise InvalidRequest(
                f"The image {name} cannot be shown: {error.reason}.", hint=_OTHER_PROGRAM
            ) from error

    def read_page(self, path: str, page: int) -> ReadImage:
        """Draw a page of a PDF file of the vault, or of one outside of it by its absolute path.

        Args:
            path: the path of the file.
            page: the number of the page, counted from 1.

        Raises:
            VaultNotChosen: no vault is open.
            InvalidRequest: the file cannot be read, or has no such page.
            NoteExcluded: the file is outside the vault and excluded from models.
            UnsafePath: the path leads out of the vault.
        """
        name, file = posixpath.basename(path), Path(path)
        try:
            return self._reader.draw_page(self._read_bytes(file, path, PDF), page)
        except (NoteUnreadable, UndecodableImage) as error:
            raise InvalidRequest(f"{name} cannot be shown: {error.reason}.") from error

    def _read_bytes(self, file: Path, path: str, kind: FileKind) -> bytes:
        if file.is_absolute():
            return read_allowed_bytes(file.parent, file.name, kind)
        root = self._find_root()
        if root is None:
            raise VaultNotChosen
        return read_bytes(root, path, kind)


def is_image_link(name: str) -> bool:
    """Return whether a link's target has the suffix of an image.

    This includes the suffixes of formats that cannot be shown.
    """
    return name.lower().endswith(_SUFFIXES + _OTHERS)


def find_image(root: Path, source: str, note: str, *, has_subfolders: bool = True) -> str:
    """Return the path of an image, relative to `root`, or an empty string if it does not exist.

    The path is resolved against the note's folder, then against the root. If this finds nothing, a
    name without folders is searched for in all folders. As in Obsidian, the least nested match is
    used.

    Args:
        root: the folder of the vault or of a project.
        source: the path or name of the image, as in the note.
        note: the path of the note, or an empty string if there is none.
        has_subfolders: whether a name is searched for in all folders.
    """
    for path in _list_paths(source, note):
        if os.path.isfile(root / path):  # also False if the name is too long for a file
            return path
    return _find_by_name(root, source) if has_subfolders and "/" not in source else ""


def list_attachable_images(root: Path, exclude: Sequence[str]) -> tuple[str, ...]:
    """List the images in a vault, except excluded ones.

    Args:
        root: the folder of the vault.
        exclude: exclude patterns in `.gitignore` syntax.
    """
    rules = ExcludeRules.load(root, exclude)
    names = (path for path in _walk(root) if _is_attachable(path))
    return tuple(sorted(path for path in names if rules.find_rule_on_path(path) is None))


def _is_attachable(path: str) -> bool:
    name = posixpath.basename(path)
    return name.lower().endswith(IMAGE_SUFFIXES) and not name.startswith(".")


def _list_paths(source: str, note: str) -> Iterator[str]:
    for folder in ("",) if source.startswith("/") else (posixpath.dirname(note), ""):
        path = posixpath.normpath(posixpath.join(folder, source.lstrip("/")))
        if not path.startswith(("../", "/")):
            yield path


def _find_by_name(root: Path, name: str) -> str:
    wanted, found = name.casefold(), list[str]()
    for path in _walk(root):
        if posixpath.basename(path).casefold() == wanted:
            found.append(path)
    return min(found, key=lambda path: (path.count("/"), path), default="")


def _walk(root: Path) -> Iterator[str]:
    seen = 0
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        below = Path(folder).relative_to(root).as_posix()
        for name in files:
            seen += 1
            yield name if below == "." else f"{below}/{name}"
        if seen > _MOST_FILES:
            return
