import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.paths import Paths
from app.wiring import build
from resources.system import calls
from resources.system import files as durable


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


def test_a_new_file_whose_folder_cannot_be_flushed_goes_before_another_program_can_lock_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The entry of the other program would go with it: seed 32000011 of the simulator."""
    file, remove, is_free = tmp_path / "log", calls.remove_path, list[bool]()

    def refuse(_folder: Path) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def observe(path: Path) -> None:
        is_free.append(durable.find_use(path) != "used")
        remove(path)

    monkeypatch.setattr(calls, "sync_folder", refuse)
    monkeypatch.setattr(calls, "remove_path", observe)
    with pytest.raises(OSError, match="Input/output"):
        durable.create_synced(file, b"content\n")
    assert (is_free, file.exists()) == ([False], False)


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
        durable.calls.lock_file(other)
    for opened in (handle, new, other):
        os.close(opened)
    assert [file.name for file in tmp_path.iterdir()] == ["log"]


def test_a_second_opening_finds_the_lock_taken_until_the_first_is_closed(
    handle: int, tmp_path: Path
) -> None:
    second = os.open(tmp_path / "log", os.O_RDWR)
    with pytest.raises(BlockingIOError):
        durable.calls.lock_file(second)
    os.close(handle)
    durable.calls.lock_file(second)
    os.close(second)


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """Make a file, with links to it and to its folder, and links that lead nowhere."""
    folder = tmp_path / "folder" / "inner"
    folder.mkdir(parents=True)
    (tmp_path / "folder" / "file").write_bytes(b"content")
    os.mkfifo(tmp_path / "fifo")
    links = {
        "link": "folder/file",
        "chain": "link",
        "up": "folder/inner/../file",
        "into": "folder/inner",
        "folder/inner/out": "../file",
        "loop": "loop",
        "missing": "nothing",
        "to fifo": "fifo",
        "to device": os.devnull,
        "to folder": "folder",
    }
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    return tmp_path


@pytest.mark.parametrize("path", ["link", "chain", "up", "into/out", "into/../file"])
def test_a_file_is_read_through_links_to_it_and_to_its_folder(path: str, linked: Path) -> None:
    assert durable.read_file(linked / path) == b"content"
    assert durable.read_file(linked / path, 3) == b"con"


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("loop", "symbolic links"),
        ("missing", "No such file"),
        ("fifo", "not a file"),
        ("to fifo", "not a file"),
        ("to device", "not a file"),
        ("to folder", "Is a directory"),
        ("into", "Is a directory"),
        ("link/file", "Not a directory"),
    ],
)
def test_only_a_file_is_read_whatever_a_link_leads_to(
    path: str, problem: str, linked: Path
) -> None:
    with pytest.raises(OSError, match=problem):
        durable.read_file(linked / path)


def test_a_file_that_is_replaced_by_a_link_while_it_is_opened_is_not_read(
    linked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable.os.path, "islink", lambda _path: False)
    with pytest.raises(OSError, match="symbolic links"):
        durable.read_file(linked / "link")


def test_replacing_keeps_the_mode(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)
    durable.write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640


KILLED = """
import os, signal, sys
from pathlib import Path
from resources.system import calls
from resources.system import files as durable
durable.os.fsync = lambda _handle: {act}
durable.{write}(Path(sys.argv[1]), b"half")
"""


def leave(target: Path, act: str, write: str = "write_atomically") -> "subprocess.Popen[bytes]":
    """Start a process that comes to an end, or waits, while it writes a file."""
    command = [sys.executable, "-c", KILLED.format(act=act, write=write), target]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def test_what_a_killed_write_of_the_settings_left_is_removed_at_the_next_start(
    strata_home: Path,
) -> None:
    paths = Paths.find()
    kept = [".settings.toml.swp", ".other.toml.abcd1234", "settings.toml.bak"]
    written = (paths.settings_file, paths.state / "window.json", paths.instructions / "digest")
    restored = (
        paths.sessions / "5ed00001.jsonl",
        paths.sessions / "bin" / "5ed00001.20260101T000000000000Z.jsonl",
        paths.projects / "5ed00002" / "memory.md",
    )
    files = (*written, *restored)
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        write = "create_file" if file in restored else "write_atomically"
        leave(file, "os.kill(os.getpid(), signal.SIGKILL)", write).communicate()
        assert [left.name[: len(file.name) + 2] for left in file.parent.glob(".*")] == [
            f".{file.name}."
        ]
    for name in kept:
        (paths.config / name).write_text("another program's")
    build(paths).close()
    assert sorted(file.name for file in paths.config.iterdir() if file.is_file()) == sorted(kept)
    assert [list(file.parent.glob(".*.????????")) for file in files[1:]] == [[]] * 5


@pytest.mark.parametrize("write", ["write_atomically", "create_file"])
def test_a_write_that_goes_on_keeps_its_temporary_file(write: str, tmp_path: Path) -> None:
    writer = leave(tmp_path / "settings.toml", "(print(flush=True), input())", write)
    assert writer.stdout is not None
    writer.stdout.readline()
    durable.remove_leftovers(tmp_path)
    writer.communicate(b"\n\n")
    assert writer.returncode == 0
    assert (tmp_path / "settings.toml").read_bytes() == b"half"
