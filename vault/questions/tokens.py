"""Split a question into items: phrases with a role, names of the vault, dates and other words."""

import calendar
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import SequenceMatcher
from functools import cache
from typing import Final

from vault.notes.amounts import CURRENCIES, parse_amount
from vault.notes.date_spans import Span
from vault.notes.dates import find_date_spans, find_month, remove_dates
from vault.notes.keywords import fold
from vault.notes.text.inline import TAG_OF_WORDS
from vault.notes.units import can_convert, is_known_unit, is_measured
from vault.questions.function_words import WEAK_ROLES, can_be_name
from vault.questions.vocabulary import Name, VaultNames
from vault.questions.words import (
    Phrase,
    Word,
    find_languages,
    find_phrases,
    list_date_words,
    list_named_states,
    list_property_names,
    list_role_phrases,
    list_same_things,
    names_one,
    read_number_word,
    split_words,
)

__all__ = ["Item", "find_spans", "list_items", "names_tag", "write_stars"]

# A name as a link or a tag, a number below zero, or a sign that compares. An arrow such as "->" is
# no sign.
_GIVEN: Final = re.compile(
    r"\[\[(?P<note>[^\[\]\n|#]+(?:#+(?=[\]|]))?)[^\[\]\n]*\]\]"
    rf"|(?<!\S)#(?P<tag>{TAG_OF_WORDS}|[\w/-]*\w)(?P<signs>(?<=\w)[#+]*)"
    r"|(?<![^\s<>=≤≥≦≧≠:])(?:(?P<number>[-−]\d+(?:[.,]\d+)*\w*(?![\w-]))|(?P<dash>[-−])(?=\d))"
    r"|(?P<sign>(?<![-<=>])[=!]*[<>≤≥≦≧≠][<>]*(?:\s?=+)?(?!-(?!\d))|!=+|[~≈](?=\s?\d)"
    r"|(?<=\d)\+(?![\w+])"
    r"|(?:(?<=(?<![\w.,-])\d)|(?<=(?<![\w.,-])\d\d)|(?<=(?<![\w.,-])\d\.\d))"
    r"(?:\s?[-–]\s|[-–]|\.\.)(?=\d{1,2}(?![\w-])))"
)
# The roles of words before the limit of an amount.
_LIMITS: Final = frozenset({"above", "below", "at_least", "at_most", "exactly"})
# The roles of signs, also of those before a date. Of all others, no condition can say the meaning.
_SIGN_ROLES: Final = {
    sign: frozenset(roles.split())
    for signs, roles in (
        (">", "above after"),
        ("<", "below before"),
        (">= => ≥ ≧", "at_least since"),
        ("<= =< ≤ ≦", "at_most until"),
        ("+", "or_more"),
        ("!= !== <> ≠", "unequal"),
        ("- – ..", "to"),
    )
    for sign in signs.split()
}
_OTHER_SIGN: Final = frozenset({"other_sign"})
_MARK: Final = "\ue000"
_BEFORE_DIGITS: Final = f"-−{CURRENCIES} "
# A month without a year or a day, after a word such as "from".
_MONTH_AFTER: Final = re.compile(
    r"(?<!\d\s)\b(?P<before>from|of|aus dem|vom|im|aus|de|du|d['’]|en|before|after|until|till|vor"
    r"|nach|bis|avant|apr[eè]s|jusqu['’]en|antes de|despu[eé]s de|hasta|tras)\s*"
    r"(?P<month>[^\W\d_]{3,10})\b"
    r"(?!,?\s+(?:de\s+)?\d)",
    re.IGNORECASE,
)
_MONTHS_BETWEEN: Final = re.compile(
    r"\b(?P<before>between|from|zwischen|von|entre|desde|de)\s+(?P<month>[^\W\d_]{3,10})\s+"
    r"(?P<to>and|to|until|und|bis|et|[aày]|hasta)\s+(?P<last>[^\W\d_]{3,10})\b"
    r"(?!,?\s+(?:de\s+)?\d)",
    re.IGNORECASE,
)
_YEAR: Final = r"(?:19|20)\d\d(?![\w.,-]*\d)"
_BEFORE_YEARS: Final = ("before", "until", "after", "since", "from")
# A number with a unit is no year, as in "up to 2000 kcal".
_UNIT: Final = re.compile(rf"\s?(?:(?P<sign>[{CURRENCIES}%°])|(?P<word>[^\W\d_]+))")
_EMPTY_STARS: Final = "☆✩\ufe0f"
_DRAWN_STARS: Final = re.compile(rf"[★⭐🌟]{{1,10}}[{_EMPTY_STARS}]*")
_STARS: Final = "stars"
_ENGLISH_MONTHS: Final = tuple(calendar.month_name)[1:]
_MOST_IN_NAME: Final = 8
_MOST_IN_ASKED: Final = 3
_MOST_IN_THING: Final = 3
_THINGS: Final = ("tag", "folder", "note")


