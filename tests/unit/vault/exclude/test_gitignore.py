"""Exclude patterns mean what `git check-ignore` says.

Three things differ on purpose. `?` stands for a character, and not for a byte. Two stars within a
name are one star, as Git's manual says, although Git reads `a**/b` otherwise. A set of characters
ends before a slash.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault.exclude.rules import ExcludeRules

EXAMPLES = int(os.environ.get("SOAK_DOCUMENTS", "40"))
GIT = shutil.which("git") or ""

NAMES = st.text("aAb .-!#*?[]\\", min_size=1, max_size=4).filter(
    lambda name: name.strip(" .") and not name.startswith((".", "-"))
)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
PARTS = st.sampled_from(
    [
        *("a", "b", "A", "aa", "ab", "ba", "*", "?", "**", "*a", "a*", "*a*b", "a?", "a ", " a"),
        *("[ab]", "[!a]", "[^a]", "[a-b]", "[]]", "[]a]", "[*]", "a[!b]b", "[b-a]"),
        *("\\a", "\\*", "\\?", "\\[", "\\!a", "\\#", "\\\\", "a\\ ", "\\", "!", "#", "***"),
        *("[[a]", "[a&&b]", "[--a]"),
    ]
)
PATTERNS = st.builds(
    # Leading blanks are dropped, unlike in Git, so the patterns have none.
    lambda sign, first, parts, last: f"{sign}{first}{'/'.join(parts)}{last}".lstrip(),
    *(st.sampled_from(["", "", "", "!"]), st.sampled_from(["", "", "/"])),
    *(st.lists(PARTS, min_size=1, max_size=4), st.sampled_from(["", "", "/", " ", "  ", "/ "])),
)


@pytest.fixture(scope="module")
def repository() -> Iterator[Path]:
    """Yield an empty repository of Git, which tells what is ignored."""
    with TemporaryDirectory() as folder:
        subprocess.run([GIT, "init", "-q", folder], check=True)
        yield Path(folder)


def list_ignored(root: Path, patterns: list[str], paths: list[str]) -> set[str]:
    """Return what Git ignores of the paths of files."""
    (root / ".gitignore").write_text("\n".join(patterns) + "\n", "utf-8")
    names = "\0".join(paths) + "\0"
    command = [GIT, "-c", "core.ignoreCase=false", "check-ignore", "--no-index", "-z", "--stdin"]
    found = subprocess.run(
        command, cwd=root, input=names.encode(), capture_output=True, check=False
    )
    assert found.returncode in {0, 1}, found.stderr
    return {name for name in found.stdout.decode().split("\0") if name}


def drop_inner_folders(paths: list[str]) -> list[str]:
    """Return the paths that can be files beside the others."""
    return [path for path in paths if not any(one.startswith(f"{path}/") for one in paths)]


@pytest.mark.skipif(not GIT, reason="needs Git")
@settings(max_examples=EXAMPLES, deadline=None)
@given(
    patterns=st.lists(PATTERNS, min_size=1, max_size=5),
    paths=st.lists(PATHS, min_size=1, max_size=30, unique=True).map(drop_inner_folders),
)
def test_patterns_leave_out_what_git_ignores(
    repository: Path, patterns: list[str], paths: list[str]
) -> None:
    for path in paths:
        (repository / path).parent.mkdir(parents=True, exist_ok=True)
        (repository / path).touch()
    try:
        ignored = list_ignored(repository, patterns, paths)
    finally:
        for top in {path.split("/")[0] for path in paths}:
            whole = repository / top
            shutil.rmtree(whole) if whole.is_dir() else whole.unlink()
    rules = ExcludeRules(patterns)
    assert {path for path in paths if rules.find_rule_on_path(path) is not None} == ignored
