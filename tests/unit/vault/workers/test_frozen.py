"""The frozen program starts itself for its children, since it has no interpreter to start."""

import os
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.processes.program import Program
from vault.workers.process import Child

ENTRY = Path(__file__).parents[4] / "freeze" / "program.py"


@pytest.fixture
def frozen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers_are_started: None) -> Path:
    """A program that runs the entry point of the frozen one, in place of the interpreter."""
    program = tmp_path / "strata"
    root = ENTRY.parents[1]
    program.write_text(f'#!/bin/sh\nPYTHONPATH={root} exec {sys.executable} {ENTRY} "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(program))
    return program


def test_a_child_is_the_program_itself_and_answers(frozen: Path) -> None:
    with closing(Child("vault.notes.parser_worker")) as child:
        answer = child.request({"kind": "html"}, b"<p>Twelve eggs</p>").header
        command = Path(f"/proc/{child.pid}/cmdline").read_bytes().split(b"\0")
    assert [part[1] for part in answer["parts"]] == ["Twelve eggs"]
    assert b"-m" not in command


def test_without_a_child_to_run_it_is_the_command_line(frozen: Path, tmp_path: Path) -> None:
    assert Program(tmp_path / "home", script=frozen).run("--version").out.startswith("strata ")


def test_programs_of_the_system_get_the_users_own_library_path(tmp_path: Path) -> None:
    told = tmp_path / "told.py"
    told.write_text("import os; print(os.environ.get('LD_LIBRARY_PATH'))")
    environ = {**os.environ, "PYTHONPATH": f"{ENTRY.parents[1]}{os.pathsep}{tmp_path}"}
    for kept, expected in (({"LD_LIBRARY_PATH_ORIG": "/opt/lib"}, "/opt/lib"), ({}, "None")):
        done = subprocess.run(
            [sys.executable, ENTRY, "--child", "told"],
            env={**environ, "LD_LIBRARY_PATH": "/bundle", **kept},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == expected
