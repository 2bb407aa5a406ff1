"""Read and write the catalog's records of files and notes. Writes need a transaction."""

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from vault.catalog import DAY_FORMATS, Catalog, Row
from vault.embedding.chunking import Chunk
from vault.notes.dates import list_property_days
from vault.notes.day_formats import DayFormat
from vault.notes.keywords import (
    build_note_words,
    index_text,
    list_note_names,
)
from vault.notes.kinds import find_kind
from vault.notes.links import LinkResolver, list_link_names
from vault.notes.name_days import NameDays
from vault.notes.note import Note
from vault.notes.text.markdown_text import list_inner_headings
from vault.scan import FileStat

# "waiting" is a file that was found on disk and is not in the catalog yet.
State = Literal["indexed", "excluded", "failed", "waiting"]

NEVER_SEEN = FileStat(-1, -1, -1, -1)
_SELECT_FILES: Final = (
    "SELECT path, id, mtime_ns, size, device, inode, ctime_ns, state, reason, version FROM files"
)


class FileRow(NamedTuple):
    """The catalog's record of a file.

    If `mtime_ns` and `size` are -1, the next index update reads the file again.

    Attributes:
        state: whether the file is indexed, excluded or could not be read.
        reason: the rule that excludes the file, or the reason why it, or the front matter of an
            indexed note, could not be read.
        version: a hash of the file's content, or an empty string if the file is not indexed.
    """

    path: str
    id: int
    mtime_ns: int
    size: int
    device: int
    inode: int
    ctime_ns: int
    state: State
    reason: str
    version: str

    def differs(self, seen: FileStat) -> bool:
        """Return whether a file may have changed since its attributes were recorded."""
        return self[2:7] != seen and self.stat.differs(seen)

    @property
    def stat(self) -> FileStat:
        """The file's attributes as recorded in the catalog."""
        return FileStat(*self[2:7])


@dataclass(frozen=True, slots=True)
class NoteState:
    """A file in the vault and its state in the index.

    Attributes:
        reason: the rule that excludes the file, or the reason why it, or the front matter of an
            indexed note, could not be read.
    """

    path: str
    title: str
    state: State
    reason: str = ""


# A property or an inline field that says when a note was written, or which day it is about.
_DATING_PROPERTY: Final = re.compile(
    r"^[^\w\n]{0,40}(?:(?:date|day|datum|fecha|jour|held|written|published|erstellt)"
    r"(?:[ _-]?created)?|created(?:[ _-]?(?:at|on))?)[^\w\n:]{0,10}:{1,2}[ \t]{0,20}[\"']?"
    r"(\d{4}-\d\d-\d\d)",
    re.IGNORECASE | re.MULTILINE,
)


