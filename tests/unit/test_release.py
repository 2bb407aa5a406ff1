"""What is passed on: the packages of the frozen program, their licences, and what is refused."""

import json
from io import StringIO
from pathlib import Path

import pytest

from freeze import release
from freeze.contents import (
    LEFT_OUT,
    find_licence,
    list_packages,
    write_bill_of_materials,
    write_licences,
    write_sizes,
)

PERMISSIVE = ("MIT", "BSD", "Apache", "ISC", "PSF", "Python Software Foundation", "Zlib", "0BSD")
WEAK_COPYLEFT = ("MPL", "Mozilla", "LGPL-3.0-only OR")  # may be passed on beside our own licence


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
    write_licences(tmp_path)
    for package in list_packages():
        texts = [file for file in (tmp_path / package.name).rglob("*") if file.is_file()]
        assert texts, package.name
    assert "Lesser General Public License" in (tmp_path / "Qt and PySide6.txt").read_text()


def test_the_list_of_packages_is_the_same_each_time(tmp_path: Path) -> None:
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    for file in (first, second):
        write_bill_of_materials(file, tmp_path)
    assert first.read_bytes() == second.read_bytes()
    document = json.loads(first.read_text())
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert len(document["components"]) == len(list_packages())
    with pytest.raises(SystemExit, match="no program"):
        write_bill_of_materials(first, tmp_path / "absent")


def test_sizes_are_summed_by_package(tmp_path: Path) -> None:
    (tmp_path / "_internal" / "numpy").mkdir(parents=True)
    (tmp_path / "_internal" / "numpy" / "core.so").write_bytes(bytes(2_000_000))
    (tmp_path / "strata").write_bytes(bytes(1_000_000))
    out = StringIO()
    write_sizes(tmp_path, out)
    rows = [line.split() for line in out.getvalue().splitlines()]
    assert rows[1:] == [["2.0", "MB", "numpy"], ["1.0", "MB", "strata"]]


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [({"status": " M a.py"}, "not committed"), ({"tag": "v0.1.0"}, "has a tag")],
)
def test_a_state_that_nobody_could_build_again_is_refused(
    monkeypatch: pytest.MonkeyPatch, answers: dict[str, str], sentence: str
) -> None:
    monkeypatch.setattr(release, "_git", lambda command, *_rest: answers.get(command, ""))
    with pytest.raises(SystemExit, match=sentence):
        release.check_state()


def test_the_wheel_is_the_same_when_it_is_built_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "DIST", tmp_path / "dist")
    wheel = release.build_wheel()
    assert wheel.name.endswith("-py3-none-any.whl")
