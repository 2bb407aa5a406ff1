"""Search texts that are not indexed, such as a note that is too large to send to the model.

The texts are put into a catalog in memory, so that a process that is killed leaves nothing of them
on the disk. Only the query is embedded. The semantic search covers only passages whose vectors the
vault's index already contains.

The texts that a project keeps beside its notes, such as web pages and transcripts, are searched by
words in a catalog that is kept while the program runs. What is found in them is put between the
notes that were found: before the first one that holds fewer words of the query. If only one side
holds a phrase of the query, the other side finds nothing.
"""

import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count, islice, zip_longest
from threading import Lock
from typing import TYPE_CHECKING

from vault.catalog import Catalog, MemoryCatalog
from vault.embedding.chunking import CountTokens, chunk_note
from vault.embedding.models import count_tokens
from vault.errors import EmbedderFailed
from vault.notes.note import SourceText, parse_note
from vault.notes.text.stems import WordStems
from vault.records import Records
from vault.scan import FileStat
from vault.search.exact import ExactScan
from vault.search.excerpts import FEWEST_PASSAGES, shorten_hits
from vault.search.filters import warn_missing_phrase
from vault.search.hits import WORDS, Hit, SearchResult, build_hit, compute_hit_id
from vault.search.passages import Passages
from vault.search.query import parse_query
from vault.search.search import Encode, Searcher

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["KeptSearch", "KeptTexts", "OpenTexts", "add_kept_texts", "search_texts"]

_NO_FILE = FileStat(0, 0, 0, 0)
_BYTES_OF_A_TOKEN = 4
_IN_ORDER = """
SELECT chunks.id, path, first_line, hash FROM chunks JOIN files ON files.id = file_id
ORDER BY CAST(path AS INTEGER), chunks.id
"""

# Returns the vectors of texts by hash. Texts without a vector are omitted.
Vectors = Callable[[Collection[bytes]], Mapping[bytes, bytes]]


def _refuse_encoding(_query: str) -> "Callable[[], NDArray[np.float32]]":
    raise EmbedderFailed("Nothing is embedded here.")


