"""Read the contents of an index: its notes with their states, tags, links and related notes.

Every method reads the catalog. If it is damaged, it is replaced, and the method runs again.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from vault.access import filter_allowed
from vault.exclude.obsidian import read_settings
from vault.indexing.status import is_mending
from vault.notes.links import LinkResolver
from vault.open_index import IndexHandle, retry_when_damaged
from vault.records import NoteState, Records
from vault.search.related import RelatedNote, find_related_notes

__all__ = ["IndexContents"]


class IndexContents:
    """The contents of the index of a folder.

    Attributes:
        root: the folder of notes.
        exclude: patterns as in a `.gitignore`.
    """

    def __init__(self, root: Path, exclude: Sequence[str], handle: IndexHandle):
        """Create the object. The index is not opened yet.

        Args:
            root: the folder of notes.
            exclude: patterns as in a `.gitignore`.
            handle: opens the index on demand.
        """
        self.root = root
        self.exclude = tuple(exclude)
        self._handle = handle

    @property
    def is_mending(self) -> bool:
        """Whether the index was damaged and has not been completely rebuilt yet."""
        opened = self._handle.opened
        return opened is not None and is_mending(opened.catalog)

    @property
    @retry_when_damaged
    def note_count(self) -> int:
        """The number of indexed notes."""
        records = self._open_records()
        return 0 if records is None else records.counts()[0]

    @property
    @retry_when_damaged
    def indexed_at(self) -> str | None:
        """The end time of the last complete update in ISO 8601 UTC, or None if there is none."""
        opened = self._handle.open()
        return None if opened is None else opened.catalog.meta("indexed_at")

    @retry_when_damaged
    def notes(self) -> tuple[NoteState, ...]:
        """List every file of the vault with its state in the index, sorted by path."""
        records = self._open_records()
        return () if records is None else tuple(records.list_states())

    @retry_when_damaged
    def build_link_resolver(self) -> LinkResolver:
        """Build a resolver for links between the indexed notes."""
        records = self._open_records()
        folder = read_settings(self.root).attachment_folder
        return LinkResolver(()) if records is None else records.resolve_links(folder)

    @retry_when_damaged
    def tags(self) -> tuple[tuple[str, str], ...]:
        """Return sorted pairs of a tag and the path of a note that has the tag."""
        records = self._open_records()
        return () if records is None else tuple(records.tags())

    @retry_when_damaged
    def find_days(self, paths: Collection[str]) -> Mapping[str, Sequence[str]]:
        """Return the ISO 8601 dates in the properties of the given notes, keyed by path."""
        records = self._open_records()
        return {} if records is None else records.find_days(paths)

    @retry_when_damaged
    def filter_allowed(self, paths: Sequence[str]) -> frozenset[str]:
        """Return the given notes, except those that a model may not read now.

        Only notes that have changed since indexing are read again.
        """
        records = self._open_records()
        if records is None:
            return frozenset()
        return filter_allowed(self.root, records.find_files(paths), self.exclude)

    @retry_when_damaged
    def find_related(self, path: str, k: int = 8) -> list[RelatedNote]:
        """Return the `k` notes that are most similar to a note or linked to it.

        Only stored vectors are compared, so no model is loaded.
        """
        if (opened := self._handle.open()) is None:
            return []
        folder = read_settings(self.root).attachment_folder
        return find_related_notes(opened.catalog, opened.find_nearest, path, k, folder)

    def _open_records(self) -> Records | None:
        opened = self._handle.open()
        return None if opened is None else Records(opened.catalog)
