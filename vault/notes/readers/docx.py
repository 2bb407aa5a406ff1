"""Read Word documents, with limits on size and depth.

Paragraphs, headings (by their style), lists, tables, footnotes and endnotes are read. Macros,
fields, entities, text deleted under "track changes" and linked files are ignored. The library
python-docx is not used, because it ignores inserted text, content controls, text boxes and
footnotes. It also builds a tree that needs several times the memory.
"""

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final
from xml.parsers import expat

from vault.errors import ReadingFailed
from vault.notes.readers.extract import Extract, ExtractPart, build_table, clean_prose, limit_parts

MAX_FILES: Final = 20_000
MAX_PART_BYTES: Final = 100_000_000

_OLE_MARK: Final = b"\xd0\xcf\x11\xe0"
_DAMAGED: Final = "it is damaged or no Word document"
MAX_DEPTH: Final = 500

Event = tuple[str, str, Mapping[str, str]]
Styles = Mapping[str, int]

_HEADING_NAME: Final = re.compile(r"heading ([1-9])", re.I)
_CHUNK_BYTES: Final = 65_536
_INSTEAD: Final = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_LEFT_OUT: Final = frozenset(  # Fallback repeats Choice; the others are no text
    {"Fallback", "del", "moveFrom", "pPrChange", "rPrChange", "instrText", "tabs"}
)


def read(data: bytes) -> Extract:
    """Extract the text of a Word document.

    Raises:
        ReadingFailed: the document is damaged, needs a password, or exceeds a limit when unpacked.
    """
    if data.startswith(_OLE_MARK):
        raise ReadingFailed("it is protected by a password, or an old .doc; save it as .docx")
    with _translate_errors():
        package = zipfile.ZipFile(io.BytesIO(data))
    with package:
        if len(package.infolist()) > MAX_FILES:
            raise ReadingFailed(f"it holds more than {MAX_FILES:,} files")
        try:
            return _extract(package)
        except expat.ExpatError as error:
            raise ReadingFailed(_DAMAGED) from error


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Convert errors of the zip reader to `ReadingFailed` within the `with` block."""
    try:
        yield
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, zlib.error, OSError) as error:
        raise ReadingFailed(_DAMAGED) from error
    except (NotImplementedError, RuntimeError, ValueError) as error:
        raise ReadingFailed(_DAMAGED) from error  # odd compression, an encrypted entry, bad lengths


def _extract(package: zipfile.ZipFile) -> Extract:
    main = _find_main_part(package)
    folder = posixpath.dirname(main)
    styles = read_styles(_unpack(package, posixpath.join(folder, "styles.xml")))
    parts = limit_parts(_build_parts(package, main, folder, styles))
    titles = [text for name, text in _read_properties(package) if name == "title" and text.strip()]
    return Extract(parts, aliases=tuple(titles[:1]))


def _build_parts(
    package: zipfile.ZipFile, main: str, folder: str, styles: Styles
) -> Iterator[ExtractPart]:
    yield from walk_body(_unpack(package, main), styles)
    for name in ("footnotes", "endnotes"):
        notes = list(walk_body(_unpack(package, posixpath.join(folder, f"{name}.xml")), styles))
        if notes:
            yield ExtractPart("heading", name.capitalize(), 1)
            yield from notes


def _find_main_part(package: zipfile.ZipFile) -> str:
    for _, name, attributes in Elements(_unpack(package, "_rels/.rels")):
        if name == "Relationship" and attributes.get("Type", "").endswith("/officeDocument"):
            return attributes.get("Target", "").lstrip("/")
    raise ReadingFailed(_DAMAGED)


def _unpack(package: zipfile.ZipFile, name: str) -> bytes:
    """Return the content of a file in the archive, or empty bytes if there is no such file.

    The size that the archive declares is not trusted.

    Raises:
        ReadingFailed: the file is larger than the limit, or damaged.
    """
    if name not in package.NameToInfo:
        return b""
    with _translate_errors(), package.open(name) as file:
        data = file.read(MAX_PART_BYTES + 1)
    if len(data) > MAX_PART_BYTES:
        size_mb = MAX_PART_BYTES // 1_000_000
        raise ReadingFailed(f"it unpacks to more than {size_mb} MB (a zip bomb?)")
    return data


def _read_properties(package: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    name = ""
    for event, value, _ in Elements(_unpack(package, "docProps/core.xml")):
        if event == "start":
            name = value
        elif event == "text":
            yield name, value


class Elements:
    """Iterates over the events of an XML parser: start, text and end of elements.

    Namespaces are removed from the names of elements and attributes.

    Raises:
        ReadingFailed: while iterating, if the XML has a document type or is nested too deeply.
        expat.ExpatError: while iterating, if the XML is not valid.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._events: list[Event] = []
        self._depth = 0
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.StartDoctypeDeclHandler = self._doctype

    def __iter__(self) -> Iterator[Event]:
        for at in range(0, len(self._data), _CHUNK_BYTES):
            chunk = self._data[at : at + _CHUNK_BYTES]
            self._parser.Parse(chunk, at + _CHUNK_BYTES >= len(self._data))
            events, self._events = self._events, []
            yield from events

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ReadingFailed("it is nested too deeply")
        plain = {key.rpartition(" ")[2]: value for key, value in attributes.items()}
        self._events.append(("start", name.rpartition(" ")[2], plain))

    def _end(self, name: str) -> None:
        self._depth -= 1
        self._events.append(("end", name.rpartition(" ")[2], {}))

    def _text(self, text: str) -> None:
        self._events.append(("text", text, {}))

    def _doctype(self, *_: object) -> None:
        raise ReadingFailed("it holds a document type, which no Word document has")


