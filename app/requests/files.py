"""The files of the store: how objects are written together, and how they are read again.

A file has a header, which names its objects and their notes, and blocks with the texts of the
objects. Each of these parts is compressed alone and has spare bytes, from which it is repaired, so
that damage which is too large for them costs one block. Where an object refers to others of the
same file, their numbers take the place of their hashes, which cannot be compressed.

    strata sent 3 | sizes | header | lists and records | answers and pieces | … | sizes again
"""

import json
import lzma
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from app.requests.pieces import NoteRef
from app.requests.record import ObjectKind
from app.requests.repairs import add_spare, count_spare_bytes, restore
from resources.system.files import read_file

__all__ = [
    "UNREADABLE",
    "WITH_REFERENCES",
    "EncodedFile",
    "StoredObject",
    "StoredPlace",
    "decode_file",
    "decode_header",
    "encode_file",
    "list_places",
    "read_texts",
    "repair_file",
]

UNREADABLE: Final = (
    *(OSError, ValueError, KeyError, TypeError, IndexError),
    *(zlib.error, lzma.LZMAError),
)
_MAGIC: Final = b"strata sent 3\n"
_PLAIN_MAGIC: Final = b"strata sent 2\n"  # without spare bytes, and with one block
_OLD_MAGIC: Final = b"strata sent 1\n"  # with zlib too, and hashes in all texts
_LENGTH_BYTES: Final = 4
_CHECK_BYTES: Final = 4
_PART_BYTES: Final = 3 * _LENGTH_BYTES  # of the sizes and the checksum of a part
_BLOCK_BYTES: Final = 96 * 1024  # of texts, before they are compressed
# How many sectors of a part may be damaged. Without the header nothing of a file can be read, and
# without a record nothing of a request.
_SPARE: Final = 2
_MORE_SPARE: Final = 4
_SMALL_BYTES: Final = 1024  # one is enough for a part that is smaller
_LARGE_BYTES: Final = 4 * 1024
_FED_BYTES: Final = 64  # what is decompressed at once of a damaged part
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


class EncodedFile(NamedTuple):
    """A file that is not written yet.

    Attributes:
        content: the content of the file.
        header: what its header says of the objects.
    """

    content: bytes
    header: Mapping[str, Any]


def encode_file(objects: Sequence[StoredObject], mark: str = "") -> EncodedFile:
    """Return a file with some objects.

    Args:
        mark: what makes the file another one than those with the same objects.
    """
    # Alike texts are compressed together.
    ordered = sorted(objects, key=lambda one: (not _is_structure(one.place), one.place.kind))
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
    header_json = json.dumps(header, separators=(",", ":"))
    count = sum(_is_structure(one.place) for one in ordered)
    blocks = (b"".join(texts[:count]), *_group_texts(texts[count:]))
    return EncodedFile(_join_parts([header_json.encode(), *blocks]), header)


def _is_structure(place: StoredPlace) -> bool:
    return place.kind in WITH_REFERENCES


