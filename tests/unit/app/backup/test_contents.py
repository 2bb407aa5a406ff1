"""Which files a backup holds, which it names as left out, and which it does not know."""

import os
from pathlib import Path

import pytest

from app.assistant import Assistant
from app.backup import contents
from app.backup.contents import find_place, list_files
from app.paths import Paths
from tests.unit.app.backup.test_backup import back_up, other, restore

__all__ = ["other"]


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths.find({"STRATA_HOME": str(tmp_path / "home")})


def write(folder: Path, *names: str) -> None:
    """Write files below a folder."""
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name, "utf-8")


def list_names(paths: Paths) -> list[str]:
    """List the names of the files that a backup holds."""
    return [file.name for file in list_files(paths)]


OWN = (
    *("skills/demo/.env.template", "skills/demo/lock", "skills/demo/notes.new"),
    *("commands/git:commit.md", "skills/demo/a:b.md", "skills/demo/back\\slash.md"),
    *("skills/.strata-mine/a.gone.jsonl", "prompts/.plan.20261127", "hooks/data.pyc"),
    *("prompts/lock", "skills/con/nul.md", "commands/ends. ", "hooks/line\nbreak.md"),
)


def test_each_file_of_the_user_is_backed_up_and_restored(
    assistant: Assistant, other: Assistant, tmp_path: Path
) -> None:
    for name in OWN:
        first, _, rest = name.partition("/")
        write(getattr(assistant.paths, first), rest)
    assert back_up(assistant, tmp_path / "a.zip").left_out == ()
    assert restore(other, tmp_path / "a.zip").failed == []
    for name in OWN:
        first, _, rest = name.partition("/")
        assert (getattr(other.paths, first) / rest).read_text("utf-8") == rest


def test_what_strata_or_python_makes_anew_is_in_no_backup(paths: Paths) -> None:
    write(paths.hooks, "__pycache__/a.cpython-311.pyc", "a.py")
    write(paths.skills, "demo/scripts/__pycache__/a.pyc")
    write(paths.edits, "lock", "journal.jsonl", ".journal.jsonl.0123abcd", "contents/.x.0123abcd")
    write(paths.sessions, "a.jsonl", "a.jsonl.new", "bin/.strata-checked", "bin/a.gone.jsonl")
    write(paths.pinned, ".a.json.0123abcd")
    assert list_names(paths) == ["edits/journal.jsonl", "hooks/a.py", "sessions/a.jsonl"]
    for name in ("edits/lock", "sessions/a.jsonl.new", "hooks/__pycache__/a.pyc"):
        assert find_place(paths, name) is None


def test_each_file_in_a_backup_has_the_place_where_it_lay(paths: Paths) -> None:
    write(paths.projects, "0123/lock", "0123/a.new", "0123/.env.template")
    write(paths.skills, "a:b", "c/d\\e", "..f/...")
    write(paths.config, "settings.toml", "memories.md")
    files = list(list_files(paths))
    assert len(files) == 8
    assert [find_place(paths, file.name) for file in files] == [file.path for file in files]


@pytest.mark.parametrize("name", ["a:b.md", "C:\\outside", "a\\b", "nul.md", "ends. "])
def test_a_name_that_leads_elsewhere_on_windows_has_no_place_there(
    paths: Paths, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    assert find_place(paths, f"prompts/{name}") == paths.prompts / name
    monkeypatch.setattr(contents, "SYSTEM", "windows")
    assert find_place(paths, f"prompts/{name}") is None


def test_what_no_archive_can_hold_is_left_out_and_named(
    assistant: Assistant, tmp_path: Path
) -> None:
    skills = assistant.paths.skills
    write(skills, "demo/SKILL.md", "demo/plain.md")
    (skills / os.fsdecode(b"demo/caf\xe9.md")).write_bytes(b"x")
    (skills / os.fsdecode(b"\xff\xfe")).mkdir()
    (skills / os.fsdecode(b"\xff\xfe/inside.md")).write_bytes(b"x")
    (skills / "link").symlink_to(skills / "demo")
    os.mkfifo(skills / "pipe")
    assistant.paths.prompts.parent.mkdir(parents=True, exist_ok=True)
    assistant.paths.prompts.write_bytes(b"a file, and no folder")
    assistant.paths.memories.mkdir()
    report = back_up(assistant, tmp_path / "b.zip")
    reasons = dict(report.left_out)
    assert sorted(reasons) == [
        *("memories.md", "prompts", "skills/\\xff\\xfe/inside.md"),
        *("skills/demo/caf\\xe9.md", "skills/link", "skills/pipe"),
    ]
    assert "is not UTF-8" in reasons["skills/demo/caf\\xe9.md"]
    assert "is not UTF-8" in reasons["skills/\\xff\\xfe/inside.md"]
    assert "is a folder" in reasons["memories.md"]
    assert "not a directory" in reasons["prompts"]
    assert not any("Errno" in reason for reason in reasons.values())
    assert report.files == 3  # with the database
