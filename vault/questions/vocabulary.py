"""Look up which tags, folders, notes and properties of a vault a phrase names."""

import json
import posixpath
import re
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain, combinations
from typing import Final, Literal

from vault.catalog import Catalog
from vault.notes.amounts import parse_amount
from vault.notes.keywords import fold
from vault.notes.kinds import drop_note_suffix
from vault.notes.properties import read_tick
from vault.notes.units import can_convert
from vault.questions.words import are_same_word, cut_signs, list_same_things, split_words
from vault.scope import WHOLE, Scope
from vault.search.conditions import cut_day

__all__ = ["Name", "NameKind", "VaultNames", "VocabularyReader", "fold_levels", "read_vocabulary"]

NameKind = Literal["tag", "folder", "note", "property", "value"]

# Properties that say nothing about the subject of a note.
_OTHER_PROPERTIES: Final = frozenset({"tags", "tag", "aliases", "alias", "cssclasses", "title"})
_MOST_VALUE_CHARS: Final = 80
_MOST_CACHED: Final = 8_192
_SHORTEST_VERB: Final = 5
_MOST_IN_ENDING: Final = 3
_SHORTEST_OF_PERSON: Final = 3
_MOST_OF_PERSON: Final = 4
_YEAR: Final = re.compile(r"1[5-9]\d\d|20\d\d")
# A link that is a value as a whole, without the brackets and the shown text.
_LINK: Final = re.compile(r"^\W*\[\[([^\[\]|#]+(?:#+(?=[\]|]))?)[^\[\]]*\]\]\W*$")


@dataclass(frozen=True, slots=True)
class Name:
    """A name of something in the vault.

    Attributes:
        kind: what has the name.
        value: the tag, the path of the folder or note, the property, or the value.
        property: the property that has the value, or an empty string for other kinds.
    """

    kind: NameKind
    value: str
    property: str = ""


class VaultNames:
    """The names in a vault, by their words.

    Attributes:
        properties: the values of each property, by note and by property.
        dated: the properties that hold days.
        years: the properties whose values are all years.
        ticked: the properties whose values are all true or false.
        half_ticked: the properties of which some values are false, and others are no such values.
        units: the units of the values of each property, as written.
        money: the properties with amounts of money.
        tags: the tags of each note.
        names_of: the names of each note.
        people: the notes that are about a person.
        longest: the number of words of the longest name.
    """

    def __init__(self) -> None:
        self._by_words: dict[tuple[str, ...], list[Name]] = {}
        self._by_beginning: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
        self._by_plain_words: defaultdict[tuple[str, ...], list[Name]] = defaultdict(list)
        self.properties: dict[str, dict[str, list[str]]] = {}
        self.dated: set[str] = set()
        self.years: set[str] = set()
        self.ticked: set[str] = set()
        self.half_ticked: set[str] = set()
        self.units: defaultdict[str, set[str]] = defaultdict(set)
        self.money: set[str] = set()
        self.tags: defaultdict[str, set[str]] = defaultdict(set)
        self.names_of: dict[str, tuple[str, ...]] = {}
        self.people: set[str] = set()
        self.longest = 0
        self._split: dict[str, Sequence[tuple[str, frozenset[str]]]] = {}  # once for all questions

    def add(self, text: str, name: Name) -> None:
        """Add a name with the text that names it."""
        words = tuple(word.folded for word in split_words(text))
        if not words:
            return
        if words not in self._by_words:
            self._by_words[words] = []
            self.longest = max(self.longest, len(_cut_signs(words)))
            self._by_beginning[_cut_beginning(words[0])].append(words)
        if name not in self._by_words[words]:
            self._by_words[words].append(name)
        plain = _cut_signs(words)
        if plain != words and name not in self._by_plain_words[plain]:
            self._by_plain_words[plain].append(name)

    def list_values(self, name: str) -> frozenset[str]:
        """Return all values of a property."""
        return frozenset(value for own in self.properties.values() for value in own.get(name, ()))

    def holds_days(self, name: str) -> bool:
        """Return whether a property holds days or years."""
        return name in self.dated or name in self.years

    def is_of_one_value(self, name: str) -> bool:
        """Return whether no note has several values of a property."""
        return all(len(own.get(name, ())) <= 1 for own in self.properties.values())

    def has_both_tags(self, tag: str, other: str) -> bool:
        """Return whether a note has two tags, or tags below them."""
        wanted = [fold_levels(each) for each in (tag, other)]
        for tags in self.tags.values():
            levels = list(map(fold_levels, tags))
            if all(any(one.startswith(each) for one in levels) for each in wanted):
                return True
        return False

    def find_values_with(self, text: str, name: str) -> list[str]:
        """Return the values of a property that are names with some words, as "Jane Austen".

        Args:
            text: the words, such as "Austen".
            name: the property.
        """
        wanted = {word.folded for word in split_words(text)}
        return sorted(
            value for value, words in self._split_names(name) if wanted and wanted < words
        )

    def _split_names(self, name: str) -> Sequence[tuple[str, frozenset[str]]]:
        """Return the values of a property that may be names, each with its words, folded."""
        if name not in self._split:
            plain = {_LINK.sub(r"\1", value) for value in self.list_values(name)}
            split = ((value, split_words(value)) for value in plain)
            words = ((value, frozenset(word.folded for word in found)) for value, found in split)
            self._split[name] = [each for each in words if len(each[1]) <= _MOST_OF_PERSON]
        return self._split[name]

    def find_measured(self, unit: str) -> list[str]:
        """Return the properties whose values have a unit that another one can be converted to."""
        fits = partial(can_convert, unit)
        return [name for name, units in self.units.items() if any(map(fits, units))]

    def find_exactly(self, words: Sequence[str]) -> tuple[Name, ...]:
        """Return what has a name of just these words, folded."""
        return tuple(self._by_words.get(tuple(words), ()))

    def list_texts(self, kind: NameKind) -> list[tuple[str, ...]]:
        """Return the words of all names of one kind, folded."""
        return [
            words for words, names in self._by_words.items() if any(n.kind == kind for n in names)
        ]

    def find(self, words: Sequence[str]) -> tuple[Name, ...]:
        """Return what a phrase names. Each of its words may be in another form.

        A sign such as that of "C#" is a part of the name. It may be left out if no other name is
        written so, as in "net" for ".NET".

        Args:
            words: the words of the phrase, folded.
        """
        exact = self._by_words.get(tuple(words), ())
        alike = (
            name
            for other in self._by_beginning.get(_cut_beginning(words[0]), ())
            if len(other) == len(words) and other != tuple(words)
            if all(map(are_same_word, words, other))
            for name in self._by_words[other]
        )
        found = (*exact, *alike) or tuple(self._by_plain_words.get(tuple(words), ()))
        if not found and any("&" in word for word in words):
            found = self.find_exactly(_cut_signs(words))
        return found or (self._find_by_verb(words[0]) if len(words) == 1 else ())

    def _find_by_verb(self, word: str) -> tuple[Name, ...]:
        """Return the properties that a verb names, as "attended" names "attendees"."""
        word = word.removesuffix("ed")
        if len(word) < _SHORTEST_VERB:
            return ()
        longest = len(word) + _MOST_IN_ENDING
        return tuple(
            name
            for other in self._by_beginning.get(_cut_beginning(word), ())
            if len(other) == 1 and other[0].startswith(word) and len(other[0]) <= longest
            for name in self._by_words[other]
            if name.kind == "property"
        )


