"""Recognise the copies of notes that programs make, by the names of their files.

Programs that synchronise folders keep both versions of a note that was changed on two devices, and
file managers number the copies that they make. A name alone proves nothing: there must be a note
with the name of the original in the same folder. A name with a number only, such as `Plan 2.md`,
is also given by people to notes of their own, so that the texts must be compared.
"""

import re
from collections.abc import Callable, Collection, Sequence
from typing import Final, NamedTuple

__all__ = ["CopyName", "find_originals", "has_copied_text", "read_copy_name"]

_LEAST_SHARED: Final = 0.6
_SURE: Final = re.compile(
    r"(?P<stem>.+?)(?:"
    r"\.sync-conflict-\d{8}-\d{6}(?:-\w+)?"  # Syncthing
    r"|[ _.-]*[(\[][^()\[\]]*\b(?:(?:sf)?conflict(?:ed)?|konflikt\w*|en conflit|en conflicto)"
    r"\b[^()\[\]]*[)\]]"  # Dropbox, Nextcloud, Obsidian, Seafile, pCloud
    r"|_conflict-\d{8}-\d{6}"  # ownCloud
    r"|_[^_/]+_\w{3}-\d\d-\d{6}-\d{4}_conflict"  # Synology
    r"|[ ._-]+conflict(?:ed)?(?:[ _-]copy)?(?:[ _-]\d+)?"  # Resilio and others
    r")(?: ?\(\d+\))?",
    re.IGNORECASE,
)
_MAYBE: Final = re.compile(
    r"(?P<stem>.+?)(?: ?\(\d{1,2}\)| \d{1,2}"
    r"| (?:- )?(?:copy|kopie|copie|copia)(?: ?\(?\d{1,2}\)?)?)"
    r"|(?:copy|kopie|copie|copia)(?: (?:of|von|de|di))? (?P<stem_2>.+)",
    re.IGNORECASE,
)


class CopyName(NamedTuple):
    """The name of a note that may be a copy.

    Attributes:
        original: the path of the original, which need not exist.
        is_sure: whether only a program gives such names, so that the texts need not be compared.
    """

    original: str
    is_sure: bool


def read_copy_name(path: str) -> CopyName | None:
    """Return what the name of a note says about its original, or None if it is no copy's name."""
    folder, slash, name = path.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    for pattern, is_sure in ((_SURE, True), (_MAYBE, False)):
        if match := pattern.fullmatch(stem):
            found = next(text for text in match.groups() if text)
            return CopyName(f"{folder}{slash}{found.rstrip(' _.-')}{dot}{suffix}", is_sure)
    return None


def has_copied_text(copy: Sequence[str], original: Sequence[str]) -> bool:
    """Return whether most lines of a note also stand in another one.

    Args:
        copy: the lines of the note that may be a copy.
        original: the lines of the other note.
    """
    own, other = ({line.strip() for line in lines} - {""} for lines in (copy, original))
    return bool(own) and len(own & other) >= _LEAST_SHARED * len(own)


def find_originals(
    paths: Collection[str],
    choose_known: Callable[[Collection[str]], Collection[str]],
    read_lines: Callable[[str], Sequence[str]],
) -> dict[str, str]:
    """Return those of the given notes that are copies, each with the path of its original.

    Args:
        paths: the paths of the notes.
        choose_known: returns those of the given paths that are notes.
        read_lines: returns the lines of a note, in any order.
    """
    named = {path: name for path in paths if (name := read_copy_name(path)) is not None}
    known_originals = choose_known({name.original for name in named.values()}) if named else ()
    return {
        path: name.original
        for path, name in named.items()
        if name.original in known_originals
        and (name.is_sure or has_copied_text(read_lines(path), read_lines(name.original)))
    }
