"""Word documents: the zip and its XML read directly, so that every limit is this module's own.

Paragraphs, headings by their style, lists, tables, foot- and endnotes. No macros, no fields, no
entities, nothing deleted under "track changes", and nothing that a document only points to.
"""

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from xml.parsers import expat

from vault.errors import ReadingFailed
from vault.notes.readers.docx_xml import Elements, Styles, read_styles, walk_body
from vault.notes.readers.parts import Extract, Part, bounded

MAX_FILES: Final = 20_000
MAX_PART_BYTES: Final = 100_000_000

_OLE_MARK: Final = b"\xd0\xcf\x11\xe0"
_DAMAGED: Final = "it is damaged or no Word document"


def read(data: bytes) -> Extract:
    """Read a Word document.

    Raises:
        ReadingFailed: it is damaged, needs a password, or swells beyond all measure.
    """
    if data.startswith(_OLE_MARK):
        raise ReadingFailed("it is protected by a password, or an old .doc; save it as .docx")
    with _unpacking():
        package = zipfile.ZipFile(io.BytesIO(data))
    with package:
        if len(package.infolist()) > MAX_FILES:
            raise ReadingFailed(f"it holds more than {MAX_FILES:,} files")
        try:
            return _extract(package)
        except expat.ExpatError as error:
            raise ReadingFailed(_DAMAGED) from error


@contextmanager
def _unpacking() -> Iterator[None]:
    """Say of whatever the zip's own reader meets that the document is damaged."""
    try:
        yield
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, zlib.error, OSError) as error:
        raise ReadingFailed(_DAMAGED) from error
    except (NotImplementedError, RuntimeError, ValueError) as error:
        raise ReadingFailed(_DAMAGED) from error  # odd compression, an encrypted entry, bad lengths


def _extract(package: zipfile.ZipFile) -> Extract:
    main = _main_part(package)
    folder = posixpath.dirname(main)
    styles = read_styles(_bytes(package, posixpath.join(folder, "styles.xml")))
    parts = bounded(_parts(package, main, folder, styles))
    titles = [text for name, text in _properties(package) if name == "title" and text.strip()]
    return Extract(parts, aliases=tuple(titles[:1]))


def _parts(package: zipfile.ZipFile, main: str, folder: str, styles: Styles) -> Iterator[Part]:
    yield from walk_body(_bytes(package, main), styles)
    for name in ("footnotes", "endnotes"):
        notes = list(walk_body(_bytes(package, posixpath.join(folder, f"{name}.xml")), styles))
        if notes:
            yield Part("heading", name.capitalize(), 1)
            yield from notes


def _main_part(package: zipfile.ZipFile) -> str:
    for _, name, attributes in Elements(_bytes(package, "_rels/.rels")):
        if name == "Relationship" and attributes.get("Type", "").endswith("/officeDocument"):
            return attributes.get("Target", "").lstrip("/")
    raise ReadingFailed(_DAMAGED)


def _bytes(package: zipfile.ZipFile, name: str) -> bytes:
    """Unpack one part, and no more of it than a part may have, whatever the zip claims."""
    if name not in package.NameToInfo:
        return b""
    with _unpacking(), package.open(name) as file:
        data = file.read(MAX_PART_BYTES + 1)
    if len(data) > MAX_PART_BYTES:
        size_mb = MAX_PART_BYTES // 1_000_000
        raise ReadingFailed(f"it unpacks to more than {size_mb} MB (a zip bomb?)")
    return data


def _properties(package: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    name = ""
    for event, value, _ in Elements(_bytes(package, "docProps/core.xml")):
        if event == "start":
            name = value
        elif event == "text":
            yield name, value
