"""Find links in notes, and resolve them to a note and its lines."""

import posixpath
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple
from urllib.parse import unquote

from vault.notes.kinds import drop_note_suffix, format_page_heading
from vault.notes.text.document import Document, Heading
from vault.notes.text.inline import Line, blank_comments, find_block_names

_WIKILINK = re.compile(
    r"(!?)\[\[([^\[\]\n|#]{0,500})(?:#([^\[\]\n|]{0,500}))?(?:\|([^\[\]\n]{0,500}))?\]\]"
)
_MARKDOWN_LINK = re.compile(
    r"(!?)\[([^\[\]\n]{0,500})\]\([ \t]*"
    r"(?:<([^<>\n]{1,1000})>|((?:[^()<>\s]|\([^()<>\s]{0,200}\)){1,1000}))"
    r"(?:[ \t]+[\"'][^\"'\n]{0,500}[\"'])?[ \t]*\)"
)
# A name may end with "#", as "C#", also before a suffix.
_TARGET = re.compile(r"([^#]*(?:(?<=[^#])#+(?=$|\.md(?:$|#))(?:\.md)?)?)(?:#(.*))?", re.DOTALL)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


@dataclass(frozen=True, slots=True)
class Link:
    """A link to another note or file.

    Attributes:
        target: the target as written, without heading and label, or an empty string for a link
            within the note.
        heading: the heading or `^block` after `#`, or an empty string.
    """

    target: str
    heading: str = ""
    label: str = ""
    is_embed: bool = False
    line: int = 0


class LocatedLink(NamedTuple):
    """A link with the position of its target within the line.

    Attributes:
        link: the link.
        start: the offset of the target's first character.
        end: the offset after the target's last character.
        is_markdown: whether the link has the form `[label](target)`, with a percent-encoded target.
        is_quoted: whether the target is enclosed in `<` and `>`.
    """

    link: Link
    start: int
    end: int
    is_markdown: bool = False
    is_quoted: bool = False


def find_links(lines: Iterable[tuple[int, str]]) -> Iterator[Link]:
    """Yield all links in numbered lines, except web links. The lines must not contain code."""
    for number, line in lines:
        for found in locate_links(number, line):
            yield found.link


def list_lines_with_links(document: Document) -> list[Line]:
    """Return the lines of a document that can contain links.

    These are the front matter and the text, without code and comments.
    """
    return [*document.front_lines, *blank_comments(list(document.list_prose_lines()))]


def locate_links(number: int, line: str) -> Iterator[LocatedLink]:
    """Yield the links in a line, except web links, with the positions of their targets.

    Args:
        number: the number of the line in the note.
        line: the text of the line, without code.
    """
    if "[" not in line:
        return
    for match in _WIKILINK.finditer(line):
        embed, target, heading, label = match.groups("")
        written = target if match[3] is None else f"{target}#{heading}"
        name, place = map(_unescape, split_link_target(_unescape(written)))
        if name or place:
            link = Link(name, place, label.strip(), bool(embed), number)
            start = match.start(2) + len(target) - len(target.lstrip())
            yield LocatedLink(link, start, start + len(name))
    for match in _MARKDOWN_LINK.finditer(line):
        embed, label, quoted, bare = match.groups("")
        raw = quoted or bare
        if not _SCHEME.match(raw):
            target, heading = map(unquote, raw.partition("#")[::2])  # "%23" is a part of a name
            link = Link(target.strip(), heading.strip(), label.strip(), bool(embed), number)
            written = raw.partition("#")[0]
            start = match.start(3 if quoted else 4) + len(written) - len(written.lstrip())
            end = start + len(written.strip())
            yield LocatedLink(link, start, end, is_markdown=True, is_quoted=bool(quoted))


def split_link_target(target: str) -> tuple[str, str]:
    """Split the target of a link into the name or path of a note, and a heading or `^block`.

    A `#` at the end belongs to the name, as in "C#".
    """
    match = _TARGET.fullmatch(target)
    return (target, "") if match is None else (match[1], match[2] or "")


def fold_link_path(target: str) -> str:
    """Normalize a path or link target for comparison, without the suffix of a Markdown note."""
    return _normalize(drop_note_suffix(target))


def fold_link_name(target: str) -> str:
    """Return the name in a path or link target, normalized for comparison.

    The folder and the suffix of a Markdown note are removed. So is a `#` at the end, because
    `[[C#]]` can lead to a note "C#", and else leads to "C".
    """
    return _cut_sign(posixpath.basename(fold_link_path(target)))


def list_link_names(path: str, aliases: Iterable[str]) -> set[str]:
    """Return the names that links can use for a note, in normalized form."""
    named = (posixpath.basename(_normalize(alias)) for alias in aliases)
    return {fold_link_name(path), *map(_cut_sign, named)}


