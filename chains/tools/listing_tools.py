"""Tools that search by pattern, and list links, tags, recent notes and the current time.

The tools read the notes on disk, so their results are up to date even during indexing.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from chains.errors import ToolFailed
from chains.tool import Tool
from chains.tools.schema import build_arguments_schema, build_integer_schema, build_text_schema
from context.messages import ToolDefinition
from vault.coverage import name_count
from vault.notes.links import Link, LinkResolver
from vault.search.grep import find_backlinks, find_lines
from vault.vault import Vault

__all__ = ["LISTING_TOOLS", "build_listing_tools", "list_allowed"]

MOST_LINES: Final = 100
MOST_LINE_CHARS: Final = 300
MOST_TAGS: Final = 500
USUAL_DAYS: Final = 7
USUAL_NOTES: Final = 20
MOST_NOTES: Final = 100

_GREP: Final = ToolDefinition(
    "grep_notes",
    "Find the lines of Markdown and text notes that match a regular expression. Upper and lower "
    "case are the same unless the pattern has an upper-case letter.",
    build_arguments_schema(
        {"pattern": build_text_schema("The regular expression, without groups that begin (?.")},
        path=build_text_schema("A note or a folder to search; all notes where not given."),
    ),
)
_LINKS: Final = ToolDefinition(
    "get_links",
    "List the links of a note: those in it, and those of other notes to it.",
    build_arguments_schema({"path": build_text_schema("The path of the note.")}),
)
_TAGS: Final = ToolDefinition(
    "list_tags",
    "List the tags of the notes, with how many notes use each.",
    build_arguments_schema({}),
)
_RECENT: Final = ToolDefinition(
    "recent_notes",
    "List the notes that were changed last, the newest first.",
    build_arguments_schema(
        {},
        days=build_integer_schema(f"How many days back; {USUAL_DAYS} where not given.", 1, 36_500),
        limit=build_integer_schema(f"How many; {USUAL_NOTES} where not given.", 1, MOST_NOTES),
    ),
)
_TIME: Final = ToolDefinition(
    "current_time", "Return the date, the day of the week and the time.", build_arguments_schema({})
)
LISTING_TOOLS: Final = (_GREP, _LINKS, _TAGS, _RECENT, _TIME)


def _read_clock() -> datetime:
    return datetime.now().astimezone()


def build_listing_tools(
    notes: Vault, now: Callable[[], datetime] = _read_clock
) -> tuple[Tool, ...]:
    """Build the listing tools.

    Args:
        notes: the open vault.
        now: returns the current local time.
    """

    def grep(arguments: Mapping[str, Any]) -> str:
        paths = list_allowed(notes, arguments.get("path", ""))
        read = notes.read_allowed
        found = find_lines(notes.root, paths, read, arguments["pattern"], MOST_LINES)
        lines = [f"{path}:{n}: {line.strip()[:MOST_LINE_CHARS]}" for path, n, line in found.lines]
        if not found.is_complete:
            lines.append("There is more. Give a narrower pattern, or a folder.")
        return "\n".join(lines) or "No line matches."

    def get_links(arguments: Mapping[str, Any]) -> str:
        note, allowed = notes.read_allowed(arguments["path"]), list_allowed(notes)
        path = note.path.removeprefix(f"{notes.root}/")  # it is absolute in a project outside
        resolver = notes.build_link_resolver()
        back = find_backlinks(notes.root, allowed, notes.read_allowed, path, resolver)
        outgoing = _list_outgoing(path, note.links, resolver, frozenset(allowed))
        return "\n".join(
            (
                f"Links in {path}:",
                *(list(outgoing) or ["none"]),
                f"Links to {path}:",
                *([f"{source}, line {link.line}" for source, link in back] or ["none"]),
            )
        )

    def list_tags(_arguments: Mapping[str, Any]) -> str:
        allowed = frozenset(list_allowed(notes))
        return "\n".join(_count_tags(notes.tags(), allowed)) or "No note has a tag."

    def recent(arguments: Mapping[str, Any]) -> str:
        since = now() - timedelta(days=arguments.get("days", USUAL_DAYS))
        changed = _list_changed(notes, since)[: arguments.get("limit", USUAL_NOTES)]
        return (
            "\n".join(f"{at:%Y-%m-%d %H:%M} {path}" for at, path in changed) or "No note changed."
        )

    def tell_time(_arguments: Mapping[str, Any]) -> str:
        return f"{now():%A, %Y-%m-%d %H:%M %z}"

    works = (grep, get_links, list_tags, recent, tell_time)
    return tuple(Tool(*pair) for pair in zip(LISTING_TOOLS, works, strict=True))


def list_allowed(notes: Vault, below: str = "") -> Sequence[str]:
    """Return the paths of all notes at or below a path that a model may read.

    Args:
        notes: the open vault.
        below: the path of a note or folder, or an empty string for all notes.

    Raises:
        ToolFailed: there is no note at or below the path that a model may read.
    """
    place = below.strip("/").removeprefix("./")
    place = "" if place == "." else place
    known = [
        note.path
        for note in notes.notes()
        if note.state == "indexed"
        and (not place or note.path == place or note.path.startswith(f"{place}/"))
    ]
    allowed = sorted(notes.filter_allowed(known))
    if place and not allowed:
        raise ToolFailed(f"There are no notes at {below}. List the folder above it first.")
    return allowed


def _list_outgoing(
    path: str, links: Iterable[Link], resolver: LinkResolver, allowed: frozenset[str]
) -> Iterator[str]:
    for link in links:
        target = resolver.resolve(link.target, path)
        if target == path:
            continue
        place = target if target in allowed else f"{link.target} (no such note)"
        yield f"{place}, line {link.line}"


def _count_tags(tags: Mapping[str, Sequence[str]], allowed: frozenset[str]) -> Iterator[str]:
    """Yield tags with their number of notes, most used first."""
    counts = {tag: len(allowed.intersection(paths)) for tag, paths in tags.items()}
    used = sorted((-count, tag) for tag, count in counts.items() if count)
    yield from (f"#{tag} ({name_count(-count, 'note')})" for count, tag in used[:MOST_TAGS])
    if len(used) > MOST_TAGS:
        yield f"There are {len(used) - MOST_TAGS:,} more, used less often."


def _list_changed(notes: Vault, since: datetime) -> list[tuple[datetime, str]]:
    """Return the notes that changed since a time, newest first."""
    found = []
    for path in list_allowed(notes):
        try:
            changed = os.stat(notes.root / path).st_mtime
        except OSError:
            continue
        at = datetime.fromtimestamp(changed, since.tzinfo)
        if at >= since:
            found.append((at, path))
    return sorted(found, key=lambda item: (-item[0].timestamp(), item[1]))
