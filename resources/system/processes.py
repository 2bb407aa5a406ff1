"""The calls for processes, signals and memory in which Linux, macOS and Windows differ."""

import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from resources.system.calls import has_windows_pipe_data

__all__ = [
    "CRASH_SIGNALS",
    "HANGUP_SIGNALS",
    "allow_foreground",
    "connect_locally",
    "count_memory",
    "count_ticks_per_s",
    "end_group",
    "end_with_parent",
    "exit_like",
    "forbid_core_dump",
    "fork_inner_guard",
    "has_library",
    "is_owned_by_others",
    "is_process_running",
    "is_readable",
    "is_writable",
    "is_writable_by_others",
    "limit_memory",
    "needs_polling",
    "pass_socket",
    "read_free_memory",
    "read_process_memory",
    "reap_adopted",
    "select_in_explorer",
    "set_unblocking",
    "start_in_group",
    "trim_memory",
    "wake_on_signals",
]


def _find_signals(*names: str) -> tuple[int, ...]:
    """Return the numbers of those signals that this system has."""
    return tuple(int(getattr(signal, name)) for name in names if hasattr(signal, name))


# The signals that end a process that runs out of memory or crashes on hostile bytes.
CRASH_SIGNALS: Final = _find_signals("SIGABRT", "SIGTRAP", "SIGSEGV", "SIGILL", "SIGBUS")
# The signal of a terminal that is closed. Windows has none.
HANGUP_SIGNALS: Final = _find_signals("SIGHUP")
_KEYBOARD_SIGNALS: Final = _find_signals("SIGINT", "SIGHUP", "SIGPIPE")
_END_SIGNALS: Final = _find_signals("SIGTERM", "SIGKILL")
_ANY_PROCESS: Final = -1  # ASFW_ANY of AllowSetForegroundWindow
_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36
_GROUP_CHECK_S: Final = 0.01
_PIPE_CHECK_S: Final = 0.005


def limit_memory(most_bytes: int) -> None:
    """Limit the memory of this process, if the system can do that. Windows cannot."""
    if sys.platform != "win32":
        import resource

        with suppress(ValueError, OSError):  # macOS does not have this limit
            resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))


def forbid_core_dump() -> None:
    """Let a crash of this process leave no copy of its memory on the disk."""
    if sys.platform != "win32":
        import resource

        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def trim_memory() -> None:
    """Return freed memory of the C library to the system, if the library can do that."""
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)


def has_library(name: str) -> bool:
    """Return whether a shared library is installed."""
    import ctypes

    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def read_free_memory(meminfo: Path = Path("/proc/meminfo")) -> int | None:
    """Return the available memory in bytes, or None if the system does not report it.

    Memory used for file caches counts as available. On macOS, the result is the total memory.

    Args:
        meminfo: the file in which Linux reports it.
    """
    return _read_available(meminfo) if sys.platform == "linux" else count_memory()


def _read_available(file: Path) -> int | None:
    try:
        lines = file.read_text("ascii").splitlines()
    except (OSError, ValueError):
        return None
    for line in lines:
        name, _, rest = line.partition(":")
        number = rest.split()[0] if rest.split() else ""
        if name == "MemAvailable" and number.isdecimal():
            return int(number) * 1_024
    return None


def count_memory() -> int | None:
    """Return the total memory in bytes, or None if the system does not report it."""
    if sys.platform == "win32":
        return None
    else:
        try:
            return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        except (OSError, ValueError):
            return None


def read_process_memory(pid: int) -> int:
    """Return the memory used by a process in bytes, or 0 if it has ended or is unknown."""
    try:
        if sys.platform == "linux":
            pages = Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]
            return int(pages) * os.sysconf("SC_PAGE_SIZE")
        else:
            command = ["ps", "-o", "rss=", "-p", str(pid)]
            return int(subprocess.run(command, capture_output=True, check=True).stdout) * 1_024
    except (OSError, ValueError, IndexError, subprocess.SubprocessError):
        return 0


def count_ticks_per_s() -> int:
    """Return how many units of processor time Linux counts in a second."""
    if sys.platform == "win32":
        return 100
    else:
        return os.sysconf("SC_CLK_TCK")


def needs_polling() -> bool:
    """Return whether the system does not report changes, as in Windows Subsystem for Linux."""
    import platform

    return "microsoft-standard" in platform.uname().release