@dataclass(frozen=True, slots=True)
class Item:
    """A part of a question.

    Attributes:
        text: the words of the part, as written.
        roles: the roles of the phrase, or an empty set.
        names: what the words name in the vault.
        asked: words for the property that the phrase asks for, such as "price" for "how much".
        is_date: whether the words are part of a date.
        is_given: whether the name is written as a tag or a link, as in `#recipe`.
        is_apart: whether a comma or the like stands before the part.
        measured: the properties that an amount may be of, by its unit.
        is_rating: whether the amount is a number of stars.
        is_state: whether several words say the values that they name, or that no note has.
    """

    text: str
    roles: frozenset[str] = frozenset()
    names: tuple[Name, ...] = ()
    asked: frozenset[str] = frozenset()
    is_date: bool = False
    is_given: bool = False
    is_apart: bool = False
    measured: tuple[str, ...] = ()
    is_rating: bool = False
    is_state: bool = False

    def list_names(self, kind: str) -> tuple[Name, ...]:
        """Return what the words name of one kind."""
        return tuple(name for name in self.names if name.kind == kind)

    @property
    def is_number(self) -> bool:
        """Whether the words begin with a number, and are no date."""
        return not self.is_date and self.text.lstrip(_BEFORE_DIGITS)[:1].isdecimal()

    @property
    def is_silent(self) -> bool:
        """Whether the words say nothing about what is asked."""
        return not self.is_given and "filler" in self.roles


@dataclass(frozen=True, slots=True)
class _Plain:
    """A part of a question without links, tags or signs, with the names in the vault.

    Attributes:
        words: its words.
        dated: for each word, whether it is part of a date.
        phrases: its phrases that have roles and are no date, by their first word.
        vocabulary: the names in the vault.
    """

    words: Sequence[Word]
    dated: Sequence[bool]
    phrases: Mapping[int, Phrase]
    vocabulary: VaultNames

    def has_date(self, first: int, end: int) -> bool:
        """Return whether one of some words is part of a date."""
        return any(self.dated[first:end])


def list_items(text: str, vocabulary: VaultNames, today: date) -> tuple[Item, ...]:
    """Split a question into items.

    Args:
        text: the question, without filters such as `tag:recipe`.
        vocabulary: the names in the vault.
        today: the date that words such as "yesterday" refer to.
    """
    given: list[Item] = []

    def take(match: re.Match[str]) -> str:
        given.append(_build_given(match, vocabulary))
        return f" {_MARK} "

    marked = _GIVEN.sub(take, text)
    found = list[Item]()
    for at, piece in enumerate(marked.split(_MARK)):
        found += given[at - 1 : at] if at else []
        found += _list_plain_items(piece, vocabulary, today)
    return tuple(found)


def write_stars(text: str) -> str:
    """Write drawn stars as their number, as "3 stars" for "★★★☆☆"."""
    drawn = (
        f"{len(found[0].rstrip(_EMPTY_STARS))} {_STARS}" for found in _DRAWN_STARS.finditer(text)
    )
    return _DRAWN_STARS.sub(lambda _: f" {next(drawn)} ", text)


def names_tag(text: str) -> bool:
    """Return whether a text names a tag as in `#recipe`. A number such as "#12" is no tag."""
    tags = (match["tag"] for match in _GIVEN.finditer(text))
    return any(tag is not None and not tag.isdecimal() for tag in tags)


