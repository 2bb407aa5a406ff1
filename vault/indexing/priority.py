"""The order in which notes are read and embedded.

Recently changed and frequently linked notes are embedded first. Notes that the user is asking about
come before all others, even if an update is already running. These are the notes that a question
names and, in a large folder, notes that contain its words.
"""

import json
import math
import os
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from vault.catalog import Catalog, Row
from vault.errors import UnsafePath
from vault.notes.keywords import FUNCTION_WORDS, find_function_words, fold
from vault.notes.kinds import find_kind
from vault.notes.links import fold_link_name
from vault.paths import open_inside
from vault.records import Records

__all__ = [
    "Preference",
    "Priority",
    "find_files_with_words",
    "list_possible_names",
    "order_passages",
]

T = TypeVar("T")

_MOST_KEPT = 50
_MOST_WORDS_OF_A_NAME = 6
_MOST_CHARS = 4_000
_FEW_PASSAGES = 128
_FEW_FILES = 500  # these are read so soon that their order does not matter
_MOST_FILES = 300
_LONGEST_LOOK_S = 1.0
_MOST_BYTES = 1 << 16
_SHORTEST_WORD, _LONGEST_ENDING = 4, 2
_WORD = re.compile(r"[^\s,;:!?()\[\]{}<>\"“”„‘’#|]+")


# Returns the given paths whose files contain the given words.
FindFiles = Callable[[Collection[bytes], Sequence[str]], Sequence[str]]


class Preference(NamedTuple):
    """Notes that should be indexed first, because the user is waiting for them.

    Attributes:
        paths: the paths of notes.
        names: names of notes, normalized by `fold_link_name`.
        words: the stemmed words of questions, encoded as UTF-8.
    """

    paths: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    words: frozenset[bytes] = frozenset()

    def matches(self, path: str) -> bool:
        """Return whether a file is one of the preferred notes."""
        return path in self.paths or (bool(self.names) and fold_link_name(path) in self.names)

    def find_ids(self, catalog: Catalog) -> frozenset[int]:
        """Return the file ids of the preferred notes that are indexed."""
        rows = catalog.rows(
            "SELECT id FROM files WHERE path IN (SELECT value FROM json_each(?))"
            " UNION SELECT file_id FROM names WHERE name IN (SELECT value FROM json_each(?))",
            (json.dumps(list(self.paths)), json.dumps(list(self.names))),
        )
        return frozenset(row[0] for row in rows)


class Priority:
    """The notes that updates should index first. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._preferences: list[Preference] = []
        self._count = 0

    def prefer(self, paths: Collection[str] = (), question: str = "") -> None:
        """Make updates first index the notes that the user is waiting for.

        Args:
            paths: the paths of notes.
            question: a question. The notes that it names or that contain its words are preferred.
        """
        names, words = list_possible_names(question), _list_words(question)
        preference = Preference(frozenset(paths), names, words)
        if any(preference):
            with self._lock:
                self._preferences = [*self._preferences, preference][-_MOST_KEPT:]
                self._count += 1

    def follow(self) -> Callable[[], Preference | None]:
        """Return a function that returns the notes preferred since its last call.

        The function returns None if no notes were preferred since then.
        """
        seen = 0

        def take() -> Preference | None:
            nonlocal seen
            if seen == self._count:
                return None
            with self._lock:
                new = self._preferences[-(self._count - seen) :]
                seen = self._count
            paths, names, words = zip(*new, strict=True)
            return Preference(*(frozenset().union(*each) for each in (paths, names, words)))

        return take

    def arrange(
        self, files: Sequence[tuple[str, T]], find_files: FindFiles = lambda _words, _paths: ()
    ) -> Iterator[tuple[str, T]]:
        """Yield the items in order, except that those of preferred notes come first.

        Notes that become preferred during the iteration are yielded next.

        Args:
            files: pairs of a note's path and an item.
            find_files: returns the given paths whose files contain the given words.
        """
        take, done = self.follow(), set[str]()
        for at, file in enumerate(files):
            if (preferred := take()) is not None:
                left = {path: item for path, item in files[at:] if path not in done}
                named = (path for path in left if preferred.matches(path))
                found = find_files(preferred.words, list(left)) if preferred.words else ()
                for path in dict.fromkeys((*named, *found)):
                    done.add(path)
                    yield path, left[path]
            if file[0] not in done:
                yield file


def list_possible_names(question: str) -> frozenset[str]:
    """Return each sequence of up to six words in a question, because it may be a note's name."""
    words = [word.strip(".") for word in _WORD.findall(question[:_MOST_CHARS])]
    groups = (
        words[start:end]
        for start in range(len(words))
        for end in range(start + 1, min(start + _MOST_WORDS_OF_A_NAME, len(words)) + 1)
    )
    names = {fold_link_name(" ".join(group)) for group in groups}
    return frozenset(names - FUNCTION_WORDS - {""})


