"""Find what a sentence of an answer claims: figures, dates, names and paths.

No claims are questions, code, citation numbers, and numbers that only name a thing in the answer,
such as "step 3". A sentence that is hedged is read too, but it is not accused.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from chains.citations.parser import HIDDEN, mask_non_prose, parse_answer
from chains.citations.sentences import locate_sentences
from context.fit.summary_check import find_names, find_paths
from vault.notes.date_spans import build_year_span
from vault.notes.dates import LocatedDate, find_month, find_weekday, locate_dates
from vault.notes.keywords import FUNCTION_WORDS, fold
from vault.notes.text.lines import TABLE_ROW
from vault.notes.text.markdown_text import read_text
from vault.notes.text.markup import remove_markup
from vault.notes.units import is_known_unit
from vault.review.statements import (
    LocatedNumber,
    Statement,
    find_numbers,
    find_statements,
    list_words,
)

__all__ = ["AnswerSentence", "Figure", "has_sign", "is_hedged", "list_sentences", "read_clock"]

_HEDGE: Final = re.compile(
    r"\b(?:might|could|would|perhaps|maybe|possibly|probably|likely|presumably|seems?|appears?"
    r"|apparently|may (?:be|have|not|also|need|cost|take)|i (?:think|assume|guess|believe|suppose)"
    r"|assuming|suppose|usually|typically|generally|for (?:example|instance)|e\.g\."
    r"|unclear|unsure|not (?:clear|sure|certain|known)"
    r"|vielleicht|wahrscheinlich|vermutlich|wohl|womöglich|möglicherweise|eventuell"
    r"|könnten?|dürften?|würden?|scheint|scheinen|üblicherweise|normalerweise|zum beispiel"
    r"|z\. ?b\.|unklar|falls|angenommen"
    r"|peut-être|probablement|sans doute|pourrai(?:en)?t|devrai(?:en)?t|semblent?|par exemple"
    r"|normalement|incertain|quizás?|tal vez|probablemente|posiblemente|podrían?|debería|parecen?"
    r"|por ejemplo|normalmente)\b"
)
# What stands before a number that is only near.
_NEARLY: Final = re.compile(
    r"(\b(?:approx(?:imately|\.)?|about|around|roughly|nearly|almost|over|under|more than"
    r"|less than|at (?:least|most)|up to|etwa|rund|ungefähr|circa|ca\.|fast|knapp|über|unter|bis zu"
    r"|mehr als|weniger als|mindestens|höchstens|environ|près de|autour de|plus de|moins de"
    r"|au moins|aproximadamente|alrededor de|cerca de|un[oa]s|más de|menos de|al menos)|[~≈])"
    r"[\s€$£*_]*$",
    re.IGNORECASE,
)
# A sentence that says that something is missing, so that its words are in no note.
_ABSENCE: Final = re.compile(
    r"\b(?:(?:do|does|did)(?: not|n['’]t)"
    r" (?:mention|say|state|contain|include|specify|list|name|have|provide)"
    r"|no (?:mention|information|notes?|record|entry|date|figure|specific)|nothing"
    r"|not in (?:the|your)"
    r"|not (?:mentioned|stated|specified|given|listed|provided)"
    r"|keine? (?:angaben?|information\w*|notiz\w*|hinweis\w*|eintrag\w*)|nichts"
    r"|nicht (?:erwähnt|angegeben|genannt|enthalten)|aucune? (?:information|note|mention|date)"
    r"|ne (?:mentionne\w*|contien\w*|précise\w*|disen\w*) pas|rien|ningun\w* (?:nota|información)"
    r"|no (?:mencionan?|contienen?|dicen?|indican?|hay))\b"
)
_GERMAN: Final = re.compile(
    r"\b(?:der|die|das|und|ist|nicht|ein|eine|mit|von|auf|fur|im|am|zu|sich|wird|sind|hat|wurde"
    r"|wurden|beim|dem|nach|aus|oder)\b"
)
_ORDINAL: Final = re.compile(r"\d+(?:st|nd|rd|th)", re.IGNORECASE)
# The number behind one of these words may name a part of the answer.
_PARTS: Final = """
    step option point item part example answer question schritt punkt teil beispiel frage etape
    exemple paso punto ejemplo
