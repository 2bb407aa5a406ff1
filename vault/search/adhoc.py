"""Search texts that are not indexed, such as a note that is too large to send to the model.

The texts are stored in a temporary catalog. Only the query is embedded. The semantic search covers
only passages whose vectors the vault's index already contains.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from vault.catalog import Catalog
from vault.embedding.chunking import chunk_note
from vault.errors import EmbedderFailed
from vault.notes.note import parse_note
from vault.records import Records
from vault.scan import FileStat
from vault.search.exact import ExactScan
from vault.search.hits import Hit, build_hit, compute_hit_id
from vault.search.passages import Passages
from vault.search.query import parse_query
from vault.search.search import Encode, Searcher

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["AdhocText", "search_texts"]

_NO_FILE = FileStat(0, 0, 0, 0)
_IN_ORDER = """
SELECT chunks.id, path, first_line, hash FROM chunks JOIN files ON files.id = file_id
ORDER BY CAST(path AS INTEGER), chunks.id
"""

# Returns the vectors of texts by hash. Texts without a vector are omitted.
Vectors = Callable[[Collection[bytes]], Mapping[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class AdhocText:
    """A text that is not indexed, and the values to show in its hits.

    Attributes:
        path: the path to show.
        title: the title to show.
        version: the version to show.
        text: the text, as Markdown or plain text.
    """

    path: str
    title: str
    version: str
    text: str


def _refuse_encoding(_query: str) -> "Callable[[], NDArray[np.float32]]":
    raise EmbedderFailed("Nothing is embedded here.")


def search_texts(
    texts: Sequence[AdhocText],
    query: str,
    k: int,
    encode: Encode = _refuse_encoding,
    vectors: Vectors = lambda _hashes: {},
) -> tuple[Hit, ...]:
    """Find the `k` best passages in texts that are not indexed.

    If fewer than `k` passages match, the passages next to a match are added, and then passages from
    the start of each text. The result contains at least one passage of each text.

    Args:
        texts: the texts to search.
        query: the query, as in a search of the vault.
        k: the number of passages to return, if there are enough.
        encode: starts embedding the query. By default, only the keyword search is used.
        vectors: returns existing vectors by text hash.
    """
    with _build_catalog(texts, vectors) as catalog:
        searcher = Searcher(catalog, encode, ExactScan(catalog).query)
        hits = searcher.search(query, k).hits
        if not hits and (words := parse_query(query).words) != query:
            hits = searcher.search(words, k).hits  # the filters match none of these texts
        found = tuple(_complete(hits, catalog, k))
    return tuple(_restore_source(hit, texts[int(hit.path)]) for hit in found)


def _complete(hits: Sequence[Hit], catalog: Catalog, k: int) -> Iterator[Hit]:
    """Yield the hits, then other passages of the same texts, until there are `k` results.

    Passages next to a hit come first, then passages from the start of each text in turn. At least
    one passage of each text is yielded.
    """
    rows = catalog.rows(_IN_ORDER)
    ids = {compute_hit_id(row[1], row[2], bytes(row[3])): int(row[0]) for row in rows}
    found = dict.fromkeys(ids[hit.id] for hit in hits)
    by_text: dict[str, list[int]] = {}
    for row in rows:
        by_text.setdefault(row[1], []).append(int(row[0]))
    for numbers in by_text.values():
        if found.keys().isdisjoint(numbers):
            found[numbers[0]] = None
    turns = (number for row in zip_longest(*by_text.values()) for number in row if number)
    more = (number for number in (*_find_neighbours(found, by_text), *turns) if number not in found)
    added = list(islice(dict.fromkeys(more), max(0, k - len(found))))
    wanted = [*list(found)[len(hits) :], *added]
    passages = Passages(catalog).details(wanted)
    yield from hits
    yield from (build_hit(passages[number], 0.0, {}) for number in wanted)


def _find_neighbours(found: Iterable[int], by_text: Mapping[str, Sequence[int]]) -> Iterator[int]:
    """Yield the passages directly before and after each passage found.

    Args:
        found: the ids of the passages found.
        by_text: the passage ids of each text, in order.
    """
    place = {number: (text, at) for text, row in by_text.items() for at, number in enumerate(row)}
    for number in tuple(found):
        text, at = place[number]
        yield from by_text[text][max(0, at - 1) : at]
        yield from by_text[text][at + 1 : at + 2]


@contextmanager
def _build_catalog(texts: Sequence[AdhocText], vectors: Vectors) -> Iterator[Catalog]:
    """Build a temporary catalog of texts within the `with` block.

    The texts are named by number, because their paths may not be unique.
    """
    with TemporaryDirectory(prefix="strata-") as folder:
        catalog = Catalog(Path(folder) / "within.db", is_writable=True)
        try:
            for number, text in enumerate(texts):
                _put_text(catalog, str(number), text, vectors)
            yield catalog
        finally:
            catalog.close()


def _put_text(catalog: Catalog, name: str, text: AdhocText, vectors: Vectors) -> None:
    note, document = parse_note("text.md", text.text.encode("utf-8", "replace"))
    note = replace(note, path=name, title=text.title)
    chunks = chunk_note(note, document)
    with catalog.transaction():
        Records(catalog).put_note(_NO_FILE, note, chunks)
        there = vectors([chunk.hash for chunk in chunks])
        catalog.add_vectors(list(there), list(there.values()))


def _restore_source(hit: Hit, text: AdhocText) -> Hit:
    return replace(hit, path=text.path, title=text.title, version=text.version)
