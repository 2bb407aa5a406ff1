"""Read the notes of a catalog as lines of prose and as words."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from vault.catalog import Catalog
from vault.notes.keywords import split_words
from vault.notes.name_days import NameDays
from vault.notes.text.inline import remove_comments
from vault.notes.text.lines import (
    BLANK,
    CODE_KINDS,
    COMMENT,
    FRONT,
    NESTED_HEADING,
    RULE,
    SECTION_KINDS,
    TABLE_KINDS,
    UNDERLINE,
)
from vault.notes.text.markdown_text import read_text
from vault.notes.text.markup import remove_markup
from vault.review.findings import Check

__all__ = [
    "NoteInfo",
    "NoteLine",
    "Vocabulary",
    "list_singulars",
    "make_singular",
    "read_lines",
    "read_notes",
]

_NOTES_AT_ONCE: Final = 64
_TEMPLATE_FOLDERS: Final = frozenset({"template", "templates", "_templates", "vorlagen"})
_HASHES: Final = re.compile(r"^[\s>]*#+\s*")
_HEADING_KINDS: Final = SECTION_KINDS | {NESTED_HEADING}
_SKIPPED_KINDS: Final = CODE_KINDS | {BLANK, COMMENT, RULE, UNDERLINE}
_MARKERS: Final = re.compile(
    r"^\s*(?:>\s?)*(?:\[![\w-]+\][+-]?\s*)?(?:(?:[-*+]|\d+[.)])\s+)?(?:\[.\]\s+)?"
)
# What says nothing in a sentence: pictures, what is embedded, addresses, and names of blocks.
_NO_PROSE: Final = re.compile(
    r"!\[\[[^\]]*\]\]|!\[[^\]]*\]\([^)]*\)|<?(?<!\]\()https?://[^\s>)]+>?|</?[A-Za-z][^<>]*>"
    r"|\s\^[\w-]+\s*$"
)


@dataclass(frozen=True, slots=True)
class NoteInfo:
    """The data of a note that the rules of the review use.

    Attributes:
        number: the position of the note in the review, counted from 0.
        file_id: the id of the file in the catalog.
        changed_ns: the time of the last change of the file, in nanoseconds since 1970.
        version: the hash of the file's content.
        is_dated: whether the file name contains a date, as for a daily note.
    """

    number: int
    file_id: int
    path: str
    title: str
    changed_ns: int
    version: str
    is_dated: bool


class NoteLine(NamedTuple):
    """A line of a note that is neither code nor in a comment.

    Attributes:
        number: the number of the line in the file, counted from 1.
        text: the line without list markers and markup.
        raw: the line as written.
        kind: `text`, `heading`, `row` (of a table) or `front` (front matter).
    """

    number: int
    text: str
    raw: str
    kind: str


def read_notes(catalog: Catalog) -> list[NoteInfo]:
    """Read all indexed notes except templates, sorted by path."""
    rows = catalog.rows(
        "SELECT file_id, path, title, mtime_ns, version FROM notes"
        " JOIN files ON files.id = file_id ORDER BY path"
    )
    kept = (row for row in rows if not _is_template(row[1]))
    return [
        NoteInfo(number, file_id, path, title, changed_ns, version, _is_dated(path))
        for number, (file_id, path, title, changed_ns, version) in enumerate(kept)
    ]


def read_lines(
    catalog: Catalog, notes: Sequence[NoteInfo], check: Check
) -> Iterator[tuple[NoteInfo, list[NoteLine]]]:
    """Yield each note with its lines, except blank lines and code.

    Args:
        catalog: the catalog with the text of the notes.
        notes: the notes to read.
        check: called before each note. It may raise an exception to stop.
    """
    for start in range(0, len(notes), _NOTES_AT_ONCE):
        batch = notes[start : start + _NOTES_AT_ONCE]
        passages: dict[int, list[tuple[int, str, str]]] = {note.file_id: [] for note in batch}
        rows = catalog.rows(
            "SELECT file_id, first_line, text, structure FROM chunks"
            " WHERE file_id IN (SELECT value FROM json_each(?)) ORDER BY id",
            (json.dumps(list(passages)),),
        )
        for file_id, *passage in rows:
            passages[file_id].append(tuple(passage))
        for note in batch:
            check()
            yield note, list(split_lines(passages[note.file_id]))


def list_singulars(text: str) -> list[str]:
    """Return the words of a text in the singular, normalized as in the full-text index."""
    return [make_singular(word) for word in split_words(text)]


def make_singular(word: str) -> str:
    """Return a word without its plural "s"."""
    is_plural = word[-1:] == "s" and len(word) > 3 and word[-2] != "s"
    return word[:-1] if is_plural else word


class Vocabulary:
    """Assigns a number to each word, and counts in how many notes the word occurs."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._note_counts: Counter[int] = Counter()
        self.notes = 0

    def add_note(self, words: Iterable[str]) -> list[int]:
        """Add the words of a note, in order, and return the number assigned to each of them."""
        numbers = self._numbers
        found = [numbers.setdefault(word, len(numbers)) for word in words]
        self._note_counts.update(set(found))
        self.notes += 1
        return found

    def number_words(self, text: str) -> list[int]:
        """Return the number of each word of a text. A word without a number gets the next one."""
        numbers = self._numbers
        return [numbers.setdefault(word, len(numbers)) for word in list_singulars(text)]

    def count_notes(self, word: str) -> int:
        """Return the number of notes that contain a word."""
        number = self._numbers.get(word)
        return 0 if number is None else self._note_counts[number]

    @property
    def rare_limit(self) -> int:
        """The maximum number of notes in which a word may occur to count as rare."""
        return max(3, self.notes // 50)

    def is_rare(self, word: str) -> bool:
        """Return whether a word occurs in only a few notes."""
        return self.count_notes(word) <= self.rare_limit


def clean_markup(line: str) -> str:
    """Return a line of Markdown without list markers, link targets and formatting."""
    text = _MARKERS.sub("", remove_comments(line), count=1)
    return remove_markup(_NO_PROSE.sub(" ", text)).strip()


def _is_dated(path: str) -> bool:
    return bool(NameDays([path]).find_spans(path))


def _is_template(path: str) -> bool:
    folders = path.lower().split("/")[:-1]
    return not _TEMPLATE_FOLDERS.isdisjoint(folders)


def split_lines(passages: Iterable[tuple[int, str, str]]) -> Iterator[NoteLine]:
    """Yield the lines of a note, given its passages in file order.

    Args:
        passages: the first line, the text and the structure of each passage.
    """
    for first, text, structure in passages:
        passage = read_text(text, structure, starts_note=first == 1)
        for at, raw in enumerate(passage.lines):
            kind = passage.kinds[at]
            if kind == FRONT:
                yield NoteLine(first + at, raw.strip(), raw, "front")
            elif kind in _HEADING_KINDS:
                yield NoteLine(first + at, clean_markup(_HASHES.sub("", raw)), raw, "heading")
            elif kind not in _SKIPPED_KINDS:
                shown = clean_markup(passage.show_line(at))
                yield NoteLine(first + at, shown, raw, "row" if kind in TABLE_KINDS else "text")
