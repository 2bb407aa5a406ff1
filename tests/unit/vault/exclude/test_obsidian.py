import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from vault.exclude import obsidian
from vault.exclude.obsidian import ObsidianSettings, read_settings

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
