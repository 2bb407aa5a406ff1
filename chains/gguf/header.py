"""Read the header of a GGUF file.

```
"GGUF" · version · number of tensors · number of fields
fields:  name, type, value      general.name, llama.context_length, tokenizer.ggml.tokens, …
tensors: name, shape, type, offset
padding, then the weights
```

Files are not trusted, so every count is checked against the file size before anything is read. For
a vocabulary, only the length is kept.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

__all__ = ["BadModelFile", "FileHeader", "ListLength", "read_header"]

MAX_HEADER_BYTES: Final = 256_000_000
MAX_FIELDS: Final = 65_536
MAX_TENSORS: Final = 1_000_000
MAX_DIMENSIONS: Final = 8
MAX_NAME_BYTES: Final = 65_536
MAX_LIST_ITEMS: Final = 4_096  # no list of one value for each layer is longer
DEFAULT_ALIGNMENT: Final = 32
_VERSIONS: Final = (2, 3)
_FIRST_READ_BYTES: Final = 4_000_000
_STRING, _LIST = 8, 9
_COUNT: Final = struct.Struct("<Q")
_NUMBER: Final = struct.Struct("<I")
# The format of each scalar type, by the number of the type.
_SCALARS: Final[Mapping[int, struct.Struct]] = {
    number: struct.Struct(f"<{code}")
    for number, code in zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True)
}
_DAMAGED: Final = "is damaged: its header cannot be read"


class BadModelFile(Exception):
    """A file is not a usable model. The message is a clause that follows the file name."""


@dataclass(frozen=True)
class ListLength:
    """The length of a list in a file header, stored instead of a list that is too long to keep."""

    count: int


@dataclass(frozen=True)
class FileHeader:
    """The header of a GGUF file.

    Attributes:
        fields: the values by name. A list is a tuple, or a `ListLength` if it is long.
        least_bytes: the minimum size of a complete file.
    """

    fields: Mapping[str, Any]
    least_bytes: int


def read_header(file: BinaryIO, size: int) -> FileHeader:
    """Read the header of a file.

    Args:
        file: the file, opened at its beginning.
        size: the file size in bytes.

    Raises:
        BadModelFile: the file is not a GGUF file, or its header is damaged.
    """
    reader = _Reader(file, size)
    if size < 4 or reader.take(4) != b"GGUF":
        raise BadModelFile("is not a GGUF file")
    version = reader.unpack(_NUMBER)
    if version not in _VERSIONS:
        raise BadModelFile(f"has the GGUF version {version}, which Strata cannot read")
    tensors, count = reader.unpack(_COUNT), reader.unpack(_COUNT)
    if count > MAX_FIELDS or tensors > MAX_TENSORS:
        raise BadModelFile(_DAMAGED)
    fields = {}
    for _ in range(count):
        name = reader.read_name()
        fields[name] = reader.read_value(reader.unpack(_NUMBER))
    return FileHeader(fields, _find_end(reader, tensors, fields))


def _find_end(reader: "_Reader", tensors: int, fields: Mapping[str, Any]) -> int:
    """Compute the minimum file size from the offsets of the tensors.

    Args:
        reader: the reader, positioned at the list of tensors.
        tensors: the number of tensors.
        fields: the fields of the header.
    """
    last = -1
    for _ in range(tensors):
        reader.read_name()
        dimensions = reader.unpack(_NUMBER)
        if dimensions > MAX_DIMENSIONS:
            raise BadModelFile(_DAMAGED)
        reader.take(dimensions * _COUNT.size + _NUMBER.size)
        last = max(last, reader.unpack(_COUNT))
    alignment = fields.get("general.alignment")
    if not isinstance(alignment, int) or alignment < 1:
        alignment = DEFAULT_ALIGNMENT
    weights = -(-reader.at // alignment) * alignment
    return weights + last + 1 if tensors else reader.at


class _Reader:
    """Reads values from a file one by one.

    Attributes:
        at: the offset of the next value.
    """

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.at = 0
        self._file, self._size = file, size
        self._data = b""

    def read_name(self) -> str:
        length = self.unpack(_COUNT)
        if length > MAX_NAME_BYTES:
            raise BadModelFile(_DAMAGED)
        return self.take(length).decode("utf-8", "replace")

    def read_value(self, kind: int) -> Any:
        if kind in _SCALARS:
            return self.unpack(_SCALARS[kind])
        if kind == _STRING:
            return self.take(self.unpack(_COUNT)).decode("utf-8", "replace")
        if kind != _LIST:
            raise BadModelFile(_DAMAGED)
        item, count = self.unpack(_NUMBER), self.unpack(_COUNT)
        if count <= MAX_LIST_ITEMS and item != _LIST:
            return tuple(self.read_value(item) for _ in range(count))
        self._skip(item, count)
        return ListLength(count)

    def unpack(self, form: struct.Struct) -> Any:
        """Read the next number from the file, given its format for the module `struct`."""
        return form.unpack(self.take(form.size))[0]

    def take(self, count: int) -> bytes:
        self._require(count)
        start, self.at = self.at, self.at + count
        return self._data[start : self.at]

    def _skip(self, item: int, count: int) -> None:
        if item in _SCALARS:
            self._require(count * _SCALARS[item].size)
            self.at += count * _SCALARS[item].size
            return
        if item != _STRING:
            raise BadModelFile(_DAMAGED)
        size = _COUNT.size
        self._require(count * size)
        for _ in range(count):
            if self.at + size > len(self._data):
                self._require(size)
            self.at += size + _COUNT.unpack_from(self._data, self.at)[0]
        self._require(0)

    def _require(self, count: int) -> None:
        """Read more of the file if fewer than `count` bytes are buffered."""
        end = self.at + count
        if end <= len(self._data):
            return
        if end <= min(self._size, MAX_HEADER_BYTES):
            missing = end - len(self._data)
            self._data += self._file.read(max(missing, _FIRST_READ_BYTES, len(self._data)))
        if end > len(self._data):
            raise BadModelFile("is damaged: its header ends too early")
