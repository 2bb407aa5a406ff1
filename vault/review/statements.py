"""Find the sentences that contain numbers in a line of text.

A quantity is a number or a time that states how much or how many. A number that names something is
treated as a word of the sentence instead. Examples are a year, a date, a version, the number after
"step" or "page", and a number joined with letters.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from vault.notes.keywords import FUNCTION_WORDS, fold
from vault.notes.text.sentences import split_sentences
from vault.review.texts import list_singulars, make_singular

__all__ = [
    "LEAST_OVERLAP",
    "QUALIFIERS",
    "LocatedNumber",
    "Quantity",
    "Statement",
    "find_numbers",
    "find_statements",
    "list_sentences",
    "list_words",
    "measure_overlap",
    "read_statement",
]

# Statements that share a smaller fraction of their words may be about different things.
LEAST_OVERLAP: Final = 0.7


def _split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CLAUSE_END: Final = re.compile(r"(?<=;)\s+(?=\S)|(?<!\s)\s+[—–]\s+")
_TOKEN: Final = re.compile(
    r"0x\w+|\d+(?:st|nd|rd|th)\b|[a-zà-ÿ]+[-_.]?\d[\w.]*(?:-\w+)*"
    r"|\d+(?:[.,:'’\u00a0\u202f/-]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?|[%€$£¥°]",
    re.IGNORECASE,
)
_MOST_KNOWN_TOKENS: Final = 32_768  # whose words are remembered
# Blanks between the thousands of a number. Others are part of its word.
_THIN_BLANKS: Final = frozenset(" \u2009")
_ARE_GROUPS: Final = re.compile(r"[1-9]\d{0,2}(?:[ \u2009]\d{3})+(?:[.,]\d{1,2})?")
_CLOCK: Final = re.compile(r"(\d{1,2}):(\d{2})")
_GROUPED: Final = re.compile(r"\d{1,3}(?:([.,'’\u00a0\u202f])\d{3})(?:\1\d{3})*")
_GROUPED_DECIMAL: Final = re.compile(
    r"\d{1,3}(?:([.,'’\u00a0\u202f])\d{3})(?:\1\d{3})*(?!\1)[.,]\d+"
)
_DECIMAL: Final = re.compile(r"\d+[.,]\d+")
# A number of a range such as "5-7", which is one word.
_PART: Final = re.compile(r"[^/-]+")
_YEARS: Final = range(1900, 2101)
_MOST_TOKENS, _MOST_QUANTITIES = 60, 4
_SYMBOLS: Final = frozenset("%€$£¥°")
_UNITS: Final = _split_words(
    """
    % € $ £ ¥ ° euro euros dollar dollars kg g mg t km m cm mm l ml dl w kw kwh wh v a ma mah
    hz khz mhz ghz b kb mb gb tb kib mib gib bytes bit bits px pt litre litres liter liters
    metre metres meter meters gram grams ms s sec second seconds min minute minutes h hour
    hours day days week weeks month months year years people percent
    """
)
# One of two statements may have additional words, but not these, because they change its meaning.
QUALIFIERS: Final = _split_words(
    """
    not no never without except only max maximum min minimum least most up per each total
    average every first second third last next new old another other extra additional before off
    after until since previous previously former formerly earlier later was were used
    originally usually if unless when half double twice nicht kein keine ohne nur pro je
    gesamt alt neu vorher nachher
    """
)
# The number after one of these words names something, as in "step 3".
_NAMERS: Final = _split_words(
    """
    page pages p pp chapter section step figure fig table version no nr number part week day
    item line lines level issue question room phase round lesson exercise appendix rule note
    eip erc rfc pr type option case example article paragraph volume vol slot channel port id
    kapitel seite schritt teil abschnitt
    """
)
_MONTHS: Final = _split_words(
    """
    january february march april may june july august september october november december jan
    feb mar apr jun jul aug sep sept oct nov dec januar februar marz mai juni juli oktober
    dezember janvier fevrier mars avril juin juillet aout septembre octobre novembre decembre
    """
)
_POINTING_WORDS: Final = _split_words(
    """
    this that these those it they he she there here such similarly dies diese dieser es er sie
    cela ceci ces il elle este esta esto questo questa
    """
)
_WE: Final = _split_words("we our us wir unser unsere nous notre nosotros noi")
_FIRST_NUMBER_WORD: Final = 2
_NUMBER_WORDS: Final = "two three four five six seven eight nine ten eleven twelve"
_VALUES: Final = {
    word: float(value)
    for value, word in enumerate(_NUMBER_WORDS.split(" "), start=_FIRST_NUMBER_WORD)
}
_TENS: Final = {
    word: 10.0 * value
    for value, word in enumerate(
        ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), start=2
    )
}
_SCALES: Final = _split_words(
    "hundred hundreds thousand thousands million millions billion billions dozen dozens"
)
# What follows a number and multiplies it. A letter stands directly behind the number.
_FACTORS: Final = {
    word: factor
    for factor, words in (
        (1e3, "thousand thousands tausend mille mil k"),
        (1e6, "million millions millionen millones mio mln"),
        (1e9, "billion billions milliarde milliarden milliard milliards mrd bn"),
        (1e12, "trillion trillions billionen"),
    )
    for word in words.split()
}
_JOINED_FACTORS: Final = _split_words("k bn mio mln mrd")
_FRACTIONS: Final = _split_words(
    "half halves third thirds quarter quarters fourth fourths fifth fifths tenth tenths point"
)
_HAS_NUMBER: Final = re.compile(rf"\d|\b(?:{_NUMBER_WORDS.replace(' ', '|')})\b", re.IGNORECASE)
# What any text with a number has, also one in which marks of Markdown touch the word of a number.
_MAY_HAVE_NUMBER: Final = re.compile(rf"\d|{_NUMBER_WORDS.replace(' ', '|')}")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number that states how much or how many.

    Attributes:
        values: the possible values of the number, such as 1.5 and 1,500 for "1.500".
        unit: the word or symbol directly after the number, or the currency symbol before it.
        written: the number and its unit as written.
    """

    values: frozenset[float]
    unit: str
    written: str

    def contradicts(self, other: "Quantity") -> bool:
        """Return whether two numbers have no possible value in common."""
        return self.values.isdisjoint(other.values)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence or list item that contains at least one number.

    Attributes:
        text: the sentence.
        words: the words of the sentence, normalized and in the singular, without function words and
            the numbers in `quantities`.
        names: the words that are names, or numbers that name something.
        quantities: the numbers in the sentence, in order.
    """

    text: str
    words: frozenset[str]
    names: frozenset[str]
    quantities: tuple[Quantity, ...]


@dataclass(frozen=True, slots=True)
class LocatedNumber:
    """A word with digits in a text, or a number in words, with its place there.

    Attributes:
        quantity: its possible values and its unit. Without a value, it is no plain number, such as
            a version, an address or a name.
        start: the offset of its first character.
        end: the offset behind the number, without its unit.
    """

    quantity: Quantity
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Token:
    written: str
    folded: str
    start: int
    end: int


def list_words(text: str) -> frozenset[str]:
    """Return the words of a text as those of a statement: in the singular, without function words.

    Args:
        text: the text, such as a title or a question.
    """
    tokens = (match[0] for match in _TOKEN.finditer(text))
    return frozenset(word for token in tokens for word in _list_token_words(token))


_fold_token: Final = lru_cache(_MOST_KNOWN_TOKENS)(fold)


@lru_cache(_MOST_KNOWN_TOKENS)
def _list_token_words(token: str) -> tuple[str, ...]:
    return () if fold(token) in FUNCTION_WORDS else tuple(list_singulars(token))


def list_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a line, and the parts of sentences, that contain a number.

    Sentences about the note itself and very long ones are left out.
    """
    if not _HAS_NUMBER.search(text):
        return
    clauses = (clause for each in split_sentences(text) for clause in _CLAUSE_END.split(each))
    for sentence in filter(_HAS_NUMBER.search, clauses):
        tokens = _list_tokens(sentence)
        if 2 <= len(tokens) <= _MOST_TOKENS and not _is_about_its_note(tokens):
            yield sentence.strip()


