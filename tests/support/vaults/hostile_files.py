"""Small documents that cost their reader much memory or time, or contain endless text."""

import io
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from tests.support.vaults.documents import docx, paragraph

__all__ = ["HOSTILE"]


def _pdf(objects: Sequence[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        start,
    )
    return bytes(out)


def _stream(content: bytes) -> bytes:
    packed = zlib.compress(content, 9)
    return b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed)


def swelling_pdf() -> bytes:
    """Build a PDF whose page is a thousand times as long as it is in the file."""
    text = b"BT /F1 11 Tf " + b"(many words of one page) Tj 0 -1 Td " * 12_000_000 + b"ET"
    return _paged_pdf(1, text)


def endless_pdf() -> bytes:
    """Build a PDF with thousands of pages that all show the same long text."""
    return _paged_pdf(
        9_000, b"BT /F1 11 Tf " + b"(the same words again) Tj 0 -1 Td " * 5_000 + b"ET"
    )


def _paged_pdf(pages: int, content: bytes) -> bytes:
    kids = b" ".join(b"%d 0 R" % (5 + number) for number in range(pages))
    page = (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842]"
        b" /Resources << /Font << /F1 3 0 R >> >> /Contents 4 0 R >>"
    )
    return _pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Count %d /Kids [%s] >>" % (pages, kids),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            _stream(content),
            *[page] * pages,
        ]
    )


def swelling_docx() -> bytes:
    """Build a Word document with the same paragraph a hundred thousand times."""
    return docx(paragraph("x") * 1_000_000)


def nested_docx() -> bytes:
    """Build a Word document with tables nested in tables."""
    start, end = "<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>"
    return docx(start * 200_000 + paragraph("deep") + end * 200_000)


def zip_bomb() -> bytes:
    """Build a Word document with a part that exceeds the size limit when unpacked."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as package:
        with zipfile.ZipFile(io.BytesIO(docx("x"))) as usual:
            for name in usual.namelist():
                if name != "word/document.xml":
                    package.writestr(name, usual.read(name))
        with package.open("word/document.xml", "w", force_zip64=True) as part:
            for _ in range(150):
                part.write(bytes(1_000_000))
    return buffer.getvalue()


def nested_html() -> bytes:
    """Build an HTML page with deeply nested elements."""
    return b"<div><b>" * 2_000_000 + b"deep"


HOSTILE: Final[Mapping[str, Callable[[], bytes]]] = {
    "swelling.pdf": swelling_pdf,
    "endless.pdf": endless_pdf,
    "swelling.docx": swelling_docx,
    "nested.docx": nested_docx,
    "bomb.docx": zip_bomb,
    "nested.html": nested_html,
}
