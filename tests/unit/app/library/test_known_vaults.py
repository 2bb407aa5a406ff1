"""The vaults that Obsidian knows: where its list lies, and what of it is taken."""

import json
import os
from pathlib import Path

import pytest

from app.cli.parser import run
from app.library.known_vaults import find_known_vaults, list_obsidian_files
from tests.support.processes.command_line import document


def write_list(file: Path, *entries: object) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"vaults": {str(n): entry for n, entry in enumerate(entries)}}))
    return file


def make(folder: Path) -> str:
    folder.mkdir(parents=True)
    return str(folder)


@pytest.mark.parametrize(
    ("system", "environ", "expected"),
    [
        (
            "linux",
            {},
            [
                ".config/obsidian/obsidian.json",
                ".var/app/md.obsidian.Obsidian/config/obsidian/obsidian.json",
                "snap/obsidian/current/.config/obsidian/obsidian.json",
            ],
        ),
        ("macos", {}, ["Library/Application Support/obsidian/obsidian.json"]),
        ("windows", {}, ["AppData/Roaming/obsidian/obsidian.json"]),
    ],
)
def test_the_list_is_looked_for_where_each_system_keeps_it(
    system: str, environ: dict[str, str], expected: list[str]
) -> None:
    found = list_obsidian_files(environ, Path("/home/me"), system)
    assert [file.relative_to("/home/me").as_posix() for file in found] == expected


def test_folders_that_the_environment_names_come_first() -> None:
    linux = list_obsidian_files({"XDG_CONFIG_HOME": "/xdg"}, Path("/home/me"), "linux")
    assert linux[0] == Path("/xdg/obsidian/obsidian.json")
    (windows,) = list_obsidian_files({"APPDATA": "/roaming"}, Path("/home/me"), "windows")
    assert windows == Path("/roaming/obsidian/obsidian.json")


def test_the_vault_opened_last_comes_first_and_each_comes_once(tmp_path: Path) -> None:
    old, new, plain = (make(tmp_path / name) for name in ("Old", "New", "Plain"))
    first = write_list(
        tmp_path / "a.json", {"path": old, "ts": 1}, {"path": new, "ts": 2, "open": True}
    )
    second = write_list(tmp_path / "b.json", {"path": old, "ts": 3}, {"path": plain})
    found = find_known_vaults((first, second))
    assert [str(vault.folder) for vault in found] == [new, old, plain]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"vaults": []}',
        b'{"vaults": {"a": 3, "b": null, "c": {"path": 7}, "d": {}, "e": {"path": "relative"}}}',
        b'{"vaults": {"a": {"path": "/no/such/folder", "ts": 1}}}',
        b'{"vaults": {"a": {"path": "/nul\\u0000"}}}',
        b"\xff\xfe\x00",
        b"[" * 100_000,
    ],
)
def test_a_broken_list_names_no_vault(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "obsidian.json"
    file.write_bytes(content)
    assert find_known_vaults((file, tmp_path / "missing.json", tmp_path)) == ()


def test_a_broken_entry_leaves_the_others_and_a_pipe_is_not_read(tmp_path: Path) -> None:
    vault = make(tmp_path / "Notes")
    os.mkfifo(tmp_path / "pipe")
    file = write_list(tmp_path / "obsidian.json", {"path": vault, "ts": "late"}, {"path": []})
    (found,) = find_known_vaults((tmp_path / "pipe", file))
    assert (str(found.folder), found.opened) == (vault, 0)


def test_the_command_line_lists_them(
    strata_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = write_list(tmp_path / "obsidian.json", {"path": make(tmp_path / "Notes")})
    monkeypatch.setattr("app.library.known_vaults.list_obsidian_files", lambda: (file,))
    assert run(["vaults", "--json"], lambda _: 0) == 0
    (found,) = document(capsys.readouterr().out)["vaults"]
    assert found == {
        "path": str(tmp_path / "Notes"),
        "name": "Notes",
        "open": False,
        "obsidian": True,
    }
