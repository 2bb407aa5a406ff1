"""Correct the spelling of a query, using the words in the notes.

A word that does not occur in any note is replaced with the most frequent similar word. Common
English words are not replaced.

"Oel" and "Öl" are two spellings of a word, one for keyboards without umlauts. Where the notes only
have the other one, it is searched. A German verb is joined with its particle, which stands apart in
most questions: in "Wann fängt die Probe an?" the verb is "anfangen".
"""

import re
from collections.abc import Iterator
from itertools import islice, product
from typing import Final
from unicodedata import normalize

from vault.catalog import Catalog
from vault.embedding.models import is_common_word
from vault.notes.irregular_words import PARTICLES, join_verb
from vault.notes.keywords import FUNCTION_WORDS, build_query_terms, find_language, fold

__all__ = ["correct_spelling", "join_separated", "measure_edits", "write_as_in_notes"]

SHORTEST_WORD: Final = 4
LONGEST_WORD: Final = 24
MOST_CORRECTED: Final = 5
LONGEST_ENDING: Final = 3
LONG_WORD: Final = 10
MOST_UMLAUTS: Final = 4
MOST_WORDS: Final = 40
MOST_STEMS: Final = 12
MOST_TERMS: Final = 20_000
MOST_LOOKED_AT: Final = 24
_WORD: Final = re.compile(r"[^\W\d_]+")
_FILTER: Final = re.compile(r"\S:\S|[\"“”]")
# Letters that may stand for an umlaut. In "neue", "Bauer" and "Quelle" they do not.
_DIGRAPH: Final = re.compile(r"(ae|(?<![aeo])oe|(?<![aeoq])ue)", re.IGNORECASE)
_UMLAUTS: Final = str.maketrans("aouAOU", "äöüÄÖÜ")
_SPELLED: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})


def correct_spelling(catalog: Catalog, query: str) -> str:
    """Replace unknown words of a query with similar words from the notes.

    Words in quotation marks and queries with filters are not changed.
    """
    if _FILTER.search(query):
        return query
    found = {word for word in _WORD.findall(query) if _may_be_wrong(word)}
    unknown = sorted(word for word in found if not _is_known(catalog, word))[:MOST_CORRECTED]
    nearest = {
        word: near
        for word in unknown
        if (near := _find_nearest(catalog, fold(word))) and not _is_other_word(fold(word), near)
    }
    return _WORD.sub(lambda match: nearest.get(match.group(), match.group()), query)


def write_as_in_notes(catalog: Catalog, query: str) -> str:
    """Replace words that only occur with other umlauts in the notes, as "Oel" where they say "Öl".

    Words in quotation marks and queries with filters are not changed.
    """
    if _FILTER.search(query):
        return query
    written = {word: _find_written(catalog, word) for word in _list_with_umlauts(query)}
    return _WORD.sub(lambda match: written.get(match.group()) or match.group(), query)


def _list_with_umlauts(query: str) -> list[str]:
    """Return the first words of a query that can be written with other umlauts."""
    words = dict.fromkeys(normalize("NFC", word) for word in _WORD.findall(query))
    return [word for word in words if next(_respell(word), None)][:MOST_CORRECTED]


def _respell(word: str) -> Iterator[str]:
    """Yield the other spellings of a word."""
    if (spelled := word.translate(_SPELLED)) != word:
        yield spelled
    parts = _DIGRAPH.split(word)
    if 1 < len(parts) <= 2 * MOST_UMLAUTS + 1:
        ways = (
            (part, part[0].translate(_UMLAUTS)) if at % 2 else (part,)
            for at, part in enumerate(parts)
        )
        yield from islice(map("".join, product(*ways)), 1, None)


def _find_written(catalog: Catalog, word: str) -> str:
    """Return how the notes write a word that they do not have as it is, or an empty string."""
    if len(word) > LONGEST_WORD or _is_known(catalog, word):
        return ""
    if word.islower() and is_common_word(word):  # as "poet", but not "Mueller"
        return ""
    return next((other for other in _respell(word) if _is_known(catalog, other)), "")


def join_separated(text: str) -> str:
    """Write a verb with its particle, if a German question ends with one.

    The particle stays where it is, so that the words keep their places.
    """
    words = list(islice(_WORD.finditer(text), MOST_WORDS))
    if not words or fold(words[-1][0]) not in PARTICLES or text[words[-1].end() :].strip(" ?.!"):
        return text
    if find_language(text) != "german":
        return text
    particle = fold(words[-1][0])
    for word in words[:-1]:
        if joined := _join(word, particle, is_first=word is words[0]):
            return f"{text[: word.start()]}{joined}{text[word.end() :]}"
    return text


