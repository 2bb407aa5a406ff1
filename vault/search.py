"""Search by words and by meaning, fused with weights that adapt to the query."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vault.catalog import Catalog
from vault.errors import EmbedderFailed
from vault.fusion import fuse, words_weight
from vault.words import any_of, query_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

SIGNALS = ("dense", "words", "title", "links", "tags", "dates", "rerank")

_CANDIDATES = 100
_MAX_DENSE_CHARS = 4_000
_COMMON_SHARE = 0.2
_COMMON_MIN = 1_000
_MAX_WORDS = 48
_COLUMN_WEIGHTS = (3.0, 1.5, 1.0)  # title, heading, body


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that answers a query, with its exact place and why it was found.

    Attributes:
        id: stays the same while the passage does, wherever else the note changes.
        lines: first and last line in the file as it is, from 1, inclusive.
        signals: score by signal (dense, words, title, links, tags, dates, rerank); None where
            a signal was not used.
        version: SHA-256 of the note's bytes when it was indexed.
    """

    id: str
    path: str
    title: str
    heading: tuple[str, ...]
    lines: tuple[int, int]
    text: str
    score: float
    signals: Mapping[str, float | None]
    version: str

    def to_dict(self) -> dict[str, Any]:
        """Give the hit as `strata search --json` prints it."""
        return {
            "id": self.id,
            "path": self.path,
            "title": self.title,
            "heading": list(self.heading),
            "lines": list(self.lines),
            "text": self.text,
            "score": self.score,
            "signals": dict(self.signals),
        }


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits of one query, best first.

    Attributes:
        warnings: what could not be used, in words; every hit's signal for it is None then.
    """

    query: str
    hits: tuple[Hit, ...]
    seconds: float
    filters: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Give the result as `strata search --json` prints it."""
        return {
            "query": self.query,
            "filters": dict(self.filters),
            "hits": [hit.to_dict() for hit in self.hits],
            "seconds": round(self.seconds, 4),
        }


@dataclass(frozen=True, slots=True)
class _Passage:
    text_hash: bytes
    heading: str
    lines: tuple[int, int]
    text: str
    path: str
    title: str
    version: str


Nearest = Callable[["Vector", int], list[tuple[bytes, float]]]