@lru_cache(_MOST_CACHED)
def fold_levels(text: str) -> str:
    """Return a tag or the path of a folder, folded, with a slash at both ends.

    They are few beside the notes that have them.
    """
    return f"/{fold(text).strip('/')}/"


def _cut_signs(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(chain.from_iterable(map(cut_signs, words)))


class VocabularyReader:
    """Reads the names of a vault, and keeps them until the catalog changes. Thread-safe.

    Reading the names of 10,000 notes takes longer than a search among them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: tuple[object, VaultNames] | None = None

    def read(self, catalog: Catalog, scope: Scope = WHOLE) -> VaultNames:
        """Return the names of the vault as it is now.

        Args:
            catalog: the catalog of the index.
            scope: the part of the vault to search.
        """
        with self._lock:
            state = catalog.read_state(), scope
            if self._kept is None or self._kept[0] != state:
                self._kept = state, read_vocabulary(catalog, scope)
            return self._kept[1]


def read_vocabulary(catalog: Catalog, scope: Scope = WHOLE) -> VaultNames:
    """Read the names of a vault from its catalog.

    Args:
        catalog: the catalog of the index.
        scope: the part of the vault to search.
    """
    found = VaultNames()
    rows = catalog.rows(
        "SELECT file_id, path, title, aliases FROM notes JOIN files ON files.id = file_id"
    )
    paths = {int(row[0]): str(row[1]) for row in rows if scope.is_whole or scope.covers(row[1])}
    for number, path, title, aliases in rows:
        if number in paths:
            _add_note(found, path, title, json.loads(aliases))
    for folder in {folder for path in paths.values() for folder in _list_folders(path)}:
        found.add(posixpath.basename(folder), Name("folder", folder))
    for number, tag in catalog.rows("SELECT file_id, tag FROM tags ORDER BY tag"):
        if number in paths:
            _add_tag(found, tag)
            found.tags[paths[number]].add(tag)
    ticks = defaultdict[str, set[bool | None]](set)
    others = set[str]()
    for number, name, value in catalog.rows("SELECT file_id, name, value FROM properties"):
        if number in paths and name not in _OTHER_PROPERTIES:
            ticks[name].add(read_tick(value))
            others.update(() if _YEAR.fullmatch(value) else (name,))
            _add_property(found, paths[number], name, value)
            _add_value_names(found, name, value)
    _add_parts_of_names(found)
    found.years = ticks.keys() - others
    found.ticked = {name for name, values in ticks.items() if None not in values}
    found.half_ticked = {name for name, values in ticks.items() if values >= {None, False}}
    return found


def _add_note(found: VaultNames, path: str, title: str, aliases: Iterable[str]) -> None:
    stem = posixpath.basename(drop_note_suffix(path))
    found.names_of[path] = tuple(dict.fromkeys((stem, title, *aliases)))
    for text in found.names_of[path]:
        found.add(text, Name("note", path))


def _add_tag(found: VaultNames, tag: str) -> None:
    """Add a tag, by its whole name and by each of its levels."""
    levels = tag.split("/")
    for end in range(1, len(levels) + 1):
        name = Name("tag", "/".join(levels[:end]))
        found.add(levels[end - 1], name)
        found.add(name.value, name)


def _add_property(found: VaultNames, path: str, name: str, value: str) -> None:
    found.add(name, Name("property", name))
    if len(value) <= _MOST_VALUE_CHARS:
        found.add(value, Name("value", _LINK.sub(r"\1", value), name))
    if cut_day(value):
        found.dated.add(name)
    elif len(value) <= _MOST_VALUE_CHARS and (amount := parse_amount(value)) and amount.unit:
        found.units[name].add(amount.unit)
        found.money.update([name] if amount.is_money else ())
    found.properties.setdefault(path, {}).setdefault(name, []).append(value)


def _add_value_names(found: VaultNames, name: str, value: str) -> None:
    """Add a value by the names of the note that it names, such as "Sofia" for "Sofia Lindqvist"."""
    if len(value) > _MOST_VALUE_CHARS:
        return
    plain = _LINK.sub(r"\1", value)
    words = [word.folded for word in split_words(plain)]
    for note in {each.value for each in found.find_exactly(words) if each.kind == "note"}:
        for text in found.names_of[note]:
            found.add(text, Name("value", plain, name))


def _add_parts_of_names(found: VaultNames) -> None:
    """Add people by some words of their name, such as "Anna" or "Dr Berger".

    No other person's name may have these words, and no value that is another name.
    """
    found.people.update(_list_people(found))
    names_of = {path: _list_full_names(found, path) for path in sorted(found.people)}
    known = {words: path for path, names in names_of.items() for words in names}
    holders = defaultdict[str, set[object]](set)
    for words in (*known, *found.list_texts("value")):
        for word in words:
            holders[word].add(known.get(words, words))
    for path, names in names_of.items():
        for part in {part for words in names for part in _list_parts(words)}:
            is_own = set.intersection(*(holders[word] for word in part)) == {path}
            is_long = len("".join(part)) >= _SHORTEST_OF_PERSON
            if is_own and is_long and not found.find_exactly(part):
                _add_part(found, part, path, names)


def _list_parts(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield some of the words of a name, in their order."""
    if len(words) <= _MOST_OF_PERSON:
        for size in range(1, len(words)):
            yield from combinations(words, size)


def _add_part(
    found: VaultNames, part: Sequence[str], path: str, names: Iterable[tuple[str, ...]]
) -> None:
    """Add what has one of the names of a person, by a part: the note, and values of properties."""
    for name in {each for words in names for each in found.find_exactly(words)}:
        if name.kind == "value" or name.value == path:
            found.add(" ".join(part), name)


def _list_people(found: VaultNames) -> list[str]:
    """Return the notes with a tag or in a folder for people, in any language."""
    kinds = {name for words in list_same_things(("person",)) for name in found.find(words)}
    folders = tuple(f"{name.value}/" for name in kinds if name.kind == "folder")
    tags = {name.value for name in kinds if name.kind == "tag"}
    return [
        path
        for path in found.names_of
        if path.startswith(folders) or not tags.isdisjoint(found.tags[path])
    ]


def _list_full_names(found: VaultNames, path: str) -> list[tuple[str, ...]]:
    split = (split_words(name) for name in found.names_of[path])
    return [tuple(word.folded for word in words) for words in split if words]


def _list_folders(path: str) -> Iterator[str]:
    while path := posixpath.dirname(path):
        yield path


def _cut_beginning(word: str) -> str:
    return word[:2]
