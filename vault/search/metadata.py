"""Read the metadata of passages from the catalog: their names, headings and dates."""

import json
import posixpath
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property

from vault.catalog import Catalog
from vault.notes.date_spans import Span, build_day_span, is_in_ranges
from vault.notes.name_days import NameDays, find_name_spans
from vault.notes.text.markdown_text import list_inner_headings
from vault.records import Records

__all__ = ["MetadataReader", "PassageMetadata"]

_PASSAGES = """
SELECT chunks.id, file_id, path, title, aliases, mtime_ns, heading, text, structure
FROM chunks JOIN notes USING (file_id) JOIN files ON files.id = file_id
"""
_YEAR = "*[12][0-9][0-9][0-9]*"


@dataclass(frozen=True, slots=True)
class PassageMetadata:
    """The names, dates and headings of a passage or a whole note, used to compute boosts.

    Attributes:
        file_id: the file id in the catalog.
        mtime_ns: the time of the file's last change, in nanoseconds since 1970.
        headings: the headings above the passage, outermost first, or an empty tuple for a whole
            note.
        inner: the headings within the passage. A passage of several short sections has more than
            one.
    """

    file_id: int
    path: str
    title: str
    aliases: tuple[str, ...]
    mtime_ns: int
    headings: tuple[str, ...] = ()
    inner: tuple[str, ...] = ()

    @property
    def stem(self) -> str:
        """The file name of the note without its suffix."""
        return posixpath.splitext(posixpath.basename(self.path))[0]

    @property
    def note_names(self) -> tuple[str, ...]:
        """The note's title, file name and aliases."""
        return (self.title, self.stem, *self.aliases)

    @property
    def names(self) -> tuple[str, ...]:
        """The note's names, the innermost heading above the passage, and the headings within it."""
        return tuple(dict.fromkeys((*self.note_names, *self.headings[-1:], *self.inner)))

    @property
    def folders(self) -> tuple[str, ...]:
        """The names of all folders in the path of the note."""
        return tuple(self.path.split("/")[:-1])

    @property
    def named_spans(self) -> frozenset[Span]:
        """The dates in the note's title, aliases and headings, each as a range of days.

        Those in its path depend on the other notes: `MetadataReader.read_days` has them.
        """
        names = {self.title, *self.aliases, *self.headings, *self.inner} - {self.stem}
        return frozenset(span for name in names for span in find_name_spans(name))

    @property
    def day_of_change(self) -> Span:
        """The day when the file was last changed, in local time, as a range of days."""
        return build_day_span(datetime.fromtimestamp(self.mtime_ns / 1e9).astimezone().date())


class MetadataReader:
    """Reads the details of passages from the catalog, with one SQL statement per method."""

    def __init__(self, catalog: Catalog):
        self._catalog = catalog

    @cached_property
    def _name_days(self) -> NameDays:
        return Records(self._catalog).load_name_days()

    def read_passages(self, ids: Collection[int]) -> dict[int, PassageMetadata]:
        """Return the details of each passage, keyed by passage id."""
        return self._read("chunks.id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),))

    def read_passages_with_year(self) -> dict[int, PassageMetadata]:
        """Return the details of the passages whose names or headings may contain a date."""
        return self._read(
            f"path GLOB '{_YEAR}' OR title GLOB '{_YEAR}' OR aliases GLOB '{_YEAR}'"
            f" OR heading GLOB '{_YEAR}' OR text GLOB '*#{_YEAR}'",
            (),
        )

    def _read(self, condition: str, parameters: Sequence[str]) -> dict[int, PassageMetadata]:
        rows = self._catalog.rows(f"{_PASSAGES} WHERE {condition}", parameters)
        return {
            number: PassageMetadata(
                file,
                path,
                title,
                _parse_names(aliases),
                mtime_ns,
                _parse_names(headings),
                list_inner_headings(text, structure),
            )
            for number, file, path, title, aliases, mtime_ns, headings, text, structure in rows
        }

    def read_notes(self, paths: Collection[str]) -> list[PassageMetadata]:
        """Return the details of the notes with the given paths."""
        rows = self._catalog.rows(
            "SELECT file_id, path, title, aliases, mtime_ns"
            " FROM notes JOIN files ON files.id = file_id"
            " WHERE path IN (SELECT value FROM json_each(?))",
            (json.dumps(list(paths)),),
        )
        return [
            PassageMetadata(file, path, title, _parse_names(aliases), mtime_ns)
            for file, path, title, aliases, mtime_ns in rows
        ]

    def find_by_day(self, days: Collection[Span]) -> set[int]:
        """Return the ids of the passages with a date in names, headings or properties.

        Args:
            days: the ranges of days, one of which must contain the date.
        """
        details = self.read_passages_with_year()
        found = {
            number
            for number, each in details.items()
            if any(is_in_ranges(span, days) for span in each.named_spans)
        }
        return found | self.find_by_note(days)

    def find_by_note(self, days: Collection[Span]) -> set[int]:
        """Return the ids of all passages of the notes with a date in their path or properties.

        Args:
            days: the ranges of days, one of which must contain the date.
        """
        found = set[int]()
        for first, after in days:
            rows = self._catalog.rows(
                "SELECT chunks.id FROM chunks JOIN days USING (file_id) WHERE day >= ? AND day < ?",
                (first.isoformat(), after.isoformat()),
            )
            found.update(int(row[0]) for row in rows)
        named = [
            file_id
            for file_id, path in self._catalog.rows("SELECT id, path FROM files")
            if any(is_in_ranges(span, days) for span in self._name_days.find_spans(path))
        ]
        statement = "SELECT id FROM chunks WHERE file_id IN (SELECT value FROM json_each(?))"
        found.update(int(row[0]) for row in self._catalog.rows(statement, (json.dumps(named),)))
        return found

    def read_tags(self, file_ids: Collection[int]) -> dict[int, set[str]]:
        """Return the tags of each note, keyed by file id."""
        return self._read_by_file("SELECT file_id, tag FROM tags", file_ids)

    def read_days(self, file_ids: Collection[int]) -> dict[int, set[Span]]:
        """Return the dates in the path and the properties of each note, keyed by file id.

        Each date is a range of days.
        """
        found: dict[int, set[Span]] = defaultdict(set)
        for file, days in self._read_by_file("SELECT file_id, day FROM days", file_ids).items():
            found[file].update(build_day_span(date.fromisoformat(day)) for day in days)
        paths = "SELECT file_id, path FROM notes JOIN files ON files.id = file_id"
        for file, values in self._read_by_file(paths, file_ids).items():
            found[file].update(span for path in values for span in self._name_days.find_spans(path))
        return found

    def read_targets(self, file_ids: Collection[int]) -> dict[int, set[str]]:
        """Return the link targets of each note as written, keyed by file id."""
        return self._read_by_file("SELECT file_id, target FROM links", file_ids)

    def _read_by_file(self, statement: str, file_ids: Collection[int]) -> dict[int, set[str]]:
        chosen = " WHERE file_id IN (SELECT value FROM json_each(?))"
        rows = self._catalog.rows(statement + chosen, (json.dumps(list(file_ids)),))
        found: dict[int, set[str]] = defaultdict(set)
        for file, value in rows:
            found[file].add(value)
        return found


def _parse_names(stored: str) -> tuple[str, ...]:
    return () if stored == "[]" else tuple(json.loads(stored))
