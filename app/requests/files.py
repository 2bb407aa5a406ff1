"""The files of the store: how objects are written together, and how they are read again.

A file has a header, which names its objects and their notes, and the texts of the objects, both
compressed. Where an object refers to others of the same file, their numbers take the place of their
hashes, which cannot be compressed.

    strata sent 2 | length of the header | header | texts of lists, records, answers and pieces
"""

import json
import lzma
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from app.requests.pieces import NoteRef
from app.requests.record import ObjectKind
from resources.system.files import read_file

__all__ = [
    "UNREADABLE",
    "WITH_REFERENCES",
    "StoredObject",
    "StoredPlace",
    "decode_file",
    "decode_header",
    "encode_file",
    "read_texts",
]

UNREADABLE: Final = (
    *(OSError, ValueError, KeyError, TypeError, IndexError),
    *(zlib.error, lzma.LZMAError),
)
_MAGIC: Final = b"strata sent 2\n"
_OLD_MAGIC: Final = b"strata sent 1\n"  # with zlib, and hashes in all texts
_LENGTH_BYTES: Final = 4
# A dictionary that is larger than any file needs only takes memory. The rest suits short texts.
_FILTERS: Final = (
    {
        "id": lzma.FILTER_LZMA2,
        "dict_size": 1 << 21,
        "lc": 4,
        "pb": 0,
        "mode": lzma.MODE_NORMAL,
        "nice_len": 273,
        "mf": lzma.MF_BT4,
    },
)
_KINDS: Final[tuple[ObjectKind, ...]] = ("piece", "record", "list", "answer")  # by number
WITH_REFERENCES: Final = frozenset({"record", "list"})
# A reference stands alone in a list, or before the number 1. No text can have these characters: in
# a text, a quotation mark has a backslash before it, and a list of texts has more than one.
_HASH: Final = re.compile(r'(?<=\[")[0-9a-f]{32}(?="(?:,1)?\])')
_NUMBER: Final = re.compile(r'(?<=\[")#\d+(?="(?:,1)?\])')


@dataclass(frozen=True, slots=True)
class StoredPlace:
    """Where an object is, what it is, and why its text is gone, if it is."""

    file: str
    start: int
    length: int
    notes: tuple[NoteRef, ...]
    kind: ObjectKind
    gone: str = ""


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object of a file, with its text unless that is gone."""

    name: str
    place: StoredPlace
    text: str


def encode_file(objects: Sequence[StoredObject], mark: str = "") -> bytes:
    """Return the content of a file with some objects.

    Args:
        objects: the objects.
        mark: what makes the file another one than those with the same objects.
    """
    ordered = sorted(objects, key=lambda one: one.place.kind)  # alike texts are compressed together
    numbers = {one.name: f"#{at}" for at, one in enumerate(ordered)}
    notes: dict[NoteRef, int] = {}
    rows, texts = list[list[Any]](), list[bytes]()
    for one in ordered:
        place = one.place
        text = b"" if place.gone else _encode(_replace_hashes(one.text, place.kind, numbers))
        named = [notes.setdefault(note, len(notes)) for note in place.notes]
        row: list[Any] = [one.name, len(text), named, _KINDS.index(place.kind), place.gone]
        while row and not row[-1]:
            row.pop()
        rows.append(row)
        texts.append(text)
    named_notes = [[note.root, note.path, note.version] for note in notes]
    marked = {"mark": mark} if mark else {}
    header = {"notes": named_notes, "objects": rows, **marked}
    told = json.dumps(header, separators=(",", ":"))
    head, body = _compress(told.encode()), _compress(b"".join(texts))
    return b"".join((_MAGIC, len(head).to_bytes(_LENGTH_BYTES, "big"), head, body))


def decode_header(file: str, content: bytes) -> dict[str, StoredPlace]:
    """Return the places of the objects in a file, by their names, in order.

    Args:
        file: the name of the file.
        content: its content.

    Raises:
        ValueError: it is no file of sent requests. Other errors of `UNREADABLE` mean damage.
    """
    return dict(_list_places(file, json.loads(_split(content)[0])))


def decode_file(file: str, content: bytes) -> dict[str, StoredObject]:
    """Return the objects in a file by their names, in order.

    The arguments and exceptions are those of `decode_header`.
    """
    header, body = _split(content)
    places = dict(_list_places(file, json.loads(header)))
    names = {f"#{at}": name for at, name in enumerate(places)}
    has_numbers = content.startswith(_MAGIC)
    found = dict[str, StoredObject]()
    texts = _decompress(body, content)
    for name, place in places.items():
        text = texts[place.start : place.start + place.length].decode("utf-8", "surrogatepass")
        if has_numbers and place.kind in WITH_REFERENCES:
            text = _NUMBER.sub(lambda match: names[match[0]], text)
        found[name] = StoredObject(name, place, text)
    return found


def read_texts(path: Path) -> dict[str, str]:
    """Return the texts in a file by the names of their objects, without checking them.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no file of sent requests.
    """
    found = decode_file(path.name, read_file(path))
    return {name: one.text for name, one in found.items()}


def _replace_hashes(text: str, kind: ObjectKind, numbers: Mapping[str, str]) -> str:
    if kind not in WITH_REFERENCES:
        return text
    return _HASH.sub(lambda match: numbers.get(match[0], match[0]), text)


def _split(content: bytes) -> tuple[bytes, bytes]:
    """Return the header of a file, and its compressed texts."""
    if not content.startswith((_MAGIC, _OLD_MAGIC)):
        raise ValueError("it is no file of sent requests")
    start = len(_MAGIC) + _LENGTH_BYTES
    end = start + int.from_bytes(content[len(_MAGIC) : start], "big")
    return _decompress(content[start:end], content), content[end:]


def _compress(data: bytes) -> bytes:
    return lzma.compress(data, lzma.FORMAT_RAW, filters=_FILTERS)


def _decompress(data: bytes, content: bytes) -> bytes:
    if content.startswith(_OLD_MAGIC):
        return zlib.decompress(data)
    return lzma.decompress(data, lzma.FORMAT_RAW, filters=_FILTERS)


def _list_places(file: str, header: Mapping[str, Any]) -> Iterator[tuple[str, StoredPlace]]:
    notes = [NoteRef(*map(str, row)) for row in header["notes"]]
    start = 0
    for short in header["objects"]:
        row = [*short, *(0, (), 0, "")[len(short) - 1 :]]
        length, refs = int(row[1]), tuple(notes[at] for at in row[2])
        yield str(row[0]), StoredPlace(file, start, length, refs, _KINDS[row[3]], str(row[4]))
        start += length


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
