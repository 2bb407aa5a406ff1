"""Search within texts that are at hand, such as a note that is too large to be sent whole.

They get a catalog of their own for as long as the search takes. Meaning counts as far as an index
already has vectors of the same passages; nothing is embedded for it but the query.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from vault.catalog import Catalog
from vault.chunking import chunk_note
from vault.errors import EmbedderFailed
from vault.exact import ExactScan
from vault.hits import Hit
from vault.notes import parse_note
from vault.records import Records
from vault.scan import FileStat
from vault.search import Encode, Searcher

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Text", "search_within"]

_NO_FILE = FileStat(0, 0, 0, 0)

# Gives the vectors of those texts, by the hash of each, that have one.
Vectors = Callable[[Collection[bytes]], Mapping[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Text:
    """A text to search within.

    Attributes:
        path: what its hits say they are from, as is `title` and `version`.
        text: Markdown, or any other.
    """

    path: str
    title: str
    version: str
    text: str


def _no_words(_query: str) -> "Callable[[], NDArray[np.float32]]":
    raise EmbedderFailed("Nothing is embedded here.")


def search_within(
    texts: Sequence[Text],
    query: str,
    k: int,
    encode: Encode = _no_words,
    vectors: Vectors = lambda _hashes: {},
) -> tuple[Hit, ...]:
    """Find the `k` passages of some texts that fit a query best, best first.

    Args:
        texts: where to look.
        query: as for a search of the whole vault.
        k: how many at most.
        encode: begins to make a query's vector; without it, words alone count.
        vectors: those that are there already.
    """
    with _catalog_of(texts, vectors) as catalog:
        result = Searcher(catalog, encode, ExactScan(catalog).query).search(query, k)
    return tuple(_named(hit, texts[int(hit.path)]) for hit in result.hits)


@contextmanager
def _catalog_of(texts: Sequence[Text], vectors: Vectors) -> Iterator[Catalog]:
    """Index texts under their numbers: two of them may be of one path."""
    with TemporaryDirectory(prefix="strata-") as folder:
        catalog = Catalog(Path(folder) / "within.db", is_writable=True)
        try:
            for number, text in enumerate(texts):
                _put(catalog, str(number), text, vectors)
            yield catalog
        finally:
            catalog.close()


def _put(catalog: Catalog, name: str, text: Text, vectors: Vectors) -> None:
    note, document = parse_note("text.md", text.text.encode("utf-8", "replace"))
    note = replace(note, path=name, title=text.title)
    chunks = chunk_note(note, document)
    with catalog.transaction():
        Records(catalog).put_note(_NO_FILE, note, chunks)
        there = vectors([chunk.hash for chunk in chunks])
        catalog.add_vectors(list(there), list(there.values()))


def _named(hit: Hit, text: Text) -> Hit:
    return replace(hit, path=text.path, title=text.title, version=text.version)
