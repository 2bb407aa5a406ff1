"""Install Strata with what its tests need, check the code, and run the tests: `python -m tests`.

The Makefile calls it. Where there is no make, it is called by itself. It needs only the standard
library, since it installs everything else. A single step can be named: `install`, `lint` or `run`.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
LOCKED_TORCH, LOCKED = ROOT / ".ci" / "locked-torch.txt", ROOT / ".ci" / "locked.txt"
PACKAGES = ("app", "chains", "context", "resources", "tests/support", "ui", "vault")
OTHER_SYSTEMS = tuple({"linux", "darwin", "win32"} - {sys.platform})


def main() -> None:
    """Do the named steps, or all of them. The first step that fails ends the program."""
    steps = {"install": install, "lint": lint, "run": run}
    names = sys.argv[1:] or list(steps)
    if unknown := [name for name in names if name not in steps]:
        raise SystemExit(f"There is no step {unknown[0]}. The steps are {', '.join(steps)}.")
    for name in names:
        steps[name]()


def install() -> None:
    """Create the virtual environment, and install the locked dependencies and Strata into it."""
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    index = os.environ.get("TORCH_INDEX", "")
    chosen = ("--index-url", index) if index else ()
    install = ("pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check")
    call(*install, *chosen, "--requirement", str(LOCKED_TORCH))
    call(*install, "--require-hashes", "--no-deps", "--requirement", str(LOCKED))
    call(*install, "--no-deps", "--no-build-isolation", "--editable", str(ROOT))
    compile_all()


def compile_all() -> None:
    """Compile the dependencies and Strata with all processors. Pip would use one only.

    Tests of dependencies are left out. Files for another Python version cannot be compiled, and no
    process imports them.
    """
    places = [str(VENV), *(str(ROOT / name) for name in PACKAGES)]
    their_tests = r"site-packages.*[\\/]tests[\\/]"
    start("compileall", "-qq", "-j", "0", "-x", their_tests, *places).wait()


def lint() -> None:
    """Check format, lint, types for three systems at once, and import contracts."""
    call("ruff", "check", ".")
    call("ruff", "format", "--check", ".")
    other = (("--platform", name, "--cache-dir", f".mypy_cache/{name}") for name in OTHER_SYSTEMS)
    wait_for([start("mypy", *arguments) for arguments in ((), *other)])
    lint_imports = PYTHON.with_name("lint-imports")
    subprocess.run([lint_imports, "--no-logo", "--no-cache"], cwd=ROOT, check=True)


def run() -> None:
    """Run the tests without a screen, in one process more than there are processors.

    Many tests wait for a program that they have started.
    """
    call("pytest", f"--numprocesses={(os.cpu_count() or 1) + 1}", "--dist=worksteal")


def call(module: str, *arguments: str) -> None:
    """Run a module of the virtual environment.

    Raises:
        subprocess.CalledProcessError: it failed.
    """
    wait_for([start(module, *arguments)])


def start(module: str, *arguments: str) -> "subprocess.Popen[bytes]":
    """Start a module of the virtual environment."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    return subprocess.Popen([PYTHON, "-m", module, *arguments], cwd=ROOT, env=environment)


def wait_for(started: "Sequence[subprocess.Popen[bytes]]") -> None:
    """Wait for the end of all processes, also if one of them fails.

    Raises:
        subprocess.CalledProcessError: one of them failed.
    """
    for code, command in [(process.wait(), process.args) for process in started]:
        if code:
            raise subprocess.CalledProcessError(code, command)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        raise SystemExit(error.returncode) from None