class Records:
    """The files, notes, passages, links and tags of one catalog."""

    def __init__(self, catalog: Catalog):
        self._catalog = catalog

    def files(self) -> dict[str, FileRow]:
        """Return all file records, keyed by path."""
        return {row[0]: FileRow._make(row) for row in self._catalog.rows(_SELECT_FILES)}

    def find_files(self, paths: Iterable[str]) -> dict[str, FileRow]:
        """Return the records of the given files, keyed by path. Unknown paths are skipped."""
        rows = self._catalog.rows(
            _SELECT_FILES + " WHERE path IN (SELECT value FROM json_each(?))",  # noqa: S608 - ours
            (json.dumps(list(paths)),),
        )
        return {row[0]: FileRow._make(row) for row in rows}

    def counts(self) -> tuple[int, int]:
        """Return the number of notes and the number of passages."""
        row = self._catalog.rows(
            "SELECT (SELECT count(*) FROM notes), (SELECT count(*) FROM chunks)"
        )[0]
        return int(row[0]), int(row[1])

    def list_by_state(self, state: State) -> tuple[tuple[str, str], ...]:
        """List the files that have the given state, each with the reason for it, sorted by path."""
        statement = "SELECT path, reason FROM files WHERE state = ? ORDER BY path"
        return tuple((row[0], row[1]) for row in self._catalog.rows(statement, (state,)))

    def list_faults(self) -> tuple[tuple[str, str], ...]:
        """List the indexed notes of whose front matter something is lost, each with the reason."""
        return tuple(pair for pair in self.list_by_state("indexed") if pair[1])

    def list_states(self) -> list[NoteState]:
        """List the state of every file, sorted by path."""
        return [
            NoteState(row[0], row[1] or "", row[2], row[3])
            for row in self._catalog.rows(
                "SELECT path, title, state, reason FROM files"
                " LEFT JOIN notes ON notes.file_id = files.id ORDER BY path"
            )
        ]

    def count_tokens(self) -> dict[str, int]:
        """Return the tokens of each indexed note, by path. They are those of its passages."""
        rows = self._catalog.rows(
            "SELECT path, sum(tokens) FROM chunks JOIN files ON files.id = file_id GROUP BY file_id"
        )
        return {row[0]: row[1] for row in rows}

    def find_days(self, paths: Iterable[str]) -> dict[str, list[str]]:
        """Return the dates of notes as ISO 8601 strings, keyed by path.

        They come from the path of a note, or else from properties such as `created`. Other
        properties, such as a birthday or a deadline, are ignored, because they do not date the
        note.
        """
        paths = set(paths)
        names = self.load_name_days()
        named = {path: days for path in sorted(paths) if (days := names.find_days(path))}
        found: dict[str, list[str]] = {}
        rows = self._catalog.rows(
            "SELECT path, day,"
            " (SELECT text FROM chunks WHERE file_id = files.id ORDER BY id LIMIT 1)"
            " FROM days JOIN files ON files.id = file_id"
            " WHERE path IN (SELECT value FROM json_each(?)) ORDER BY path, day",
            (json.dumps(sorted(paths - named.keys())),),
        )
        for path, day, beginning in rows:
            if day in _DATING_PROPERTY.findall(beginning or ""):
                found.setdefault(path, []).append(day)
        return {**named, **found}

    def find_content(self, version: str) -> str | None:
        """Return the path of an indexed note, given the hash of its content, or None."""
        rows = self._catalog.rows(
            "SELECT path FROM files WHERE state = 'indexed' AND version = ? LIMIT 1", (version,)
        )
        return str(rows[0][0]) if rows else None

    def find_values(self, paths: Iterable[str], names: Iterable[str]) -> dict[str, str]:
        """Return the values of properties in notes, such as "rating: 4 · due: 2026-12-01", by path.

        Args:
            paths: the notes.
            names: the names of the properties in lower case.
        """
        rows = self._catalog.rows(
            "SELECT path, name, value FROM properties JOIN files ON files.id = file_id"
            " WHERE path IN (SELECT value FROM json_each(?))"
            " AND name IN (SELECT value FROM json_each(?)) ORDER BY path, name, properties.rowid",
            (json.dumps(list(paths)), json.dumps(list(names))),
        )
        values: dict[str, dict[str, list[str]]] = {}
        for path, name, value in rows:
            values.setdefault(path, {}).setdefault(name, []).append(value)
        return {
            path: " · ".join(f"{name}: {', '.join(each)}" for name, each in found.items())
            for path, found in values.items()
        }

    def load_name_days(self) -> NameDays:
        """Read what finds the dates in the paths of notes."""
        rows = self._catalog.rows("SELECT path FROM files WHERE state = 'indexed'")
        stored = json.loads(self._catalog.meta(DAY_FORMATS) or "[]")
        return NameDays((path for (path,) in rows), [DayFormat(*each) for each in stored])

    def put_day_formats(self, formats: Iterable[DayFormat]) -> None:
        """Store the formats of daily notes that are set in Obsidian."""
        stored = [(each.folder, each.tokens) for each in formats]
        self._catalog.set_meta(DAY_FORMATS, json.dumps(stored))

    def tags(self) -> list[tuple[str, str]]:
        """Return sorted pairs of a tag and the path of a note that has the tag."""
        return [
            (row[0], row[1])
            for row in self._catalog.rows(
                "SELECT DISTINCT tag, path FROM tags JOIN files ON files.id = tags.file_id"
                " ORDER BY tag, path"
            )
        ]

    def list_names(self, path: str) -> set[str]:
        """Return the names that links can use for a note, normalized by `fold_link_name`."""
        statement = "SELECT name FROM names JOIN files ON files.id = file_id WHERE path = ?"
        return {row[0] for row in self._catalog.rows(statement, (path,))}

    def resolve_links_among(self, names: Collection[str], attachments: str) -> LinkResolver:
        """Build a link resolver for only the notes with one of the given names.

        Args:
            names: the names, normalized by `fold_link_name`.
            attachments: the attachment folder that is set in Obsidian.
        """
        rows = self._catalog.rows(
            "SELECT path, aliases FROM notes JOIN files ON files.id = file_id WHERE file_id IN"
            " (SELECT file_id FROM names WHERE name IN (SELECT value FROM json_each(?)))"
            " ORDER BY path",
            (json.dumps(list(names)),),
        )
        return LinkResolver(((path, json.loads(aliases)) for path, aliases in rows), attachments)

    def resolve_links(self, attachments: str) -> LinkResolver:
        """Build a link resolver that finds notes by path, alias and title.

        Args:
            attachments: the attachment folder that is set in Obsidian.
        """
        rows = self._catalog.rows(
            "SELECT path, aliases, title FROM files LEFT JOIN notes ON file_id = files.id"
            " ORDER BY path"
        )
        notes = [(path, json.loads(aliases or "[]")) for path, aliases, _ in rows]
        return LinkResolver(notes, attachments, [(path, title) for path, _, title in rows if title])

    def put_note(self, stat: FileStat, note: Note, chunks: Iterable[Chunk]) -> None:
        """Store a note in the catalog, replacing any record of a file with the same path."""
        file_id = self._put_file(note.path, stat, "indexed", note.fault, note.version)
        aliases = json.dumps(note.aliases, ensure_ascii=False)
        self._catalog.run(
            "INSERT INTO notes VALUES (?, ?, ?)",
            (file_id, _replace_surrogates(note.title), aliases),
        )
        self._put_names(file_id, note)
        for chunk in chunks:
            self._put_chunk(file_id, chunk)
        self._put_words(file_id)
        self._catalog.run_many(
            "INSERT INTO links VALUES (?, ?, ?, ?, ?, ?)",
            [
                (file_id, link.line, link.target, link.heading, link.label, link.is_embed)
                for link in note.links
            ],
        )
        self._catalog.run_many(
            "INSERT INTO tags VALUES (?, ?)", [(file_id, tag) for tag in note.tags]
        )
        self._catalog.run_many(
            "INSERT INTO days VALUES (?, ?)",
            [(file_id, day) for day in list_property_days(note.properties.values())],
        )
        self._catalog.run_many(
            "INSERT INTO properties VALUES (?, ?, ?)",
            [
                (file_id, _replace_surrogates(name), _replace_surrogates(value))
                for name, values in note.properties.items()
                for value in values
            ],
        )

    def put_state(self, path: str, stat: FileStat, state: State, reason: str) -> None:
        """Record a file as excluded or failed, and remove its passages."""
        self._put_file(path, stat, state, reason, "")

    def touch(self, path: str, stat: FileStat) -> None:
        """Store the current attributes of a file whose content has not changed."""
        self._catalog.run(
            "UPDATE files SET mtime_ns = ?, size = ?, device = ?, inode = ?, ctime_ns = ?"
            " WHERE path = ?",
            (*stat, path),
        )

    def rename(self, old: str, stat: FileStat, note: Note) -> None:
        """Change a note's path in the catalog, keeping its passages and vectors.

        Args:
            old: the path that is recorded in the catalog.
            stat: the current attributes of the file.
            note: the note, with its new path and title.
        """
        self._remove_words(old)
        self.remove(note.path)
        self._catalog.run("UPDATE files SET path = ? WHERE path = ?", (note.path, old))
        self.touch(note.path, stat)
        file_id = self._file_id(note.path)
        self._catalog.run(
            "UPDATE notes SET title = ? WHERE file_id = ?",
            (_replace_surrogates(note.title), file_id),
        )
        self._catalog.run("DELETE FROM names WHERE file_id = ?", (file_id,))
        self._put_names(file_id, note)
        self._put_words(file_id)

    def forget_failures(self, paths: Iterable[str] | None = None) -> None:
        """Make the next update read failed files again, even if they are unchanged.

        Args:
            paths: the files, or None for all failed files.
        """
        unseen = "UPDATE files SET mtime_ns = -1, size = -1 WHERE state = 'failed'"
        if paths is None:
            self._catalog.run(unseen)
        else:
            chosen = " AND path IN (SELECT value FROM json_each(?))"
            self._catalog.run(unseen + chosen, (json.dumps(list(paths)),))

    def remove(self, path: str) -> None:
        """Remove a file and its passages from the catalog."""
        self._remove_words(path)
        self._catalog.run("DELETE FROM files WHERE path = ?", (path,))

    def _put_file(self, path: str, stat: FileStat, state: State, reason: str, version: str) -> int:
        self.remove(path)
        self._catalog.run(
            "INSERT INTO files"
            " (path, mtime_ns, size, device, inode, ctime_ns, state, reason, version)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (path, *stat, state, reason, version),
        )
        return self._file_id(path)

    def _file_id(self, path: str) -> int:
        found = self._catalog.run("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
        return int(found[0])

    def _put_names(self, file_id: int, note: Note) -> None:
        names = map(_replace_surrogates, sorted(list_link_names(note.path, note.aliases)))
        self._catalog.run_many("INSERT INTO names VALUES (?, ?)", [(file_id, n) for n in names])

    def _put_chunk(self, file_id: int, chunk: Chunk) -> None:
        self._catalog.run(
            "INSERT INTO chunks (file_id, hash, heading, first_line, last_line, tokens, context,"
            " text, structure) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                file_id,
                chunk.hash,
                json.dumps(chunk.heading, ensure_ascii=False),
                *chunk.lines,
                chunk.tokens,
                chunk.context,
                chunk.text,
                chunk.structure,
            ),
        )

    def _put_words(self, file_id: int) -> None:
        words = self._read_words("files.id = ?", file_id)
        self._catalog.run_many(
            "INSERT INTO words (rowid, title, heading, body) VALUES (?, ?, ?, ?)", words.passages
        )
        self._catalog.run_many(
            "INSERT INTO note_words (rowid, names, body) VALUES (?, ?, ?)", words.notes
        )

    def _remove_words(self, path: str) -> None:
        words = self._read_words("files.path = ?", path)
        self._catalog.run_many(
            "INSERT INTO words (words, rowid, title, heading, body) VALUES ('delete', ?, ?, ?, ?)",
            words.passages,
        )
        self._catalog.run_many(
            "INSERT INTO note_words (note_words, rowid, names, body) VALUES ('delete', ?, ?, ?)",
            words.notes,
        )

    def _read_words(self, condition: str, value: str | int) -> "_WordRows":
        """Compute a note's rows in the full-text indexes from its stored text.

        Args:
            condition: an SQL condition that selects one file, with a placeholder for `value`.
            value: the file's path or id.
        """
        statement = (
            "SELECT chunks.id, file_id, path, title, aliases, heading, text, structure FROM chunks"
            " JOIN notes USING (file_id) JOIN files ON files.id = file_id WHERE "
        )
        rows = self._catalog.run(statement + condition + " ORDER BY chunks.id", (value,)).fetchall()
        if not rows:
            return _WordRows([], [])
        _, file_id, path, title, aliases, *_ = rows[0]
        names = list_note_names(path, title, json.loads(aliases))
        headings = [
            " ".join(dict.fromkeys((*json.loads(row[5]), *list_inner_headings(*row[6:]))))
            for row in rows
        ]
        return _WordRows(
            [
                (row[0], *map(index_text, (" ".join(names), heading, row[6])))
                for row, heading in zip(rows, headings, strict=True)
            ],
            [(file_id, *build_note_words(names, [row[6] for row in rows]))],
        )


