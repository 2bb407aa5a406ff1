from collections.abc import Callable
from pathlib import Path

import pytest

from vault.exclude.obsidian import ObsidianSettings
from vault.exclude.rules import DOT_FOLDER, Rules

Write = Callable[[str, str | bytes], Path]


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("Journal/2024/a.md", "vault.exclude: Journal/"),
        ("a.draft.md", "vault.exclude: *.draft.md"),
        ("Old/a.md", "Obsidian's excluded files: Old/"),
        ("a/tmp.md", "Obsidian's excluded files: /tmp/"),
        (".hidden/a.md", DOT_FOLDER),
        ("a/.git/b.md", DOT_FOLDER),
        ("a/b.md", None),
        ("./a/b.md", None),
    ],
)
def test_a_file_is_kept_out_by_itself_or_by_a_folder_above_it(path: str, rule: str | None) -> None:
    rules = Rules(["Journal/", "*.draft.md"], ObsidianSettings(("Old/", "/tmp/")))
    assert rules.rule_along(path) == rule


def test_the_filters_of_the_vault_are_read_with_what_is_wrong_with_them(
    tmp_path: Path, write: Write
) -> None:
    write(".obsidian/app.json", '{"userIgnoreFilters": ["Old/", "/(a+)+/", "/(b/"]}')
    rules = Rules.of(tmp_path / "notes")
    assert rules.rule_along("Old/x.md") == "Obsidian's excluded files: Old/"
    assert rules.problems() == (
        (
            ".obsidian/app.json",
            "its filter /(a+)+/ is not used: it repeats what is repeated already; "
            "its filter /(b/ is not used: it is no regular expression",
        ),
    )


def test_no_rule_is_none(tmp_path: Path) -> None:
    assert not Rules.of(tmp_path)
    assert Rules.of(tmp_path, ["a"])
