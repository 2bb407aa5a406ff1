"""Files are written safely on disks with the rules of macOS and of Windows."""

import os
from pathlib import Path

import pytest

from resources.system.files import (
    append_synced,
    create_empty,
    create_file,
    create_synced,
    make_private_folder,
    put_aside,
    read_file,
    remove_if_there,
    remove_leftovers,
    remove_tree,
    write_atomically,
)
from tests.support.vaults.other_disks import OtherDisk

COMPOSED, DECOMPOSED = "K\u00e4se.md", "Ka\u0308se.md"
DEEP = "/".join(["a folder with quite a long name"] * 9)


@pytest.fixture
def mac(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OtherDisk:
    disk = OtherDisk("macos", tmp_path, tmp_path)
    disk.mount(monkeypatch)
    return disk


@pytest.fixture(params=["C:\\vault", "\\\\server\\share"], ids=["drive", "share"])
def windows(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> OtherDisk:
    disk = OtherDisk("windows", Path(request.param), tmp_path)
    disk.mount(monkeypatch)
    return disk


@pytest.fixture(params=["macos", "windows"])
def disk(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> OtherDisk:
    root = tmp_path if request.param == "macos" else Path("C:\\vault")
    disk = OtherDisk(request.param, root, tmp_path)
    disk.mount(monkeypatch)
    return disk


def test_a_name_in_another_case_is_the_same_file(disk: OtherDisk) -> None:
    write_atomically(disk.root / "note.md", b"one")
    append_synced(disk.root / "NOTE.md", b" two")
    assert disk.list_names() == ["note.md"]
    assert read_file(disk.root / "Note.MD") == b"one two"
    with pytest.raises(FileExistsError):
        create_file(disk.root / "NOTE.MD", b"three")
    with pytest.raises(FileExistsError):
        create_synced(disk.root / "Note.md", b"three")
    create_empty(disk.root / "nOTE.md")
    assert read_file(disk.root / "note.md") == b"one two"
    write_atomically(disk.root / "NOTE.md", b"four")
    assert [name.lower() for name in disk.list_names()] == ["note.md"]
    remove_if_there(disk.root / "nOtE.md")
    assert disk.list_names() == []


def test_accents_are_stored_decomposed_on_macos_only(mac: OtherDisk) -> None:
    write_atomically(mac.root / COMPOSED, b"one")
    assert mac.list_names() == [DECOMPOSED]
    write_atomically(mac.root / DECOMPOSED, b"two")
    assert (mac.list_names(), read_file(mac.root / COMPOSED)) == ([DECOMPOSED], b"two")


def test_two_forms_of_an_accent_are_two_files_on_windows(windows: OtherDisk) -> None:
    write_atomically(windows.root / COMPOSED, b"one")
    write_atomically(windows.root / DECOMPOSED, b"two")
    assert windows.list_names() == sorted([COMPOSED, DECOMPOSED])


def test_what_a_killed_write_left_is_removed_by_either_form_of_its_name(disk: OtherDisk) -> None:
    left = disk.root / f".{COMPOSED}.0123abcd"
    other = disk.root / ".Other.md.0123abcd"
    for file in (left, other):
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT))
        handle = os.open(file, os.O_WRONLY)
        os.write(handle, b"half")
        os.close(handle)
    remove_leftovers(disk.root, frozenset([COMPOSED]))
    assert disk.list_names() == [".Other.md.0123abcd"]


def test_a_file_that_is_open_for_a_moment_is_replaced_and_removed(windows: OtherDisk) -> None:
    file = windows.root / "a.md"
    write_atomically(file, b"one")
    windows.busy["a.md"] = 3
    write_atomically(file, b"two")
    assert (windows.busy["a.md"], read_file(file)) == (0, b"two")
    windows.busy["a.md"] = 2
    remove_if_there(file)
    assert windows.list_names() == []


def test_a_file_that_stays_open_is_kept_whole(
    windows: OtherDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resources.system.calls._FIRST_WAIT_S", 0.0)
    file = windows.root / "a.md"
    write_atomically(file, b"one")
    windows.busy["a.md"] = 1_000
    with pytest.raises(PermissionError):
        write_atomically(file, b"two")
    assert (windows.list_names(), read_file(file)) == (["a.md"], b"one")


def test_paths_of_more_than_259_characters_are_used_on_windows(windows: OtherDisk) -> None:
    folder = windows.root / DEEP
    assert len(os.fspath(folder)) > 260
    make_private_folder(folder)
    make_private_folder(folder)  # it is there
    write_atomically(folder / "a.md", b"one")
    write_atomically(folder / "a.md", b"two")
    append_synced(folder / "a.md", b" three")
    assert read_file(folder / "a.md") == b"two three"
    with pytest.raises(FileExistsError):
        create_synced(folder / "a.md", b"four")
    with pytest.raises(FileExistsError):
        create_file(folder / "a.md", b"four")
    os.close(create_synced(folder / "log", b"first"))
    put_aside(folder / "log")
    (aside,) = [name for name in windows.list_names(DEEP) if name != "a.md"]
    assert aside.startswith("log.")
    assert aside.endswith(".damaged")
    assert read_file(folder / "a.md") == b"two three"


def test_a_deep_folder_is_removed_on_windows(windows: OtherDisk) -> None:
    make_private_folder(windows.root / DEEP)
    write_atomically(windows.root / DEEP / "a.md", b"one")
    remove_tree(windows.root / DEEP)
    assert windows.list_names(os.path.dirname(DEEP)) == []
