"""Read passages from the catalog, many at a time."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault.catalog import Catalog
from vault.notes.note import SourceText
from vault.notes.tasks import TASK_MARKERS
from vault.notes.text.markdown_text import MarkdownText, read_text
from vault.scan import FileStat

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_MAX_ALIKE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageText(SourceText):
    """The text of a passage, with its place in the note that contains it.

    Attributes:
        heading: the headings above the passage, outermost first.
        lines: the first and last line in the file, counted from 1. `version` is that file's.
        structure: what the lines of the passage are, as `vault.notes.text.markdown_text` writes it.
    """

    heading: tuple[str, ...]
    lines: tuple[int, int]
    structure: str = ""

    @property
    def markdown_text(self) -> MarkdownText:
        """The text with the kind of each line."""
        return read_text(self.text, self.structure, self.heading, starts_note=self.lines[0] == 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage(PassageText):
    """A passage of the index.

    Attributes:
        text_hash: the hash of the embedded text.
        stat: the attributes of the file when it was indexed.
    """

    text_hash: bytes
    stat: FileStat


# Yields the given passages that still exist on disk, with current line numbers.
KeepCurrent = Callable[[Iterable[tuple[int, Passage]]], Iterator[tuple[int, Passage]]]


class Passages:
    """Reads passages from the catalog by keyword, text hash or id."""

    def __init__(self, catalog: Catalog):
        self._catalog = catalog

    @property
    def most(self) -> int:
        """The largest id of a passage in the catalog."""
        found = self._catalog.rows("SELECT max(id) FROM chunks")[0][0]
        return int(found or 0)

    def list_spread(self, most: int) -> list[int]:
        """Return the ids of at most `most` passages that are spread evenly over the catalog."""
        last = self.most
        targets = [last * at // most for at in range(most)]
        rows = self._catalog.rows(
            "SELECT DISTINCT (SELECT id FROM chunks WHERE id > value ORDER BY id LIMIT 1) AS found"
            " FROM json_each(?) WHERE found IS NOT NULL ORDER BY found",
            (json.dumps(targets),),
        )
        return [int(row[0]) for row in rows]

    def count(self) -> int:
        """Return the number of passages in the catalog."""
        return int(self._catalog.rows("SELECT count(*) FROM chunks")[0][0])

    def find_matching(self, expression: str, limit: int) -> set[int]:
        """Return the ids of at most `limit` passages that match an FTS5 expression."""
        rows = self._catalog.rows(
            "SELECT rowid FROM words WHERE words MATCH ? LIMIT ?", (expression, limit)
        )
        return {int(row[0]) for row in rows}

    def find_with_tasks(self) -> set[int]:
        """Return the ids of the passages that contain a checkbox or a marker, as tasks do."""
        # `instr` takes a fifth of the time of a `GLOB` that begins with a class of characters, and
        # leaves few texts to it.
        marked = "".join([" OR text GLOB ?"] * len(TASK_MARKERS))
        boxed = "instr(text, '] ') AND text GLOB '*[[]?] *'"
        rows = self._catalog.rows(
            f"SELECT id FROM chunks WHERE {boxed}{marked}",  # noqa: S608 - all values are bound
            [f"*{marker}[ \t]*" for marker in TASK_MARKERS],
        )
        return {int(row[0]) for row in rows}

    def find_in_files(self, file_ids: Collection[int]) -> dict[int, bytes]:
        """Return the text hashes of all passages in the given files, keyed by passage id."""
        rows = self._catalog.rows(
            "SELECT id, hash FROM chunks WHERE file_id IN (SELECT value FROM json_each(?))"
            " ORDER BY id",
            (json.dumps(list(file_ids)),),
        )
        return {int(row[0]): bytes(row[1]) for row in rows}

    def find_files(self, ids: Collection[int]) -> dict[int, int]:
        """Return the file id of each passage, keyed by passage id. Unknown passages are skipped."""
        rows = self._catalog.rows(
            "SELECT id, file_id FROM chunks WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return {int(row[0]): int(row[1]) for row in rows}

    def find_by_hash(self, hashes: Collection[bytes]) -> dict[int, bytes]:
        """Return the passages with one of the given text hashes, as a mapping from id to hash.

        At most 20 passages are returned per hash.
        """
        rows = self._catalog.rows(
            f"SELECT id, hash FROM chunks WHERE hash IN ({_placeholders(hashes)})",  # noqa: S608 - marks
            tuple(hashes),
        )
        found: dict[int, bytes] = {}
        alike = dict.fromkeys(hashes, 0)
        for chunk_id, text_hash in rows:
            alike[text_hash] += 1
            if alike[text_hash] <= _MAX_ALIKE:
                found[int(chunk_id)] = text_hash
        return found

    def read_vectors(self, ids: Collection[int]) -> dict[int, bytes]:
        """Return each passage's vector as float32 bytes, keyed by passage id.

        Passages without a vector are skipped.
        """
        rows = self._catalog.rows(
            "SELECT chunks.id, vector FROM chunks JOIN vectors USING (hash)"
            " WHERE chunks.id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return {int(row[0]): row[1] for row in rows}

    def counts(self, paths: Collection[str]) -> dict[str, int]:
        """Return the number of passages in each note, keyed by path."""
        rows = self._catalog.rows(
            "SELECT path, count(*) FROM chunks JOIN files ON files.id = file_id"
            " WHERE path IN (SELECT value FROM json_each(?)) GROUP BY file_id",
            (json.dumps(list(paths)),),
        )
        return {row[0]: int(row[1]) for row in rows}

    def details(self, ids: Iterable[int]) -> Mapping[int, Passage]:
        """Return the passages with the given ids, keyed by id. Unknown passages are skipped."""
        rows = self._catalog.rows(
            "SELECT chunks.id, hash, heading, first_line, last_line, text, path,"
            " mtime_ns, size, device, inode, ctime_ns, title, version, structure"
            " FROM chunks JOIN notes USING (file_id) JOIN files ON files.id = file_id"
            " WHERE chunks.id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return {
            int(row[0]): Passage(
                text_hash=row[1],
                heading=tuple(json.loads(row[2])),
                lines=(row[3], row[4]),
                text=row[5],
                path=row[6],
                stat=FileStat(*row[7:12]),
                title=row[12],
                version=row[13],
                structure=row[14],
            )
            for row in rows
        }

    def find_ids(self, places: Sequence[tuple[str, str]]) -> list[int]:
        """Return the ids of the passages that have the given paths and texts.

        Args:
            places: pairs of a note's path and the text of a passage.
        """
        rows = self._catalog.rows(
            "SELECT chunks.id FROM json_each(?) AS place"
            " CROSS JOIN files ON files.path = json_extract(place.value, '$[0]')"
            " JOIN chunks ON file_id = files.id AND text = json_extract(place.value, '$[1]')",
            (json.dumps(places),),
        )
        return [int(row[0]) for row in rows]


def measure_cosines(vector: "Vector", vectors: Mapping[int, bytes]) -> dict[int, float]:
    """Return the cosine similarity between a query's vector and the vector of each passage.

    Args:
        vector: the query's vector, of unit length.
        vectors: the passages' vectors as float32 bytes, keyed by passage id.
    """
    import numpy as np

    if not vectors:
        return {}
    matrix = np.frombuffer(b"".join(vectors.values()), "<f4").reshape(len(vectors), -1)
    return dict(zip(vectors, np.einsum("ij,j->i", matrix, vector).tolist(), strict=True))


def _placeholders(values: Collection[object]) -> str:
    return ",".join("?" * len(values))
