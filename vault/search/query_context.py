"""What a query names of the notes around it: names, tags, folders, days, and notes with links."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import date
from functools import lru_cache

from vault.catalog import Catalog
from vault.notes.dates import named_spans
from vault.notes.keywords import fold, query_terms
from vault.notes.stop_words import FUNCTION_WORDS
from vault.search.boosts import Lifts, likeness
from vault.search.note_context import Place, Places, called

__all__ = ["Structure"]

_MAX_CHARS = 400
_MOST_NAMED = 3  # what more notes are called is a subject, and no name


class Structure:
    """Tells what lifts passages, from a catalog as it is during one search."""

    def __init__(self, catalog: Catalog):
        self._places = Places(catalog)
        self._known: dict[int, Place] = {}
        self._tags: dict[int, Collection[str]] = {}

    def look_at(self, numbers: Collection[int]) -> None:
        """Read what is asked for in a moment, while there is time for it."""
        if missing := [number for number in numbers if number not in self._known]:
            found = self._places.of_passages(missing)
            files = {place.file_id for place in found.values()} - self._tags.keys()
            tags = self._places.tags(files)
            self._tags.update((file, tags.get(file, ())) for file in files)
            self._known.update(found)

    def lifts(
        self, words: str, numbers: Collection[int], in_play: Collection[str], today: date
    ) -> dict[int, Lifts]:
        """Give what lifts each of some passages.

        Args:
            words: the query without its filters.
            numbers: the passages.
            in_play: paths of the notes that a conversation is about.
            today: what "yesterday" goes by.
        """
        self.look_at(numbers)
        places = {number: self._known[number] for number in numbers if number in self._known}
        tagged = self._tagged(_words_of(words), places.values())
        dated = self._dated(words, places, today)
        linked = self._linked(_words_of(words), places.values(), in_play)
        return {
            number: Lifts(
                likeness(words, place.names),
                _told(place.file_id, tagged),
                _told(number, dated),
                _told(place.file_id, linked),
            )
            for number, place in places.items()
        }

    def _tagged(self, wanted: frozenset[str], places: Collection[Place]) -> set[int] | None:
        """Give the notes with a tag, or in a folder, that is named."""
        carried = ((place, (*place.folders, *self._tags[place.file_id])) for place in places)
        found = {place.file_id for place, names in carried if _is_one_named(names, wanted)}
        return found or None

    def _dated(self, words: str, places: Mapping[int, Place], today: date) -> set[int] | None:
        """Give the passages of a day that is named: their own day, else that of the last change."""
        spans = named_spans(words, today)
        if not spans:
            return None
        days = self._places.days({place.file_id for place in places.values()})
        headings = self._places.days_of_headings(places)
        found = set()
        for number, place in places.items():
            own = {*place.named_days, *headings.get(number, ()), *days.get(place.file_id, ())}
            own = own or {place.day_of_change}
            if any(first <= day < after for day in own for first, after in spans):
                found.add(number)
        return found

    def _linked(
        self, wanted: frozenset[str], places: Iterable[Place], in_play: Collection[str]
    ) -> set[int] | None:
        """Give the notes with a link from or to one that is named or in play."""
        known = {place.file_id: place for place in places}
        named = _named(known.values(), wanted)
        given = {place.file_id: place for place in self._places.of_notes(in_play)}
        known |= given
        centre = given.keys() | named
        if not centre:
            return None
        targets = self._places.targets(known)
        names = {file: _called(place) for file, place in known.items()}
        return {
            file
            for file in known
            for other in centre - {file}
            if names[other] & targets[file] or names[file] & targets[other]
        }


def _named(places: Iterable[Place], wanted: frozenset[str]) -> set[int]:
    """Give the notes that are named in full."""
    bearers: dict[frozenset[str], set[int]] = defaultdict(set)
    for place in places:
        for name in map(_words_of, place.note_names):
            bearers[name].add(place.file_id)
    return {
        file
        for name, files in bearers.items()
        if name and name <= wanted and len(files) <= _MOST_NAMED
        for file in files
    }


def _told(key: int, found: Collection[int] | None) -> float | None:
    return None if found is None else float(key in found)


def _called(place: Place) -> set[str]:
    return {called(place.path), *map(fold, place.aliases)}


def _is_one_named(names: Iterable[str], wanted: frozenset[str]) -> bool:
    """Tell whether all words of a name, or of the last part of a nested tag, are wanted."""
    parts = (part for name in names for part in {name, name.rpartition("/")[2]})
    return any((words := _words_of(part)) and words <= wanted for part in parts)


@lru_cache(maxsize=1 << 14)
def _words_of(text: str) -> frozenset[str]:
    """Give the words that say something; "recipe" and "recipes" are the same."""
    terms = (term.strip('"') for term in query_terms(text[:_MAX_CHARS]))
    return frozenset(term.removesuffix("s") for term in terms if term not in FUNCTION_WORDS)
