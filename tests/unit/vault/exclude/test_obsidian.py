import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from vault.exclude import obsidian
from vault.exclude.obsidian import IgnoreFilters, ObsidianSettings, read_settings

Write = Callable[[str, str | bytes], Path]


def test_filters_and_attachment_folder_are_read(tmp_path: Path, write: Write) -> None:
    settings = {"userIgnoreFilters": ["a/", "", 5, "/b/"], "attachmentFolderPath": "./files"}
    write(".obsidian/app.json", json.dumps(settings))
    assert read_settings(tmp_path / "notes") == ObsidianSettings(("a/", "/b/"), "./files")


@pytest.mark.parametrize("text", ["{}", "[]", '{"userIgnoreFilters": null}'])
def test_what_is_not_set_is_as_usual(tmp_path: Path, write: Write, text: str) -> None:
    write(".obsidian/app.json", text)
    assert read_settings(tmp_path / "notes") == ObsidianSettings()


def test_a_folder_that_obsidian_never_opened_has_no_settings(tmp_path: Path) -> None:
    assert read_settings(tmp_path) == ObsidianSettings()


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"{broken", "its JSON cannot be read, so its filters are not used"),
        (b"[" * 100_000, "its JSON cannot be read, so its filters are not used"),
        (b"\xff\xfe\xff", "its JSON cannot be read, so its filters are not used"),
        (b" " * 2_000, "it is too large to be Obsidian's settings"),
    ],
)
def test_settings_that_cannot_be_read_say_so(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch, data: bytes, problem: str
) -> None:
    monkeypatch.setattr(obsidian, "MAX_BYTES", 1_000 if data.isspace() else 1_000_000)
    write(".obsidian/app.json", data)
    assert read_settings(tmp_path / "notes") == ObsidianSettings(problem=problem)


def test_settings_never_block_and_never_lead_out_of_the_vault(tmp_path: Path) -> None:
    for name in ("fifo", "link"):
        (tmp_path / name / ".obsidian").mkdir(parents=True)
    os.mkfifo(tmp_path / "fifo/.obsidian/app.json")
    (tmp_path / "outside.json").write_text('{"userIgnoreFilters": ["a"]}')
    (tmp_path / "link/.obsidian/app.json").symlink_to(tmp_path / "outside.json")
    assert read_settings(tmp_path / "fifo").problem == "it is not a file"
    assert read_settings(tmp_path / "link").problem == (
        "it is not inside the vault, or cannot be looked at"
    )


@pytest.mark.parametrize(
    ("text", "path", "is_folder", "is_out"),
    [
        ("Archive/", "Archive", True, True),
        ("Archive/", "Archive/a.md", False, True),
        ("archive/", "Archive/a.md", False, True),
        ("Archive/", "Archived.md", False, False),
        ("Daily", "Daily notes.md", False, True),
        ("a/b.md", "a/b.md", False, True),
        ("b.md", "a/b.md", False, False),
        ("a.b", "axb", False, False),
        (r"/\d{4}-\d{2}/", "log/2024-05.md", False, True),
        (r"/^log\/.*\.md$/", "LOG/x.md", False, True),
        (r"/^log\//", "log", True, False),
        ("/(?<y>x)y/", "a/xy.md", False, True),
        ("/draft|wip/", "a/b.md", False, False),
    ],
)
def test_a_filter_is_the_beginning_of_a_path_or_an_expression(
    text: str, path: str, is_folder: bool, is_out: bool
) -> None:
    found = IgnoreFilters([text]).find_filter(path, is_folder)
    assert found == (text if is_out else None)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("(a+)+b", "it repeats what is repeated already"),
        ("((a{2,5}))*", "it repeats what is repeated already"),
        ("(?:x|(?:a*|b))+", "it repeats what is repeated already"),
        ("((((a{900}){900}){900}){900})", "it repeats what is repeated already"),
        ("a{99999}", "it repeats more than 1,000 times"),
        ("x" * 301, "it has more than 300 characters"),
        ("(?R)", "it uses what Obsidian's expressions do not have"),
        ("(?i)a", "it uses what Obsidian's expressions do not have"),
        ("(unclosed", "it is no regular expression"),
        ("[z-a]", "it is no regular expression"),
    ],
)
def test_a_hostile_or_broken_expression_is_refused_and_told(expression: str, reason: str) -> None:
    began = time.thread_time()
    filters = IgnoreFilters([f"/{expression}/", "kept/"])
    assert filters.find_filter("a" * 200, is_folder=False) is None
    assert filters.find_filter("kept/x.md", is_folder=False) == "kept/"
    assert [problem.rpartition(": ")[2] for problem in filters.list_problems()] == [reason]
    assert time.thread_time() - began < 1


@pytest.mark.parametrize("expression", [r"[(+)]+\(a+\)*", "(a|b)*c", "(?:ab)+c{2}", "a+b+?c*"])
def test_a_harmless_expression_is_used(expression: str) -> None:
    filters = IgnoreFilters([f"/{expression}/"])
    filters.find_filter("x", is_folder=False)
    assert filters.list_problems() == []


def test_an_expression_that_takes_long_is_given_up_once_for_all() -> None:
    hostile = "/^" + "(?:a|aa)*" * 8 + "[xy]$/"
    path = "a" * 400 + "z"
    began = time.thread_time()
    filters = IgnoreFilters([hostile])
    for _ in range(100):
        assert filters.find_filter(path, is_folder=False) is None
    again = IgnoreFilters([hostile])
    assert again.find_filter(path, is_folder=False) is None
    assert time.thread_time() - began < 3
    assert again.list_problems() == [f"its filter {hostile[:60]}… is not used: it takes too long"]


def test_only_so_many_filters_are_used_and_the_rest_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(obsidian, "MAX_EXPRESSIONS", 1)
    filters = IgnoreFilters(["/a/", "/b/", "c"])
    assert filters.find_filter("c", is_folder=False) == "c"
    assert filters.find_filter("a", is_folder=False) == "/a/"
    assert filters.find_filter("b", is_folder=False) is None
    assert filters.list_problems() == [
        "of its filters the first 1,000 are used, and 1 of those that are regular expressions"
    ]
