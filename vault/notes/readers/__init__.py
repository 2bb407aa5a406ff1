"""Readers, which extract text from the bytes of a file. One module for each kind of file.

    canvas   Obsidian canvases: text, file and link cards; groups as headings; edges.
    docx     Word documents: zipfile and expat; no macros, no entities.
    html     Web pages: lxml; no script, no style, nothing fetched.
    extract  The parts of a text that a reader returns, and the document built from them.
    pdf      PDF files: pdfium; each page is a heading.

A reader is a pure function of bytes: it uses no path, file or network. It returns an `Extract`, or
raises `ReadingFailed` with a reason for the user. The size of a file is limited in `kinds`, the
number of characters in `extract`, and the number of pages, parts or levels in each reader. Files
that need a library written in C (`FileKind.needs_worker`) are read by `parser_client` in a child
process with limited memory and time.
"""

from vault.notes.encodings import decode_text, normalize_line_ends
from vault.notes.kinds import TEXT, FileKind
from vault.notes.readers.extract import Extract, ExtractPart

__all__ = ["extract", "read_extract"]


def read_extract(kind: str | FileKind, data: bytes) -> Extract:
    """Extract the text of a file. The parser library is imported on first use.

    Args:
        kind: the file type or its name, except Markdown.
        data: the content of the file.

    Raises:
        ReadingFailed: the file cannot be read as text.
    """
    from importlib import import_module

    name = kind if isinstance(kind, str) else kind.name
    if name == TEXT.name:
        return Extract([ExtractPart("text", normalize_line_ends(decode_text(data).text))])
    extract: Extract = import_module(f"vault.notes.readers.{name}").read(data)
    return extract
