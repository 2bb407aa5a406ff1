"""The values of expressions: texts, numbers, days, links and lists, and how they are compared.

A property is a list if it has several values, and otherwise what its text means: `true`, `4.5` and
`2024-03-15` are a truth value, a number and a day.
"""

import calendar
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cmp_to_key
from typing import Any, Final

from vault.notes.amounts import DecimalMark, read_number
from vault.notes.keywords import fold
from vault.views.expressions import LinkValue

__all__ = [
    "Duration",
    "MarkFinder",
    "Value",
    "add_values",
    "are_equal",
    "compare_order",
    "compute_numbers",
    "format_day",
    "is_true",
    "join_texts",
    "parse_day",
    "parse_duration",
    "read_property",
    "sort_key",
    "write_value",
]


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time, in months and seconds."""

    months: int = 0
    seconds: float = 0.0

    def __neg__(self) -> "Duration":
        """Return the duration with the other sign."""
        return Duration(-self.months, -self.seconds)


Value = str | float | bool | date | datetime | Duration | LinkValue | tuple[Any, ...] | None

MarkFinder = Callable[[], DecimalMark]

_INTEGER: Final = re.compile(r"[-+]?\d+")
_NUMBER: Final = re.compile(
    r"[-+]?\d{1,30}(?:[.,]\d{1,30}|(?:,\d{3}){1,9}\.\d{1,30}|(?:\.\d{3}){1,9},\d{1,30})"
)
_LINK: Final = re.compile(r"!?\[\[([^\[\]|#]*(?:#+(?=[\]|]))?)(?:#[^\[\]|]*)?(?:\|([^\[\]]*))?\]\]")
_NOT_IN_WIKILINK: Final = re.compile(r"[\[\]|#^`]")
_NOT_IN_ADDRESS: Final = re.compile(r"[%#<>()|\\^\x00-\x1f]")
_NOT_IN_LABEL: Final = re.compile(r"[\[\]\\`*_~=<$|#^&]")
_DAY: Final = re.compile(r"\d{4}-\d\d(?:-\d\d)?(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?)?Z?")
_SPAN: Final = re.compile(r"([-+]?\d{1,6}(?:\.\d{1,6})?)\s*([A-Za-z]+)")
_MOST_CHARS: Final = 10_000
_MONTHS: Final = {"M": 1, "mo": 1, "month": 1, "y": 12, "yr": 12, "year": 12}
_SECONDS: Final = {
    "s": 1,
    "sec": 1,
    "second": 1,
    "m": 60,
    "min": 60,
    "minute": 60,
    "h": 3_600,
    "hr": 3_600,
    "hour": 3_600,
    "d": 86_400,
    "day": 86_400,
    "w": 604_800,
    "wk": 604_800,
    "week": 604_800,
}
_MONTH_SECONDS: Final = 30 * 86_400
_TOKENS: Final = re.compile(r"YYYY|yyyy|YY|MMMM|MMM|MM|M|DD|dd|D|d|HH|mm|ss|[^A-Za-z]+|[A-Za-z]")
_FORMATS: Final = {
    "YYYY": "%Y",
    "yyyy": "%Y",
    "YY": "%y",
    "MMMM": "%B",
    "MMM": "%b",
    "MM": "%m",
    "DD": "%d",
    "dd": "%d",
    "HH": "%H",
    "mm": "%M",
    "ss": "%S",
}


def read_property(texts: Sequence[str], find_mark: MarkFinder = lambda: "") -> Value:
    """Return what the texts of a property mean: nothing, one value or a list.

    Args:
        find_mark: returns the decimal mark of the property, if it is known.
    """
    found = tuple(_read_text(text, find_mark) for text in texts)
    return None if not found else found[0] if len(found) == 1 else found


def _read_text(text: str, find_mark: MarkFinder = lambda: "") -> Value:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if _INTEGER.fullmatch(text):
        return float(text)
    if _NUMBER.fullmatch(text) and (number := read_number(text, find_mark())) is not None:
        return float(number)  # as a condition of a query reads it
    if (link := _LINK.fullmatch(text)) is not None:
        return LinkValue(link[1].strip(), (link[2] or "").strip())
    return text if (day := parse_day(text)) is None else day


def parse_day(text: str) -> date | datetime | None:
    """Return the day or time that a text is, or None for any other text."""
    if not _DAY.fullmatch(text):
        return None
    plain = text.removesuffix("Z")
    try:
        if len(plain) <= 10:
            return date.fromisoformat(plain if len(plain) == 10 else f"{plain}-01")
        return datetime.fromisoformat(plain.partition(".")[0])
    except ValueError:
        return None


def parse_duration(text: str) -> Duration | None:
    """Return the duration that a text names, such as `7 days` or `1y 2M`, or None."""
    months, seconds, parts = 0, 0.0, _SPAN.findall(text)
    if not parts or _SPAN.sub("", text).strip(" ,"):
        return None
    for number, unit in parts:
        name = unit if len(unit) == 1 else unit.lower()
        name = name if name in _MONTHS or name in _SECONDS else name.removesuffix("s")
        if name in _MONTHS:
            months += round(float(number)) * _MONTHS[name]
        elif name in _SECONDS:
            seconds += float(number) * _SECONDS[name]
        else:
            return None
    return Duration(months, seconds)


def is_true(value: Value) -> bool:
    """Return whether a value counts as true. Nothing, 0, no text and an empty list do not."""
    return value not in (None, False, 0.0, "", ())


def are_equal(left: Value, right: Value) -> bool:
    """Return whether two values are equal. Case and accents do not count."""
    if isinstance(left, tuple) and not isinstance(left, LinkValue):
        others = (
            right if isinstance(right, tuple) and not isinstance(right, LinkValue) else (right,)
        )
        return len(left) == len(others) and all(map(are_equal, left, others))
    if isinstance(left, bool) or isinstance(right, bool) or left is None or right is None:
        return left is right
    return compare_order(left, right) == 0


def compare_order(left: Value, right: Value) -> int | None:
    """Return -1, 0 or 1 for the order of two values, or None if they cannot be compared."""
    left, right = _align(left, right)
    if isinstance(left, float | int) and isinstance(right, float | int):
        return (left > right) - (left < right)
    if isinstance(left, datetime) and isinstance(right, datetime):
        return (left > right) - (left < right)
    if isinstance(left, Duration) and isinstance(right, Duration):
        ours, theirs = _measure(left), _measure(right)
        return (ours > theirs) - (ours < theirs)
    if isinstance(left, str | LinkValue) and isinstance(right, str | LinkValue):
        ours_, theirs_ = fold(_name(left)), fold(_name(right))
        return (ours_ > theirs_) - (ours_ < theirs_)
    return None


def _align(left: Value, right: Value) -> tuple[Value, Value]:
    """Return two values as ones of the same type, where one means the other's type."""
    if isinstance(left, str) and not isinstance(right, str):
        left = _read_text(left)
    if isinstance(right, str) and not isinstance(left, str):
        right = _read_text(right)
    return _widen(left), _widen(right)


