"""Readers, which extract text from the bytes of a file. One module for each kind of file.

    canvas   Obsidian canvases: the cards with their groups as headings, then the edges. Drawings of
             Excalidraw: the texts from top to bottom.
    columns  The columns of a page of a PDF file.
    docx     Word documents, read with zipfile and expat. Macros and entities are ignored.
    html     Web pages, read with lxml. Scripts are not run, and nothing is fetched.
    extract  The parts of a text that a reader returns, and the document built from them.
    pdf      PDF files, read with pdfium. Each page becomes a section with a heading.

A reader is a pure function of bytes: it uses no path, file or network. It returns an `Extract`, or
raises `ReadingFailed` with a reason for the user. The size of a file is limited in `kinds`, the
number of characters in `extract`, and the number of pages, parts or levels in each reader. A base
is read as the code block that shows it in a note. Files that need a library written in C
(`FileKind.needs_worker`) are read by `parser_client` in a child process with limited memory and
time. `read_extract` calls the reader of a kind.

This package may import `vault.errors` and the modules of `vault.notes`.
"""

from vault.notes.encodings import decode_text, normalize_line_ends
from vault.notes.kinds import BASE, DRAWING, TEXT, FileKind
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
    if name == BASE.name:
        return Extract([ExtractPart("fence", _fence_base(decode_text(data).text))])
    if name == DRAWING.name:
        from vault.notes.readers.canvas import read_drawing

        return read_drawing(data)
    extract: Extract = import_module(f"vault.notes.readers.{name}").read(data)
    return extract


def _fence_base(text: str) -> str:
    """Return a base as the code block that would show it in a note."""
    mark = "```"
    while mark in text:
        mark += "`"
    return f"{mark}base\n{normalize_line_ends(text).strip()}\n{mark}"
