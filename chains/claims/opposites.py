"""Find words of an answer that a source has another one for: another day, order, unit or name.

A sentence of the answer is compared with one of a source that has the same words but for one. Only
words of one kind are compared, such as two weekdays or "rise" and "fall", so that another wording
is never taken for another meaning.

The words of each language are data, in `resources/opposites`. Each file has rows of words, such as
`relation.time`, and each row has sides, such as `before` and `after`. The words of one side mean
the same, in all languages. Two words contradict each other if they are on different sides of a row,
and on the same side of no other one. The first part of a row's name is its kind. A relation has two
sides: if A is before B, B is after A. A denied duty is the same as a denied right. Beside the words
in `same`, the sides of a row may mean the same: what may weigh at most 5 kg must weigh at most 5
kg. The days of the week are those of `vault.notes`.
"""

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, get_args

from chains.citations.answer_sources import Source
from chains.citations.sources import count_negations
from chains.claims.differences import AlignedSentence
from chains.claims.evidence import CheckEffort, EvidenceText, list_plain_words
from chains.claims.facts import AnswerSentence
from resources import read_text
from vault.notes.dates import find_weekday
from vault.notes.keywords import FUNCTION_WORDS, fold, split_words
from vault.notes.text.markup import remove_markup

__all__ = ["OtherWord", "find_other_name", "find_other_word"]

_ToldKind = Literal["figure", "date", "negation"]
_Kind = Literal["figure", "date", "negation", "relation", "duty"]
_Row = tuple[_Kind, str]
_NameKind = Literal["titles", "articles", "joins"]
_LANGUAGES: Final = ("en", "de", "fr", "es")
_ORDINAL: Final = re.compile(r"(\d{1,4})(?:st|nd|rd|th|e|er|ere|eme)")
_ORDER: Final[_Row] = ("figure", "order")
_WEEKDAY: Final[_Row] = ("date", "weekday")
_CAPITAL: Final = re.compile(r"[^\W\d_a-zà-ÿ][^\W\d_]+")
_LETTERS_OF_ONE: Final = 3  # of the beginning of a name in two languages, such as Munich
_MOST_BEFORE: Final = 12
_EFFORT_OF_SAME: Final = 10
_MOST_NAMES: Final = 3
_MOST_BESIDE: Final = 8
_MOST_ADDED: Final = 4  # words of a sentence that goes on, as in "So was the second."
_LEAST_SHARED: Final = 3


@dataclass(frozen=True)
class OtherWord:
    """A word of an answer, and the one that a source has in its place.

    Attributes:
        kind: what the word tells.
        start: the offset of the word in the answer.
        text: the word as the answer writes it.
        written: the word of the source.
        is_certain: whether both words are surely of one kind.
    """

    kind: Literal["figure", "date", "negation", "name"]
    start: int
    text: str
    written: str
    place: Source
    is_certain: bool = True


@dataclass(frozen=True)
class _NearlySame:
    """A sentence of a source that has the words of one of an answer but for a few.

    Attributes:
        source_sentence: the sentence of the source.
        words: the words of the source's sentence.
        own: the words that only the answer has.
        others: the words that only the source has.
        added: the words of a short sentence behind it, as in "So was the second.".
    """

    source_sentence: AlignedSentence
    words: Sequence[str]
    own: tuple[str, ...]
    others: tuple[str, ...]
    added: Sequence[str] = ()

    def says(self, sentence: AnswerSentence) -> bool:
        """Return whether it has all words of a sentence, such as "also", and denies no more."""
        if self.own:
            return False
        denied = map(count_negations, (sentence.masked, self.source_sentence.written))
        return not self.others or len(set(denied)) == 1


def find_other_word(
    sentence: AnswerSentence, texts: Sequence[EvidenceText], effort: CheckEffort
) -> OtherWord | None:
    """Return the word of a sentence in whose place a source has another one of its kind.

    Nothing is returned if any source has the sentence as the answer says it.

    Args:
        sentence: a sentence of the answer.
        texts: all that was sent.
        effort: counts the comparisons.
    """
    words = list_plain_words(remove_markup(sentence.masked))
    known = {word for word in words if _is_known_word(word)}
    found: OtherWord | None = None
    for each in _list_nearly_same(words, known, texts, effort):
        if each.says(sentence):
            return None
        if found is None and (kind := _find_contradiction(sentence, words, each)) is not None:
            start = _locate(sentence, each.own[0])
            if start is not None:
                text = sentence.text[start : start + _measure_word(sentence, start)]
                written = _read_word(each.source_sentence.written, each.others[0])
                found = OtherWord(
                    kind, sentence.start + start, text, written, each.source_sentence.place
                )
    return found


