"""The one way from a note's name to a file: it never leaves the vault."""

import os
from pathlib import Path

from vault.errors import UnsafePath


def safe_path(root: Path, relative: str) -> Path:
    """Give the file that `relative` names, or refuse it when it is not inside the vault.

    Links are followed before the check, so a link to outside is refused as well.

    Args:
        root: the vault's folder.
        relative: a path below it, with `/`.

    Raises:
        UnsafePath: it is absolute, climbs out with `..`, holds a NUL or leads outside by a link.
    """
    shown = printable(relative)
    parts = relative.split("/")
    if not relative or "\0" in relative or relative.startswith("/") or ".." in parts:
        raise UnsafePath(
            f"“{shown}” is not a path inside the vault; name it relative to the vault."
        )
    try:
        base = root.resolve()
        target = (base / relative).resolve()
    except (OSError, RuntimeError) as error:
        raise UnsafePath(f"“{shown}” cannot be followed to a file: {error}.") from error
    if not target.is_relative_to(base):
        raise UnsafePath(f"“{shown}” leads out of the vault; only files inside it are read.")
    return target


def is_text_name(name: str) -> bool:
    """Tell whether a file name is valid Unicode, so that it can be shown, stored and cited."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def printable(path: str) -> str:
    r"""Give a path that can always be written as UTF-8: foreign bytes appear as `\xff`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
