"""Check the passages of a search result against the notes on disk.

A note may have been changed, excluded, marked as private or deleted since it was indexed. Outdated
passages must not be shown.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from vault.access import parse_allowed
from vault.embedding.chunking import Chunk, chunk_note
from vault.errors import NoteExcluded, NoteUnreadable, UnsafePath
from vault.exclude.rules import ExcludeRules
from vault.notes.kinds import find_kind
from vault.notes.note import Note, read_bytes
from vault.notes.text.document import Document
from vault.scan import read_stat
from vault.search.passages import Passage

__all__ = ["StalenessFilter"]


class StalenessFilter:
    """Drops passages that no longer exist or are excluded. Checks each file only once."""

    def __init__(self, root: Path, exclude: Sequence[str] = ()):
        self._root = root
        self._exclude = tuple(exclude)
        self._rules = ExcludeRules.load(root, exclude)
        self._seen: dict[str, Callable[[Passage], Passage | None]] = {}

    @property
    def attachment_folder(self) -> str:
        """The attachment folder that is set in Obsidian."""
        return self._rules.attachment_folder

    def keep_current(
        self, passages: Iterable[tuple[int, Passage]]
    ) -> Iterator[tuple[int, Passage]]:
        """Yield the passages that still exist and are not excluded, with current line numbers.

        Args:
            passages: pairs of passage id and passage, as stored in the index.
        """
        for chunk_id, passage in passages:
            if passage.path not in self._seen:
                self._seen[passage.path] = self._check_file(passage)
            now = self._seen[passage.path](passage)
            if now is not None:
                yield chunk_id, now

    def _check_file(self, passage: Passage) -> Callable[[Passage], Passage | None]:
        if self._rules.find_rule_on_path(passage.path) is not None:
            return _drop
        stat = read_stat(self._root, passage.path)
        if stat is not None and not passage.stat.differs(stat):
            return _keep
        if find_kind(passage.path).needs_worker:
            return self._check_content(passage)
        try:
            note, document = parse_allowed(self._root, passage.path, self._exclude)
        except (NoteExcluded, NoteUnreadable, UnsafePath):
            return _drop
        return _keep if note.version == passage.version else _build_finder(note, document)

    def _check_content(self, passage: Passage) -> Callable[[Passage], Passage | None]:
        """Return a function that returns a passage, or None if the content of its file has changed.

        This method is used for file types that are slow to parse. The next index update adds the
        passages of changed files again.
        """
        try:
            data = read_bytes(self._root, passage.path)
        except (NoteUnreadable, UnsafePath):
            return _drop
        return _keep if hashlib.sha256(data).hexdigest() == passage.version else _drop


def _keep(passage: Passage) -> Passage | None:
    return passage


def _drop(_passage: Passage) -> Passage | None:
    return None


def _build_finder(note: Note, document: Document) -> Callable[[Passage], Passage | None]:
    chunks = chunk_note(note, document)
    by_text = {chunk.text: chunk for chunk in reversed(chunks)}

    def find(passage: Passage) -> Passage | None:
        chunk = by_text.get(passage.text) or _find_most_alike(passage, chunks)
        if chunk is None:
            return None
        return replace(
            passage,
            text_hash=chunk.hash,
            heading=chunk.heading,
            lines=chunk.lines,
            text=chunk.text,
            structure=chunk.structure,
            title=note.title,
            version=note.version,
        )

    return find


def _find_most_alike(passage: Passage, chunks: Sequence[Chunk]) -> Chunk | None:
    """Return the chunk that has the most lines in common with a passage.

    Return None if no chunk contains at least half of the passage's lines.
    """
    lines = set(passage.text.split("\n"))
    shared, best = max(
        ((len(lines & set(chunk.text.split("\n"))), chunk) for chunk in chunks),
        key=lambda pair: pair[0],
        default=(0, None),
    )
    return best if 2 * shared >= len(lines) else None
