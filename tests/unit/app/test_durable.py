import errno
import os
from pathlib import Path

import pytest

from app import durable


@pytest.fixture
def handle(tmp_path: Path) -> int:
    return durable.create_synced(tmp_path / "log", b"first\n")


def full_disk(written: int) -> object:
    def write(handle: int, content: bytes, _write: object = os.write) -> int:
        if len(content) <= written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return _write(handle, bytes(content[:written]))  # type: ignore[operator]

    return write


def test_what_was_appended_is_synced_before_it_returns(
    handle: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[bytes] = []
    monkeypatch.setattr(
        durable.os, "fsync", lambda _handle: synced.append((tmp_path / "log").read_bytes())
    )
    durable.write_synced(handle, b"second\n")
    assert synced == [b"first\nsecond\n"]


def test_a_batch_is_one_write(handle: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    write = os.write
    monkeypatch.setattr(
        durable.os, "write", lambda h, data: sizes.append(len(data)) or write(h, data)
    )
    durable.write_synced(handle, b"x" * 1_000_000)
    assert sizes == [1_000_000]


def test_half_a_write_is_taken_back(
    handle: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable.os, "write", full_disk(written=3))
    with pytest.raises(OSError, match="No space"):
        durable.write_synced(handle, b"second\n")
    assert (tmp_path / "log").read_bytes() == b"first\n"


def test_a_file_that_cannot_be_written_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable.os, "write", full_disk(written=3))
    with pytest.raises(OSError, match="No space"):
        durable.create_synced(tmp_path / "new", b"content\n")
    assert list(tmp_path.iterdir()) == []


def test_creating_syncs_the_file_and_then_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    monkeypatch.setattr(
        durable.os, "fsync", lambda h: synced.append(Path(f"/proc/self/fd/{h}").readlink().name)
    )
    durable.create_synced(tmp_path / "log", b"content\n")
    assert synced == ["log.new", tmp_path.name]


def test_a_file_that_is_there_is_not_made_again(handle: int, tmp_path: Path) -> None:
    with pytest.raises(FileExistsError):
        durable.create_synced(tmp_path / "log", b"content\n")
    assert (tmp_path / "log").read_bytes() == b"first\n"


def test_a_file_has_its_name_only_when_it_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named: list[bool] = []
    sync = os.fsync
    monkeypatch.setattr(
        durable.os, "fsync", lambda h: (named.append((tmp_path / "log").exists()), sync(h))
    )
    durable.create_synced(tmp_path / "log", b"content\n")
    assert named == [False, True]


def test_a_replaced_file_is_locked_and_what_a_crash_left_is_no_hindrance(
    handle: int, tmp_path: Path
) -> None:
    (tmp_path / "log.new").write_text("left by a crash")
    new = durable.replace_synced(tmp_path / "log", b"second\n")
    assert (tmp_path / "log").read_bytes() == b"second\n"
    other = os.open(tmp_path / "log", os.O_RDWR)
    with pytest.raises(BlockingIOError):
        durable.lock(other)
    for opened in (handle, new, other):
        os.close(opened)
    assert [file.name for file in tmp_path.iterdir()] == ["log"]


def test_a_second_opening_finds_the_lock_taken_until_the_first_is_closed(
    handle: int, tmp_path: Path
) -> None:
    second = os.open(tmp_path / "log", os.O_RDWR)
    with pytest.raises(BlockingIOError):
        durable.lock(second)
    os.close(handle)
    durable.lock(second)
    os.close(second)


def test_replacing_keeps_the_mode(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)
    durable.write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640
