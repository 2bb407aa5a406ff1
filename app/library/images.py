"""Find, list and read the images in a vault. Files outside the vault are never read."""

import os
import posixpath
from collections.abc import Iterator, Sequence
from pathlib import Path

from app.library.image_reader import IMAGE_SUFFIXES
from vault.errors import VaultError
from vault.exclude.rules import ExcludeRules
from vault.notes.note import read_bytes

__all__ = ["find_image", "is_image_name", "list_attachable_images", "read_image"]

_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp")
_MOST_FILES = 100_000


def is_image_name(name: str) -> bool:
    """Return whether a file's name says that it is an image that can be shown.

    SVG is not supported, since such files can contain references to other files.
    """
    return name.lower().endswith(_SUFFIXES)


def read_image(root: Path, source: str, note: str) -> bytes:
    """Return the bytes of an image that a note shows.

    Returns empty bytes if the vault has no such image.

    Args:
        root: the folder of the vault.
        source: the image's path or name as written in the note, with percent-encoding decoded.
        note: the path of the note.
    """
    path = find_image(root, source, note)
    try:
        return read_bytes(root, path) if path else b""
    except VaultError:
        return b""


def find_image(root: Path, source: str, note: str) -> str:
    """Return an image's path relative to the vault.

    Returns an empty string if the vault has no such image.

    The path is resolved against the note's folder, then against the vault's. As in Obsidian, a name
    without a folder is then searched for in all folders, and the least nested match is returned.
    """
    if not is_image_name(source):
        return ""
    for path in _list_paths(source, note):
        if (root / path).is_file():
            return path
    return _find_by_name(root, source) if "/" not in source else ""


def list_attachable_images(root: Path, exclude: Sequence[str]) -> tuple[str, ...]:
    """Return the sorted paths of the images in a vault, except those that a rule excludes.

    Args:
        root: the folder of the vault.
        exclude: the user's patterns for excluded files, as in a `.gitignore`.
    """
    rules = ExcludeRules.load(root, exclude)
    names = (path for path in _walk(root) if _is_attachable(path))
    return tuple(sorted(path for path in names if rules.find_rule_on_path(path) is None))


def _is_attachable(path: str) -> bool:
    name = posixpath.basename(path)
    return name.lower().endswith(IMAGE_SUFFIXES) and not name.startswith(".")


def _list_paths(source: str, note: str) -> Iterator[str]:
    for folder in (posixpath.dirname(note), ""):
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
    """Yield the paths of a vault's files, except those in hidden folders."""
    seen = 0
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        below = Path(folder).relative_to(root).as_posix()
        for name in files:
            seen += 1
            yield name if below == "." else f"{below}/{name}"
        if seen > _MOST_FILES:
            return
