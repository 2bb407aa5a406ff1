"""Read the numbers that values begin with, such as "1,400 EUR", "9.8 kg" or "4,5", and add them.

A point or a comma may stand before decimals or between thousands. Most numbers show which it is.
Of one such as "1.900", only the other values of the same property can tell for certain. Where
numbers are compared, its point stands before decimals, since a plain text or YAML writes them so.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final, Literal

from vault.notes.keywords import fold
from vault.notes.units import can_convert, convert_amount

__all__ = [
    "CURRENCIES",
    "Amount",
    "DecimalMark",
    "add_amounts",
    "average_amounts",
    "contains_money",
    "cut_money",
    "find_decimal_mark",
    "find_money",
    "has_two_readings",
    "list_spellings",
    "parse_amount",
    "read_number",
    "read_numbers",
]

# The mark before decimals, or an empty string if it is not known.
DecimalMark = Literal["", ".", ","]

# The signs of currencies.
CURRENCIES: Final = "€$£¥"
_CODES: Final = (
    "AUD|BRL|CAD|CHF|CNY|CZK|DKK|DM|EUR|GBP|HKD|HUF|ILS|INR|ISK|JPY|KRW|MXN|NOK|NZD|PLN|RON|RUB|SEK"
    "|SGD|THB|TRY|UAH|USD|ZAR"
)
_AMOUNT: Final = re.compile(
    r"(?P<sign>[-+−]?)"
    rf"(?:(?P<before>[{CURRENCIES}]|(?:{_CODES})(?![^\W\d_])) ?(?P<second>[-+−]?))?"
    r"(?P<whole>[1-9]\d{0,2}(?:[ '’\u00a0\u2009\u202f]\d{3}(?!\d))+|\d+)(?P<rest>(?:[.,]\d+)*)"
    r"(?P<end>[.,]?)(?P<behind>.*)",
    re.DOTALL,
)
_UNIT: Final = re.compile(
    rf"[^\W\d_]{{1,12}}\.?|[{CURRENCIES}%°]|°[CFK]|pour cent|por ciento|", re.IGNORECASE
)
_MONEY: Final = re.compile(
    rf"[{CURRENCIES}]|(?:{_CODES}|euros?|dollars?|francs?|franken)(?![^\W\d_])", re.IGNORECASE
)
_BLANK: Final = r"[ \u00a0\u2009\u202f]"
_FIGURE: Final = (
    rf"(?!0\d)(?>[1-9]\d{{0,2}}(?:(?:{_BLANK}|['’])\d{{3}}(?!\d))+(?:[.,]\d+)?|\d+(?:[.,]\d+)*)"
)
_MONEY_WORDS: Final = (
    *("euros", "euro", "dollars", "dollar", "pounds", "pound"),
    *("francs", "franc", "franken"),
)
_WORDS: Final = "|".join(_MONEY_WORDS)
# No digits of a longer number, a range, a date or a time stand before.
_START: Final = r"(?<![\w.,])(?<!\d[-–—/:])"
_SIGN: Final = r"(?:(?<![^\s(])[-+−–])?"
# A word that makes another number of the one before it, as in "€20 million" or "$5 bn".
_MAGNITUDE: Final = (
    r"(?:hundred|thousand|[mb]illions?|[mb]ill?iones|[mb]illionen|milliards?|milliarden?|trillions?"
    r"|hundert|tausend|tsd|mille|mil|mio|mill?|mrd|mn|bn|tn|[km])"
)
_MONEY_IN_TEXT: Final = re.compile(
    rf"{_SIGN}{_START}(?:[{CURRENCIES}]|(?:{_CODES})(?![^\W\d_])){_BLANK}?-?{_FIGURE}"
    rf"(?![\w%]|{_BLANK}{_MAGNITUDE}(?!\w))"
    rf"|{_SIGN}{_START}{_FIGURE}{_BLANK}?(?:[{CURRENCIES}](?!\w)|(?:{_CODES}|{_WORDS})(?!\w))",
    re.IGNORECASE,
)
# What makes an amount the end or the beginning of a range, such as "10-20 €" or "€10 to €20".
_RANGE_TO: Final = rf"(?:[-–—]|{_BLANK}(?:to|bis|à|a){_BLANK})"
_SIGN_OF_MONEY: Final = rf"(?:[{CURRENCIES}]|(?:{_CODES}|{_WORDS}))"
_RANGE_BEFORE: Final = re.compile(rf"\d{_BLANK}?{_SIGN_OF_MONEY}?{_RANGE_TO}$", re.IGNORECASE)
_RANGE_BEHIND: Final = re.compile(rf"{_RANGE_TO}{_SIGN_OF_MONEY}?{_BLANK}?\d", re.IGNORECASE)
# A day of a year, such as "24.12.", which is no number.
_DAY_AND_MONTH: Final = re.compile(r"(?:0?[1-9]|[12]\d|3[01])\.(?:0?[1-9]|1[0-2])\.")
_THOUSANDS: Final = re.compile(r"[1-9]\d{0,2}(?:[.,]\d{3})+")
_TWO_UNITS: Final = re.compile(
    r"(?P<number>\d{1,4})\s?(?P<unit>[^\W\d_]{1,12})\.?\s?(?:(?:and|und|et|y)\s)?"
    r"(?P<more>\d{1,4})\s?(?P<second>[^\W\d_]{1,12})\.?"
)
_HOURS: Final = re.compile(r"(?P<hours>\d{1,3})\s?h\s?(?P<minutes>[0-5]\d)")
_MINUTES: Final = 60
_DRAWN_STARS: Final = re.compile(r"(?P<full>[★⭐🌟]{1,10})[☆✩\ufe0f]*")
_MOST_DECIMALS: Final = 2
_MOST_IN_RANGE: Final = 20
_MOST_CHARS: Final = 100
# Enough digits for the sum of many numbers, so that none is rounded.
_EXACT: Final = Context(prec=3 * _MOST_CHARS, rounding=ROUND_HALF_UP)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with its unit.

    Attributes:
        unit: the unit as written, or an empty string.
        decimals: the number of digits behind the decimal point.
    """

    number: Decimal
    unit: str = ""
    decimals: int = 0

    @property
    def is_money(self) -> bool:
        """Whether the unit is a currency."""
        return _MONEY.fullmatch(self.unit) is not None

    def __str__(self) -> str:
        """Write the amount as it is shown, such as "1,234.50 EUR".

        Of more than two decimals, noughts at the end are left out, since "2.000" may be two
        thousand.
        """
        shown = f"{self.number:,.{self.decimals}f}"
        if self.decimals > _MOST_DECIMALS:
            shown = shown.rstrip("0").rstrip(".")
        return f"{shown} {self.unit}" if self.unit else shown


