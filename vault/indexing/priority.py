"""The order in which notes are read and embedded.

Recently changed and frequently linked notes are embedded first. Notes that the user is asking about
come before all others, even if an update is already running.
"""

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from vault.catalog import Catalog, Row
from vault.notes.keywords import FUNCTION_WORDS
from vault.notes.links import fold_link_name
from vault.records import Records

__all__ = ["Preference", "Priority", "list_possible_names", "order_passages"]

T = TypeVar("T")

_MOST_KEPT = 50
_MOST_WORDS_OF_A_NAME = 6
_MOST_CHARS = 4_000
_FEW_PASSAGES = 128
_WORD = re.compile(r"[^\s,;:!?()\[\]{}<>\"“”„‘’#|]+")


class Preference(NamedTuple):
    """Notes that should be indexed first, because the user is waiting for them.

    Attributes:
        paths: the paths of notes.
        names: names of notes, as `fold_link_name` spells them.
    """

    paths: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()

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
            question: a question. The notes that it names are preferred.
        """
        preference = Preference(frozenset(paths), list_possible_names(question))
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
            paths, names = zip(*new, strict=True)
            return Preference(frozenset().union(*paths), frozenset().union(*names))

        return take

    def arrange(self, files: Sequence[tuple[str, T]]) -> Iterator[tuple[str, T]]:
        """Yield the items in order, but those of preferred notes first.

        Notes that become preferred during the iteration are yielded next.

        Args:
            files: pairs of a note's path and an item.
        """
        take, done = self.follow(), set[str]()
        for at, file in enumerate(files):
            preferred = take()
            urgent = () if preferred is None else files[at:]
            for early in urgent:
                if preferred is not None and early[0] not in done and preferred.matches(early[0]):
                    done.add(early[0])
                    yield early
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
