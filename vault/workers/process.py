"""Child processes that answer requests over standard input and output.

A child process is started with `python -P`, or `strata --child` in the packaged program
(PyInstaller). Its working directory is neutral and it gets only a few environment variables, so
that it cannot import code from a vault and receives no API keys. It exits when its input is closed,
for example because the parent died.
"""

import logging
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO, Any, Final

from resources.system.processes import is_readable, is_writable, set_unblocking
from vault.errors import ChildDied, ChildRefused
from vault.workers.frames import Frame, decode_frame, encode_frame

_log = logging.getLogger(__name__)
# Before the name of the module, in the command line of a child of the frozen program.
CHILD_FLAG: Final = "--child"

_TICK_S = 0.05
_READ_BYTES = 1 << 20
_CLOSE_S = 5.0
_MOST_ERROR_BYTES = 16_000
_CRASH = "Fatal Python error"  # how `faulthandler` begins

# Libraries of models and vectors then contact no host of their own. The program sets these too.
OFFLINE_ENVIRONMENT: Final = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "DO_NOT_TRACK": "1",
    "ANONYMIZED_TELEMETRY": "False",
}
WORKER_ENVIRONMENT: Final = {
    **OFFLINE_ENVIRONMENT,
    "TOKENIZERS_PARALLELISM": "true",
    # Waiting threads sleep; spinning threads would take processor time from others.
    "OMP_WAIT_POLICY": "PASSIVE",
    # The library generates code for each batch length, and by default keeps it for 1,000 lengths.
    "ONEDNN_PRIMITIVE_CACHE_CAPACITY": "32",
    "PYTHONSAFEPATH": "1",
    # The memory of one layer is reused for the next. By default tensors of this size are mapped
    # anew each time, which took a quarter of the time of embedding.
    "MALLOC_MMAP_THRESHOLD_": "33554432",
    "MALLOC_TRIM_THRESHOLD_": "67108864",
    "PYTHONUNBUFFERED": "1",
    "PYTHONUTF8": "1",
    # A crash writes the calls of all threads to standard error, from where it gets into the log.
    "PYTHONFAULTHANDLER": "1",
}
# The variables of the user's environment that a child gets. All others are left out, because they
# may contain keys and tokens, extend the import path or run code when Python starts.
_PASSED: Final = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP"),
        *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONNOUSERSITE", "PYTHONDONTWRITEBYTECODE"),
        *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"),
        *("SYSTEMROOT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "NUMBER_OF_PROCESSORS"),
    }
)
_PASSED_PREFIXES: Final = ("LC_", "OMP_", "MKL_", "OPENBLAS_", "ONEDNN_", "DNNL_", "CUDA_")
_NETWORK: Final = frozenset(
    {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"}
)


class Child:
    """A running child process that answers requests. Thread-safe.

    There is no reader thread. Instead, one of the waiting threads reads the answers for all others.
    """

    def __init__(self, module: str, *arguments: str, is_online: bool = False):
        """Start the child process.

        Args:
            module: the full name of the Python module to run.
            arguments: the command-line arguments of the module.
            is_online: whether to pass on proxy and certificate settings, for a child that connects
                to a server.
        """
        self._module = module
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the child
        environment = {**pick_environment(is_online), **WORKER_ENVIRONMENT}
        self._process = start_process(module, arguments, environment, self._stderr)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._in, self._out = self._stdin.fileno(), self._stdout.fileno()
        set_unblocking(self._in)
        self._write_lock = threading.RLock()
        self._state = threading.Condition()
        self._answers: dict[int, Frame] = {}
        self._abandoned: set[int] = set()
        self._buffer = bytearray()
        self._last_id = 0
        self._is_being_read = False
        self._end = ""

    @property
    def pid(self) -> int:
        """The process id of the child process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the child process is running."""
        return not self._end and self._process.poll() is None

    @property
    def has_left(self) -> bool:
        """Whether the child process exited normally, for example because it was idle."""
        return self._process.poll() == 0

    @property
    def signal(self) -> int | None:
        """The signal that killed the child process, or None if no signal did."""
        code = self._process.poll()
        return -code if code is not None and code < 0 else None

    def submit(self, header: Mapping[str, Any], payload: bytes = b"", timeout_s: float = 60) -> int:
        """Send a request, and return its number, which `answer` needs.

        Args:
            header: the request as JSON.
            payload: the binary data of the request.
            timeout_s: the timeout in seconds after which the child is killed.

        Raises:
            ChildDied: the child ended, or did not accept the request in time.
        """
        with self._write_lock:
            self._last_id += 1
            data = memoryview(encode_frame({**header, "id": self._last_id}, payload))
            deadline = time.monotonic() + timeout_s
            while data:
                data = data[self._write(data, deadline) :]
            return self._last_id

    def answer(
        self,
        number: int,
        timeout_s: float,
        on_wait: Callable[[], None] = lambda: None,
    ) -> Frame:
        """Wait for the answer to a request.

        Args:
            number: the number returned by `submit`.
            timeout_s: the timeout in seconds after which the child is killed.
            on_wait: called about every 50 ms. It can raise an exception to stop waiting, and the
                answer is then discarded.

        Raises:
            ChildDied: the child ended or timed out.
            ChildRefused: the child answered with an error.
        """
        deadline = time.monotonic() + timeout_s
        while (frame := self._wait_turn(number)) is None:
            if time.monotonic() > deadline:
                self.kill(f"it did not answer within {timeout_s:.0f} s")
                raise ChildDied(self._end)
            try:
                on_wait()
            except BaseException:
                self.abandon(number)
                raise
        if "error" in frame.header:
            raise ChildRefused(str(frame.header["error"]))
        return frame

    def request(
        self, header: Mapping[str, Any], payload: bytes = b"", timeout_s: float = 60
    ) -> Frame:
        """Send a request to the child process and wait for the answer.

        Args:
            header: the request as JSON.
            payload: the binary data of the request.
            timeout_s: the timeout in seconds, for sending the request and for the answer.

        Raises:
            ChildDied: the child ended or timed out.
            ChildRefused: the child answered with an error.
        """
        return self.answer(self.submit(header, payload, timeout_s), timeout_s)

    def abandon(self, number: int) -> None:
        """Discard the answer to the request `number`, even if the answer has not arrived yet."""
        with self._state:
            if self._answers.pop(number, None) is None:
                self._abandoned.add(number)

    def kill(self, reason: str) -> None:
        """Kill the child process. Waiting requests then fail with the given reason."""
        self._end = self._end or reason
        self._process.kill()
        self._release()

    def close(self) -> None:
        """Close the child's input so that it exits, or kill it if it does not."""
        self._end = self._end or "it was closed"
        with self._write_lock, suppress(OSError):  # the pipe of a child that has already ended
            self._stdin.close()
        try:
            self._process.wait(_CLOSE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._release()

    def _release(self) -> None:
        self._process.wait()
        with self._write_lock, self._state:
            while self._is_being_read:
                self._state.wait(_TICK_S)
            for pipe in (self._stdin, self._stdout, self._stderr):
                pipe.close()
            self._state.notify_all()

    def _write(self, data: memoryview, deadline: float) -> int:
        try:
            if self._end:
                raise ChildDied(self._end)
            if is_writable(self._in, _TICK_S):
                return os.write(self._in, data)
        except (OSError, ValueError) as error:
            raise ChildDied(self._describe_end()) from error
        if time.monotonic() > deadline:
            self.kill("it takes no requests any more")
            raise ChildDied(self._end)
        return 0

    def _wait_turn(self, number: int) -> Frame | None:
        """Return the answer to a request if it arrives within about 50 ms, otherwise None.

        Only one thread at a time reads answers. It keeps those that other threads are waiting for.

        Args:
            number: the number of the request.
        """
        with self._state:
            if number in self._answers:
                return self._answers.pop(number)
            if self._end:
                raise ChildDied(self._end)
            if self._is_being_read:
                self._state.wait(_TICK_S)
                return self._answers.pop(number, None)
            self._is_being_read = True
        try:
            frames = self._read()
        finally:
            with self._state:
                self._is_being_read = False
                self._state.notify_all()
        with self._state:
            for frame in frames:
                self._keep(frame)
            self._state.notify_all()
            return self._answers.pop(number, None)

    def _read(self) -> list[Frame]:
        try:
            if not is_readable(self._out, _TICK_S):
                return []
            data = os.read(self._out, _READ_BYTES)
            if not data:
                raise ChildDied(self._describe_end())
            self._buffer += data
            frames = []
            while (frame := decode_frame(self._buffer)) is not None:
                frames.append(frame)
        except (OSError, ValueError) as error:
            raise ChildDied(self._describe_end()) from error
        return frames

    def _keep(self, frame: Frame) -> None:
        number = int(frame.header["id"])
        if number in self._abandoned:
            self._abandoned.discard(number)
        else:
            self._answers[number] = frame

    def _describe_end(self) -> str:
        """Describe how the child ended, including its last line of error output."""
        if not self._end:
            with suppress(subprocess.TimeoutExpired):  # its output may end before the process
                self._process.wait(1)
            code = self._process.poll()
            how = f"signal {-code}" if code is not None and code < 0 else f"code {code}"
            self._end = f"it ended with {how}{self._read_last_error()}"
        return self._end

    def _read_last_error(self) -> str:
        """Return the last line of error output, or that of a crash, whose details are logged."""
        try:
            size = self._stderr.seek(0, os.SEEK_END)
            self._stderr.seek(max(0, size - _MOST_ERROR_BYTES))
            lines = self._stderr.read().decode("utf-8", "replace").strip().splitlines()
        except (OSError, ValueError):
            return ""
        for at, line in enumerate(lines):
            if line.startswith(_CRASH):
                calls = " · ".join(text.strip() for text in lines[at:] if text)
                _log.warning("A child process (%s) crashed: %s", self._module, calls)
                return f" ({line})"
        return f" ({lines[-1].strip()[:200]})" if lines else ""


class ChildOnDemand:
    """A child process that exits by itself when it is idle. Not thread-safe.

    Args:
        module: the full name of the Python module to run.
    """

    def __init__(self, module: str) -> None:
        self._module = module
        self._child: Child | None = None

    @property
    def child(self) -> Child | None:
        """The running child process, or None."""
        return self._child

    def request(self, header: Mapping[str, Any], payload: bytes, timeout_s: float) -> Frame:
        """Send a request to the child process, which is started if it does not run.

        Args:
            header: the request as JSON.
            payload: the binary data of the request.
            timeout_s: the timeout in seconds after which the child is killed.

        Raises:
            ChildDied: the child ended or timed out. The next request starts a new one.
            ChildRefused: the child answered with an error.
            OSError: the child cannot be started.
        """
        has_tried = False
        while True:
            if self._child is None or not self._child.is_alive:
                self._end()
                self._child = Child(self._module)
            try:
                return self._child.answer(self._child.submit(header, payload), timeout_s)
            except ChildDied:
                if has_tried or not self._child.has_left:
                    raise
                has_tried = True  # it was idle, and left just before the request
            except BaseException:
                self._end()
                raise

    def close(self) -> None:
        """Stop the child process. The next request starts a new one."""
        if self._child is not None:
            self._child.close()
            self._child = None

    def _end(self) -> None:
        if self._child is not None:
            self._child.kill("it was ended")
            self._child = None


def start_process(
    module: str, arguments: Sequence[str], environment: Mapping[str, str], stderr: IO[bytes]
) -> "subprocess.Popen[bytes]":
    """Run a module in a new Python process, with pipes for its standard input and output.

    Args:
        module: the full name of the Python module to run.
        arguments: the command-line arguments.
        environment: all environment variables of the new process.
        stderr: the file that receives the standard error output.
    """
    return subprocess.Popen(
        [*build_command(module), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        cwd=os.path.abspath(os.sep),
        env=environment,
        bufsize=0,
        start_new_session=True,  # Ctrl-C goes to the program, which stops its children
    )


def build_command(module: str) -> list[str]:
    """Return the command line for running a module in a new process.

    The packaged program (PyInstaller) contains no interpreter, so it starts itself.
    """
    if getattr(sys, "frozen", False):
        return [sys.executable, CHILD_FLAG, module]
    return [sys.executable, "-P", "-m", module]


def pick_environment(is_online: bool) -> dict[str, str]:
    """Return the environment variables to pass to a child process, without API keys.

    Args:
        is_online: whether to include proxy and certificate settings.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if name in _PASSED
        or name.startswith(_PASSED_PREFIXES)
        or (is_online and name.upper() in _NETWORK)
    }