"""
_PART_WORDS: Final = frozenset(_PARTS.split())
_WORD_BEFORE: Final = re.compile(r"([^\W\d_]+)\W{0,2}$")
_CLOCK_AFTER: Final = re.compile(r"\s?(am|pm|a\.m\.|p\.m\.|uhr|h)(?!\w)", re.IGNORECASE)
_CLOCK: Final = re.compile(r"(\d{1,2})(?:[:.]([0-5]\d))?")
# The minutes of a French time of day, as in "18 h 30".
_MINUTES_AFTER: Final = re.compile(r"\s?h\s?([0-5]\d)(?!\w)", re.IGNORECASE)
_HOUR_BEFORE: Final = re.compile(r"(?<!\d)\d{1,2}\s?h\s?$", re.IGNORECASE)
# What stands before a time of day, so that "19 h" is no duration, and "14.30" no other number.
_AT_BEFORE: Final = re.compile(
    r"\b(?:at|um|gegen|ab|bis|à|vers|las|dès|until|from)\s$", re.IGNORECASE
)
# These words are units only where nothing but a mark follows, as in "20 in" and not "20 in all".
_WORD_OR_UNIT: Final = frozenset(("in", "an", "a"))
_WORD_AFTER: Final = re.compile(r"\s?\w+\s+[^\W\d_]")
# What multiplies, as in "20 times as fast" and "20x".
MULTIPLE: Final = re.compile(r"[\s-]?(?:times|fold|x|mal|fach|fois|veces)\b", re.IGNORECASE)
_FACTOR_BEFORE: Final = re.compile(r"\b(?:factor of|faktor|facteur|factor de)\s$", re.IGNORECASE)
_CODE_BEFORE: Final = re.compile(r"\b(EUR|USD|GBP)\s?$")
# A path begins at the first of its characters: each one would be tried, and read to its end.
_LONG_PATH: Final = re.compile(
    r"(?<![\w:/.-])~?/?(?:[\w.-]++/)++[\w.-]*\w\.[A-Za-z]\w{0,7}(?![\w/])"
)
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_LINK: Final = re.compile(r"\[\[([^\]|#\n]{1,200})")
_SIGN: Final = re.compile(r"(?:(?:^|[\s(|=:*])[-−–][€$£¥]?|\b[Mm]inus )$")
_SIGN_CHARS: Final = 7
_SYMBOLS: Final = re.compile(r"\s?([%€$£¥°])")
_SIGNS: Final = frozenset("%€$£¥°")
_NO_NAMES: Final = re.compile(
    r"i|ok|english|german|french|spanish|note|notes|ai|strata|context|answer|question|source"
    r"|sources|id"
)
_PAIR: Final = re.compile(r"\b[A-ZÄÖÜ]\w+(?: [A-ZÄÖÜ]\w+)+")
_JOINS: Final = re.compile(r"[\d_]")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_MOST_BEFORE: Final = 40
_TELLING: Final = 100  # with a unit; a smaller number, or a bare one, stands in many texts
_SMALL: Final = 100
_FEW: Final = 20  # a count of so many things may be the answer's own
_HOURS: Final = 24


@dataclass(frozen=True)
class Figure:
    """A number that a sentence claims.

    Attributes:
        number: the number with its place in the answer.
        values: its possible values. A time of day is told in minutes.
        unit: the unit, or an empty string if none is known.
        written: the number with its unit as written.
        is_count: whether it may be of the answer itself, as in "two notes" and "step 3".
        near: the word that says that it is only near, as in "about 20 kg", or an empty string.
        is_negative: whether a minus sign stands before it.
        clock: the minutes of a time of day that is told exactly, as in "7 pm", or None.
        is_multiple: whether it multiplies, as in "20 times" and "a factor of 20".
    """

    number: LocatedNumber
    values: frozenset[float]
    unit: str
    written: str
    is_count: bool
    near: str = ""
    is_negative: bool = False
    clock: float | None = None
    is_multiple: bool = False

    @property
    def is_telling(self) -> bool:
        """Whether the figure is unlikely to stand in a text by chance."""
        return bool(self.unit) and all(value >= _TELLING for value in self.values)

    @cached_property
    def is_small(self) -> bool:
        """Whether a number with its value stands somewhere in many texts."""
        return all(abs(value) < _SMALL for value in self.values)

    @property
    def start(self) -> int:
        """The offset of the figure in the answer."""
        return self.number.start


@dataclass(frozen=True)
class AnswerSentence:
    """A sentence, list item or table row of an answer.

    Attributes:
        text: the sentence as written.
        masked: the sentence without code and citation numbers, with the same offsets.
        start: its offset in the answer.
        cited: the citation numbers in the sentence.
    """

    text: str
    masked: str
    start: int
    cited: tuple[int, ...] = ()

    @property
    def is_question(self) -> bool:
        """Whether the sentence is a question, which claims nothing."""
        return self.text.rstrip(' *_"”»)').endswith(("?", "？", "؟"))

    @property
    def is_row(self) -> bool:
        """Whether the sentence is a row of a table."""
        return self.text.lstrip().startswith("|")

    @property
    def is_hedged(self) -> bool:
        """Whether the sentence says that it is not certain, or that something is missing."""
        return is_hedged(self.masked)

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the sentence without function words."""
        return list_words(self.masked)

    @cached_property
    def statements(self) -> Sequence[Statement]:
        """The parts of the sentence that state a few numbers."""
        return tuple(find_statements(remove_markup(self.masked)))

    @cached_property
    def dates(self) -> list[LocatedDate]:
        """The dates of the sentence, with their offsets in the answer."""
        found = locate_dates(self.masked)
        taken = _mark_dates(self.masked, found)
        for number in self._numbers:
            written = self.masked[number.start : number.end]
            is_free = not any(taken[number.start : number.end])
            has_unit = _has_known_unit(number.quantity.unit)
            if is_free and _YEAR.fullmatch(written) and not has_unit:
                span = build_year_span(int(written))
                if span is not None:
                    found.append(LocatedDate(span, number.start, number.end, has_year=True))
        return [
            each._replace(start=self.start + each.start, end=self.start + each.end)
            for each in sorted(found, key=lambda each: each.start)
        ]

    @cached_property
    def _numbers(self) -> Sequence[LocatedNumber]:
        return tuple(find_numbers(self.masked))

    @cached_property
    def figures(self) -> list[Figure]:
        """The figures of the sentence that are no part of a date."""
        taken = _mark_dates(self.masked, self.dates, self.start)
        return [
            _build_figure(self, number)
            for number in self._numbers
            if not any(taken[number.start : number.end])
            and not _ORDINAL.fullmatch(self.masked[number.start : number.end])
            and not _are_minutes(self.masked, number)
        ]

    def list_paths(self) -> Iterator[str]:
        """Yield the paths of files and the names in links."""
        linked = [match[1] for match in _LINK.finditer(self.text)]
        yield from linked
        bare = _LINK.sub(" ", self.text)
        long = [match[0] for match in _LONG_PATH.finditer(bare)]
        yield from long
        short = (path for path in find_paths(bare) if "://" not in path)
        yield from (path for path in short if not any(path in each for each in long))

    @property
    def is_german(self) -> bool:
        """Whether the sentence is German, in which every noun has a capital letter."""
        return len(_GERMAN.findall(fold(self.masked))) > 1

    def list_names(self) -> Iterator[str]:
        """Yield the names of persons, places and things. In German, they come in pairs."""
        shown = re.sub(r"[*`]|(?<!\w)_|_(?!\w)", " ", _LINK.sub(" ", self.masked))
        if self.is_german:
            pairs = (
                pair[0] for pair in _PAIR.finditer(shown) if not is_known_unit(pair[0].split()[0])
            )
            shown = ", ".join(each for each in pairs if fold(each.split()[0]) not in FUNCTION_WORDS)
        words = {
            name
            for name in find_names(shown)
            if not (_is_day_or_month(name) or _NO_NAMES.fullmatch(fold(name)))
            and not is_known_unit(name)
        }
        name, end = "", -1
        for match in _LETTERS.finditer(shown):
            around = shown[match.start() - 1 : match.start()] + shown[match.end() : match.end() + 1]
            if match[0] not in words or any(_JOINS.match(char) for char in around):
                continue
            if name and shown[end : match.start()] == " ":
                name = f"{name} {match[0]}"
            else:
                if name:
                    yield name
                name = match[0]
            end = match.end()
        if name:
            yield name


