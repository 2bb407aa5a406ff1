"""Find where a figure, a date or a name of an answer stands in what was sent.

A figure is found if a number with the same value stands there as a whole word, and if the units do
not differ. A small number must also stand in a line that shares a word with the sentence.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice, takewhile
from typing import Final

from chains.citations.answer_sources import Source
from chains.claims.evidence import SHARE, ClaimEvidence, EvidenceText, TextIndex
from chains.claims.facts import MULTIPLE, AnswerSentence, Figure, has_sign, read_clock
from vault.notes.date_spans import Span
from vault.notes.dates import YEARLESS, LocatedDate
from vault.notes.keywords import fold
from vault.notes.units import can_convert, convert_amount, is_known_unit
from vault.review.statements import LocatedNumber, Quantity

__all__ = [
    "find_date",
    "find_facts",
    "find_figure",
    "find_name",
    "find_path",
    "have_same_value",
    "is_same_date",
]

_SHORT_STEM_CHARS: Final = 4
_MOST_ENDING_CHARS: Final = 2
_MOST_PLACES: Final = 3
_SHARES: Final = frozenset(("%", "percent", "prozent", "pct"))
_DEGREES: Final = frozenset("°")
_SHARE_CHARS: Final = 12
_LONG_DIGITS: Final = 8  # such as those of a telephone number, which blanks may set apart
_DATA: Final = frozenset(["kb", "mb", "gb", "tb", "kib", "mib", "gib", "tib"])
_DATA_SHARE: Final = 0.1  # 1 TiB is 1.0995 TB
_IN_WORDS: Final = {
    float(value): frozenset(words.split())
    for value, words in enumerate(
        (
            "one ein eine einen einem einer eins un une uno una single",
            "two zwei deux dos both beide beiden twice zweimal",
            "three drei trois tres",
            "four vier quatre cuatro",
            "five funf cinq cinco",
            "six sechs seis",
            "seven sieben sept siete",
            "eight acht huit ocho",
            "nine neun neuf nueve",
            "ten zehn dix diez",
            "eleven elf onze once",
            "twelve zwolf douze doce dozen dutzend",
        ),
        start=1,
    )
}


@dataclass(frozen=True)
class _Hit:
    """A place in a text, with the number of words that its line shares with the sentence."""

    shared: int
    text: EvidenceText
    start: int | None

    @property
    def line(self) -> int | None:
        return None if self.start is None else self.text.index.find_line(self.start)

    def place(self) -> Source:
        return self.text.place(self.start)


def find_facts(
    sentence: AnswerSentence, figures: Sequence[Figure], evidence: ClaimEvidence
) -> Iterator[str]:
    """Yield the dates, figures and names of a sentence that were sent, as the sentence says them.

    Args:
        figures: the figures of the sentence that are looked for.
    """
    for day in sentence.dates:
        if find_date(day, sentence, evidence):
            yield sentence.text[day.start - sentence.start : day.end - sentence.start]
    for figure in figures:
        if find_figure(figure, sentence, evidence):
            yield figure.written
    yield from (name for name in sentence.list_names() if find_name(name, evidence))


def find_figure(
    figure: Figure, sentence: AnswerSentence, evidence: ClaimEvidence
) -> tuple[Source, ...]:
    """Return where a figure stands in what was sent, the likeliest place first."""
    words = sentence.words
    hits = [hit for text in evidence.texts for hit in _find_numbers(figure, words, text)]
    return _list_places(hits)


def _find_numbers(figure: Figure, words: frozenset[str], text: EvidenceText) -> Iterator[_Hit]:
    index = text.index
    if not figure.values:
        word = fold(figure.written)
        # Most texts do not say it at all, which is found much faster than its edges.
        whole = rf"(?<!\w){re.escape(word)}(?!\w|[.]\d)"
        if any(word in each and re.search(whole, each) for each in index.forms):
            yield _Hit(0, text, _find_start(index, figure.written))
        return
    yield from _find_in_lines(figure, words, text)
    if figure.is_negative:
        return
    if len(figure.written) >= _LONG_DIGITS and figure.written in index.joined_digits:
        yield _Hit(0, text, None)
    if not figure.values.isdisjoint(index.above_values):
        yield _Hit(len(words & index.above_words), text, None)
    for value in figure.values & _IN_WORDS.keys():
        number_words = _IN_WORDS[value] & index.tokens
        if any(_is_whole(word, index.folded) for word in number_words) and words & index.words:
            yield _Hit(0, text, None)


def _find_in_lines(figure: Figure, words: frozenset[str], text: EvidenceText) -> Iterator[_Hit]:
    """Yield the numbers of a text that say a figure, one of each line."""
    index, is_own, found = text.index, text.origin != "source", set[int]()
    for number in _list_equal(figure, index):
        if (line := index.find_line(number.start)) in found:
            continue
        is_signed = has_sign(index.text, number.start)
        if (figure.is_negative and not is_signed) or _is_of_another_kind(figure, number, index):
            continue
        shared = len(words & index.list_line_words(number.start))
        is_same_unit = figure.unit == _read_unit(number) != ""
        if shared or not figure.is_small or is_own or is_same_unit:
            found.add(line)
            yield _Hit(shared, text, number.start)


def _is_of_another_kind(figure: Figure, number: LocatedNumber, index: TextIndex) -> bool:
    """Return whether a number of a text is another time of day, a share and no share, or signed."""
    text = index.text
    if figure.clock is not None and (clock := read_clock(text, number)) is not None:
        return clock != figure.clock
    if figure.unit in _DEGREES and has_sign(text, number.start) and not figure.is_negative:
        return True
    is_multiple = MULTIPLE.match(text, number.end) is not None
    if figure.unit in _SHARES:
        return is_multiple or not index.may_have_share(number.start)
    is_share = SHARE.match(text[number.end : number.end + _SHARE_CHARS].lstrip()) is not None
    return figure.is_multiple and is_share


def _is_whole(word: str, folded: str) -> bool:
    """Return whether a number in words stands in a text, and not only in one like "twenty-five"."""
    longer = r"[\s-](?:hundred|thousand|million|dozen|and a half)\b"
    return re.search(rf"(?<!ty[\s-])(?<!\w){word}(?!\w|{longer})", folded) is not None


def _list_equal(figure: Figure, index: TextIndex) -> Iterator[LocatedNumber]:
    """Yield the numbers of a text that have the value of a figure, maybe in another unit."""
    numbers = index.numbers
    for value in figure.values:
        if value in numbers:
            for each in numbers[value]:
                is_clock = value not in each.quantity.values
                if is_clock or have_same_value(figure, each.quantity):
                    yield each
    if index.measured and is_known_unit(figure.unit):
        for unit, measured in index.measured.items():
            if unit != figure.unit and can_convert(unit, figure.unit):
                yield from (each for each in measured if have_same_value(figure, each.quantity))


def have_same_value(figure: Figure, number: Quantity) -> bool:
    """Return whether a number may have the value of a figure, in its unit or in another one."""
    unit = number.unit
    if not (is_known_unit(figure.unit) and is_known_unit(unit)) or unit == figure.unit:
        return not figure.values.isdisjoint(number.values)
    converted = (convert_amount(Decimal(str(value)), unit, figure.unit) for value in number.values)
    is_data = unit in _DATA and figure.unit.lower() in _DATA
    return any(
        each is not None
        and (float(each) in figure.values or (is_data and _is_near(float(each), figure)))
        for each in converted
    )


def _is_near(value: float, figure: Figure) -> bool:
    """Return whether a size in bytes is that of a figure, counted by 1,000 or by 1,024."""
    return any(abs(value - each) <= _DATA_SHARE * each for each in figure.values)


def _read_unit(number: LocatedNumber) -> str:
    return number.quantity.unit


def _find_start(index: TextIndex, written: str) -> int | None:
    found = index.text.lower().find(written.lower())
    return found if found >= 0 else None


def find_date(
    claimed: LocatedDate, sentence: AnswerSentence, evidence: ClaimEvidence
) -> tuple[Source, ...]:
    """Return where a date stands in what was sent, the likeliest place first."""
    words, hits = sentence.words, list[_Hit]()
    for text in evidence.texts:
        index = text.index
        for found in index.dates:
            if is_same_date(claimed, found):
                start = found.start if found.end else None
                shared = len(words & index.list_line_words(found.start))
                hits.append(_Hit(shared, text, start))
        if any(is_same_date(claimed, found) for found in index.above_dates):
            hits.append(_Hit(0, text, None))
        if _is_year(claimed.span) and claimed.span[0].year in index.numbers:
            start = index.numbers[claimed.span[0].year][0].start
            hits.append(_Hit(0, text, start))
    return _list_places(hits)


def is_same_date(claimed: LocatedDate, found: LocatedDate) -> bool:
    """Return whether a date that was found says what is claimed, or more exactly so."""
    if claimed.has_year and found.has_year:
        return claimed.span[0] <= found.span[0] and found.span[1] <= claimed.span[1]
    one, other = _drop_year(claimed.span), _drop_year(found.span)
    if one is None or other is None:
        return False
    return one[0] <= other[0] and other[1] <= one[1]


def _is_year(span: Span) -> bool:
    first, after = span
    return (first.month, first.day, after.month, after.day) == (1, 1, 1, 1)


def _drop_year(span: Span) -> Span | None:
    """Return the same days of the year that stands for any, or None for more than two months."""
    length = span[1] - span[0]
    if length.days > 62:
        return None
    first = span[0].replace(year=YEARLESS)
    return first, first + length


def find_name(name: str, evidence: ClaimEvidence) -> tuple[Source, ...]:
    """Return where a name stands in what was sent, maybe with another ending."""
    parts = fold(name).split()
    hits = []
    for text in evidence.texts:
        if all(_has_word(part, text.index) for part in parts):
            hits.append(_Hit(0, text, _find_start(text.index, name)))
    return _list_places(hits)


def _has_word(folded: str, index: TextIndex) -> bool:
    if folded in index.tokens:
        return True
    stem = folded[: max(_SHORT_STEM_CHARS, len(folded) - _MOST_ENDING_CHARS)]
    if stem not in index.folded:
        return False
    tokens = index.sorted_tokens
    beginning = takewhile(
        lambda token: token.startswith(stem), islice(tokens, bisect_left(tokens, stem), None)
    )
    return any(len(token) <= len(folded) + _MOST_ENDING_CHARS for token in beginning)


def find_path(path: str, evidence: ClaimEvidence) -> tuple[Source, ...]:
    """Return where a path or the name of a note stands in what was sent."""
    folded = fold(path.strip())
    bare = folded.removesuffix(".md")
    hits = []
    for text in evidence.texts:
        is_note = any(name == bare or name.endswith(f"/{bare}") for name in text.folded_names)
        if is_note or any(folded in each for each in text.index.forms):
            start = None if is_note else _find_start(text.index, path)
            hits.append(_Hit(int(is_note), text, start))
    return _list_places(hits)


def _list_places(hits: Sequence[_Hit]) -> tuple[Source, ...]:
    """Return the places of hits: first those that share most words, and notes before others."""
    ranked = sorted(hits, key=lambda hit: (-hit.shared, hit.text.origin != "source"))
    places: dict[Source, None] = {}
    known: set[tuple[int, int | None]] = set()
    for hit in ranked:
        if (line := (id(hit.text), hit.line)) in known:
            continue
        known.add(line)
        places[hit.place()] = None
        if len(places) == _MOST_PLACES:
            break
    return tuple(places)
