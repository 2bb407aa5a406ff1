"""Install Strata with what its tests need, check the code, and run the tests: `python -m tests`.

The Makefile calls it. Where there is no make, it is called by itself. It needs only the standard
library, since it installs everything else. A single step can be named: `install`, `lint` or `run`.
"""

import os
import subprocess
import sys

from tests.installation import install
from tests.programs import PYTHON, ROOT, call, start, wait_for

OTHER_SYSTEMS = tuple({"linux", "darwin", "win32"} - {sys.platform})


def main() -> None:
    """Do the named steps, or all of them. The first step that fails ends the program."""
    steps = {"install": install, "lint": lint, "run": run}
    names = sys.argv[1:] or list(steps)
    if unknown := [name for name in names if name not in steps]:
        raise SystemExit(f"There is no step {unknown[0]}. The steps are {', '.join(steps)}.")
    for name in names:
        steps[name]()


def lint() -> None:
    """Check format, lint, types for three systems at once, and import contracts."""
    call("ruff", "check", ".")
    call("ruff", "format", "--check", ".")
    other = (("--platform", name, "--cache-dir", f".mypy_cache/{name}") for name in OTHER_SYSTEMS)
    wait_for([start("-m", "mypy", *arguments) for arguments in ((), *other)])
    lint_imports = PYTHON.with_name("lint-imports")
    subprocess.run([lint_imports, "--no-logo", "--no-cache"], cwd=ROOT, check=True)


def run() -> None:
    """Run the tests without a screen, in one process more than there are processors.

    Many tests wait for a program that they have started.
    """
    call("pytest", f"--numprocesses={(os.cpu_count() or 1) + 1}", "--dist=worksteal")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        raise SystemExit(error.returncode) from None