def search_texts(
    texts: Sequence[SourceText],
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
def _build_catalog(texts: Sequence[SourceText], vectors: Vectors) -> Iterator[Catalog]:
    """Build a temporary catalog of texts within the `with` block.

    The texts are named by number, because their paths may not be unique.
    """
    catalog = MemoryCatalog()
    try:
        for number, text in enumerate(texts):
            _put_text(catalog, str(number), text, vectors)
        yield catalog
    finally:
        catalog.close()


def _put_text(
    catalog: Catalog,
    name: str,
    text: SourceText,
    vectors: Vectors = lambda _hashes: {},
    count: CountTokens = count_tokens,
    on_wait: Callable[[], None] = lambda: None,
) -> None:
    """Add a text to a catalog.

    Args:
        catalog: the catalog, which is writable.
        name: the path of the text in the catalog.
        vectors: returns existing vectors by text hash.
        count: counts the tokens of texts. Only passages with vectors need the right numbers.
        on_wait: called while the text is read. It can raise an exception to stop.
    """
    note, document = parse_note("text.md", text.text.encode("utf-8", "replace"), on_wait=on_wait)
    note = replace(note, path=name, title=text.title)
    chunks = chunk_note(note, document, count=count)
    with catalog.transaction():
        Records(catalog).put_note(_NO_FILE, note, chunks)
        known_vectors = vectors([chunk.hash for chunk in chunks])
        catalog.add_vectors(list(known_vectors), list(known_vectors.values()))


def _restore_source(hit: Hit, text: SourceText) -> Hit:
    """Return a hit with the path, title and version of the text that it is a passage of."""
    return replace(hit, path=text.path, title=text.title, version=text.version)


@dataclass(frozen=True, slots=True)
class KeptSearch:
    """A search in kept texts.

    Attributes:
        query: the words to search for, and filters.
        k: the maximum number of passages.
        is_shortened: whether long passages are shortened to what matches.
        on_wait: called between the texts that are read, and while one is read. It can raise an
            exception to stop. The texts that were read stay so.
    """

    query: str
    k: int
    is_shortened: bool = False
    on_wait: Callable[[], None] = lambda: None


class KeptTexts:
    """Texts that are searched beside the notes of a vault. Thread-safe.

    Their catalog is in memory. A text is read into it by the first search that it is there for.
    """

    def __init__(self) -> None:
        self._texts: tuple[SourceText, ...] = ()
        self._lock = Lock()
        self._numbers = count()
        self._named: dict[str, SourceText] = {}  # the texts in the catalog
        self._catalog: Catalog | None = None

    def replace(self, texts: Sequence[SourceText]) -> None:
        """Replace the texts. Those that are not among the new ones leave the catalog."""
        with self._lock:
            self._texts = tuple(texts)
            wanted = frozenset(texts)
            gone = [name for name, text in self._named.items() if text not in wanted]
            if self._catalog is not None and gone:
                with self._catalog.transaction():
                    for name in gone:
                        Records(self._catalog).remove(name)
            for name in gone:
                del self._named[name]

    def search(self, wanted: KeptSearch) -> SearchResult:
        """Find the best passages by words.

        A query with filters finds none, because filters are about notes.
        """
        query, k = wanted.query, wanted.k
        with self._lock:
            if not self._texts or not parse_query(query).words or _has_filters(query):
                return SearchResult(query, (), 0.0)
            catalog = self._fill(wanted.on_wait)
            searcher = Searcher(catalog, _encode_nothing, lambda *_arguments: [])
            most = max(k, FEWEST_PASSAGES) if wanted.is_shortened else k
            found = searcher.search(query, most)
            if wanted.is_shortened:
                found = shorten_hits(found, Passages(catalog), query, k)
            restored = (_restore_source(hit, self._named[hit.path]) for hit in found.hits)
            return replace(found, hits=tuple(replace(hit, is_kept=True) for hit in restored))

    def _fill(self, on_wait: Callable[[], None]) -> Catalog:
        """Read the texts that are not in the catalog yet, one after the other."""
        if self._catalog is None:
            self._catalog = MemoryCatalog()
            weakref.finalize(self, self._catalog.close)
        known_texts = set(self._named.values())
        for text in dict.fromkeys(self._texts):
            if text not in known_texts:
                on_wait()
                name = str(next(self._numbers))
                _put_text(self._catalog, name, text, count=_estimate_tokens, on_wait=on_wait)
                self._named[name] = text
        return self._catalog


def _estimate_tokens(texts: Sequence[str]) -> list[int]:
    """Estimate the tokens of texts that are not embedded, which is much faster than to count."""
    return [-(-len(text.encode("utf-8", "replace")) // _BYTES_OF_A_TOKEN) for text in texts]


# Returns the texts that are searched beside the notes now.
OpenTexts = Callable[[], KeptTexts]


def add_kept_texts(
    found: SearchResult, open_texts: OpenTexts | None, wanted: KeptSearch
) -> SearchResult:
    """Add the passages of kept texts to a search result.

    Args:
        found: the passages of notes. What it has beyond the number that was wanted, such as
            passages around the best ones, is kept.
        open_texts: returns the texts that are searched as well, or None if there are none.
        wanted: what the notes were searched for.
    """
    if open_texts is None:
        return found
    query, k = wanted.query, wanted.k
    kept = open_texts().search(wanted)
    found, kept = _prefer_phrases(found, kept)
    if not kept.hits:
        return found
    best, around = found.hits[:k], found.hits[k:]
    merged = tuple(_merge(best, kept.hits, WordStems(parse_query(query).words)))
    is_first = merged[0] not in best
    return replace(
        found,
        hits=(*merged[: max(k, len(best))], *around),
        by=found.by or (WORDS,),
        has_notes=True,
        # It says how well the notes support an answer.
        support=None if is_first else found.support,
    )


def _prefer_phrases(notes: SearchResult, kept: SearchResult) -> tuple[SearchResult, SearchResult]:
    """Drop the passages found by words on one side, if only the other side holds the phrases."""
    if not kept.hits:
        return notes, kept
    phrases = parse_query(kept.query).phrases
    ours = frozenset(notes.missing_phrases if notes.hits else phrases)
    theirs = frozenset(kept.missing_phrases)
    if ours < theirs:
        return notes, replace(kept, hits=())
    dropped_warnings = set(map(warn_missing_phrase, ours - theirs))
    warnings = tuple(warning for warning in notes.warnings if warning not in dropped_warnings)
    missing = tuple(phrase for phrase in notes.missing_phrases if phrase in theirs)
    hits = () if theirs < ours else notes.hits
    return replace(notes, hits=hits, warnings=warnings, missing_phrases=missing), kept


def _merge(notes: Sequence[Hit], kept: Sequence[Hit], stems: WordStems) -> Iterator[Hit]:
    waiting = list(kept)
    for note in notes:
        matched_count = _count_words(note, stems)
        while waiting and _count_words(waiting[0], stems) > matched_count:
            yield waiting.pop(0)
        yield note
    yield from waiting


def _count_words(hit: Hit, stems: WordStems) -> int:
    return len(stems.find("\n".join((hit.title, *hit.heading, hit.text))))


def _has_filters(query: str) -> bool:
    return bool(parse_query(query).filters().keys() - {"phrase"})


def _encode_nothing(_words: str) -> Callable[[], None]:
    return lambda: None
