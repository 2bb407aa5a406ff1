"""The installed `strata` program as a child process, and what it left behind."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCRIPT = Path(sys.executable).with_name("strata")
LONGEST_RUN_S = 200
_started: list["subprocess.Popen[bytes]"] = []


@dataclass(frozen=True)
class Done:
    """A run that has ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on standard output; a second one is an error."""
        return json.loads(self.out)

    @property
    def error(self) -> Mapping[str, Any]:
        """The error in that document."""
        error: Mapping[str, Any] = self.document["error"]
        return error


@dataclass(frozen=True)
class Program:
    """`strata` with its own home and the settings of this test.

    Attributes:
        options: words that every run begins with, such as `--set KEY=VALUE`.
        before: a command that starts it in its turn.
    """

    home: Path
    options: tuple[str, ...] = ()
    script: Path = SCRIPT
    environ: tuple[tuple[str, str], ...] = ()
    before: tuple[str, ...] = ()

    def run(self, *argv: str, stdin: str = "") -> Done:
        """Run it to its end."""
        child = self.start(*argv)
        out, err = child.communicate(stdin.encode(), timeout=LONGEST_RUN_S)
        return Done(child.returncode, out.decode(), err.decode())

    def json(self, *argv: str, stdin: str = "") -> Any:
        """Run it, expect that it succeeds, and return its document."""
        done = self.run(*argv, "--json", stdin=stdin)
        assert done.code == 0, done
        return done.document

    def start(self, *argv: str) -> "subprocess.Popen[bytes]":
        """Start it, in a process group of its own."""
        if {"index", "ask", "rpc", "search"}.intersection(argv):
            share_onnx_form(self.home)
        child = subprocess.Popen(
            [*self.before, self.script, *self.options, *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "STRATA_HOME": str(self.home), **dict(self.environ)},
            cwd=self.home.parent,
            process_group=0,
        )
        _started.append(child)
        return child


def share_onnx_form(home: Path) -> None:
    """Put the ONNX form of the embedding model into a home, and take it from there when it is new.

    Exporting takes seconds, which each home of a test would pay again.
    """
    shared = Path(tempfile.gettempdir()) / f"strata-onnx-{os.getuid()}"
    cache = home / "cache" / "embedding"
    with suppress(OSError):  # a home that cannot be written is some tests' subject
        for folder in (shared, home, cache.parent, cache):
            folder.mkdir(mode=0o700, exist_ok=True)
        for source, target in ((cache, shared), (shared, cache)):
            for details in source.glob("*.onnx.json"):
                for file in (details.with_suffix(""), details):
                    with suppress(FileExistsError):
                        os.link(file, target / file.name)


def ended(child: "subprocess.Popen[bytes]") -> Done:
    """Wait for the end of a run that was started."""
    out, err = child.communicate(timeout=LONGEST_RUN_S)
    return Done(child.returncode, out.decode(), err.decode())


def kill(child: "subprocess.Popen[bytes]") -> None:
    """End a run at once, with no chance to tidy up; its own children are left to themselves."""
    child.send_signal(signal.SIGKILL)
    child.communicate(timeout=LONGEST_RUN_S)


def end_all() -> None:
    """End what a test that failed has left running."""
    while _started:
        child = _started.pop()
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate()


def wait_until(is_so: Callable[[], bool], what: str, timeout_s: float = 60) -> None:
    """Wait for a condition, looking often; fail with its name when it does not come."""
    deadline = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < deadline, f"waited in vain for: {what}"
        time.sleep(0.01)


def children_of(pid: int) -> list[int]:
    """Return the processes that a process started, those of its threads included."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has just ended
            found += [int(word) for word in task.read_text().split()]
    return found


def command_of(pid: int) -> str:
    """Return the command line of a process; empty for one that is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except (FileNotFoundError, ProcessLookupError):
        return ""