def _find_contradiction(
    sentence: AnswerSentence, words: Sequence[str], each: _NearlySame
) -> _ToldKind | None:
    """Return what two words tell that contradict each other, or None."""
    if not len(each.own) == len(each.others) == 1:
        return None
    own, other = each.own[0], each.others[0]
    row = _find_row(own, other)
    if row is None or own in each.added or _may_be_same(row, words):
        return None
    kind = row[0]
    if kind == "relation":
        # As in "less sand than gravel" and "more gravel than sand".
        is_turned = _blank(own, words) != _blank(other, each.words)
        # What is not larger need not be smaller.
        is_denied = count_negations(sentence.masked[: _locate(sentence, own)]) > 0
        return None if is_turned or is_denied else "negation"
    if kind == "duty":
        return None if count_negations(sentence.masked) else "negation"
    return kind


def _blank(word: str, words: Sequence[str]) -> list[str]:
    """Return words with an empty one in the place of a word."""
    return ["" if each == word else each for each in words]


def find_other_name(
    sentence: AnswerSentence, texts: Sequence[EvidenceText], effort: CheckEffort
) -> OtherWord | None:
    """Return the name in a sentence in whose place a source has another name.

    Nothing is returned if any source has the sentence as the answer says it, or if both names may
    be of one thing.

    Args:
        sentence: a sentence of the answer.
        texts: all that was sent.
        effort: counts the comparisons.
    """
    found: OtherWord | None = None
    words = list_plain_words(remove_markup(sentence.masked))
    capitals = _CAPITAL.finditer(remove_markup(sentence.masked))
    names = {fold(match[0]) for match in capitals}
    compared: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()
    for each in _list_nearly_same(words, names, texts, effort):
        own, others = each.own, each.others
        if each.says(sentence):
            return None
        is_long = len(each.words) - len(others) >= _LEAST_SHARED
        if not (own and others and is_long) or found is not None or (own, others) in compared:
            continue
        compared.add((own, others))
        if set(own).issubset(each.added):
            continue
        if len(own) == 1 and sentence.is_german:  # any noun has a capital letter
            continue
        name = _find_name(sentence.masked, own)
        other = _find_name(each.source_sentence.written, others)
        if name and other and _are_names((*own, *others), texts):
            if _are_one(own, others, texts, effort):
                continue
            start = sentence.start + sentence.masked.find(name)
            is_certain = _is_inside(sentence.masked, name) or len(own) > 1
            found = OtherWord("name", start, name, other, each.source_sentence.place, is_certain)
    return found


def _list_nearly_same(
    own: Sequence[str], left_out: Set[str], texts: Sequence[EvidenceText], effort: CheckEffort
) -> Iterator[_NearlySame]:
    """Yield the sentences of texts that have all words of a sentence but for some."""
    counts = Counter(own)
    rest = Counter(word for word in own if word not in left_out)
    if rest.total() in (0, len(own)) or rest.total() < _LEAST_SHARED:
        return
    longest = max(rest, key=len)  # which is in few texts
    for text in texts:
        effort.spend(1)
        folded = text.index.folded
        if longest not in folded or not all(word in folded for word in rest):
            continue
        sentences, last = text.index.sentences, -1
        for number in text.index.list_with_all(rest):
            effort.spend(number - last)  # as if each sentence before it were compared
            last = number
            if effort.is_spent:
                return
            source_sentence, words = sentences[number]
            is_near = len(words) <= len(own) + _MOST_BESIDE
            if is_near and not rest - (others := Counter(words)):
                only, other = (counts - others).elements(), (others - counts).elements()
                aligned = AlignedSentence(text, source_sentence, (), ())
                added = sentences[number + 1][1] if number + 1 < len(sentences) else ()
                added = added if len(added) <= _MOST_ADDED else ()
                yield _NearlySame(aligned, words, tuple(only), tuple(other), added)
                effort.spend(_EFFORT_OF_SAME)
        effort.spend(len(sentences) - 1 - last)
        if effort.is_spent:
            return


def _locate(sentence: AnswerSentence, word: str) -> int | None:
    """Return the offset of a normalized word in a sentence."""
    matches = re.finditer(r"\w+", sentence.masked)
    return next((match.start() for match in matches if fold(match[0]) == word), None)


def _read_word(text: str, word: str) -> str:
    """Return a normalized word as a text writes it."""
    matches = re.finditer(r"\w+", text)
    return next((match[0] for match in matches if fold(match[0]) == word), word)


def _measure_word(sentence: AnswerSentence, start: int) -> int:
    match = re.compile(r"\w+").match(sentence.masked, start)
    return len(match[0]) if match else 0


