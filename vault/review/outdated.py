"""Find notes that have not changed since their sources changed.

A link names a source if it is under a heading such as "Sources", in a line or property with such a
name, or in a sentence such as "According to [[Prices]]". Other links are ignored, because they may
only point to related notes. Daily notes are skipped. A source that was written in the same minute
as many other notes is also skipped, because it was probably copied.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from vault.review.findings import Check, Finding, FindingNote, shorten_quote
from vault.review.links import NoteLink
from vault.review.texts import NoteInfo, NoteLine

__all__ = ["OutdatedRule"]

_SOURCE_WORDS: Final = (
    "(?:sources?|references?|based on|cited|citations?|bibliography|quellen?|literatur"
    "|r[ée]f[ée]rences?|fuentes?|fonti)"
)
_SOURCES: Final = re.compile(rf"(?i)^\W*{_SOURCE_WORDS}\b")
_SOURCE_LINE: Final = re.compile(rf"(?i)^[\s*+>_-]*{_SOURCE_WORDS}\b[^\[\]:]{{0,20}}:")
_LINK: Final = r"\W{0,3}(?:\[\[|\[)"
_CUES: Final = re.compile(
    r"(?i)\b(?:according to|based on|(?:taken|quoted|copied|derived|calculated) from|summary of"
    r"|as (?:described|noted|stated|shown|measured) in|laut|gem[äa](?:ß|ss)|d['’]après|selon"
    rf"|seg[úu]n|secondo){_LINK}"
    r"|\bas\s+(?:\[\[[^\]]*\]\]|\[[^\]]*\]\([^)]*\))\s+(?:says|states|shows|reports)\b"
)
_DAY_NS: Final = 24 * 3_600 * 10**9
_MINUTE_NS: Final = 60 * 10**9
_LEAST_NS: Final = _DAY_NS
_MOST_AT_ONCE: Final = 20  # notes written within a minute; if there are more, they were copied


class OutdatedRule:
    """Collects links to sources, then finds the notes that are older than their sources."""

    def __init__(self, links: Iterable[NoteLink]) -> None:
        self._links: dict[str, list[NoteLink]] = defaultdict(list)
        for link in links:
            if link.target and link.target != link.source:
                self._links[link.source].append(link)
        self._sources: dict[str, dict[str, int]] = {}
        self._quotes: dict[tuple[str, int], str] = {}
        self._notes: dict[str, NoteInfo] = {}

    def add(self, note: NoteInfo, lines: Sequence[NoteLine]) -> None:
        """Add a note, and find the links that name its sources.

        Args:
            lines: the lines of the note that are not code.
        """
        self._notes[note.path] = note
        links = self._links.get(note.path, [])
        if not links or note.is_dated:
            return
        naming = _find_naming_lines(lines)
        self._sources[note.path] = {
            link.target: link.line for link in reversed(links) if link.line in naming
        }
        for link in links:
            if link.line in naming:
                self._quotes[note.path, link.line] = naming[link.line]

    def find(self, check: Check) -> Iterator[Finding]:
        """Yield a finding for each note that is older than at least one of its sources.

        Args:
            check: called between steps. It may raise an exception to stop.
        """
        copied = self._find_copied_minutes()
        for path in sorted(self._sources):
            check()
            note = self._notes[path]
            if note.changed_ns < 0:  # the next update reads the file again
                continue
            changed = [
                (self._notes[target], line)
                for target, line in self._sources[path].items()
                if target in self._notes
                and self._notes[target].changed_ns // _MINUTE_NS not in copied
                and self._notes[target].changed_ns - note.changed_ns >= _LEAST_NS
            ]
            if changed:
                source, line = max(changed, key=lambda one: (one[0].changed_ns, one[0].path))
                quote = self._quotes[path, line]
                yield _build_finding(note, source, line, quote, len(changed) - 1)

    def _find_copied_minutes(self) -> set[int]:
        """Return the minutes in which so many notes changed that the notes were probably copied."""
        minutes = Counter(note.changed_ns // _MINUTE_NS for note in self._notes.values())
        most = max(_MOST_AT_ONCE, len(self._notes) // 10)
        return {minute for minute, count in minutes.items() if count > most}


def _find_naming_lines(lines: Sequence[NoteLine]) -> dict[int, str]:
    """Return the text of each line in which a link names a source, keyed by line number."""
    found, is_under_sources, is_source_property = dict[int, str](), False, False
    for line in lines:
        if line.kind == "heading":
            is_under_sources = bool(_SOURCES.match(line.text))
        elif line.kind == "front":
            if not line.raw[:1].isspace() and not line.raw.startswith("-"):
                is_source_property = bool(_SOURCES.match(line.raw))
            if is_source_property:
                found[line.number] = line.text
        elif is_under_sources or _SOURCE_LINE.match(line.raw) or _CUES.search(line.raw):
            found[line.number] = line.text
    return found


def _build_finding(note: NoteInfo, source: NoteInfo, line: int, quote: str, more: int) -> Finding:
    days = round((source.changed_ns - note.changed_ns) / _DAY_NS)
    others = "" if not more else " 1 more" if more == 1 else f" {more} more"
    if others:
        others += " of its sources changed too."
    after = "1 day" if days == 1 else f"{days:,} days"
    reason = (
        f"Its source changed on {_write_day(source.changed_ns)}, {after} after this note was last "
        f"changed.{others}"
    )
    outdated = FindingNote(note.path, note.title, line, line, shorten_quote(quote))
    shown = outdated, FindingNote(source.path, source.title)
    return Finding("outdated", shown, reason, source.version, float(days))


def _write_day(changed_ns: int) -> str:
    day = datetime.fromtimestamp(changed_ns / 10**9, UTC).astimezone()
    return f"{day.day} {day:%B %Y}"
