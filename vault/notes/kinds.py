"""The supported file types, and the page numbers of passages.

Line numbers of files with pages, such as PDFs, refer to the extracted text. The page number is
therefore shown instead.
"""

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_MB: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class FileKind:
    """A file type.

    Attributes:
        name: the name of the module that reads the file type.
        plural: the plural name, for use in sentences.
        max_bytes: the maximum file size in bytes.
        needs_worker: whether to parse files in a child process, since malicious ones might crash
            the parser.
    """

    name: str
    plural: str
    suffixes: tuple[str, ...]
    max_bytes: int
    needs_worker: bool = False

    def explain_size(self, size: int) -> str:
        """Explain to the user that a file is too large.

        Args:
            size: the size of the file in bytes.
        """
        most = self.max_bytes // _MB
        return f"{size / _MB:.0f} MB; {self.plural} of up to {most} MB are read"


MARKDOWN: Final = FileKind("markdown", "notes", (".md", ".markdown"), 20 * _MB)
TEXT: Final = FileKind("text", "text files", (".txt", ".text"), 20 * _MB)
CANVAS: Final = FileKind("canvas", "canvases", (".canvas",), 20 * _MB)
DRAWING: Final = FileKind("drawing", "drawings", (".excalidraw",), 20 * _MB)
BASE: Final = FileKind("base", "bases", (".base",), 1 * _MB)
HTML: Final = FileKind("html", "web pages", (".html", ".htm"), 20 * _MB, needs_worker=True)
DOCX: Final = FileKind("docx", "Word documents", (".docx",), 50 * _MB, needs_worker=True)
PDF: Final = FileKind("pdf", "PDF files", (".pdf",), 200 * _MB, needs_worker=True)

# Images are attached and shown, but not indexed.
IMAGE: Final = FileKind("image", "images", (), 20 * _MB, needs_worker=True)

_BY_SUFFIX: Final = {
    suffix: kind
    for kind in (MARKDOWN, TEXT, CANVAS, DRAWING, BASE, HTML, DOCX, PDF)
    for suffix in kind.suffixes
}
SUFFIXES: Final = tuple(_BY_SUFFIX)


def find_kind(path: str) -> FileKind:
    """Return the type of a file by its suffix. Files with other suffixes count as plain text."""
    return _BY_SUFFIX.get(posixpath.splitext(path)[1].lower(), TEXT)


def drop_note_suffix(path: str) -> str:
    """Remove the suffix of a Markdown note from a path, if the path has one."""
    stem, suffix = posixpath.splitext(path)
    return stem if suffix.lower() in MARKDOWN.suffixes else path


def note_name(path: str) -> str:
    """Return the name that links use for a file, without the folder and a Markdown suffix."""
    return posixpath.basename(drop_note_suffix(path))


def is_small_enough(path: str, size: int) -> bool:
    """Return whether a file is not larger than the limit of its file type.

    Args:
        path: the path of the file, which determines its type.
        size: the size of the file in bytes.
    """
    return size <= MARKDOWN.max_bytes or size <= find_kind(path).max_bytes


def is_readable_kind(name: str) -> bool:
    """Return whether files with this name can be read. Word's lock files (`~$…`) cannot."""
    is_known = name.endswith(SUFFIXES) or name.lower().endswith(SUFFIXES)
    return is_known and not name.startswith("~$")


_PAGED: Final = (".pdf",)
_PAGE: Final = re.compile(r"Page (\d+)")


def format_page_heading(number: int | str) -> str:
    """Return the heading that is inserted above the text of a page, such as `Page 3`."""
    return f"Page {number}"


def find_page(path: str, heading: Sequence[str]) -> int | None:
    """Return the page number of a passage, or None if the file has no pages.

    Args:
        path: the path of the file.
        heading: the headings above the passage, outermost first.
    """
    if not heading or not path.lower().endswith(_PAGED):
        return None
    found = _PAGE.fullmatch(heading[0])
    return int(found[1]) if found else None
