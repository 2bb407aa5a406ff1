"""Build small PDF and Word files from scratch."""

import io
import zipfile
from collections.abc import Mapping, Sequence

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_RELATIONSHIPS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Target="word/document.xml" Type="http://schemas.openxmlformats.org/'
    'officeDocument/2006/relationships/officeDocument"/></Relationships>'
)
_STYLES = (
    f'<w:styles {_W}><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
    f'<w:style w:styleId="H2"><w:name w:val="Heading 2"/></w:style></w:styles>'
)


def pdf(pages: Sequence[str], *, title: str = "", is_encrypted: bool = False) -> bytes:
    """Build a PDF with one page per text, or per list of operators that begins with `BT`.

    The font /F1 is Helvetica. /F2 has glyphs without a character map.
    """
    kids = " ".join(f"{7 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        f"<< /Title ({title}) >>",
        "<< /Type /Font /Subtype /Type0 /BaseFont /Unknown /Encoding /Identity-H"
        " /DescendantFonts [6 0 R] >>",
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Unknown /CIDToGIDMap /Identity"
        " /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>",
    ]
    for number, page in enumerate(pages):
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842]"
            f" /Resources << /Font << /F1 3 0 R /F2 5 0 R >> >> /Contents {8 + 2 * number} 0 R >>"
        )
        shown = " ".join(f"({_escaped(line)}) Tj T*" for line in page.split("\n") if line)
        content = f"BT /F1 11 Tf 14 TL 60 780 Td {shown} ET"
        content = page if page.startswith("BT") else content
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    trailer = f"/Size {len(objects) + 1} /Root 1 0 R /Info 4 0 R"
    if is_encrypted:
        key = "00" * 32
        objects.append(f"<< /Filter /Standard /V 1 /R 2 /O <{key}> /U <{key}> /P -4 >>")
        trailer += f" /Encrypt {len(objects)} 0 R /ID [<{'00' * 16}> <{'00' * 16}>]"
    return _joined(objects, trailer)


def docx(
    body: str,
    others: Mapping[str, str | bytes] | None = None,
) -> bytes:
    """Build a Word document.

    Args:
        body: the XML inside `w:body`, which can be built with `paragraph`.
        others: further files of the package by name; they replace default files of the same name.
    """
    files: dict[str, str | bytes] = {
        "_rels/.rels": _RELATIONSHIPS,
        "word/styles.xml": _STYLES,
        "word/document.xml": f"<w:document {_W}><w:body>{body}</w:body></w:document>",
        **(others or {}),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in files.items():
            package.writestr(name, content)
    return buffer.getvalue()


def paragraph(text: str, style: str = "", properties: str = "") -> str:
    """Build a paragraph of a Word document."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{named}{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def _escaped(line: str) -> str:
    return line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _joined(objects: Sequence[str], trailer: str) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, text in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{text}\nendobj\n".encode("cp1252")
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010d} 00000 n \n".encode() for place in places)
    out += f"trailer << {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)
