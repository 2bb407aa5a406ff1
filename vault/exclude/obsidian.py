"""Read a vault's Obsidian settings, including "Excluded files".

The settings are read from `.obsidian/app.json`, which is never written. A vault may come from
someone else, so its regular expressions are not trusted. An expression is rejected if it is long,
has nested repetitions or uses syntax unknown to JavaScript, and is disabled if it is slow. An index
update reports the filters that are not used.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from vault.errors import NoteUnreadable, UnsafePath
from vault.notes.note import read_bytes

SETTINGS_PATH: Final = ".obsidian/app.json"
MAX_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class ObsidianSettings:
    """The Obsidian settings that Strata uses.

    Attributes:
        ignore_filters: the "Excluded files": path prefixes or `/regular expressions/`.
        attachment_folder: the attachment folder, relative to the vault, or to the note if it starts
            with `./`.
        problem: why the settings file could not be read, or an empty string.
    """

    ignore_filters: tuple[str, ...] = ()
    attachment_folder: str = "/"
    problem: str = ""


def read_settings(root: Path) -> ObsidianSettings:
    """Read a vault's Obsidian settings. Without a settings file, return Obsidian's defaults."""
    try:
        data = read_bytes(root, SETTINGS_PATH) if (root / SETTINGS_PATH).exists() else b"{}"
    except NoteUnreadable as error:
        return ObsidianSettings(problem=error.reason)
    except (OSError, UnsafePath):
        return ObsidianSettings(problem="it is not inside the vault, or cannot be looked at")
    if len(data) > MAX_BYTES:
        return ObsidianSettings(problem="it is too large to be Obsidian's settings")
    try:
        loaded = json.loads(data)
    except (ValueError, RecursionError):
        return ObsidianSettings(problem="its JSON cannot be read, so its filters are not used")
    return _parse_settings(loaded if isinstance(loaded, dict) else {})


def _parse_settings(loaded: dict[str, Any]) -> ObsidianSettings:
    filters = loaded.get("userIgnoreFilters")
    folder = loaded.get("attachmentFolderPath")
    return ObsidianSettings(
        tuple(text for text in filters if isinstance(text, str) and text.strip())
        if isinstance(filters, list)
        else (),
        folder if isinstance(folder, str) and folder else "/",
    )


MAX_FILTERS: Final = 1_000
MAX_EXPRESSIONS: Final = 50
MAX_CHARS: Final = 300
MAX_REPEATS: Final = 1_000
MATCH_S: Final = 0.1

_SHORTENED: Final = 60
_TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?(?::|=|!|<=|<!|<[A-Za-z]\w*>))?|\)"
    r"|[*+?]\??|\{(\d*),?(\d*)\}\??|.",
    re.S,
)


class _PrefixFilter:
    """Excludes paths that start with a given text, ignoring case. A folder's path ends with `/`."""

    problem = ""

    def __init__(self, text: str) -> None:
        self.text = text
        self._start = text.removeprefix("./").casefold()

    def matches(self, path: str) -> bool:
        return path.casefold().startswith(self._start)


class _RegexFilter:
    """Excludes paths that match a regular expression.

    Attributes:
        text: the filter as written in the settings.
        problem: the reason why the filter is disabled, or an empty string.
    """

    def __init__(self, text: str) -> None:
        import regex

        self.text = text
        self.problem = find_refusal(text[1:-1])
        try:
            self._pattern = None if self.problem else regex.compile(text[1:-1], regex.IGNORECASE)
        except regex.error:
            self._pattern, self.problem = None, "it is no regular expression"

    def matches(self, path: str) -> bool:
        if self._pattern is None or path.endswith("/"):
            return False
        try:
            return self._pattern.search(path, timeout=MATCH_S) is not None
        except TimeoutError:
            self._pattern, self.problem = None, "it takes too long"
            return False


class IgnoreFilters:
    """All filters of Obsidian's "Excluded files" in a vault."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._is_cut = len(texts) > MAX_FILTERS
        filters = [_build_filter(text) for text in dict.fromkeys(texts[:MAX_FILTERS])]
        beginnings = [one for one in filters if isinstance(one, _PrefixFilter)]
        expressions = [one for one in filters if isinstance(one, _RegexFilter)]
        self._is_cut |= len(expressions) > MAX_EXPRESSIONS
        self._filters: tuple[_PrefixFilter | _RegexFilter, ...] = (
            *beginnings,
            *expressions[:MAX_EXPRESSIONS],
        )

    def __bool__(self) -> bool:
        return bool(self._filters)

    def find_filter(self, path: str, is_folder: bool) -> str | None:
        """Return the filter that excludes a path, or None if no filter does."""
        whole = f"{path}/" if is_folder else path
        return next((one.text for one in self._filters if one.matches(whole)), None)

    def list_problems(self) -> list[str]:
        """List the disabled filters, each with the reason why it is disabled."""
        found = [
            f"its filter {_shorten(one.text)} is not used: {one.problem}"
            for one in self._filters
            if one.problem
        ]
        if self._is_cut:
            found.append(
                f"of its filters the first {MAX_FILTERS:,} are used, and {MAX_EXPRESSIONS} of "
                "those that are regular expressions"
            )
        return found


@lru_cache(maxsize=4 * MAX_EXPRESSIONS)
def _build_filter(text: str) -> _PrefixFilter | _RegexFilter:
    """Build a filter of Obsidian's "Excluded files".

    Filters are cached, so that slow ones stay disabled.
    """
    is_expression = len(text) > 2 and text.startswith("/") and text.endswith("/")
    return _RegexFilter(text) if is_expression else _PrefixFilter(text)


def find_refusal(expression: str) -> str:
    """Return why a regular expression is rejected, or an empty string if it is accepted.

    The check does not compile the expression.
    """
    if len(expression) > MAX_CHARS:
        return f"it has more than {MAX_CHARS} characters"
    repeats_inside = [False]  # for each open group, whether it contains a repetition
    closed = False  # whether the last item ended a group with a repetition
    for match in _TOKEN.finditer(expression):
        part = match[0]
        if part.startswith("("):
            if expression.startswith("?", match.end()):
                return "it uses what Obsidian's expressions do not have"
            repeats_inside.append(False)
            closed = False
        elif part == ")" and len(repeats_inside) > 1:
            closed = repeats_inside.pop()
            repeats_inside[-1] |= closed
        elif _is_repeat(match):
            if closed:
                return "it repeats what is repeated already"
            if any(int(number) > MAX_REPEATS for number in match.groups() if number):
                return f"it repeats more than {MAX_REPEATS:,} times"
            repeats_inside[-1] = True
        else:
            closed = False
    return ""


def _is_repeat(match: re.Match[str]) -> bool:
    return match[0][0] in "*+?" or match[1] is not None


def _shorten(text: str) -> str:
    return text if len(text) <= _SHORTENED else f"{text[:_SHORTENED]}…"
