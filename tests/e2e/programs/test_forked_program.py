"""The program that the tests fork is like the one that a user starts."""

import os
import signal

import pytest

from tests.support.processes import program as programs
from tests.support.processes.forked_processes import ForkedProcesses
from tests.support.processes.program import Program, ended, kill
from tests.support.processes.rpc import respond


@pytest.fixture(params=["started", "forked"])
def either(
    request: pytest.FixtureRequest,
    program: Program,
    forked_processes: ForkedProcesses,
    monkeypatch: pytest.MonkeyPatch,
) -> Program:
    is_forked = request.param == "forked"
    monkeypatch.setattr(programs, "forked", forked_processes if is_forked else None)
    return program


def test_it_has_the_same_streams_and_exit_codes(either: Program) -> None:
    assert either.json("settings", "get", "ui.theme")["value"] == "system"
    refused = either.run("no-such-verb")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("usage: strata ")


def test_it_has_its_own_process_group_folder_and_end(either: Program) -> None:
    child = either.start("rpc")
    assert respond(child, type="get_state")["success"]
    assert os.getpgid(child.pid) == child.pid
    assert os.readlink(f"/proc/{child.pid}/cwd") == str(either.home.parent)
    assert child.poll() is None
    assert ended(child).code == 0
    killed = either.start("rpc")
    kill(killed)
    assert killed.returncode == -signal.SIGKILL