def _find_name(text: str, words: Sequence[str]) -> str:
    """Return the name that some words are in a text, or an empty string if they are none.

    What has an article, as in "the council", may have another name too. So may one with a title.
    """
    if len(words) > _MOST_NAMES or any(
        word in FUNCTION_WORDS or word in _list_name_words("titles") for word in words
    ):
        return ""
    found = [match for match in _CAPITAL.finditer(text) if fold(match[0]) in words]
    if sorted(fold(match[0]) for match in found) != sorted(words):
        return ""
    before = split_words(text[max(0, found[0].start() - _MOST_BEFORE) : found[0].start()])
    if before and before[-1] in _list_name_words("articles"):
        return ""
    name = text[found[0].start() : found[-1].end()]
    return name if len(name.split()) == len(words) else ""


def _are_one(
    own: Sequence[str], others: Sequence[str], texts: Sequence[EvidenceText], effort: CheckEffort
) -> bool:
    """Return whether two names may be of one thing: first and last name, or an abbreviation.

    They may be if a sentence has both, as in "Vienna is the capital of Austria", and does not list
    them.
    """
    short, long = sorted((own, others), key=len)
    initials = "".join(word[0] for word in long)
    if len(short) == 1 and (short[0] == initials or long[0].startswith(short[0])):
        return True
    if len(short) == len(long) == 1 and short[0][:_LETTERS_OF_ONE] == long[0][:_LETTERS_OF_ONE]:
        return True
    both = {*own, *others}
    for text in texts:
        if not both <= text.index.tokens:
            continue
        effort.spend(len(text.index.sentences))
        if any(_is_of_both(own, others, words) for _said, words in text.index.sentences):
            return True
    pairs = [f"{one} {other}" for one in own for other in others]
    pairs += [f"{other} {one}" for one in own for other in others]
    pairs += [f"{long[-1]} ({short[0]}"]
    effort.spend(len(texts) * len(pairs))
    return any(pair in text.index.folded for pair in pairs for text in texts)


def _is_of_both(own: Sequence[str], others: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether a sentence has two names, and does not list them."""
    if own[-1] not in words or others[-1] not in words:
        return False
    first, last = sorted((words.index(own[-1]), words.index(others[-1])))
    return _list_name_words("joins").isdisjoint(words[first:last])


def _are_names(names: Sequence[str], texts: Sequence[EvidenceText]) -> bool:
    """Return whether all words were sent, and are written with a capital letter everywhere."""
    for word in names:
        is_sent = any(word in text.index.tokens for text in texts)
        if not is_sent or any(word in text.index.small_words for text in texts):
            return False
    return True


def _is_inside(text: str, name: str) -> bool:
    """Return whether a name stands within a sentence, where other words have small letters."""
    before = text[: text.find(name)].rstrip()
    return bool(before) and (before[-1].isalnum() or before[-1] in ",;")


def _is_known_word(word: str) -> bool:
    """Return whether a normalized word may contradict another one."""
    return bool(_find_sides(word))


def _find_row(word: str, other: str) -> _Row | None:
    """Return the row in which two normalized words contradict each other, or None."""
    own, others = _find_sides(word), _find_sides(other)
    if _ORDER in own and _ORDER in others:
        return _ORDER if own[_ORDER] != others[_ORDER] else None
    common = [row for row in own if row in others]
    if not common or any(own[row] == others[row] for row in common):
        return None
    return common[0]


def _may_be_same(row: _Row, words: Sequence[str]) -> bool:
    """Return whether the sides of a row may mean the same beside some normalized words."""
    padded_text = f" {' '.join(words)} "
    name = ".".join(row)
    phrases = (each for table in _read_tables() for each in table.get("same", {}).get(name, ()))
    return any(f" {phrase} " in padded_text for phrase in phrases)


@cache
def _list_name_words(kind: _NameKind) -> frozenset[str]:
    """Return the words of all languages that are beside names: titles, articles or "and"."""
    return frozenset(word for table in _read_tables() for word in table["names"][kind])


def _find_sides(word: str) -> Mapping[_Row, str]:
    """Return the side of each row that a word is in."""
    if match := _ORDINAL.fullmatch(word):
        return {_ORDER: match[1].lstrip("0")}
    day = find_weekday(word)
    known = _read_sides().get(word, {})
    return known if day is None else {_WEEKDAY: str(day), **known}


@cache
def _read_sides() -> Mapping[str, Mapping[_Row, str]]:
    found: dict[str, dict[_Row, str]] = defaultdict(dict)
    for table in _read_tables():
        for kind in get_args(_Kind):
            for name, sides in table.get(kind, {}).items():
                for side, words in sides.items():
                    for word in words:
                        found[word][kind, name] = side
    return dict(found)


@cache
def _read_tables() -> tuple[Mapping[str, Any], ...]:
    """Read the words of each language, which are normalized as one text: that is much faster."""
    texts = (read_text(f"opposites/{name}.toml") for name in _LANGUAGES)
    return tuple(tomllib.loads(fold(text)) for text in texts)