def _mark_dates(text: str, dates: Sequence[LocatedDate], start: int = 0) -> bytearray:
    """Return for each character of a text whether it is part of a date.

    Args:
        start: the offset of the text, from which the dates are counted.
    """
    marks = bytearray(len(text))
    for each in dates:
        first, end = each.start - start, each.end - start
        marks[first:end] = bytes([1]) * (end - first)
    return marks


def _is_day_or_month(name: str) -> bool:
    return find_weekday(name) is not None or find_month(name) is not None


def is_hedged(text: str) -> bool:
    """Return whether a text says that it is not certain, or that something is missing."""
    folded_text = text.casefold()
    return bool(_HEDGE.search(folded_text) or _ABSENCE.search(folded_text))


def list_sentences(answer: str) -> list[AnswerSentence]:
    """Return the sentences, list items and table rows of an answer that may claim something.

    Headings, code and block quotations are left out.
    """
    masked = mask_non_prose(answer)
    groups = parse_answer(answer).numbers
    for group in groups:
        masked = masked[: group.start] + " " * (group.end - group.start) + masked[group.end :]
    masked = masked.replace(HIDDEN, " ")
    spans = sorted((*locate_sentences(answer), *_locate_rows(answer)))
    sentences = []
    for start, end in spans:
        line = answer.rfind("\n", 0, start) + 1
        if answer[line:start].lstrip().startswith(">"):
            continue
        within = (group for group in groups if start <= group.start < end)
        cited = tuple(dict.fromkeys(n for group in within for n in group.numbers))
        sentences.append(AnswerSentence(answer[start:end], masked[start:end], start, cited))
    return sentences