def find_statements(text: str) -> Iterator[Statement]:
    """Yield the sentences of a line that contain one to four numbers."""
    for sentence in list_sentences(text):
        statement = read_statement(sentence)
        if 0 < len(statement.quantities) <= _MOST_QUANTITIES:
            yield statement


def find_numbers(text: str) -> Iterator[LocatedNumber]:
    """Yield each word with digits and each number in words, also those that name something.

    Numbers that a hyphen or a slash joins, as in "5-7 kg", are told apart.

    Args:
        text: the text, of any length.
    """
    if not _MAY_HAVE_NUMBER.search(fold(text)):
        return
    tokens = _join_groups(text, _list_tokens(text))
    for at, token in enumerate(tokens):
        if token.folded in _VALUES:
            values = frozenset((_VALUES[token.folded],))
            if _is_part_of_number(tokens, at):
                yield from _read_tens(text, tokens, at, values)
                continue
        elif any(map(str.isdecimal, token.written)):
            values = _parse_number(token.written)
        else:
            continue
        if (scaled := _read_scaled(text, tokens, at, values)) is not None:
            yield scaled
            continue
        quantity = _build_quantity(text, tokens, at, values)
        parts = [] if values else list(_PART.finditer(token.written))
        if len(parts) < 2 or not all(_parse_number(part[0]) for part in parts):
            yield LocatedNumber(quantity, token.start, token.end)
            continue
        for part in parts:
            each = replace(quantity, values=_parse_number(part[0]), written=part[0])
            yield LocatedNumber(each, token.start + part.start(), token.start + part.end())


