"""Parse queries into words, phrases and filters.

    path:garden  file:"seed list"  tag:recipe/soup  after:2024-03  before:2025  "word for word"

`folder:` is another name for `path:`. A filter's value follows the colon without a space and may be
quoted. Text that only looks like a filter, such as a web address or an invalid date, is searched as
words. If a filter was probably meant, as in `tag: recipe`, the query reports it as a problem.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

__all__ = ["Query", "parse_query"]

_MAX_FILTERS = 16
_DATES = ("after", "before")
_MAX_SCANNED = 20_000
_PART = re.compile(
    r"(?:(?<=\s)|^)(?:(?P<key>path|folder|file|tag|after|before):"
    r'(?:"(?P<quoted>[^"\n]+)"|(?P<plain>[^\s"]+))'
    r'|"(?P<phrase>[^"\n]+)")(?=[\s.,;:!?)]|$)',
    re.IGNORECASE,
)
# A filter with a space before its value, at the start or end of the text. Elsewhere it is prose.
_NAME = "path|folder|file|tag|after|before"
_VALUE = r'"[^"\n]+"|[^\s"]+'
_SPACED = re.compile(
    rf"^[ \t]*(?P<first>{_NAME}):[ \t]+(?P<value>{_VALUE})"
    rf"|(?<=\s)(?P<last>{_NAME}):[ \t]+(?P<end>{_VALUE})\s*$",
    re.IGNORECASE,
)
_OTHER = re.compile(r'(?:(?<=\s)|^)(?P<key>[A-Za-z]{2,20}):(?:"[^"\n]+"|(?!//)[^\s":]+)(?=\s|$)')
# Filter names of other programs, and misspellings of ours. Other words with a colon are searched.
_UNKNOWN = frozenset(
    [
        "author",
        "block",
        "content",
        "created",
        "date",
        "ext",
        "filename",
        "filetype",
        "folders",
        "from",
        "heading",
        "in",
        "is",
        "kind",
        "line",
        "modified",
        "name",
        "newer",
        "note",
        "older",
        "paths",
        "pth",
        "section",
        "since",
        "tags",
        "title",
        "type",
        "until",
        "updated",
    ]
)
_FILTERS = "path:, folder:, file:, tag:, after: and before:"
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query.

    Attributes:
        words: the words to search for, including those in phrases, without filters.
        phrases: texts that a passage must contain exactly.
        paths, files, tags: texts that the path, file name or tags must match.
        after, before: limits for the time of the note's last change, or None. The time must not be
            earlier than `after`, and must be earlier than `before`.
        problems: sentences about unknown filters and invalid values.
    """

    words: str
    phrases: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    after: datetime | None = None
    before: datetime | None = None
    problems: tuple[str, ...] = ()

    @property
    def has_filter(self) -> bool:
        """Whether the query has a filter. Phrases do not count as filters."""
        return bool(self.paths or self.files or self.tags or self.after or self.before)

    def filters(self) -> Mapping[str, Any]:
        """Return the filters as a JSON-serializable dict, as printed by `strata search --json`."""
        named = {
            "path": list(self.paths),
            "file": list(self.files),
            "tag": list(self.tags),
            "after": None if self.after is None else self.after.date().isoformat(),
            "before": None if self.before is None else self.before.date().isoformat(),
            "phrase": list(self.phrases),
        }
        return {key: value for key, value in named.items() if value}


def parse_query(text: str) -> Query:
    """Parse the text of a query. Every text is a valid query."""
    named: dict[str, list[str]] = {"path": [], "file": [], "tag": [], "phrase": []}
    dates: dict[str, datetime] = {}
    words, problems, end = [], list[str](), 0
    for count, found in enumerate(_PART.finditer(text[:_MAX_SCANNED])):
        if count == _MAX_FILTERS:
            break
        if (phrase := found["phrase"]) is not None:
            if phrase.strip():
                named["phrase"].append(" ".join(phrase.split()))
            continue
        if _add_filter(found["key"].lower(), found["quoted"] or found["plain"], named, dates):
            words.append(text[end : found.start()])
            end = found.end()
        elif found["key"].lower() in _DATES:
            problems.append(_describe_bad_date(found[0]))
    words.append(text[end:])
    return Query(
        words=" ".join("".join(words).split()) if end else text,
        phrases=tuple(named["phrase"]),
        paths=tuple(named["path"]),
        files=tuple(named["file"]),
        tags=tuple(named["tag"]),
        after=dates.get("after"),
        before=dates.get("before"),
        problems=(
            *dict.fromkeys(problems),
            *_find_spaced_filters(text[:_MAX_SCANNED]),
            *_find_unknown_filters(text[:_MAX_SCANNED]),
        ),
    )


def _find_spaced_filters(text: str) -> Iterator[str]:
    """Yield a sentence about each filter that has a space between its name and value."""
    for found in _SPACED.finditer(text):
        name = (found["first"] or found["last"]).lower()
        value = found["value"] or found["end"]
        if name not in _DATES or _parse_day(value) is not None:
            yield (
                f"There is a space after {name}: so it was searched as words. Write {name}:{value} "
                "to filter."
            )


def _find_unknown_filters(text: str) -> Iterator[str]:
    """Yield a sentence about each word that looks like a filter with an unknown name."""
    names = dict.fromkeys(found["key"].lower() for found in _OTHER.finditer(text))
    for name in names:
        if name in _UNKNOWN:
            yield (
                f"There is no filter {name}: so it was searched as words. Filters are {_FILTERS}."
            )


def _describe_bad_date(written: str) -> str:
    name = written.partition(":")[0].lower()
    return (
        f"{written} names no date, so it was searched as words. Write {name}:2024, "
        f"{name}:2024-03 or {name}:2024-03-15."
    )


def _add_filter(
    key: str, value: str, named: dict[str, list[str]], dates: dict[str, datetime]
) -> bool:
    """Add a filter to `named` or `dates`, and return whether the filter is valid.

    Args:
        key: the name of the filter.
        value: the value as written in the query.
        named: the filters with texts, keyed by name.
        dates: the filters with dates, keyed by name.
    """
    if key in _DATES:
        day = _parse_day(value)
        if day is not None:
            dates[key] = day
        return day is not None
    value = value.lstrip("#") if key == "tag" else value
    if not value or value.startswith("//"):
        return False
    named["path" if key == "folder" else key].append(value)
    return True


def _parse_day(text: str) -> datetime | None:
    """Return the start of a year, month or day in UTC, or None if the text is not such a date."""
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    year, month, day = (int(part or 1) for part in found.groups())
    try:
        return datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None
