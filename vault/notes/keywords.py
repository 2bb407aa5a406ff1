"""Convert notes and queries to words for the full-text index.

Case, accents and compatibility forms are normalized. Text in scripts without spaces is split into
pairs of adjacent letters, followed by the last letter alone, so that words of one letter are found
too. An emoji becomes a word of its own, because the full-text index drops symbols. The full-text
index itself does the stemming and ranking.
"""

import posixpath
import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import chain, pairwise
from typing import Final

from vault.notes.irregular_words import list_other_forms

WORDS_VERSION = "7"
TOKENIZER = "porter unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc'"

_MAX_QUERY_CHARS = 20_000
_MAX_TERMS = 128
WORD: Final = re.compile(r"[^\W_]+")

# Marks that users often omit or type differently: accents, Hebrew points, Arabic vowel signs.
_FOLDED_MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]"
)
# Letters that are no letter with a mark, each with how it is written on other keyboards.
_PLAIN_LETTERS: Final = dict(
    zip("æœøłđðþı", ("ae", "oe", "o", "l", "d", "d", "th", "i"), strict=True)
)
# Thai, Lao, Tibetan, Burmese, Khmer, kana, Han; also Hangul, whose words include particles.
UNSPACED: Final = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)

# A flag or an emoji, with the signs that only change how it looks, such as a skin tone.
_EMOJI: Final = re.compile(
    "([\U0001f1e6-\U0001f1ff]{2}|[\u231a-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f3fa"
    "\U0001f400-\U0001faff])[\ufe0e\ufe0f\u200d\U0001f3fb-\U0001f3ff]*"
)

# The planes of Unicode that contain combining marks. The others hold ideographs and private use.
MARKED_PLANES: Final = (range(0x20000), range(0xE0000, 0xF0000))


def index_text(text: str) -> str:
    """Convert a text to the form stored in the full-text index."""
    folded = fold(text)
    return folded if folded.isascii() else UNSPACED.sub(_write_bigrams, _spell_emoji(folded))


def split_words(text: str) -> list[str]:
    """Return the words of a text in order, normalized as in the full-text index."""
    return WORD.findall(index_text(text))


def list_note_names(path: str, title: str, aliases: Sequence[str]) -> list[str]:
    """Return the distinct names of a note: its title, file name without suffix, and aliases."""
    stem = posixpath.splitext(posixpath.basename(path))[0]
    return list(dict.fromkeys([title, stem, *aliases]))


def build_note_words(names: Sequence[str], texts: Sequence[str]) -> tuple[str, str]:
    """Return the names and the text of a note, as stored in the full-text index of whole notes.

    Args:
        names: the names of the note.
        texts: the texts of its passages.
    """
    return index_text(" ".join(names)), index_text("\n".join(texts))


def fold(text: str) -> str:
    """Normalize a text for comparison, ignoring case, accents and compatibility forms.

    Letters such as "œ" and "ł" become those that are typed where a keyboard lacks them.
    """
    if text.isascii():
        return text.replace("\0", " ").lower()
    encodable = text.encode("utf-8", "replace").decode("utf-8")
    apart = unicodedata.normalize("NFKD", encodable.replace("\0", " "))
    folded = unicodedata.normalize("NFC", _FOLDED_MARKS.sub("", apart)).casefold()
    if not folded.isascii():
        for letter, plain in _PLAIN_LETTERS.items():  # many times faster than `translate`
            folded = folded.replace(letter, plain)
    return folded


def build_query_terms(query: str) -> tuple[str, ...]:
    """Split a text into distinct search terms, each a quoted FTS5 expression.

    The number of terms and the processing time are limited, even for very long texts.
    """
    terms: dict[str, None] = {}
    for match in _build_token_pattern().finditer(_spell_emoji(fold(query[:_MAX_QUERY_CHARS]))):
        for term in _build_terms(match.group()):
            terms.setdefault(term)
        if len(terms) >= _MAX_TERMS:
            break
    return tuple(terms)[:_MAX_TERMS]


def match_any(terms: Sequence[str]) -> str:
    """Build an FTS5 expression that matches any of the terms."""
    return " OR ".join(terms)


def match_any_form(term: str) -> str:
    """Build an FTS5 expression that matches a term or an irregular form of it.

    Args:
        term: one of the terms that `build_query_terms` returned.
    """
    forms = sorted(list_other_forms(term.strip('"')))
    return f"({match_any([term, *_quote(*forms)])})" if forms else term


def match_all(terms: Sequence[str]) -> str:
    """Build an FTS5 expression that matches all of the terms."""
    return " AND ".join(terms)


