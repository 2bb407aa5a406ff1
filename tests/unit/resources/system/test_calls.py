import errno
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from resources.system import calls
from resources.system.calls import Folder
from resources.system.files import create_synced, find_use, write_atomically, write_synced
from tests.support.vaults.other_disks import FakeMsvcrt


def refuse(winerror: int, times: int) -> Callable[[], None]:
    """Build an action that Windows refuses a number of times."""
    left = [times]

    def act() -> None:
        if left[0]:
            left[0] -= 1
            error = PermissionError(errno.EACCES, "in use")
            error.winerror = winerror  # type: ignore[attr-defined]
            raise error

    return act


@pytest.mark.parametrize("winerror", [5, 32, 33])
def test_a_file_that_another_program_has_open_is_replaced_once_it_is_closed(winerror: int) -> None:
    waits: list[float] = []
    calls.retry_while_open(refuse(winerror, 4), waits.append)
    assert waits == [0.005, 0.01, 0.02, 0.04]


def test_a_file_that_stays_open_is_an_error_in_the_end() -> None:
    waits: list[float] = []
    with pytest.raises(PermissionError):
        calls.retry_while_open(refuse(32, 100), waits.append)
    assert 1 < sum(waits) < 5


@pytest.mark.parametrize("error", [PermissionError(errno.EACCES, "no"), OSError(errno.EIO, "no")])
def test_other_failures_are_not_repeated(error: OSError) -> None:
    def act() -> None:
        raise error

    with pytest.raises(OSError, match="no"):
        calls.retry_while_open(act, lambda _wait_s: pytest.fail("it waited"))


@pytest.mark.parametrize(
    ("tag", "is_link"), [(0xA000000C, True), (0xA0000003, True), (0x9000001A, False), (0, False)]
)
def test_files_that_are_kept_online_are_no_links(tag: int, is_link: bool) -> None:
    info = SimpleNamespace(st_mode=0o100644, st_reparse_tag=tag)
    assert calls.is_link(info) == is_link  # type: ignore[arg-type]


@pytest.fixture(params=[True, False], ids=["by descriptor", "by path"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Folder]:
    with Folder.open(tmp_path, keeps_descriptor=request.param) as opened:
        yield opened


def test_a_folder_names_files_relative_to_itself(folder: Folder, tmp_path: Path) -> None:
    folder.make_folder("in")
    handle = folder.open_file("a", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    os.close(handle)
    with folder.open_folder("in") as inner:
        folder.add_name("a", inner, "b")
        with pytest.raises(FileExistsError):
            folder.add_name("a", inner, "b")
        folder.rename("a", inner, "c")
        assert sorted(inner.list_names()) == ["b", "c"]
        assert inner.stat("b").st_ino == inner.stat("c").st_ino
        inner.remove_file("b")
        inner.remove_file("c")
        inner.sync()
    folder.remove_folder("in")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("target", ["file", "folder", "nowhere"])
def test_a_folder_opens_no_links(folder: Folder, tmp_path: Path, target: str) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(target)
    with pytest.raises(OSError, match=r"symbolic|Not a directory"):
        folder.open_file("link", os.O_RDONLY)
    with pytest.raises(OSError, match=r"symbolic|Not a directory"):
        folder.open_folder("link")
    with pytest.raises(OSError, match=r"symbolic|Not a directory"):
        calls.open_file(tmp_path / "link", os.O_RDONLY)


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> FakeMsvcrt:
    """Let this process take the branches of Windows."""
    fake = FakeMsvcrt()
    monkeypatch.setitem(sys.modules, "msvcrt", fake)  # type: ignore[arg-type]
    monkeypatch.setattr(sys, "platform", "win32")
    return fake


def test_the_branches_of_windows_write_files_that_are_closed_when_they_are_renamed(
    windows: FakeMsvcrt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, opened = os.replace, []

    def replace(source: str, target: str) -> None:
        links = [
            os.readlink(f"/proc/self/fd/{name}")
            for name in os.listdir("/proc/self/fd")
            if os.path.lexists(f"/proc/self/fd/{name}")
        ]
        opened.append(source in links)
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    write_atomically(tmp_path / "a", b"one")
    write_atomically(tmp_path / "a", b"two")
    handle = create_synced(tmp_path / "log", b"first\n")
    write_synced(handle, b"second\n")
    assert opened == [False, False, False]
    assert (tmp_path / "a").read_bytes() == b"two"
    assert (tmp_path / "log").read_bytes() == b"first\nsecond\n"
    assert find_use(tmp_path / "log") == "used"
    os.close(handle)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "log"]
