"""Readers: the bytes of one file to the parts of a text, one module for each kind of file.

    canvas  Obsidian's canvases: text cards, file cards and links, groups as headings, edges.
    docx    Word documents: zipfile and expat; no macros, no entities.
    html    Web pages: lxml; no script, no style, nothing fetched.
    parts   The parts that a reader returns, and the document that is built from them.
    pdf     PDF files: pdfium; each page is a heading.

A reader is a function of bytes alone: no path, no file, no network. It returns an `Extract` or
raises `ReadingFailed` with a reason for a person. Each reader has its limits: bytes of the file (in
`kinds`), characters of the text (in `parts`), and pages, parts or depth of its own. Kinds that need
a library written in C (`FileKind.needs_worker`) are read in a child process by `parser_client`,
with bounded memory and time.
"""

from vault.notes.encodings import decode_text, normalize_line_ends
from vault.notes.kinds import TEXT, FileKind
from vault.notes.readers.parts import Extract, ExtractPart

__all__ = ["parts", "read_extract"]


def read_extract(kind: str | FileKind, data: bytes) -> Extract:
    """Read a file's bytes; its library is loaded now.

    Args:
        kind: the kind or its name, any but Markdown.
        data: the whole file.

    Raises:
        ReadingFailed: no text comes of it.
    """
    from importlib import import_module

    name = kind if isinstance(kind, str) else kind.name
    if name == TEXT.name:
        return Extract([ExtractPart("text", normalize_line_ends(decode_text(data).text))])
    extract: Extract = import_module(f"vault.notes.readers.{name}").read(data)
    return extract