class LinkResolver:
    """Resolves links to notes and files, by Obsidian's rules.

    Exact paths are preferred, then the shortest path with the same name, then aliases. Case and
    Unicode normalization are ignored. To resolve one link, the resolver needs only the notes that
    share the link's name.
    """

    def __init__(
        self,
        notes: Iterable[tuple[str, Iterable[str]]],
        attachments: str = "/",
        titles: Iterable[tuple[str, str]] = (),
    ):
        """Collect the names of notes.

        Args:
            notes: pairs of path and aliases, sorted by path.
            attachments: Obsidian's attachment folder, relative to the vault, or to the note if it
                starts with `./`.
            titles: pairs of path and title, if titles may be used like aliases.
        """
        self._attachments = attachments
        self._by_path: dict[str, str] = {}
        self._by_name: dict[str, list[str]] = {}
        self._by_alias: dict[str, str] = {}
        for path, aliases in notes:
            key = _normalize(drop_note_suffix(path))
            self._by_path[key] = path
            self._by_name.setdefault(posixpath.basename(key), []).append(path)
            for alias in aliases:
                self._by_alias.setdefault(_normalize(alias), path)
        for path, title in titles:
            self._by_alias.setdefault(_normalize(title), path)

    def resolve(self, target: str, source: str = "") -> str | None:
        """Return the path of the note or file that a link leads to, or None if there is none.

        Args:
            target: the name or path in the link. An empty target leads to the note with the link.
            source: the path of the note with the link.
        """
        if not target:
            return source or None
        key = _normalize(drop_note_suffix(target))
        found = self._find(key, source)
        return self._find(plain, source) if not found and (plain := _cut_sign(key)) else found

    def _find(self, key: str, source: str) -> str | None:
        """Return the path of the note or file with a normalized name or path, or None."""
        for candidate in self._list_exact_paths(key, _normalize(source)):
            if candidate in self._by_path:
                return self._by_path[candidate]
        return self._find_by_name(key, posixpath.dirname(source)) or self._by_alias.get(key)

    def _list_exact_paths(self, key: str, source: str) -> Iterator[str]:
        """Yield the paths that a link may lead to, without their suffixes.

        A link may be relative to the vault, to the folder of its note, or to the attachment folder.

        Args:
            key: the normalized target of the link.
            source: the normalized path of the note that contains the link.
        """
        folder = posixpath.dirname(source)
        yield key.lstrip("/")
        yield posixpath.normpath(posixpath.join(folder, key))
        attachments = _normalize(self._attachments)
        base = folder if attachments.startswith(".") else ""
        yield posixpath.normpath(posixpath.join(base, attachments.lstrip("/"), key))

    def _find_by_name(self, key: str, folder: str) -> str | None:
        """Return the path of a note or file that ends with `key`, or None if there is none.

        Paths in `folder` are preferred, then paths with the fewest folders.

        Args:
            key: the name or the end of a path from a link, in normalized form.
            folder: the folder of the note with the link.
        """
        tail = f"/{key.lstrip('./')}"
        named = self._by_name.get(posixpath.basename(key), [])
        fitting = [p for p in named if f"/{_normalize(drop_note_suffix(p))}".endswith(tail)]
        below = f"{folder}/" if folder else ""
        return min(
            fitting,
            key=lambda path: (not path.startswith(below), path.count("/"), len(path), path),
            default=None,
        )


def _unescape(part: str) -> str:
    """Remove the backslash that escapes the `|` of a link within a table."""
    return part.removesuffix("\\").strip()


def _cut_sign(name: str) -> str:
    """Remove the `#` at the end of a name, which may begin the heading of a link."""
    return name.rstrip("#").rstrip() or name


def _normalize(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold().strip()


_NOT_IN_ANCHORS = re.compile(r"[#|^:%\[\]\\\s]+")
_NOT_IN_SLUGS = re.compile(r"\W+")


def find_heading_line(headings: Sequence[Heading], anchor: str) -> int:
    """Return the line number of the heading that an anchor refers to, or 0 if there is none.

    Args:
        headings: the headings of the note.
        anchor: a heading, nested headings joined with `#`, a heading's slug, or `page=N`.
    """
    if anchor.startswith("page="):
        anchor = format_page_heading(anchor.removeprefix("page="))
    names = [part for part in anchor.split("#") if part.strip()]
    for key in (_normalize_heading, _build_slug):
        if line := _find_line(headings, [key(name) for name in names], key):
            return line
    return 0


def find_named_blocks(document: Document, prose: Sequence[Line]) -> dict[str, tuple[int, int]]:
    """Return the line range of each block with a `^name`, keyed by lower-case name.

    A name at the end of a block refers to the innermost block. A name on a separate line refers to
    the block above.

    Args:
        document: the parsed note.
        prose: the numbered lines of the note, without code and comments.
    """
    names = list(find_block_names(prose))
    if not names:
        return {}
    firsts = [block.first for block in document.blocks]
    innermost = _find_innermost(document, [line for _, line, _ in names])
    found: dict[str, tuple[int, int]] = {}
    for (name, line, is_alone), around in zip(names, innermost, strict=True):
        at = bisect_right(firsts, line) - 1
        names_above = is_alone and at > 0 and firsts[at] == line
        above = document.blocks[at - 1]
        found.setdefault(name.lower(), (above.first, above.last) if names_above else around)
    return found


def _find_innermost(document: Document, lines: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the line range of the smallest block around each of the given lines."""
    spans = [(block.first, block.last) for block in document.blocks]
    spans += chain.from_iterable(block.inner for block in document.blocks)
    spans.sort(key=lambda span: (-span[0], span[1]))  # popped from the end, so outer before inner
    around: list[tuple[int, int]] = []
    for line in lines:
        while spans and spans[-1][0] <= line:
            around.append(spans.pop())
        while around and around[-1][1] < line:
            around.pop()
        yield around[-1] if around else (line, line)


def _find_line(headings: Sequence[Heading], names: list[str], key: Callable[[str], str]) -> int:
    for heading in headings:
        if names and key(heading.text) == names[0]:
            names = names[1:]
            if not names:
                return heading.line
    return 0


def _normalize_heading(text: str) -> str:
    """Normalize a heading for comparison, without characters that are special in Obsidian links."""
    return " ".join(_NOT_IN_ANCHORS.sub(" ", text).split()).casefold()


def _build_slug(text: str) -> str:
    return _NOT_IN_SLUGS.sub("-", text.casefold()).strip("-")