class Searcher:
    """Answers queries from one catalog."""

    def __init__(
        self,
        catalog: Catalog,
        embed: "Callable[[str], Vector]",
        nearest: Nearest,
        keeps_out: Callable[[str], bool] = lambda _path: False,
    ):
        """Take what to search and how to find what is near in meaning.

        Args:
            catalog: the words, the passages and their vectors.
            embed: gives a query's vector.
            nearest: gives the hashes of the nearest texts with their cosines.
            keeps_out: tells of a note's path whether it is excluded by now.
        """
        self._catalog = catalog
        self._embed = embed
        self._nearest = nearest
        self._keeps_out = keeps_out

    def search(self, query: str, k: int) -> SearchResult:
        """Find the `k` best passages; without an embedder, by words alone.

        Raises:
            IndexUnusable: the catalog cannot be read.
        """
        began = time.perf_counter()
        total = int(self._catalog.rows("SELECT count(*) FROM chunks")[0][0])
        if not query.strip() or not total or k <= 0:
            return SearchResult(query, (), time.perf_counter() - began)
        wanted = max(_CANDIDATES, 2 * k)
        words = self._by_words(query, total, wanted)
        warnings: tuple[str, ...] = ()
        try:
            vector: Vector | None = self._embed(query[:_MAX_DENSE_CHARS])
        except EmbedderFailed as error:
            vector, warnings = None, (f"Searched by words only. {error}",)
        hits = self._hits(query, words, vector, wanted)[:k]
        return SearchResult(query, tuple(hits), time.perf_counter() - began, {}, warnings)

    def _by_words(self, query: str, total: int, limit: int) -> dict[int, float]:
        """Give passages that hold words of the query, with BM25 as a number that grows."""
        terms = self._telling_terms(query_terms(query), total)
        if not terms:
            return {}
        rows = self._catalog.rows(
            "SELECT rowid, bm25(words, ?, ?, ?) AS cost FROM words WHERE words MATCH ?"
            " ORDER BY cost LIMIT ?",
            (*_COLUMN_WEIGHTS, any_of(terms), limit),
        )
        return {int(row[0]): -float(row[1]) for row in rows}

    def _telling_terms(self, terms: Sequence[str], total: int) -> list[str]:
        """Leave out terms that nearly every passage holds, unless there are no others."""
        common = max(_COMMON_MIN, int(total * _COMMON_SHARE))
        counted = sorted((self._count(term, common), term) for term in terms)
        found = [(count, term) for count, term in counted if count]
        telling = [term for count, term in found if count < common]
        return (telling or [term for _, term in found])[:_MAX_WORDS]

    def _count(self, term: str, most: int) -> int:
        rows = self._catalog.rows(
            "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)", (term, most)
        )
        return int(rows[0][0])

    def _hits(
        self, query: str, words: Mapping[int, float], vector: "Vector | None", limit: int
    ) -> list[Hit]:
        near = {} if vector is None else dict(self._nearest(vector, limit))
        passages = self._passages([*words, *self._chunks_of(near)])
        dense: dict[int, float] = {}
        if vector is not None:
            for chunk_id, passage in passages.items():
                cosine = near.get(passage.text_hash)
                if cosine is None:
                    cosine = self._cosine(vector, passage.text_hash)
                if cosine is not None:
                    dense[chunk_id] = cosine
        fused = fuse(words, dense, words_weight(query))
        return [
            _hit(passages[chunk_id], score, dense.get(chunk_id), words.get(chunk_id))
            for chunk_id, score in fused
            if chunk_id in passages and not self._keeps_out(passages[chunk_id].path)
        ]

    def _chunks_of(self, hashes: Mapping[bytes, float]) -> list[int]:
        ids: list[int] = []
        for text_hash in hashes:
            rows = self._catalog.rows("SELECT id FROM chunks WHERE hash = ? LIMIT 20", (text_hash,))
            ids += [int(row[0]) for row in rows]
        return ids

    def _cosine(self, vector: "Vector", text_hash: bytes) -> float | None:
        import numpy as np

        stored = self._catalog.vector(text_hash)
        return None if stored is None else float(np.frombuffer(stored, "<f4") @ vector)

    def _passages(self, chunk_ids: Sequence[int]) -> dict[int, _Passage]:
        rows = self._catalog.rows(
            "SELECT chunks.id, hash, heading, first_line, last_line, text, path, title, version"
            " FROM chunks JOIN notes USING (file_id) JOIN files ON files.id = file_id"
            " WHERE chunks.id IN (SELECT value FROM json_each(?))",
            (json.dumps(chunk_ids),),
        )
        return {
            int(row[0]): _Passage(bytes(row[1]), row[2], (row[3], row[4]), *row[5:]) for row in rows
        }


def _hit(passage: _Passage, score: float, dense: float | None, words: float | None) -> Hit:
    signals: dict[str, float | None] = dict.fromkeys(SIGNALS)
    signals["dense"] = None if dense is None else round(dense, 4)
    signals["words"] = None if words is None else round(words, 4)
    return Hit(
        id=_hit_id(passage),
        path=passage.path,
        title=passage.title,
        heading=tuple(json.loads(passage.heading)),
        lines=passage.lines,
        text=passage.text,
        score=round(score, 4),
        signals=signals,
        version=passage.version,
    )


def _hit_id(passage: _Passage) -> str:
    import hashlib

    name = f"{passage.path}\0{passage.lines[0]}\0".encode()
    return hashlib.sha256(name + passage.text_hash).hexdigest()[:16]
