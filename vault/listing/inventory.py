"""List the files of a part of a vault with their versions and sizes, for work on every note."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from vault.catalog import Catalog
from vault.notes.kinds import is_readable_kind
from vault.records import FileRow, Records
from vault.scope import Scope
from vault.search.filters import choose_passages, find_files, find_matching
from vault.search.passages import Passages
from vault.search.query import Query

__all__ = ["Inventory", "InventoryNote", "find_note_paths", "list_inventory"]

# The conditions that the path of a note decides, so that they can be checked for excluded notes.
_BY_PATH: Final = frozenset({"path", "folder", "file"})
_PRIVATE: Final = "private"


@dataclass(frozen=True, slots=True)
class InventoryNote:
    """A note that models may read, as the index knows it.

    Attributes:
        version: the hash of the note's content.
        tokens: the tokens of its passages. A note without text has none.
    """

    path: str
    version: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Inventory:
    """The files of a part of a vault.

    Attributes:
        allowed: the notes that models may read, sorted by path.
        failed: the files that could not be read, with the reasons.
        private: the number of notes that mark themselves as private.
        excluded: the number of notes that rules exclude.
    """

    allowed: tuple[InventoryNote, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    private: int = 0
    excluded: int = 0


def list_inventory(catalog: Catalog, root: Path, scope: Scope, query: Query) -> Inventory:
    """List the files that match the filter of a query.

    Tags, properties and links of files that no model may read, or that cannot be read, are unknown.
    Such a file is listed unless its path tells that it does not match.

    Args:
        catalog: the index.
        root: the folder of the vault.
        scope: the part of the vault.
        query: the filter. Its words are ignored.
    """
    records, rows = Records(catalog), Records(catalog).files()
    wanted = find_note_paths(catalog, scope, query)
    sizes = records.count_tokens()
    notes = tuple(
        InventoryNote(path, rows[path].version, sizes.get(path, 0)) for path in sorted(wanted)
    )
    failed = _match_paths(
        catalog, scope, query, {p: row for p, row in rows.items() if row.state == "failed"}
    )
    private, excluded = _count_hidden(catalog, root, scope, query, rows)
    unreadable = tuple((path, rows[path].reason) for path in sorted(failed))
    return Inventory(notes, unreadable, private, excluded)


def find_note_paths(catalog: Catalog, scope: Scope, query: Query) -> frozenset[str]:
    """Return the paths of the indexed notes that match the filter of a query.

    Unlike a listing, it includes notes without text. The words of the query are ignored.
    """
    found = find_files(query, catalog, scope)
    if query.days or query.task_kind or query.due:
        limits = replace(query, words="", phrases=())
        chosen = choose_passages(limits, catalog, Passages(catalog), scope).passages or {}
        passages = catalog.rows("SELECT id, file_id FROM chunks")
        found &= {file for number, file in passages if number in chosen}
    rows = catalog.rows("SELECT id, path FROM files WHERE state = 'indexed'")
    return frozenset(path for number, path in rows if number in found)


def _match_paths(
    catalog: Catalog, scope: Scope, query: Query, files: Mapping[str, FileRow]
) -> set[str]:
    """Return the files that the conditions on paths do not rule out."""
    paths = {number: path for number, path in enumerate(files) if scope.covers(path)}
    found = set(paths)
    for clause in query.clauses:
        if all(condition.key in _BY_PATH for condition in clause):
            found &= find_matching(clause, catalog, paths)
    return {paths[number] for number in found}


def _count_hidden(
    catalog: Catalog, root: Path, scope: Scope, query: Query, rows: Mapping[str, FileRow]
) -> tuple[int, int]:
    """Return how many private and how many excluded notes there are.

    The index has one row for an excluded folder, whose notes are counted on disk.
    """
    hidden = {path: row for path, row in rows.items() if row.state == "excluded"}
    files = {place: row for path, row in hidden.items() for place in _list_files(root, path)}
    found = _match_paths(catalog, scope, query, files)
    private = sum(files[path].reason.startswith(_PRIVATE) for path in found)
    return private, len(found) - private


def _list_files(root: Path, path: str) -> Iterator[str]:
    """Yield an excluded note, or the notes in an excluded folder."""
    if not (root / path).is_dir():
        if is_readable_kind(path):
            yield path
        return
    for folder, folders, names in os.walk(root / path):
        folders[:] = [name for name in folders if not name.startswith(".")]
        below = os.path.relpath(folder, root)
        for name in names:
            if not name.startswith(".") and is_readable_kind(name):
                yield f"{below}/{name}"
