"""One note as it lies on disk: its bytes, its text, and what its Markdown says about it."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading with its place; lines start at 1."""

    level: int
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Link:
    """A link from a note to another note or file of the vault."""

    target: str
    heading: str = ""
    label: str = ""
    is_embed: bool = False
    line: int = 0


@dataclass(frozen=True, slots=True)
class Note:
    r"""A note as it was read once.

    Attributes:
        path: relative to the vault, with `/`.
        text: the whole file with line ends as `\n`, front matter included.
        body_line: the line on which the text after the front matter starts.
        version: SHA-256 of the file's bytes, in hex.
    """

    path: str
    title: str
    text: str
    version: str
    body_line: int = 1
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = field(default=(), repr=False)
    is_private: bool = False


def read_note(root: Path, path: str) -> Note:
    """Read one note of the vault.

    Raises:
        UnsafePath: the path would leave the vault.
        NoteUnreadable: it is gone, too large, not a file or not text.
    """
    raise NotImplementedError
