"""Split questions into words, and find the roles of their phrases.

The phrases of each role are in `resources/questions`, with a file for each language. A question is
read in the language that knows most of its words, since "todos" is a list of tasks in one language
and "all" in another.
"""

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from typing import Final

from resources import read_text
from vault.notes.amounts import CURRENCIES
from vault.notes.keywords import WORD, fold

__all__ = [
    "Phrase",
    "Word",
    "are_alike",
    "are_same_things",
    "are_same_word",
    "asks_to_exclude",
    "begins_with_in",
    "cut_signs",
    "find_languages",
    "find_phrases",
    "find_roles",
    "has_negation",
    "list_date_words",
    "list_filler_words",
    "list_named_states",
    "list_nothing_words",
    "list_opposites",
    "list_order_words",
    "list_priority_words",
    "list_property_names",
    "list_role_phrases",
    "list_same_states",
    "list_same_things",
    "list_second_words",
    "list_synonyms",
    "list_wish_words",
    "names_one",
    "names_thing",
    "names_total",
    "read_number_word",
    "split_words",
]

_LANGUAGES: Final = ("en", "de", "fr", "es")
_ALL_LANGUAGES: Final = range(len(_LANGUAGES))
_MOST_WORDS: Final = 60
_MOST_IN_PHRASE: Final = 6
_NUMBER: Final = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+[.,]\d+"
# The signs before or behind a word that tell names apart, as in "C#", "C++", ".NET" and "A-".
_DOT: Final = r"(?<!\S)\.(?=[^\W\d_])"
_SIGNS: Final = r"(?:\+{1,2}|#)(?![\w+#])|(?<=(?<![^\W_])[^\W\d_])-(?![\w-])"
# A word, or a number with a decimal point or thousands, but no date such as 19.11.2026. A sign of a
# currency is a part of its number.
_WORD: Final = re.compile(
    rf"(?<![\w.,])(?:[{CURRENCIES}] ?(?:{_NUMBER}|\d+)|(?:{_NUMBER}|\d+) ?[{CURRENCIES}]|{_NUMBER})"
    rf"(?![.,-]?\d)|(?:{_DOT})?{WORD.pattern}(?:&{WORD.pattern})*(?:{_SIGNS})?"
)
_SIGN: Final = re.compile(r"^\.|[+#-]+$")
_APART: Final = frozenset(",;:/|")
_ENDS: Final = frozenset(".!?…¡¿")
_SHORTEST_STEM: Final = 3
# Endings that two forms of a word may differ in, beside a doubled letter as in "italienne".
_ENDINGS: Final = ("", "s", "es", "n", "en", "e", "er", "x")


# The ending of a Spanish participle, as in "pagado" and "pagadas".
_PARTICIPLE: Final = re.compile(r"(?<=\w\w[ai]d)[oa]s?$")


