"""What stands at the top of the repository: the entries that the design names, and nothing else."""

import subprocess
from pathlib import Path

import pytest

from tests.support.pictures.__main__ import read_arguments

ROOT = Path(__file__).resolve().parents[2]
REQUIRED = {
    *("pyproject.toml", "app", "ui", "chains", "context", "vault", "tests", "resources"),
    "README.md",
}
ALLOWED = REQUIRED | {
    *(".ci", ".github", ".gitignore", "LICENSE", "Makefile", "ARCHITECTURE.md", "CONTRIBUTING.md"),
    *("CHANGELOG.md", "BENCHMARKS.md", "SECURITY.md", "freeze", "packaging", ".gitattributes"),
}
LOCK_FILES = {"uv.lock", "poetry.lock", "pdm.lock", "requirements.lock", "pylock.toml"}
# What a build of a source archive adds, and what no repository tracks.
NOT_OURS = {"PKG-INFO", ".git", ".venv", "dist", "build"}
CACHES = ("cache", ".egg-info", ".hypothesis", ".benchmarks")


def list_tracked(root: Path) -> list[str]:
    """Return the paths that git tracks, or those of all files if this is not a repository."""
    try:
        top = _run_git(root, "rev-parse", "--show-toplevel").strip()
        if Path(top).resolve() == root:
            return [path for path in _run_git(root, "ls-files", "-z").split("\0") if path]
    except (OSError, subprocess.CalledProcessError):  # no git, or a source archive
        pass
    return list_files(root)


def list_files(root: Path) -> list[str]:
    """Return the paths of all files but those that no repository tracks."""
    own = [
        path
        for path in root.iterdir()
        if path.name not in NOT_OURS and not any(mark in path.name for mark in CACHES)
    ]
    below = [file for path in own for file in path.rglob("*") if "cache" not in str(file)]
    return [path.relative_to(root).as_posix() for path in (*own, *below)]


def _run_git(root: Path, *words: str) -> str:
    command = ["git", "-C", str(root), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_root_has_the_entries_of_the_design_and_no_others() -> None:
    found = {path.partition("/")[0] for path in list_tracked(ROOT)}
    assert found - ALLOWED - LOCK_FILES == set()
    assert found >= REQUIRED


def test_no_name_in_the_repository_looks_like_an_option() -> None:
    paths = list_tracked(ROOT)
    assert len(paths) > 500
    assert [path for path in paths if any(name[:1] == "-" for name in path.split("/"))] == []


def test_a_folder_that_is_not_named_in_the_design_is_found(tmp_path: Path) -> None:
    (tmp_path / "--help").mkdir()
    (tmp_path / "--help" / "picture.png").write_bytes(b"")
    (tmp_path / ".mypy_cache").mkdir()
    assert list_tracked(tmp_path) == ["--help", "--help/picture.png"]


@pytest.mark.parametrize("argv", [["--help"], ["-h"], ["--", "--help"], ["--", "-x"], ["--out"]])
def test_the_picture_script_takes_no_option_for_a_folder(
    argv: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        read_arguments(argv)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("argv", [["out", "no-such-group"], ["", "notes"], [" "]])
def test_the_picture_script_refuses_what_it_does_not_know(argv: list[str]) -> None:
    with pytest.raises(SystemExit):
        read_arguments(argv)


def test_the_picture_script_takes_a_folder_with_groups_and_sizes() -> None:
    assert read_arguments([]).folder is None
    chosen = read_arguments(["out", "notes", "wide"])
    assert (chosen.folder, chosen.names) == (Path("out"), ["notes", "wide"])