class _WordRows(NamedTuple):
    """The rows of a note in the full-text index of passages and in that of whole notes."""

    passages: list[Row]
    notes: list[Row]


class RemovedNotes:
    """Indexed notes that are missing from the folder, used to detect moved and renamed notes."""

    def __init__(self, gone: dict[str, FileRow]):
        self._gone = dict(gone)
        self._paths: dict[str, list[str]] = {}
        for path, row in gone.items():
            if row.state == "indexed":
                self._paths.setdefault(row.version, []).append(path)

    def take(self, path: str, version: str, stat: FileStat) -> str | None:
        """Return the old path of a moved note, or None if no missing note matches.

        A missing note matches if it has the same content and file type. If several match, the one
        with the same inode is preferred. Each note is returned only once.

        Args:
            path: the new path.
            version: a hash of the content.
            stat: the attributes of the file at the new path.
        """
        known = self._paths.get(version, [])
        alike = [gone for gone in known if find_kind(gone) is find_kind(path)]
        if not alike:
            return None
        old = min(alike, key=lambda gone: self._gone[gone].stat.inode != stat.inode)
        known.remove(old)
        del self._gone[old]
        return old

    def list_rest(self) -> list[tuple[str, FileRow]]:
        """Return the path and record of each missing note that does not count as moved."""
        return list(self._gone.items())


def _replace_surrogates(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
