"""The wheel, away from the checkout."""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.support.processes.program import Program

CHECKOUT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the built wheel, which borrows the dependencies of this one."""
    root = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", root]
    subprocess.run([*build, CHECKOUT], check=True, capture_output=True)
    (wheel,) = root.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root / "venv"], check=True)
    python = root / "venv" / "bin" / "python"
    install = ["install", "--quiet", "--no-compile", "--no-deps", "--no-index"]
    install.append("--disable-pip-version-check")
    pip = [sys.executable, "-m", "pip", "--python", python, *install]
    subprocess.run([*pip, wheel], check=True)
    # A path in a .pth file is searched for modules; .pth files that lie there are not followed,
    # so that the checkout's own installation stays out of sight.
    (site_packages,) = (root / "venv").glob("lib/python*/site-packages")
    (site_packages / "borrowed.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return root / "venv"


def test_it_runs_from_its_own_files(installed: Path, tmp_path: Path) -> None:
    program = Program(tmp_path / "home", script=installed / "bin" / "strata")
    assert program.run("--version").out.startswith("strata 0.")
    asked = subprocess.run(
        [installed / "bin" / "python", "-c", "import resources; print(resources.sample_vault())"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    vault = Path(asked.stdout.strip())
    assert vault.is_relative_to(installed)
    assert len(list(vault.rglob("*.md"))) >= 20
    notes = tmp_path / "notes"
    notes.mkdir()
    # A few of them, since a busy computer takes minutes to embed all.
    for note in sorted(vault.rglob("*.md"), key=lambda path: path.stat().st_size)[:3]:
        shutil.copy(note, notes)
    (notes / "Budget.md").write_text("# Budget\n\nThe budget is 900 euros a month.\n", "utf-8")
    report = program.json("index", str(notes))
    assert (report["notes"], report["failed"]) == (4, [])
    answer = program.json("ask", "What is the budget?", "--no-index", "--vault", str(notes))
    assert answer["citations"]


def test_everything_that_is_shipped_is_in_it(installed: Path) -> None:
    (site_packages,) = installed.glob("lib/python*/site-packages")
    shipped = CHECKOUT / "resources"
    names = [
        path.relative_to(shipped)
        for path in shipped.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    ]
    missing = [name for name in names if not (site_packages / "resources" / name).is_file()]
    assert missing == []


def test_the_desktop_entry_takes_the_same_options(installed: Path, tmp_path: Path) -> None:
    program = Program(tmp_path / "home", script=installed / "bin" / "strata-gui")
    assert program.run("--version").out.startswith("strata 0.")


def test_the_menus_of_a_linux_desktop_find_the_program(installed: Path) -> None:
    assert (installed / "share" / "applications" / "strata.desktop").is_file()
    icons = installed / "share" / "icons" / "hicolor" / "scalable" / "apps"
    assert (icons / "strata.svg").is_file()