def _join(word: re.Match[str], particle: str, *, is_first: bool) -> str:
    """Join a word with a particle, or return an empty string if it is no verb."""
    is_noun = word[0][0].isupper() and not is_first
    folded = fold(word[0])
    return "" if is_noun or folded in FUNCTION_WORDS else join_verb(folded, particle)


def _may_be_wrong(word: str) -> bool:
    is_latin = fold(word).isascii()
    return (
        is_latin and SHORTEST_WORD <= len(word) <= LONGEST_WORD and fold(word) not in FUNCTION_WORDS
    )


def _is_other_word(word: str, found: str) -> bool:
    """Return whether a word is too common to be a misspelling of `found`.

    A longer form of `found`, such as its plural, can still be replaced.
    """
    return not word.startswith(found) and is_common_word(word)


def _is_known(catalog: Catalog, word: str) -> bool:
    terms = build_query_terms(word)
    rows = catalog.rows("SELECT 1 FROM words WHERE words MATCH ? LIMIT 1", (" ".join(terms),))
    return bool(rows)


def _find_nearest(catalog: Catalog, word: str) -> str:
    """Return the most frequent similar word in the notes, or an empty string if there is none.

    The index contains only stems, so stems are compared before whole words.
    """
    rows = catalog.rows(
        "SELECT term, doc FROM vocabulary WHERE term >= ? AND term < ? LIMIT ?",
        (word[0], chr(ord(word[0]) + 1), MOST_TERMS),
    )
    near = [(-int(count), str(term)) for term, count in rows if _may_be_near(word, str(term))]
    for _, stem in sorted(near)[:MOST_STEMS]:
        if found := _complete(catalog, stem, word):
            return found
    return ""


def _may_be_near(word: str, stem: str) -> bool:
    """Return whether a stem may belong to a misspelled word."""
    most = _count_most_edits(word)
    word, stem = word.replace("y", "i"), stem.replace("y", "i")  # as at the end of stems
    if not len(word) - LONGEST_ENDING - most <= len(stem) <= len(word) + most:
        return False
    if len(set(stem) - set(word)) > most:
        return False
    ends = range(max(len(stem) - most, len(word) - LONGEST_ENDING), len(word) + 1)
    return any(measure_edits(word[:end], stem) <= most for end in ends)


def _count_most_edits(word: str) -> int:
    return 2 if len(word) >= LONG_WORD else 1


def _complete(catalog: Catalog, stem: str, word: str) -> str:
    """Return the word that is most similar to a misspelled word, among words with a given stem.

    The words are taken from the notes. If none is similar enough, return an empty string.

    Args:
        catalog: the catalog with the texts of the notes.
        stem: the stem in the full-text index.
        word: the misspelled word of the query.
    """
    rows = catalog.rows(
        "SELECT text, context, heading FROM chunks WHERE id IN"
        " (SELECT rowid FROM words WHERE words MATCH ? LIMIT ?)",
        (f'"{stem}"*', MOST_LOOKED_AT),  # a stem can be stemmed once more
    )
    texts = (fold(" ".join(map(str, row))) for row in rows)
    words = {found for text in texts for found in _WORD.findall(text) if found[:2] == stem[:2]}
    near = [found for found in words if _is_slip(word, found)]
    return min(near, key=lambda found: (measure_edits(word, found), found), default="")


def _is_slip(word: str, found: str) -> bool:
    """Return whether two words are so similar that one may be a misspelling of the other.

    In a short word, only a swap of two adjacent letters counts as a typing error.
    """
    if len(word) <= SHORTEST_WORD:
        return sorted(word) == sorted(found) and measure_edits(word, found) == 1
    return measure_edits(word, found) <= _count_most_edits(word)


def measure_edits(one: str, other: str) -> int:
    """Return the edit distance of two words.

    Edits are insertions, deletions, replacements and swaps of adjacent letters.
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        older, before, row = before, row, [at]
        for to, wanted in enumerate(other, 1):
            cost = min(before[to] + 1, row[to - 1] + 1, before[to - 1] + (letter != wanted))
            is_swap = at > 1 and to > 1 and letter == other[to - 2] and one[at - 2] == wanted
            row.append(min(cost, older[to - 2] + 1) if is_swap else cost)
    return row[-1]