def match_phrase(words: str) -> str:
    """Build an FTS5 expression that matches words only if they are adjacent and in this order."""
    return '"' + " ".join(WORD.findall(index_text(words))) + '"'


def match_measure(measure: tuple[str, str]) -> str:
    """Build an FTS5 expression that matches a number with its unit, with or without a space.

    Args:
        measure: the number and the unit, as `find_measures` in `vault.notes.units` returns them.
    """
    number, unit = measure
    return f"({match_any([match_phrase(f'{number}{unit}'), match_phrase(f'{number} {unit}')])})"


def measure_latin_share(text: str) -> float:
    """Return the fraction of letters that are Latin, or 1.0 if the text has no letters."""
    letters = [char for char in text[:2000] if char.isalpha()]
    latin = sum(char.isascii() or "LATIN" in unicodedata.name(char, "") for char in letters)
    return latin / len(letters) if letters else 1.0


def _spell_emoji(text: str) -> str:
    """Replace each emoji with a word. The word ends with digits, so that no stemmer changes it."""
    return _EMOJI.sub(lambda match: f" emoji{''.join(str(ord(c)) for c in match[1])} ", text)


def _build_terms(token: str) -> list[str]:
    terms, at = [], 0
    for run in UNSPACED.finditer(token):
        terms += _quote(token[at : run.start()])
        letters = run.group()
        at = run.end()
        # A single letter begins a bigram or ends a run wherever it occurs.
        terms += [f'"{letters}"*'] if len(letters) == 1 else _quote(*_pair_letters(letters))
    return terms + _quote(token[at:])


def _quote(*words: str) -> list[str]:
    return [f'"{word}"' for word in words if word]


def _pair_letters(letters: str) -> list[str]:
    return [a + b for a, b in pairwise(letters)]


def _write_bigrams(run: re.Match[str]) -> str:
    letters = run.group()
    return f" {' '.join([*_pair_letters(letters), letters[-1]])} "


@cache
def _build_token_pattern() -> re.Pattern[str]:
    """Build a regular expression for index words: letters, digits and combining marks."""
    numbers = chain(*MARKED_PLANES)
    marks = "".join(c for c in map(chr, numbers) if unicodedata.category(c) in {"Mn", "Mc"})
    return re.compile(f"(?:[^\\W_]|[{marks}])+")


# Function words of languages in which many are long; in others they are recognised by frequency.
_ENGLISH: Final = """
    a an and anybody anyone are at be by can could did do does for from give had has have how i if
    in is it its many me much my of on or please should show somebody someone tell that the their
    there they this to was we were what when where which who whose why will with would you your
"""
_GERMAN: Final = """
    ab als am an auf aus bei das dem den der des die du ein eine einem einen einer es fur gibt hat
    ich im in irgendjemand ist jemand jemandem jemanden kann man mein meine mit nach oder sich sie
    sind soll um und von vor wann warum was welche welcher wer wie wird wo worin zu zum zur
"""
_FRENCH: Final = """
    au aux avec ce ces comment dans de du elle en est et il je la le les leur ma mes mon on ou par
    pour pourquoi quand que quel quelle quelles quelqu quels quoi qui sa se ses son sont sur un une
    vous
"""
_SPANISH: Final = """
    alguien como con cual cuales cuando del donde el ella en es esta este hay la las lo los mi mis
    para pero por porque que quien se son su sus un una unas unos y
"""
_ITALIAN: Final = """
    che chi ci come con cosa da dei della delle di dove e gli i il io la le mi mia mio nel nella
    non o per perche quale quali quando quanto si sono sul un una
"""
_BY_LANGUAGE: Final = {
    language: frozenset(words.split())
    for language, words in (
        ("english", _ENGLISH),
        ("german", _GERMAN),
        ("french", _FRENCH),
        ("spanish", _SPANISH),
        ("italian", _ITALIAN),
    )
}
FUNCTION_WORDS: Final = frozenset().union(*_BY_LANGUAGE.values())


def find_function_words(text: str) -> frozenset[str]:
    """Return the function words of a text's language, normalized as by `fold`."""
    return _BY_LANGUAGE[find_language(text)]


def find_language(text: str) -> str:
    """Return the language of a text, such as "english".

    It is the one whose function words are most frequent in the text. In case of a tie, English is
    preferred, then German, French, Spanish and Italian.
    """
    words = WORD.findall(fold(text[:_MAX_QUERY_CHARS]))
    return max(
        _BY_LANGUAGE, key=lambda language: sum(word in _BY_LANGUAGE[language] for word in words)
    )
