"""Hooks of packages and of the user's own files, loaded from real files."""

import os
import sys
from pathlib import Path

import pytest

from app.customize.hooks import Hooks
from context.messages import Message

UPPER = """
from context.messages import Message

def shout(event):
    return Message(event.message.role, event.message.content + "{sign}")

def register(registry):
    registry.on("message", shout)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "config" / "hooks"
    made.mkdir(parents=True)
    return made


def said(loaded) -> str:
    """What the message hooks make of a bare message."""
    return loaded.registry.run_message(Message("user", "")).message.text


def test_files_run_in_the_order_of_their_names(folder):
    for name in ("b", "a", "10"):
        (folder / f"{name}.py").write_text(UPPER.format(sign=name))
    (folder / "notes.txt").write_text("no code")
    loaded = Hooks(folder).load(is_enabled=True)
    assert (said(loaded), loaded.problems) == ("10ab", ())


@pytest.mark.parametrize("has_original", [True, False])
@pytest.mark.parametrize(
    "end",
    [
        ".sync-conflict-20261127-184500-ABCDEFG",
        " (Ada's conflicted copy 2026-11-27)",
        " (Ada の競合コピー 2026-11-27)",
        " 2",
        "(1)",
    ],
)
def test_no_copy_of_a_sync_program_runs(end, has_original, folder):
    (folder / f"mine{end}.py").write_text(UPPER.format(sign="copy"))
    if has_original:
        (folder / "mine.py").write_text(UPPER.format(sign="own"))
    loaded = Hooks(folder).load(is_enabled=True)
    assert said(loaded) == ("own" if has_original else "")
    (problem,) = loaded.problems
    assert f"mine{end}.py does not run: a sync program may have made it" in problem


def test_the_name_of_a_computer_makes_a_copy_only_beside_the_original(folder):
    for name in ("mine-DESKTOP-7Q2F", "other-MAC", "mine_v2", "mine-more"):
        (folder / f"{name}.py").write_text(UPPER.format(sign=f"[{name}]"))
    (folder / "mine.py").write_text(UPPER.format(sign="[mine]"))
    loaded = Hooks(folder).load(is_enabled=True)
    assert said(loaded) == "[mine-more][mine][mine_v2][other-MAC]"
    assert len(loaded.problems) == 1


def test_no_file_runs_unless_it_is_allowed(folder):
    (folder / "a.py").write_text("raise RuntimeError")
    loaded = Hooks(folder).load(is_enabled=False)
    assert (said(loaded), loaded.problems) == ("", ())


def test_a_folder_that_is_not_there_holds_no_hooks(tmp_path):
    assert Hooks(tmp_path / "none").load(is_enabled=True).problems == ()


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def register(registry:", "SyntaxError: "),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("import sys\nsys.exit('bye')", "SystemExit: bye"),
        ("x = 1", "it offers no register(registry)"),
        ("register = 3", "it offers no register(registry)"),
        (UPPER + "    raise RuntimeError('late\\nerror')", "RuntimeError: late error"),
        ("def register(registry):\n    registry.on('tool', print)", "ValueError: There is no hook"),
        ("x = '\udcff'", "does not run: "),
    ],
)
def test_a_file_that_cannot_be_loaded_is_told_by_name_and_the_others_run(folder, source, reason):
    (folder / "a.py").write_bytes(source.encode("utf-8", "surrogateescape"))
    (folder / "b.py").write_text(UPPER.format(sign="!"))
    loaded = Hooks(folder).load(is_enabled=True)
    (problem,) = loaded.problems
    assert problem.startswith("The hook file a.py does not run: ")
    assert reason in problem
    assert "\n" not in problem
    assert said(loaded) == "!"


def test_a_file_that_cannot_be_read_is_told_by_name(folder):
    (folder / "a.py").mkdir()
    (folder / "b.py").symlink_to("nowhere.py")
    problems = Hooks(folder).load(is_enabled=True).problems
    assert [problem.split(" does not run: ")[0] for problem in problems] == [
        "The hook file a.py",
        "The hook file b.py",
    ]


def test_a_folder_of_hooks_that_is_a_file_is_told(tmp_path):
    (tmp_path / "hooks").write_text("")
    (problem,) = Hooks(tmp_path / "hooks").load(is_enabled=True).problems
    assert problem.startswith("The folder of hooks ")


def test_a_vault_never_carries_code_that_runs(folder, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.py").write_text(UPPER.format(sign="!"))
    (folder / "linked.py").symlink_to(tmp_path / "notes" / "a.py")
    loaded = Hooks(folder).load(is_enabled=True, vault=tmp_path / "notes")
    assert said(loaded) == ""
    assert "linked.py does not run: it lies in the folder of notes" in loaded.problems[0]
    loaded = Hooks(folder).load(is_enabled=True, vault=tmp_path)
    assert (said(loaded), len(loaded.problems)) == ("", 1)


def test_a_file_that_changed_is_loaded_again_and_another_is_not(folder):
    hooks = Hooks(folder)
    (folder / "a.py").write_text(UPPER.format(sign="old"))
    before = hooks.load(is_enabled=True)
    assert hooks.load(is_enabled=True) is before
    (folder / "a.py").write_text(UPPER.format(sign="new"))
    os.utime(folder / "a.py", (1, 1))
    assert said(hooks.load(is_enabled=True)) == "new"
    (folder / "a.py").unlink()
    assert said(hooks.load(is_enabled=True)) == ""


def test_the_setting_holds_from_the_next_turn_on(folder):
    (folder / "a.py").write_text(UPPER.format(sign="!"))
    hooks = Hooks(folder)
    assert [said(hooks.load(is_enabled)) for is_enabled in (False, True, False)] == ["", "!", ""]


def test_loading_leaves_nothing_beside_the_file(folder):
    (folder / "a.py").write_text(
        "from dataclasses import dataclass\n\n@dataclass\nclass State:\n    count: int = 0\n"
        + UPPER.format(sign="!")
    )
    assert said(Hooks(folder).load(is_enabled=True)) == "!"
    assert [path.name for path in folder.iterdir()] == ["a.py"]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Install a package that offers hooks, as far as Python can tell."""

    def install(name: str, source: str, offer: str) -> None:
        (tmp_path / f"{name}.py").write_text(source)
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[strata.hooks]\n{name} = {offer}\n")

    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield install
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_installed_packages_offer_hooks_without_the_setting(package, folder):
    package("zz_module_offer", UPPER.format(sign="m"), "zz_module_offer")
    package("aa_function_offer", UPPER.format(sign="f"), "aa_function_offer:register")
    (folder / "a.py").write_text(UPPER.format(sign="!"))
    assert said(Hooks(folder).load(is_enabled=False)) == "fm"
    assert said(Hooks(folder).load(is_enabled=True)) == "fm!"