def _locate_rows(answer: str) -> Iterator[tuple[int, int]]:
    """Yield the offsets of the rows of tables."""
    if "|" not in answer:
        return
    text, at = read_text(answer), 0
    for line, kind in zip(text.lines, text.kinds, strict=True):
        if kind == TABLE_ROW and line.strip():
            yield at, at + len(line.rstrip())
        at += len(line) + 1


def _build_figure(sentence: AnswerSentence, number: LocatedNumber) -> Figure:
    quantity, masked = number.quantity, sentence.masked
    if not quantity.values:
        number = _widen(number, masked)
    written = masked[number.start : number.end]
    values, unit = quantity.values, quantity.unit
    clock = read_clock(masked, number)
    if clock is not None:
        values, unit = frozenset((clock,)) if ":" in written else values | {clock}, ""
    if unit in _WORD_OR_UNIT and _WORD_AFTER.match(masked, number.end):
        unit = ""
    if code := _CODE_BEFORE.search(masked[max(0, number.start - _MOST_BEFORE) : number.start]):
        unit = code[1].lower()
    symbol = _SYMBOLS.match(masked, number.end)
    unit = symbol[1] if symbol else unit
    is_known = _has_known_unit(unit)
    shown = f"{written}{symbol[0]}" if symbol else quantity.written
    shown = shown if is_known and values else written
    is_plain = all(value.is_integer() and value <= _FEW for value in values)
    place = LocatedNumber(quantity, sentence.start + number.start, sentence.start + number.end)
    before = _WORD_BEFORE.search(masked[max(0, number.start - _MOST_BEFORE) : number.start])
    is_part = before is not None and fold(before[1]) in _PART_WORDS
    is_multiple = MULTIPLE.match(masked, number.end) is not None or (
        _FACTOR_BEFORE.search(masked[max(0, number.start - _MOST_BEFORE) : number.start])
        is not None
    )
    is_count = bool(values) and is_plain and (is_part or not is_known) and not is_multiple
    nearly = _NEARLY.search(masked[max(0, number.start - _MOST_BEFORE) : number.start])
    near = nearly[1].casefold() if nearly else ""
    unit = unit if is_known else ""
    is_negative = bool(values) and _is_negative(masked, number.start)
    return Figure(place, values, unit, shown, is_count, near, is_negative, clock, is_multiple)


def _is_negative(text: str, start: int) -> bool:
    """Return whether a number has a sign, which in an equation may only follow no number."""
    if not has_sign(text, start):
        return False
    before = text[:start].rstrip("-−–€$£¥").rstrip()
    return "=" not in text or not before or before[-1] in "=(|:"


def has_sign(text: str, start: int) -> bool:
    """Return whether a minus sign stands directly before the number at an offset of a text."""
    return _SIGN.search(text[max(0, start - _SIGN_CHARS) : start]) is not None


def _widen(number: LocatedNumber, text: str) -> LocatedNumber:
    """Return a word with digits as a whole, without a point at its end."""
    start, end = number.start, number.end
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    return LocatedNumber(number.quantity, start, end)


def _are_minutes(text: str, number: LocatedNumber) -> bool:
    """Return whether a number is the minutes of a French time of day, as in "18 h 30"."""
    before = text[max(0, number.start - _MOST_BEFORE) : number.start]
    is_short = number.end - number.start == len("30")
    return is_short and _HOUR_BEFORE.search(before) is not None


def read_clock(text: str, number: LocatedNumber) -> float | None:
    """Return the minutes of a time of day, or None if it is none or may be one of two times."""
    match, mark = _CLOCK.fullmatch(text[number.start : number.end]), None
    if match is None:
        return None
    if not match[2] and (minutes := _MINUTES_AFTER.match(text, number.end)):
        return float(60 * int(match[1]) + int(minutes[1])) if int(match[1]) < _HOURS else None
    if found := _CLOCK_AFTER.match(text, number.end):
        mark = found[1][0].lower()
    hour, minute = int(match[1]), int(match[2] or 0)
    is_at = _AT_BEFORE.search(text[max(0, number.start - _MOST_BEFORE) : number.start]) is not None
    is_clock = (":" in match[0] or (is_at and match[2])) and not 0 < hour <= _HOURS // 2
    is_clock = bool(is_clock) if mark is None else mark != "h" or is_at
    if hour > _HOURS or not is_clock:
        return None
    if mark in ("a", "p"):
        hour = hour % (_HOURS // 2) + (_HOURS // 2 if mark == "p" else 0)
    return float(60 * hour + minute)


def _has_known_unit(unit: str) -> bool:
    return is_known_unit(unit) or unit in _SIGNS
