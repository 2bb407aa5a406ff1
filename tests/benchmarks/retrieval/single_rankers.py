"""The plain rankings that a search is compared with: by words or meaning, of notes or passages."""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vault.catalog import Catalog
from vault.embedder import Embedder
from vault.notes.keywords import TOKENIZER, index_text

DEPTH: Final = 1_000
K1: Final = 1.2  # as Lucene has them
B: Final = 0.75


class SingleRankers:
    """Four rankings of the notes of a catalog, each by one signal over one unit."""

    def __init__(self, catalog: Catalog, embedder: Embedder):
        """Read all texts and vectors."""
        rows = catalog.rows(
            "SELECT path, chunks.context, chunks.text, vector FROM chunks"
            " JOIN vectors USING (hash) JOIN files ON files.id = file_id ORDER BY chunks.id"
        )
        self._embedder = embedder
        self._paths = [row[0] for row in rows]
        self._texts = [row[2] for row in rows]
        self._notes = list(dict.fromkeys(self._paths))
        vectors = np.frombuffer(b"".join(row[3] for row in rows), "<f4").reshape(len(rows), -1)
        self._passage_vectors = vectors
        self._note_vectors = _average(vectors, self._paths)
        passages = [f"{context}\n{text}" for _, context, text, _ in rows]
        whole: dict[str, list[str]] = defaultdict(list)
        for path, _, text, _ in rows:
            whole[path] += [text]
        titles: dict[str, str] = dict(
            catalog.rows("SELECT path, title FROM notes JOIN files ON id = file_id")
        )
        notes = [f"{titles[path]}\n" + "\n".join(whole[path]) for path in self._notes]
        words = _Words([*passages, *notes])
        self._passage_words = _Bm25(words, range(len(passages)))
        self._note_words = _Bm25(words, range(len(passages), len(passages) + len(notes)))

    def rank_passages_by_words(self, query: str) -> list[str]:
        """Rank notes by the BM25 score of their best passage."""
        return _take_best(self._passage_words.score(query), self._paths)

    def list_passages_by_words(self, query: str) -> list[tuple[str, str]]:
        """Return the paths and texts of the passages, by their BM25 score."""
        best = np.argsort(-self._passage_words.score(query), kind="stable")[:DEPTH]
        return [(self._paths[number], self._texts[number]) for number in best]

    def rank_notes_by_words(self, query: str) -> list[str]:
        """Rank notes by the BM25 score of the whole note."""
        return _take_best(self._note_words.score(query), self._notes)

    def rank_passages_by_meaning(self, query: str) -> list[str]:
        """Rank notes by the cosine of their nearest passage."""
        vector = self._embedder.embed_query(query)
        return _take_best(np.einsum("ij,j->i", self._passage_vectors, vector), self._paths)

    def rank_notes_by_meaning(self, query: str) -> list[str]:
        """Rank notes by the cosine of the mean of their passages."""
        vector = self._embedder.embed_query(query)
        return _take_best(np.einsum("ij,j->i", self._note_vectors, vector), self._notes)


class _Words:
    """The stems of texts, as the full-text index of the product makes them."""

    def __init__(self, texts: Sequence[str]):
        self._index = sqlite3.connect(":memory:")
        for name in ("noted", "asked"):
            self._index.execute(
                f'CREATE VIRTUAL TABLE {name} USING fts5(text, tokenize="{TOKENIZER}")'
            )
            self._index.execute(
                f"CREATE VIRTUAL TABLE {name}_stems USING fts5vocab({name}, instance)"
            )
        rows = ((number, index_text(text)) for number, text in enumerate(texts))
        self._index.executemany("INSERT INTO noted (rowid, text) VALUES (?, ?)", rows)
        self.postings: dict[str, Counter[int]] = defaultdict(Counter)
        for term, number in self._index.execute("SELECT term, doc FROM noted_stems"):
            self.postings[term][number] += 1

    def split(self, query: str) -> list[str]:
        """Return the distinct stems of a query."""
        self._index.execute("DELETE FROM asked")
        self._index.execute("INSERT INTO asked (text) VALUES (?)", (index_text(query),))
        rows = self._index.execute("SELECT DISTINCT term FROM asked_stems").fetchall()
        return [row[0] for row in rows]


@dataclass(frozen=True)
class _Posting:
    numbers: NDArray[np.int64]
    counts: NDArray[np.float64]


class _Bm25:
    """BM25 with Lucene's idf over some of the texts."""

    def __init__(self, words: _Words, numbers: range):
        self._words, self._size = words, len(numbers)
        self._postings: dict[str, _Posting] = {}
        self._lengths = np.zeros(len(numbers))
        for term, found in words.postings.items():
            own = {number - numbers.start: n for number, n in found.items() if number in numbers}
            posting = _Posting(np.array(list(own), "i8"), np.array(list(own.values()), "f8"))
            self._lengths[posting.numbers] += posting.counts
            self._postings[term] = posting

    def score(self, query: str) -> NDArray[np.float64]:
        """Return the score of each text."""
        scores = np.zeros(self._size)
        norms = K1 * (1 - B + B * self._lengths / self._lengths.mean())
        for term in self._words.split(query):
            if (posting := self._postings.get(term)) is not None:
                n, counts = len(posting.numbers), posting.counts
                idf = np.log(1 + (self._size - n + 0.5) / (n + 0.5))
                scores[posting.numbers] += idf * counts / (counts + norms[posting.numbers])
        return scores


def _take_best(scores: NDArray[np.floating], paths: Sequence[str]) -> list[str]:
    best = np.argsort(-scores, kind="stable")[:DEPTH]
    return list(dict.fromkeys(paths[number] for number in best))


def _average(vectors: NDArray[np.float32], paths: Iterable[str]) -> NDArray[np.float32]:
    """Return the mean of the vectors with the same path, of length one, in order of appearance."""
    sums: dict[str, NDArray[np.float32]] = {}
    for path, vector in zip(paths, vectors, strict=True):
        sums[path] = sums[path] + vector if path in sums else vector
    joined = np.stack(list(sums.values()))
    averages: NDArray[np.float32] = joined / np.linalg.norm(joined, axis=1, keepdims=True)
    return averages
