"""Split texts into the words by which quotations are found, in all scripts.

Words are compared without case, accents, vowel points and invisible characters. Scripts that are
written without blanks have a word for each character, or for each letter with its marks.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Final, NamedTuple

LEAST_WORD_CHARS: Final = 4
LEAST_CONSONANTS: Final = 3
LEAST_VALUE_CHARS: Final = 3
LEAST_JOINED_CHARS: Final = 8
GRAM: Final = 3
GRAM_OF_LETTERS: Final = 6  # three letters in a row are in any longer note
RUN: Final = 5
RUN_OF_CHARACTERS: Final = 7
RUN_OF_LETTERS: Final = 10
_WEIGHT_OF_WORD: Final = 10
_WEIGHT_OF_CHARACTER: Final = 4
_WEIGHT_OF_LETTER: Final = 3
_WEIGHT_OF_TONED: Final = 8
_WEIGHT_OF_FILLER: Final = 2
REMEMBERED_WORDS: Final = 20_000

_CHARACTERS: Final = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# Thai, Lao, Tibetan, Myanmar, Khmer, Tai and Javanese, whose words are not set apart by blanks.
_LETTERS: Final = (
    r"\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u1b00-\u1b7f\ua980-\ua9ff"
    r"\uaa60-\uaadf"
)
_NAME: Final = re.compile(r"[^\W_]_+[^\W_]|[^\W\d_A-Z][A-Z]")
_LETTER: Final = re.compile(f"[{_LETTERS}]")
_CHARACTER: Final = re.compile(f"[{_CHARACTERS}]")
_FIRST_LETTER: Final = "\u0e00"
_CONSONANT: Final = re.compile(r"[\u0590-\u08ff]")  # of scripts that write few vowels
_TONED: Final = re.compile("[\u1ea0-\u1ef9ơưđƠƯĐ]")  # of Vietnamese, whose words are syllables
_SYLLABLE: Final = re.compile(r"[\u1200-\u139f\u1400-\u167f\u3040-\U0003ffff]")
_LAST_PLAIN_MARK: Final = 9  # marks of higher combining classes are accents and vowel points
_TATWEEL: Final = "\u0640"  # only makes an Arabic word longer


class QuotableWord(NamedTuple):
    """A word of a text.

    Attributes:
        key: the word without case and accents.
        text: the word as it is written.
        start: the index of its first character.
        end: the index after its last character.
    """

    key: str
    text: str
    start: int
    end: int

    @property
    def is_value(self) -> bool:
        """Whether the word alone says something, such as a code, a year or a `snake_case` name."""
        if self.has_figure:
            return len(self.text) >= LEAST_VALUE_CHARS
        return _NAME.search(self.text) is not None

    @property
    def has_figure(self) -> bool:
        """Whether the word has a digit."""
        return any(map(str.isdigit, self.text))

    @property
    def is_name(self) -> bool:
        """Whether the word may be a part of a name."""
        return self.text[0].isupper() and len(self.text) > 1

    @property
    def gram(self) -> int:
        """The number of words from here on that are compared at once."""
        return GRAM_OF_LETTERS if self._is_letter else GRAM

    @property
    def run(self) -> int:
        """The number of words from here on that may tell of which note they are."""
        if self._is_letter:
            return RUN_OF_LETTERS
        return RUN_OF_CHARACTERS if _CHARACTER.match(self.key) else RUN

    @property
    def weight(self) -> int:
        """How much the word says. Three long words in a row are a quotation."""
        if self._is_letter:
            return _WEIGHT_OF_LETTER
        least_chars = LEAST_CONSONANTS if _CONSONANT.match(self.key) else LEAST_WORD_CHARS
        if len(self.key) >= least_chars or self.is_value:
            return _WEIGHT_OF_WORD
        if _TONED.search(unicodedata.normalize("NFC", self.text)):
            return _WEIGHT_OF_TONED
        is_dense = _SYLLABLE.match(self.key) is not None
        return _WEIGHT_OF_CHARACTER * len(self.key) if is_dense else _WEIGHT_OF_FILLER

    @property
    def _is_letter(self) -> bool:
        return self.key >= _FIRST_LETTER and _LETTER.match(self.key) is not None


def split_quotable(text: str) -> list[QuotableWord]:
    """Split a text into the words of which quotations consist."""
    return [
        QuotableWord(_fold(found[1]), found[1], found.start(1), found.end(1))
        for found in _make_token().finditer(text)
        if found[1]
    ]


def split_name(name: str) -> Iterator[tuple[str, ...]]:
    """Yield the keys of each word of a name, such as a tag. Characters in a row are one word."""
    keys: list[str] = []
    end = -1
    for word in split_quotable(name):
        if keys and word.start != end:
            yield tuple(keys)
            keys = []
        keys.append(word.key)
        end = word.end
    if keys:
        yield tuple(keys)


def join_figures(words: Sequence[QuotableWord]) -> Iterator[QuotableWord]:
    """Yield each long number that is written in groups, such as `DE89 3704 0044`, as one word."""
    group: list[QuotableWord] = []
    for word in words:
        if group and not (word.has_figure and word.start - group[-1].end <= 1):
            yield from _join(group)
            group = []
        if word.has_figure:
            group.append(word)
    yield from _join(group)


def _join(group: Sequence[QuotableWord]) -> Iterator[QuotableWord]:
    key = "".join(word.key for word in group)
    if len(group) > 1 and len(key) >= LEAST_JOINED_CHARS:
        yield QuotableWord(key, key, group[0].start, group[-1].end)


@cache
def _make_token() -> re.Pattern[str]:
    """Return what matches a word. It is made on first use, because it knows all marks of Unicode.

    An escaped line break, as in JSON, is no part of the word behind it. Nor are underscores around
    a word, which emphasise it.
    """
    single = f"{_CHARACTERS}{_LETTERS}"
    marks, letters = f"[{_list_marks()}]", rf"[^\W_{single}]"
    word = f"{letters}+(?:{marks}++{letters}*)*"
    return re.compile(rf"\\[nrt]|((?=\w)[{single}]{marks}*|{word}(?:_+{word})*)")


def _list_marks() -> str:
    """Return the ranges of all marks and invisible characters, as in a class of a pattern."""
    ranges: list[list[int]] = []
    for code in (0xAD, *range(0x300, 0x20000), *range(0xE0000, 0xE0200)):
        if not _is_mark(chr(code)):
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


def _is_mark(character: str) -> bool:
    category = unicodedata.category(character)
    return category == "Cf" or category.startswith("M")


def _fold(word: str) -> str:
    return word.lower() if word.isascii() else _fold_marked(word)


@lru_cache(maxsize=REMEMBERED_WORDS)
def _fold_marked(word: str) -> str:
    """Return a word without case, accents, vowel points and invisible characters."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", word).casefold())
    kept = "".join(filter(_is_kept, folded))
    return unicodedata.normalize("NFC", kept) or word


def _is_kept(character: str) -> bool:
    if character == _TATWEEL or unicodedata.category(character) == "Cf":
        return False
    return unicodedata.combining(character) <= _LAST_PLAIN_MARK