def _read_scaled(
    text: str, tokens: Sequence[_Token], at: int, values: frozenset[float]
) -> LocatedNumber | None:
    """Return a number with the word that multiplies it, as in "1.2 million" and "5k", or None."""
    token, after = tokens[at], tokens[at + 1] if at + 1 < len(tokens) else None
    if after is None or not values or ":" in token.written:
        return None
    between, word = text[token.end : after.start], after.folded
    is_joined = not between and (word in _JOINED_FACTORS or after.written == "M")
    word = "million" if is_joined and after.written == "M" else word
    if word not in _FACTORS or between.strip(" \u202f\u00a0") or (len(word) == 1 and not is_joined):
        return None
    scaled = frozenset(round(value * _FACTORS[word], 6) for value in values)
    whole = _Token(text[token.start : after.end], token.folded, token.start, after.end)
    beside = [*tokens[max(0, at - 1) : at], whole, *tokens[at + 2 : at + 3]]
    quantity = _build_quantity(text, beside, min(at, 1), scaled)
    return LocatedNumber(quantity, token.start, after.end)


def _is_part_of_number(tokens: Sequence[_Token], at: int) -> bool:
    """Return whether a number in words is only a part of one, as in "five hundred"."""
    before = [token.folded for token in tokens[max(0, at - 2) : at]]
    after = [token.folded for token in tokens[at + 1 : at + 4]]
    is_end = bool(before) and (before[-1] in _TENS or before[-1] in _SCALES)
    is_end = is_end or (before[-1:] == ["and"] and before[0] in _SCALES)
    is_begin = bool(after) and (after[0] in _SCALES or after[0] in _FRACTIONS)
    return is_end or is_begin or (after[:1] == ["and"] and bool(_FRACTIONS & {*after[1:]}))


def _read_tens(
    text: str, tokens: Sequence[_Token], at: int, values: frozenset[float]
) -> Iterator[LocatedNumber]:
    """Yield a number such as "twenty-five". Others that are told in several words are not read."""
    around = [*tokens[max(0, at - 2) : max(0, at - 1)], *tokens[at + 1 : at + 2]]
    is_longer = any(token.folded in _SCALES or token.folded == "and" for token in around)
    if is_longer or not at or tokens[at - 1].folded not in _TENS:
        return
    tens = tokens[at - 1]
    quantity = _build_quantity(text, tokens, at, frozenset(map(_TENS[tens.folded].__add__, values)))
    written = f"{text[tens.start : tokens[at].start]}{quantity.written}"
    yield LocatedNumber(replace(quantity, written=written), tens.start, tokens[at].end)


def read_statement(text: str) -> Statement:
    """Read a text as one statement, which may contain no number.

    Args:
        text: the text, such as a clause.
    """
    return _build_statement(text, _list_tokens(text))


def measure_overlap(one: Statement, other: Statement) -> float:
    """Return the fraction of words that two statements share.

    Return 0 if the statements may be about different things.
    """
    added = one.words ^ other.words
    if one.words - other.words and other.words - one.words:
        return 0.0
    if not (one.words and other.words) or added & (QUALIFIERS | one.names | other.names):
        return 0.0
    return len(one.words & other.words) / len(one.words | other.words)


def _list_tokens(text: str) -> list[_Token]:
    return [
        _Token(match[0], _fold_token(match[0]), match.start(), match.end())
        for match in _TOKEN.finditer(text)
    ]


