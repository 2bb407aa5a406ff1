"""Raise the scores of passages whose notes match names, tags, dates or links in the query.

If a query names a note, the passages of that note are boosted, rather than the notes that mention
its name most often. If a query names a tag, folder or day, the notes with this tag, folder or day
are boosted. Notes linked to a named note are boosted too. A matching name can move a note up by
many ranks, but other matches only by a few.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import date
from functools import cache
from typing import NamedTuple

from vault.catalog import Catalog
from vault.notes.date_spans import is_in_ranges
from vault.notes.dates import find_date_spans
from vault.notes.links import fold_link_name, list_link_names
from vault.ranking.titles import add_title, list_telling_words, measure_similarity
from vault.records import Records
from vault.search.metadata import MetadataReader, PassageMetadata

__all__ = [
    "Booster",
    "Boosts",
    "apply_boosts",
]

_HIGHEST = 0.9  # without tags, dates and links, so that these still move the best passages
# Each is a share of the score's distance to 1; neighbours in a ranking differ by about 0.02.
_TAG_SHARE = 0.1
_DATE_SHARE = 0.15
_LINK_SHARE = 0.08


class Boosts(NamedTuple):
    """The boosts of a passage. Each is a number from 0 to 1, or None if the query does not use it.

    Attributes:
        title: the similarity between the query and a name of the note or a heading of the passage.
        tags: 1 if the note has a tag or folder that the query names, otherwise 0.
        dates: 1 if the passage is from a day that the query names, otherwise 0.
        links: 1 if a link connects the note to a note that the query names or the session already
            uses, otherwise 0.
    """

    title: float
    tags: float | None = None
    dates: float | None = None
    links: float | None = None


def apply_boosts(score: float, boosts: Boosts | None) -> float:
    """Return a passage's score after applying its boosts.

    Args:
        score: the score without boosts, from 0 to 1.
        boosts: the boosts, or None if they were not computed for this passage.
    """
    if boosts is None:
        return _HIGHEST * add_title(score, 0.0)
    score = _HIGHEST * add_title(score, boosts.title)
    by_tags, by_dates, by_links = (value or 0.0 for value in boosts[1:])
    share = _TAG_SHARE * by_tags + _DATE_SHARE * by_dates + _LINK_SHARE * by_links
    return score + (1.0 - score) * share


_MOST_NAMED = 3  # if more notes match, the words are a subject and not a name


class Booster:
    """Computes the boosts of passages for a query."""

    def __init__(self, catalog: Catalog, attachments: str = "/"):
        """Create the booster. Nothing is read yet.

        Args:
            catalog: the catalog of the index.
            attachments: the attachment folder that is set in Obsidian.
        """
        self._catalog = catalog
        self._attachments = attachments
        self._reader = MetadataReader(catalog)
        self._known: dict[int, PassageMetadata] = {}
        self._tags: dict[int, Collection[str]] = {}

    def load(self, numbers: Collection[int]) -> None:
        """Load the details of passages before they are needed, while the query is being embedded.

        Args:
            numbers: the passage ids.
        """
        if missing := [number for number in numbers if number not in self._known]:
            found = self._reader.read_passages(missing)
            files = {context.file_id for context in found.values()} - self._tags.keys()
            tags = self._reader.read_tags(files)
            self._tags.update((file, tags.get(file, ())) for file in files)
            self._known.update(found)

    def measure_titles(self, words: str, numbers: Collection[int]) -> dict[int, float]:
        """Return the similarity between a query and each passage's titles, keyed by passage id.

        Args:
            words: the query without filters.
            numbers: the passage ids.
        """
        known = self._reader.read_passages(numbers)
        return {number: measure_similarity(words, each.names) for number, each in known.items()}

    def compute_boosts(
        self, words: str, numbers: Collection[int], session_notes: Collection[str], today: date
    ) -> dict[int, Boosts]:
        """Compute the boosts of passages, keyed by passage id.

        Args:
            words: the query without filters.
            numbers: the passage ids.
            session_notes: the paths of the notes that the session already uses.
            today: the date that words such as "yesterday" refer to.
        """
        self.load(numbers)
        # Notes have several passages, so that a name is often compared more than once.
        measure = cache(lambda name: measure_similarity(words, [name]))
        contexts = {number: self._known[number] for number in numbers if number in self._known}
        tagged = self._find_tagged(list_telling_words(words), contexts.values())
        dated = self._find_dated(words, contexts, today)
        linked = self._find_linked(list_telling_words(words), contexts.values(), session_notes)
        return {
            number: Boosts(
                max(map(measure, context.names)),
                _score(context.file_id, tagged),
                _score(number, dated),
                _score(context.file_id, linked),
            )
            for number, context in contexts.items()
        }

    def _find_tagged(
        self, wanted: frozenset[str], contexts: Collection[PassageMetadata]
    ) -> set[int] | None:
        """Return the file ids of the notes with a tag or folder that the query names.

        Return None if there are no such notes.

        Args:
            wanted: the words of the query.
            contexts: the details of the passages.
        """
        carried = (
            (context, (*context.folders, *self._tags[context.file_id])) for context in contexts
        )
        found = {context.file_id for context, names in carried if _is_one_named(names, wanted)}
        return found or None

    def _find_dated(
        self, words: str, contexts: Mapping[int, PassageMetadata], today: date
    ) -> set[int] | None:
        """Return the ids of the passages from a day that the query names.

        A passage's date comes from the note's names, properties or headings. If they contain no
        date, it is the day of the file's last change. If the query names no day, return None.
        """
        spans = find_date_spans(words, today)
        if not spans:
            return None
        days = self._reader.read_days({context.file_id for context in contexts.values()})
        found = set()
        for number, context in contexts.items():
            own = context.named_spans | days[context.file_id]
            own = own or frozenset({context.day_of_change})
            if any(is_in_ranges(span, spans) for span in own):
                found.add(number)
        return found

    def _find_linked(
        self,
        wanted: frozenset[str],
        contexts: Iterable[PassageMetadata],
        session_notes: Collection[str],
    ) -> set[int] | None:
        """Return the file ids of the notes that are linked to or from an important note.

        A note is important if the query names it or the session already uses it. If there is none,
        return None.

        Args:
            wanted: the words of the query.
            contexts: the passages to check.
            session_notes: the paths of the notes that the session already uses.
        """
        known = {context.file_id: context for context in contexts}
        named = _find_named(known.values(), wanted)
        given = {context.file_id: context for context in self._reader.read_notes(session_notes)}
        known |= given
        centre = given.keys() | named
        if not centre:
            return None
        linked = self._resolve_links(known)
        return {
            file
            for file in known
            for other in centre - {file}
            if other in linked[file] or file in linked[other]
        }

    def _resolve_links(self, known: Mapping[int, PassageMetadata]) -> dict[int, set[int]]:
        names = {n for c in known.values() for n in list_link_names(c.path, c.aliases)}
        targets = {
            file: {target for target in found if target and fold_link_name(target) in names}
            for file, found in self._reader.read_targets(known).items()
        }
        if not any(targets.values()):
            return {file: set() for file in known}
        wanted = {fold_link_name(target) for found in targets.values() for target in found}
        resolver = Records(self._catalog).resolve_links_among(wanted, self._attachments)
        files = {context.path: file for file, context in known.items()}
        resolved = {
            file: {resolver.resolve(target, context.path) for target in targets.get(file, ())}
            for file, context in known.items()
        }
        return {
            file: {files[path] for path in paths if path in files}
            for file, paths in resolved.items()
        }


def _find_named(contexts: Iterable[PassageMetadata], wanted: frozenset[str]) -> set[int]:
    owners: dict[frozenset[str], set[int]] = defaultdict(set)
    for context in contexts:
        for name in map(list_telling_words, context.note_names):
            owners[name].add(context.file_id)
    return {
        file
        for name, files in owners.items()
        if name and name <= wanted and len(files) <= _MOST_NAMED
        for file in files
    }


def _score(key: int, found: Collection[int] | None) -> float | None:
    return None if found is None else float(key in found)


def _is_one_named(names: Iterable[str], wanted: frozenset[str]) -> bool:
    """Return whether the query contains all words of at least one of the names.

    Args:
        names: the names to look for, such as tags.
        wanted: the words of the query.
    """
    parts = (part for name in names for part in {name, name.rpartition("/")[2]})
    return any((words := list_telling_words(part)) and words <= wanted for part in parts)
