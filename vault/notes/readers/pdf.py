"""Read PDF files page by page. A page that cannot be read as text says so.

pdfium is not thread-safe. This module is therefore used only in a separate process.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from vault.errors import ReadingFailed
from vault.notes.kinds import format_page_heading
from vault.notes.readers.columns import TextBox, find_columns
from vault.notes.readers.extract import Extract, ExtractPart, clean_prose, limit_parts

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

MAX_PAGES: Final = 10_000

_PASSWORD_ERROR: Final = 4  # FPDF_ERR_PASSWORD
_SECURITY_ERROR: Final = 5  # FPDF_ERR_SECURITY
_NO_MAP: Final = "(This page cannot be read as text: its font has no character map.)"
_NO_TEXT: Final = "(This page has no text; it may be scanned.)"
_NOTICES: Final = (_NO_MAP, _NO_TEXT)
_ODD: Final = ("Cc", "Cn", "Co")  # categories of characters: control, unassigned, private use
_LEAST_SIGNS: Final = 12
_MOST_ODD_SIGNS: Final = 0.1
_LETTER: Final = re.compile(r"[A-Za-z]")
_LEAST_LETTERS: Final = 60
_LEAST_SMALL: Final = 0.1
_LEAST_VOWELS: Final = 0.2
_IMAGE_OBJECT: Final = 3  # FPDF_PAGEOBJ_IMAGE
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
    texts = [part.text for part in parts if part.kind == "paragraph"]
    if texts and all(text == _NO_MAP for text in texts):
        raise ReadingFailed("it cannot be read as text: its fonts have no character map")
    if all(text in _NOTICES for text in texts):
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
            text = _read_in_order(text_page)
        finally:
            text_page.close()
        if text.strip():
            return _NO_MAP if _is_garbled(text) else text
        return _NO_TEXT if _has_image(page) else ""
    finally:
        page.close()


def _read_in_order(text_page: "PdfTextPage") -> str:
    """Read the columns of a page one after the other, or the whole page if it has none."""
    boxes = [TextBox(*text_page.get_rect(at)) for at in range(text_page.count_rects())]
    if parts := find_columns(boxes):
        return "\r\n".join(str(text_page.get_text_bounded(*part)) for part in parts)
    return str(text_page.get_text_bounded())


def _has_image(page: "PdfPage") -> bool:
    return next(iter(page.get_objects(filter=[_IMAGE_OBJECT])), None) is not None


def _is_garbled(text: str) -> bool:
    """Return whether a text consists of the numbers of glyphs, because a font has no character map.

    Such numbers are control characters and others without a meaning, or, moved by a fixed distance,
    Latin letters: capitals with hardly any vowels.
    """
    for hyphen in _HYPHENS:
        text = text.replace(hyphen, "")
    signs = [char for char in text if not char.isspace()]
    odd = sum(
        char == "\ufffd" or unicodedata.category(char) in ("Cc", "Cn", "Co") for char in signs
    )
    if len(signs) >= _LEAST_SIGNS and odd >= _MOST_ODD_SIGNS * len(signs):
        return True
    letters = _LETTER.findall(text)
    small = sum(letter.islower() for letter in letters)
    vowels = sum(letter in "AEIOUYaeiouy" for letter in letters)
    is_latin = len(letters) >= _LEAST_LETTERS and 2 * len(letters) >= len(signs)
    return (
        is_latin and small < _LEAST_SMALL * len(letters) and vowels < _LEAST_VOWELS * len(letters)
    )


def _join_words(text: str) -> str:
    for hyphen in _HYPHENS:
        text = text.replace(f"{hyphen}\r\n", "").replace(hyphen, "")
    return text