def is_process_running(pid: int) -> bool:
    """Return whether a process is running. On Windows, the answer is always no."""
    if sys.platform == "win32":
        return False  # a signal would end the process there
    else:
        try:
            os.kill(pid, 0)
        except (ProcessLookupError, OverflowError):
            return False
        except OSError:
            return True
        return True


def is_owned_by_others(info: os.stat_result) -> bool:
    """Return whether a file belongs to neither this user nor the administrator.

    Windows does not tell this by the attributes of a file, so the answer there is no.
    """
    if sys.platform == "win32":
        return False
    else:
        return info.st_uid not in (os.geteuid(), 0)


def is_writable_by_others(info: os.stat_result) -> bool:
    """Return whether other users may write a file. The attributes on Windows do not tell that."""
    return sys.platform != "win32" and bool(info.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def end_with_parent() -> None:
    """Fork a process that kills this one as soon as the parent process has ended.

    A thread could not do that while a library holds the GIL. On Windows, which cannot fork, nothing
    is done. There, the process ends when it next reads its input.
    """
    if sys.platform != "win32":
        import select

        worker, (read_end, write_end) = os.getpid(), os.pipe()
        if os.fork():
            os.close(read_end)  # the other end stays open as long as this process runs
            return
        try:
            for unused in (write_end, 1, 2):
                os.close(unused)
            ends = select.poll()
            for pipe in (0, read_end):  # of the parent and of the worker
                ends.register(pipe, 0)
            ends.poll()
            if os.getppid() == worker:
                os.kill(worker, signal.SIGKILL)
        finally:
            os._exit(0)


def set_unblocking(handle: int) -> None:
    """Let writes to a pipe take only what fits into it. Windows does not support this."""
    if sys.platform != "win32":
        os.set_blocking(handle, False)


def is_readable(pipe: int, timeout_s: float) -> bool:
    """Wait until a pipe or a terminal has data or was closed, and return whether it did in time.

    Raises:
        OSError: the pipe cannot be read.
    """
    if sys.platform == "win32":
        deadline = time.monotonic() + timeout_s
        while not has_windows_pipe_data(pipe):
            if time.monotonic() > deadline:
                return False
            time.sleep(_PIPE_CHECK_S)
        return True
    else:
        import select

        return bool(select.select([pipe], [], [], timeout_s)[0])


def is_writable(pipe: int, timeout_s: float) -> bool:
    """Wait until a pipe takes data, and return whether it does. A write on Windows waits itself.

    Raises:
        OSError: the pipe cannot be written.
    """
    if sys.platform == "win32":
        return True
    else:
        import select

        return bool(select.select([], [pipe], [], timeout_s)[1])


def wake_on_signals(waker: int) -> None:
    """Write the number of each signal that arrives to a socket, and ignore those of the keyboard.

    Args:
        waker: the descriptor of the socket.
    """
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    for number in _find_signals("SIGCHLD", "SIGTERM"):
        signal.signal(number, lambda *_: None)
    for number in _KEYBOARD_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def pass_socket(inherited: socket.socket) -> dict[str, Any]:
    """Return the arguments with which a new process has a group of its own and inherits a socket.

    The process finds the socket under the same number. On Windows only this handle is inherited.
    """
    number = inherited.fileno()
    if sys.platform == "win32":
        inherited.set_inheritable(True)
        start = subprocess.STARTUPINFO(lpAttributeList={"handle_list": [number]})
        return {"startupinfo": start, "creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    else:
        return {"pass_fds": (number,), "start_new_session": True}


def start_in_group(
    command: Sequence[str], environment: Mapping[str, str], folder: str
) -> "subprocess.Popen[bytes]":
    """Start a program in a process group of its own. On Linux, it is killed with this process.

    The caller must have no other thread.

    Raises:
        OSError: the program cannot be started.
    """
    if sys.platform == "win32":
        group = subprocess.CREATE_NEW_PROCESS_GROUP
        return subprocess.Popen(command, env=environment, cwd=folder, creationflags=group)
    else:

        def prepare() -> None:
            for number in _KEYBOARD_SIGNALS:
                signal.signal(number, signal.SIG_DFL)
            if sys.platform == "linux":
                _control(_PR_SET_PDEATHSIG, signal.SIGKILL)

        return subprocess.Popen(
            command,
            env=environment,
            cwd=folder,
            process_group=0,
            preexec_fn=prepare,  # noqa: PLW1509 - there is no other thread
        )


def end_group(program: "subprocess.Popen[bytes]", grace_s: float) -> None:
    """End a program, and the processes that it has started, those outside of its group too.

    Args:
        program: the program, started by `start_in_group`.
        grace_s: how long the processes have to end by themselves.
    """
    if sys.platform == "win32":
        with suppress(OSError):
            subprocess.run(["taskkill", "/T", "/F", "/PID", str(program.pid)], check=False)
    else:
        _end_all(program.pid, grace_s)


def reap_adopted(program: "subprocess.Popen[bytes]") -> None:
    """Remove the ended children of this process from the system's table, except a program."""
    if sys.platform != "win32":
        _reap(_list_children() - {program.pid})


def fork_inner_guard(on_fork: Callable[[], None], grace_s: float) -> None:
    """Return in a new process on Linux, the inner guard. This one waits for it, and ends the rest.

    Each of the two adopts the processes that a process below it leaves, and ends them when the
    other one is killed. Other systems cannot do that, so there this process goes on alone.

    Args:
        on_fork: called in the outer process.
        grace_s: how long the processes have to end by themselves.
    """
    if sys.platform == "linux":
        outer = os.getpid()
        _control(_PR_SET_CHILD_SUBREAPER, 1)
        inner = os.fork()
        if inner == 0:
            _control(_PR_SET_PDEATHSIG, signal.SIGTERM)
            _control(_PR_SET_CHILD_SUBREAPER, 1)
            if os.getppid() != outer:  # it was killed meanwhile
                os._exit(1)
            return
        on_fork()
        for number in _KEYBOARD_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: os.kill(inner, signal.SIGTERM))
        ended, status = os.wait()
        while ended != inner:
            ended, status = os.wait()
        _end_all(None, grace_s)
        exit_like(os.waitstatus_to_exitcode(status))
        os._exit(1)


def _control(option: int, value: int) -> None:
    """Set an option of this process. Only Linux has these."""
    import ctypes

    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if sys.platform != "win32":

    def _end_all(group: int | None, grace_s: float) -> None:
        """End a program, and the processes that it has started.

        Args:
            group: the id of the program and of its process group, or None if only the adopted
                processes are left.
        """
        for number in _END_SIGNALS:
            signalled_children: set[int] = set()
            if group is not None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(group, number)
            deadline = time.monotonic() + grace_s
            while time.monotonic() < deadline:
                left = _list_children()  # each process that ends leaves its children to this one
                for child in left - signalled_children:
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(child, number)
                signalled_children |= left
                _reap(left if group is None else left | {group})
                if not _list_children() and not _has_members(group):
                    return
                time.sleep(_GROUP_CHECK_S)

    def _has_members(group: int | None) -> bool:
        """Return whether a process group has members, or some that ended and were not reaped."""
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


def exit_like(code: int) -> None:
    """Exit with the exit code of a program, or by the signal that ended the program.

    Args:
        code: the exit code, or the negated number of a signal.
    """
    if code >= 0:
        sys.exit(code)
    forbid_core_dump()
    with suppress(OSError, ValueError):  # a signal that cannot be handled
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)


def connect_locally(address: str, timeout_s: float) -> bool:
    """Return whether a local socket answers. Windows has none that Python can use.

    Args:
        address: the path of the socket, or its abstract name on Linux after a NUL.
        timeout_s: the longest wait in seconds.
    """
    if sys.platform == "win32":
        return False
    else:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe, suppress(OSError):
            probe.settimeout(timeout_s)
            probe.connect(address)
            return True
        return False


def allow_foreground() -> None:
    """Let a window of another process come to the front. Only Windows forbids that otherwise.

    It takes effect only in the process that the user has just started.
    """
    if sys.platform == "win32":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.windll.user32.AllowSetForegroundWindow(_ANY_PROCESS)


def select_in_explorer(file: str) -> bool:
    """Show a file, selected, in the file manager of Windows. Return False if it does not start.

    The path is in quotes, because the file manager takes a comma for the end of a path. Other
    systems have no such program.
    """
    if sys.platform == "win32":
        with suppress(OSError):
            os.startfile("explorer.exe", "open", f'/select,"{file}"')  # noqa: S606 - no shell needed
            return True
    return False
