"""Nothing of a note is found that is private, excluded, changed or gone by now."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.vault.conftest import IndexMaker
from vault.notes.note import read_note
from vault.vault import Vault

LONG = "\n\n".join(f"# Part {n}\n\nParagraph {n} tells of the harvest {n}." for n in range(3))
Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def index(make_index: IndexMaker, write: Write, tmp_path: Path) -> Vault:
    write("Secret.md", "The harvest hides in the old barn.\n")
    write("Open.md", LONG)
    index = make_index(tmp_path / "notes")
    index.update()
    return index


def found(index: Vault) -> set[str]:
    return {hit.path for hit in index.search("harvest barn").hits}


@pytest.mark.parametrize(
    "text",
    [
        "---\nprivate: true\n---\nThe harvest hides in the old barn.\n",
        "The harvest hides in the old barn. #private\n",
        "Nothing of that any more.\n",
        b"\xff\xfe not text any more",
    ],
)
def test_what_a_note_says_now_wins_over_the_index(
    index: Vault, write: Write, text: str | bytes
) -> None:
    assert found(index) == {"Secret.md", "Open.md"}
    write("Secret.md", text)
    assert found(index) == {"Open.md"}


def test_a_change_that_leaves_size_and_time_as_they_were_is_seen(index: Vault) -> None:
    note = index.root / "Secret.md"
    before = note.stat()
    assert found(index) == {"Secret.md", "Open.md"}
    with note.open("r+b") as file:
        file.write(b"The parsley hides in the new shed.\n"[: before.st_size])
    os.utime(note, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = note.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert found(index) == {"Open.md"}
    assert index.update().changed == 1
    assert "Secret.md" in {hit.path for hit in index.search("parsley").hits}


def test_another_time_alone_embeds_nothing(index: Vault) -> None:
    os.utime(index.root / "Open.md", ns=(1, 1))
    report = index.update()
    assert (report.changed, report.embedded_chunks) == (0, 0)


def test_a_note_that_is_gone_is_not_found(index: Vault) -> None:
    (index.root / "Secret.md").unlink()
    assert found(index) == {"Open.md"}


def test_a_note_that_became_a_link_to_outside_is_not_found(index: Vault, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("The harvest hides in the old barn.\n")
    (index.root / "Secret.md").unlink()
    (index.root / "Secret.md").symlink_to(outside)
    assert found(index) == {"Open.md"}


def test_a_passage_that_moved_is_given_at_its_lines_now(index: Vault, write: Write) -> None:
    before = next(hit for hit in index.search("harvest").hits if hit.path == "Open.md")
    write("Open.md", f"---\ntitle: Moved\n---\n{LONG}")
    after = next(hit for hit in index.search("harvest").hits if hit.path == "Open.md")
    assert after.version == read_note(index.root, "Open.md").version != before.version
    lines = read_note(index.root, "Open.md").text.split("\n")
    assert after.text == "\n".join(lines[after.lines[0] - 1 : after.lines[1]])
    assert after.title == "Moved"


def test_a_passage_that_was_edited_is_given_as_it_is_now(index: Vault, write: Write) -> None:
    write("Open.md", LONG.replace("Paragraph 1 tells", "Paragraph 1 speaks"))
    texts = " ".join(hit.text for hit in index.search("harvest").hits)
    assert "Paragraph 1 speaks" in texts
    assert "Paragraph 1 tells" not in texts


def test_a_note_that_was_only_touched_is_found_as_before(index: Vault) -> None:
    before = index.search("harvest").hits
    for path in index.root.iterdir():
        path.touch()
    assert index.search("harvest").hits == before