def test_a_package_whose_hooks_cannot_be_loaded_is_told_by_name(package, folder):
    package("bad_offer", "x = 1", "bad_offer:register")
    package("good_offer", UPPER.format(sign="!"), "good_offer")
    loaded = Hooks(folder).load(is_enabled=False)
    assert said(loaded) == "!"
    (problem,) = loaded.problems
    assert problem.startswith(
        "The hook bad_offer (bad_offer:register) does not run: AttributeError"
    )


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_does_not_run(folder, mode):
    (folder / "a.py").write_text(UPPER.format(sign="a"))
    (folder / "b.py").write_text(UPPER.format(sign="b"))
    (folder / "a.py").chmod(mode)
    hooks = Hooks(folder)
    loaded = hooks.load(is_enabled=True)
    (problem,) = loaded.problems
    assert said(loaded) == "b"
    assert problem == (
        f"The hook file a.py does not run: others may write {folder / 'a.py'}; "
        "take that right away with: chmod go-w."
    )
    (folder / "a.py").chmod(0o644)
    assert said(hooks.load(is_enabled=True)) == "ab"


def test_no_file_of_a_folder_that_others_may_write_runs(folder):
    (folder / "a.py").write_text(UPPER.format(sign="a"))
    hooks = Hooks(folder)
    assert said(hooks.load(is_enabled=True)) == "a"
    folder.chmod(0o777)
    loaded = hooks.load(is_enabled=True)
    (problem,) = loaded.problems
    assert said(loaded) == ""
    assert problem.startswith(f"The folder of hooks {folder} is not used: others may write ")
    folder.chmod(0o755)
    assert hooks.load(is_enabled=True).problems == ()


def test_a_link_to_a_file_that_others_may_write_does_not_run(folder, tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "a.py").write_text(UPPER.format(sign="a"))
    (folder / "a.py").symlink_to(shared / "a.py")
    shared.chmod(0o775)
    loaded = Hooks(folder).load(is_enabled=True)
    assert (said(loaded), len(loaded.problems)) == ("", 1)


@pytest.mark.skipif(os.geteuid() != 0, reason="only the administrator can give files away")
def test_a_file_of_another_user_does_not_run(folder):
    (folder / "a.py").write_text(UPPER.format(sign="a"))
    os.chown(folder / "a.py", 12345, 12345)
    loaded = Hooks(folder).load(is_enabled=True)
    assert said(loaded) == ""
    assert "belongs to another user" in loaded.problems[0]