@dataclass(frozen=True, slots=True)
class _Written:
    """A number as written at the start of a text.

    Attributes:
        digits: the sign and the digits, with points and commas.
        mark: the decimal mark, or an empty string if the number has none, or does not show it.
        has_two: whether the number can be read in two ways.
        unit: the currency before the number.
        behind: what follows the number.
        is_ended: whether a point or comma stands behind the number, which ends a sentence or part.
    """

    digits: str
    mark: DecimalMark
    has_two: bool
    unit: str
    behind: str
    is_ended: bool

    @property
    def is_money(self) -> bool:
        """Whether the unit is a currency."""
        return _MONEY.match(self.unit or self.behind) is not None

    def list_marks(self, mark: DecimalMark) -> tuple[DecimalMark, ...]:
        """Return the decimal marks that the number may be read with, the most likely one first.

        Args:
            mark: the decimal mark of the values that the number belongs to, if it is known.
        """
        if mark or not self.has_two:
            return (mark,)
        if "." in self.digits:
            return (",", ".") if self.is_money else (".",)
        return (".",) if self.is_money else (".", ",")

    def read(self, mark: DecimalMark) -> tuple[Decimal, int]:
        """Return the number and its decimals.

        Args:
            mark: the decimal mark, which counts if the number can be read in two ways.
        """
        point = (mark if self.has_two else self.mark) or "\0"
        whole, _, decimals = self.digits.partition(point)
        whole = re.sub(r"[.,]", "", whole)
        return Decimal(f"{whole}.{decimals}" if decimals else whole), len(decimals)