def find_files_with_words(
    root: Path, words: Collection[bytes], paths: Sequence[str], tick: Callable[[], None]
) -> list[str]:
    """Return the files that contain the most words, best first. Rare words count more.

    Only the beginnings of text files are compared, for at most a second. This is much faster than
    indexing them. If there are only a few files, the result is empty, because their order does not
    matter.

    Args:
        root: the folder of the vault.
        words: the stemmed words, in lower case and encoded as UTF-8.
        paths: the paths of the files.
        tick: called for each file. It can raise an exception to stop.
    """
    words_by_file: dict[str, list[bytes]] = {}
    ends_at = time.monotonic() + _LONGEST_LOOK_S
    for path in paths if len(paths) > _FEW_FILES else ():
        tick()
        text = b"" if find_kind(path).needs_worker else _read_start(root, path)
        if found := [word for word in words if word in text]:
            words_by_file[path] = found
        if time.monotonic() > ends_at:
            break
    counts = Counter(word for found in words_by_file.values() for word in found)
    weights = {word: math.log((len(paths) + 1) / count) for word, count in counts.items()}
    best = sorted(
        words_by_file, key=lambda path: -sum(weights[word] for word in words_by_file[path])
    )
    return best[:_MOST_FILES]


def _read_start(root: Path, path: str) -> bytes:
    """Return the path and the beginning of a file in lower case."""
    name = path.encode("utf-8", "surrogatepass")
    try:
        descriptor = open_inside(root, path)
    except (OSError, UnsafePath):
        return name.lower()
    try:
        return (name + b"\n" + os.read(descriptor, _MOST_BYTES)).lower()
    except OSError:
        return name.lower()
    finally:
        os.close(descriptor)


def _list_words(question: str) -> frozenset[bytes]:
    """Return the stemmed words of a question, without function words such as "the"."""
    question = fold(question[:_MOST_CHARS])
    words = {word.strip(".") for word in _WORD.findall(question)} - find_function_words(question)
    return frozenset(
        word[: max(_SHORTEST_WORD, len(word) - _LONGEST_ENDING)].encode("utf-8", "replace")
        for word in words
        if len(word) > 1
    )


def order_passages(catalog: Catalog, waiting: Sequence[Row]) -> Sequence[Row]:
    """Sort passages so that those of recently changed and frequently linked notes come first.

    Up to 128 passages are not sorted, because they are embedded quickly.

    Args:
        catalog: the catalog of the passages.
        waiting: the passages, as returned by `Catalog.list_unembedded`.
    """
    if len(waiting) <= _FEW_PASSAGES:
        return waiting
    files = catalog.rows("SELECT id, path, mtime_ns FROM files WHERE state = 'indexed'")
    links = _count_links_to(catalog)
    ranks = _rank({file: mtime for file, _, mtime in files})
    for file, rank in _rank({file: links[path] for file, path, _ in files if links[path]}).items():
        ranks[file] = min(ranks[file], rank)
    return sorted(waiting, key=lambda row: (ranks.get(row[2], len(ranks)), row[2], row[0]))


def _rank(values: Mapping[int, int]) -> dict[int, int]:
    """Map each file id to the rank of its value. The largest value has rank 0."""
    ordered = sorted(values, key=lambda file: (-values[file], file))
    return {file: rank for rank, file in enumerate(ordered)}


def _count_links_to(catalog: Catalog) -> Counter[str]:
    resolver = Records(catalog).resolve_links("/")
    counts: Counter[str] = Counter()
    targets = "SELECT target, count(DISTINCT file_id) FROM links WHERE target <> '' GROUP BY target"
    for target, notes in catalog.rows(targets):
        if (path := resolver.resolve(target)) is not None:
            counts[path] += notes
    return counts