def _build_given(match: re.Match[str], vocabulary: VaultNames) -> Item:
    if (number := match["number"]) is not None:
        return Item(number)
    if match["dash"] is not None:
        return Item(match["dash"], _OTHER_SIGN)
    if (sign := match["sign"]) is not None:
        return Item(sign, _SIGN_ROLES.get("".join(sign.split()), _OTHER_SIGN))
    if match["tag"] is not None:
        tag = _choose_tag(match["tag"], match["signs"], vocabulary)
        return Item(tag, names=(Name("tag", tag),), is_given=True)
    written = match["note"].strip()
    words = [word.folded for word in split_words(written)]
    known = tuple(name for name in vocabulary.find(words) if name.kind == "note") if words else ()
    return Item(written, names=known[:1] or (Name("note", written),), is_given=True)


def _choose_tag(tag: str, signs: str, vocabulary: VaultNames) -> str:
    """Return a tag with the signs behind it, as "c#" or "c++", if the vault has it so.

    A single `#` behind a tag may only end it, as in Bear.
    """
    for each in (f"{tag}{signs}", tag):
        words = [word.folded for word in split_words(each)]
        if any(name.kind == "tag" for name in vocabulary.find_exactly(words)):
            return each
    return f"{tag}{signs}".rstrip("#")


def _list_plain_items(text: str, vocabulary: VaultNames, today: date) -> Iterator[Item]:
    plain = _read_plain(text, vocabulary, today)
    at = 0
    while at < len(plain.words):
        if plain.dated[at]:
            yield Item(plain.words[at].text, is_date=True)
            at += 1
            continue
        item, end = (
            _build_rating(plain, at)
            or _build_amount(plain, at)
            or _build_state(plain, at)
            or _build_item(plain, at)
        )
        yield item
        at = end


def _read_plain(text: str, vocabulary: VaultNames, today: date) -> _Plain:
    words = split_words(text)
    dated = _find_date_words(text, words, today)
    phrases = {
        phrase.first: phrase
        for phrase in find_phrases(words)
        if not any(dated[phrase.first : phrase.end])
    }
    return _Plain(words, dated, phrases, vocabulary)


def _build_rating(plain: _Plain, at: int) -> tuple[Item, int] | None:
    """Build the item of a number of stars, as "four stars", and return it with its end, or None.

    In "4 stars or more", the words behind the number have a role of their own.
    """
    words, vocabulary, unit = plain.words, plain.vocabulary, at + 1
    word = words[at]
    number = word.text if word.text.isdecimal() else str(read_number_word(word.folded) or "")
    if not number or unit >= len(words) or words[unit].is_apart:
        return None
    if not can_convert(words[unit].text, _STARS) or vocabulary.find([words[unit].folded]):
        return None
    names = _find_properties(list_property_names(["rating"]), vocabulary)
    measured = tuple(sorted({*vocabulary.find_measured(_STARS), *(name.value for name in names)}))
    if not measured:
        return None
    phrase = plain.phrases.get(unit)
    end = unit if phrase is not None and phrase.end > unit + 1 else unit + 1
    return Item(number, is_apart=word.is_apart, measured=measured, is_rating=True), end


def _build_amount(plain: _Plain, at: int) -> tuple[Item, int] | None:
    """Build the item of a number with a known unit, and return it with its end, or return None."""
    words, vocabulary, end = plain.words, plain.vocabulary, at + 1
    may_end = end < len(words) and not plain.dated[end] and end not in plain.phrases
    if may_end and is_known_unit(words[end].text):
        end += not (words[end].is_apart or vocabulary.find([words[end].folded]))
    number = _read_limit(plain, at) if end > at + 1 else ""
    text = f"{number} {words[at + 1].text}" if number else _join(words[at:end])
    amount = parse_amount(text)
    if amount is None or not is_known_unit(amount.unit):
        return None
    if any(name.kind in _THINGS for name in vocabulary.find([words[at].folded])):
        return None  # as of a folder "2026"
    measured = set(vocabulary.find_measured(amount.unit))
    if amount.is_money:
        names = _find_properties(list_property_names(["price"]), vocabulary)
        measured.update(name.value for name in names)
    is_apart = words[at].is_apart
    return Item(text, is_apart=is_apart, measured=tuple(sorted(measured))), end


