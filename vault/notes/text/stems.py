"""Find the words of a query in other texts, in any of their forms.

Words are reduced to their stems by Snowball's stemmer for the language of the query. Forms that no
stemmer knows, such as "bought" for "buy", are found too, and so are words that begin with a whole
word of the query, such as "Gartenhaus" for "Garten".
"""

import re
from collections import defaultdict
from functools import cache, lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple

from vault.notes.irregular_words import list_other_forms
from vault.notes.keywords import FUNCTION_WORDS, find_language, split_words

if TYPE_CHECKING:
    from snowballstemmer.basestemmer import BaseStemmer

__all__ = ["WordStems", "stem_word"]

_MOST_WORDS: Final = 32
_STEMMING: Final = Lock()  # a stemmer keeps the word in itself
_MOST_CACHED: Final = 50_000
_SHORTEST_BEGINNING: Final = 4
_COMPARED_LETTERS: Final = 2  # stems of the same word begin alike
# Languages that have a script of their own, or share it with languages that are less common.
_SCRIPTS: Final = (
    (re.compile("[\u0370-\u03ff]"), "greek"),
    (re.compile("[\u0400-\u04ff]"), "russian"),
    (re.compile("[\u0530-\u058f]"), "armenian"),
    (re.compile("[\u0590-\u05ff]"), "yiddish"),
    (re.compile("[\u0600-\u06ff]"), "arabic"),
    (re.compile("[\u0900-\u097f]"), "hindi"),
    (re.compile("[\u0b80-\u0bff]"), "tamil"),
)
# A stem in Arabic may lack the first letters of its word.
_CUTS_BEGINNINGS: Final = frozenset({"arabic"})


class _Form(NamedTuple):
    """A form of a word of the query, with its own stem and the stem that the word is counted by."""

    word: str
    stem: str
    name: str


class WordStems:
    """The stems of a query's words, without function words such as "the".

    If the query contains only function words, their stems are used.
    """

    def __init__(self, query: str) -> None:
        every = list(dict.fromkeys(split_words(query)))[:_MOST_WORDS]
        words = [word for word in every if word not in FUNCTION_WORDS] or every
        self._language = _choose_language(query)
        self._forms: defaultdict[str, list[_Form]] = defaultdict(list)
        for word in words:
            name = stem_word(word, self._language)
            for form in (word, *list_other_forms(word)):
                found = _Form(form, stem_word(form, self._language), name)
                self._forms[self._find_beginning(form)].append(found)
        self.names = tuple(dict.fromkeys(stem_word(word, self._language) for word in words))

    def __len__(self) -> int:
        return len(self.names)

    def find(self, text: str) -> frozenset[str]:
        """Return the stems that any word of a text has."""
        return frozenset(
            form.name
            for word in dict.fromkeys(split_words(text))
            for form in self._forms.get(self._find_beginning(word), ())
            if self._matches(word, form)
        )

    def _find_beginning(self, word: str) -> str:
        return "" if self._language in _CUTS_BEGINNINGS else word[:_COMPARED_LETTERS]

    def _matches(self, word: str, form: _Form) -> bool:
        if word.startswith(form.word):
            return word == form.word or len(form.word) >= _SHORTEST_BEGINNING
        return stem_word(word, self._language) == form.stem


@lru_cache(maxsize=_MOST_CACHED)
def stem_word(word: str, language: str) -> str:
    """Return the stem of a word that is normalized as in the full-text index."""
    with _STEMMING:
        return str(_build_stemmer(language).stemWord(word))


@cache
def _build_stemmer(language: str) -> "BaseStemmer":
    import snowballstemmer

    return snowballstemmer.stemmer(language)


def _choose_language(text: str) -> str:
    scripts = (language for script, language in _SCRIPTS if script.search(text))
    return next(scripts, "") or find_language(text)
