"""Readers: the bytes of one file to the parts of a text, kind by kind.

A reader is a function of bytes alone: no path, no file, no network, nothing run that a file holds.
It gives an `Extract` or raises `ReadingFailed` with a reason that a person understands. Each has
its limits: bytes of the file (in `kinds`), characters of the text (in `parts`), and pages, parts
or depth of its own. A library written in C (`kinds`: `needs_worker`) is called in a child
process, `read_worker`, whose memory and time are bounded; `foreign` is the parent's end of it.

    canvas  Obsidian's boards text cards, file cards and links, groups as headings, edges
    html    web pages         lxml; no script, no style, nothing fetched
    docx    Word documents    zipfile and expat; no macros, no entities
    pdf     PDF files         pdfium; each page is a heading
"""

from vault.notes.encodings import decode_text, normalize_line_ends
from vault.notes.kinds import TEXT, FileKind
from vault.notes.readers.parts import Extract, ExtractPart

__all__ = ["read_extract"]


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
