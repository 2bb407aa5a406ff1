"""Read the numbers that values begin with, such as "1,400 EUR", "9.8 kg" or "4,5", and add them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from vault.notes.keywords import fold

__all__ = ["Amount", "add_amounts", "average_amounts", "parse_amount", "read_number"]

_NUMBER: Final = re.compile(r"[-+−]?\d[\d.,'\u00a0\u202f]*")
_CURRENCIES: Final = "€$£¥"
_UNIT: Final = re.compile(rf"[^\W\d_]{{1,12}}\.?|[{_CURRENCIES}%°]|°[CFK]|")
_MOST_DECIMALS: Final = 2


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with its unit.

    Attributes:
        unit: the unit as written, or an empty string.
        decimals: the number of digits behind the decimal point.
    """

    number: float
    unit: str = ""
    decimals: int = 0

    def __str__(self) -> str:
        """Write the amount as it is shown, such as "1,234.50 EUR"."""
        shown = f"{self.number:,.{self.decimals}f}"
        return f"{shown} {self.unit}" if self.unit else shown


def read_number(text: str) -> float | None:
    """Return the number that a text begins with, or None if it begins with something else."""
    found = _read(text)
    return None if found is None else found[0].number


def parse_amount(text: str) -> Amount | None:
    """Return the amount that a text consists of, or None if it says anything else."""
    found = _read(text)
    if found is None or _UNIT.fullmatch(found[1]) is None or (found[0].unit and found[1]):
        return None
    amount, behind = found
    return Amount(amount.number, amount.unit or behind, amount.decimals)


def add_amounts(amounts: Sequence[Amount]) -> Amount | None:
    """Return the sum of amounts, or None if there are none, or their units differ."""
    if len({fold(amount.unit) for amount in amounts}) != 1:
        return None
    decimals = max(amount.decimals for amount in amounts)
    return Amount(sum(amount.number for amount in amounts), amounts[0].unit, decimals)


def average_amounts(amounts: Sequence[Amount]) -> Amount | None:
    """Return the mean of amounts, or None if there are none, or their units differ.

    It has up to two decimals more than the amounts.
    """
    total = add_amounts(amounts)
    if total is None:
        return None
    mean = round(total.number / len(amounts), total.decimals + _MOST_DECIMALS)
    written = f"{mean:.{total.decimals + _MOST_DECIMALS}f}"
    return Amount(mean, total.unit, len(written.partition(".")[2].rstrip("0")))


def _read(text: str) -> tuple[Amount, str] | None:
    """Return the number at the start of a text, with a currency before it, and what follows."""
    text = text.strip()
    currency = text[0] if text[:1] and text[0] in _CURRENCIES else ""
    text = text.removeprefix(currency).lstrip()
    found = _NUMBER.match(text)
    if found is None:
        return None
    digits = re.sub(r"['\u00a0\u202f]", "", found[0]).rstrip(".,").replace("−", "-")
    if re.fullmatch(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?", digits):
        digits = digits.replace(",", "")
    elif re.fullmatch(r"[-+]?\d{1,3}(?:\.\d{3})*,\d+|[-+]?\d{1,3}(?:\.\d{3}){2,}", digits):
        digits = digits.replace(".", "")
    digits = digits.replace(",", ".")
    try:
        number = float(digits)
    except ValueError:
        return None
    decimals = len(digits.partition(".")[2])
    return Amount(number, currency, decimals), text[found.end() :].strip()
