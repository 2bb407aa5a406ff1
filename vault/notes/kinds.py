"""The kinds of files that are read, by their names, and the pages of those that have pages.

The lines of a passage of a paged file are lines of the text that its reader made, and mean nothing
to somebody who has the file open.
"""

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_MB: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of file.

    Attributes:
        name: as a reader is asked for.
        plural: what such files are called in a sentence.
        max_bytes: larger ones are not read.
        is_foreign: it is read by a library that hostile bytes may crash, so in a child process.
    """

    name: str
    plural: str
    suffixes: tuple[str, ...]
    max_bytes: int
    needs_worker: bool = False

    def explain_size(self, size: int) -> str:
        """Explain why a file of this size is not read."""
        most = self.max_bytes // _MB
        return f"it has {size / _MB:.0f} MB; {self.plural} of up to {most} MB are read"


MARKDOWN: Final = FileKind("markdown", "notes", (".md", ".markdown"), 20 * _MB)
TEXT: Final = FileKind("text", "text files", (".txt", ".text"), 20 * _MB)
CANVAS: Final = FileKind("canvas", "canvases", (".canvas",), 20 * _MB)
HTML: Final = FileKind("html", "web pages", (".html", ".htm"), 20 * _MB, needs_worker=True)
DOCX: Final = FileKind("docx", "Word documents", (".docx",), 50 * _MB, needs_worker=True)
PDF: Final = FileKind("pdf", "PDF files", (".pdf",), 200 * _MB, needs_worker=True)

_BY_SUFFIX: Final = {
    suffix: kind for kind in (MARKDOWN, TEXT, CANVAS, HTML, DOCX, PDF) for suffix in kind.suffixes
}
SUFFIXES: Final = tuple(_BY_SUFFIX)


def find_kind(path: str) -> FileKind:
    """Return the kind of a file by its name; plain text where no other kind fits."""
    return _BY_SUFFIX.get(posixpath.splitext(path)[1].lower(), TEXT)


def drop_note_suffix(path: str) -> str:
    """Return a path without the suffix of a Markdown note; other paths stay whole."""
    stem, suffix = posixpath.splitext(path)
    return stem if suffix.lower() in MARKDOWN.suffixes else path


def note_name(path: str) -> str:
    """Return the name that links use for a file: without its folder, a note without its suffix."""
    return posixpath.basename(drop_note_suffix(path))


def is_small_enough(path: str, size: int) -> bool:
    """Return whether a file is small enough to be read; called for every file at every start."""
    return size <= MARKDOWN.max_bytes or size <= find_kind(path).max_bytes


def is_readable_kind(name: str) -> bool:
    """Return whether files of this name are read; `~$…` are the locks of open Word documents."""
    is_known = name.endswith(SUFFIXES) or name.lower().endswith(SUFFIXES)
    return is_known and not name.startswith("~$")


_PAGED: Final = (".pdf",)
_PAGE: Final = re.compile(r"Page (\d+)")


def format_page_heading(number: int | str) -> str:
    """Return the heading that stands above the text of a page."""
    return f"Page {number}"


def find_page(path: str, heading: Sequence[str]) -> int | None:
    """Return the page that a passage stands on; None where its file has none.

    Args:
        path: of the file.
        heading: the headings above the passage, the uppermost first.
    """
    if not heading or not path.lower().endswith(_PAGED):
        return None
    found = _PAGE.fullmatch(heading[0])
    return int(found[1]) if found else None