def _read_limit(plain: _Plain, at: int) -> str:
    """Return the number that a word names behind a limit such as "above", or an empty string.

    In "more than an hour" and "at least two hours", these are 1 and 2.
    """
    is_limited = any(each.end == at and each.roles & _LIMITS for each in plain.phrases.values())
    word = plain.words[at].folded
    number = read_number_word(word) or int(names_one(word))
    return str(number) if is_limited and number else ""


def _build_item(plain: _Plain, at: int) -> tuple[Item, int]:
    """Build the item that begins with a word, and return it with its end."""
    words = plain.words
    names, end = _find_name(plain, at)
    if names and not can_be_name(words, at, end, plain.phrases, plain.vocabulary):
        names, end = (), at
    phrase = plain.phrases.get(at)
    asked, asked_end = _find_asked(words, at)
    roles, is_apart = frozenset[str](), words[at].is_apart
    is_thing = any(name.kind in _THINGS for name in names)
    if phrase is not None and phrase.end >= end and not (is_thing and phrase.roles <= WEAK_ROLES):
        names = names if phrase.end == end else ()
        roles, end = phrase.roles, phrase.end
    asked_names = _find_properties(asked, plain.vocabulary)
    if asked_end > end:
        text = _join(words[at:asked_end])
        return Item(text, names=asked_names, asked=asked, is_apart=is_apart), asked_end
    end = max(end, at + 1)
    asked = asked if asked_end == end else frozenset()
    names = names or (asked_names if asked else ())
    return Item(_join(words[at:end]), roles, names, asked, is_apart=is_apart), end


def _find_properties(asked: frozenset[str], vocabulary: VaultNames) -> tuple[Name, ...]:
    """Return the properties of the vault that have one of several names."""
    found = (name for each in sorted(asked) for name in vocabulary.find(each.split()))
    return tuple(dict.fromkeys(name for name in found if name.kind == "property"))


def _find_name(plain: _Plain, at: int) -> tuple[tuple[Name, ...], int]:
    """Find the longest name that begins with a word, and return it with its end."""
    words, vocabulary = plain.words, plain.vocabulary
    most = min(at + _MOST_IN_NAME, len(words), at + max(vocabulary.longest, 1))
    for end in range(most, at, -1):
        if not plain.has_date(at, end) and (
            names := vocabulary.find([word.folded for word in words[at:end]])
        ):
            return names, end
    for end in range(min(at + _MOST_IN_THING, len(words)), at, -1):
        folded = [word.folded for word in words[at:end]]
        if not plain.has_date(at, end) and (things := _find_things(folded, vocabulary)):
            return things, end
    return (), at


def _find_things(words: Sequence[str], vocabulary: VaultNames) -> tuple[Name, ...]:
    """Return the tags and folders for a thing that the vault names in another language."""
    found = (name for each in sorted(list_same_things(words)) for name in vocabulary.find(each))
    return tuple(dict.fromkeys(name for name in found if name.kind in ("tag", "folder")))


def _build_state(plain: _Plain, at: int) -> tuple[Item, int] | None:
    """Build the item of several words that name a state, as "gave up", with its end, or None.

    It names the values that say the same. Without any, it is still no phrase that says nothing.
    """
    words, vocabulary = plain.words, plain.vocabulary
    least = plain.phrases[at].end if at in plain.phrases else at + 1
    for end in range(min(at + _MOST_IN_THING, len(words)), least, -1):
        folded = [word.folded for word in words[at:end]]
        if plain.has_date(at, end) or not list_named_states(folded) or vocabulary.find(folded):
            continue
        if same := list_named_states(folded, find_languages(words)):
            found = (name for each in sorted(same) for name in vocabulary.find(each))
            values = tuple(dict.fromkeys(name for name in found if name.kind == "value"))
            text = _join(words[at:end])
            return Item(text, names=values, is_apart=words[at].is_apart, is_state=True), end
    return None


def _find_asked(words: Sequence[Word], at: int) -> tuple[frozenset[str], int]:
    for end in range(min(at + _MOST_IN_ASKED, len(words)), at, -1):
        if names := list_property_names([word.folded for word in words[at:end]]):
            return names, end
    return frozenset(), at