def _group_texts(texts: Sequence[bytes]) -> Iterator[bytes]:
    """Yield blocks of whole texts, each with about as many bytes."""
    total = sum(map(len, texts))
    least = total / max(1, total // _BLOCK_BYTES)
    block, size, left = list[bytes](), 0, total
    for text in texts:
        block.append(text)
        size += len(text)
        left -= len(text)
        if left and size >= least:
            yield b"".join(block)
            block, size = [], 0
    if size:
        yield b"".join(block)


class _Part(NamedTuple):
    """A part of a file: the header or a block.

    Attributes:
        length: the length of its compressed data.
        whole_length: the length of its texts.
        check: the checksum of the compressed data.
        spare: how many sectors of it may be damaged.
    """

    length: int
    whole_length: int
    check: int
    spare: int

    @property
    def size(self) -> int:
        """The length of the part in the file, with its spare bytes."""
        return count_spare_bytes(self.length, self.spare) + self.length


def _join_parts(texts: Sequence[bytes]) -> bytes:
    """Return a file with a header and blocks, each of which is compressed."""
    packed = [_compress(text) for text in texts]
    lengths = [len(text) for text in texts]
    return _join_packed(packed, lengths)


def _join_packed(packed: Sequence[bytes], lengths: Sequence[int]) -> bytes:
    sizes = b"".join(
        number.to_bytes(_LENGTH_BYTES, "big")
        for data, length in zip(packed, lengths, strict=True)
        for number in (len(data), length, zlib.crc32(data))
    )
    count = len(packed).to_bytes(_LENGTH_BYTES, "big")
    size_table = count + sizes + count
    size_table += zlib.crc32(size_table).to_bytes(_CHECK_BYTES, "big")
    parts = [add_spare(data, _count_spare(at, len(data))) for at, data in enumerate(packed)]
    return b"".join((_MAGIC, size_table, *parts, size_table))


def _count_spare(at: int, length: int) -> int:
    """Return how many spare sectors a part has.

    Args:
        at: the index of the part.
        length: the length of its compressed data.
    """
    if length < _SMALL_BYTES:
        return 1
    return _MORE_SPARE if at < 2 and length >= _LARGE_BYTES else _SPARE


def _read_parts(content: bytes) -> tuple[list[_Part], int]:
    """Return the parts of a file, and the offset of the first one.

    Raises:
        ValueError: the sizes are damaged at both places.
    """
    first = content[len(_MAGIC) : len(_MAGIC) + _LENGTH_BYTES]
    last = content[-_LENGTH_BYTES - _CHECK_BYTES : -_CHECK_BYTES]
    for written, is_last in ((first, False), (last, True)):
        length = int.from_bytes(written, "big") * _PART_BYTES + 2 * _LENGTH_BYTES + _CHECK_BYTES
        start = len(content) - length if is_last else len(_MAGIC)
        size_table = content[start : start + length] if start >= 0 else b""
        check = int.from_bytes(size_table[-_CHECK_BYTES:], "big")
        if len(size_table) == length and zlib.crc32(size_table[:-_CHECK_BYTES]) == check:
            return list(_list_parts(size_table)), len(_MAGIC) + length
    raise ValueError("it is no file of sent requests, or its sizes are damaged")


def _list_parts(size_table: bytes) -> Iterator[_Part]:
    numbers = [
        int.from_bytes(size_table[at : at + _LENGTH_BYTES], "big")
        for at in range(
            _LENGTH_BYTES, len(size_table) - _LENGTH_BYTES - _CHECK_BYTES, _LENGTH_BYTES
        )
    ]
    for at in range(0, len(numbers), 3):
        length, whole_length, check = numbers[at : at + 3]
        yield _Part(length, whole_length, check, _count_spare(at // 3, length))


def _restore_parts(content: bytes) -> Iterator[tuple[_Part, bytes, bool]]:
    """Yield the compressed parts of a file, repaired, and whether each is whole.

    Raises:
        ValueError: nothing can be read.
    """
    parts, start = _read_parts(content)
    for part in parts:
        stored = content[start : start + part.size]
        data = stored[part.size - part.length :]
        if zlib.crc32(data) != part.check:
            data = restore(stored, part.length, part.spare)
        yield part, data, zlib.crc32(data) == part.check
        start += part.size


def repair_file(content: bytes) -> bytes:
    """Return the content of a damaged file as it was written, or as it is if that is impossible."""
    with suppress(ValueError):
        found = list(_restore_parts(content))
        if all(is_whole for _part, _data, is_whole in found):
            lengths = [part.whole_length for part, _data, _is_whole in found]
            return _join_packed([data for _part, data, _is_whole in found], lengths)
    return content


def decode_header(file: str, content: bytes) -> dict[str, StoredPlace]:
    """Return the places of the objects in a file, by their names, in order.

    Args:
        file: the name of the file.
        content: its content, which may be damaged.

    Raises:
        ValueError: it is no file of sent requests. Other errors of `UNREADABLE` mean damage.
    """
    return list_places(file, json.loads(_read_header(content)))


def decode_file(file: str, content: bytes) -> dict[str, StoredObject]:
    """Return the objects in a file by their names, in order.

    A text that the damage of a file took is cut or empty. The arguments and exceptions are those of
    `decode_header`.
    """
    places = decode_header(file, content)
    names = {f"#{at}": name for at, name in enumerate(places)}
    has_numbers = not content.startswith(_OLD_MAGIC)
    found = dict[str, StoredObject]()
    texts = _read_texts(content)
    for name, place in places.items():
        text = _decode_text(texts[place.start : place.start + place.length])
        if has_numbers and place.kind in WITH_REFERENCES:
            text = _NUMBER.sub(lambda match: names.get(match[0], match[0]), text)
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


def _read_header(content: bytes) -> bytes:
    """Return the header of a file."""
    if content.startswith((_PLAIN_MAGIC, _OLD_MAGIC)):
        return _split(content)[0]
    _part, data, _is_whole = next(_restore_parts(content))
    return lzma.decompress(data, lzma.FORMAT_RAW, filters=_FILTERS)


def _read_texts(content: bytes) -> bytes:
    """Return the texts of a file in their order. What is damaged has zeros in its place."""
    if content.startswith((_PLAIN_MAGIC, _OLD_MAGIC)):
        return _decompress(_split(content)[1], content)
    _header, *blocks = _restore_parts(content)
    return b"".join(
        lzma.decompress(data, lzma.FORMAT_RAW, filters=_FILTERS)
        if is_whole
        else _decompress_start(data)[: part.whole_length].ljust(part.whole_length, b"\0")
        for part, data, is_whole in blocks
    )


def _decompress_start(data: bytes) -> bytes:
    """Return what can be decompressed, up to the first damage."""
    decompressor = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=_FILTERS)
    found = list[bytes]()
    with suppress(lzma.LZMAError, EOFError):
        for at in range(0, len(data), _FED_BYTES):
            found.append(decompressor.decompress(data[at : at + _FED_BYTES]))
    return b"".join(found)


def _split(content: bytes) -> tuple[bytes, bytes]:
    """Return the header of a file of an earlier format, and its compressed texts."""
    start = len(_PLAIN_MAGIC) + _LENGTH_BYTES
    end = start + int.from_bytes(content[len(_PLAIN_MAGIC) : start], "big")
    return _decompress(content[start:end], content), content[end:]


def _compress(data: bytes) -> bytes:
    return lzma.compress(data, lzma.FORMAT_RAW, filters=_FILTERS)


def _decompress(data: bytes, content: bytes) -> bytes:
    if content.startswith(_OLD_MAGIC):
        return zlib.decompress(data)
    return lzma.decompress(data, lzma.FORMAT_RAW, filters=_FILTERS)


def list_places(file: str, header: Mapping[str, Any]) -> dict[str, StoredPlace]:
    """Return the places of the objects in a file, by their names, in order.

    Args:
        file: the name of the file.
        header: its header, which may be damaged.
    """
    notes = [NoteRef(*map(str, row)) for row in header["notes"]]
    found, start = dict[str, StoredPlace](), 0
    for short in header["objects"]:
        row = [*short, *(0, (), 0, "")[len(short) - 1 :]]
        length, refs = int(row[1]), tuple(notes[at] for at in row[2])
        found[str(row[0])] = StoredPlace(file, start, length, refs, _KINDS[row[3]], str(row[4]))
        start += length
    return found


def _decode_text(data: bytes) -> str:
    """Return a text, or an empty one if its bytes are damaged."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return ""


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