def _join_groups(text: str, tokens: Sequence[_Token]) -> list[_Token]:
    """Join the parts of numbers whose thousands are set apart by a blank, as in "1 900"."""
    joined: list[_Token] = []
    for token in tokens:
        last = joined[-1] if joined else None
        between = text[last.end : token.start] if last is not None else ""
        if last and between in _THIN_BLANKS and _ARE_GROUPS.fullmatch(text, last.start, token.end):
            written = last.written + token.written
            joined[-1] = _Token(written, written, last.start, token.end)
        else:
            joined.append(token)
    return joined


def _is_about_its_note(tokens: Sequence[_Token]) -> bool:
    """Return whether a sentence is about the note that contains it, as in "This adds two steps"."""
    is_pointing = tokens[0].folded in _POINTING_WORDS
    return is_pointing or any(token.folded in _WE for token in tokens)


def _build_statement(sentence: str, tokens: Sequence[_Token]) -> Statement:
    words, names, quantities = set[str](), set[str](), list[Quantity]()
    for at, token in enumerate(tokens):
        values = _find_values(tokens, at)
        if values:
            quantities.append(_build_quantity(sentence, tokens, at, values))
        elif token.folded not in FUNCTION_WORDS and token.written not in _SYMBOLS:
            is_number = any(char.isdecimal() for char in token.folded)
            found = {token.folded} if is_number else set(list_singulars(token.written))
            words |= found
            if is_number or (at and token.written[0].isupper()):
                names |= found
    return Statement(sentence, frozenset(words), frozenset(names), tuple(quantities))


def _find_values(tokens: Sequence[_Token], at: int) -> frozenset[float]:
    """Return the values that a word or number may represent.

    The set is empty if the word is not a quantity. It has several values if the notation is
    ambiguous: "1,234" is 1234 or 1.234.

    Args:
        tokens: the words and numbers of the sentence.
        at: the index of the word or number.
    """
    token = tokens[at]
    before = tokens[at - 1].folded if at else ""
    after = tokens[at + 1].folded if at + 1 < len(tokens) else ""
    if token.folded in _VALUES:
        is_part = _is_part_of_number(tokens, at)
        return frozenset() if is_part else frozenset((_VALUES[token.folded],))
    # "TransactionType 2" and "Room 4" are names, but a sentence may begin with any word.
    is_named = at > 1 and tokens[at - 1].written != before and before.isalpha()
    names_something = is_named or before in _NAMERS or before in _MONTHS or after in _MONTHS
    if not token.written[0].isdecimal() or names_something:
        return frozenset()
    values = _parse_number(token.written)
    is_year = token.written.isdecimal() and int(token.written) in _YEARS
    if is_year and after not in _UNITS and before not in _SYMBOLS:
        return frozenset()
    return values


def _parse_number(written: str) -> frozenset[float]:
    """Return the possible values of a number, or an empty set for a date, range or version.

    A time of day is converted to minutes.
    """
    if clock := _CLOCK.fullmatch(written):
        return frozenset((float(60 * int(clock[1]) + int(clock[2])),))
    if written.isdecimal():
        return frozenset((float(written),)) if len(written) < 16 else frozenset()
    values = set()
    if grouped := _GROUPED_DECIMAL.fullmatch(written):
        values.add(float(written.replace(grouped[1], "").replace(",", ".")))
    if grouped := _GROUPED.fullmatch(written):
        values.add(float(written.replace(grouped[1], "")))
    if _DECIMAL.fullmatch(written):
        values.add(float(written.replace(",", ".")))
    return frozenset(values)


def _build_quantity(
    sentence: str, tokens: Sequence[_Token], at: int, values: frozenset[float]
) -> Quantity:
    """Build a quantity from a number and the unit next to it.

    Args:
        sentence: the sentence that contains the number.
        tokens: the words and numbers of the sentence.
        at: the index of the number.
        values: the possible values of the number.
    """
    token, before = tokens[at], tokens[at - 1] if at else None
    is_beside = before is not None and not sentence[before.end : token.start].strip()
    if before is not None and is_beside and before.written in _SYMBOLS:
        return Quantity(values, before.written, sentence[before.start : token.end])
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    if following is None or following.written[0].isdecimal():
        return Quantity(values, ":" if ":" in token.written else "", token.written)
    if sentence[token.end : following.start].strip():
        return Quantity(values, "", token.written)
    is_unit = following.folded in _UNITS
    written = sentence[token.start : following.end] if is_unit else token.written
    return Quantity(values, make_singular(following.folded), written)
