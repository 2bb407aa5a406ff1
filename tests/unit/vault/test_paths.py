from pathlib import Path

import pytest

from vault.errors import NoteUnreadable, UnsafePath
from vault.notes import read_note
from vault.paths import is_text_name, printable, safe_path


@pytest.mark.parametrize(
    "path",
    ["", "/etc/passwd", "../outside.md", "a/../../outside.md", "a\0b.md", "a/../b.md"],
)
def test_a_path_that_could_leave_the_vault_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(UnsafePath):
        safe_path(tmp_path, path)


def test_a_link_to_outside_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    root.mkdir()
    (tmp_path / "secret.md").write_text("secret")
    (root / "link.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(UnsafePath, match="leads out of the vault"):
        safe_path(root, "link.md")


def test_a_loop_of_links_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises((UnsafePath, NoteUnreadable)):
        read_note(tmp_path, "a/note.md")


@pytest.mark.parametrize(
    "path", ["note.md", "a/b c/ü.md", "~draft.md", "..md", "a/...md", "q?*[.md"]
)
def test_every_ordinary_name_is_allowed(tmp_path: Path, path: str) -> None:
    assert safe_path(tmp_path, path) == tmp_path.resolve() / path


def test_a_foreign_name_can_be_printed_and_is_told_apart() -> None:
    name = b"caf\xe9.md".decode("utf-8", "surrogateescape")
    assert not is_text_name(name)
    assert printable(name) == r"caf\xe9.md"
    assert is_text_name("café.md")
