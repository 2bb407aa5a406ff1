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

import json
import os
import select
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from typing import Any, Final

from resources.system.processes import (
    end_group,
    exit_like,
    fork_inner_guard,
    reap_adopted,
    start_in_group,
    wake_on_signals,
)

__all__ = ["GRACE_S"]

# How long the program has between SIGTERM and SIGKILL.
GRACE_S: Final = 1.0
_READ_BYTES: Final = 1 << 16


def main(descriptor: int) -> None:
    """Run the program that the parent names over a socket, until one of both ends.

    Args:
        descriptor: the file descriptor of the socket.
    """
    fork_inner_guard(lambda: _leave(descriptor), GRACE_S)
    life = socket.socket(fileno=descriptor)
    wake = _wake_on_signals()
    request = _read_request(life)
    if request is None:
        return
    try:
        program = start_in_group(request["command"], request["environment"], request["folder"])
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        life.sendall(json.dumps({"error": reason}).encode() + b"\n")
        return
    _let_go_of_pipes()
    with suppress(OSError):  # the parent has gone already
        life.sendall(b"{}\n")
    is_ended = _watch(program, life, wake)
    code = program.wait() if is_ended else None
    end_group(program, GRACE_S)
    if code is not None:
        exit_like(code)


def _wake_on_signals() -> socket.socket:
    """Return a socket that gets readable with each signal, after which the guard looks around."""
    read, write = socket.socketpair()
    for end in (read, write):
        end.setblocking(False)
    wake_on_signals(write.detach())
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


def _leave(descriptor: int) -> None:
    """Leave the socket and the pipes to the inner guard."""
    os.close(descriptor)
    _let_go_of_pipes()


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
        reap_adopted(program)
        ready, _, _ = select.select([life, wake], [], [])
        if life in ready:
            return False
        if signal.SIGTERM in wake.recv(_READ_BYTES):  # the numbers of the signals that arrived
            return False


if __name__ == "__main__":
    main(int(sys.argv[1]))
