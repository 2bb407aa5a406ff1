"""Resolve attachment paths, and reject those that may not be attached.

A hidden file, or a file in a hidden folder, may hold keys. It is attached only after the user has
agreed to it, which the mark `hidden:` before its path says.
"""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from app.errors import AppError, InvalidRequest, NotFound
from app.paths import Paths
from context.fixes import Fix, Option
from vault.paths import name_on_disk, printable

__all__ = ["AGREED", "AttachedPath", "find_path", "is_hidden_place", "mark_sent", "resolve_path"]

AGREED: Final = "hidden:"


@dataclass(frozen=True)
class AttachedPath:
    """The location of a file or folder, inside or outside the open vault.

    Attributes:
        root: the vault's folder. For a file outside the vault, this is the parent folder of the
            file.
        path: the path relative to `root`.
        is_in_vault: whether the file or folder is in the vault.
        is_agreed: whether the user agreed to attach the file although it is hidden.
    """

    root: Path
    path: str
    is_in_vault: bool
    is_agreed: bool = False

    @property
    def file(self) -> Path:
        """The absolute path of the file."""
        return self.root / self.path

    @property
    def source(self) -> str:
        """The name of the file in chats: its path in the vault, or an absolute path.

        The path of a hidden file is absolute, since no path in the vault leads to it.
        """
        is_path = self.is_in_vault and not self.is_agreed
        return printable(self.path if is_path else str(self.file))


def find_path(path: str, root: Path | None) -> AttachedPath:
    """Locate a file or folder that the user wants to attach.

    Args:
        path: an absolute path, or a path relative to the vault or working directory. `hidden:`
            before it says that the user agreed to attach a hidden file.
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
    named = path.removeprefix(AGREED)
    if "\0" in named or not named:
        raise InvalidRequest("What is to be attached has no name.")
    whole = Path(name_on_disk(Path(), named)).expanduser()
    for candidate in (None if root is None else root / name_on_disk(root, named), whole):
        if candidate is not None and candidate.exists():
            place = resolve_path(candidate, root)
            _refuse_way_out(named, candidate, place, root)
            return _refuse_hidden(path, place)
    raise NotFound(
        f"There is no note, folder or file {path}.",
        hint=Fix(
            "`{}` takes full paths, and paths relative to the folder of notes.", Option("--attach")
        ),
    )


def mark_sent(path: str, root: Path | None) -> str:
    """Return the name of an attachment that was sent, marked as agreed to if it is a hidden file.

    Older versions of Strata attached hidden files without the mark. The user agreed to the file by
    sending it. Other names are returned as they are.

    Args:
        path: the name as it was recorded: a path, a tag or a web address.
        root: the vault's folder, or None.
    """
    try:
        is_agreed = find_path(f"{AGREED}{path}", root).is_agreed
    except AppError:  # it is marked already, is no path, or cannot be attached any more
        return path
    return f"{AGREED}{path}" if is_agreed else path


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
    """Reject a hidden file, unless the user agreed to attach it.

    Args:
        named: the path as the user entered it, with or without the mark of an agreement.
        place: the location of the file.

    Raises:
        InvalidRequest: the file is hidden, and the user has not agreed.
    """
    is_near = not Path(named.removeprefix(AGREED)).expanduser().is_absolute()
    if not is_hidden_place(place, Path.cwd() if is_near else None):
        return place
    if named.startswith(AGREED):
        return replace(place, is_agreed=True)
    raise InvalidRequest(
        f"{named} is a hidden file, which may hold keys or passwords. It is not attached.",
        hint=f"To attach it all the same, write {AGREED} before its path: {AGREED}{named}",
    )


def is_hidden_place(place: AttachedPath, near: Path | None = None) -> bool:
    """Return whether a file is hidden, or outside the vault one of the folders around it.

    The folders around Strata's own files, such as pasted images, do not count. Files in a hidden
    folder of the vault are excluded by a rule.

    Args:
        near: a folder that does not count either if the file is in it, or None.
    """
    if place.is_in_vault:
        return _has_hidden_part(Path(Path(place.path).name))
    file = place.file
    if near is not None and file.is_relative_to(near):
        return _has_hidden_part(file.relative_to(near))
    return _has_hidden_part(file) and not file.is_relative_to(Paths.find().data.resolve())


def _has_hidden_part(path: Path) -> bool:
    return any(part.startswith(".") and part != ".." for part in path.parts)
