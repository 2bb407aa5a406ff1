import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from vault.exclude import rules
from vault.exclude.obsidian import ObsidianSettings
from vault.exclude.rules import DOT_FOLDER, ExcludePatterns, ExcludeRules

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
    rules = ExcludeRules(["Journal/", "*.draft.md"], ObsidianSettings(("Old/", "/tmp/")))
    assert rules.find_rule_on_path(path) == rule


def test_the_filters_of_the_vault_are_read_with_what_is_wrong_with_them(
    tmp_path: Path, write: Write
) -> None:
    write(".obsidian/app.json", '{"userIgnoreFilters": ["Old/", "/(a+)+/", "/(b/"]}')
    rules = ExcludeRules.load(tmp_path / "notes")
    assert rules.find_rule_on_path("Old/x.md") == "Obsidian's excluded files: Old/"
    assert rules.list_problems() == (
        (
            ".obsidian/app.json",
            "its filter /(a+)+/ is not used: it repeats what is repeated already; "
            "its filter /(b/ is not used: it is no regular expression",
        ),
    )


def test_no_rule_is_none(tmp_path: Path) -> None:
    assert not ExcludeRules.load(tmp_path)
    assert ExcludeRules.load(tmp_path, ["a"])


@pytest.mark.parametrize(
    ("pattern", "path", "is_folder", "fits"),
    [
        ("*.draft.md", "a/b.draft.md", False, True),
        ("*.draft.md", "a/b.md", False, False),
        ("private/", "private", True, True),
        ("private/", "a/private", True, True),
        ("private/", "private", False, False),
        ("/private", "a/private", True, False),
        ("a/*.md", "a/b.md", False, True),
        ("a/*.md", "a/b/c.md", False, False),
        ("a/**/c.md", "a/c.md", False, True),
        ("a/**/c.md", "a/x/y/c.md", False, True),
        ("a/**", "a/x.md", False, True),
        ("a/**", "a", True, False),
        ("**/x.md", "x.md", False, True),
        ("Notiz?.md", "Notiz1.md", False, True),
        ("[ab].md", "b.md", False, True),
        ("# comment", "# comment", False, False),
        ("", "a.md", False, False),
        ("[", "[", False, False),
    ],
)
def test_patterns_mean_what_they_mean_in_a_gitignore(
    pattern: str, path: str, is_folder: bool, fits: bool
) -> None:
    rule = ExcludePatterns([pattern]).find_rule(path, is_folder)
    assert rule == (pattern if fits else None)


@pytest.mark.parametrize("pattern", [" private/", "\t/private/", "  private/  "])
def test_a_leading_blank_uncovers_nothing(pattern: str) -> None:
    assert ExcludePatterns([pattern]).find_rule("private", is_folder=True) == pattern.strip()


def test_the_last_fitting_pattern_decides() -> None:
    rules = ExcludePatterns(["*.md", "!keep.md"])
    assert rules.find_rule("a/keep.md", is_folder=False) is None
    assert rules.find_rule("a/other.md", is_folder=False) == "*.md"


def test_a_hostile_pattern_takes_no_time() -> None:
    patterns = ["*a" * 40 + "b", "*[ab]" * 40 + "c", "*\\a" * 40 + "c", "*?" * 40 + "c"]
    rules = ExcludePatterns([*patterns, "/".join(["**"] * 40) + "/z", "**/a*" * 40 + "/z"])
    began = time.thread_time()
    assert rules.find_rule("/".join(["a" * 200] * 80), is_folder=False) is None
    assert time.thread_time() - began < 1


@given(st.text(max_size=30), st.text(min_size=1, max_size=30))
def test_no_pattern_raises(pattern: str, path: str) -> None:
    rule = ExcludePatterns([pattern]).find_rule(path, is_folder=False)
    assert rule is None or pattern.lstrip().startswith(rule)


@pytest.mark.parametrize("form", ["_FOLDER_OR_END", "_FOLDER", "_FIRST_FOLDERS", "_FOLDERS"])
def test_the_library_writes_expressions_in_the_form_that_is_changed(form: str) -> None:
    patterns = ("notes", "notes/", "a/**", "**/a/b", "a/**/b", "x*y")
    written = [GitIgnoreSpecPattern.pattern_to_regex(pattern)[0] for pattern in patterns]
    assert any(getattr(rules, form) in (expression or "") for expression in written), written
