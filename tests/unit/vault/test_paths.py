import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from vault.errors import NoteUnreadable, UnsafePath
from vault.notes.note import read_bytes, read_note
from vault.paths import is_text_name, printable, resolve_safe_path

# Exchanges a note, then its folder, with a link to outside, again and again.
SWAPPING = """
import os, sys
folder, outside, aside = sys.argv[1:]
note = f"{folder}/note.md"
while True:
    os.symlink(f"{outside}/note.md", f"{aside}/link")
    os.rename(note, f"{aside}/kept")
    os.rename(f"{aside}/link", note)
    os.rename(f"{aside}/kept", note)
    os.symlink(outside, f"{aside}/link")
    os.rename(folder, f"{aside}/kept")
    os.rename(f"{aside}/link", folder)
    os.unlink(folder)
    os.rename(f"{aside}/kept", folder)
"""


@pytest.mark.parametrize(
    "path",
    ["", "/etc/passwd", "../outside.md", "a/../../outside.md", "a\0b.md", "a/../b.md"],
)
def test_a_path_that_could_leave_the_vault_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(UnsafePath):
        resolve_safe_path(tmp_path, path)


def test_a_link_to_outside_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    root.mkdir()
    (tmp_path / "secret.md").write_text("secret")
    (root / "link.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(UnsafePath, match="leads out of the vault"):
        resolve_safe_path(root, "link.md")


def test_a_loop_of_links_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises((UnsafePath, NoteUnreadable)):
        read_note(tmp_path, "a/note.md")


@pytest.mark.parametrize(
    "path", ["note.md", "a/b c/ü.md", "~draft.md", "..md", "a/...md", "q?*[.md"]
)
def test_every_ordinary_name_is_allowed(tmp_path: Path, path: str) -> None:
    assert resolve_safe_path(tmp_path, path) == tmp_path.resolve() / path


def test_a_foreign_name_can_be_printed_and_is_told_apart() -> None:
    name = b"caf\xe9.md".decode("utf-8", "surrogateescape")
    assert not is_text_name(name)
    assert printable(name) == r"caf\xe9.md"
    assert is_text_name("café.md")


def test_a_note_that_is_swapped_for_a_link_to_outside_is_never_read_through_it(
    tmp_path: Path,
) -> None:
    root, outside = tmp_path / "vault", tmp_path / "outside"
    for folder, text in ((root / "in", "mine"), (outside, "secret")):
        folder.mkdir(parents=True)
        (folder / "note.md").write_text(text)
    swapping = subprocess.Popen([sys.executable, "-c", SWAPPING, root / "in", outside, tmp_path])
    read = Counter[str]()
    try:
        while sum(read.values()) < 20_000 or not read["mine"]:
            try:
                read[read_bytes(root, "in/note.md").decode()] += 1
            except (NoteUnreadable, UnsafePath) as error:
                read[type(error).__name__] += 1
    finally:
        swapping.kill()
        swapping.wait()
    assert read["secret"] == 0, read
    assert len(read) > 1, read


@pytest.mark.parametrize("swapped", ["in", "in/note.md"])
def test_a_part_of_the_path_that_becomes_a_link_after_the_check_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swapped: str
) -> None:
    root, outside = tmp_path / "vault", tmp_path / "outside"
    for folder, text in ((root / "in", "mine"), (outside / "in", "secret")):
        folder.mkdir(parents=True)
        (folder / "note.md").write_text(text)
    resolve = Path.resolve

    def swap_afterwards(path: Path, strict: bool = False) -> Path:
        found = resolve(path, strict)
        if found.name == "note.md" and not (root / swapped).is_symlink():
            (root / swapped).rename(tmp_path / "kept")
            (root / swapped).symlink_to(outside / swapped)
        return found

    monkeypatch.setattr(Path, "resolve", swap_afterwards)
    with pytest.raises(UnsafePath):
        read_bytes(root, "in/note.md")


def test_a_link_inside_the_vault_still_leads_to_its_note(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "note.md").write_text("text")
    (tmp_path / "link.md").symlink_to("a/note.md")
    (tmp_path / "folder").symlink_to("a")
    assert read_bytes(tmp_path, "link.md") == read_bytes(tmp_path, "folder/note.md") == b"text"


def test_a_folder_that_may_only_be_passed_through_is(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "note.md").write_text("text")
    (tmp_path / "a").chmod(0o100)
    assert read_bytes(tmp_path, "a/note.md") == b"text"
    (tmp_path / "a").chmod(0o700)


def test_what_lies_below_a_file_is_said_to_be_unreadable(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("text")
    with pytest.raises(NoteUnreadable):
        read_bytes(tmp_path, "a.md/b.md")


@pytest.mark.parametrize("name", [b"caf\xe9.md", b"\xff\xfe/b\x80.md", b"x\\xe9\xe9.md"])
def test_a_note_whose_name_is_no_text_is_opened_by_the_name_that_is_shown(
    tmp_path: Path, name: bytes
) -> None:
    file = tmp_path / os.fsdecode(name)
    file.parent.mkdir(exist_ok=True)
    file.write_text("text")
    shown = printable(os.fsdecode(name))
    shown.encode("utf-8")
    if b"\\" not in name:  # a name with such an escape in it cannot be told from a byte
        assert read_note(tmp_path, shown).text == "text"
    assert read_note(tmp_path, os.fsdecode(name)).path == shown


def test_half_a_pair_names_no_file(tmp_path: Path) -> None:
    for path in ("\ud800.md", "a\udfff/b.md"):
        with pytest.raises(UnsafePath):
            read_bytes(tmp_path, path)