def read_styles(data: bytes) -> Styles:
    """Return the level of each heading style, keyed by style id.

    Heading styles are recognised by name, since ids depend on Word's language.
    """
    levels: dict[str, int] = {}
    style = ""
    for event, name, attributes in Elements(data):
        if event != "start":
            continue
        if name == "style":
            style = attributes.get("styleId", "")
        elif name == "name" and (match := _HEADING_NAME.fullmatch(attributes.get("val", ""))):
            levels[style] = int(match[1])
        elif name == "name" and attributes.get("val", "").lower() == "title":
            levels[style] = 1
        elif name == "outlineLvl" and attributes.get("val", "").isdecimal():
            levels.setdefault(style, int(attributes["val"]) + 1)
    return levels


@dataclass(slots=True)
class _Paragraph:
    text: list[str] = field(default_factory=list)
    style: str = ""
    is_item: bool = False
    indent: int = 0
    outline: int = 0


def walk_body(data: bytes, styles: Styles) -> Iterator[ExtractPart]:
    """Yield the paragraphs, headings, lists and tables in one XML file of a document."""
    body = _Body(styles)
    for event in Elements(data):
        yield from body.take(*event)
    yield from body.end_list()


class _Body:
    """Builds text parts, such as paragraphs and tables, from a document's XML events."""

    def __init__(self, styles: Styles) -> None:
        self._styles = styles
        self._open: list[_Paragraph] = []  # a text box is inside a paragraph
        self._items: list[str] = []
        self._rows: list[list[str]] = []
        self._tables = 0
        self._skipped = 0
        self._is_text = False

    def take(self, event: str, name: str, attributes: Mapping[str, str]) -> Iterator[ExtractPart]:
        """Handle an XML event, and yield the paragraphs, lists or tables that end with it.

        Args:
            event: "start", "text" or "end".
            name: the name of the element, or the text.
            attributes: the attributes of the element.
        """
        if event == "text":
            if self._is_text and not self._skipped and self._open:
                self._open[-1].text.append(name)
        elif name in _LEFT_OUT:
            self._skipped += 1 if event == "start" else -1
        elif self._skipped:
            return
        elif event == "start":
            yield from self._start(name, attributes)
        else:
            yield from self._end(name)

    def end_list(self) -> Iterator[ExtractPart]:
        """Yield the current list as a part of the text, if there is a list."""
        if self._items:
            yield ExtractPart("list", "\n".join(self._items))
            self._items = []

    def _start(self, name: str, attributes: Mapping[str, str]) -> Iterator[ExtractPart]:
        match name:
            case "p":
                self._open.append(_Paragraph())
            case "t":
                self._is_text = True
            case "tbl":
                if not self._tables:
                    yield from self.end_list()
                self._tables += 1
            case "tr" if self._tables == 1:
                self._rows.append([])
            case "tc" if self._tables == 1 and self._rows:
                self._rows[-1].append("")
            case _ if self._open:
                self._update_paragraph(self._open[-1], name, attributes)

    def _update_paragraph(
        self, paragraph: _Paragraph, name: str, attributes: Mapping[str, str]
    ) -> None:
        value = attributes.get("val", "")
        match name:
            case "pStyle":
                paragraph.style = value
            case "numPr":
                paragraph.is_item = True
            case "ilvl" if value.isdecimal():
                paragraph.indent = min(int(value), 8)
            case "outlineLvl" if value.isdecimal() and int(value) < 9:
                paragraph.outline = int(value) + 1
            case _ if name in _INSTEAD:
                paragraph.text.append(_INSTEAD[name])

    def _end(self, name: str) -> Iterator[ExtractPart]:
        match name:
            case "t":
                self._is_text = False
            case "p" if self._open:
                yield from self._paragraph(self._open.pop())
            case "tbl":
                self._tables -= 1
                if not self._tables:
                    yield from self._table()

    def _paragraph(self, paragraph: _Paragraph) -> Iterator[ExtractPart]:
        text = clean_prose("".join(paragraph.text))
        level = self._styles.get(paragraph.style, paragraph.outline)
        if self._tables:
            if text and self._rows and self._rows[-1]:
                self._rows[-1][-1] = f"{self._rows[-1][-1]} {text}"
        elif not text:
            return
        elif paragraph.is_item and not level:
            indent = "  " * paragraph.indent
            self._items.append(f"{indent}- {text}".replace("\n", f"\n{indent}  "))
        else:
            yield from self.end_list()
            shown = text.removeprefix("\\") if level else text
            yield ExtractPart("heading" if level else "paragraph", shown, level)

    def _table(self) -> Iterator[ExtractPart]:
        rows, self._rows = self._rows, []
        yield from build_table(rows)
