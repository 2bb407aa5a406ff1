"""Suggest questions for an empty chat, which the notes of the open vault can answer.

The user may list questions in a note named `Questions worth asking.md`. If there is no such note,
each suggested question asks what is in one of the notes. Only the first notes are read, so that a
large vault is listed as fast as a small one.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import PurePosixPath
from typing import Final

from vault.errors import VaultError
from vault.notes.kinds import MARKDOWN, find_kind
from vault.notes.note import Note
from vault.records import NoteState
from vault.vault import Vault

__all__ = ["suggest_questions"]

_MOST_QUESTIONS: Final = 3
_MOST_CHECKED: Final = 30  # the most notes that are checked for a text
_MOST_READ_BYTES: Final = 20_000
_TITLE_CHARS: Final = range(4, 48)
_USER_LIST: Final = "Questions worth asking.md"
# Matches a question in a list or in the first cell of a table row.
_ITEM: Final = re.compile(
    r"^[ \t]*(?:[-*+]|\d+[.)]|\|)[ \t]+(?P<text>\S[^|\n]{8,110}\?)[ \t\r]*(?:\||$)", re.MULTILINE
)


def suggest_questions(notes: Sequence[NoteState], vault: Vault) -> tuple[str, ...]:
    """Suggest up to three questions that the notes can answer.

    Questions from the user's own list are preferred. If there are none, each suggested question
    asks what is in an indexed note that has a text, if possible in notes of different folders. A
    title that is a question is suggested as it is.

    Args:
        notes: the notes of the vault.
        vault: reads the notes.
    """
    listed = _read_user_list(notes, vault)
    if listed:
        return listed[:_MOST_QUESTIONS]
    checked = islice(_choose_notes(notes), _MOST_CHECKED)
    answered = (note.title for note in checked if _has_text(note.path, vault))
    return tuple(_ask_about(title) for title in islice(answered, _MOST_QUESTIONS))


def _read_user_list(notes: Sequence[NoteState], vault: Vault) -> tuple[str, ...]:
    """Return the questions that the user has listed in a note."""
    path = next((note.path for note in notes if PurePosixPath(note.path).name == _USER_LIST), "")
    note = _read(path, vault) if path else None
    return () if note is None else tuple(match["text"] for match in _ITEM.finditer(note.text))


def _choose_notes(notes: Sequence[NoteState]) -> Iterator[NoteState]:
    """Yield the notes whose title can be part of a question: one of each folder first.

    A title that several notes have is chosen once. Left out are titles that are very short or long
    or begin with a digit, and those with quotation marks, because the question puts the title in
    quotation marks.
    """
    by_folder: dict[str, list[NoteState]] = {}
    for note in notes:
        if note.state == "indexed" and _is_askable(note.title):
            by_folder.setdefault(note.path.rpartition("/")[0], []).append(note)
    first = [inside[0] for inside in by_folder.values()]
    others = [note for inside in by_folder.values() for note in inside[1:]]
    by_title: dict[str, NoteState] = {}
    for note in (*first, *others):
        by_title.setdefault(note.title, note)
    yield from by_title.values()


def _is_askable(title: str) -> bool:
    return (
        len(title) in _TITLE_CHARS
        and not title[0].isdigit()
        and not set('"“”„').intersection(title)
    )


def _ask_about(title: str) -> str:
    return title if title.endswith("?") else f"What is in “{title}”?"


def _has_text(path: str, vault: Vault) -> bool:
    """Return whether a note has more than properties and headings.

    Other files and large notes are not read, because that could take long. The result is True for
    them.
    """
    if find_kind(path) is not MARKDOWN:
        return True
    try:
        if (vault.root / path).stat().st_size > _MOST_READ_BYTES:
            return True
    except OSError:  # deleted meanwhile
        return False
    note = _read(path, vault)
    if note is None:
        return False
    headings = {heading.line for heading in note.headings}
    return any(
        line.strip() and number >= note.body_line and number not in headings
        for number, line in enumerate(note.text.split("\n"), 1)
    )


def _read(path: str, vault: Vault) -> Note | None:
    """Read a note. Return None if it cannot be read, such as after it was deleted."""
    try:
        return vault.read_note(path)
    except (OSError, VaultError):
        return None