def find_spans(text: str, today: date) -> tuple[Span, ...]:
    """Return the dates in a question, and months without a year after a word such as "from"."""
    return find_date_spans(_name_dates(text), today)


def _name_dates(text: str) -> str:
    """Write what names a date only in questions as it is read anywhere.

    A month without a year gets "in", as in "notes from October", and so does a year, as in "before
    2020". The German "morgen" becomes "tomorrow", except where it is a part of a day, as in "am
    Morgen".
    """
    years, year = _read_year_forms()
    text = year.sub(_name_year, years.sub(_name_years, _name_tomorrow(text)))
    return _MONTH_AFTER.sub(_name_month, _MONTHS_BETWEEN.sub(_name_range, text))


@cache
def _read_year_forms() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what finds a range of years, and a year behind a word such as "before"."""
    before = (each for role in _BEFORE_YEARS for each in list_role_phrases(role))
    return (
        re.compile(
            rf"\b(?P<before>{_match_any(list_role_phrases('between'))})\s+(?P<first>{_YEAR})\s+"
            rf"(?P<to>{_match_any(list_role_phrases('to'))})\s+(?P<last>{_YEAR})",
            re.IGNORECASE,
        ),
        re.compile(rf"\b(?P<before>{_match_any(before)})\s+(?P<year>{_YEAR})", re.IGNORECASE),
    )


def _match_any(phrases: Iterable[str]) -> str:
    """Return a pattern for any of several phrases, with or without their accents."""
    forms = {form for each in phrases for form in (each, fold(each))}
    longest_first = sorted(forms, key=len, reverse=True)
    return "|".join(r"[\s'’-]+".join(map(re.escape, each.split())) for each in longest_first)


def _name_year(match: re.Match[str]) -> str:
    """Write "in" before a year, but not before that of a month, as in "mayo de 2026"."""
    if _is_amount(match):
        return match[0]
    before = split_words(match.string[: match.start()])
    is_of_month = bool(before) and find_month(before[-1].text) is not None
    return match[0] if is_of_month else f"{match['before']} in {match['year']}"


def _is_amount(match: re.Match[str]) -> bool:
    """Return whether a unit follows a number that may be a year, as in "up to 2000 kcal"."""
    behind = _UNIT.match(match.string, match.end())
    return behind is not None and bool(behind["sign"] or is_measured(behind["word"]))


def _name_years(match: re.Match[str]) -> str:
    if _is_amount(match):
        return match[0]
    return f"{match['before']} in {match['first']} {match['to']} in {match['last']}"


def _name_tomorrow(text: str) -> str:
    words, tomorrow = split_words(text), list_date_words("tomorrow")
    before = ("", *(word.folded for word in words))
    shown, end = [], 0
    for word, last in zip(words, before, strict=False):
        is_meant = word.folded in tomorrow and (word.text.islower() or word.is_first)
        if is_meant and last not in list_date_words("before_morning"):
            shown.append(f"{text[end : word.start]}tomorrow")
            end = word.start + len(word.text)
    return "".join((*shown, text[end:]))


def _name_month(match: re.Match[str]) -> str:
    number = find_month(match["month"])
    return match[0] if number is None else f"{match['before']} in {_ENGLISH_MONTHS[number - 1]}"


def _name_range(match: re.Match[str]) -> str:
    """Write "in" before both months of a range, as in "between May and July"."""
    months = [find_month(match[name]) for name in ("month", "last")]
    first, last = (_ENGLISH_MONTHS[month - 1] if month else "" for month in months)
    is_range = first and last
    return f"{match['before']} in {first} {match['to']} in {last}" if is_range else match[0]


def _find_date_words(text: str, words: Sequence[Word], today: date) -> list[bool]:
    """Return for each word whether it is part of a date."""
    if not find_spans(text, today):
        return [False] * len(words)
    every = [word.folded for word in words]
    left = [word.folded for word in split_words(remove_dates(_name_dates(text)))]
    is_date = [True] * len(words)
    for block in SequenceMatcher(None, every, left, autojunk=False).get_matching_blocks():
        is_date[block.a : block.a + block.size] = [False] * block.size
    return is_date


def _join(words: Sequence[Word]) -> str:
    return " ".join(word.text for word in words)
