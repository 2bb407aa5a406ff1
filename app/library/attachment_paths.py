"""Resolve attachment paths, and reject those that may not be attached."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

from app.errors import InvalidRequest, NotFound
from vault.access import is_hidden
from vault.paths import name_on_disk, printable

__all__ = ["AttachedPath", "find_path", "resolve_path"]


@dataclass(frozen=True)
class AttachedPath:
    """The location of a file or folder, inside or outside the open vault.

    Attributes:
        root: the vault's folder. For a file outside the vault, this is the parent folder of the
            file.
        path: the path relative to `root`.
        is_in_vault: whether the file or folder is in the vault.
        is_named_whole: whether this is a hidden file, which can be attached only because the user
            gave its absolute path.
    """

    root: Path
    path: str
    is_in_vault: bool
    is_named_whole: bool = False

    @property
    def file(self) -> Path:
        """The absolute path of the file."""
        return self.root / self.path

    @property
    def source(self) -> str:
        """The name of the file in requests: its path in the vault, or an absolute path outside.

        The user can attach the file again by this name.
        """
        is_path = self.is_in_vault and not self.is_named_whole
        return printable(self.path if is_path else str(self.file))


def find_path(path: str, root: Path | None) -> AttachedPath:
    """Locate a file or folder that the user wants to attach.

    Args:
        path: an absolute path, or a path relative to the vault or working directory.
        root: the vault's folder, or None.

    Raises:
        NotFound: there is no such file or folder.
        InvalidRequest: the file or folder may not be attached, for example because it is hidden.
    """
    if "://" in path:
        raise InvalidRequest(
            f"{path} cannot be attached. Web addresses begin with http:// or https://.",
            hint="Save it as a file and attach that.",
        )
    if "\0" in path or not path:
        raise InvalidRequest("What is to be attached has no name.")
    whole = Path(name_on_disk(Path(), path)).expanduser()
    for candidate in (None if root is None else root / name_on_disk(root, path), whole):
        if candidate is not None and candidate.exists():
            place = resolve_path(candidate, root)
            _refuse_way_out(path, candidate, place, root)
            return _refuse_hidden(path, place)
    raise NotFound(
        f"There is no note, folder or file {path}.",
        hint="`--attach` takes full paths, and paths relative to the folder of notes.",
    )


def resolve_path(found: Path, root: Path | None) -> AttachedPath:
    """Return the location of a file or folder, with symbolic links resolved.

    Args:
        found: the path of the file or folder.
        root: the vault's folder, or None if no vault is open.
    """
    whole = found.resolve()
    if root is not None and whole.is_relative_to(root):
        return AttachedPath(root, whole.relative_to(root).as_posix(), is_in_vault=True)
    return AttachedPath(whole.parent, whole.name, is_in_vault=False)


def _refuse_way_out(named: str, found: Path, place: AttachedPath, root: Path | None) -> None:
    """Reject a path that leaves the vault through a symbolic link.

    Args:
        named: the path as the user entered it, for the error message.
        found: the path before symbolic links are resolved.
        place: the location after symbolic links are resolved.
        root: the vault's folder, or None.

    Raises:
        InvalidRequest: the path leads outside of the vault.
    """
    if root is None or place.is_in_vault:
        return
    above = Path(os.path.normpath(found.absolute())).parents
    if any(folder.resolve().is_relative_to(root) for folder in above):
        raise InvalidRequest(
            f"{named} is a link out of the folder of notes, to {place.file}. It is not attached.",
            hint=f"If that file is meant, attach it by its full path: {place.file}",
        )


def _refuse_hidden(named: str, place: AttachedPath) -> AttachedPath:
    """Reject a hidden file, unless the user gave its absolute path.

    Hidden files are rejected because they often contain API keys and passwords.

    Args:
        named: the path as the user entered it.
        place: the location of the file.

    Raises:
        InvalidRequest: the file is hidden, and its absolute path was not given.
    """
    given = Path(named).expanduser()
    is_plain = place.is_in_vault or given.is_absolute() or not _has_hidden_part(given)
    if is_plain and not is_hidden(place.path):
        return place
    if given.is_absolute() and is_hidden(given.name):
        return replace(place, is_named_whole=True)
    raise InvalidRequest(
        f"{named} is a hidden file, which may hold keys or passwords. It is not attached.",
        hint=f"To attach it all the same, give its full path: {place.file}",
    )


def _has_hidden_part(path: Path) -> bool:
    return any(part.startswith(".") and part != ".." for part in path.parts)
