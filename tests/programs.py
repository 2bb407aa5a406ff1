"""Python programs of the virtual environment: where it is, and how they are started."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
_NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


def call(module: str, *arguments: str, variables: Mapping[str, str] = _NO_VARIABLES) -> None:
    """Run a module of the virtual environment, with these variables in its environment.

    Raises:
        subprocess.CalledProcessError: it failed.
    """
    wait_for([start("-m", module, *arguments, variables=variables)])


def start(
    *arguments: str, variables: Mapping[str, str] = _NO_VARIABLES
) -> "subprocess.Popen[bytes]":
    """Start the Python of the virtual environment, with these variables in its environment."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", **variables}
    return subprocess.Popen([PYTHON, *arguments], cwd=ROOT, env=environment)


def wait_for(started: "Sequence[subprocess.Popen[bytes]]") -> None:
    """Wait for the end of all processes, also if one of them fails.

    Raises:
        subprocess.CalledProcessError: one of them failed.
    """
    for code, command in [(process.wait(), process.args) for process in started]:
        if code:
            raise subprocess.CalledProcessError(code, command)
