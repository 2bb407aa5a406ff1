"""Write the short dates of a question in full, such as "10/10/26" and "3rd of Feb '23"."""

import re
from functools import cache
from typing import Final, NamedTuple

from vault.notes.date_spans import build_day

__all__ = ["write_dates_in_full"]

_FIRST_OF_1900S: Final = 70  # "70" is 1970, and "69" is 2069
_SLASHED: Final = re.compile(r"(?<![\w/.,-])(\d\d?)/(\d\d?)/((?:19|20)?\d\d)(?![\w/-]|[.,]\d)")
_DOTTED: Final = re.compile(r"(?<![\w.,-])(\d\d?)\.\s?(\d\d?)\.\s?(\d\d)(?![\w-]|[.,]\d)")
_DAY: Final = r"\d{1,2}(?:st|nd|rd|th|er)?\.?"
_YEAR: Final = r"[.,]?\s+(?:de\s+)?(?:19|20)\d\d"
_ARTICLE: Final = r"(?:(?:the|de[mn]|le|el)\s+)?"

# Words before a date, and hardly before the number of a version.
_BEFORE_DATES: Final = frozenset(
    (
        *("on", "from", "of", "since", "until", "before", "after"),
        *("am", "vom", "dem", "seit", "bis", "vor", "nach"),
        *("du", "le", "depuis", "del", "el", "desde"),
    )
)


class _Forms(NamedTuple):
    """Patterns for a year of two digits, months that share a year, and days that share a month."""

    short_year: re.Pattern[str]
    months: re.Pattern[str]
    days: re.Pattern[str]


def write_dates_in_full(text: str, month: str) -> str:
    """Write the dates of a question in forms that are read elsewhere.

    The day stands first in "19.11.26". In "19/11/26" either may: a date with two readings stays as
    it is. Of "25 and 27 November", two dates are made, unless "between" stands before it.

    Args:
        text: the question in lower case and without umlauts.
        month: a pattern for the name of a month.
    """
    forms = _compile(month.replace("?P<month>", "?:"))
    text = _SLASHED.sub(_write_slashed, text)
    text = _DOTTED.sub(_write_dotted, text)
    text = forms.short_year.sub(lambda found: f"{found[1]}{_write_year(found[2])}", text)
    text = forms.months.sub(lambda found: f"{found[1]}{found[2]}", text)
    return forms.days.sub(lambda found: f"{found[1]}{found[4]}{found[2]}{found[3]}{found[4]}", text)


@cache
def _compile(month: str) -> _Forms:
    join = rf"(?:,\s*|\s+(?:to|and|until|bis|und|au|et|a|y|hasta)\s+){_ARTICLE}"
    other = rf"{join}(?:{_DAY}\s+(?:(?:of|de)\s+)?)?{month}"
    return _Forms(
        re.compile(rf"(?<!\w)({month}\.?(?:\s+{_DAY})?,?\s+(?:of\s+|de\s+)?)['’](\d\d)(?!\w)"),
        re.compile(rf"(?<!\w)({month})(?=(?:{other}){{1,4}}({_YEAR})(?!\w))"),
        re.compile(
            rf"(?<![\w.])(?<!between )(?<!between the )({_DAY})(\s+(?:and|und|et|y)\s+{_ARTICLE})"
            rf"({_DAY})((?:\s+(?:of|de))?\s+{month}(?:{_YEAR})?)(?!\w)"
        ),
    )


def _write_slashed(found: re.Match[str]) -> str:
    first, second, year = found.groups()
    days = {_write_day(year, second, first), _write_day(year, first, second)} - {""}
    return days.pop() if len(days) == 1 else found[0]


def _write_dotted(found: re.Match[str]) -> str:
    """Write a date in full, but no version such as "1.2.34"."""
    day, month, year = found.groups()
    before = found.string[: found.start()].split()[-1:]
    is_date = len(day) == len(month) == 2 or not _BEFORE_DATES.isdisjoint(before)
    return (_write_day(year, month, day) if is_date else "") or found[0]


def _write_day(year: str, month: str, day: str) -> str:
    """Return a day as ISO 8601, or an empty string if there is no such day."""
    found = build_day(int(_write_year(year)), int(month), int(day))
    return "" if found is None else found.isoformat()


def _write_year(year: str) -> str:
    if len(year) > 2:
        return year
    return f"{'20' if int(year) < _FIRST_OF_1900S else '19'}{year}"