def find_decimal_mark(texts: Iterable[str]) -> DecimalMark:
    """Return the decimal mark of texts that begin with numbers, such as the values of a property.

    It is an empty string if no number shows it, or if they contradict one another.
    """
    written = (_read(text) for text in texts)
    marks = {each.mark for each in written if each is not None and each.mark}
    return marks.pop() if len(marks) == 1 else ""


def has_two_readings(text: str, mark: DecimalMark) -> bool:
    """Return whether the number that a text begins with can be read in two ways, as "1.900".

    Args:
        mark: the decimal mark of the values that it belongs to, if it is known.
    """
    written = _read(text)
    return written is not None and written.has_two and not mark


def read_number(text: str, mark: DecimalMark = "") -> Decimal | None:
    """Return the number that a text begins with, or None if it begins with something else.

    If the mark is not known, a single point is taken for the decimal one, except in money, and a
    comma before three digits for thousands.
    """
    return next(iter(read_numbers(text, mark)), None)


def read_numbers(text: str, mark: DecimalMark = "") -> tuple[Decimal, ...]:
    """Return all numbers that the beginning of a text may mean, the most likely one first.

    "3.875" is a decimal, and "1,400 EUR" has thousands. Without another value that tells, both are
    possible of "1.859 EUR", since fuel is priced so, and of "1,400".

    Args:
        mark: the decimal mark of the values that it belongs to, if it is known.
    """
    written = _read(text)
    if written is None:
        return ()
    return tuple(written.read(each)[0] for each in written.list_marks(mark))


def parse_amount(text: str, mark: DecimalMark = "") -> Amount | None:
    """Return the amount that a text consists of, or None if it says anything else.

    If it can be read in two ways and the mark is not known, it is taken for thousands.
    """
    written = _read(text)
    if written is None or _UNIT.fullmatch(written.behind) is None:
        return None
    if written.behind and (written.unit or written.is_ended):
        return None
    number, decimals = written.read(mark)
    return Amount(number, written.unit or written.behind, decimals)


def find_money(text: str) -> tuple[Amount, ...]:
    """Return the amounts of money in a text, such as "20€" in "goggles, 20€ at the sale".

    Ranges such as "10-20 €" and amounts with a word such as "million" are none.
    """
    read = (_read_money(found) for found in _MONEY_IN_TEXT.finditer(text))
    return tuple(amount for amount in read if amount is not None)


def cut_money(text: str) -> str:
    """Return a text without the amounts of money that `find_money` finds in it."""
    return _MONEY_IN_TEXT.sub(lambda found: found[0] if _read_money(found) is None else " ", text)


def list_spellings(money: Amount) -> tuple[str, ...]:
    """Return phrases to search for an amount of money. However it is written, it contains one.

    A mark between thousands is written as a blank, and so is a decimal mark. A currency may stand
    at the figures without a blank.
    """
    number = abs(money.number)
    whole, _, decimals = f"{number.normalize():f}".partition(".")
    figures = {whole, f"{int(whole):,}".replace(",", " ")}
    if decimals:
        ends = {decimals, decimals.ljust(_MOST_DECIMALS, "0")}
        figures = {f"{figure} {end}" for figure in figures for end in ends}
    units = {unit.lower() for unit in (*_CODES.split("|"), *_MONEY_WORDS)}
    units = {unit for unit in units if can_convert(unit, money.unit)}
    before = {f"{unit}{figure}" for unit in units for figure in figures}
    behind = {f"{figure}{unit}" for unit in units for figure in figures}
    return tuple(sorted(figures | before | behind))


def _read_money(found: re.Match[str]) -> Amount | None:
    """Return an amount of money that was found in a text, or None if it is a part of a range."""
    start, end = found.span()
    is_end = _RANGE_BEFORE.search(found.string, max(0, start - _MOST_IN_RANGE), start) is not None
    if is_end or _RANGE_BEHIND.match(found.string, end):
        return None
    return parse_amount(found[0].replace("–", "-"))


