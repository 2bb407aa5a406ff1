"""Lines with a hash of the line before and of themselves: a lost or changed one is noticed."""

import json
import os
from pathlib import Path

import pytest

from resources.system.line_chain import encode_chain, find_breaks, move_line, read_last_line

LINES = [{"id": f"{number}", "text": "x" * number} for number in range(5)]
OLD = b'{"id": "old"}\n'


def test_whole_lines_have_no_break() -> None:
    content = encode_chain(LINES)
    assert find_breaks(content) == []
    assert [json.loads(line)["id"] for line in content.splitlines()] == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize("lost", range(4))
def test_a_lost_line_is_noticed_at_the_next_one(lost: int) -> None:
    lines = encode_chain(LINES).splitlines(keepends=True)
    del lines[lost]
    assert find_breaks(b"".join(lines)) == [lost + 1]


@pytest.mark.parametrize("changed", range(5))
@pytest.mark.parametrize("place", [0, 1, 8, *range(-35, -1)])
def test_a_changed_bit_is_noticed(changed: int, place: int) -> None:
    lines = [bytearray(line) for line in encode_chain(LINES).splitlines()]
    lines[changed][place] ^= 1
    content = b"\n".join(map(bytes, lines)) + b"\n"
    last = content.splitlines()[-1]
    breaks = find_breaks(content + encode_chain([{"id": "next"}], last))
    assert changed + 1 in breaks or changed + 2 in breaks


@pytest.mark.parametrize("bit", range(8))
def test_a_changed_line_end_is_noticed(bit: int) -> None:
    """The next line takes what is before it for cut off: simulator, step 232199009321685."""
    content = encode_chain(LINES[:1])
    changed = content[:-1] + bytes([content[-1] ^ 1 << bit])
    last = changed.split(b"\n")[-1]
    following = b"\n" + encode_chain([{"id": "next"}], last, is_cut_off=True)
    assert find_breaks(changed + following) == [1]


def test_two_lines_in_another_order_are_noticed() -> None:
    first, second, third, *_ = encode_chain(LINES).splitlines(keepends=True)
    assert find_breaks(first + third + second) == [2, 3]


def test_zeros_in_the_place_of_a_line_are_noticed() -> None:
    first, second, third, *_ = encode_chain(LINES).splitlines(keepends=True)
    for kept in range(len(second) - 1):
        zeros = second[:kept] + bytes(len(second) - 1 - kept)
        new = encode_chain([{"id": "next"}], zeros, is_cut_off=True)
        assert 2 in find_breaks(first + zeros + b"\n" + third)
        assert 2 in find_breaks(first + zeros + b"\n" + new)


def test_a_line_that_a_crash_cut_off_is_no_break() -> None:
    lines = encode_chain(LINES)
    for size in range(1, len(lines)):
        if lines[:size].endswith(b"\n"):
            continue
        last = lines[:size].rpartition(b"\n")[2]
        new = encode_chain([{"id": "next"}], last, is_cut_off=True)
        assert find_breaks(lines[:size] + b"\n" + new) == []
        assert find_breaks(lines[:size]) == []


def test_lines_of_older_versions_are_not_checked_and_the_next_one_follows_them() -> None:
    new = encode_chain(LINES, OLD.rstrip())
    assert find_breaks(OLD + OLD + new) == []
    assert find_breaks(OLD + b'{"id": "xxx"}\n' + new) == [3]
    assert find_breaks(OLD[:-3] + b"\n" + OLD) == []


def test_a_moved_line_follows_its_new_neighbour() -> None:
    line = encode_chain(LINES).splitlines()[3]
    assert find_breaks(OLD + move_line(line, OLD.rstrip())) == []
    assert move_line(OLD, b"any") == OLD
    assert move_line(b"\xff", b"any") == b"\xff"


@pytest.mark.parametrize("size", [0, 1, 4_095, 4_096, 4_097, 9_000])
@pytest.mark.parametrize("end", [b"\n", b""])
@pytest.mark.parametrize("start", [b"", b"\n", b"first\n"])
def test_the_last_line_is_read_at_any_length(
    size: int, end: bytes, start: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_bytes(start + b"x" * size + end)
    handle = os.open(file, os.O_RDONLY)
    wanted = b"x" * size or (b"first" if start.startswith(b"first") else b"")
    assert read_last_line(handle) == wanted
    os.close(handle)


@pytest.mark.parametrize("rest", [b'{"mark": "do', b'{"mark": "done", "steps": ["1', b"{"])
def test_a_line_that_was_cut_off_and_given_an_end_later_is_no_break(rest: bytes) -> None:
    lines = encode_chain(LINES)
    last = lines.splitlines()[-1]
    for kept in (rest, move_line(rest, last)):
        new = encode_chain([{"id": "next"}, {"id": "last"}], kept)
        assert find_breaks(lines + kept + b"\n" + new) == []
