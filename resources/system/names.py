"""The rules of Windows and macOS for names and paths, in functions that any system can run.

Windows reserves names, limits the length of paths, knows drives, shares and streams, and separates
with backslashes too. Windows and macOS treat names that differ in case as one name, and macOS also
names that differ in the composition of accents.
"""

import re
import unicodedata
from pathlib import PureWindowsPath
from typing import Final

__all__ = [
    "MOST_NAME_BYTES",
    "MOST_PATH_BYTES",
    "NOT_IN_NAMES",
    "extend_windows_path",
    "find_windows_problem",
    "fold_name",
    "is_reserved_name",
]

# What Windows does not allow in a name, beside control characters.
NOT_IN_NAMES: Final = '\\/:*?"<>|'
MOST_NAME_BYTES: Final = 255
MOST_PATH_BYTES: Final = 1_000  # macOS reads paths of up to 1,024 bytes
_DEVICES: Final = frozenset({"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"})
_PORT: Final = re.compile("(?:COM|LPT)[1-9¹²³]")  # the superscripts count as digits, too
# Without the prefix, a path of 260 characters fails, and a folder leaves 12 for a name in it.
_LONGEST_PLAIN_PATH: Final = 247
_EXTENDED: Final = "\\\\?\\"


def is_reserved_name(name: str) -> bool:
    """Return whether Windows takes a name for a device, such as `con`, `NUL.txt` or `com1 .md`."""
    stem = re.split("[.:]", name, maxsplit=1)[0].strip().upper()
    return stem in _DEVICES or _PORT.fullmatch(stem) is not None


def find_windows_problem(path: str) -> str | None:
    """Return why Windows would not take a relative path for one below a folder, or None if it does.

    The path would lead elsewhere, name a device or a stream, or be read as another name.

    Args:
        path: a path with `/` or backslashes between its parts.
    """
    parsed = PureWindowsPath(path)
    if parsed.drive or parsed.root:
        return "it names a drive, a share or the root of one"
    parts = re.split(r"[\\/]", path)
    if ".." in parts:
        return "it leads to the folder above"
    if any(":" in part for part in parts):
        return "a colon separates a file from a stream"
    if any(map(is_reserved_name, parts)):
        return "it names a device"
    if any(part not in (".", part.rstrip(". ")) for part in parts):
        return "a name ends with a dot or a blank, which Windows leaves out"
    return None


def fold_name(name: str) -> str:
    """Return a form of a name that is equal for names which some system takes for the same file.

    Case and the composition of accents are removed, as in `É`, `é` and `e` with an accent.
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def extend_windows_path(path: str) -> str:
    r"""Return a path in the form in which Windows accepts more than 259 characters.

    Short and relative paths stay as they are: in the form `\\?\C:\…`, Windows resolves nothing.
    """
    parsed = PureWindowsPath(path)
    if len(path) <= _LONGEST_PLAIN_PATH or not parsed.is_absolute() or path.startswith("\\\\?\\"):
        return path
    plain = str(parsed)
    if plain.startswith("\\\\"):
        return f"{_EXTENDED}UNC{plain[1:]}"
    return f"{_EXTENDED}{plain}"
