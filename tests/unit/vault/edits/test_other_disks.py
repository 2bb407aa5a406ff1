"""Notes are created, replaced, moved and removed on disks with other rules for names."""

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.vaults.other_disks import OtherDisk
from vault.edits.files import (
    create_file,
    move_file,
    read_file,
    remove_file,
    remove_folders,
    replace_file,
)
from vault.errors import EditFailed, EditOutdated, UnsafePath

COMPOSED, DECOMPOSED = "K\u00e4se.md", "Ka\u0308se.md"
TEMPORARY = ".strata-0123abcd"
Mount = Callable[[str], OtherDisk]


@pytest.fixture
def mount(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mount:
    """Let the files of the test lie on a disk of another system."""

    def mount(kind: str) -> OtherDisk:
        roots = {"drive": Path("C:\\vault"), "share": Path("\\\\server\\share")}
        system = "macos" if kind == "macos" else "windows"
        disk = OtherDisk(system, roots.get(kind, tmp_path), tmp_path)
        disk.mount(monkeypatch)
        return disk

    return mount


@pytest.fixture(params=["macos", "drive", "share"])
def disk(request: pytest.FixtureRequest, mount: Mount) -> OtherDisk:
    return mount(request.param)


def test_a_note_is_found_and_replaced_in_any_case_of_its_name(disk: OtherDisk) -> None:
    create_file(disk.root, "in/Note.md", b"one", TEMPORARY)
    assert read_file(disk.root, "IN/note.md") == b"one"
    replace_file(disk.root, "in/NOTE.md", b"one", b"two", TEMPORARY)
    assert read_file(disk.root, "in/Note.md") == b"two"
    with pytest.raises(EditOutdated):
        create_file(disk.root, "In/nOTE.md", b"three", TEMPORARY)
    remove_file(disk.root, "in/note.MD", b"two")
    assert disk.list_names("in") == []


@pytest.mark.parametrize("to", ["b.md", "other/a.md", "other/b.md"])
def test_a_note_is_moved(disk: OtherDisk, to: str) -> None:
    create_file(disk.root, "A.md", b"text", TEMPORARY)
    move_file(disk.root, "a.md", to, b"text")
    assert read_file(disk.root, "A.md") is None
    assert read_file(disk.root, to) == b"text"
    assert [name for name in disk.list_names() if name.endswith(".md")] == (
        [] if "/" in to else ["b.md"]
    )


def test_only_the_case_of_a_name_is_changed(disk: OtherDisk) -> None:
    create_file(disk.root, "note.md", b"text", TEMPORARY)
    move_file(disk.root, "note.md", "Note.md", b"text")
    assert disk.list_names() == ["Note.md"]
    assert read_file(disk.root, "note.md") == b"text"


@pytest.mark.parametrize("name", [COMPOSED, DECOMPOSED])
def test_a_note_with_accents_is_moved_by_either_form_of_its_name(mount: Mount, name: str) -> None:
    disk = mount("macos")
    create_file(disk.root, COMPOSED, b"text", TEMPORARY)
    move_file(disk.root, name, "Brot.md", b"text")
    assert disk.list_names() == ["Brot.md"]
    move_file(disk.root, "Brot.md", name, b"text")
    assert disk.list_names() == [DECOMPOSED]
    move_file(disk.root, COMPOSED, DECOMPOSED, b"text")
    assert disk.list_names() == [DECOMPOSED]
    assert read_file(disk.root, COMPOSED) == b"text"


def test_a_move_that_was_interrupted_is_completed(disk: OtherDisk) -> None:
    create_file(disk.root, COMPOSED, b"text", TEMPORARY)
    with_two_names = disk.root / "Brot.md"
    with_two_names.hardlink_to(disk.root / COMPOSED)
    assert len(disk.list_names()) == 2
    move_file(disk.root, COMPOSED, "Brot.md", b"text")
    assert disk.list_names() == ["Brot.md"]


def test_two_forms_of_an_accent_are_two_notes_on_windows(mount: Mount) -> None:
    disk = mount("drive")
    for name in (COMPOSED, DECOMPOSED):
        create_file(disk.root, name, name.encode(), TEMPORARY)
    move_file(disk.root, COMPOSED, "Brot.md", COMPOSED.encode())
    assert disk.list_names() == sorted(["Brot.md", DECOMPOSED])


@pytest.mark.parametrize(
    "path",
    [
        *("nul.md", "in/CON", "aux .md", "com1.md", "LPT\u00b9.txt"),
        *("a.md.", "a.md ", "in /a.md", "in./a.md", "... /a.md"),
        *("a.md:stream", "C:\\a.md", "c:a.md", "\\\\server\\share\\a.md", "//server/share/a.md"),
        *("\\a.md", "in\\..\\..\\a.md", "../a.md", "\\\\?\\C:\\a.md"),
    ],
)
def test_paths_that_windows_reads_otherwise_change_nothing(mount: Mount, path: str) -> None:
    disk = mount("drive")
    with pytest.raises((UnsafePath, EditFailed)):
        create_file(disk.root, path, b"text", TEMPORARY)
    assert disk.list_names() == []


def test_a_note_that_another_program_has_open_for_a_moment_is_replaced(mount: Mount) -> None:
    disk = mount("drive")
    create_file(disk.root, "a.md", b"one", TEMPORARY)
    disk.busy["a.md"] = 3
    replace_file(disk.root, "a.md", b"one", b"two", TEMPORARY)
    disk.busy["a.md"] = 2
    move_file(disk.root, "a.md", "b.md", b"two")
    assert (disk.list_names(), disk.busy["a.md"]) == (["b.md"], 0)


def test_a_note_with_a_long_path_is_changed_on_windows(mount: Mount) -> None:
    disk = mount("share")
    path = "/".join([*["a folder with quite a long name"] * 9, "a.md"])
    create_file(disk.root, path, b"one", TEMPORARY)
    replace_file(disk.root, path, b"one", b"two", TEMPORARY)
    move_file(disk.root, path, "a.md", b"two")
    assert read_file(disk.root, path) is None
    assert read_file(disk.root, "A.md") == b"two"


def test_a_folder_with_accents_is_made_once_and_removed(disk: OtherDisk) -> None:
    create_file(disk.root, "K\u00fcche/a.md", b"one", TEMPORARY)
    create_file(disk.root, "K\u00dcCHE/b.md", b"two", TEMPORARY)
    assert len(disk.list_names()) == 1
    for name, content in (("A.md", b"one"), ("b.md", b"two")):
        move_file(disk.root, f"K\u00fcche/{name}", f"k\u00fcche/x {name}", content)
        remove_file(disk.root, f"k\u00fcchE/X {name}", content)
    remove_folders(disk.root, ["K\u00fcCHE"])
    assert disk.list_names() == []


def test_no_note_is_replaced_where_the_disk_has_no_hard_links(
    disk: OtherDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_paths: object, **_named: object) -> None:
        raise PermissionError(errno.EPERM, "no hard links")

    monkeypatch.setattr(os, "link", refuse)
    create_file(disk.root, "a.md", b"one", TEMPORARY)
    with pytest.raises(EditOutdated):
        create_file(disk.root, "A.MD", b"two", TEMPORARY)
    move_file(disk.root, "A.md", "B.md", b"one")
    assert (disk.list_names(), read_file(disk.root, "b.md")) == (["B.md"], b"one")


def test_a_long_s_is_no_reason_to_lose_a_note(disk: OtherDisk) -> None:
    create_file(disk.root, "Stra\u00dfe.md", b"one", TEMPORARY)
    with suppress(EditOutdated):  # one name on macOS, two on Windows
        create_file(disk.root, "STRASSE.md", b"two", TEMPORARY)
    move_file(disk.root, "Stra\u00dfe.md", "Weg.md", b"one")
    assert read_file(disk.root, "Weg.md") == b"one"
    assert read_file(disk.root, "STRASSE.md") in (None, b"two")
