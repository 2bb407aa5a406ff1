"""The installed `strata` program as a child process."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from tests.support.processes.forked_processes import PROGRAM, ForkedProcesses

SCRIPT = Path(sys.executable).with_name("strata")
LONGEST_RUN_S = 200
PROGRESS: Final = (
    "strata: Indexing by ",
    "strata: Reading your notes",
    "strata: Updating the vector store",
    "strata: Loading ",
)
_started: list["subprocess.Popen[bytes]"] = []
# Forks the program if it is set; otherwise the program is started as a user does it.
forked: ForkedProcesses | None = None


@dataclass(frozen=True)
class Done:
    """The result of a run that has ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on standard output; a second one is an error."""
        return json.loads(self.out)

    @property
    def error(self) -> Mapping[str, Any]:
        """The error in the JSON document."""
        error: Mapping[str, Any] = self.document["error"]
        return error

    @property
    def complaints(self) -> Sequence[str]:
        """The lines on standard error but those of progress, which only slow runs have."""
        return [line for line in self.err.splitlines() if not line.startswith(PROGRESS)]


@dataclass(frozen=True)
class Program:
    """The `strata` program with a home folder and the settings of a test.

    Attributes:
        options: the first arguments of every run, such as `--set KEY=VALUE`.
        before: a command line to put before the program, which starts it.
        module: a module that runs in place of the program, with the same libraries.
    """

    home: Path
    options: tuple[str, ...] = ()
    script: Path = SCRIPT
    environ: tuple[tuple[str, str], ...] = ()
    before: tuple[str, ...] = ()
    module: str = PROGRAM

    def with_environ(self, environ: Mapping[str, str]) -> "Program":
        """Return the program with more variables in its environment."""
        return replace(self, environ=(*self.environ, *environ.items()))

    def run(self, *argv: str, stdin: str = "") -> Done:
        """Run the program to its end."""
        child = self.start(*argv)
        out, err = child.communicate(stdin.encode(), timeout=LONGEST_RUN_S)
        return Done(child.returncode, out.decode(), err.decode())

    def json(self, *argv: str, stdin: str = "") -> Any:
        """Run the program, check that it succeeds, and return its JSON document."""
        done = self.run(*argv, "--json", stdin=stdin)
        assert done.code == 0, done
        return done.document

    def start(self, *argv: str, pass_fds: Sequence[int] = ()) -> "subprocess.Popen[bytes]":
        """Start the program in a process group of its own; it keeps these files open."""
        environ = {**os.environ, "STRATA_HOME": str(self.home), **dict(self.environ)}
        words = (
            [str(self.script)] if self.module == PROGRAM else [sys.executable, "-m", self.module]
        )
        command = [*self.before, *words, *self.options, *argv]
        is_plain = self.script == SCRIPT and not self.before
        if forked is not None and is_plain and hasattr(os, "pidfd_open"):
            command = [self.module, *self.options, *argv]
            child = forked.start_program(command, environ, self.home.parent, pass_fds, self.module)
        else:
            child = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environ,
                cwd=self.home.parent,
                process_group=0,
                pass_fds=pass_fds,
            )
        _started.append(child)
        return child


def ended(child: "subprocess.Popen[bytes]") -> Done:
    """Wait for the end of a run."""
    out, err = child.communicate(timeout=LONGEST_RUN_S)
    return Done(child.returncode, out.decode(), err.decode())


def kill(child: "subprocess.Popen[bytes]") -> None:
    """Kill a run without a chance to tidy up. Its child processes are not killed."""
    child.send_signal(signal.SIGKILL)
    child.communicate(timeout=LONGEST_RUN_S)


def end_all() -> None:
    """End the processes that a failed test has left running."""
    while _started:
        child = _started.pop()
        if child.poll() is None:
            with suppress(ProcessLookupError):  # it has ended since, and left no other process
                os.killpg(child.pid, signal.SIGKILL)
        child.communicate()


def wait_until(is_so: Callable[[], bool], what: str, timeout_s: float = 60) -> None:
    """Wait for a condition, checking it often; fail with its name after a timeout."""
    deadline = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < deadline, f"waited in vain for: {what}"
        time.sleep(0.01)


def children_of(pid: int) -> list[int]:
    """Return the ids of the child processes of a process, including those of its threads."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # the thread has just ended
            found += [int(word) for word in task.read_text().split()]
    return found


def command_of(pid: int) -> str:
    """Return a process's command line; empty if the process has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except (FileNotFoundError, ProcessLookupError):
        return ""
