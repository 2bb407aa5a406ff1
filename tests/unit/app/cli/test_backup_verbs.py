"""The verbs `backup` and `restore`, in text and as JSON."""

from pathlib import Path

import pytest

from tests.support.processes.command_line import Strata, document


def test_a_backup_is_made_and_restored_on_the_command_line(
    strata: Strata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strata("settings", "set", "retrieval.topK", "9")
    target = tmp_path / "b.zip"
    made = document(strata("backup", str(target), "--json")[1])
    assert made == {
        "path": str(target),
        "files": 2,
        "chats": 0,
        "bytes": target.stat().st_size,
        "left_out": [],
    }
    monkeypatch.setenv("STRATA_HOME", str(tmp_path / "elsewhere"))
    restored = document(strata("restore", str(target), "--json")[1])
    counts = {"restored": 1, "merged": 0, "unchanged": 1}
    assert restored == {**counts, "aside": [], "failed": [], "hooks_off": False, "missing": []}
    assert document(strata("settings", "get", "retrieval.topK", "--json")[1])["value"] == 9


def test_what_exists_is_said_with_a_way_out(
    strata: Strata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strata("settings", "set", "retrieval.topK", "9")
    strata("backup", str(tmp_path / "b.zip"))
    code, _, said = strata("backup", str(tmp_path / "b.zip"))
    assert code == 1
    assert "overwrites nothing" in said
    monkeypatch.setenv("STRATA_HOME", str(tmp_path / "elsewhere"))
    strata("settings", "set", "retrieval.topK", "5")
    code, _, said = strata("restore", str(tmp_path / "b.zip"))
    assert code == 1
    assert "--merge" in said
    code, text, _ = strata("restore", str(tmp_path / "b.zip"), "--merge")
    assert code == 0
    assert text.startswith("0 files restored, 0 merged")


def test_a_backup_is_made_also_with_damaged_settings(strata: Strata, tmp_path: Path) -> None:
    strata("settings", "set", "retrieval.topK", "9")
    file = Path(document(strata("settings", "path", "--json")[1])["path"])
    file.write_text("[retrieval\n", "utf-8")
    made = document(strata("backup", str(tmp_path / "b.zip"), "--json")[1])
    assert [left["path"] for left in made["left_out"]] == ["settings.toml"]
