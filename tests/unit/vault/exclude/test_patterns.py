import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.exclude.patterns import ExcludeRules


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
        ("[", "[", False, True),
    ],
)
def test_patterns_mean_what_they_mean_in_a_gitignore(
    pattern: str, path: str, is_folder: bool, fits: bool
) -> None:
    rule = ExcludeRules([pattern]).rule_for(path, is_folder)
    assert rule == (pattern if fits else None)


def test_the_last_fitting_pattern_decides() -> None:
    rules = ExcludeRules(["*.md", "!keep.md"])
    assert rules.rule_for("a/keep.md", is_folder=False) is None
    assert rules.rule_for("a/other.md", is_folder=False) == "*.md"


def test_a_hostile_pattern_takes_no_time() -> None:
    rules = ExcludeRules(["*a" * 40 + "b", "/".join(["**"] * 40) + "/z"])
    began = time.thread_time()
    assert rules.rule_for("/".join(["a" * 200] * 20), is_folder=False) is None
    assert time.thread_time() - began < 1


@given(st.text(max_size=30), st.text(min_size=1, max_size=30))
def test_no_pattern_raises(pattern: str, path: str) -> None:
    assert ExcludeRules([pattern]).rule_for(path, is_folder=False) in {None, pattern.strip()}
