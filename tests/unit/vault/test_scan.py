import errno
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from vault.errors import VaultMissing, VaultUnreadable
from vault.scan import scan, scan_paths

Write = Callable[[str, str | bytes], Path]
needs_rights = pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")


def test_each_kind_of_file_that_is_read_is_found(tmp_path: Path, write: Write) -> None:
    read = {"a.md", "b.PDF", "c.html", "d.htm", "e.txt", "f.docx", "g.canvas", "h.text"}
    for path in (*read, "x.doc", "y.png", "~$f.docx", "pdf", "z.md.bak"):
        write(path, "x")
    assert set(scan(tmp_path / "notes").files) == read


def test_each_kind_of_file_has_a_size_of_its_own(tmp_path: Path, write: Write) -> None:
    for path, size in (("a.pdf", 100_000_000), ("b.pdf", 300_000_000), ("c.docx", 60_000_000)):
        with write(path, "").open("wb") as file:
            file.truncate(size)
    found = scan(tmp_path / "notes")
    assert set(found.files) == {"a.pdf"}
    assert dict(found.failed) == {
        "b.pdf": "300 MB; PDF files of up to 200 MB are read",
        "c.docx": "60 MB; Word documents of up to 50 MB are read",
    }


def test_what_obsidian_excludes_is_left_out_and_what_is_wrong_there_is_told(
    tmp_path: Path, write: Write
) -> None:
    for path in ("keep.md", "Old/a.md", "Old/b/c.md", "x tmp.md"):
        write(path, "x")
    write(".obsidian/app.json", '{"userIgnoreFilters": ["Old/", "/tmp/", "/(a*)*/"]}')
    found = scan(tmp_path / "notes")
    assert set(found.files) == {"keep.md"}
    assert sorted(found.excluded) == [
        ("Old", "Obsidian's excluded files: Old/"),
        ("x tmp.md", "Obsidian's excluded files: /tmp/"),
    ]
    assert [path for path, _ in found.failed] == [".obsidian/app.json"]


def test_notes_are_found_in_every_folder_but_none_that_begins_with_a_dot(
    tmp_path: Path, write: Write
) -> None:
    hidden = (".draft.md", "b/.keys.md", "..md", ".trash/x.md", ".obsidian/y.md")
    for path in ("a.md", "b/c.MD", "b/d/e.markdown", *hidden):
        write(path, "text")
    write("picture.png", b"\x89PNG")
    found = scan(tmp_path / "notes")
    assert set(found.files) == {"a.md", "b/c.MD", "b/d/e.markdown"}
    assert not found.excluded
    assert not found.failed
    some = scan_paths(tmp_path / "notes", (), ["a.md", *hidden])
    assert some is not None
    assert set(some.files) == {"a.md"}


def test_a_missing_folder_is_told_from_a_file_and_from_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(VaultMissing, match="is not there"):
        scan(tmp_path / "nowhere")
    (tmp_path / "file").write_text("x")
    with pytest.raises(VaultMissing, match="is not a folder"):
        scan(tmp_path / "file")
    (tmp_path / "empty").mkdir()
    assert scan(tmp_path / "empty").files == {}


@needs_rights
def test_an_unreadable_vault_says_so(tmp_path: Path) -> None:
    tmp_path.chmod(0o000)
    try:
        with pytest.raises(VaultUnreadable, match="Permission denied: "):
            scan(tmp_path)
    finally:
        tmp_path.chmod(0o700)


def test_a_vault_that_cannot_be_listed_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_folder: object) -> NoReturn:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("os.scandir", refuse)
    with pytest.raises(VaultUnreadable) as refused:
        scan(tmp_path)
    way_out = "Change its permissions or choose another folder."
    assert str(refused.value) == f"Permission denied: {tmp_path}. {way_out}"


@needs_rights
def test_an_unreadable_folder_is_one_failure(tmp_path: Path, write: Write) -> None:
    write("locked/a.md", "x")
    (tmp_path / "notes/locked").chmod(0o000)
    try:
        found = scan(tmp_path / "notes")
    finally:
        (tmp_path / "notes/locked").chmod(0o700)
    assert [path for path, _ in found.failed] == ["locked"]
    assert found.unreadable_folders == ["locked"]


def test_what_is_no_file_fails_with_its_kind_and_blocks_nothing(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("good.md", "x")
    os.mkfifo(tmp_path / "notes/pipe.md")
    monkeypatch.chdir(tmp_path / "notes")  # a socket's path is short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.md")
        found = scan(tmp_path / "notes")
    assert dict(found.failed) == {
        "pipe.md": "it is a FIFO, not a file",
        "socket.md": "it is a socket, not a file",
    }
    assert set(found.files) == {"good.md"}


def test_a_huge_note_fails_with_its_size(tmp_path: Path, write: Write) -> None:
    with write("huge.md", "").open("wb") as file:
        file.truncate(50_000_000)
    found = scan(tmp_path / "notes")
    assert found.failed == [("huge.md", "50 MB; notes of up to 20 MB are read")]


def test_links_are_left_out_each_with_its_rule(tmp_path: Path, write: Write) -> None:
    notes = write("real.md", "x").parent
    (tmp_path / "outside.md").write_text("secret")
    (tmp_path / "elsewhere").mkdir()
    (notes / "out.md").symlink_to(tmp_path / "outside.md")
    (notes / "folder").symlink_to(tmp_path / "elsewhere")
    (notes / "loop").symlink_to(notes)
    (notes / "again.md").symlink_to(notes / "real.md")
    (notes / "nowhere.md").symlink_to(notes / "gone.md")
    found = scan(notes)
    assert set(found.files) == {"real.md"}
    assert dict(found.excluded) == {
        "out.md": "a link to outside the vault",
        "folder": "a link to outside the vault",
        "loop": "a link to another place in the vault",
        "again.md": "a link to another place in the vault",
    }
    assert found.failed == [("nowhere.md", "it is a link that leads nowhere")]


def test_names_of_every_legal_byte_are_listed_or_fail_readably(tmp_path: Path) -> None:
    odd = [
        "new\nline.md",
        "tab\t.md",
        'quo"te.md',
        "back\\slash.md",
        "percent%20.md",
        "日本.md",
        "é.md",
    ]
    for name in odd:
        (tmp_path / name).write_text("x")
    for code in (0x80, 0xE9, 0xFF):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad" + bytes([code]) + b".md")).write_text("x")
    os.mkdir(os.fsencode(tmp_path) + b"/folder\xff")
    found = scan(tmp_path)
    assert set(found.files) == set(odd)
    assert sorted(path for path, _ in found.failed) == [
        r"bad\x80.md",
        r"bad\xe9.md",
        r"bad\xff.md",
        r"folder\xff",
    ]


def test_excluded_folders_are_listed_once_and_not_entered(tmp_path: Path, write: Write) -> None:
    for path in ("keep.md", "diary/a.md", "diary/b/c.md", "x.draft.md"):
        write(path, "x")
    found = scan(tmp_path / "notes", ["diary/", "*.draft.md"])
    assert set(found.files) == {"keep.md"}
    assert sorted(found.excluded) == [
        ("diary", "vault.exclude: diary/"),
        ("x.draft.md", "vault.exclude: *.draft.md"),
    ]
