"""Where passages stand: what their notes are called, carry and link to, as a catalog has it."""

import json
import posixpath
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime

from vault.catalog import Catalog
from vault.notes.dates import iso_days
from vault.notes.keywords import fold

__all__ = ["Place", "Places", "called"]


@dataclass(frozen=True, slots=True)
class Place:
    """The note of a passage, and the headings above it.

    Attributes:
        file_id: of the note.
        headings: from the outermost to the passage's own; none for a note as such.
    """

    file_id: int
    path: str
    title: str
    aliases: tuple[str, ...]
    mtime_ns: int
    headings: tuple[str, ...] = ()

    @property
    def stem(self) -> str:
        """Give the name of the file without its kind."""
        return posixpath.splitext(posixpath.basename(self.path))[0]

    @property
    def note_names(self) -> tuple[str, ...]:
        """Give what the note can be called."""
        return (self.title, self.stem, *self.aliases)

    @property
    def names(self) -> tuple[str, ...]:
        """Give what the passage can be called: as its note, or by its own heading."""
        return (*self.note_names, *self.headings[-1:])

    @property
    def folders(self) -> tuple[str, ...]:
        """Give the names of the folders above the note."""
        return tuple(self.path.split("/")[:-1])

    @property
    def named_days(self) -> tuple[date, ...]:
        """Give the days that stand in the names of the note and in the headings."""
        return tuple(day for name in (*self.note_names, *self.headings) for day in iso_days(name))

    @property
    def day_of_change(self) -> date:
        """Give the day, here, on which the file was last changed."""
        return datetime.fromtimestamp(self.mtime_ns / 1e9).astimezone().date()


class Places:
    """Reads places, and what their notes carry, in a statement each."""

    def __init__(self, catalog: Catalog):
        self._catalog = catalog

    def of_passages(self, ids: Collection[int]) -> dict[int, Place]:
        """Give the place of each passage."""
        rows = self._catalog.rows(
            "SELECT chunks.id, file_id, path, title, aliases, mtime_ns, heading"
            " FROM chunks JOIN notes USING (file_id) JOIN files ON files.id = file_id"
            " WHERE chunks.id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return {
            number: Place(file, path, title, _names(aliases), mtime_ns, _names(headings))
            for number, file, path, title, aliases, mtime_ns, headings in rows
        }

    def of_notes(self, paths: Collection[str]) -> list[Place]:
        """Give the places of notes by their paths."""
        rows = self._catalog.rows(
            "SELECT file_id, path, title, aliases, mtime_ns"
            " FROM notes JOIN files ON files.id = file_id"
            " WHERE path IN (SELECT value FROM json_each(?))",
            (json.dumps(list(paths)),),
        )
        return [
            Place(file, path, title, _names(aliases), mtime_ns)
            for file, path, title, aliases, mtime_ns in rows
        ]

    def tags(self, file_ids: Collection[int]) -> dict[int, set[str]]:
        """Give the tags of notes."""
        return self._of_files("SELECT file_id, tag FROM tags", file_ids)

    def days(self, file_ids: Collection[int]) -> dict[int, set[date]]:
        """Give the days that the properties of notes name."""
        found = self._of_files("SELECT file_id, day FROM days", file_ids)
        return {file: {date.fromisoformat(day) for day in days} for file, days in found.items()}

    def days_of_headings(self, ids: Collection[int]) -> dict[int, set[date]]:
        """Give the days that headings within each passage name."""
        rows = self._catalog.rows(
            "SELECT id, text FROM chunks WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return {
            number: {day for line in text.split("\n") if line[:1] == "#" for day in iso_days(line)}
            for number, text in rows
        }

    def targets(self, file_ids: Collection[int]) -> dict[int, set[str]]:
        """Give what notes link to, as `called` gives it."""
        found = self._of_files("SELECT file_id, target FROM links", file_ids)
        return {file: {called(target) for target in found[file]} for file in file_ids}

    def _of_files(self, statement: str, file_ids: Collection[int]) -> dict[int, set[str]]:
        chosen = " WHERE file_id IN (SELECT value FROM json_each(?))"
        rows = self._catalog.rows(statement + chosen, (json.dumps(list(file_ids)),))
        found: dict[int, set[str]] = defaultdict(set)
        for file, value in rows:
            found[file].add(value)
        return found


def called(path: str) -> str:
    """Give the name by which links mean a note, without folder, kind, case and accents."""
    return fold(posixpath.splitext(posixpath.basename(path))[0])


def _names(stored: str) -> tuple[str, ...]:
    return () if stored == "[]" else tuple(json.loads(stored))
