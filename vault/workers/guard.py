"""Run a program, and end it with all that it has started once the parent process has gone.

    parent ── socket: command, environment, folder → guard ── process group of the program
           └─ standard input, output and error, which the program inherits ─┘

The guard ends the program's process group when the program exits, when the parent closes the
socket, and when the parent is killed, which closes the socket too. It exits as the program did. The
program is not in the guard's own group, so that no signal to that group is missed.

On Linux the guard is two processes, the outer one the parent of the inner one. Each ends everything
when the other one is killed. Both adopt what the program has started and left, so that a process
that leaves the group, as `setsid` does, is found and ended too.

Run as `python -m vault.workers.guard DESCRIPTOR` by `chains.mcp.wire`, on POSIX systems only.
"""

import ctypes
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

__all__ = ["GRACE_S"]

# How long the program has between SIGTERM and SIGKILL.
GRACE_S: Final = 1.0
_IGNORED: Final = (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE)
_TICK_S: Final = 0.01
_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36
_IS_LINUX: Final = sys.platform == "linux"
_READ_BYTES: Final = 1 << 16


def main(descriptor: int) -> None:
    """Run the program that the parent names over a socket, until one of both ends.

    Args:
        descriptor: the file descriptor of the socket.
    """
    if _IS_LINUX:
        _fork_inner(descriptor)
    life = socket.socket(fileno=descriptor)
    wake = _wake_on_signals()
    request = _read_request(life)
    if request is None:
        return
    try:
        program = _start(request)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        life.sendall(json.dumps({"error": reason}).encode() + b"\n")
        return
    _let_go_of_pipes()
    with suppress(OSError):  # the parent has gone already
        life.sendall(b"{}\n")
    is_ended = _watch(program, life, wake)
    code = program.wait() if is_ended else None
    _end_all(program.pid)
    if code is not None:
        _exit_like(code)


def _fork_inner(descriptor: int) -> None:
    """Return in a new process, the inner guard. This one waits for its end, and ends the rest."""
    outer = os.getpid()
    _control(_PR_SET_CHILD_SUBREAPER, 1)
    inner = os.fork()
    if inner == 0:
        _control(_PR_SET_PDEATHSIG, signal.SIGTERM)
        _control(_PR_SET_CHILD_SUBREAPER, 1)
        if os.getppid() != outer:  # it was killed meanwhile
            os._exit(1)
        return
    os.close(descriptor)
    _let_go_of_pipes()
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(inner, signal.SIGTERM))
    ended, status = os.wait()
    while ended != inner:
        ended, status = os.wait()
    _end_all(None)
    _exit_like(os.waitstatus_to_exitcode(status))
    os._exit(1)


def _control(option: int, value: int) -> None:
    """Set an option of this process. Only Linux has these."""
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _wake_on_signals() -> socket.socket:
    """Return a socket that gets readable with each signal, after which the guard looks around."""
    read, write = socket.socketpair()
    for end in (read, write):
        end.setblocking(False)
    signal.set_wakeup_fd(write.detach(), warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    return read


def _read_request(life: socket.socket) -> dict[str, Any] | None:
    data = b""
    while not data.endswith(b"\n"):
        piece = life.recv(_READ_BYTES)
        if not piece:
            return None
        data += piece
    request: dict[str, Any] = json.loads(data)
    return request


def _start(request: dict[str, Any]) -> "subprocess.Popen[bytes]":
    """Start the program in a process group of its own. On Linux, it is killed with the guard."""

    def prepare() -> None:
        for number in _IGNORED:
            signal.signal(number, signal.SIG_DFL)
        if _IS_LINUX:
            _control(_PR_SET_PDEATHSIG, signal.SIGKILL)

    return subprocess.Popen(
        request["command"],
        env=request["environment"],
        cwd=request["folder"],
        process_group=0,
        preexec_fn=prepare,  # noqa: PLW1509 - the guard has no other thread
    )


def _let_go_of_pipes() -> None:
    """Leave the pipes to the program alone, so that the parent sees when it closes them."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)


def _watch(program: "subprocess.Popen[bytes]", life: socket.socket, wake: socket.socket) -> bool:
    """Wait until the program ends or the parent lets go, and return whether the program ended."""
    while True:
        if program.poll() is not None:
            return True
        _reap(_list_children() - {program.pid})
        ready, _, _ = select.select([life, wake], [], [])
        if life in ready:
            return False
        if signal.SIGTERM in wake.recv(_READ_BYTES):  # the numbers of the signals that arrived
            return False


def _end_all(group: int | None) -> None:
    """End a program, and the processes that it has started.

    Args:
        group: the id of the program and of its process group, or None if only the adopted
            processes are left.
    """
    for number in (signal.SIGTERM, signal.SIGKILL):
        told: set[int] = set()
        if group is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, number)
        deadline = time.monotonic() + GRACE_S
        while time.monotonic() < deadline:
            left = _list_children()  # each process that ends leaves its children to this one
            for child in left - told:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(child, number)
            told |= left
            _reap(left if group is None else left | {group})
            if not _list_children() and not _has_members(group):
                return
            time.sleep(_TICK_S)


def _has_members(group: int | None) -> bool:
    """Return whether a process group has members, or some that have ended and were not reaped."""
    if group is None:
        return False
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # only members that have ended, or of other users
        return True
    return True


def _list_children() -> set[int]:
    """Return the children of this process. The set is empty where the system lists none."""
    this = os.getpid()
    try:
        return set(map(int, Path(f"/proc/{this}/task/{this}/children").read_text().split()))
    except (OSError, ValueError):
        return set()


def _reap(children: set[int]) -> None:
    """Remove the child processes that have ended from the system's table."""
    for child in children:
        with suppress(ChildProcessError):
            os.waitpid(child, os.WNOHANG)


def _exit_like(code: int) -> None:
    """Exit with the program's code, or by the signal that ended the program."""
    if code >= 0:
        sys.exit(code)
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError, ValueError):  # a signal that cannot be handled
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)


if __name__ == "__main__":
    main(int(sys.argv[1]))
