"""Lines of JSON that carry the hash of the line before, so that a lost or changed one is noticed.

A line without a hash is not checked, since older versions of Strata wrote none. What a break means
is for the reader to tell. Nothing is dropped because of one.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, Final

from resources.system.calls import read_at

__all__ = ["CHAIN", "encode_chain", "find_breaks", "move_line", "read_last_line"]

CHAIN: Final = "chain"  # the field of a line
_HASH_CHARS: Final = 16
_PART_BYTES: Final = 4_096


def encode_chain(lines: Iterable[Mapping[str, Any]], before: bytes = b"") -> bytes:
    """Return lines of JSON, each with the hash of the line before.

    Args:
        lines: the lines. A hash that one has already is replaced.
        before: the line before the first one, or nothing for a new file.
    """
    encoded = bytearray()
    for line in lines:
        # A path that is not UTF-8 contains surrogates, which only ASCII-escaped JSON can hold.
        before = json.dumps({**line, CHAIN: _hash_line(before)}).encode("ascii")
        encoded += before + b"\n"
    return bytes(encoded)


def move_line(line: bytes, before: bytes) -> bytes:
    """Return a line as it is written behind another one. A line without a hash stays as it is."""
    found = _read_object(line)
    return line if CHAIN not in found else encode_chain([found], before).rstrip(b"\n")


def find_breaks(content: bytes) -> list[int]:
    """Return the numbers of the lines that do not follow the line before them, counted from 1."""
    breaks = []
    before = b""
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        chain = _read_object(line).get(CHAIN)
        if chain is not None and chain != _hash_line(before):
            breaks.append(number)
        before = line
    return breaks


def read_last_line(handle: int) -> bytes:
    """Return the last line of an open file, without its end. It may be cut off.

    Raises:
        OSError: the file cannot be read.
    """
    end, tail = os.fstat(handle).st_size, b""
    while end and b"\n" not in tail.rstrip(b"\n"):
        start = max(0, end - _PART_BYTES)
        tail = read_at(handle, end - start, start) + tail
        end = start
    return tail.rstrip(b"\n").rpartition(b"\n")[2]


def _read_object(line: bytes) -> dict[str, Any]:
    """Return a line as a JSON object, which is empty if the line is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _hash_line(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()[:_HASH_CHARS]
