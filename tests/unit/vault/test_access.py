from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.vaults.documents import pdf
from vault.access import list_allowed_notes, read_allowed, read_as_tool
from vault.errors import NoteExcluded, NoteUnreadable, UnsafePath
from vault.vault import Vault

Write = Callable[[str, str | bytes], Path]
MakeIndex = Callable[..., Vault]


@pytest.fixture
def root(tmp_path: Path, write: Write) -> Path:
    write("open.md", "public")
    write("diary/a.md", "secret")
    write("old/a.pdf", pdf(["secret"]))
    write("front.md", "---\nprivate: true\n---\nsecret")
    write("tag.txt", "secret #private")
    write(".obsidian/app.json", '{"userIgnoreFilters": ["old/"]}')
    return tmp_path / "notes"


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("diary/a.md", "vault.exclude: diary/"),
        ("./diary//a.md", "vault.exclude: diary/"),
        ("old/a.pdf", "Obsidian's excluded files: old/"),
        ("front.md", "private"),
        ("tag.txt", "private"),
        (".obsidian/app.json", "a folder whose name begins with a dot"),
    ],
)
def test_what_is_kept_out_is_not_read_for_a_model(root: Path, path: str, rule: str) -> None:
    with pytest.raises(NoteExcluded) as caught:
        read_allowed(root, path, ["diary/"])
    assert caught.value.rule == rule


def test_no_link_leads_around_a_rule(root: Path, tmp_path: Path) -> None:
    (root / "link.md").symlink_to(root / "diary/a.md")
    (root / "out.md").symlink_to(tmp_path)
    with pytest.raises(NoteExcluded):
        read_allowed(root, "link.md", ["diary/"])
    with pytest.raises(UnsafePath):
        read_allowed(root, "out.md")


def test_a_folder_lists_what_no_rule_keeps_out(root: Path) -> None:
    assert list_allowed_notes(root, "", ["diary/"]) == ("front.md", "open.md", "tag.txt")
    assert list_allowed_notes(root, "old") == ()


def test_an_open_note_is_read_whatever_its_kind(root: Path, write: Write) -> None:
    write("paper.pdf", pdf(["hello"]))
    assert read_allowed(root, "paper.pdf").text == "# Page 1\n\nhello"


@pytest.mark.parametrize(
    "path", [".env", ".netrc", "key.pem", "id_rsa", "conf.toml", "old/.notes.md", "innocent.md"]
)
def test_a_model_names_notes_alone(root: Path, write: Write, path: str) -> None:
    if path == "innocent.md":
        write(".env", "KEY=1")
        (root / path).symlink_to(".env")
    else:
        write(path, "KEY=1")
    with pytest.raises((NoteExcluded, NoteUnreadable)):
        read_as_tool(root, path)


def test_a_model_reads_what_is_indexed(root: Path) -> None:
    assert read_as_tool(root, "open.md").text == read_allowed(root, "open.md").text


def test_a_private_note_with_a_record_is_not_allowed(root: Path, make_index: MakeIndex) -> None:
    index = make_index(root)
    index.update()
    assert index.filter_allowed(["open.md", "front.md", "tag.txt", "gone.md"]) == {"open.md"}