def _widen(value: Value) -> Value:
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)
    return value


def _name(value: str | LinkValue) -> str:
    return value.target if isinstance(value, LinkValue) else value


def _measure(duration: Duration) -> float:
    return duration.months * _MONTH_SECONDS + duration.seconds


def sort_key(value: Value) -> Any:
    """Return a key that sorts values of all types: numbers, days, texts and last what is empty."""
    return cmp_to_key(_sort)(value)


def _sort(left: Value, right: Value) -> int:
    ranks = (_rank(left), _rank(right))
    if ranks[0] != ranks[1]:
        return -1 if ranks[0] < ranks[1] else 1
    order = compare_order(left, right)
    if order is None:
        ours, theirs = fold(write_value(left)), fold(write_value(right))
        return (ours > theirs) - (ours < theirs)
    return order


def _rank(value: Value) -> int:
    match value:
        case None | "" | ():
            return 9
        case bool():
            return 0
        case int() | float():
            return 1
        case date():
            return 2
        case Duration():
            return 3
        case _:
            return 4


def add_values(left: Value, right: Value) -> Value:
    """Add two values: numbers, a duration to a day, or texts. Nothing stays nothing."""
    match left, right:
        case (None, _) | (_, None):
            return None
        case (bool(), _) | (_, bool()):
            pass
        case ((int() | float()), (int() | float())):
            return float(left + right)
        case date(), (Duration() | str()):
            duration = right if isinstance(right, Duration) else parse_duration(right)
            if duration is not None:
                return _move(left, duration)
        case Duration(), Duration():
            return Duration(left.months + right.months, left.seconds + right.seconds)
        case _:
            pass
    return (_to_text(left) + _to_text(right))[:_MOST_CHARS]


