"""Run a program, and end it with all that it has started once the parent process has gone.

    parent ── socket: command, environment, folder → guard ── process group of the program
           └─ standard input, output and error, which the program inherits ─┘

The guard ends the program's process group when the program exits, when the parent closes the
socket, and when the parent is killed, which closes the socket too. It exits as the program did. The
program is not in the guard's own group, so that no signal to that group is missed.

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
from typing import Any, Final

__all__ = ["GRACE_S"]

# How long the program has between SIGTERM and SIGKILL.
GRACE_S: Final = 1.0
_IGNORED: Final = (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE)
_TICK_S: Final = 0.01
_PR_SET_PDEATHSIG: Final = 1
_READ_BYTES: Final = 1 << 16


def main(descriptor: int) -> None:
    """Run the program that the parent names over a socket, until one of both ends.

    Args:
        descriptor: the file descriptor of the socket.
    """
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
    _end_group(program)
    if code is not None:
        _exit_like(code)


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
    library = ctypes.CDLL(None) if sys.platform == "linux" else None

    def prepare() -> None:
        for number in _IGNORED:
            signal.signal(number, signal.SIG_DFL)
        if library is not None:
            library.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

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
        ready, _, _ = select.select([life, wake], [], [])
        if life in ready:
            return False
        if signal.SIGTERM in wake.recv(_READ_BYTES):  # the numbers of the signals that arrived
            return False


def _end_group(program: "subprocess.Popen[bytes]") -> None:
    """End the program, and the processes that it has started and left in its group."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(program.pid, number)
        deadline = time.monotonic() + GRACE_S
        while time.monotonic() < deadline:
            program.poll()  # until it is waited for, it counts as a member of its group
            try:
                os.killpg(program.pid, 0)
            except ProcessLookupError:
                return
            except PermissionError:  # only members that have ended, or of other users
                pass
            time.sleep(_TICK_S)


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
