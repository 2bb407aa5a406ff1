"""No process of an MCP server outlives the program, however the program and the server behave."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.models.model_server import Answer, ModelServer
from tests.support.processes.program import Program, ended, wait_until
from tests.support.processes.rpc import next_event, send
from tests.support.servers.hanging_server import (
    PROCESSES,
    is_hanging,
    list_processes,
    settings_entry,
)

Child = subprocess.Popen[bytes]
REPLIES = (Answer("", calls=(("c1", "leaves__hang", "{}"),)), Answer("Out of time."))
QUESTION = ("ask", "Hang.", "--mode", "agent", "--approve", "all", "--no-index", "--json")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the server says which processes it has."""
    folder = tmp_path / "server"
    folder.mkdir()
    return folder


@pytest.fixture
def hanging(
    with_notes: Program,
    asking: Callable[[Program], Program],
    folder: Path,
    server: ModelServer,
) -> Program:
    """The program with a server that hangs, and a model that calls it."""
    server.script(*REPLIES)
    program = asking(with_notes)
    servers = json.dumps({"leaves": settings_entry(folder)})
    assert program.run("settings", "set", "mcp.servers", servers).code == 0
    return program


def wait_for_hanging(folder: Path) -> None:
    wait_until(lambda: is_hanging(folder), "the call of the tool")
    assert len(list_processes(folder)) == PROCESSES


def wait_for_no_process(folder: Path) -> None:
    wait_until(lambda: not list_processes(folder), "the end of all processes of the server")


def start_asking(program: Program) -> Child:
    return program.start(*QUESTION)


def start_serving(program: Program) -> Child:
    child = program.start("rpc")
    send(child, id=1, type="prompt", text="Hang.", mode="agent")
    for _ in ("the start of the server", "the call of its tool"):
        asked = next_event(child, "approval_request")["data"]
        send(child, id=2, type="approve", approval_id=asked["approval_id"], decision="allow")
    return child


def close_input(child: Child) -> None:
    """Do nothing: waiting for the end of a program closes its input."""


def shut_down(child: Child) -> None:
    send(child, id=3, type="shutdown")


def send_signal(number: signal.Signals) -> Callable[[Child], None]:
    return lambda child: child.send_signal(number)


ENDINGS = {
    "ask, Ctrl-C": (start_asking, send_signal(signal.SIGINT)),
    "ask, SIGTERM": (start_asking, send_signal(signal.SIGTERM)),
    "ask, SIGHUP": (start_asking, send_signal(signal.SIGHUP)),
    "ask, SIGKILL": (start_asking, send_signal(signal.SIGKILL)),
    "rpc, end of input": (start_serving, close_input),
    "rpc, shutdown": (start_serving, shut_down),
    "rpc, Ctrl-C": (start_serving, send_signal(signal.SIGINT)),
    "rpc, SIGTERM": (start_serving, send_signal(signal.SIGTERM)),
    "rpc, SIGHUP": (start_serving, send_signal(signal.SIGHUP)),
    "rpc, SIGKILL": (start_serving, send_signal(signal.SIGKILL)),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_hanging_server_ends_with_the_program(
    hanging: Program, folder: Path, ending: str
) -> None:
    start, end = ENDINGS[ending]
    child = start(hanging)
    wait_for_hanging(folder)
    end(child)
    ended(child)
    wait_for_no_process(folder)
    assert list_processes(folder) == []


@pytest.mark.soak
@pytest.mark.timeout(7_000)
def test_after_two_hundred_exits_no_process_is_left(
    hanging: Program, server: ModelServer, tmp_path: Path
) -> None:
    for number in range(200):
        server.script(*REPLIES)
        start, end = list(ENDINGS.values())[number % len(ENDINGS)]
        folder = tmp_path / f"server-{number}"
        folder.mkdir()
        servers = json.dumps({"leaves": settings_entry(folder)})
        assert hanging.run("settings", "set", "mcp.servers", servers).code == 0
        child = start(hanging)
        wait_for_hanging(folder)
        end(child)
        ended(child)
        wait_for_no_process(folder)


def test_a_turn_ends_at_its_time_limit_whatever_a_tool_does(hanging: Program, folder: Path) -> None:
    result = hanging.json(*QUESTION[:-1], "--set", "agent.maxSeconds=15")
    assert (result["status"], result["answer"]) == ("limit", "Out of time.")
    assert [tool["status"] for tool in result["tools"]] == ["error"]
    assert is_hanging(folder)
    wait_for_no_process(folder)


@pytest.mark.parametrize("is_outer", [False, True])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_server_ends_with_either_of_its_guards(
    hanging: Program, folder: Path, number: signal.Signals, is_outer: bool
) -> None:
    child = start_asking(hanging)
    wait_for_hanging(folder)
    inner = find_parent(find_server(folder))
    os.kill(find_parent(inner) if is_outer else inner, number)
    wait_for_no_process(folder)
    ended(child)
    assert list_processes(folder) == []


def find_server(folder: Path) -> int:
    """Return the id of the server, whose children's parent it is."""
    processes = list_processes(folder)
    (server,) = {find_parent(process) for process in processes}.intersection(processes)
    return server


def find_parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
