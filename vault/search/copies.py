"""Rank the copies of notes behind their originals, and mark them."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from vault.catalog import Catalog
from vault.notes.copies import find_originals
from vault.search.passages import Passage

__all__ = ["CopiedPassages", "find_copied_passages", "find_copies"]


@dataclass(frozen=True, slots=True)
class CopiedPassages:
    """The passages of a search result that are in copies of notes.

    Attributes:
        paths: the path of the note of each passage, keyed by passage id.
        originals: the path of the original of each copy, keyed by the path of the copy.
    """

    paths: Mapping[int, str] = field(default_factory=dict)
    originals: Mapping[str, str] = field(default_factory=dict)

    def move_back(self, ranked: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
        """Return passages in their order, but those of copies behind the best of the original.

        A copy whose original was not found keeps its place.

        Args:
            ranked: pairs of passage id and score, best first.
        """
        left = {self.paths[number] for number, _ in ranked if number in self.paths}
        moved: list[tuple[int, float]] = []
        waiting_copies: dict[str, list[int]] = {}
        for number, score in ranked:
            path = self.paths.get(number, "")
            original = self.originals.get(path)
            if original is not None and original in left:
                waiting_copies.setdefault(original, []).append(number)
                continue
            moved.append((number, score))
            left.discard(path)
            moved += ((copy, score) for copy in waiting_copies.pop(path, ()))
        return moved

    def mark(self, passage: Passage) -> Passage:
        """Return a passage whose title says that it is in a copy, if it is."""
        if passage.path not in self.originals:
            return passage
        return replace(passage, title=f"{passage.title} (copy)")


def find_copied_passages(catalog: Catalog, ids: Iterable[int]) -> CopiedPassages:
    """Find which of the given passages are in copies of notes.

    Args:
        catalog: the catalog of the index.
        ids: the passage ids.
    """
    rows = catalog.rows(
        "SELECT chunks.id, path FROM chunks JOIN files ON files.id = file_id"
        " WHERE chunks.id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(ids)),),
    )
    paths = {int(number): str(path) for number, path in rows}
    return CopiedPassages(paths, find_copies(catalog, set(paths.values())))


def find_copies(catalog: Catalog, paths: Collection[str]) -> dict[str, str]:
    """Return those of the given notes that are copies, each with the path of its original.

    Args:
        catalog: the catalog of the index.
        paths: the paths of the notes.
    """

    def choose_known(candidates: Collection[str]) -> Collection[str]:
        rows = catalog.rows(
            "SELECT path FROM notes JOIN files ON files.id = file_id"
            " WHERE path IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(candidates)),),
        )
        return {path for (path,) in rows}

    def read_lines(path: str) -> list[str]:
        rows = catalog.rows(
            "SELECT text FROM chunks JOIN files ON files.id = file_id WHERE path = ?", (path,)
        )
        return [line for (text,) in rows for line in text.split("\n")]

    return find_originals(paths, choose_known, read_lines)
