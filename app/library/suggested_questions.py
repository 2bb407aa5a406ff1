"""Suggest questions for an empty chat, which the notes of the open vault can answer.

The user may list questions in a note named `Questions worth asking.md`. If there is no such note,
the questions come from the notes: a question that somebody wrote, a person, open tasks, headings,
and at last the titles of notes. Only the first notes are read, so that a large vault is listed as
fast as a small one.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from itertools import chain, islice
from pathlib import PurePosixPath
from typing import Final

from vault.errors import VaultError
from vault.notes.kinds import MARKDOWN, find_kind
from vault.notes.note import Note
from vault.notes.text.document import Heading
from vault.records import NoteState
from vault.vault import Vault

__all__ = ["suggest_questions"]

_MOST_QUESTIONS: Final = 3
_MOST_READ: Final = 10  # the most notes that are read for people, tasks and headings
_MOST_CHECKED: Final = 30  # the most notes that are checked for a text
_MOST_READ_BYTES: Final = 20_000
_TITLE_CHARS: Final = range(4, 48)
# A heading of one word, such as "Summary", mostly names a part of a form and not a subject.
_HEADING_WORDS: Final = range(2, 7)
_USER_LIST: Final = "Questions worth asking.md"
# Matches a question in a list or in the first cell of a table row.
_ITEM: Final = re.compile(
    r"^[ \t]*(?:[-*+]|\d+[.)]|\|)[ \t]+(?P<text>\S[^|\n]{8,110}\?)[ \t\r]*(?:\||$)", re.MULTILINE
)
# Names of folders and tags that people keep notes about people under.
_PEOPLE: Final = frozenset(
    {
        *("people", "person", "persons", "contact", "contacts", "family", "friends"),
        *("personen", "kontakte", "menschen", "personnes", "contactos", "personas"),
    }
)


def suggest_questions(
    notes: Sequence[NoteState], vault: Vault, today: date | None = None
) -> tuple[str, ...]:
    """Suggest up to three questions that the notes can answer.

    Questions from the user's own list are preferred. If there are none, questions are made of
    what the notes contain, if possible of notes in different folders. Private notes are left out.

    Args:
        notes: the notes of the vault.
        vault: reads the notes.
        today: the day from which on an open task is overdue, or None for the current day.
    """
    listed = _read_user_list(notes, vault)
    if listed:
        return listed[:_MOST_QUESTIONS]
    chosen = tuple(islice(_choose_notes(notes), _MOST_CHECKED))
    short = (state.path for state in chosen[:_MOST_READ] if _is_short_note(state.path, vault))
    read = list(_read_notes(short, vault))
    known = {note.path: note for note in read}
    found = chain(
        islice(_list_written_questions(read), 1),
        islice(_ask_about_people(read), 1),
        _ask_about_tasks(read, today or date.today()),
        _ask_about_headings(read),
        (_ask_about(state.title) for state in chosen if _can_answer(state.path, vault, known)),
    )
    return tuple(islice(dict.fromkeys(found), _MOST_QUESTIONS))


def _read_user_list(notes: Sequence[NoteState], vault: Vault) -> tuple[str, ...]:
    """Return the questions that the user has listed in a note, which may be private."""
    path = next((note.path for note in notes if PurePosixPath(note.path).name == _USER_LIST), "")
    if not path:
        return ()
    try:
        text = vault.read_note(path).text
    except (OSError, VaultError):  # such as deleted meanwhile
        return ()
    return tuple(match["text"] for match in _ITEM.finditer(text))


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


def _list_written_questions(notes: Sequence[Note]) -> Iterator[str]:
    """Yield the questions that somebody wrote as a title or as a heading above a text."""
    for note in notes:
        titles = [note.title] if _has_text(note) else []
        headings = [heading.text for heading in note.headings if _has_section_text(note, heading)]
        yield from (text for text in (*titles, *headings) if _is_askable(text) and text[-1] == "?")


def _ask_about_people(notes: Sequence[Note]) -> Iterator[str]:
    """Yield a question about each person that has a note with a text."""
    for note in notes:
        folders = PurePosixPath(note.path.casefold()).parts[:-1]
        is_person = not _PEOPLE.isdisjoint((*folders, *map(str.casefold, note.tags)))
        if is_person and _has_text(note):
            yield f"What do I know about {note.title}?"


def _ask_about_tasks(notes: Sequence[Note], today: date) -> Iterator[str]:
    """Yield a question about overdue tasks, or about open tasks if no task is overdue."""
    tasks = [task for note in notes for task in note.tasks if task.is_of_kind("open")]
    if any(task.is_overdue(today) for task in tasks):
        yield "Which tasks are overdue?"
    elif tasks:
        yield "Which tasks are open?"


def _ask_about_headings(notes: Sequence[Note]) -> Iterator[str]:
    """Yield a question about the first heading of each note that has a text below it.

    Left out are headings that several notes have, because they come from a form for notes.
    """
    uses = Counter(heading.text for note in notes for heading in note.headings)
    for note in notes:
        subjects = (
            heading.text
            for heading in note.headings
            if uses[heading.text] == 1 and _is_subject(note, heading)
        )
        yield from (_ask_about(subject) for subject in islice(subjects, 1))


def _is_subject(note: Note, heading: Heading) -> bool:
    return (
        heading.text != note.title
        and len(heading.text.split()) in _HEADING_WORDS
        and _is_askable(heading.text)
        and _has_section_text(note, heading)
    )


def _has_section_text(note: Note, heading: Heading) -> bool:
    """Return whether a text follows a heading before the next one."""
    lines = note.text.split("\n")[heading.line :]
    number, line = next(((n, line) for n, line in enumerate(lines, 1) if line.strip()), (0, ""))
    return bool(line) and heading.line + number not in _find_heading_lines(note)


def _has_text(note: Note) -> bool:
    """Return whether a note has more than properties and headings."""
    headings = _find_heading_lines(note)
    return any(
        line.strip() and number >= note.body_line and number not in headings
        for number, line in enumerate(note.text.split("\n"), 1)
    )


def _find_heading_lines(note: Note) -> frozenset[int]:
    return frozenset(heading.line for heading in note.headings)


def _can_answer(path: str, vault: Vault, known: Mapping[str, Note]) -> bool:
    """Return whether a file has a text. Only short notes are read, because others take long."""
    if path in known:
        return _has_text(known[path])
    if not _is_short_note(path, vault):
        return (vault.root / path).is_file()
    return any(_has_text(note) for note in _read_notes([path], vault))


def _is_short_note(path: str, vault: Vault) -> bool:
    try:
        size = (vault.root / path).stat().st_size
    except OSError:  # deleted meanwhile
        return False
    return find_kind(path) is MARKDOWN and size <= _MOST_READ_BYTES


def _read_notes(paths: Iterable[str], vault: Vault) -> Iterator[Note]:
    """Read notes, except private ones and those that cannot be read, such as deleted ones."""
    for path in paths:
        with suppress(OSError, VaultError):
            note = vault.read_note(path)
            if not note.is_private:
                yield note
