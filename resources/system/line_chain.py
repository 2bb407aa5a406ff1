"""Lines of JSON with a hash of the line before and of themselves, so that a lost one is noticed.

A line without a hash is not checked, since older versions of Strata wrote none. A line that a crash
cut off is no break: the next line tells that it follows one. What a break means is for the reader
to tell. Nothing is dropped because of one.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from resources.system.calls import read_at

__all__ = ["CHAIN", "encode_chain", "find_breaks", "move_line", "read_last_line"]

CHAIN: Final = "chain"  # the field of a line, which is its last one
_END: Final = re.compile(rb', "chain": "([0-9a-f]{16})"\}')
_HASH_CHARS: Final = 16
_END_CHARS: Final = len(', "chain": ""}') + _HASH_CHARS
_PART_BYTES: Final = 4_096


def encode_chain(
    lines: Iterable[Mapping[str, Any]], before: bytes = b"", *, is_cut_off: bool = False
) -> bytes:
    """Return lines of JSON, each with a hash of the line before and of itself.

    Args:
        lines: the lines, none of which is empty. A hash that one has already is replaced.
        before: the line before the first one, or nothing for a new file.
        is_cut_off: whether that line has no end, because a crash cut it off. One that is no whole
            JSON object was cut off too, even if it was given an end later.
    """
    encoded = bytearray()
    is_cut_off = is_cut_off or bool(before and not _read_object(before))
    for line in lines:
        content = {name: value for name, value in line.items() if name != CHAIN}
        # A path that is not UTF-8 contains surrogates, which only ASCII-escaped JSON can hold.
        text = json.dumps(content).encode("ascii")[:-1]
        hash = _hash_line(before, text, is_cut_off=is_cut_off)
        before = b'%s, "%s": "%s"}' % (text, CHAIN.encode(), hash.encode())
        encoded += before + b"\n"
        is_cut_off = False
    return bytes(encoded)


def move_line(line: bytes, before: bytes) -> bytes:
    """Return a line as it is written behind another one. A line without a hash stays as it is."""
    found = _read_object(line)
    return line if CHAIN not in found else encode_chain([found], before).rstrip(b"\n")


def find_breaks(content: bytes) -> list[int]:
    """Return the numbers of the lines that were changed, or do not follow the line before them.

    Lines are counted from 1.
    """
    breaks = set[int]()
    before, cut_off = b"", 0  # the number of a line that only a crash may have cut off
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        text, end = line[:-_END_CHARS], _END.fullmatch(line[-_END_CHARS:])
        if end is not None:
            hash = end[1].decode()
            follows_cut_off = hash == _hash_line(before, text, is_cut_off=True)
            if not follows_cut_off and (cut_off or hash != _hash_line(before, text)):
                breaks.add(cut_off or number)
        is_whole = end is not None or bool(_read_object(line))
        if not is_whole and (not line.startswith(b"{") or b"\0" in line):
            breaks.add(number)  # no crash of a process does this
        elif end is None and (_is_like_end(line[-_END_CHARS:]) or _has_wrong_end(line)):
            breaks.add(number)
        before, cut_off = line, 0 if is_whole else number
    return sorted(breaks)


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


def _is_like_end(end: bytes) -> bool:
    """Return whether the end of a line was one with a hash before one of its bytes changed."""
    wanted = b', "chain": ""}'
    fixed = end[: len(wanted) - 2] + end[-2:]
    return len(fixed) == len(wanted) and sum(map(int.__ne__, fixed, wanted)) <= 1


def _has_wrong_end(line: bytes) -> bool:
    """Return whether a line is whole up to a byte that was its line end before it changed."""
    return _END.fullmatch(line[-_END_CHARS - 1 : -1]) is not None


def _read_object(line: bytes) -> dict[str, Any]:
    """Return a line as a JSON object, which is empty if the line is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _hash_line(before: bytes, text: bytes, *, is_cut_off: bool = False) -> str:
    parts = (before, b"cut off" if is_cut_off else b"", text)
    return hashlib.sha256(b"\n".join(parts)).hexdigest()[:_HASH_CHARS]