def _to_text(value: Value) -> str:
    return value if isinstance(value, str) else write_value(value)


def _move(day: date, duration: Duration) -> date | None:
    months = day.year * 12 + day.month - 1 + duration.months
    year, month = divmod(months, 12)
    try:
        last = calendar.monthrange(year, month + 1)[1]
        moved = day.replace(year=year, month=month + 1, day=min(day.day, last))
        if not isinstance(moved, datetime) and duration.seconds % 86_400:
            moved = datetime(moved.year, moved.month, moved.day)
        return moved + timedelta(seconds=duration.seconds)
    except (ValueError, OverflowError, calendar.IllegalMonthError):
        return None


_SIGNS: Final[dict[str, Callable[[float, float], float]]] = {
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right,
    "%": lambda left, right: left % right,
}


def compute_numbers(sign: str, left: Value, right: Value) -> Value:
    """Compute `-`, `*`, `/` or `%`. The result is nothing if the values do not fit."""
    match left, right:
        case (bool() | None, _) | (_, bool() | None):
            return None
        case ((int() | float()), (int() | float())):
            return None if sign in "/%" and not right else _SIGNS[sign](left, right)
        case date(), (Duration() | str()) if sign == "-":
            duration = right if isinstance(right, Duration) else parse_duration(right)
            return None if duration is None else _move(left, -duration)
        case date(), date() if sign == "-":
            ours, theirs = _widen(left), _widen(right)
            assert isinstance(ours, datetime)
            assert isinstance(theirs, datetime)
            return Duration(0, (ours - theirs).total_seconds())
    return None


def format_day(day: date, pattern: str) -> str:
    """Write a day by a pattern such as `YYYY-MM-DD`."""
    found = []
    for part in _TOKENS.findall(pattern):
        if part in ("D", "d"):
            found.append(str(day.day))
        elif part == "M":
            found.append(str(day.month))
        else:
            found.append(day.strftime(_FORMATS[part]) if part in _FORMATS else part)
    return "".join(found)


def write_value(value: Value) -> str:
    """Write a value as Markdown text, on one line."""
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    match value:
        case float():
            return f"{value:.10g}" if abs(value) < 1e10 else f"{value:.0f}"
        case date():
            is_time = isinstance(value, datetime)
            return value.strftime("%Y-%m-%d %H:%M") if is_time else value.isoformat()
        case Duration():
            return _write_duration(value)
        case LinkValue(target, label):
            return _write_link(target, label)
        case tuple():
            return join_texts(value, ", ")
    return " ".join(str(value).split())


def _write_link(target: str, label: str) -> str:
    """Write a link to a note, as a Markdown link if its name or label has a character like `]`."""
    if _NOT_IN_WIKILINK.search(target) or _NOT_IN_WIKILINK.search(label):
        shown = _NOT_IN_LABEL.sub(lambda found: f"&#{ord(found[0])};", label or target)
        address = _NOT_IN_ADDRESS.sub(lambda found: f"%{ord(found[0]):02X}", target)
        return f"[{shown}](<{address}>)"
    return f"[[{target}|{label}]]" if label and label != target else f"[[{target}]]"


def join_texts(values: Sequence[Value], mark: str) -> str:
    """Write values with a mark between them, but no more of them than a text may be long."""
    found, left = list[str](), _MOST_CHARS
    for value in values:
        found.append(write_value(value))
        left -= len(found[-1]) + len(mark)
        if left <= 0:
            break
    return mark.join(found)[:_MOST_CHARS]


def _write_duration(duration: Duration) -> str:
    days = round(_measure(duration) / 86_400)
    return f"{days} day" if days == 1 else f"{days} days"
