"""Read the passages of a catalog for a search, many of them with each SQL statement."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault.catalog import Catalog
from vault.notes.keywords import match_any
from vault.scan import FileStat

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

# The BM25 weights of title, heading and body.
_RANKED = """
SELECT rowid, bm25(words, 3.0, 1.5, 1.0) AS cost FROM words
WHERE words MATCH :terms ORDER BY cost LIMIT :limit
"""
_RANKED_WITHIN = """
SELECT rowid, bm25(words, 3.0, 1.5, 1.0) AS cost FROM words
WHERE words MATCH :terms AND rowid IN (SELECT value FROM json_each(:within))
ORDER BY cost LIMIT :limit
"""
_COMMON_SHARE = 0.2
_COMMON_MIN = 1_000
_MAX_WORDS = 48
_MAX_ALIKE = 20


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage with data of its note, as indexed."""

    text_hash: bytes
    heading: tuple[str, ...]
    lines: tuple[int, int]
    text: str
    path: str
    stat: FileStat
    title: str
    version: str


class Passages:
    """Reads passages by keywords, by the hash of their text, and by id."""

    def __init__(self, catalog: Catalog):
        self._catalog = catalog

    @property
    def most(self) -> int:
        """The largest passage id, which is at least the number of passages."""
        found = self._catalog.rows("SELECT max(id) FROM chunks")[0][0]
        return int(found or 0)

    def find_by_words(
        self, terms: Sequence[str], limit: int, among: Collection[int] | None = None
    ) -> dict[int, float]:
        """Return the passages that contain any of the terms, with their BM25 scores."""
        telling = self._choose_terms(terms)
        if not telling:
            return {}
        within = None if among is None else json.dumps(list(among))
        rows = self._catalog.rows(
            _RANKED if within is None else _RANKED_WITHIN,
            {"terms": match_any(telling), "limit": limit, "within": within},
        )
        return {int(row[0]): -float(row[1]) for row in rows}

    def find_matching(self, expression: str, limit: int) -> set[int]:
        """Return the ids of passages that match an FTS5 expression."""
        rows = self._catalog.rows(
            "SELECT rowid FROM words WHERE words MATCH ? LIMIT ?", (expression, limit)
        )
        return {int(row[0]) for row in rows}

    def find_in_files(self, file_ids: Collection[int]) -> dict[int, bytes]:
        """Return the text hashes of all passages of the given files, by passage id."""
        rows = self._catalog.rows(
            "SELECT id, hash FROM chunks WHERE file_id IN (SELECT value FROM json_each(?))"
            " ORDER BY id",
            (json.dumps(list(file_ids)),),
        )
        return {int(row[0]): bytes(row[1]) for row in rows}

    def hashes(self, ids: Collection[int]) -> dict[int, bytes]:
        """Return the text hashes of the given passages, by passage id."""
        rows = self._catalog.rows(
            "SELECT id, hash FROM chunks WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return {int(row[0]): bytes(row[1]) for row in rows}

    def find_by_hash(self, hashes: Collection[bytes]) -> dict[int, bytes]:
        """Return the passages whose texts have these hashes; of very many equal texts only some."""
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

    def measure_cosines(self, vector: "Vector", hashes: Collection[bytes]) -> dict[bytes, float]:
        """Return the cosines of a vector with those of texts; texts without one are left out."""
        import numpy as np

        rows = self._catalog.rows(
            f"SELECT hash, vector FROM vectors WHERE hash IN ({_placeholders(hashes)})",  # noqa: S608
            tuple(hashes),
        )
        if not rows:
            return {}
        matrix = np.frombuffer(b"".join(row[1] for row in rows), "<f4").reshape(len(rows), -1)
        found = np.einsum("ij,j->i", matrix, vector)
        return {row[0]: float(cosine) for row, cosine in zip(rows, found, strict=True)}

    def counts(self, paths: Collection[str]) -> dict[str, int]:
        """Return the number of passages of each of the given notes, by path."""
        rows = self._catalog.rows(
            "SELECT path, count(*) FROM chunks JOIN files ON files.id = file_id"
            " WHERE path IN (SELECT value FROM json_each(?)) GROUP BY file_id",
            (json.dumps(list(paths)),),
        )
        return {row[0]: int(row[1]) for row in rows}

    def details(self, ids: Iterable[int]) -> Mapping[int, Passage]:
        """Read the given passages with data of their notes, by passage id."""
        rows = self._catalog.rows(
            "SELECT chunks.id, hash, heading, first_line, last_line, text, path,"
            " mtime_ns, size, device, inode, title, version"
            " FROM chunks JOIN notes USING (file_id) JOIN files ON files.id = file_id"
            " WHERE chunks.id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return {
            int(row[0]): Passage(
                row[1],
                tuple(json.loads(row[2])),
                (row[3], row[4]),
                row[5],
                row[6],
                FileStat(*row[7:11]),
                *row[11:],
            )
            for row in rows
        }

    def _choose_terms(self, terms: Sequence[str]) -> list[str]:
        """Drop terms that nearly every passage contains, unless there are no others."""
        if not terms:
            return []
        common = max(_COMMON_MIN, int(self.most * _COMMON_SHARE))
        one = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
        parameters = [value for term in terms for value in (term, common)]
        rows = self._catalog.rows(" UNION ALL ".join([one] * len(terms)), parameters)
        counted = sorted(zip((int(row[0]) for row in rows), terms, strict=True))
        found = [(count, term) for count, term in counted if count]
        telling = [term for count, term in found if count < common]
        return (telling or [term for _, term in found])[:_MAX_WORDS]


def _placeholders(values: Collection[object]) -> str:
    return ",".join("?" * len(values))