def contains_money(text: str, wanted: Iterable[Amount]) -> bool:
    """Return whether a text has all amounts of money, however their currencies are written."""
    found = find_money(text)
    return all(
        any(one.number == each.number and can_convert(one.unit, each.unit) for one in found)
        for each in wanted
    )


def add_amounts(amounts: Sequence[Amount]) -> Amount | None:
    """Return the exact sum of amounts, or None if there are none, or their units differ."""
    if len({fold(amount.unit) for amount in amounts}) != 1:
        return None
    total = Decimal(0)
    for amount in amounts:
        total = _EXACT.add(total, amount.number)
    return Amount(total, amounts[0].unit, max(amount.decimals for amount in amounts))


def average_amounts(amounts: Sequence[Amount]) -> Amount | None:
    """Return the mean of amounts, or None if there are none, or their units differ.

    It has up to two decimals more than the amounts.
    """
    total = add_amounts(amounts)
    if total is None:
        return None
    mean = _EXACT.divide(total.number, Decimal(len(amounts)))
    smallest = Decimal(1).scaleb(-total.decimals - _MOST_DECIMALS)
    written = f"{mean.quantize(smallest, context=_EXACT):f}"
    shown = written.rstrip("0").rstrip(".") if "." in written else written
    return Amount(Decimal(shown), total.unit, len(shown.partition(".")[2]))


def _write_with_one_unit(text: str) -> str:
    """Write an amount with one unit that has two, as "1 h 30 min" or "1h30", or is drawn in stars.

    Any other text is returned as it is. In "1h30", hours are kept, since it may be a time.
    """
    if (drawn := _DRAWN_STARS.fullmatch(text)) is not None:
        return f"{len(drawn['full'])} stars"
    if (time := _HOURS.fullmatch(text)) is not None:
        return f"{int(time['hours']) + int(time['minutes']) / Decimal(_MINUTES):f} h"
    two = _TWO_UNITS.fullmatch(text)
    if two is None or not can_convert(two["unit"], two["second"]):
        return text
    size = convert_amount(Decimal(1), two["unit"], two["second"])
    if size is None or size <= 1:
        return text
    return f"{size * int(two['number']) + int(two['more']):f} {two['second']}"


def _read(text: str) -> _Written | None:
    """Return the number at the start of a text, with a currency before it, and what follows."""
    found = _AMOUNT.fullmatch(_write_with_one_unit(text.strip()))
    if found is None or (found["sign"] and found["second"]):
        return None
    rest = found["rest"]
    whole = re.sub(r"\D", "", found["whole"])
    if _DAY_AND_MONTH.fullmatch(found[0]) or len(whole) + len(rest) > _MOST_CHARS:
        return None  # no amount of anything
    is_grouped = whole != found["whole"]
    read = _find_mark(whole, rest, is_grouped=is_grouped)
    if read is None:
        return None
    sign = (found["sign"] or found["second"] or "").replace("−", "-")
    before, behind = found["before"] or "", found["behind"].strip()
    return _Written(f"{sign}{whole}{rest}", *read, before, behind, is_ended=bool(found["end"]))


def _find_mark(whole: str, rest: str, *, is_grouped: bool) -> tuple[DecimalMark, bool] | None:
    """Return the decimal mark that a number shows, and whether it can be read in two ways.

    Return None if its points and commas are those of no number.

    Args:
        whole: the digits before the first point or comma.
        rest: what follows them.
        is_grouped: whether blanks or the like stand between the thousands.
    """
    marks = re.findall(r"[.,]", rest)
    if not marks:
        return "", False
    last: DecimalMark = "." if marks[-1] == "." else ","
    before = whole + rest[: rest.rindex(last)]
    is_last_new = last not in marks[:-1]
    if len(marks) == 1:
        has_two = not is_grouped and _THOUSANDS.fullmatch(whole + rest) is not None
        return ("", True) if has_two else (last, False)
    if is_grouped or len(set(marks[:-1])) > 1:
        return None
    if is_last_new:
        return (last, False) if _THOUSANDS.fullmatch(before) else None
    other: DecimalMark = "," if last == "." else "."
    return (other, False) if _THOUSANDS.fullmatch(whole + rest) else None
