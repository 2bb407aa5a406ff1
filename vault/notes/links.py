"""Links between notes: wikilinks and relative Markdown links, and what they lead to."""

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

_WIKILINK = re.compile(
    r"(!?)\[\[([^\[\]\n|#]{0,500})(?:#([^\[\]\n|]{0,500}))?(?:\|([^\[\]\n]{0,500}))?\]\]"
)
_MARKDOWN_LINK = re.compile(
    r"(!?)\[([^\[\]\n]{0,500})\]\([ \t]*"
    r"(?:<([^<>\n]{1,1000})>|((?:[^()<>\s]|\([^()<>\s]{0,200}\)){1,1000}))"
    r"(?:[ \t]+[\"'][^\"'\n]{0,500}[\"'])?[ \t]*\)"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


@dataclass(frozen=True, slots=True)
class Link:
    """A link from a note to another note or file of the vault.

    Attributes:
        target: as written, without heading and label; empty for a place in the same note.
        heading: the heading or `^block` behind `#`.
    """

    target: str
    heading: str = ""
    label: str = ""
    is_embed: bool = False
    line: int = 0


def find_links(lines: Iterable[tuple[int, str]]) -> Iterator[Link]:
    """Find the links in lines without code; what leads to the web is no link here."""
    for number, line in lines:
        if "[" not in line:
            continue
        for embed, target, heading, label in _WIKILINK.findall(line):
            name, place = _unescaped(target), _unescaped(heading)
            if name or place:
                yield Link(name, place, label.strip(), bool(embed), number)
        for embed, label, quoted, bare in _MARKDOWN_LINK.findall(line):
            target, _, heading = unquote(quoted or bare).partition("#")
            if not _SCHEME.match(quoted or bare):
                yield Link(target.strip(), heading.strip(), label.strip(), bool(embed), number)


class LinkResolver:
    """Finds the note or file that a link means, as Obsidian does.

    Exact path first, then the shortest path with that name, then an alias; letters' case and
    the way accents are written do not matter.
    """

    def __init__(self, notes: Iterable[tuple[str, Iterable[str]]], attachments: str = "/"):
        """Take what there is.

        Args:
            notes: paths with their aliases.
            attachments: the folder for attachments as `.obsidian/app.json` names it: relative to
                the vault, or with `./` to the note.
        """
        self._attachments = attachments
        self._by_path: dict[str, str] = {}
        self._by_name: dict[str, list[str]] = {}
        self._by_alias: dict[str, str] = {}
        for path, aliases in notes:
            key = _key(_without_suffix(path))
            self._by_path[key] = path
            self._by_name.setdefault(posixpath.basename(key), []).append(path)
            for alias in aliases:
                self._by_alias.setdefault(_key(alias), path)

    def resolve(self, target: str, source: str = "") -> str | None:
        """Give the path of the note or file that `target`, written in `source`, leads to."""
        if not target:
            return source or None
        key = _key(_without_suffix(target))
        for candidate in self._exact(key, _key(source)):
            if candidate in self._by_path:
                return self._by_path[candidate]
        return self._named(key, posixpath.dirname(source)) or self._by_alias.get(key)

    def _exact(self, key: str, source: str) -> Iterator[str]:
        """Give the paths that may be meant: from the vault, from the note, among attachments."""
        folder = posixpath.dirname(source)
        yield key.lstrip("/")
        yield posixpath.normpath(posixpath.join(folder, key))
        attachments = _key(self._attachments)
        base = folder if attachments.startswith(".") else ""
        yield posixpath.normpath(posixpath.join(base, attachments.lstrip("/"), key))

    def _named(self, key: str, folder: str) -> str | None:
        """Give the shortest path that ends so, those below the note's own folder first."""
        tail = f"/{key.lstrip('./')}"
        named = self._by_name.get(posixpath.basename(key), [])
        fitting = [p for p in named if f"/{_key(_without_suffix(p))}".endswith(tail)]
        below = f"{folder}/" if folder else ""
        return min(
            fitting,
            key=lambda path: (not path.startswith(below), path.count("/"), len(path), path),
            default=None,
        )


def _unescaped(part: str) -> str:
    r"""Take off the backslash that a `|` has inside a table."""
    return part.removesuffix("\\").strip()


def _without_suffix(path: str) -> str:
    stem, suffix = posixpath.splitext(path)
    return stem if suffix.lower() in {".md", ".markdown"} else path


def _key(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold().strip()
