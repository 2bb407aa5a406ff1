"""`find_excluded` says of many paths at once which notes models may not read now."""

from pathlib import Path

import pytest

from vault.access import find_excluded, read_allowed
from vault.errors import NoteExcluded

NOTES = {
    "Plan.md": "# Plan\nOpen.\n",
    "Word.md": "This is a private matter, but not marked.\n",
    "Front.md": "---\nprivate: true\n---\nText.\n",
    "Escaped.md": '---\n"pri\\u0076ate": true\n---\nText.\n',
    "Tag.md": "Text #Private\n",
    "Dotted.md": "---\nPR\u0130VATE: true\n---\nText.\n".encode().decode("latin-1"),
    "Dotless.md": "Text #pr\u0131vate\n".encode().decode("latin-1"),
    "Broken.md": '---\ntags: ["pri\\\n  vate"]\n---\nText.\n',
    "Returned.md": '---\r\ntags: ["pri\\\r\n  vate"]\r\n---\r\nText.\r\n',
    "Wide.md": "---\nprivate: true\n---\nText.\n".encode("utf-16").decode("latin-1"),
    "Deep/Locked/Note.md": "Text.\n",
    "Deep/Open.md": "Text.\n",
    "a: b.md": "Text.\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in NOTES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(text.encode("latin-1"))
    (tmp_path / "Link.md").symlink_to("Front.md")
    (tmp_path / "Way").symlink_to("Deep")
    return tmp_path


@pytest.mark.parametrize("rules", [[], ["Locked/"], ["*.md", "!Plan.md"], ["Deep/Open.md"]])
def test_it_agrees_with_reading_each_note(root: Path, rules: list[str]) -> None:
    paths = [*NOTES, "Link.md", "Way/Open.md", "Way/Locked/Note.md", "./Front.md"]
    refused = set()
    for path in paths:
        try:
            read_allowed(root, path, rules)
        except NoteExcluded:
            refused.add(path)
    assert find_excluded(root, paths, rules) == refused
    assert refused.issuperset({"Dotted.md", "Dotless.md", "Broken.md", "Returned.md"})


def test_a_missing_note_counts_as_the_one_of_its_name(root: Path) -> None:
    gone = ["Old/Note.md", "Old/Plan.md", "Old/Front.md", "Old/Other.md"]
    assert find_excluded(root, gone, ["Locked/"]) == {"Old/Note.md", "Old/Front.md"}


def test_a_mark_that_is_set_or_removed_counts_at_once(root: Path) -> None:
    assert not find_excluded(root, ["Plan.md"])
    (root / "Plan.md").write_text("Now #private\n")
    assert find_excluded(root, ["Plan.md", str(root / "Plan.md")]) == {
        "Plan.md",
        str(root / "Plan.md"),
    }
    (root / "Plan.md").write_text("Open again, as before.\n")
    assert not find_excluded(root, ["Plan.md"])


def test_a_path_that_leads_out_of_the_folder_counts_as_excluded(root: Path) -> None:
    assert find_excluded(root / "Deep", ["../Plan.md", "Open.md"]) == {"../Plan.md"}
