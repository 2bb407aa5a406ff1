"""Communicate with `strata rpc` in a child process, one JSON object per line."""

import json
import subprocess
from typing import Any

from tests.support.processes.program import Program, ended

Line = dict[str, Any]


def send(child: "subprocess.Popen[bytes]", **fields: Any) -> None:
    """Send a request."""
    assert child.stdin is not None
    child.stdin.write(json.dumps(fields).encode() + b"\n")
    child.stdin.flush()


def next_event(child: "subprocess.Popen[bytes]", event: str) -> Line:
    """Read until the next event with this name."""
    assert child.stdout is not None
    while line := child.stdout.readline():
        said: Line = json.loads(line)
        if said.get("event") == event:
            return said
    raise AssertionError(f"no {event} came")


def respond(child: "subprocess.Popen[bytes]", **fields: Any) -> Line:
    """Send a request and return its response, which may be a refusal."""
    send(child, **{"id": "asked", **fields})
    assert child.stdout is not None
    while line := child.stdout.readline():
        said: Line = json.loads(line)
        if said.get("type") == "response":
            return said
    raise AssertionError("no response came")


def response(child: "subprocess.Popen[bytes]", **fields: Any) -> Any:
    """Send a request and return the data of its response; a refusal fails the test."""
    said = respond(child, **fields)
    assert said["success"], said
    return said["data"]


class Rpc:
    """A run of `strata rpc` that handles one request after the other."""

    def __init__(self, program: Program) -> None:
        self._child = program.start("rpc")

    @property
    def pid(self) -> int:
        """The process id of the program."""
        return self._child.pid

    def turn(self, type: str, **fields: Any) -> dict[str, Any]:
        """Run a turn to its end and return its result."""
        assert respond(self._child, type=type, **fields)["success"]
        data: dict[str, Any] = next_event(self._child, "turn_end")["data"]
        return data

    def do(self, type: str, **fields: Any) -> Any:
        """Send a request and return the data of its response."""
        return response(self._child, type=type, **fields)

    def refuse(self, type: str, **fields: Any) -> dict[str, Any]:
        """Send a request that must be refused, and return the error."""
        said = respond(self._child, type=type, **fields)
        assert not said["success"], said
        error: dict[str, Any] = said["error"]
        return error

    def close(self) -> None:
        """End the process."""
        assert ended(self._child).code == 0
