"""Search lines and links in the notes on disk, without the index.

Patterns come from a model. Slow patterns are therefore rejected or stopped.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vault.errors import VaultError
from vault.exclude.obsidian import find_refusal
from vault.notes.encodings import decode_text, normalize_line_ends
from vault.notes.kinds import find_kind
from vault.notes.links import Link, LinkResolver, find_links
from vault.notes.note import Note, read_bytes

if TYPE_CHECKING:
    pass

__all__ = ["BadPattern", "LineMatches", "find_backlinks", "find_lines"]

MOST_SECONDS: Final = 5.0
Read = Callable[[str], Note]


class BadPattern(VaultError):
    """A pattern is not a valid regular expression, or not safe to run."""


@dataclass(frozen=True)
class LineMatches:
    """The lines that match a pattern.

    Attributes:
        lines: the path, line number and text of each line.
        is_complete: whether all notes were searched. False if a limit was exceeded.
    """

    lines: tuple[tuple[str, int, str], ...]
    is_complete: bool


def find_lines(
    root: Path, paths: Sequence[str], read: Read, pattern: str, most: int
) -> LineMatches:
    """Find the lines that match a pattern in Markdown and plain text files.

    Case is ignored, unless the pattern contains an upper-case letter.

    Args:
        root: the folder of notes.
        paths: the notes to search.
        read: reads a matching note, and raises a `VaultError` if a model may not read it.
        pattern: a regular expression.
        most: the maximum number of lines.

    Raises:
        BadPattern: the pattern cannot be used.
    """
    matches = _compile_search(pattern)
    found: list[tuple[str, int, str]] = []
    try:
        for path in paths:
            if not matches(_read_text(root, path)):
                continue
            for number, line in _number_lines(read, path):
                if matches(line):
                    found.append((path, number, line))
                if len(found) > most:
                    return LineMatches(tuple(found[:most]), is_complete=False)
    except TimeoutError:
        return LineMatches(tuple(found), is_complete=False)
    return LineMatches(tuple(found), is_complete=True)


def find_backlinks(
    root: Path, paths: Sequence[str], read: Read, path: str, resolver: LinkResolver
) -> Iterator[tuple[str, Link]]:
    """Yield each link to a note, with the path of the note that contains it.

    Args:
        root: the folder of notes.
        paths: the notes to search.
        read: reads a note, and raises a `VaultError` if a model may not read it.
        path: the note that the links lead to.
        resolver: resolves links.
    """
    for source in paths:
        lines = enumerate(_read_text(root, source).split("\n"), start=1)
        if source != path and any(
            _is_to(path, link, source, resolver) for link in find_links(lines)
        ):
            for link in _read_links(read, source):
                if _is_to(path, link, source, resolver):
                    yield source, link


def _compile_search(pattern: str) -> Callable[[str], bool]:
    """Return a function that returns whether a text contains a pattern.

    The function raises `TimeoutError` once its calls have taken more than five seconds in total.

    Raises:
        BadPattern: the pattern cannot be used.
    """
    import regex

    if refusal := find_refusal(pattern):
        raise BadPattern(f"The pattern cannot be used: {refusal}. Try a simpler one.")
    flags: Any = regex.MULTILINE | (0 if pattern != pattern.lower() else regex.IGNORECASE)
    try:
        compiled: regex.Pattern[str] = regex.compile(pattern, flags)
    except regex.error as error:
        raise BadPattern(f"The pattern is not a regular expression: {error}.") from error
    until = time.monotonic() + MOST_SECONDS

    def search(text: str) -> bool:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return compiled.search(text, timeout=left) is not None

    return search


def _read_text(root: Path, path: str) -> str:
    """Read a Markdown or plain text file. Return an empty string for other or unreadable files."""
    if find_kind(path).needs_worker:
        return ""
    try:
        return normalize_line_ends(decode_text(read_bytes(root, path)).text)
    except VaultError:
        return ""


def _number_lines(read: Read, path: str) -> Iterator[tuple[int, str]]:
    try:
        return enumerate(read(path).text.split("\n"), start=1)
    except VaultError:
        return iter(())


def _read_links(read: Read, path: str) -> tuple[Link, ...]:
    try:
        return read(path).links
    except VaultError:
        return ()


def _is_to(path: str, link: Link, source: str, resolver: LinkResolver) -> bool:
    return bool(link.target) and resolver.resolve(link.target, source) == path