_Phrases = Mapping[tuple[str, ...], frozenset[str]]
_Groups = Mapping[tuple[str, ...], frozenset[tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a question.

    Attributes:
        text: the word as written.
        folded: the word as it is compared.
        is_apart: whether a comma or the like stands before it.
        is_first: whether a sentence begins with it.
        start: where it begins in the text.
    """

    text: str
    folded: str
    is_apart: bool = False
    is_first: bool = False
    start: int = 0


def cut_signs(word: str) -> Sequence[str]:
    """Return a folded word without its signs, as "c" for "c#", or "r" and "d" for "r&d"."""
    return (word,) if word.isalnum() else _SIGN.sub("", word).split("&")


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words of a question that have a role together.

    Attributes:
        first, end: the place of the words in the question.
        roles: the roles of the phrase, such as `list` or `tag`.
    """

    first: int
    end: int
    roles: frozenset[str]


def split_words(text: str) -> tuple[Word, ...]:
    """Split a text into words. Words after the first 60 are left out."""
    found = list[Word]()
    end = 0
    for match in islice(_WORD.finditer(text), _MOST_WORDS):
        before = text[end : match.start()]
        is_first = not found or not _ENDS.isdisjoint(before)
        folded = fold(match[0]).replace(" ", "")
        is_apart = not _APART.isdisjoint(before)
        found.append(Word(match[0], folded, is_apart, is_first, match.start()))
        end = match.end()
    return tuple(found)


def find_phrases(words: Sequence[Word]) -> tuple[Phrase, ...]:
    """Return the phrases that have roles, the longest ones where several begin alike.

    They are those of the language that knows most of the words, with a role or as a thing.
    """
    by_language = _find_by_language(words)
    return max(by_language, key=lambda one: one[1])[0]


def find_languages(words: Sequence[Word]) -> tuple[int, ...]:
    """Return the languages that know most of the words, as places in the order of all languages."""
    known = [count for _, count in _find_by_language(words)]
    return tuple(at for at, count in enumerate(known) if count == max(known))


def _find_by_language(
    words: Sequence[Word],
) -> list[tuple[tuple[Phrase, ...], tuple[int, int]]]:
    """Return by language the phrases with roles, and how many words have one or are things."""
    folded = {word.folded.removesuffix("s") for word in words}
    found = [tuple(_find_in(phrases, words)) for phrases in _read_phrases()]
    return [
        (phrases, (sum(each.end - each.first for each in phrases), len(folded & things)))
        for phrases, things in zip(found, _list_thing_words(), strict=True)
    ]


def find_roles(phrase: str) -> frozenset[str]:
    """Return the roles that a phrase has in any language."""
    words = _split_phrase(phrase)
    return frozenset[str]().union(*(roles.get(words, ()) for roles in _read_phrases()))


def list_date_words(kind: str) -> frozenset[str]:
    """Return the words of all languages of one kind, such as those for the `past`."""
    return frozenset(fold(word) for table in _read_tables() for word in table["dates"][kind])


def list_filler_words(kind: str) -> frozenset[str]:
    """Return words of all languages that may be fillers: `nouns`, or those with `capitals`."""
    return frozenset(fold(word) for table in _read_tables() for word in table["fillers"][kind])


def list_role_phrases(role: str) -> tuple[str, ...]:
    """Return the phrases of a role in all languages, as written."""
    return tuple(
        dict.fromkeys(each for table in _read_tables() for each in _list_phrases(table, role))
    )


def read_number_word(word: str) -> int:
    """Return the number that a folded word such as "four" names in any language, or 0."""
    numbers = (tuple(map(fold, table["values"]["numbers"])) for table in _read_tables())
    return next((each.index(word) + 1 for each in numbers if word in each), 0)


def names_one(word: str) -> bool:
    """Return whether a folded word before a unit is the number one, as in "an hour"."""
    return any(word in map(fold, table["values"]["one"]) for table in _read_tables())


def list_nothing_words() -> frozenset[str]:
    """Return the words of all languages for nothing as a value, such as "none" and "keine"."""
    return frozenset(fold(word) for table in _read_tables() for word in table["values"]["none"])


def list_wish_words() -> frozenset[str]:
    """Return the words of all languages before a state that is only wished, such as "should"."""
    return frozenset(fold(word) for table in _read_tables() for word in table["values"]["wished"])


def list_opposites(text: str) -> frozenset[tuple[str, ...]]:
    """Return the words for the opposite of a text in any language, as "unpaid" for "paid"."""
    begins = [begin for table in _read_tables() for begin in table["opposites"]["begin"]]
    synonyms = list_synonyms(fold(text))
    cut = (
        each.removeprefix(begin) for begin in begins for each in synonyms if each.startswith(begin)
    )
    opposites = {other for each in cut for other in list_synonyms(each)}
    opposites.update(f"{begin}{each}" for begin in begins for each in synonyms)
    return frozenset(map(_split_phrase, opposites))


def list_same_states(
    text: str, languages: Collection[int] = _ALL_LANGUAGES
) -> frozenset[tuple[str, ...]]:
    """Return the words of all languages for a state, as "unpaid" for the German "unbezahlt".

    Those of a value of a property are states too, as "abandoned" for "abgebrochen".

    Args:
        text: the words for the state.
        languages: the languages that they may be of, as `find_languages` returns them.
    """
    begins = [begin for table in _read_tables() for begin in table["opposites"]["begin"]]
    folded_text = fold(text)
    same = set(list_property_names(_split_phrase(folded_text)))
    for begin in begins:
        if folded_text.startswith(begin):
            states = list_property_names(_split_phrase(folded_text.removeprefix(begin)))
            same.update(f"{other}{state}" for state in states for other in begins)
    return frozenset(map(_split_phrase, same)) | list_named_states(
        _split_phrase(folded_text), languages
    )


def list_named_states(
    phrase: Sequence[str], languages: Collection[int] = _ALL_LANGUAGES
) -> frozenset[tuple[str, ...]]:
    """Return the words of all languages for the state that a phrase names, or nothing.

    The German "rot" is a state, but the English "rot" is none.

    Args:
        phrase: the words of the phrase, folded.
        languages: the languages that it may be of, as `find_languages` returns them.
    """
    groups = _read_states()
    return frozenset[tuple[str, ...]]().union(
        *(_find_group(groups[language], phrase) for language in languages)
    )


def list_order_words(kind: str) -> frozenset[str]:
    """Return the words of all languages for the `last` or the `first` time of something."""
    return frozenset(word for table in _read_tables() for word in table["order"][kind])


def list_priority_words() -> tuple[Mapping[str, Sequence[str]], ...]:
    """Return by language the words for priorities of tasks, with those for "or" and "and"."""
    joins = ("or", "and")
    return tuple(
        {**table["priority"], **{join: _list_phrases(table, join) for join in joins}}
        for table in _read_tables()
    )


def list_second_words(kind: str) -> tuple[tuple[str, ...], ...]:
    """Return by language the words before a second question.

    Args:
        kind: `joins`, `leading`, `begins` or `relative`.
    """
    return tuple(tuple(table["second"][kind]) for table in _read_tables())


def begins_with_in(text: str) -> bool:
    """Return whether a text begins with a word such as "in", maybe as part of "in how many"."""
    inside = {_split_phrase(phrase) for phrase in list_role_phrases("in")}
    return _split_phrase(text)[:1] in inside


def names_total(cell: str) -> bool:
    """Return whether a cell of a table may name a sum or mean of other rows, as "Grand total"."""
    words, rows = _split_phrase(cell), [table["rows"] for table in _read_tables()]
    phrases = {_split_phrase(phrase) for row in rows for phrase in row["total"]}
    parts = tuple({fold(part) for row in rows for part in row["parts"]})
    if any(word.startswith(parts) or word.endswith(parts) for word in words):
        return True
    ends = range(1, len(words) + 1)
    return any(words[at:end] in phrases for end in ends for at in range(max(0, end - 2), end))


def has_negation(text: str) -> bool:
    """Return whether a question says "not" or "without" of something."""
    phrases = find_phrases(split_words(text))
    return any("not" in phrase.roles and "filler" not in phrase.roles for phrase in phrases)


def asks_to_exclude(text: str) -> bool:
    """Return whether a question asks for notes or tasks without something, as "not about rain".

    In "Which note says why the pump does not start", a note with the words is asked for.
    """
    words = split_words(text)
    phrases = find_phrases(words)
    asked = next((each for each in phrases if each.roles & {"notes", "tasks"}), None)
    if asked is None:
        return False
    if any("lacking" in phrase.roles for phrase in phrases):
        return True
    denied = next(
        (one for one in phrases if "not" in one.roles and "filler" not in one.roles), None
    )
    if denied is None:
        return False
    first, end = min(asked.end, denied.end), max(asked.first, denied.first)
    known = {at for phrase in phrases for at in range(phrase.first, phrase.end)}
    return known.issuperset(range(first, end))


def _find_in(phrases: _Phrases, words: Sequence[Word]) -> Iterator[Phrase]:
    at = 0
    while at < len(words):
        for end in range(min(at + _MOST_IN_PHRASE, len(words)), at, -1):
            roles = phrases.get(tuple(word.folded for word in words[at:end]))
            if roles is not None:
                yield Phrase(at, end, roles)
                at = end - 1
                break
        at += 1


def list_property_names(phrase: Sequence[str]) -> frozenset[str]:
    """Return the words for a property that a phrase asks for, such as "price" for "how much".

    Args:
        phrase: the words of the phrase, folded.
    """
    return _read_asked().get(tuple(phrase), frozenset())


def list_synonyms(text: str) -> frozenset[str]:
    """Return a text, and the words of all languages for the property that it asks for."""
    return list_property_names(_split_phrase(text)) | {text}


def list_same_things(phrase: Sequence[str]) -> frozenset[tuple[str, ...]]:
    """Return the names for the same thing in all languages, such as "recipe" for "Rezept".

    Args:
        phrase: the words of the phrase, folded.
    """
    return _find_group(_read_things(), phrase)


def are_same_things(text: str, other: str) -> bool:
    """Return whether two names mean the same thing in some language, as "Rezepte" and "recipe"."""
    groups = [list_same_things(_split_phrase(each)) for each in (text, other)]
    return are_alike(text, other) or not groups[0].isdisjoint(groups[1])


def names_thing(text: str) -> bool:
    """Return whether a text names a kind of things that notes may be about, such as "Film"."""
    return bool(list_same_things(_split_phrase(text)))


def _find_group(groups: _Groups, phrase: Sequence[str]) -> frozenset[tuple[str, ...]]:
    """Return the group of a phrase, which may be in the plural, or nothing."""
    found = groups.get(tuple(phrase))
    if found is None and len(phrase) == 1:
        begin = phrase[0][: _SHORTEST_STEM - 1]  # which two forms of a word have in common
        alike = (one for one in groups if len(one) == 1 and one[0].startswith(begin))
        is_same = (one for one in alike if are_same_word(one[0], phrase[0]))
        found = next((groups[one] for one in is_same), None)
    return found or frozenset()


def are_alike(text: str, other: str) -> bool:
    """Return whether two names differ only in case, accents and the ending of a plural."""
    words, others = _split_phrase(text), _split_phrase(other)
    return len(words) == len(others) and all(map(are_same_word, words, others))


def are_same_word(word: str, other: str) -> bool:
    """Return whether two folded words are the same, or differ only in the ending of a plural."""
    if word == other:
        return True
    short, long = sorted((word, other), key=len)
    if len(short) < _SHORTEST_STEM:
        return False
    if _PARTICIPLE.sub("", word) == _PARTICIPLE.sub("", other) != word:
        return True
    if long.startswith(short):
        end = long[len(short) :]
        return end in _ENDINGS or end in (f"{short[-1]}e", f"{short[-1]}es")
    return short[-1] in "aeoy" and any(
        long == short[:-1] + ending for ending in ("en", "as", "os", "es", "ies")
    )


def _split_phrase(phrase: str) -> tuple[str, ...]:
    return tuple(word.folded for word in split_words(phrase))


@cache
def _read_phrases() -> tuple[_Phrases, ...]:
    """Return the roles of each phrase, by language."""
    return tuple(map(_list_roles, _read_tables()))


@cache
def _list_thing_words() -> tuple[frozenset[str], ...]:
    """Return by language the words for things, such as "recipe", without the "s" of a plural."""
    return tuple(
        frozenset(
            fold(each).removesuffix("s") for names in table["things"].values() for each in names
        )
        for table in _read_tables()
    )


def _list_roles(table: Mapping[str, object]) -> _Phrases:
    found: dict[tuple[str, ...], set[str]] = {}
    for role, phrases in table.items():
        for phrase in phrases if isinstance(phrases, list) else ():
            found.setdefault(_split_phrase(phrase), set()).add(role)
    return {phrase: frozenset(roles) for phrase, roles in found.items()}


@cache
def _read_asked() -> Mapping[tuple[str, ...], frozenset[str]]:
    """Return the words of all languages for the property that each phrase asks for."""
    found: dict[tuple[str, ...], frozenset[str]] = {}
    for group in _read_groups("ask"):
        names = frozenset(" ".join(other) for other in group)
        for phrase in group:  # "how old" asks for an age or a birthday
            found[phrase] = found.get(phrase, frozenset()) | names
    return found


@cache
def _read_things() -> _Groups:
    """Return the names of all languages for the thing that each phrase names."""
    return _join_groups("things")


@cache
def _read_states() -> tuple[_Groups, ...]:
    """Return by language the words of all languages for the state that each phrase names."""
    groups = _join_groups("states")
    named = (chain.from_iterable(table["states"].values()) for table in _read_tables())
    return tuple({phrase: groups[phrase] for phrase in map(_split_phrase, each)} for each in named)


def _join_groups(table: str) -> _Groups:
    """Return the phrases that mean the same as each phrase of a table.

    A word such as the French "faible" may mean two things, as "weak" and "low".
    """
    found: dict[tuple[str, ...], frozenset[tuple[str, ...]]] = {}
    for group in _read_groups(table):
        for phrase in group:
            found[phrase] = found.get(phrase, frozenset()) | group
    return found


def _read_groups(table: str) -> Sequence[frozenset[tuple[str, ...]]]:
    """Return the phrases of all languages that mean the same, of one table."""
    groups: dict[str, set[tuple[str, ...]]] = {}
    for language in _read_tables():
        for name, phrases in language[table].items():
            groups.setdefault(name, set()).update(map(_split_phrase, phrases))
    return tuple(map(frozenset, groups.values()))


def _list_phrases(table: Mapping[str, object], role: str) -> list[str]:
    phrases = table[role]
    return list(map(str, phrases)) if isinstance(phrases, list) else []


@cache
def _read_tables() -> tuple[Mapping[str, Mapping[str, list[str]]], ...]:
    return tuple(tomllib.loads(read_text(f"questions/{language}.toml")) for language in _LANGUAGES)
