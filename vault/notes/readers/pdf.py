"""Read PDF files page by page.

pdfium is not thread-safe. This module is therefore used only in a separate process.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from vault.errors import ReadingFailed
from vault.notes.kinds import format_page_heading
from vault.notes.readers.extract import Extract, ExtractPart, clean_prose, limit_parts

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

MAX_PAGES: Final = 10_000

_PASSWORD_ERROR: Final = 4  # FPDF_ERR_PASSWORD
_SECURITY_ERROR: Final = 5  # FPDF_ERR_SECURITY
_HYPHENS: Final = ("\x02", "\ufffe")  # how pdfium marks a hyphenated word at a line's end


def read(data: bytes) -> Extract:
    """Extract the text of a PDF file. The text of each page follows a heading `Page N`.

    Raises:
        ReadingFailed: the file is damaged, needs a password, has too many pages or no text.
    """
    document = _open_document(data)
    try:
        if len(document) > MAX_PAGES:
            raise ReadingFailed(
                f"it has {len(document):,} pages; PDF files of up to {MAX_PAGES:,} are read"
            )
        parts = limit_parts(_read_pages(document))
        title = str(document.get_metadata_value("Title")).strip()
    finally:
        document.close()
    if not parts:
        raise ReadingFailed("it has no text (scanned?)")
    return Extract(parts, aliases=(title,) if title else (), is_paged=True)


def _open_document(data: bytes) -> "PdfDocument":
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        return PdfDocument(data)
    except PdfiumError as error:
        if error.err_code in (_PASSWORD_ERROR, _SECURITY_ERROR):
            raise ReadingFailed("it is protected by a password") from error
        raise ReadingFailed("it is damaged or no PDF file") from error


def _read_pages(document: "PdfDocument") -> Iterator[ExtractPart]:
    from pypdfium2 import PdfiumError

    for index in range(len(document)):
        try:
            text = clean_prose(_join_words(_read_page_text(document, index)))
        except PdfiumError as error:
            raise ReadingFailed(f"its page {index + 1} is damaged") from error
        if text.strip():
            yield ExtractPart("heading", format_page_heading(index + 1), 1)
            yield ExtractPart("paragraph", text)


def _read_page_text(document: "PdfDocument", index: int) -> str:
    page = document[index]
    try:
        text_page = page.get_textpage()
        try:
            return str(text_page.get_text_bounded())
        finally:
            text_page.close()
    finally:
        page.close()


def _join_words(text: str) -> str:
    for hyphen in _HYPHENS:
        text = text.replace(f"{hyphen}\r\n", "").replace(hyphen, "")
    return text
