"""Read the formats of daily notes from the settings of Obsidian, and dates in such a format.

The formats are those of the core plugin "Daily notes" and of the plugin "Periodic Notes", such as
`YYYY/MM/DD-MM-YYYY`. They are written in the tokens of the library Moment.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from vault.errors import NoteUnreadable, UnsafePath
from vault.notes.date_spans import (
    Span,
    build_day,
    build_day_span,
    build_month_span,
    build_week_span,
    build_year_span,
)
from vault.notes.dates import fold_date_text, parse_month
from vault.notes.note import read_bytes

__all__ = ["TASKS_SETTINGS", "DayFormat", "load_settings", "read_day_formats"]

TASKS_SETTINGS: Final = ".obsidian/plugins/obsidian-tasks-plugin/data.json"
_MOST_BYTES: Final = 1_000_000
_DAILY: Final = ".obsidian/daily-notes.json"
_PERIODIC: Final = ".obsidian/plugins/periodic-notes/data.json"
_DEFAULTS: Final = {
    "daily": "YYYY-MM-DD",
    "weekly": "gggg-[W]ww",
    "monthly": "YYYY-MM",
    "quarterly": "YYYY-[Q]Q",
    "yearly": "YYYY",
}
_MAX_CHARS: Final = 200
_MAX_BYTES: Final = 100_000
_TOKEN: Final = re.compile(
    r"\[([^\]]*)\]|YYYY|GGGG|gggg|YY|GG|gg|MMMM|MMM|MM|Mo|M|DDDD|DDD|DD|Do|D|dddd|ddd|dd"
    r"|WW|W|ww|w|Q|HH|H|hh|h|mm|m|ss|s|A|a|E|e|d|.",
    re.S,
)
_WORD: Final = r"[^\W\d_]+\.?"
# The patterns of tokens: digits of a year, a month and so on, or words that are not read.
_PATTERNS: Final = {
    **dict.fromkeys(("YYYY", "GGGG", "gggg"), ("year", r"\d{4}")),
    **dict.fromkeys(("YY", "GG", "gg"), ("short_year", r"\d\d")),
    **dict.fromkeys(("MMMM", "MMM"), ("month", r"[^\W\d_]+")),
    "MM": ("month", r"\d\d"),
    "M": ("month", r"\d\d?"),
    "Mo": ("month", r"\d\d?(?=\D)"),
    **dict.fromkeys(("DDDD", "DDD"), ("day_of_year", r"\d{1,3}")),
    "DD": ("day", r"\d\d"),
    **dict.fromkeys(("D", "Do"), ("day", r"\d\d?")),
    **dict.fromkeys(("WW", "ww"), ("week", r"\d\d")),
    **dict.fromkeys(("W", "w"), ("week", r"\d\d?")),
    "Q": ("quarter", r"[1-4]"),
    **dict.fromkeys(("HH", "hh", "mm", "ss"), ("", r"\d\d")),
    **dict.fromkeys(("H", "h", "m", "s", "E", "e", "d"), ("", r"\d\d?")),
    **dict.fromkeys(("dddd", "ddd", "dd", "A", "a"), ("", _WORD)),
}


@dataclass(frozen=True, slots=True)
class DayFormat:
    """A format of the names of daily, weekly or other periodic notes.

    Attributes:
        folder: the folder that holds the notes, or an empty string for all folders.
        tokens: the format in the tokens of Moment, which may have folders.
    """

    folder: str
    tokens: str

    def find_span(self, path: str) -> Span | None:
        """Return the range of days that the path of a note means in this format, or None."""
        pattern = _compile_format(self.tokens)
        bare = fold_date_text(path.rpartition(".")[0] or path)
        folder = fold_date_text(self.folder)
        if pattern is None or not bare.startswith(f"{folder}/" if folder else ""):
            return None
        found = pattern.search(bare[len(folder) :])
        return None if found is None else _build_span(found.groupdict())


def read_day_formats(root: Path) -> tuple[DayFormat, ...]:
    """Read the formats that are set in the `.obsidian` folder of a vault. Bad settings are skipped.

    Args:
        root: the folder of the vault.
    """
    found = list(_parse_format(load_settings(root, _DAILY), "daily"))
    periodic = load_settings(root, _PERIODIC)
    for kind in _DEFAULTS:
        settings = periodic.get(kind)
        if isinstance(settings, dict) and settings.get("enabled", True):
            found += _parse_format(settings, kind)
    return tuple(dict.fromkeys(found))


def load_settings(root: Path, path: str) -> dict[str, Any]:
    """Load settings of Obsidian or of a plugin. Missing, bad and huge ones are an empty dict.

    They are read for each query of a note, so huge ones would take seconds.

    Args:
        root: the folder of the vault.
        path: the path of the file in it.
    """
    try:
        content = read_bytes(root, path) if (root / path).exists() else b"{}"
        loaded = json.loads(content) if len(content) <= _MOST_BYTES else {}
    except (NoteUnreadable, UnsafePath, OSError, ValueError, RecursionError):
        return {}
    return loaded if isinstance(loaded, dict) else {}


def _parse_format(settings: dict[str, Any], kind: str) -> Iterator[DayFormat]:
    if not settings:
        return
    folder, tokens = settings.get("folder"), settings.get("format")
    tokens = tokens if isinstance(tokens, str) and tokens.strip() else _DEFAULTS[kind]
    folder = folder.strip("/") if isinstance(folder, str) else ""
    if len(tokens) <= _MAX_CHARS and _compile_format(tokens) is not None:
        yield DayFormat(folder, tokens)


@lru_cache(maxsize=64)
def _compile_format(tokens: str) -> re.Pattern[str] | None:
    """Compile a format, or return None if it does not tell the year."""
    parts, names = list[str](), set[str]()
    for match in _TOKEN.finditer(tokens):
        name, pattern = _PATTERNS.get(match[0], ("", ""))
        if not pattern:
            literal = match[0] if match[1] is None else match[1]
            parts.append(re.escape(fold_date_text(literal)))
        elif name and name not in names:
            names.add(name)
            parts.append(rf"(?P<{name}>{pattern})")
        else:
            parts.append(rf"(?:{pattern})")
        if match[0] in ("Do", "Mo"):
            parts.append(r"(?:st|nd|rd|th|\.|e|er|º)?")
    if not names & {"year", "short_year"}:
        return None
    return re.compile(rf"(?:^|/){''.join(parts)}$")


def _build_span(named: dict[str, str | None]) -> Span | None:
    year = int(named.get("year") or 2000 + int(named.get("short_year") or 0))
    month = parse_month(named.get("month") or "")
    if day_of_year := named.get("day_of_year"):
        first = build_day(year, 1, 1)
        day = None if first is None else first + timedelta(int(day_of_year) - 1)
        return None if day is None or day.year != year else build_day_span(day)
    if number := named.get("day"):
        found: date | None = build_day(year, month, int(number))
        return None if found is None else build_day_span(found)
    if week := named.get("week"):
        return build_week_span(year, int(week))
    if quarter := named.get("quarter"):
        return build_month_span(year, 3 * int(quarter) - 2, 3)
    return build_month_span(year, month) if named.get("month") else build_year_span(year)
