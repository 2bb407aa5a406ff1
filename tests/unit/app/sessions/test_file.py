"""The end of a chat's file after a write that was cut off: set aside, and nothing lost."""

import os
from pathlib import Path

import pytest

from app.sessions.file import list_lines, load_log, mend_end

HEADER = b'{"type":"session","version":2,"id":"c1","timestamp":"2026-05-14T14:03:00Z"}\n'


def mend(file: Path, *, twice: bool = False) -> None:
    for _ in range(2 if twice else 1):
        handle = os.open(file, os.O_RDWR | os.O_APPEND)
        try:
            mend_end(handle, file, load_log("c1", file.read_bytes()))
        finally:
            os.close(handle)


@pytest.mark.parametrize(
    ("end", "mended", "torn"),
    [
        (b"", b"", None),
        (b'{"type":"message","id":"a', b"", b'{"type":"message","id":"a\n'),
        (b'{"type":"other","id":"a"}', b'{"type":"other","id":"a"}\n', None),
        (b'{"type":"other"}\n"ha', b'{"type":"other"}\n', b'"ha\n'),
    ],
)
def test_the_end_of_a_file_is_mended_and_nothing_of_it_is_lost(
    tmp_path: Path, end: bytes, mended: bytes, torn: bytes | None
) -> None:
    file, aside = tmp_path / "c1.jsonl", tmp_path / "c1.jsonl.torn"
    file.write_bytes(HEADER + end)
    load_log("c1", file.read_bytes())
    assert file.read_bytes() == HEADER + end
    mend(file, twice=True)
    assert file.read_bytes() == HEADER + mended
    assert (aside.read_bytes() if aside.exists() else None) == torn


@pytest.mark.parametrize("after", [b"", b'"\xff"\n'])
def test_a_number_that_json_does_not_have_is_read_as_null(after: bytes) -> None:
    line = b'{"type":"other","id":"a","low":NaN,"high":Infinity,"word":"x"}\n'
    (entry,) = load_log("c1", HEADER + line + after).entries
    shown = entry.to_dict()
    assert (shown["low"], shown["high"], shown["word"]) == (None, None, "x")


@pytest.mark.parametrize("after", [b"", b'"\xff"\n'])
@pytest.mark.parametrize("zeros", [1, 3, 4_096])
def test_a_line_is_read_behind_zeros_for_a_line_that_was_never_written(
    tmp_path: Path, after: bytes, zeros: int
) -> None:
    first, line = b'{"type":"other","id":"a"}\n', b'{"type":"other","id":"b"}\n'
    file = tmp_path / "c1.jsonl"
    file.write_bytes(HEADER + first + b"\0" * zeros + line + after)
    log = load_log("c1", file.read_bytes())
    assert [entry.id for entry in log.entries] == ["a", "b"]
    assert [one["id"] for one in list_lines(log, file.read_bytes())][1:] == ["a", "b"]


@pytest.mark.parametrize("after", [b"", b'"\xff"\n'])
@pytest.mark.parametrize(("open_", "close"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_a_line_that_is_nested_too_deep_is_skipped_and_told(
    after: bytes, open_: bytes, close: bytes
) -> None:
    deep = b'{"type":"other","id":"a","x":' + open_ * 700 + b"1" + close * 700 + b"}\n"
    log = load_log("c1", HEADER + deep + b'{"type":"other","id":"b"}\n' + after)
    assert [entry.id for entry in log.entries] == ["b"]
    assert log.problems[0] == "Line 2 cannot be read and is skipped."


def test_a_line_with_many_lists_side_by_side_is_read() -> None:
    line = b'{"type":"other","id":"a","x":[' + b"[1]," * 700 + b"[1]]}\n"
    (entry,) = load_log("c1", HEADER + line).entries
    assert entry.to_dict()["x"] == [[1]] * 701
